//! A slot for one process at a time: when it is killed, the next one goes on with its work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::Scope;

use crate::check::{Failure, Scene};
use crate::simulation::act::{Answer, Operation};

use super::child::{AskOutcome, ChildProcess};
use super::places::{Places, Siege};

/// How long a process may take to end when it is told no more.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct ProcessSlot {
    siege: Siege,
    places: Places,
    life: Mutex<Arc<ChildProcess>>,
}

impl ProcessSlot {
    pub(super) fn new(siege: Siege, places: Places) -> Result<Self, Failure> {
        let life = Mutex::new(Arc::new(ChildProcess::start(&siege, &places)?));
        Ok(Self { siege, places, life })
    }

    fn life(&self) -> Arc<ChildProcess> {
        Arc::clone(&self.life.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets the present process do something; none if it was killed.
    pub(super) async fn ask(&self, scope: &Scope, what: &Operation) -> Result<Option<Answer>, Failure> {
        match self.life().ask(scope, what).await? {
            AskOutcome::Answer(answer) => Ok(Some(answer)),
            AskOutcome::Killed => Ok(None),
        }
    }

    /// Kills the present process and starts the next one.
    pub(super) fn kill(&self) -> Scene {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        life.kill();
        *life = Arc::new(ChildProcess::start(&self.siege, &self.places)?);
        Ok(())
    }

    /// Lets the present process end.
    pub(super) async fn end(&self) -> Scene {
        self.life().end(PATIENCE).await
    }
}

//! A process of a siege, as the test controls it: started, asked, killed, ended.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::Scope;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::check::Failure;
use crate::simulation::act::{Answer, Operation};

use super::places::{Places, Siege};
use super::process::{Instruction, MARK, Report};

/// The callers that wait for an answer, by the number of their instruction; none once the process has ended.
type PendingAnswers = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>>;

pub(super) struct ChildProcess {
    child: Mutex<Child>,
    orders: Mutex<Option<ChildStdin>>,
    waiting: PendingAnswers,
    number: AtomicU64,
    is_killed: AtomicBool,
}

/// The result of asking a process.
pub(super) enum AskOutcome {
    Answer(Answer),
    /// It was killed, and nobody knows.
    Killed,
}

impl ChildProcess {
    /// Starts this program again, as a process of the siege.
    pub(super) fn start(siege: &Siege, places: &Places) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("a process does not start: {error}"));
        let told = serde_json::to_string(places).map_err(|error| Failure::new(error.to_string()))?;
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(MARK).arg(siege.name).arg(told).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let waiting: PendingAnswers = Arc::new(Mutex::new(Some(HashMap::new())));
        if let Some(out) = child.stdout.take() {
            let waiting = Arc::clone(&waiting);
            std::thread::spawn(move || listen(out, &waiting));
        }
        let orders = Mutex::new(child.stdin.take());
        let (number, is_killed) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { child: Mutex::new(child), orders, waiting, number, is_killed })
    }

    /// Lets the process do something, and waits until it has.
    ///
    /// # Errors
    /// If it ended by itself.
    pub(super) async fn ask(&self, scope: &Scope, what: &Operation) -> Result<AskOutcome, Failure> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (tenant, subject) = (scope.tenant(), scope.subject());
        let order = Instruction { number, tenant, subject, what: what.clone() };
        let mut line = serde_json::to_string(&order).map_err(|error| Failure::new(error.to_string()))?;
        line.push('\n');
        let answer = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.as_mut().map(|waiting| {
                let (sender, receiver) = oneshot::channel();
                waiting.insert(number, sender);
                receiver
            })
        };
        let Some(answer) = answer else { return self.silence() };
        if let Some(orders) = self.orders.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            // Where it has ended, no answer comes.
            let _ = orders.write_all(line.as_bytes()).and_then(|()| orders.flush());
        }
        match answer.await {
            Ok(answer) => Ok(AskOutcome::Answer(answer)),
            Err(_) => self.silence(),
        }
    }

    fn silence(&self) -> Result<AskOutcome, Failure> {
        match self.is_killed.load(Ordering::SeqCst) {
            true => Ok(AskOutcome::Killed),
            false => Err(Failure::new("a process ended by itself")),
        }
    }

    /// Kills the process; what it has answered still counts.
    pub(super) fn kill(&self) {
        self.is_killed.store(true, Ordering::SeqCst);
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended already.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Tells the process no more, and waits until it ends by itself.
    pub(super) async fn end(&self, patience: Duration) -> Result<(), Failure> {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        let until = Instant::now() + patience;
        loop {
            let ended = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            match ended {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(Failure::new(format!("a process ended with {status}"))),
                Ok(None) if Instant::now() < until => sleep(Duration::from_millis(20)).await,
                _ => return Err(Failure::new("a process does not end")),
            }
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hands every answer to whoever waits for it.
fn listen(out: ChildStdout, waiting: &PendingAnswers) {
    for line in BufReader::new(out).lines().map_while(std::io::Result::ok) {
        // The last line of a process that was killed may be cut.
        let Ok(Report { number, answer }) = serde_json::from_str(&line) else { continue };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.as_mut().and_then(|waiting| waiting.remove(&number)) {
            // Whoever asked may have gone.
            let _ = sender.send(answer);
        }
    }
    *waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

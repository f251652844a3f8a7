//! Many tasks at once, and answers that may come late.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::{Failure, Scene};

/// How long a probe may go on.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs the tasks at once, each of its own in the runtime; passes if all do, and stops them when one fails.
pub(crate) async fn together<T: Future<Output = Scene> + Send + 'static>(tasks: impl IntoIterator<Item = T>) -> Scene {
    let mut tasks: JoinSet<Scene> = tasks.into_iter().collect();
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|stopped| Failure::new(format!("a task stopped: {stopped}")))??;
    }
    Ok(())
}

/// Asks again and again until the answer passes: for what a dropped call may still be doing.
pub(crate) async fn until<T: Future<Output = Scene>>(ask: impl Fn() -> T) -> Scene {
    let probe = async {
        loop {
            match ask().await {
                Ok(()) => return,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    match tokio::time::timeout(PATIENCE, probe).await {
        Ok(()) => Ok(()),
        // The last answer tells what is wrong.
        Err(_) => ask().await,
    }
}

//! Runs many tasks at once, and polls for answers that arrive late.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::{Failure, Scene};

/// How long a probe may go on.
const PATIENCE: Duration = Duration::from_secs(5);

/// Spawns all tasks and waits for them. Passes if all pass; when one fails, the others are stopped.
pub(crate) async fn together<T: Future<Output = Scene> + Send + 'static>(tasks: impl IntoIterator<Item = T>) -> Scene {
    let mut tasks: JoinSet<Scene> = tasks.into_iter().collect();
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|stopped| Failure::new(format!("a task stopped: {stopped}")))??;
    }
    Ok(())
}

/// Repeats a check until it passes: a dropped call may still be working in the background.
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

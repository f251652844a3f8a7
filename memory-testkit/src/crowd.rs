//! Runs many tasks at once, and polls for answers that arrive late.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::{Failure, RunningWatch, Scene};

/// How long a probe may go on, while the machine runs.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a probe may go on at all: a call of it may never end.
const GIVEN_UP: Duration = Duration::from_secs(60);

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
    let begun = RunningWatch::start();
    let probe = async {
        loop {
            // The last answer tells what is wrong.
            let answer = ask().await;
            if answer.is_ok() || begun.elapsed() >= PATIENCE {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    match tokio::time::timeout(GIVEN_UP, probe).await {
        Ok(answer) => answer,
        Err(_) => ask().await,
    }
}

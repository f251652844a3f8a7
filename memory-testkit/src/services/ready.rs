//! Waits until a server answers over its own protocol.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Result;
use tokio::time::{sleep, timeout};

use super::answer::Answer;
use super::container::Container;
use crate::boxed::Boxed;

/// The pause between two probes.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest that one probe may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// The longest that a container may take to start.
const START: Duration = Duration::from_secs(600);

/// The longest that a server which is said to run may take to answer.
const RUNNING: Duration = Duration::from_secs(10);

/// The lines of a log that an error shows.
const LINES: usize = 50;

/// A function that connects to a URL and returns what the server reports about itself.
pub(crate) type Probe = Arc<dyn Fn(String) -> Boxed<'static, Result<Answer>> + Send + Sync>;

/// Wraps an async function as a [`Probe`].
pub(crate) fn probe<F, R, A>(ask: F) -> Probe
where
    F: Fn(String) -> R + Send + Sync + 'static,
    R: Future<Output = Result<A>> + Send + 'static,
    A: Into<Answer>,
{
    Arc::new(move |url| {
        let asked = ask(url);
        Box::pin(async move { asked.await.map(Into::into) })
    })
}

/// Probes the server until it answers, and checks each time that its container still runs.
///
/// # Errors
/// Why it did not answer, with the end of the container's log.
pub(super) async fn wait(
    url: &str,
    probe: &Probe,
    container: Option<&Container>,
) -> std::result::Result<Answer, String> {
    let limit = if container.is_some() { START } else { RUNNING };
    let mut last = "it was not asked".to_owned();
    let why = match timeout(limit, ask(url, probe, container, &mut last)).await {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(why)) => why,
        Err(_) => format!("it did not answer within {} s", limit.as_secs()),
    };
    let why = format!("{why}; the last probe: {last}");
    match container {
        Some(container) => Err(explain(&why, container).await),
        None => Err(why),
    }
}

/// Returns `why` with what the container's log says.
pub(super) async fn explain(why: &str, container: &Container) -> String {
    let log = container.logs(LINES).await.unwrap_or_else(|why| format!("(no log: {why})"));
    format!("{why}; the end of its log:\n{log}")
}

async fn ask(
    url: &str,
    probe: &Probe,
    container: Option<&Container>,
    last: &mut String,
) -> std::result::Result<Answer, String> {
    loop {
        *last = match timeout(ATTEMPT, probe(url.to_owned())).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error.with_causes(),
            Err(_) => format!("no answer within {} s", ATTEMPT.as_secs()),
        };
        if let Some(container) = container {
            container.check_running().await?;
        }
        sleep(PAUSE).await;
    }
}

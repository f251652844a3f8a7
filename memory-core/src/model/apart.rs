//! Models run apart, in tasks of their own: one that panics is an error of the call, and nothing else.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::{JoinSet, spawn_blocking};

use crate::error::{Cause, Error, Result, Transience};

use super::{Embedder, Purpose};

/// Texts of more bytes than this are worked on apart from the tasks that wait for servers.
pub(crate) const HEAVY: usize = 64 << 10;

/// Makes a call in a task of its own. Dropping the future ends that at its next wait.
///
/// # Errors
/// Those of the call. `Backend` for good if it panics; what the panic said is left out, because it may hold payload.
pub(crate) async fn apart<T: Send + 'static>(
    who: &'static str,
    doing: &'static str,
    call: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let mut task = JoinSet::new();
    task.spawn(call);
    match task.join_next().await {
        Some(Ok(answer)) => answer,
        _ => Err(panicked(who, doing)),
    }
}

/// Does work on texts of so many bytes: where that takes long, on a thread of its own, so that no task waits meanwhile.
///
/// # Errors
/// Those of the work. `Backend` for good if it panics on a thread of its own.
pub(crate) async fn beside<T: Send + 'static>(
    bytes: usize,
    who: &'static str,
    doing: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    // Without a runtime there are no tasks that wait.
    if bytes <= HEAVY || Handle::try_current().is_err() {
        return work();
    }
    spawn_blocking(work).await.unwrap_or_else(|_| Err(panicked(who, doing)))
}

/// Returns the error of a call that panicked.
pub(crate) fn panicked(who: &'static str, doing: &'static str) -> Error {
    let source = Cause::new("it panicked");
    Error::Backend { backend: who, doing, transience: Transience::Permanent, source }
}

/// Embeds texts apart.
pub(crate) async fn embed(embedder: &Arc<dyn Embedder>, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
    let embedder = Arc::clone(embedder);
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let call = async move {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        embedder.embed(&texts, purpose).await
    };
    apart("embedder", "embed", call).await
}

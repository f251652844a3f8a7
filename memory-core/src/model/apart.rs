//! Models run apart, in tasks of their own: one that panics is an error of the call, and nothing else.

use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::error::{Cause, Error, Result, Transience};

use super::{Embedder, Purpose};

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

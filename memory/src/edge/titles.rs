//! The titles of many conversations, read some at once.

use memory_core::engine::Scoped;
use memory_core::{Result, SessionId};
use tokio::task::JoinSet;

/// How many titles are read at once.
const AT_ONCE: usize = 16;

/// Returns what each of these conversations is called, in their order: [`Session::title`](crate::Session::title).
///
/// # Errors
/// The failure of reading one of them.
pub async fn titles(scoped: &Scoped, sessions: &[SessionId]) -> Result<Vec<Option<String>>> {
    let mut all = Vec::with_capacity(sessions.len());
    for some in sessions.chunks(AT_ONCE) {
        let mut titles = JoinSet::new();
        for (place, session) in some.iter().enumerate() {
            let session = scoped.session(session);
            titles.spawn(async move { (place, session.title().await) });
        }
        let mut read = titles.join_all().await;
        read.sort_by_key(|(place, _)| *place);
        for (_, title) in read {
            all.push(title?.map(|title| title.text));
        }
    }
    Ok(all)
}

//! `memory sessions`: the conversations of the owner.

use memory::chat::SessionState;
use memory::{Scoped, SessionId};
use serde_json::{Value, json};

use super::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{upkeep, words};

const PAGE: usize = 1_000;

/// Lists the conversations.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let sessions = all(&scoped).await?;
    if output.is_json() {
        let list: Vec<Value> = sessions.iter().map(row).collect();
        output.json(&json!({ "sessions": list }))?;
    } else {
        output.line(&format!("{:>8}  {:>8}  {:<16}  session", "messages", "tokens", "last"))?;
        for state in &sessions {
            let last = words::minute(state.last_at);
            let (head, tokens) = (state.head.0, state.active_tokens);
            output.line(&format!("{head:>8}  {tokens:>8}  {last:<16}  {}", state.session.name()))?;
        }
        output.line(&format!("{} sessions", sessions.len()))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Returns all conversations of the owner, in the order of their ids.
pub(crate) async fn all(scoped: &Scoped) -> Result<Vec<SessionState>, Failure> {
    let mut sessions: Vec<SessionState> = Vec::new();
    loop {
        let after: Option<SessionId> = sessions.last().map(|state| state.session.clone());
        let page = scoped.sessions(after.as_ref(), PAGE).await?;
        if page.is_empty() {
            return Ok(sessions);
        }
        sessions.extend(page);
    }
}

fn row(state: &SessionState) -> Value {
    json!({
        "session": state.session.name(), "messages": state.head, "window_messages": state.active_messages,
        "window_tokens": state.active_tokens, "last_at": state.last_at.to_string(),
    })
}

//! `memory sessions`: the conversations of the owner.

use memory::store::chat::SessionState;
use serde_json::{Value, json};

use super::call::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{sessions, upkeep};

/// Lists the conversations.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let sessions = sessions::all(&scoped).await?;
    if output.is_json() {
        let list: Vec<Value> = sessions.iter().map(row).collect();
        output.json(&json!({ "sessions": list }))?;
    } else {
        output.line(&format!("{:>8}  {:>8}  {:<16}  session", "messages", "tokens", "last"))?;
        for state in &sessions {
            let last = state.last_at.to_minute();
            let (head, tokens) = (state.head.0, state.active_tokens);
            output.line(&format!("{head:>8}  {tokens:>8}  {last:<16}  {}", state.session.name()))?;
        }
        output.line(&format!("{} sessions", sessions.len()))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

fn row(state: &SessionState) -> Value {
    json!({
        "session": state.session.name(), "messages": state.head, "window_messages": state.active_messages,
        "window_tokens": state.active_tokens, "last_at": state.last_at.to_string(),
    })
}

//! `memory sessions`: the conversations of the owner, with their titles.

use std::cmp::Reverse;

use memory::store::chat::SessionState;
use memory::{Scoped, SessionId, edge};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::{Order, Sessions};
use crate::failure::{Failure, Outcome};
use crate::line::{Line, Paint};
use crate::output::Output;
use crate::words::{list_end, listed, plural};
use crate::{sessions, upkeep};

/// A conversation, and what it is called.
struct Row {
    state: SessionState,
    title: Option<String>,
}

/// Lists the conversations.
pub(crate) async fn run(call: &Call, args: &Sessions, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let mut states = sessions::all(&scoped).await?;
    let limit = listed(args.number, output);
    match args.sort {
        Order::Recent | Order::Title => states.sort_by_key(|state| Reverse(state.last_at)),
        Order::Length => states.sort_by_key(|state| Reverse((state.head, state.last_at))),
    }
    let needs_all = args.words.is_some() || args.sort == Order::Title;
    let mut total = states.len();
    states.truncate(if needs_all { usize::MAX } else { limit });
    let mut rows = titled(&scoped, states).await?;
    if let Some(words) = &args.words {
        rows.retain(|row| holds(row, words));
        total = rows.len();
    }
    if args.sort == Order::Title {
        rows.sort_by_cached_key(|row| {
            row.title.as_ref().map_or((true, String::new()), |title| (false, title.to_lowercase()))
        });
    }
    rows.truncate(limit);
    if output.is_json() {
        let list: Vec<Value> = rows.iter().map(|row| edge::session(&row.state, row.title.as_deref())).collect();
        output.json(&json!({ "sessions": list, "total": total }))?;
    } else {
        write(&rows, total, output)?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

async fn titled(scoped: &Scoped, states: Vec<SessionState>) -> Result<Vec<Row>, Failure> {
    let sessions: Vec<SessionId> = states.iter().map(|state| state.session.clone()).collect();
    let titles = edge::titles(scoped, &sessions).await?;
    Ok(states.into_iter().zip(titles).map(|(state, title)| Row { state, title }).collect())
}

/// Returns whether title or name hold all these words, or parts of words.
fn holds(row: &Row, words: &str) -> bool {
    let text = format!("{} {}", row.title.as_deref().unwrap_or_default(), row.state.session.name()).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

fn write(rows: &[Row], total: usize, output: &mut Output) -> Result<(), Failure> {
    for Row { state, title } in rows {
        let (last, messages, name) = (state.last_at.to_minute(), state.head.0, sessions::short(&state.session));
        let title = title.as_deref().unwrap_or("(no words)");
        output.painted(&Line::default().painted(Paint::Bold, title), 2)?;
        let about = format!("{last}, {messages} {}, {name}", plural(messages, "message"));
        output.painted(&Line::of("  ").painted(Paint::Faint, &about), 2)?;
    }
    Ok(output.line(&list_end(rows.len(), total, "session"))?)
}

//! `memory sessions`: the conversations of the owner, with their titles.

use std::cmp::Reverse;

use memory::store::chat::SessionState;
use memory::{Scoped, SessionId};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::call::Call;
use crate::cli::{Order, Sessions};
use crate::failure::{Failure, Outcome};
use crate::line::{Line, Paint};
use crate::output::Output;
use crate::words::{list_end, listed, plural};
use crate::{sessions, upkeep};

/// How many titles are read at once.
const AT_ONCE: usize = 16;

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
        let list: Vec<Value> = rows.iter().map(json).collect();
        output.json(&json!({ "sessions": list, "total": total }))?;
    } else {
        write(&rows, total, output)?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Reads the titles, some at once.
async fn titled(scoped: &Scoped, states: Vec<SessionState>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::with_capacity(states.len());
    for some in states.chunks(AT_ONCE) {
        let mut titles = JoinSet::new();
        for (place, state) in some.iter().enumerate() {
            let (scoped, session): (Scoped, SessionId) = (scoped.clone(), state.session.clone());
            titles.spawn(async move { (place, scoped.session(&session).title().await) });
        }
        let mut read = titles.join_all().await;
        read.sort_by_key(|(place, _)| *place);
        for (state, (_, title)) in some.iter().zip(read) {
            rows.push(Row { state: state.clone(), title: title?.map(|title| title.text) });
        }
    }
    Ok(rows)
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

fn json(row: &Row) -> Value {
    let Row { state, title } = row;
    json!({
        "session": state.session.name(), "title": title, "messages": state.head,
        "window_messages": state.active_messages, "window_tokens": state.active_tokens,
        "last_at": state.last_at.to_string(),
    })
}

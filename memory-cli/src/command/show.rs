//! `memory show`: a conversation, a part of it, a message or a record.

use memory::store::chat::{Edge, Page, SessionState, View};
use memory::{HistoryEdge, HistoryPage, MessageId, RecordId, Scoped, Seq, Session, SessionId, StoredMessage, edge};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::Show;
use crate::failure::{Failure, Outcome};
use crate::line::{Line, Paint};
use crate::output::Output;
use crate::words::{plural, said};
use crate::{record, sessions, upkeep};

/// How many messages are shown around one.
const AROUND: usize = 11;

/// How many messages are read at once.
const PAGE: usize = 500;

/// What a name means.
enum Found {
    Session(SessionId),
    Message(StoredMessage),
    Record(memory::StoredRecord),
}

/// Shows it.
pub(crate) async fn run(call: &Call, args: &Show, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    match find(&scoped, &args.what).await? {
        Found::Session(session) => {
            let around = match &args.around {
                Some(around) => Some(place(&scoped, &session, around).await?),
                None => None,
            };
            show(&scoped, &session, around, args.number, output).await?;
        }
        Found::Message(row) if args.number.is_some() => {
            show(&scoped, &row.session, Some(row.seq), args.number, output).await?;
        }
        _ if args.around.is_some() || args.number.is_some() => {
            return Err(Failure::Usage("--around and -n are for conversations and messages".to_owned()));
        }
        Found::Message(row) => message(&row, output)?,
        Found::Record(stored) => record::write_one(&stored, memory.now(), output)?,
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Finds what is meant: a conversation by its name, an item by its id, a conversation by the beginning of its name.
async fn find(scoped: &Scoped, what: &str) -> Result<Found, Failure> {
    let session = SessionId::new(what)?;
    if !sessions::exists(scoped, &session).await?
        && let Ok(id) = what.parse::<MessageId>()
    {
        if let Some(row) = scoped.messages(&[id]).await?.pop() {
            return Ok(Found::Message(row));
        }
        if let Some(stored) = scoped.get(&[RecordId(id.0)]).await?.pop() {
            return Ok(Found::Record(stored));
        }
        return Err(Failure::Usage(format!("there is no session, message or record {what}")));
    }
    match sessions::meant(scoped, &session).await? {
        Some(session) => Ok(Found::Session(session)),
        None => Err(Failure::Usage(sessions::no_such(scoped, &session).await?)),
    }
}

/// Returns the number of the message that `--around` names.
async fn place(scoped: &Scoped, session: &SessionId, around: &str) -> Result<Seq, Failure> {
    let named = around.strip_prefix('#').unwrap_or(around).parse::<u64>();
    if let Ok(number) = named {
        let head = scoped.session(session).state().await?.head;
        return if (1..=head.0).contains(&number) {
            Ok(Seq(number))
        } else {
            Err(Failure::Usage(format!("{} has no message {number}: its numbers end at {}", session.name(), head.0)))
        };
    }
    let id: MessageId = around
        .parse()
        .map_err(|_| Failure::Usage(format!("{around} is neither the number nor the id of a message")))?;
    let row = scoped.messages(&[id]).await?.pop().filter(|row| row.session == *session);
    row.map(|row| row.seq).ok_or_else(|| Failure::Usage(format!("there is no message {id} in {}", session.name())))
}

/// Shows the messages of a conversation: all, the newest, or those around one.
async fn show(
    scoped: &Scoped,
    id: &SessionId,
    around: Option<Seq>,
    number: Option<usize>,
    output: &mut Output,
) -> Result<(), Failure> {
    let session = scoped.session(id);
    let title = session.title().await?.map(|title| title.text);
    let state = session.state().await?;
    if state.head > Seq(0) && is_branch(&session).await? {
        return show_branch(&session, &state, title, around, number, output).await;
    }
    let most = number.or(around.map(|_| AROUND)).filter(|most| *most > 0);
    let mut after = match (most, around) {
        (None, _) => Seq(0),
        (Some(most), None) => Seq(state.head.0.saturating_sub(count(most))),
        (Some(most), Some(seq)) => Seq(seq.0.saturating_sub(1).saturating_sub(count(most - 1) / 2)),
    };
    let last = most.map_or(state.head.0, |most| state.head.0.min(after.0.saturating_add(count(most))));
    let mut list = Vec::new();
    if !output.is_json() {
        write_head(title.as_deref(), &state, (after.0 + 1, last), output)?;
    }
    while after.0 < last {
        let limit = usize::try_from(last - after.0).unwrap_or(PAGE).min(PAGE);
        let page = Page { edge: Edge::After(after), limit, tokens: None, view: View::Log, filter: None };
        let rows = session.read(&page).await?.messages;
        let Some(end) = rows.last().map(|row| row.seq) else { break };
        after = end;
        for row in rows {
            if output.is_json() {
                list.push(edge::message(&row));
            } else {
                write(&row, around == Some(row.seq), None, output)?;
            }
        }
    }
    if output.is_json() {
        output.json(&as_one(&title, &state, around, &list))?;
    }
    Ok(())
}

fn as_one(title: &Option<String>, state: &SessionState, around: Option<Seq>, shown: &[Value]) -> Value {
    json!({
        "session": state.session.name(), "title": title, "messages": state.head, "last_at": state.last_at.to_string(),
        "around": around, "shown": shown,
    })
}

async fn is_branch(session: &Session) -> Result<bool, Failure> {
    let first = session.read(&Page::after(Seq(0), 1, View::Log)).await?.messages;
    Ok(first.first().is_some_and(StoredMessage::begins_branch))
}

/// Shows a branch: the past that it shares, and its own messages.
async fn show_branch(
    session: &Session,
    state: &SessionState,
    title: Option<String>,
    around: Option<Seq>,
    number: Option<usize>,
    output: &mut Output,
) -> Result<(), Failure> {
    let rows = match (number.or(around.map(|_| AROUND)).filter(|most| *most > 0), around) {
        (None, _) => whole(session).await?,
        (Some(most), None) => session.history(HistoryEdge::Newest, most).await?,
        (Some(most), Some(seq)) => {
            let page = Page::after(Seq(seq.0.saturating_sub(1)), 1, View::Log);
            let Some(row) = session.read(&page).await?.messages.pop().filter(|row| !row.begins_branch()) else {
                let what = format!("{} begins at #1: its own messages have later numbers", session.id().name());
                return Err(Failure::Usage(what));
            };
            let mut page = session.history(HistoryEdge::Before(&row), (most - 1) / 2).await?;
            page.messages.push(row.clone());
            let rest = most - page.messages.len().min(most);
            page.messages.extend(session.history(HistoryEdge::After(&row), rest).await?.messages);
            page
        }
    };
    if output.is_json() {
        let list: Vec<Value> = rows.messages.iter().map(edge::message).collect();
        return Ok(output.json(&as_one(&title, state, around, &list))?);
    }
    if let Some(title) = &title {
        output.painted(&Line::default().painted(Paint::Bold, title), 2)?;
    }
    let about =
        format!("{}, until {}, a branch of another conversation", session.id().name(), state.last_at.to_minute());
    output.painted(&Line::default().painted(Paint::Faint, &about), 2)?;
    for gone in &rows.gone {
        output.line(&format!("the past that it shared with {} is gone", gone.name()))?;
    }
    for row in &rows.messages {
        let is_own = row.session == *session.id();
        let from = (!is_own).then(|| row.session.name());
        write(row, is_own && around == Some(row.seq), from, output)?;
    }
    Ok(())
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn write_head(
    title: Option<&str>,
    state: &SessionState,
    shown: (u64, u64),
    output: &mut Output,
) -> Result<(), Failure> {
    if let Some(title) = title {
        output.painted(&Line::default().painted(Paint::Bold, title), 2)?;
    }
    let (name, head) = (state.session.name(), state.head.0);
    let part = if shown == (1, head) { String::new() } else { format!(", #{} to #{} of them", shown.0, shown.1) };
    let about = format!("{name}, until {}, {head} {}{part}", state.last_at.to_minute(), plural(head, "message"));
    Ok(output.painted(&Line::default().painted(Paint::Faint, &about), 2)?)
}

/// Reads all of a history, a page at a time.
async fn whole(session: &Session) -> Result<HistoryPage, Failure> {
    let mut all = session.history(HistoryEdge::Oldest, PAGE).await?;
    while let Some(last) = all.messages.last() {
        let page = session.history(HistoryEdge::After(last), PAGE).await?;
        if page.messages.is_empty() {
            break;
        }
        all.messages.extend(page.messages);
    }
    Ok(all)
}

/// Writes a message with its number, and the conversation that it is inherited from; the one that was asked for has an arrow.
fn write(row: &StoredMessage, is_meant: bool, from: Option<&str>, output: &mut Output) -> Result<(), Failure> {
    output.line("")?;
    let from = from.map(|name| format!("{name} ")).unwrap_or_default();
    let line = Line::of(if is_meant { "> " } else { "" }).plain(&format!("{from}#{}", row.seq.0));
    let Some(message) = &row.message else { return Ok(output.painted(&line.plain("  forgotten"), 2)?) };
    let line = line.plain("  ").painted(Paint::Faint, &message.at.to_minute()).plain("  ");
    output.painted(&line.painted(Paint::of(message.role), &message.author()), 2)?;
    Ok(output.said(2, &said(message))?)
}

/// Shows one message, with what is known of it.
fn message(row: &StoredMessage, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(output.json(&edge::message(row))?);
    }
    write(row, false, None, output)?;
    output.line("")?;
    let Some(message) = &row.message else { return Ok(()) };
    if let Some(title) = message.title() {
        output.line(&format!("title     {title}"))?;
    }
    output.line(&format!("session   {}", row.session.name()))?;
    output.line(&format!("id        {}", row.id))?;
    let origin = message.origin.as_deref().map(|origin| format!(", from {origin}")).unwrap_or_default();
    output.line(&format!("trust     {}{origin}", message.trust.name()))?;
    if let Some(summary) = row.archived_by {
        output.line(&format!("folded    into the summary {summary}"))?;
    }
    Ok(())
}

//! What a memory holds that matters for a request, as text within a budget.

use std::borrow::Cow;

use memory::receipt::PartKind;
use memory::store::error::{Cause, Transience};
use memory::window::{Budget, CounterKind, Oversize};
use memory::{Context, ContextRequest, Error, Part, Scoped, SessionId};
use tokio::task::{JoinError, spawn_blocking};

use super::answer::Fitting;

/// What is said where nothing is known.
pub(super) const NOTHING: &str = "Nothing is known that matters for this.";

/// The session of a request that names none: nothing is said there, so that only what is recalled is shown.
const NOBODY: &str = "mcp: no conversation";

/// The bytes of a long query beyond which its last and its first line are asked for by themselves, too, and the most bytes of those.
const LINE: usize = 1_024;

/// Returns what a context of `query` holds besides the query: what is recalled and, of a session, its newest messages. It has at
/// most `tokens` tokens, as `counter` counts them, and is data between marks that no text can end; none if nothing is known that
/// matters. `tokens` is clamped to 200 to 100,000. The counter is that of the memory.
///
/// The query may be of any length. Of one that is longer than the memory takes, the beginning and the end are asked for. Where they
/// recall nothing, its last line is asked for, and then the first: there people ask about what they paste between.
///
/// # Errors
/// As [`Session::assemble`](memory::Session::assemble).
pub async fn gather(ada: &Scoped, query: &str, tokens: u64, counter: CounterKind) -> memory::Result<Option<String>> {
    gathered(ada, query, None, &Fitting::counted_by(counter, tokens)).await
}

pub(super) async fn gathered(
    ada: &Scoped,
    query: &str,
    session: Option<&SessionId>,
    fitting: &Fitting,
) -> memory::Result<Option<String>> {
    let recalls = |context: &Context| context.parts.iter().any(|part| part.kind == PartKind::Recalled);
    let mut context = assembled(ada, &shortened(ada, query), session, fitting).await?;
    for line in lines(query) {
        if recalls(&context) {
            break;
        }
        let other = assembled(ada, line, session, fitting).await?;
        context = if recalls(&other) { other } else { context };
    }
    let fitting = fitting.clone();
    // Not on a thread that answers others: of a long session, megabytes are written and counted.
    spawn_blocking(move || cut(&context, &fitting)).await.map_err(broke_down)
}

/// Returns what fits of a context besides the query; none if it holds nothing else.
fn cut(context: &Context, fitting: &Fitting) -> Option<String> {
    let mut parts: Vec<&Part> = context.parts.iter().filter(|part| part.kind != PartKind::Query).collect();
    // The newest stand last, and are worth most.
    let left_out = fitting.left_out(parts.len(), |from| shown(parts.get(from..).unwrap_or_default()));
    parts.drain(..left_out);
    match parts.as_slice() {
        [] => None,
        [one] if !fitting.fits(&shown(&parts)) => {
            // A name alone may be longer than the budget.
            Some(fitting.clipped(&one.message.text(), |text| message(one, text))).filter(|text| fitting.fits(text))
        }
        several => Some(shown(several)),
    }
}

fn broke_down(source: JoinError) -> Error {
    let source = Cause::new(source);
    Error::Backend { backend: "memory", doing: "cut a context", transience: Transience::Permanent, source }
}

/// Returns a query that the memory takes: of one that is too long, the beginning and the end, where people ask about what they paste.
pub(super) fn shortened<'a>(ada: &Scoped, query: &'a str) -> Cow<'a, str> {
    let most = ada.memory().limits().query_bytes;
    if query.len() <= most {
        return Cow::Borrowed(query);
    }
    let half = most.saturating_sub(1) / 2;
    Cow::Owned(format!("{}\n{}", beginning(query, half), ending(query, half)))
}

/// Returns the last and the first line of a long text, of a longer line the end and the beginning.
fn lines(text: &str) -> Vec<&str> {
    if text.len() <= LINE {
        return Vec::new();
    }
    let (first, last) = (text.trim().lines().next(), text.trim().lines().next_back());
    last.map(|last| ending(last, LINE)).into_iter().chain(first.map(|first| beginning(first, LINE))).collect()
}

fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

fn ending(text: &str, most: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or_default()
}

/// Returns the context of a query.
async fn assembled(
    ada: &Scoped,
    query: &str,
    session: Option<&SessionId>,
    fitting: &Fitting,
) -> memory::Result<Context> {
    // The query is no part of the answer, and takes room in the context. What is recalled takes at most a third of one.
    let room = if session.is_some() { fitting.most() } else { fitting.most().saturating_mul(3) };
    let room = room.saturating_add(2 * query.len() as u64).saturating_add(64);
    let mut request = ContextRequest::new(query, Budget::new(room)).recall(10).oversize(Oversize::TruncateMiddle);
    request.recall_tokens = fitting.most();
    let nobody = ada.session(&SessionId::new(NOBODY)?);
    match session {
        None => nobody.assemble(&request).await,
        Some(session) => match ada.session(session).assemble(&request).await {
            // Its instructions alone are too much: what is recalled is told without them.
            Err(Error::OverBudget { .. }) => nobody.assemble(&request).await,
            context => context,
        },
    }
}

fn shown(parts: &[&Part]) -> String {
    let lines = parts.iter().map(|part| match part.kind {
        // It is one block of data already.
        PartKind::Recalled => part.message.text(),
        _ => message(part, &part.message.text()),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn message(part: &Part, text: &str) -> String {
    format!("<message from=\"{}\">{}</message>", quoted(&part.message.author()), quoted(text))
}

/// Returns a text that ends no block of data.
fn quoted(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

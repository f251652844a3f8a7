//! What a memory holds that matters for a request, as text within a budget.

use memory::receipt::PartKind;
use memory::window::{Budget, Oversize};
use memory::{ContextRequest, Error, Part, Scoped, SessionId};

use super::answer::Fitting;

/// What is said where nothing is known.
pub(super) const NOTHING: &str = "Nothing is known that matters for this.";

/// The session of a request that names none: nothing is said there, so that only what is recalled is shown.
const NOBODY: &str = "mcp: no conversation";

/// Returns what a context of `query` holds besides the query: what is recalled and, of a session, its newest messages. It has at
/// most `tokens` tokens, and is data between marks that no text can end; none if nothing is known that matters.
///
/// # Errors
/// As [`Session::assemble`](memory::Session::assemble).
pub async fn gather(ada: &Scoped, query: &str, tokens: u64) -> memory::Result<Option<String>> {
    gathered(ada, query, None, &Fitting::new(tokens)).await
}

pub(super) async fn gathered(
    ada: &Scoped,
    query: &str,
    session: Option<&SessionId>,
    fitting: &Fitting,
) -> memory::Result<Option<String>> {
    // The query is no part of the answer, and takes room in the context. What is recalled takes at most a third of one.
    let room = if session.is_some() { fitting.most() } else { fitting.most().saturating_mul(3) };
    let room = room.saturating_add(2 * query.len() as u64).saturating_add(64);
    let mut request = ContextRequest::new(query, Budget::new(room)).recall(10).oversize(Oversize::TruncateMiddle);
    request.recall_tokens = fitting.most();
    let nobody = ada.session(&SessionId::new(NOBODY)?);
    let context = match session {
        None => nobody.assemble(&request).await?,
        Some(session) => match ada.session(session).assemble(&request).await {
            // Its instructions alone are too much: what is recalled is told without them.
            Err(Error::OverBudget { .. }) => nobody.assemble(&request).await?,
            context => context?,
        },
    };
    let mut parts: Vec<&Part> = context.parts.iter().filter(|part| part.kind != PartKind::Query).collect();
    // The newest stand last, and are worth most.
    while parts.len() > 1 && !fitting.fits(&shown(&parts)) {
        parts.remove(0);
    }
    Ok(match parts.as_slice() {
        [] => None,
        [one] if !fitting.fits(&shown(&parts)) => {
            // A name alone may be longer than the budget.
            Some(fitting.clipped(&one.message.text(), |text| message(one, text))).filter(|text| fitting.fits(text))
        }
        several => Some(shown(several)),
    })
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

//! Resources: the list of sessions, a session, and an item. What they hold fits into the budget of a result.

use std::cmp::Reverse;

use memory::edge::{self, titles};
use memory::store::chat::{Page, SessionState, View};
use memory::{Content, ItemId, Scoped, Seq, SessionId};
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::answer::Fitting;
use super::chatgpt::content;
use crate::caller::Caller;
use crate::token::Right;

const SESSIONS: &str = "memory://sessions";
const SESSION: &str = "memory://session/";
const ITEM: &str = "memory://item/";

/// How many sessions are listed, and how many messages are read of one.
const MOST: usize = 100;
/// How many sessions are looked at, and how many are read at once.
const LOOKED_AT: usize = 10_000;
const PAGE: usize = 1_000;
/// How many tokens of a session are read for each that fits: of a long message, a short passage is shown.
const EACH: u64 = 64;

pub(super) fn listed() -> Vec<Resource> {
    vec![
        Resource::new(SESSIONS, "sessions")
            .with_description("The conversations, the newest first")
            .with_mime_type("application/json"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, what: &str| ResourceTemplate::new(uri, name).with_description(what);
    vec![
        template("memory://session/{name}", "session", "The newest messages of a conversation"),
        template("memory://item/{id}", "item", "A message or a record, by an id that begins with m- or r-"),
    ]
}

/// Reads a resource.
pub(super) async fn read(uri: &str, caller: &Caller, fitting: &Fitting) -> Result<ReadResourceResult, ErrorData> {
    let absent = || ErrorData::resource_not_found("there is no such resource", None);
    let ada = caller.allowed(Right::Read).map_err(|problem| ErrorData::invalid_params(problem.words(), None))?;
    let (text, kind) = if uri == SESSIONS {
        (sessions(ada, fitting).await.map_err(|error| failed(&error))?, "application/json")
    } else if let Some(name) = uri.strip_prefix(SESSION) {
        let session = plain(name).and_then(|name| SessionId::new(&name).ok()).ok_or_else(absent)?;
        let text = session_text(ada, &session, fitting).await.map_err(|error| failed(&error))?;
        (text.ok_or_else(absent)?, "text/plain")
    } else if let Some(key) = uri.strip_prefix(ITEM) {
        let item = ItemId::from_key(key).map_err(|_| absent())?;
        let content = content(ada, &item).await.map_err(|error| failed(&error))?.ok_or_else(absent)?;
        (fitting.items(&[&content], "", ada.memory().analysis()), "text/plain")
    } else {
        return Err(absent());
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

fn failed(error: &memory::Error) -> ErrorData {
    tracing::warn!(error = error.with_causes(), "a resource could not be read");
    ErrorData::internal_error("the memory could not be read", None)
}

async fn sessions(ada: &Scoped, fitting: &Fitting) -> memory::Result<String> {
    let (states, mut is_cut) = newest(ada).await?;
    let ids: Vec<SessionId> = states.iter().map(|state| state.session.clone()).collect();
    let titles = titles(ada, &ids).await?;
    let mut list: Vec<Value> =
        states.iter().zip(titles).map(|(state, title)| edge::session(state, title.as_deref())).collect();
    loop {
        let shown =
            if is_cut { json!({ "sessions": list, "more": "not all fit here" }) } else { json!({ "sessions": list }) };
        let text = shown.to_string();
        if list.is_empty() || fitting.fits(&text) {
            return Ok(text);
        }
        list.pop();
        is_cut = true;
    }
}

/// Returns the sessions that were spoken in last, the newest first, and whether there are more. Of an owner with very many sessions,
/// those are looked at whose names come first.
async fn newest(ada: &Scoped) -> memory::Result<(Vec<SessionState>, bool)> {
    let (mut newest, mut count): (Vec<SessionState>, usize) = (Vec::new(), 0);
    let mut after: Option<SessionId> = None;
    while count < LOOKED_AT {
        let page = ada.sessions(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        (after, count) = (Some(last.session.clone()), count + page.len());
        newest.extend(page);
        newest.sort_by_key(|state| Reverse(state.last_at));
        newest.truncate(MOST);
    }
    Ok((newest, count > MOST))
}

/// Returns the newest messages of a session that fit; none if it has no messages.
async fn session_text(ada: &Scoped, session: &SessionId, fitting: &Fitting) -> memory::Result<Option<String>> {
    let head = ada.session(session).state().await?.head;
    if head == Seq(0) {
        return Ok(None);
    }
    let page = Page::before(Seq(head.0.saturating_add(1)), MOST, View::Log);
    let page = page.within(fitting.most().saturating_mul(EACH));
    let rows = ada.session(session).read(&page).await?.messages;
    let said: Vec<Content> = rows.into_iter().filter(|row| row.message.is_some()).map(Content::Message).collect();
    // The newest first: what does not fit is the oldest.
    let newest: Vec<&Content> = said.iter().rev().collect();
    Ok(Some(fitting.items(&newest, "", ada.memory().analysis())))
}

/// Returns a part of an address as it was before it was escaped.
fn plain(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

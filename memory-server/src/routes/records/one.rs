//! One record: reading it, changing it in its place if nobody changed it meanwhile, and its history.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use memory::store::record::Telling;
use memory::store::records::Expect;
use memory::{Error, Record, RecordId, Scoped, StoredRecord, Timestamp, Trust, edge};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{KIND, sources};
use crate::app::{App, PART};
use crate::caller::{Caller, Reads, Writes};
use crate::input::{Json, OfRecord, Parameters};
use crate::mcp::kept_from;
use crate::problem::Problem;
use crate::routes::list::List;
use crate::routes::{Problems, json as answer};
use crate::token::Right;
use crate::unexpired::unexpired;

/// A record, with its version as its tag.
fn tagged(value: &Value, version: u64) -> Response<Body> {
    let mut response = answer(value);
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

async fn known(ada: &Scoped, id: RecordId) -> Result<Option<StoredRecord>, Problem> {
    Ok(ada.get(&[id]).await?.pop())
}

/// Returns a record with all that is known of it. The header `ETag` has its version.
#[utoipa::path(get, path = "/v1/records/{record}", tag = "records", security(("token" = [])),
    params(("record" = String, Path, format = Uuid)),
    responses((status = 200, description = "The record.", body = Object), Problems))]
pub(crate) async fn get(Reads(ada): Reads, OfRecord(id): OfRecord) -> Result<Response<Body>, Problem> {
    let stored = unexpired(&ada, &[id]).await?.pop().ok_or_else(|| Problem::absent("record"))?;
    Ok(tagged(&edge::record(&stored, ada.memory().now()), stored.version))
}

/// Which part of a history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Since {
    /// The place after which the list begins: `next` of the page before.
    after: Option<String>,
}

/// The place of a record in a history: when another took its place, and its id. The current one has none, and is the last.
type Place = (Timestamp, RecordId);

fn place(stored: &StoredRecord) -> Option<Place> {
    stored.record.superseded.map(|superseded| (superseded.at, stored.record.id))
}

/// Reads `next` of a page.
fn place_of(after: &str) -> Result<Place, Problem> {
    let (at, id) = after.split_once('.').ok_or_else(|| Problem::bad("after is `next` of a page of a history"))?;
    Ok((format!("@{at}").parse()?, id.parse()?))
}

/// Returns what a record took the place of, and what took its place, in this order. A page of very long ones ends before the last.
#[utoipa::path(get, path = "/v1/records/{record}/history", tag = "records", security(("token" = [])),
    params(("record" = String, Path, format = Uuid), Since),
    responses((status = 200, description = "`records`, the current one last, and `next` if there are more.", body = Object),
        Problems))]
pub(crate) async fn history(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    OfRecord(id): OfRecord,
    Parameters(since): Parameters<Since>,
) -> Result<Response<Body>, Problem> {
    let after = since.after.as_deref().map(place_of).transpose()?;
    let is_before = |stored: &StoredRecord| after.zip(place(stored)).is_some_and(|(after, place)| place <= after);
    let (mut list, mut last) = (List::within(app.config.answer_bytes), None);
    let (mut is_any, mut has_more) = (false, false);
    // In parts, so that no more is held of very long records than is sent.
    'parts: for ids in ada.chain(id).await?.chunks(PART) {
        let part = unexpired(&ada, ids).await?;
        is_any |= !part.is_empty();
        for stored in part.iter().filter(|stored| !is_before(stored)) {
            has_more = list.is_full();
            if has_more {
                break 'parts;
            }
            list.push(&edge::record(stored, ada.memory().now()));
            last = place(stored);
        }
    }
    if !is_any {
        return Err(Problem::absent("record"));
    }
    let next = last.filter(|_| has_more).map(|(at, id)| format!("{}.{id}", at.0));
    Ok(list.answer("records", &json!({ "next": next })))
}

/// A whole record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    /// Its text.
    #[schema(min_length = 1)]
    text: String,
    /// `fact`, `preference` or any other word.
    #[schema(min_length = 1, max_length = 255, default = "fact")]
    kind: Option<String>,
    /// Its tags.
    tags: Option<Vec<String>>,
    /// 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f32>,
    /// Whether it never expires.
    pinned: Option<bool>,
    /// The agent that it belongs to.
    #[schema(min_length = 1, max_length = 255)]
    agent: Option<String>,
    /// Who or what wrote it.
    #[schema(max_length = 255)]
    origin: Option<String>,
    /// How far it may be believed: `untrusted`, `tool`, `assistant`, `user` or `system`. Default as far as the stored record, and
    /// `user` for a new one.
    #[schema(value_type = Option<String>, pattern = "^(untrusted|tool|assistant|user|system)$")]
    trust: Option<Trust>,
    /// The time from which it is true.
    #[schema(format = DateTime)]
    valid_from: Option<String>,
    /// The time from which it is true no longer.
    #[schema(format = DateTime)]
    valid_to: Option<String>,
    /// The time from which it is gone.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The ids or keys of what it was derived from. It is forgotten with them.
    #[schema(max_items = 4_096)]
    sources: Option<Vec<String>>,
    /// Values of the caller's own.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

impl Whole {
    /// Returns the record. What it shows of the stored one is where and when that was told, and what took its place.
    ///
    /// Everybody who told the stored one tells this one, each in the same session and run: so it is forgotten with these, as that was.
    async fn record(&self, ada: &Scoped, id: RecordId, stored: Option<&Record>) -> Result<Record, Problem> {
        let time = |text: &Option<String>| text.as_deref().map(str::parse::<Timestamp>).transpose();
        let at = stored.map_or(ada.memory().now(), |record| record.first.at);
        let trust = self.trust.unwrap_or_else(|| stored.map_or(Trust::User, Record::trust));
        let told = Telling {
            origin: self.origin.clone(),
            sources: sources(ada, self.sources.as_deref().unwrap_or_default()).await?,
            tags: self.tags.clone().unwrap_or_default(),
            importance: self.importance,
            pinned: self.pinned.unwrap_or_default(),
            expires_at: time(&self.expires_at)?,
            valid_from: time(&self.valid_from)?,
            valid_to: time(&self.valid_to)?,
            metadata: self.metadata.clone().unwrap_or_default(),
            ..Telling::new(at, trust)
        };
        let mut tellings =
            stored.map_or_else(|| vec![told.clone()], |record| told_as_before(record, &told)).into_iter();
        Ok(Record {
            id,
            agent: self.agent.clone(),
            first: tellings.next().unwrap_or(told),
            again: tellings.collect(),
            hold: stored.is_some_and(|record| record.hold),
            superseded: stored.and_then(|record| record.superseded),
            ..Record::new(self.kind.as_deref().unwrap_or(KIND), &self.text, at)
        })
    }
}

/// Returns what is `told` now, by everybody who told the record: once for each session and run.
fn told_as_before(record: &Record, told: &Telling) -> Vec<Telling> {
    let again = |before: &Telling| {
        let (session, run) = (before.session.clone(), before.run.clone());
        Telling { at: before.at, session, run, ..told.clone() }
    };
    edge::told_in(record, |before| (&before.session, &before.run)).into_iter().map(again).collect()
}

/// Returns what the headers expect to be stored.
fn expected(headers: &HeaderMap) -> Result<Expect, Problem> {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    match (text(IF_MATCH), text(IF_NONE_MATCH)) {
        (None, Some("*")) => Ok(Expect::Absent),
        (Some(tag), None) => {
            let version = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).and_then(|tag| tag.parse().ok());
            let other = || Problem::bad("If-Match holds one version in quotes, as ETag has it");
            version.map(Expect::Version).ok_or_else(other)
        }
        (None, None) => {
            let how =
                "say over which version: If-Match with the ETag that was read, or If-None-Match: * for a new record";
            Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, how))
        }
        _ => Err(Problem::bad("If-Match with one version, or If-None-Match with *, and not both")),
    }
}

/// Stores a whole record over the version that was read, and nothing over another. Repeatable: what is stored with equal
/// content succeeds. To keep the old text in the history, supersede it. What the tools `graph` and `files` of agents keep stays theirs:
/// a record that they would not know any more is refused, and a text of a node that is not its words.
/// A token that may not read stores new records alone, and is told no version.
#[utoipa::path(put, path = "/v1/records/{record}", tag = "records", security(("token" = [])),
    params(("record" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The ETag that was read. It needs the right to read too."),
        ("If-None-Match" = Option<String>, Header, description = "`*` for a new record.")),
    request_body = Whole,
    responses((status = 200, description = "`id` and `version`; to a token that may not read, the `id`.", body = Object),
        (status = 412, description = "Another version is stored, or nothing.",
            content_type = "application/problem+json", body = Problem),
        (status = 428, description = "No version was named.", content_type = "application/problem+json", body = Problem),
        Problems))]
pub(crate) async fn put(
    Writes(ada): Writes,
    Extension(caller): Extension<Caller>,
    OfRecord(id): OfRecord,
    headers: HeaderMap,
    Json(whole): Json<Whole>,
) -> Result<Response<Body>, Problem> {
    let expect = expected(&headers)?;
    if expect != Expect::Absent {
        // Also that nothing was stored tells what stands there.
        caller.allowed(Right::Read)?;
    }
    let mut is_there = true;
    // Twice: the same request may have stored the record between the look and the put, with another time.
    for _ in 0..2 {
        let stored = known(&ada, id).await?;
        is_there = stored.is_some();
        let record = whole.record(&ada, id, stored.as_ref().map(|stored| &*stored.record)).await?;
        // Over another version than the expected one, nothing is stored in any case.
        let over = stored.as_ref().filter(|stored| expect == Expect::Version(stored.version));
        if let Some(why) = over.and_then(|stored| kept_from(&record, &stored.record)) {
            return Err(Problem::new(StatusCode::CONFLICT, why));
        }
        match ada.put(record, expect).await {
            Ok(version) if caller.may_read() => {
                return Ok(tagged(&json!({ "id": id, "version": version }), version));
            }
            // How often others changed it is not told.
            Ok(_) => return Ok(answer(&json!({ "id": id }))),
            Err(Error::IdConflict { .. }) if stored.is_none() => {}
            Err(Error::Conflict | Error::IdConflict { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let why = match expect {
        Expect::Version(_) if !is_there => "nothing is stored under this id",
        _ => "another version is stored: read it, then decide",
    };
    Err(Problem::new(StatusCode::PRECONDITION_FAILED, why))
}

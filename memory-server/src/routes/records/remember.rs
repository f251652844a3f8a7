//! Remembering: a new record, or one more telling of what is known, or something in the place of an old record.

use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use memory::{Gate, Record, RecordId, Remember, Scoped, SessionId, StoredRecord, Timestamp, Trust};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{KIND, sources};
use crate::caller::{Caller, Writes};
use crate::input::{Json, OfRecord};
use crate::mcp::kept_by_tools;
use crate::number::whole_if_any;
use crate::problem::Problem;
use crate::routes::repeat::key;
use crate::routes::{Problems, json as answer};
use crate::token::Right;
use crate::unexpired::unexpired;

/// The longest time to live, in seconds: three hundred years.
const LONGEST: u64 = 10_000_000_000;

/// What is to be remembered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// Its text.
    #[schema(min_length = 1)]
    text: String,
    /// `fact`, `preference` or any other word.
    #[schema(min_length = 1, max_length = 255, default = "fact")]
    kind: Option<String>,
    /// Its tags.
    tags: Option<Vec<String>>,
    /// How long it is remembered, in seconds. Default for ever.
    #[serde(default, deserialize_with = "whole_if_any")]
    #[schema(minimum = 1, maximum = 10_000_000_000_u64)]
    ttl_seconds: Option<u64>,
    /// 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f32>,
    /// Its id. Default made from what it says, so that the same fact told twice is one record.
    #[schema(format = Uuid)]
    id: Option<String>,
    /// The session it comes from.
    #[schema(min_length = 1, max_length = 255)]
    session: Option<String>,
    /// The agent that it belongs to.
    #[schema(min_length = 1, max_length = 255)]
    agent: Option<String>,
    /// The run of the agent.
    #[schema(min_length = 1, max_length = 255)]
    run: Option<String>,
    /// Who or what wrote it.
    #[schema(max_length = 255)]
    origin: Option<String>,
    /// How far it may be believed.
    #[schema(value_type = Option<String>, pattern = "^(untrusted|tool|assistant|user|system)$")]
    trust: Option<Trust>,
    /// Whether it never expires.
    pinned: Option<bool>,
    /// The time from which it is true.
    #[schema(format = DateTime)]
    valid_from: Option<String>,
    /// The time from which it is true no longer.
    #[schema(format = DateTime)]
    valid_to: Option<String>,
    /// The ids or keys of what it was derived from. It is forgotten with them.
    #[schema(max_items = 4_096)]
    sources: Option<Vec<String>>,
    /// Adds it to the record that it repeats, if it is less new than this. That needs the right to read too.
    #[schema(minimum = 0, maximum = 2)]
    novelty: Option<f32>,
    /// Values of the caller's own.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

impl Told {
    fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(KIND)
    }

    /// Returns the record that a request with this key has made of the same words already.
    async fn made_with(&self, key: Option<RecordId>, ada: &Scoped) -> Result<Option<StoredRecord>, Problem> {
        let Some(id) = key.filter(|_| self.id.is_none()) else { return Ok(None) };
        let is_it = |stored: &StoredRecord| {
            let Record { kind, text, agent, .. } = &*stored.record;
            (kind.as_str(), text, agent) == (self.kind(), &self.text, &self.agent)
        };
        Ok(ada.get(&[id]).await?.pop().filter(is_it))
    }

    async fn request(self, key: Option<RecordId>, ada: &Scoped, caller: &Caller) -> Result<Remember, Problem> {
        if self.novelty.is_some() {
            // What becomes of it tells what is stored.
            caller.allowed(Right::Read)?;
        }
        let time = |text: Option<String>| text.map(|text| text.parse::<Timestamp>()).transpose();
        let mut remember =
            Remember::new(self.kind().to_owned(), self.text).valid(time(self.valid_from)?, time(self.valid_to)?);
        for tag in self.tags.unwrap_or_default() {
            remember = remember.with_tag(tag);
        }
        for source in sources(ada, self.sources.as_deref().unwrap_or_default()).await? {
            remember = remember.with_source(source);
        }
        for (key, value) in self.metadata.unwrap_or_default() {
            remember = remember.with_metadata(key, value);
        }
        let id = self.id.map(|id| id.parse()).transpose()?;
        remember = set(remember, id.or(key), Remember::with_id);
        if let Some(session) = self.session {
            remember = remember.with_session(SessionId::new(&session)?);
        }
        if self.pinned == Some(true) {
            remember = remember.pinned();
        }
        if self.ttl_seconds.is_some_and(|seconds| seconds > LONGEST) {
            return Err(Problem::bad(format!("ttl_seconds is at most {LONGEST}")));
        }
        remember = set(remember, self.ttl_seconds.map(Duration::from_secs), Remember::with_ttl);
        remember = set(remember, self.importance, Remember::with_importance);
        remember = set(remember, self.agent, Remember::with_agent);
        remember = set(remember, self.run, Remember::with_run);
        remember = set(remember, self.origin, Remember::with_origin);
        remember = caller.past_the_gate(set(remember, self.trust, Remember::with_trust));
        Ok(set(remember, self.novelty, |remember, most| remember.gated(Gate::default().with_threshold(most))))
    }
}

fn set<T>(remember: Remember, value: Option<T>, with: impl FnOnce(Remember, T) -> Remember) -> Remember {
    match value {
        Some(value) => with(remember, value),
        None => remember,
    }
}

/// Returns what is told of a record to whoever may write alone: the same for what was known and for what is new.
fn as_new(id: RecordId) -> Value {
    json!({ "id": id, "outcome": "stored" })
}

/// Returns the id of the record that a request makes, if it has a key: made of the key and of the record that is replaced, if one is.
fn id_of(headers: &HeaderMap, old: Option<RecordId>) -> Result<Option<RecordId>, Problem> {
    let old = old.map(|old| *old.0.as_bytes()).unwrap_or_default();
    Ok(key(headers)?.map(|key| RecordId::of_content(&[b"remember", old.as_slice(), key].concat())))
}

/// Returns what is told of a record that an earlier request with the same key has made: as if it had been told once more.
fn as_known(stored: &StoredRecord) -> Value {
    json!({ "id": stored.record.id, "outcome": "reinforced", "version": stored.version })
}

/// Remembers a fact, a preference or any other note. What says the same as a record is one more telling of it. With a header
/// `Idempotency-Key` it is a record of its own, as with an `id`, and a repeat changes nothing, also where the record was superseded. If
/// it was forgotten, a repeat tells it anew.
#[utoipa::path(post, path = "/v1/records", tag = "records", security(("token" = [])), request_body = Told,
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 255 bytes; the same for each repeat.")),
    responses((status = 200, description = "`id`, `outcome`, `version` and `durability`; to a token that may not read, the `id` \
        and always `stored`.", body = Object), Problems))]
pub(crate) async fn remember(
    Writes(ada): Writes,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Json(told): Json<Told>,
) -> Result<Response<Body>, Problem> {
    let key = id_of(&headers, None)?;
    if let Some(stored) = told.made_with(key, &ada).await? {
        return Ok(answer(&if caller.may_read() { as_known(&stored) } else { as_new(stored.record.id) }));
    }
    let remember = told.request(key, &ada, &caller).await?;
    let receipt = ada.remember(remember).await?;
    Ok(if caller.may_read() { answer(&receipt) } else { answer(&as_new(receipt.id)) })
}

/// Remembers something in the place of a record, which stays in the history. May be repeated; with a header `Idempotency-Key` a repeat
/// changes nothing, as for what is remembered. What the tools `graph` and `files` of agents keep is refused.
#[utoipa::path(post, path = "/v1/records/{record}/supersede", tag = "records", security(("token" = [])),
    params(("record" = String, Path, format = Uuid),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 255 bytes; the same for each repeat.")),
    request_body = Told,
    responses((status = 200, description = "As for what is remembered, with `supersedes`.", body = Object),
        (status = 409, description = "The record changed at the same moment, the id has other words, or tools alone may change it.",
            content_type = "application/problem+json", body = Problem), Problems))]
pub(crate) async fn supersede(
    Writes(ada): Writes,
    Extension(caller): Extension<Caller>,
    OfRecord(old): OfRecord,
    headers: HeaderMap,
    Json(told): Json<Told>,
) -> Result<Response<Body>, Problem> {
    let key = id_of(&headers, Some(old))?;
    let stored = unexpired(&ada, &[old]).await?.pop().ok_or_else(|| Problem::absent("record"))?;
    if let Some(why) = kept_by_tools(&stored.record) {
        return Err(Problem::new(StatusCode::CONFLICT, why));
    }
    let mut value = match told.made_with(key, &ada).await? {
        Some(stored) if caller.may_read() => as_known(&stored),
        Some(stored) => as_new(stored.record.id),
        None => {
            let receipt = ada.supersede(old, told.request(key, &ada, &caller).await?).await?;
            if caller.may_read() { json!(receipt) } else { as_new(receipt.id) }
        }
    };
    if let Value::Object(members) = &mut value {
        members.insert("supersedes".to_owned(), json!(RecordId(old.0)));
    }
    Ok(answer(&value))
}

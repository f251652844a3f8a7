//! The operations of `/v1`, a file each, and what they share.

pub(crate) mod context;
pub(crate) mod forget;
pub(crate) mod health;
pub(crate) mod items;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod openapi;
pub(crate) mod page;
pub(crate) mod records;
mod repeat;
pub(crate) mod search;
pub(crate) mod sending;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod transfer;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use axum::response::IntoResponse;
use memory::receipt::IndexStatus;
use memory::{Filter, Scoped};
use serde::Serialize;
use serde_json::Value;
use utoipa::IntoResponses;

use crate::problem::Problem;

/// What every operation may answer besides what it is for.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is read by the macro that documents the answers")]
pub(crate) enum Problems {
    /// The request is wrong.
    #[response(status = 400, content_type = "application/problem+json")]
    Bad(#[to_schema] Problem),
    /// The token is missing, unknown, wrong, expired or revoked.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorised(#[to_schema] Problem),
    /// The token has not the right, or the host or origin is not this server's.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(#[to_schema] Problem),
    /// There is no such thing.
    #[response(status = 404, content_type = "application/problem+json")]
    Absent(#[to_schema] Problem),
    /// The body did not come to its end in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Slow(#[to_schema] Problem),
    /// Others do something to the same thing, or it is theirs to change.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(#[to_schema] Problem),
    /// The body is too large, or has too many values.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(#[to_schema] Problem),
    /// The body is of another kind, or packed.
    #[response(status = 415, content_type = "application/problem+json")]
    OtherKind(#[to_schema] Problem),
    /// Too many requests at once with this token.
    #[response(status = 429, content_type = "application/problem+json")]
    TooMany(#[to_schema] Problem),
    /// Something failed.
    #[response(status = 500, content_type = "application/problem+json")]
    Failed(#[to_schema] Problem),
    /// These stores cannot do it.
    #[response(status = 501, content_type = "application/problem+json")]
    Unsupported(#[to_schema] Problem),
    /// Too many requests at once in all, a store that is away, or the deadline.
    #[response(status = 503, content_type = "application/problem+json")]
    Later(#[to_schema] Problem),
}

/// Answers with JSON.
pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    json_of(serde_json::to_vec(value).unwrap_or_default())
}

/// Answers with what is JSON already.
fn json_of(written: Vec<u8>) -> Response<Body> {
    let mut response = written.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the object `rest` with a list in it. `json!` would copy the list.
pub(crate) fn with_list(name: &str, list: impl Iterator<Item = Value>, mut rest: Value) -> Value {
    if let Value::Object(members) = &mut rest {
        members.insert(name.to_owned(), list.collect());
    }
    rest
}

/// Reads a condition in its text form.
pub(crate) fn filter(text: Option<&str>) -> Result<Filter, Problem> {
    Ok(text.map_or(Ok(Filter::All), str::parse)?)
}

/// Returns how many notes of the owner no index has followed yet, as a member of an answer, if that `is_asked`.
pub(crate) async fn pending(scoped: &Scoped, is_asked: bool) -> Option<(String, Value)> {
    let indexes: Vec<IndexStatus> = if is_asked { scoped.indexes().await } else { return None };
    let backlogs = indexes.iter().filter_map(|index| index.backlog.as_ref().ok());
    let most = backlogs.map(|backlog| backlog.pending).max().unwrap_or(0);
    Some(("pending".to_owned(), most.into()))
}

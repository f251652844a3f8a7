//! What a request holds: bodies of JSON, parameters, and names in its path. What is wrong with them is a problem, never a log
//! line.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use memory::import::weighs_at_most;
use memory::{RecordId, SessionId};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::app::App;
use crate::problem::Problem;

/// What the values of a body may take in memory beside its text: as much as those of 10,000 messages with pieces and metadata.
const VALUES: usize = 48 << 20;

/// A body of JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// The parameters behind the question mark.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

/// The session that the path names.
#[derive(Debug)]
pub(crate) struct InSession(pub(crate) SessionId);

/// The record that the path names.
#[derive(Debug)]
pub(crate) struct OfRecord(pub(crate) RecordId);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        check_kind(request.headers(), &["application/json"])?;
        let (parts, body) = request.into_parts();
        check_length(&parts.headers, &body, app.config.body_bytes)?;
        let bytes = read(body, app).await?;
        // A list would be read as the members in their order, which nobody means.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Problem::bad("the body has to be an object"));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|error| wrong(&error))
    }
}

/// Returns `Ok` if the body is said to be of one of these kinds, of which the first is named where it is not.
pub(crate) fn check_kind(headers: &HeaderMap, kinds: &[&str]) -> Result<(), Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kinds.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let wanted = kinds.first().copied().unwrap_or_default();
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("the body has to be {wanted}")))
}

/// Returns `Ok` unless the body is said to be larger than `most`, or is packed: what would come out of it is not known.
pub(crate) fn check_length(headers: &HeaderMap, body: &Body, most: usize) -> Result<(), Problem> {
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a packed body is not read"));
    }
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.unwrap_or(0).max(body.size_hint().lower()) > most as u64 {
        return Err(too_large(most));
    }
    Ok(())
}

pub(crate) fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have {most} bytes"))
}

/// Returns that a body did not come to its end in time.
pub(crate) fn too_slow() -> Problem {
    Problem::later(StatusCode::REQUEST_TIMEOUT, "the body did not come to its end in time")
}

/// Reads the body before what is called, within the bounds of every route.
pub(crate) async fn whole(State(app): State<Arc<App>>, request: Request, next: Next) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    check_length(&parts.headers, &body, app.config.body_bytes)?;
    let body = read(body, &app).await?;
    Ok(next.run(Request::from_parts(parts, Body::from(body))).await)
}

async fn read(body: Body, app: &App) -> Result<Bytes, Problem> {
    let most = app.config.body_bytes;
    let read = timeout(app.config.deadline, to_bytes(body, most)).await;
    // A client that went away hears no answer; so it is the length.
    let read = read.map_err(|_| too_slow())?.map_err(|_| too_large(most))?;
    // Eight MiB of `{"":0}` would take a GiB.
    match weighs_at_most(&read, most.saturating_add(VALUES)) {
        Ok(true) => Ok(read),
        Ok(false) => Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body has too many values")),
        Err(error) => Err(wrong(&error)),
    }
}

fn wrong(error: &serde_json::Error) -> Problem {
    Problem::bad(format!("the body is not right: {error}"))
}

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let read = Query::try_from_uri(&parts.uri);
        read.map(|Query(read)| Self(read)).map_err(|error| Problem::bad(format!("a parameter is not right: {error}")))
    }
}

async fn name(parts: &mut Parts) -> Result<String, Problem> {
    let name = Path::<String>::from_request_parts(parts, &()).await;
    name.map(|Path(name)| name).map_err(|_| Problem::bad("the path is not right"))
}

impl FromRequestParts<Arc<App>> for InSession {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        Ok(Self(SessionId::new(&name(parts).await?)?))
    }
}

impl FromRequestParts<Arc<App>> for OfRecord {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        Ok(Self(name(parts).await?.parse()?))
    }
}

//! What is told of each request: one log line and two figures, with no owner, no content and no address in them.

use axum::extract::{MatchedPath, Request};
use axum::http::header::{HeaderMap, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use memory::MessageId;
use memory::store::time::Stopwatch;

use crate::figures;

/// The id of a request, as the client gave it or as the answer tells it.
const ID: HeaderName = HeaderName::from_static("x-request-id");
/// The trace that a request belongs to (W3C Trace Context).
const TRACE: &str = "traceparent";

/// Logs a request and counts it.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let watch = Stopwatch::start();
    let id = said(request.headers(), ID.as_str(), 64).map_or_else(|| MessageId::fresh().to_string(), str::to_owned);
    let trace = said(request.headers(), TRACE, 55).map(str::to_owned);
    let path = request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str());
    let operation = format!("{} {path}", known(request.method().as_str()));
    let mut response = next.run(request).await;
    let status = response.status();
    figures::count(&operation, status.as_u16(), watch.elapsed());
    let micros = watch.micros();
    tracing::info!(target: "memory_server::request", request = id, trace, operation, status = status.as_u16(), micros);
    // What is refused for its token is answered in the same bytes each time.
    if status != StatusCode::UNAUTHORIZED
        && let Ok(id) = HeaderValue::from_str(&id)
    {
        response.headers_mut().insert(ID, id);
    }
    response
}

/// Returns a header that can stand in a log: short, and of letters, digits and hyphens.
fn said<'a>(headers: &'a HeaderMap, name: &str, most: usize) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?;
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    Some(value).filter(|value| (1..=most).contains(&value.len()) && is_plain)
}

/// A method may be any word.
fn known(method: &str) -> &str {
    if ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].contains(&method) { method } else { "other" }
}

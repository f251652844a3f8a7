//! MCP over HTTP: without sessions and with JSON answers, so that no id but the token opens anything.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::agent::Agent;
use super::profile::Agents;
use crate::problem::Problem;

/// The most bytes that a refusal in plain words has.
const WORDS: usize = 1 << 16;

/// How a refusal begins of a body that is no message.
const NO_MESSAGE: &str = "fail to deserialize request body ";

/// The service of `/mcp`. Hosts, origins and tokens are checked before it, as for every route.
pub(crate) fn service(
    agents: Agents,
    body_bytes: usize,
) -> StreamableHttpService<impl rmcp::ServerHandler + 'static, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(body_bytes);
    let agent = Agent::new(Arc::new(agents), None);
    StreamableHttpService::new(move || Ok(agent.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// Answers with problem JSON, as every route does, where the service refuses in plain words. What is JSON already stays: errors of
/// JSON-RPC, and what was refused before the service.
pub(crate) async fn problems(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    let status = answer.status();
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !(status.is_client_error() || status.is_server_error()) || kind.contains("json") {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    let words = to_bytes(body, WORDS).await.unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let problem = match words.strip_prefix(NO_MESSAGE) {
        Some(why) => Problem::bad(format!("the body is no message of MCP: {why}")),
        None => Problem::new(status, words),
    };
    let mut answer = problem.into_response();
    if let Some(allowed) = parts.headers.get(ALLOW) {
        answer.headers_mut().insert(ALLOW, allowed.clone());
    }
    answer
}

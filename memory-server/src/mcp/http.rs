//! MCP over HTTP: without sessions and with JSON answers, so that no id but the token opens anything.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::agent::Agent;
use super::profile::Agents;

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

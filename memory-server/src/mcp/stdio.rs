//! MCP over the standard streams: a process of its own for each client, over one owner.

use std::io;
use std::sync::Arc;

use memory::{Scoped, Timestamp};
use rmcp::ServiceExt as _;
use rmcp::transport::io::stdio;

use super::agent::Agent;
use super::in_order::InOrder;
use super::lines::Lines;
use super::profile::Agents;
use crate::caller::Caller;
use crate::token::{Grant, Rights, Token};

/// Serves MCP on stdin and stdout for one owner, until the client closes stdin. Calls of tools are answered one after the other, in
/// the order in which they came. A line that is no message is answered with an error, and with the id that stands in it.
///
/// Upkeep and closing are the caller's. Nothing else may write to stdout meanwhile.
///
/// # Errors
/// [`Agents::check`] refuses the agents, or the client speaks no MCP.
pub async fn serve_stdio(ada: Scoped, agents: Agents) -> io::Result<()> {
    agents.check().map_err(io::Error::other)?;
    let scope = ada.scope();
    let (tenant, subject) = (scope.tenant(), scope.subject());
    // Whoever starts the process is its owner: the streams are the token.
    let token = Token::fresh()?;
    let grant = Grant::new(&token, &tenant, &subject, Rights::all(), Timestamp(0)).map_err(io::Error::other)?;
    let agent = Agent::new(Arc::new(agents), Some(Caller::trusted(ada, grant)));
    let (input, output) = stdio();
    let running = match agent.serve(InOrder::new(Lines::new(input, output))).await {
        Ok(running) => running,
        // A client that closed stdin before it said anything asked for nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

#![doc = include_str!("../README.md")]

mod access;
mod app;
mod caller;
mod config;
mod figures;
mod gate;
mod hosts;
mod id;
mod input;
mod log;
mod mcp;
mod method;
mod number;
mod observe;
mod problem;
mod routes;
mod server;
mod table;
#[cfg(feature = "tls")]
mod tls;
mod token;
mod unexpired;

pub use access::Tokens;
pub use config::Config;
pub use log::log_as_json;
pub use mcp::{Agents, GraphImport, GraphRejection, Profile, gather, import_graph, serve_stdio};
pub use server::Server;
#[cfg(feature = "tls")]
pub use tls::Certificate;
pub use token::{Grant, Right, Rights, Token, TokenFile};

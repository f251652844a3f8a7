//! MCP: tools, resources and a prompt for agents, over stdio and over HTTP without sessions.

mod agent;
mod answer;
mod chatgpt;
mod core;
mod describe;
mod files;
mod gather;
mod graph;
mod http;
mod in_order;
mod kept;
mod lines;
mod outline;
mod pages;
mod profile;
mod prompts;
mod refusal;
mod resources;
mod stdio;
mod tool;
mod tools;

pub use gather::gather;
pub use graph::{GraphImport, GraphRejection, import_graph};
pub(crate) use http::{problems, service};
pub(crate) use kept::{kept_by_tools, kept_from};
pub use profile::{Agents, Profile};
pub use stdio::serve_stdio;

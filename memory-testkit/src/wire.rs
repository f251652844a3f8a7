//! Servers of models that are none: HTTP answered as a test says, in the shapes of the vendors, whole or broken at any byte.
//!
//! ```
//! use memory_testkit::wire::{Reply, Server, openai};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let server = Server::start(|asked| Reply::json(&openai::answer(&format!("You asked {}", asked.path)))).await;
//! println!("{}", server.url("/v1")); // ask this
//! assert_eq!(server.asked().len(), 0);
//! # }
//! ```

pub mod anthropic;
pub mod cohere;
pub mod ollama;
pub mod openai;
mod reply;
mod server;
pub mod tei;

pub use reply::Reply;
pub use server::{Asked, Server};

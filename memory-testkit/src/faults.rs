//! Tools that let a server or the network to it fail. They work on loopback and need no privileges.

mod http;
mod proxy;
mod replies;
#[cfg(test)]
mod tests;

pub use http::{HttpReply, HttpRequest, HttpStub};
pub use proxy::Proxy;
pub use replies::{RedisStub, reply};

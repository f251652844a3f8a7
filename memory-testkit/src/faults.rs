//! Tools that make a server or the way to it fail, on loopback, without any rights.

mod http;
mod proxy;
mod replies;
#[cfg(test)]
mod tests;

pub use http::{HttpReply, HttpRequest, HttpStub};
pub use proxy::Proxy;
pub use replies::{RedisStub, reply};

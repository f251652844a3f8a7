//! Servers for tests: one that runs already, or a container that is started, watched and removed.
//!
//! Nothing here names a driver: a backend brings a *probe*, a function that connects to a URL and returns what the server
//! says of itself. [`Suite::service`](crate::Suite::service) does the rest for conformance tests; `tests` of a backend's
//! own and benches use [`Service::find`] and [`Service::own`].

mod answer;
mod container;
mod find;
mod follow;
mod missing;
mod own;
mod ready;
mod refill;
mod server;
mod service;
mod shared;

pub use answer::{Answer, Kind};
pub use follow::{Index, index_follows};
pub use missing::Missing;
pub use own::{OwnServer, free_port};
pub use refill::index_fills_again;
pub use server::Server;
pub use service::Service;
pub use shared::Servers;

pub(crate) use ready::probe;

//! The server, shared by the stores.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticsearch::Elasticsearch;
use elasticsearch::http::Method;
use memory_core::error::Result;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::ElasticConfig;
use crate::error::{Doing, Fault, garbled, stopped};
use crate::transport::{Body, Request, Transport};

const CONNECT: &str = "connect";

/// A server that was reached. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Elastic {
    shared: Arc<Shared>,
}

struct Shared {
    config: ElasticConfig,
    transport: Mutex<Arc<Transport>>,
    /// Whether the connections are this crate's own, and so its to close.
    is_own: bool,
    calls: Arc<Semaphore>,
}

/// More calls than can be under way at once.
const CALLS: u32 = 1 << 20;

impl Elastic {
    /// Reaches the server.
    ///
    /// # Errors
    /// `Unsupported` if the password would be sent in clear to another machine; `Backend` if the server does not answer.
    pub async fn connect(config: ElasticConfig) -> Result<Self> {
        let transport = Transport::new(&config)?;
        Self::reach(config, transport, true).await
    }

    /// Reaches the server with a client that exists already; of the configuration only the rest counts.
    ///
    /// The client's own timeout, proxy and credentials stay as they are. It follows redirects, and reads an answer whose length the
    /// server does not tell to its end.
    ///
    /// # Errors
    /// `Backend` if the server does not answer.
    pub async fn from_client(client: Elasticsearch, config: ElasticConfig) -> Result<Self> {
        let transport = Transport::of(client, &config);
        Self::reach(config, transport, false).await
    }

    async fn reach(config: ElasticConfig, transport: Transport, is_own: bool) -> Result<Self> {
        let (transport, calls) = (Mutex::new(Arc::new(transport)), Arc::new(Semaphore::new(CALLS as usize)));
        let elastic = Self { shared: Arc::new(Shared { config, transport, is_own, calls }) };
        elastic.version().await?;
        Ok(elastic)
    }

    /// Closes the connections after the calls under way have ended; later calls open others.
    ///
    /// The connections of a client that was given stay its own.
    ///
    /// # Errors
    /// `Backend` if there can be no others.
    pub async fn close(&self) -> Result<()> {
        let all = Arc::clone(&self.shared.calls).acquire_many_owned(CALLS).await;
        let _all = all.map_err(|_| stopped("close"))?;
        if self.shared.is_own {
            let fresh = Arc::new(Transport::new(&self.shared.config)?);
            *self.shared.transport.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
        Ok(())
    }

    /// Begins a call; [`Self::close`] waits until what is returned was dropped.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.shared.calls).acquire_owned().await.map_err(|_| stopped("begin a call"))
    }

    pub(crate) fn config(&self) -> &ElasticConfig {
        &self.shared.config
    }

    /// Returns the server's version. A server without most modules answers neither `GET /` nor `HEAD /`.
    pub(crate) async fn version(&self) -> Result<String> {
        let query = [("filter_path", "nodes.*.version")];
        let answer = self.get("_nodes/_local", &query).await.doing(CONNECT)?;
        let node = answer.get("nodes").and_then(Value::as_object).and_then(|nodes| nodes.values().next());
        let version = node.and_then(|node| node.get("version")?.as_str());
        version.map(str::to_owned).ok_or_else(|| garbled(CONNECT))
    }

    pub(crate) async fn get(&self, path: &str, query: &[(&str, &str)]) -> std::result::Result<Value, Fault> {
        let patience = self.config().patience;
        self.call(Request { method: Method::Get, path, query, body: Body::Nothing, patience }).await
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: Body,
        patience: Duration,
    ) -> std::result::Result<Value, Fault> {
        self.call(Request { method: Method::Post, path, query, body, patience }).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value, patience: Duration) -> std::result::Result<Value, Fault> {
        self.call(Request { method: Method::Put, path, query: &[], body: Body::Json(body), patience }).await
    }

    pub(crate) async fn call(&self, request: Request<'_>) -> std::result::Result<Value, Fault> {
        self.call_within(usize::MAX, request).await
    }

    /// Calls the server, and reads no more than `most` bytes of its answer.
    pub(crate) async fn call_within(&self, most: usize, request: Request<'_>) -> std::result::Result<Value, Fault> {
        let transport = Arc::clone(&self.shared.transport.lock().unwrap_or_else(PoisonError::into_inner));
        transport.call(request, most).await
    }
}

impl fmt::Debug for Elastic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elastic").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

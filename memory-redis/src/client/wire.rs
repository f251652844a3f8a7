//! What commands go over: one connection, or those to a cluster.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use memory_core::error::Result;
use memory_core::outlive::UNPOLLED;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, RedisResult, Value, cmd};
#[cfg(feature = "cluster")]
use redis::{cluster::ClusterClient, cluster_async::ClusterConnection};

use crate::config::RedisConfig;
use crate::error::{classify, is_answer, is_read_only, unasked};

const CONNECT: &str = "connect";

/// How often a connection is tried again, and the waits in between: a call during an outage fails soon.
const RETRIES: usize = 2;
const WAITS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// How many calls without an answer, one after the other, make a connection one that leads nowhere.
const MOST_SILENCES: u32 = 3;

/// How long the driver of a cluster itself waits for answers: longer than any call does.
#[cfg(feature = "cluster")]
const DRIVER: Duration = Duration::from_secs(60);

/// How often a closing store looks whether the calls under way have ended.
const PAUSE: Duration = Duration::from_millis(1);

pub(super) enum Wire {
    Single(Box<Single>),
    #[cfg(feature = "cluster")]
    Cluster(Box<Cluster>),
}

/// A node that takes writes, by the first of its slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Master {
    pub(crate) slot: u16,
}

pub(super) struct Single {
    manager: RwLock<Arc<ConnectionManager>>,
    silences: AtomicU32,
    /// Whether the connection stood when it was used last. If not, a call asks nothing before it does.
    stands: AtomicBool,
    /// How to connect anew; none where the application brought the connection.
    origin: Option<(Client, ConnectionManagerConfig)>,
}

#[cfg(feature = "cluster")]
pub(super) struct Cluster {
    client: ClusterClient,
    /// None once it was closed, until the next call.
    connection: RwLock<Option<Arc<ClusterConnection>>>,
}

impl Wire {
    pub(super) async fn connect(config: &RedisConfig) -> Result<Self> {
        #[cfg(feature = "tls")]
        install_provider(config);
        let wire = match config.is_cluster {
            #[cfg(feature = "cluster")]
            true => cluster(config).await,
            _ => single(config).await,
        };
        wire.map_err(|source| classify(unasked(source), CONNECT))
    }

    pub(super) fn of_manager(manager: ConnectionManager) -> Self {
        Self::Single(Box::new(Single::new(manager, None)))
    }

    /// Sends one command to the node that it belongs to, and waits so long for an answer.
    pub(super) async fn send(&self, command: &Cmd, patience: Duration) -> RedisResult<Value> {
        match self {
            Self::Single(single) => single.send(command, patience).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => {
                let mut is_asked = false;
                let answer = async {
                    let connection = cluster.connection().await?;
                    is_asked = true;
                    command.query_async(&mut (*connection).clone()).await
                };
                let answer = within(patience, answer).await;
                answer.map_err(|error| if is_asked { error } else { unasked(error) })
            }
        }
    }

    /// Sends one command to every node that takes writes, and returns all answers in one.
    pub(super) async fn ask_all(&self, command: &Cmd, patience: Duration) -> RedisResult<Value> {
        match self {
            Self::Single(_) => self.send(command, patience).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => {
                use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo};
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                let connection = cluster.connection().await?;
                within(patience, (*connection).clone().route_command(command.clone(), all)).await
            }
        }
    }

    /// Returns the nodes that take writes.
    pub(super) async fn masters(&self, patience: Duration) -> RedisResult<Vec<Master>> {
        if !self.is_cluster() {
            return Ok(vec![Master { slot: 0 }]);
        }
        let slots = self.send(cmd("CLUSTER").arg("SLOTS"), patience).await?;
        Ok(masters_of(redis::from_redis_value(slots)?))
    }

    /// Sends one command to one node.
    #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "a single server is its only master"))]
    pub(super) async fn send_to(&self, master: Master, command: &Cmd, patience: Duration) -> RedisResult<Value> {
        match self {
            Self::Single(single) => single.send(command, patience).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => {
                use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
                let route = SingleNodeRoutingInfo::SpecificNode(Route::new(master.slot, SlotAddr::Master));
                let connection = cluster.connection().await?;
                let one = RoutingInfo::SingleNode(route);
                within(patience, (*connection).clone().route_command(command.clone(), one)).await
            }
        }
    }

    /// Closes the connections after the calls under way have ended, for which it waits [`UNPOLLED`] at the most; later
    /// calls open them again.
    pub(super) async fn close(&self) {
        match self {
            Self::Single(single) => ended(single.renew()).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => {
                let old = cluster.connection.write().unwrap_or_else(PoisonError::into_inner).take();
                ended(old).await;
            }
        }
    }

    /// Returns whether there is a connection to ask by, as far as that is known.
    pub(super) fn stands(&self) -> bool {
        match self {
            Self::Single(single) => single.stands.load(Ordering::Relaxed),
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => cluster.connection.read().unwrap_or_else(PoisonError::into_inner).is_some(),
        }
    }

    pub(super) fn is_cluster(&self) -> bool {
        !matches!(self, Self::Single(_))
    }
}

/// Waits until nobody else holds a connection, but not for ever.
async fn ended<T>(connection: Option<Arc<T>>) {
    let all = async {
        while connection.as_ref().is_some_and(|connection| Arc::strong_count(connection) > 1) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    // Too late it closes with the last call.
    tokio::time::timeout(UNPOLLED, all).await.unwrap_or_default();
}

/// Waits for an answer no longer than `patience`, whatever it waits for: a connection, the server, the network.
async fn within(patience: Duration, answer: impl Future<Output = RedisResult<Value>>) -> RedisResult<Value> {
    let silence = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    tokio::time::timeout(patience, answer).await.unwrap_or_else(silence)
}

impl Single {
    fn new(manager: ConnectionManager, origin: Option<(Client, ConnectionManagerConfig)>) -> Self {
        let manager = RwLock::new(Arc::new(manager));
        Self { manager, silences: AtomicU32::new(0), stands: AtomicBool::new(true), origin }
    }

    async fn send(&self, command: &Cmd, patience: Duration) -> RedisResult<Value> {
        let manager = self.manager();
        let (mut connection, mut is_asked) = ((*manager).clone(), false);
        let answer = async {
            self.reach(&mut connection).await?;
            is_asked = true;
            command.query_async(&mut connection).await
        };
        let answer = within(patience, answer).await;
        match &answer {
            Err(error) if is_read_only(error) => {
                tracing::warn!("the Redis server takes no writes; connecting anew");
                self.renew();
            }
            Err(error) if error.is_timeout() => {
                // The other end may be gone without a word: then the connection would stay for minutes.
                if self.silences.fetch_add(1, Ordering::Relaxed) >= MOST_SILENCES {
                    self.silences.store(0, Ordering::Relaxed);
                    tracing::warn!("the Redis server does not answer; connecting anew");
                    self.renew();
                }
            }
            Err(error) if error.is_io_error() => {
                self.silences.store(0, Ordering::Relaxed);
                self.stands.store(false, Ordering::Relaxed);
            }
            Err(error) if !is_asked => {
                // The driver would answer so for ever: it connects anew after nothing but a broken connection.
                tracing::warn!(%error, "the Redis server let nobody in; connecting anew");
                self.renew();
            }
            _ => self.silences.store(0, Ordering::Relaxed),
        }
        answer.map_err(|error| if is_asked { error } else { unasked(error) })
    }

    /// Waits for the connection where it may not stand yet. Only so is a call that waited for it in vain told from one that the
    /// server did not answer in time.
    async fn reach(&self, connection: &mut ConnectionManager) -> RedisResult<()> {
        if self.stands.load(Ordering::Relaxed) {
            return Ok(());
        }
        let answer: RedisResult<Value> = cmd("PING").query_async(connection).await;
        match answer {
            // Be it that the command is not allowed.
            Err(error) if !is_answer(&error) => Err(error),
            _ => {
                self.stands.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    fn manager(&self) -> Arc<ConnectionManager> {
        self.manager.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the next command connect anew, to wherever the name leads by then; returns the old connection, unless it is
    /// the application's.
    fn renew(&self) -> Option<Arc<ConnectionManager>> {
        let (client, options) = self.origin.as_ref()?;
        let fresh = ConnectionManager::new_lazy_with_config(client.clone(), options.clone()).ok()?;
        let mut manager = self.manager.write().unwrap_or_else(PoisonError::into_inner);
        self.stands.store(false, Ordering::Relaxed);
        Some(std::mem::replace(&mut manager, Arc::new(fresh)))
    }
}

#[cfg(feature = "cluster")]
impl Cluster {
    async fn connection(&self) -> RedisResult<Arc<ClusterConnection>> {
        if let Some(connection) = &*self.connection.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(connection));
        }
        let fresh = Arc::new(self.client.get_async_connection().await.map_err(unasked)?);
        let mut place = self.connection.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(place.get_or_insert(fresh)))
    }
}

/// Returns each master once, from an answer of `CLUSTER SLOTS`: ranges with their nodes, the master first.
fn masters_of(ranges: Vec<Vec<Value>>) -> Vec<Master> {
    let (mut names, mut masters) = (HashSet::new(), Vec::new());
    for range in ranges {
        let [Value::Int(first), _, Value::Array(node), ..] = range.as_slice() else { continue };
        let (Some(Value::BulkString(name)), Ok(slot)) = (node.get(2), u16::try_from(*first)) else { continue };
        if names.insert(name.clone()) {
            masters.push(Master { slot });
        }
    }
    masters
}

async fn single(config: &RedisConfig) -> RedisResult<Wire> {
    let url = config.urls.first().map(String::as_str).unwrap_or_default();
    let client = match &config.root_certificate {
        #[cfg(feature = "tls")]
        Some(root) => {
            let root_cert = Some(root.clone());
            Client::build_with_tls(url, redis::TlsCertificates { client_tls: None, root_cert })?
        }
        _ => Client::open(url)?,
    };
    let options = ConnectionManagerConfig::new()
        // Every call is bounded by `within`; a second timer in each of them would wake the runtime's clock once more.
        .set_response_timeout(None)
        .set_connection_timeout(Some(config.connect_timeout))
        .set_number_of_retries(RETRIES)
        .set_min_delay(WAITS.0)
        .set_max_delay(WAITS.1);
    let manager = ConnectionManager::new_with_config(client.clone(), options.clone()).await?;
    Ok(Wire::Single(Box::new(Single::new(manager, Some((client, options))))))
}

#[cfg(feature = "cluster")]
async fn cluster(config: &RedisConfig) -> RedisResult<Wire> {
    let builder = ClusterClient::builder(config.urls.iter().map(String::as_str))
        .response_timeout(DRIVER)
        .connection_timeout(config.connect_timeout)
        .retries(4)
        .min_retry_wait(10)
        .max_retry_wait(100);
    #[cfg(feature = "tls")]
    let builder = match &config.root_certificate {
        Some(root) => builder.certs(redis::TlsCertificates { client_tls: None, root_cert: Some(root.clone()) }),
        None => builder,
    };
    let client = builder.build()?;
    let connection = Arc::new(client.get_async_connection().await?);
    Ok(Wire::Cluster(Box::new(Cluster { client, connection: RwLock::new(Some(connection)) })))
}

/// Installs ring for a process that has chosen nothing: without a choice rustls panics at the first handshake wherever a
/// second provider is compiled in.
#[cfg(feature = "tls")]
fn install_provider(config: &RedisConfig) {
    let is_tls = config.is_encrypted();
    if is_tls && rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster; then the process has one.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

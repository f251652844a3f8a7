//! A server for one test alone, which may configure it and kill it.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::container::ContainerOrder;
use super::missing::Missing;
use super::ready::Probe;
use super::server::Server;
use super::service::Service;
use crate::environment::Wishes;

/// A server that one test configures, starts and owns.
///
/// Its data lies on disk, it acknowledges what it has synced, and it keeps its port over restarts.
#[derive(Clone)]
pub struct OwnServer {
    service: Service,
    image: String,
    probe: Probe,
    wishes: Wishes,
    settings: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    tmpfs: Vec<(String, String)>,
    command: Option<Vec<String>>,
    /// The port of this machine that the server takes itself.
    taken: Option<u16>,
}

impl OwnServer {
    pub(super) fn new(service: Service, image: String, probe: Probe, wishes: Wishes) -> Self {
        let [settings, environment, tmpfs] = [(); 3].map(|()| Vec::new());
        Self { service, image, probe, wishes, settings, environment, tmpfs, command: None, taken: None }
    }

    /// Returns the image that will be started.
    pub fn image(&self) -> &str {
        &self.image
    }

    /// Sets what the server calls `key`: `--key value` for Redis, `-c key=value` for Postgres, `-Ekey=value` for
    /// Elasticsearch, an environment variable for Qdrant.
    #[must_use]
    pub fn with_setting(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_env(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((key.into(), value.into()));
        self
    }

    /// Mounts a file system in memory, such as `/data` with `size=2m`. It is empty after a restart.
    #[must_use]
    pub fn with_tmpfs(mut self, path: impl Into<String>, options: impl Into<String>) -> Self {
        self.tmpfs.push((path.into(), options.into()));
        self
    }

    /// Replaces the command, settings and all.
    #[must_use]
    pub fn with_command(mut self, command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.command = Some(command.into_iter().map(Into::into).collect());
        self
    }

    /// Starts it in the network of this machine, so that servers reach each other over loopback. Its settings must make
    /// it listen on `port` of loopback alone.
    #[must_use]
    pub fn with_host_network(mut self, port: u16) -> Self {
        self.taken = Some(port);
        self
    }

    /// Starts it in a container and waits until it answers.
    ///
    /// # Errors
    /// `Broken` if it does not start or answer, with the end of its log.
    pub async fn start(self) -> Result<Server, Missing> {
        let Self { service, image, probe, wishes, settings, environment, tmpfs, command, taken } = self;
        let mut order = service.order(image, &wishes, &settings);
        order.environment.extend(environment);
        if let Some(command) = command {
            order.command = command;
        }
        let port = taken.map_or_else(free_port, Ok).map_err(Missing::Broken)?;
        let order = ContainerOrder { host_port: Some(port), is_on_host: taken.is_some(), tmpfs, ..order };
        Server::start(&service, order, probe).await.map_err(Missing::Broken)
    }
}

/// Where ports are sought: below those that a system gives to whoever asks for any. A server that is killed and starts again finds
/// its own free then.
const FIRST: u32 = 16_000;
const PORTS: u32 = 16_000;

/// Returns a port of loopback that nobody listens on, another one each time: one that the engine chooses would be another after a
/// restart.
///
/// # Errors
/// If there is none.
pub fn free_port() -> Result<u16, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes that run at once seek in places that are far from each other.
    let begin = process::id().wrapping_mul(2_503);
    for _ in 0..PORTS {
        let place = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS;
        let port = u16::try_from(FIRST + place).map_err(|error| error.to_string())?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err("every port is taken".to_owned())
}

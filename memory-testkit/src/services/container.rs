//! Containers: the one place that knows testcontainers and the engine's client.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use testcontainers::bollard::Docker;
use testcontainers::bollard::container::LogOutput;
use testcontainers::bollard::errors::Error as EngineError;
use testcontainers::bollard::models::{HostConfig, PortBinding};
use testcontainers::bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptionsBuilder, LogsOptionsBuilder, StartContainerOptions,
};
use testcontainers::core::IntoContainerPort as _;
use testcontainers::core::client::{ClientError, docker_client_instance};
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{
    ContainerAsync, ContainerRequest, GenericImage, ImageExt as _, ReuseDirective, TestcontainersError,
};
use tokio::time::{sleep, timeout};

/// What every container of the kit is labelled with.
const LABEL: &str = "org.memory-testkit";

/// What the containers of one run are labelled with besides.
const RUN_LABEL: &str = "org.memory-testkit.run";

/// The longest that the engine may take to say that it is there.
const ENGINE: Duration = Duration::from_secs(60);

/// How often is tried what the engine refuses at times (a container of a fixed name while another process makes it), and
/// how long between two tries.
const TRIES: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(50);

/// What to start.
#[derive(Clone, Debug)]
pub(super) struct ContainerOrder {
    pub(super) image: String,
    /// The port in the container.
    pub(super) port: u16,
    /// The port of this machine; any free one if none is given.
    pub(super) host_port: Option<u16>,
    pub(super) environment: Vec<(String, String)>,
    /// The command; the image's own if it is empty.
    pub(super) command: Vec<String>,
    /// Paths of file systems in memory, with their options.
    pub(super) tmpfs: Vec<(String, String)>,
    /// Whether it is in the network of this machine, where it takes the port itself.
    pub(super) is_on_host: bool,
    /// The name of a container that processes share and that stays.
    pub(super) reuse: Option<String>,
    /// The run that it belongs to.
    pub(super) run: Option<String>,
}

/// A container that was started.
pub(super) struct Container {
    inner: ContainerAsync<GenericImage>,
    engine: Docker,
    port: u16,
    host_port: Option<u16>,
    reused: bool,
}

impl Container {
    /// Returns once the engine has the image, which is pulled if need be.
    ///
    /// # Errors
    /// Why it has not.
    pub(super) async fn ensure_image(image: &str) -> Result<(), String> {
        let engine = docker_client_instance().await.map_err(|error| format!("no container engine: {error}"))?;
        match timeout(ENGINE, engine.ping()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(format!("no container engine: {error}")),
            Err(_) => return Err("the container engine does not answer".to_owned()),
        }
        if engine.inspect_image(image).await.is_ok() {
            return Ok(());
        }
        generic(image).pull_image().await.map(drop).map_err(|error| format!("no image {image}: {error}"))
    }

    /// Starts a container, reachable from this machine only.
    ///
    /// # Errors
    /// Why it did not start.
    pub(super) async fn start(order: &ContainerOrder) -> Result<Self, String> {
        let engine = docker_client_instance().await.map_err(|error| error.to_string())?;
        let inner = started(order).await.map_err(|error| format!("could not start {}: {error}", order.image))?;
        let (port, host_port, reused) = (order.port, order.host_port, order.reuse.is_some());
        Ok(Self { inner, engine, port, host_port, reused })
    }

    /// Returns the port of this machine that leads to the server.
    pub(super) async fn host_port(&self) -> Result<u16, String> {
        if let Some(port) = self.host_port {
            return Ok(port);
        }
        // One that another process has made may not have been started yet.
        for _ in 1..if self.reused { TRIES } else { 1 } {
            if let Ok(port) = self.inner.get_host_port_ipv4(self.port.tcp()).await {
                return Ok(port);
            }
            sleep(BETWEEN).await;
        }
        self.inner.get_host_port_ipv4(self.port.tcp()).await.map_err(|error| error.to_string())
    }

    /// Returns the address of the container in the engine's network, which other containers reach.
    pub(super) async fn address(&self) -> Result<String, String> {
        let found = self.engine.inspect_container(self.inner.id(), None::<InspectContainerOptions>).await;
        let networks = found.map_err(|error| error.to_string())?.network_settings.and_then(|network| network.networks);
        let mut addresses = networks.unwrap_or_default().into_values().filter_map(|network| network.ip_address);
        addresses.find(|address| !address.is_empty()).ok_or_else(|| "the container is in no network".to_owned())
    }

    /// Checks that it runs.
    ///
    /// # Errors
    /// How it ended, if it did.
    pub(super) async fn check_running(&self) -> Result<(), String> {
        match self.inner.exit_code().await {
            Ok(None) => Ok(()),
            Ok(Some(code)) => Err(format!("it exited with {code}")),
            Err(error) => Err(format!("its state is unknown: {error}")),
        }
    }

    /// Returns the last lines that it wrote.
    pub(super) async fn logs(&self, lines: usize) -> Result<String, String> {
        let options = LogsOptionsBuilder::new().stdout(true).stderr(true).tail(&lines.to_string()).build();
        let mut log = String::new();
        let mut chunks = Box::pin(self.engine.logs(self.inner.id(), Some(options)));
        while let Some(chunk) = chunks.next().await {
            let chunk: LogOutput = chunk.map_err(|error| error.to_string())?;
            log.push_str(&String::from_utf8_lossy(&chunk.into_bytes()));
        }
        Ok(log)
    }

    /// Kills all of its processes at once; returns when they are gone.
    pub(super) async fn kill(&self) -> Result<(), String> {
        let options = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
        self.engine.kill_container(self.inner.id(), Some(options)).await.map_err(|error| error.to_string())
    }

    /// Asks it to end, and kills it after 30 s.
    pub(super) async fn shut_down(&self) -> Result<(), String> {
        self.inner.stop_with_timeout(Some(30)).await.map_err(|error| error.to_string())
    }

    /// Starts it again after its end, on the data that it left.
    pub(super) async fn start_again(&self) -> Result<(), String> {
        let started = self.engine.start_container(self.inner.id(), None::<StartContainerOptions>).await;
        started.map_err(|error| error.to_string())
    }

    /// Freezes all of its processes. Tried again, because on a busy machine the engine gives up on processes that it does
    /// not find frozen at once (opencontainers/runc #4388).
    pub(super) async fn freeze(&self) -> Result<(), String> {
        for _ in 1..TRIES {
            if self.inner.pause().await.is_ok() {
                return Ok(());
            }
            sleep(BETWEEN).await;
        }
        self.inner.pause().await.map_err(|error| error.to_string())
    }

    /// Lets its processes go on.
    pub(super) async fn thaw(&self) -> Result<(), String> {
        self.inner.unpause().await.map_err(|error| error.to_string())
    }

    /// Removes it with its data.
    pub(super) async fn remove(self) -> Result<(), String> {
        self.inner.rm().await.map_err(|error| error.to_string())
    }
}

/// Starts a container; one of a fixed name is tried again while another process makes or removes it.
async fn started(order: &ContainerOrder) -> Result<ContainerAsync<GenericImage>, TestcontainersError> {
    for _ in 1..if order.reuse.is_some() { TRIES } else { 1 } {
        match request(order).start().await {
            Err(TestcontainersError::Client(
                ClientError::CreateContainer(error) | ClientError::StartContainer(error),
            )) if matches!(error, EngineError::DockerResponseServerError { status_code: 404 | 409, .. }) => {
                sleep(BETWEEN).await;
            }
            ended => return ended,
        }
    }
    request(order).start().await
}

fn generic(image: &str) -> GenericImage {
    match image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
        Some((name, tag)) => GenericImage::new(name, tag),
        None => GenericImage::new(image, "latest"),
    }
}

fn request(order: &ContainerOrder) -> ContainerRequest<GenericImage> {
    let ContainerOrder { image, port, host_port, environment, command, tmpfs, is_on_host, reuse, run } = order.clone();
    let bind = move |host: &mut HostConfig| {
        let here = PortBinding {
            host_ip: Some("127.0.0.1".to_owned()),
            host_port: Some(host_port.map(|port| port.to_string()).unwrap_or_default()),
        };
        host.publish_all_ports = Some(false);
        if is_on_host {
            host.network_mode = Some("host".to_owned());
        } else {
            host.port_bindings = Some(HashMap::from([(format!("{port}/tcp"), Some(vec![here]))]));
        }
        host.tmpfs = Some(tmpfs.iter().cloned().collect());
    };
    let mut request = generic(&image)
        .with_exposed_port(port.tcp())
        .with_label(LABEL, "1")
        .with_cmd(command)
        .with_host_config_modifier(bind);
    for (key, value) in environment {
        request = request.with_env_var(key, value);
    }
    match (reuse, run) {
        // What processes share belongs to no run.
        (Some(name), _) => request.with_container_name(name).with_reuse(ReuseDirective::Always),
        (None, Some(run)) => request.with_label(RUN_LABEL, run),
        (None, None) => request,
    }
}

//! A server that was found: its URL, and its container if it has one.

use std::fmt;

use tokio::runtime::{Builder, Handle};

use super::answer::{Answer, Kind};
use super::container::{Container, ContainerOrder};
use super::missing::Missing;
use super::ready::{self, Probe};
use super::service::Service;

/// A server that answered its probe: one that runs already, or a container, which is removed when this is dropped.
pub struct Server {
    url: String,
    image: Option<String>,
    answer: Answer,
    probe: Probe,
    container: Option<Container>,
    /// Whether the container stays for other processes.
    stays: bool,
}

impl Server {
    /// Returns a server that nobody here started.
    pub(super) fn running(url: String, answer: Answer, probe: Probe) -> Self {
        Self { url, image: None, answer, probe, container: None, stays: false }
    }

    /// Starts a container and waits until the server in it answers.
    pub(super) async fn start(service: &Service, order: ContainerOrder, probe: Probe) -> Result<Self, String> {
        let container = Container::start(&order).await?;
        let port = match container.host_port().await {
            Ok(port) => port,
            // One that has ended has no port: its log says more.
            Err(why) => {
                let why = container.check_running().await.err().unwrap_or(why);
                return Err(ready::explain(&why, &container).await);
            }
        };
        let url = service.url_on("127.0.0.1", port);
        let answer = ready::wait(&url, &probe, Some(&container)).await?;
        let (image, stays) = (Some(order.image), order.reuse.is_some());
        Ok(Self { url, image, answer, probe, container: Some(container), stays })
    }

    /// Returns its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns what it said of itself.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns what it is in a few words, such as `8.0.2, container redis:8`.
    pub fn origin(&self) -> String {
        let origin = match &self.image {
            Some(image) => format!("{}, container {image}", self.answer.version),
            None => format!("{}, url", self.answer.version),
        };
        match self.answer.kind {
            Kind::Official => origin,
            Kind::Reduced => format!("{origin}, reduced"),
            Kind::StandIn => format!("{origin}, stand-in"),
        }
    }

    /// Returns the address at which other containers reach it, without a port.
    ///
    /// # Errors
    /// `Broken` if it is no container, or the engine says so; as all methods below.
    pub async fn address(&self) -> Result<String, Missing> {
        self.container()?.address().await.map_err(Missing::Broken)
    }

    /// Returns the last `lines` that it wrote to its log.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn logs(&self, lines: usize) -> Result<String, Missing> {
        self.container()?.logs(lines).await.map_err(Missing::Broken)
    }

    /// Kills all of its processes at once, as `kill -9` does; returns when they are gone.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn kill(&self) -> Result<(), Missing> {
        self.container()?.kill().await.map_err(Missing::Broken)
    }

    /// Asks it to end, as a restart in good order does; returns when it has.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn shut_down(&self) -> Result<(), Missing> {
        self.container()?.shut_down().await.map_err(Missing::Broken)
    }

    /// Starts it again after its end, on the same port and the same data but for what lay in memory, and waits until it
    /// answers.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn restart(&mut self) -> Result<(), Missing> {
        let container = self.container()?;
        container.start_again().await.map_err(Missing::Broken)?;
        self.answer = ready::wait(&self.url, &self.probe, Some(container)).await.map_err(Missing::Broken)?;
        Ok(())
    }

    /// Freezes all of its processes: connections stay open, and nothing is answered.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn stop(&self) -> Result<(), Missing> {
        self.container()?.freeze().await.map_err(Missing::Broken)
    }

    /// Lets its processes go on.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn cont(&self) -> Result<(), Missing> {
        self.container()?.thaw().await.map_err(Missing::Broken)
    }

    /// Removes its container with its data; nothing happens to one that was not started here, or that is shared.
    ///
    /// # Errors
    /// See [`address`](Self::address).
    pub async fn remove(mut self) -> Result<(), Missing> {
        match self.container.take() {
            Some(container) if !self.stays => container.remove().await.map_err(Missing::Broken),
            _ => Ok(()),
        }
    }

    fn container(&self) -> Result<&Container, Missing> {
        self.container.as_ref().ok_or_else(|| Missing::Broken("it was not started here".to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(container) = self.container.take() else { return };
        // It removes itself when it is dropped, but only within a runtime.
        if self.stays || Handle::try_current().is_ok() {
            return;
        }
        let removed = std::thread::spawn(move || {
            let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
            // What is left is swept by its label.
            let _ = runtime.block_on(container.remove());
        });
        let _ = removed.join();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("origin", &self.origin()).finish_non_exhaustive()
    }
}

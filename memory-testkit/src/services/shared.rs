//! The servers of a suite: looked up when the first test needs them, removed after the last.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::answer::Kind;
use super::missing::Missing;
use super::own::OwnServer;
use super::ready::Probe;
use super::server::Server;
use super::service::Service;
use crate::check::Failure;
use crate::environment::Wishes;

/// The servers of a suite, for the tests of a backend's own.
#[derive(Clone, Default)]
pub struct Servers {
    entries: Arc<[Arc<ServiceEntry>]>,
}

struct ServiceEntry {
    service: Service,
    probe: Probe,
    wishes: Wishes,
    image: OnceCell<Result<String, Missing>>,
    shared: OnceCell<Result<FoundServer, Missing>>,
    server: Mutex<Option<Server>>,
}

/// What is known of a server that was found.
#[derive(Clone, Debug)]
struct FoundServer {
    url: String,
    kind: Kind,
    origin: String,
}

impl Servers {
    /// Adds a service, with the environment variables about it.
    pub(crate) fn with(self, service: Service, probe: Probe) -> Self {
        self.with_wishes(service, probe, Wishes::about(service.name()))
    }

    pub(crate) fn with_wishes(self, service: Service, probe: Probe, wishes: Wishes) -> Self {
        let entry = ServiceEntry {
            service,
            probe,
            wishes,
            image: OnceCell::new(),
            shared: OnceCell::new(),
            server: Mutex::default(),
        };
        Self { entries: self.entries.iter().cloned().chain([Arc::new(entry)]).collect() }
    }

    /// Returns the URL of the server called `name`, which all tests share.
    ///
    /// # Errors
    /// If the suite has no such server, or it was not looked up: tests that use it are declared with
    /// [`Suite::test`](crate::Suite::test).
    #[track_caller]
    pub fn url(&self, name: &str) -> Result<String, Failure> {
        let found = self.entry(name)?.shared.get();
        match found {
            Some(Ok(found)) => Ok(found.url.clone()),
            Some(Err(missing)) => Err(missing.clone().into()),
            None => Err(Failure::new(format!("the server {name} was not looked up"))),
        }
    }

    /// Returns a server called `name` for one test alone, to be configured and started.
    ///
    /// # Errors
    /// If the suite has no such server, or its image was not looked up: tests that use it are declared with
    /// [`Suite::alone`](crate::Suite::alone).
    #[track_caller]
    pub fn own(&self, name: &str) -> Result<OwnServer, Failure> {
        let entry = self.entry(name)?;
        match entry.image.get() {
            Some(Ok(image)) => {
                Ok(OwnServer::new(entry.service, image.clone(), entry.probe.clone(), entry.wishes.clone()))
            }
            Some(Err(missing)) => Err(missing.clone().into()),
            None => Err(Failure::new(format!("the image of {name} was not looked up"))),
        }
    }

    /// Looks up every server that tests share, the first time.
    pub(crate) async fn share(&self) -> Result<(), Missing> {
        for entry in self.entries.iter() {
            entry.shared.get_or_init(|| entry.look_up()).await.as_ref().map_err(|missing| entry.judge(missing))?;
        }
        Ok(())
    }

    /// Looks up the image of every server, the first time.
    pub(crate) async fn images(&self) -> Result<(), Missing> {
        for entry in self.entries.iter() {
            let image = entry.image.get_or_init(|| entry.service.image(&entry.wishes)).await;
            image.as_ref().map_err(|missing| entry.judge(missing))?;
        }
        Ok(())
    }

    /// Returns the URL of the first server, if it was found.
    pub(crate) fn first_url(&self) -> Option<String> {
        Some(self.entries.first()?.shared.get()?.as_ref().ok()?.url.clone())
    }

    /// Returns whether all servers that were found are official ones.
    pub(crate) fn official(&self) -> bool {
        self.found().all(|(_, found)| found.kind == Kind::Official)
    }

    /// Returns what was used, such as `redis 8.0.2, container redis:8`.
    pub(crate) fn told(&self) -> Vec<String> {
        let shared = self.found().map(|(name, found)| format!("{name} {}", found.origin));
        let own = self.entries.iter().filter(|entry| entry.shared.get().is_none()).filter_map(|entry| {
            let image = entry.image.get()?.as_ref().ok()?;
            Some(format!("{}: containers of {image}", entry.service.name()))
        });
        shared.chain(own).collect()
    }

    /// Removes what was started.
    ///
    /// # Errors
    /// What could not be removed.
    pub(crate) async fn close(&self) -> Result<(), Missing> {
        for entry in self.entries.iter() {
            let server = entry.server.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(server) = server {
                server.remove().await?;
            }
        }
        Ok(())
    }

    fn found(&self) -> impl Iterator<Item = (&'static str, &FoundServer)> {
        self.entries.iter().filter_map(|entry| Some((entry.service.name(), entry.shared.get()?.as_ref().ok()?)))
    }

    #[track_caller]
    fn entry(&self, name: &str) -> Result<&ServiceEntry, Failure> {
        let entry = self.entries.iter().find(|entry| entry.service.name() == name);
        entry.map(Arc::as_ref).ok_or_else(|| Failure::new(format!("the suite has no server called {name}")))
    }
}

impl ServiceEntry {
    async fn look_up(&self) -> Result<FoundServer, Missing> {
        let server = self.service.look_up(&self.probe, &self.wishes).await?;
        let found = FoundServer { url: server.url().to_owned(), kind: server.answer().kind, origin: server.origin() };
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        Ok(found)
    }

    /// Turns an absence into a failure where the server is required.
    fn judge(&self, missing: &Missing) -> Missing {
        let name = self.service.name();
        match missing {
            Missing::Absent(why) if requires(&self.wishes.require, name) => Missing::Broken(format!("{name}: {why}")),
            Missing::Absent(why) => Missing::Absent(format!("{name}: {why}")),
            Missing::Broken(why) => Missing::Broken(format!("{name}: {why}")),
        }
    }
}

/// Returns whether `list`, names between commas or `all`, names a backend.
fn requires(list: &str, name: &str) -> bool {
    list.split(',').map(str::trim).any(|required| required == "all" || required == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_or_all_requires_a_server() {
        assert!(requires("redis, postgres", "postgres"));
        assert!(requires("all", "qdrant"));
        assert!(!requires("", "redis"));
        assert!(!requires("redis2", "redis"));
    }

    #[test]
    fn a_server_that_was_not_declared_is_a_failure() {
        let servers = Servers::default();
        assert!(servers.url("redis").unwrap_err().to_string().contains("no server called redis"));
        assert!(servers.own("redis").is_err());
    }
}

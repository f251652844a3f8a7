//! The servers that can be asked for.

use std::future::Future;

use memory_core::Result;

use super::answer::Answer;
use super::container::{Container, Order};
use super::missing::Missing;
use super::own::OwnServer;
use super::ready::{self, Probe};
use super::server::Server;
use crate::environment::Wishes;

/// A kind of server: what its images want, and how it is reached.
///
/// Servers are started so that an acknowledged write survives a kill, and report it. One that is not to survive its
/// container keeps its data in memory, where syncing costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    pub(super) name: &'static str,
    /// The image that is started if nothing else is asked for.
    official: &'static str,
    /// The port in the container.
    port: u16,
    /// Environment variables, for official images.
    environment: &'static [(&'static str, &'static str)],
    /// What stands before and after the host and port of its URL.
    url: (&'static str, &'static str),
    /// The program and what it needs in a container; empty if the image's own command is taken.
    command: &'static [&'static str],
    /// Settings, each of which may be replaced.
    settings: &'static [(&'static str, &'static str)],
    /// Where it keeps its data, and the options of a file system in memory there.
    data: Option<(&'static str, &'static str)>,
    /// How a setting is told.
    manner: Manner,
}

/// How a setting is told to a server.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// `--key value`
    Dashes,
    /// `-c key=value`
    Equation,
    /// `-Ekey=value`
    Joined,
    /// An environment variable.
    Environment,
}

impl Service {
    /// Returns a Redis server, called `redis`.
    pub fn redis() -> Self {
        Self {
            name: "redis",
            official: "redis:8",
            port: 6379,
            environment: &[],
            url: ("redis://", ""),
            command: &["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"],
            settings: &[("save", ""), ("appendonly", "yes"), ("appendfsync", "always")],
            data: Some(("/data", "")),
            manner: Manner::Dashes,
        }
    }

    /// Returns a PostgreSQL server with pgvector, called `postgres`. Its user is a superuser.
    pub fn postgres() -> Self {
        Self {
            name: "postgres",
            official: "pgvector/pgvector:pg17",
            port: 5432,
            environment: &[("POSTGRES_PASSWORD", "postgres")],
            url: ("postgres://postgres:postgres@", "/postgres"),
            command: &["postgres", "-c", "listen_addresses=*", "-c", "unix_socket_directories=/tmp"],
            settings: &[("fsync", "on"), ("synchronous_commit", "on"), ("jit", "off"), ("max_connections", "300")],
            data: Some(("/var/lib/postgresql/data", "uid=999,gid=999,mode=0700")),
            manner: Manner::Equation,
        }
    }

    /// Returns a Qdrant server, called `qdrant`; its URL is that of gRPC. Its settings are environment variables.
    pub fn qdrant() -> Self {
        Self {
            name: "qdrant",
            official: "qdrant/qdrant:v1.19.0",
            port: 6334,
            environment: &[],
            url: ("http://", ""),
            command: &[],
            settings: &[],
            data: None,
            manner: Manner::Environment,
        }
    }

    /// Returns an Elasticsearch server of one node without security, called `elastic`.
    pub fn elastic() -> Self {
        Self {
            name: "elastic",
            official: "elasticsearch:9.3.2",
            port: 9200,
            environment: &[("ES_JAVA_OPTS", "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1")],
            url: ("http://", ""),
            command: &["/usr/share/elasticsearch/bin/elasticsearch"],
            settings: &[
                ("discovery.type", "single-node"),
                ("network.host", "0.0.0.0"),
                ("xpack.security.enabled", "false"),
                ("cluster.routing.allocation.disk.threshold_enabled", "false"),
            ],
            data: Some(("/usr/share/elasticsearch/data", "uid=1000,gid=1000")),
            manner: Manner::Joined,
        }
    }

    /// Returns the server's name: that of `MEMORY_TEST_X_URL` in small letters.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a server that answers: the one of `MEMORY_TEST_X_URL`, else a container of `MEMORY_TEST_X_IMAGE` or of the
    /// official image. It is removed when the value is dropped, unless `MEMORY_TEST_REUSE` is 1.
    ///
    /// For benches and tests outside of a suite. `probe` connects to a URL and returns the server's version.
    ///
    /// # Errors
    /// `Absent` if there is none, `Broken` if it does not answer.
    pub async fn find<F, R, A>(self, probe: F) -> std::result::Result<Server, Missing>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<A>> + Send + 'static,
        A: Into<Answer>,
    {
        self.look_up(&ready::probe(probe), &Wishes::about(self.name)).await
    }

    /// Returns a server of the caller's own, to be configured and started: always a container.
    ///
    /// # Errors
    /// `Absent` if there is no engine or no image.
    pub async fn own<F, R, A>(self, probe: F) -> std::result::Result<OwnServer, Missing>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<A>> + Send + 'static,
        A: Into<Answer>,
    {
        let wishes = Wishes::about(self.name);
        let image = self.image(&wishes).await?;
        Ok(OwnServer::new(self, image, ready::probe(probe), wishes))
    }

    /// Returns the image to start, which the engine has.
    pub(super) async fn image(&self, wishes: &Wishes) -> std::result::Result<String, Missing> {
        let image = wishes.image.clone().unwrap_or_else(|| self.official.to_owned());
        Container::ensure_image(&image).await.map_err(Missing::Absent)?;
        Ok(image)
    }

    pub(super) async fn look_up(&self, probe: &Probe, wishes: &Wishes) -> std::result::Result<Server, Missing> {
        if let Some(url) = &wishes.url {
            if wishes.containers_only {
                return Err(Missing::Broken(format!("CI accepts containers only, unset the URL of {}", self.name)));
            }
            let answer = ready::wait(url, probe, None).await.map_err(Missing::Broken)?;
            return Ok(Server::running(url.clone(), answer, probe.clone()));
        }
        let image = self.image(wishes).await?;
        let order = Order {
            tmpfs: self.data.iter().map(|&(path, options)| (path.to_owned(), options.to_owned())).collect(),
            reuse: wishes.reuse.then(|| self.name_of_reused(&image)),
            ..self.order(image, wishes, &[])
        };
        Server::start(self, order, probe.clone()).await.map_err(Missing::Broken)
    }

    /// Returns the order of a container, its settings replaced by those of `changes` that have their names.
    pub(super) fn order(&self, image: String, wishes: &Wishes, changes: &[(String, String)]) -> Order {
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        let changed = |key: &str| changes.iter().any(|(name, _)| name == key);
        let mut settings: Vec<_> = self.settings.iter().filter(|(key, _)| !changed(key)).map(owned).collect();
        settings.extend_from_slice(changes);
        let mut environment: Vec<_> = self.environment.iter().map(owned).collect();
        let mut command: Vec<_> = self.command.iter().map(|&part| part.to_owned()).collect();
        for (key, value) in settings {
            match self.manner {
                Manner::Dashes => command.extend([format!("--{key}"), value]),
                Manner::Equation => command.extend(["-c".to_owned(), format!("{key}={value}")]),
                Manner::Joined => command.push(format!("-E{key}={value}")),
                Manner::Environment => environment.push((key, value)),
            }
        }
        let (tmpfs, run) = (Vec::new(), wishes.run.clone());
        Order {
            image,
            port: self.port,
            host_port: None,
            environment,
            command,
            tmpfs,
            is_on_host: false,
            reuse: None,
            run,
        }
    }

    /// Returns the name of the container that processes share: another image is another container.
    fn name_of_reused(&self, image: &str) -> String {
        let image: String = image.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        format!("memory-reused-{}-{image}", self.name)
    }

    /// Returns the URL of the server on a port of this machine.
    pub(super) fn url_on(&self, host: &str, port: u16) -> String {
        let (before, after) = self.url;
        format!("{before}{host}:{port}{after}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_url_of_its_own_scheme() {
        let urls = [Service::redis(), Service::postgres(), Service::qdrant(), Service::elastic()]
            .map(|service| service.url_on("127.0.0.1", 1));
        let expected = [
            "redis://127.0.0.1:1",
            "postgres://postgres:postgres@127.0.0.1:1/postgres",
            "http://127.0.0.1:1",
            "http://127.0.0.1:1",
        ];
        assert_eq!(urls, expected);
    }

    #[test]
    fn a_setting_replaces_the_one_of_its_name() {
        let change = [("appendfsync".to_owned(), "everysec".to_owned()), ("maxmemory".to_owned(), "5mb".to_owned())];
        let order = Service::redis().order("i".to_owned(), &Wishes::default(), &change);
        let command = order.command.join(" ");
        assert!(command.ends_with("--save  --appendonly yes --appendfsync everysec --maxmemory 5mb"), "{command}");
        let order = Service::qdrant().order("i".to_owned(), &Wishes::default(), &change);
        assert!(order.command.is_empty());
        assert_eq!(order.environment, change);
    }

    #[tokio::test]
    async fn a_url_is_no_container_and_ci_refuses_it() {
        let wishes = Wishes { url: Some("redis://127.0.0.1:1".to_owned()), containers_only: true, ..Wishes::default() };
        let probe = ready::probe(|_| async { Ok("1".to_owned()) });
        let found = Service::redis().look_up(&probe, &wishes).await;
        assert!(matches!(found, Err(Missing::Broken(why)) if why.contains("containers only")));
        let found = Service::redis().look_up(&probe, &Wishes { containers_only: false, ..wishes }).await.unwrap();
        assert_eq!((found.url(), found.answer().version.as_str()), ("redis://127.0.0.1:1", "1"));
    }
}

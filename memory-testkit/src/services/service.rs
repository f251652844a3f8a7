//! The kinds of servers that tests can ask for.

use super::container::ContainerOrder;
use crate::environment::Wishes;

/// A kind of server: what its images want, and how it is reached.
///
/// Servers are started so that an acknowledged write survives a kill, and report it. One that is not to survive its
/// container keeps its data in memory, where syncing costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    pub(super) name: &'static str,
    /// The image that is started if nothing else is asked for.
    pub(super) official: &'static str,
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
    pub(super) data: Option<(&'static str, &'static str)>,
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

    /// Returns the order of a container, its settings replaced by those of `changes` that have their names.
    pub(super) fn order(&self, image: String, wishes: &Wishes, changes: &[(String, String)]) -> ContainerOrder {
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
        ContainerOrder {
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
    pub(super) fn name_of_reused(&self, image: &str) -> String {
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
}

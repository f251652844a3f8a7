//! The configuration of a database connection.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use memory_core::error::{Error, Result};
use memory_core::secrets::without_secrets;
use memory_core::time::{Clock, SystemClock};
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// How connections are encrypted, and the server authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Encrypted, with a certificate that is valid for the host's name: nobody in between can read or answer.
    Verified,
    /// Encrypted, with any certificate: a man in the middle can read everything.
    Unverified,
    /// Not encrypted.
    Off,
}

/// Which database to open, and how. `Debug` hides the password.
#[derive(Clone)]
#[non_exhaustive]
pub struct PostgresConfig {
    options: PgConnectOptions,
    tls: Option<Tls>,
    pub(crate) schema: String,
    pub(crate) connections: u32,
    pub(crate) is_migrating: bool,
    pub(crate) deadline: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

/// How long the server lets a transaction be idle.
const IDLE: &str = "10s";
/// The default deadline of a call.
const DEADLINE: Duration = Duration::from_secs(3);

impl PostgresConfig {
    /// Returns the default configuration for the database at `url`, such as `postgres://user:password@host:5432/database`.
    ///
    /// Parts that the URL lacks come from the environment variables of libpq, such as `PGPASSWORD`.
    ///
    /// # Errors
    /// `Invalid` if it is not such a URL.
    pub fn new(url: &str) -> Result<Self> {
        // The driver's error may quote the URL, and with it the password.
        let options =
            PgConnectOptions::from_str(url).map_err(|_| Error::invalid("not the URL of a PostgreSQL database"))?;
        let (schema, clock) = ("memory".to_owned(), Arc::new(SystemClock));
        Ok(Self { options, tls: None, schema, connections: 10, is_migrating: true, deadline: DEADLINE, clock })
    }

    /// Sets the schema that holds the tables. Default `memory`.
    ///
    /// Processes that share data use the same schema; different schemas share nothing.
    ///
    /// # Errors
    /// `Invalid` unless it has 1 to 63 lower-case ASCII letters, digits and `_`, does not begin with a digit, and does not begin
    /// with `pg_`.
    pub fn with_schema(mut self, schema: &str) -> Result<Self> {
        let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let starts = schema.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && !schema.starts_with("pg_");
        if schema.len() > 63 || !starts || !schema.bytes().all(is_legal) {
            return Err(Error::invalid("not the name of a schema"));
        }
        schema.clone_into(&mut self.schema);
        Ok(self)
    }

    /// Sets how many connections may be open at once, at least 1. Default 10.
    #[must_use]
    pub fn with_connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the encryption. Default [`Tls::Verified`], but [`Tls::Off`] for a server on this machine.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets whether tables are created and upgraded when the database is opened. Default true.
    ///
    /// If false, the role only needs the rights to read and write the tables; another role must have opened the database before.
    #[must_use]
    pub fn with_migrations(mut self, is_migrating: bool) -> Self {
        self.is_migrating = is_migrating;
        self
    }

    /// Sets the deadline of a call, at least 3 milliseconds, including the wait for a connection. Default 3 seconds.
    ///
    /// A call waits for a connection for at most two thirds of it, and a statement may run on the server for as long. Calls that
    /// write many rows have half a minute, or this deadline if it is longer. Those that touch everything have an hour.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline.clamp(Duration::from_millis(3), Duration::from_secs(3_600));
        self
    }

    /// Sets the clock that tells when to read the server's settings again, each minute. Default the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns how long a call waits for a connection, and how long a statement may run.
    pub(crate) fn patience(&self) -> Duration {
        self.deadline * 2 / 3
    }

    /// Returns a name of the place where the data is: host, port, database and schema, whoever logs in and however the connection
    /// is made. What the URL lacks is as connecting takes it, from the environment or the user's name.
    ///
    /// `localhost`, `127.0.0.1` and `::1` have one name, and so have `/run/postgresql` and `/var/run/postgresql`. A socket is another
    /// place than a port of this machine: another server may listen there, such as one in a container.
    pub fn place(&self) -> String {
        let database = self.options.get_database().unwrap_or_else(|| self.options.get_username());
        format!("postgres:{}:{}/{database}/{}", self.host(), self.options.get_port(), self.schema)
    }

    /// Returns the host, or the folder of the server's socket.
    fn host(&self) -> String {
        if let Some(socket) = self.options.get_socket() {
            return one_name(&socket.to_string_lossy()).to_owned();
        }
        let host = self.bare_host();
        let host = if host.starts_with('/') { host.to_owned() } else { host.to_ascii_lowercase() };
        one_name(&host).to_owned()
    }

    /// Returns the host as the URL has it. An IPv6 address stands in brackets there.
    fn bare_host(&self) -> &str {
        let host = self.options.get_host();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    fn is_local(&self) -> bool {
        let host = self.bare_host();
        let is_loopback = |host: &str| host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.options.get_socket().is_some() || host.starts_with('/') || host == "localhost" || is_loopback(host)
    }

    /// Returns the encryption to use.
    fn tls(&self) -> Tls {
        self.tls.unwrap_or(if self.is_local() { Tls::Off } else { Tls::Verified })
    }

    /// Returns the driver's options for a connection.
    ///
    /// Settings are part of the startup message, so that no connection is ever without them.
    pub(crate) fn connect_options(&self) -> PgConnectOptions {
        let mode = match self.tls() {
            Tls::Verified => PgSslMode::VerifyFull,
            Tls::Unverified => PgSslMode::Require,
            Tls::Off => PgSslMode::Disable,
        };
        let path = format!("{},public", self.schema);
        let statement = format!("{}ms", self.patience().as_millis());
        let settings = [
            ("search_path", path.as_str()),
            ("statement_timeout", statement.as_str()),
            ("idle_in_transaction_session_timeout", IDLE),
            ("default_transaction_isolation", "read committed"),
            ("synchronous_commit", "on"),
            ("client_min_messages", "error"),
            // The functions of the schema hold bytes as `'\x6f04'`.
            ("standard_conforming_strings", "on"),
            ("jit", "off"),
        ];
        let options = self.options.clone().ssl_mode(mode).application_name("memory").options(settings);
        options.disable_statement_logging()
    }
}

/// Returns the one name of a host, or of the folder of a socket, that has several.
fn one_name(host: &str) -> &str {
    match host {
        "127.0.0.1" | "::1" => "localhost",
        "/var/run/postgresql" => "/run/postgresql",
        "/private/tmp" => "/tmp",
        _ => host,
    }
}

impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, tls: _, schema, connections, is_migrating, deadline, clock } = self;
        f.debug_struct("PostgresConfig")
            .field("host", &without_secrets(options.get_host()))
            .field("port", &options.get_port())
            .field("database", &options.get_database())
            .field("schema", schema)
            .field("tls", &self.tls())
            .field("connections", connections)
            .field("is_migrating", is_migrating)
            .field("deadline", deadline)
            .field("clock", clock)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> PostgresConfig {
        PostgresConfig::new(url).unwrap()
    }

    #[test]
    fn shows_no_password() {
        for url in ["postgres://ada:canary@db.example.org/memory", "POSTGRES://ada%3Acanary%40db.example.org/memory"] {
            let shown = format!("{:?}", config(url));
            assert!(!shown.contains("canary") && shown.contains("db.example.org"), "{shown}");
        }
        let error = format!("{:?}", PostgresConfig::new("postgres://ada:canary@[::/memory").unwrap_err());
        assert!(!error.contains("canary"), "{error}");
    }

    #[test]
    fn servers_elsewhere_have_to_prove_who_they_are() {
        for (host, tls) in [
            ("localhost", Tls::Off),
            ("127.0.0.1", Tls::Off),
            ("[::1]", Tls::Off),
            ("%2Frun%2Fpostgresql", Tls::Off),
            ("10.0.0.1", Tls::Verified),
            ("localhost.example.org", Tls::Verified),
        ] {
            assert_eq!(config(&format!("postgres://{host}/memory")).tls(), tls, "{host}");
        }
        let plain = "postgres://db.example.org/memory?sslmode=disable";
        assert_eq!(config(plain).tls(), Tls::Verified, "only `with_tls` weakens it");
        assert_eq!(config(plain).with_tls(Tls::Off).tls(), Tls::Off);
    }

    #[test]
    fn a_place_is_host_port_database_and_schema_and_nothing_else() {
        let place = |url: &str| config(url).place();
        let there = "postgres:db.example.org:5432/memory/memory";
        for same in [
            "postgres://ada:canary@db.example.org:5432/memory",
            "postgresql://bob@DB.example.org:5432/memory?sslmode=require&options=-c%20geqo%3Doff",
            "postgres://elsewhere:5433/other?host=db.example.org&port=5432&dbname=memory&user=eve&password=canary",
        ] {
            assert_eq!(place(same), there, "{same}");
        }
        for other in [
            "postgres://db.example.com:5432/memory",
            "postgres://db.example.org:5433/memory",
            "postgres://db.example.org:5432/other",
        ] {
            assert_ne!(place(other), there, "{other}");
        }
        let schema = config("postgres://db.example.org:5432/memory").with_schema("other").unwrap();
        assert_ne!(schema.place(), there);
        for (here, name) in [
            ("127.0.0.1", "localhost"),
            ("[::1]", "localhost"),
            ("LOCALHOST", "localhost"),
            ("%2Fvar%2Frun%2Fpostgresql", "/run/postgresql"),
            ("%2Frun%2Fpostgresql", "/run/postgresql"),
            ("%2Fprivate%2Ftmp", "/tmp"),
            ("%2Ftmp", "/tmp"),
        ] {
            let found = place(&format!("postgres://{here}:5432/memory"));
            assert_eq!(found, format!("postgres:{name}:5432/memory/memory"), "{here}");
        }
        assert_ne!(place("postgres://%2Fsrv%2Fa:5432/memory"), place("postgres://%2Fsrv%2Fb:5432/memory"));
    }

    #[test]
    fn a_database_that_is_not_named_is_that_of_whoever_logs_in() {
        // Unless the environment names one for all.
        let named = config("postgres://ada@db.example.org:5432").options.get_database().is_some();
        let place = |user: &str| config(&format!("postgres://{user}@db.example.org:5432")).place();
        assert_eq!(place("ada") == place("bob"), named);
    }

    #[test]
    fn schemas_have_plain_names() {
        for name in ["memory", "_a1", "t0"] {
            assert_eq!(config("postgres://localhost/a").with_schema(name).unwrap().schema, name);
        }
        for name in ["", "1a", "A", "a-b", "a b", "a\"b", "a,b", "pg_x", "ä", &"x".repeat(64)] {
            assert!(config("postgres://localhost/a").with_schema(name).is_err(), "{name}");
        }
    }
}

//! The settings `ELASTIC_*`.

use memory_core::error::{Error, Result};

use super::ElasticConfig;
use crate::error::BACKEND;

/// What the environment says about this backend.
#[derive(Clone, Debug)]
pub enum Configured {
    /// `ELASTIC_HOST` is not set: the backend is not used.
    Disabled,
    /// It is to be used like this.
    Enabled(Box<ElasticConfig>),
}

impl Configured {
    /// Reads `ELASTIC_HOST`, `ELASTIC_PORT` (9200), `ELASTIC_USER`, `ELASTIC_PASSWORD` and `ELASTIC_INDEX`
    /// (`kari_memory`).
    ///
    /// The host is a name or an address, or begins with `http://` or `https://`. Without that it is asked by `https`,
    /// unless it is this machine. A port in it counts unless `ELASTIC_PORT` is set, and a user and a password in it count
    /// unless `ELASTIC_USER` is; `ELASTIC_PASSWORD` without `ELASTIC_USER` is the password of the user in it.
    ///
    /// # Errors
    /// `Invalid` for values that are none.
    pub fn from_environment() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the configuration of this crate")]
        Self::from_values(|name| std::env::var(name).ok())
    }

    /// Reads the same settings from `value`, which is asked by their names; an empty value is none.
    ///
    /// # Errors
    /// As [`Self::from_environment`].
    pub fn from_values(value: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let value = |name: &str| value(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let Some(host) = value("ELASTIC_HOST") else { return Ok(Self::Disabled) };
        let mut config = server(&host, value("ELASTIC_PORT").as_deref())?;
        let password = value("ELASTIC_PASSWORD");
        if let Some(user) = value("ELASTIC_USER") {
            config = config.with_user(user, password.unwrap_or_default());
        } else if let (Some((_, in_host)), Some(password)) = (&mut config.user, password) {
            *in_host = password.into();
        }
        if let Some(index) = value("ELASTIC_INDEX") {
            config = config.with_prefix(&index)?;
        }
        Ok(Self::Enabled(Box::new(config)))
    }

    /// Returns the configuration.
    ///
    /// # Errors
    /// `Unsupported`, which says why, if the backend is disabled.
    pub fn enabled(self) -> Result<ElasticConfig> {
        match self {
            Self::Enabled(config) => Ok(*config),
            Self::Disabled => {
                Err(Error::Unsupported { backend: BACKEND, what: "be used: ELASTIC_HOST is not set".to_owned() })
            }
        }
    }
}

/// Returns how the server at `host` is used.
fn server(host: &str, port: Option<&str>) -> Result<ElasticConfig> {
    let port = port.map(|port| port.parse::<u16>().map_err(|_| Error::invalid("ELASTIC_PORT is no port")));
    let port = port.transpose()?;
    let has_scheme = host.contains("://");
    let address = if has_scheme { host.to_owned() } else { format!("http://{host}") };
    let mut config = ElasticConfig::new(&address)?;
    let named = config.url.port_or_known_default().filter(|_| names_port(&address));
    if !has_scheme && !config.is_loopback() {
        config.url.set_scheme("https").map_err(|()| Error::invalid("ELASTIC_HOST is no host"))?;
    }
    let port = port.or(named).unwrap_or(9_200);
    config.url.set_port(Some(port)).map_err(|()| Error::invalid("ELASTIC_HOST is no host"))?;
    Ok(config)
}

/// Returns whether an address names a port. A parsed one does not tell: it keeps none that is usual for its scheme.
fn names_port(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // Behind the last colon of an address of version 6 stands a bracket too, unless a port does.
    host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

//! The address of a server, to find out whether secrets may be sent to it.

use std::net::IpAddr;

use memory_core::{Error, Result};

/// The parts of a server's URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'u> {
    /// Whether the way there is encrypted.
    pub(super) is_encrypted: bool,
    host: &'u str,
}

impl<'u> Address<'u> {
    /// Reads `http://HOST:PORT` or `https://HOST:PORT`.
    ///
    /// # Errors
    /// `Invalid` for anything else, credentials in the URL among it.
    pub(super) fn parse(url: &'u str) -> Result<Self> {
        let (is_encrypted, rest) = match url.split_once("://") {
            Some((kind, rest)) if kind.eq_ignore_ascii_case("https") => (true, rest),
            Some((kind, rest)) if kind.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err(Error::invalid("the URL of a server begins with http:// or https://")),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['@', '/', '?', '#']) {
            return Err(Error::invalid("the URL of a server holds a host and a port and nothing else"));
        }
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => host,
            _ => authority,
        };
        if host.is_empty() {
            return Err(Error::invalid("the URL of a server names a host"));
        }
        Ok(Self { is_encrypted, host })
    }

    /// Returns whether the server is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(self.host);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns what may be shown of a URL: all of a legal one, nothing of another, which may hold a secret.
    pub(super) fn shown(url: &str) -> &str {
        if Address::parse(url).is_ok() { url } else { "hidden" }
    }
}

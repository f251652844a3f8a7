//! Which hosts and origins a request may name. A page of another site that a browser shows reaches no server here, whatever
//! address its name leads to.

use axum::http::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::{StatusCode, Uri};

use crate::problem::Problem;

/// The names of this machine.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names that a server is reached by, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(names: &[String]) -> Self {
        Self(OWN.iter().map(|name| (*name).to_owned()).chain(names.iter().map(|name| name.to_lowercase())).collect())
    }

    /// Returns `Ok` if the request names this server, and no page of another one sent it.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let refused = |what: &str| Problem::new(StatusCode::FORBIDDEN, format!("the {what} is not this server's"));
        let mut hosts = headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        let host = match (hosts.next(), hosts.next(), uri.authority()) {
            (Some(host), None, _) => std::str::from_utf8(host).ok(),
            (None, None, Some(authority)) => Some(authority.as_str()),
            _ => None,
        };
        if !host.is_some_and(|host| self.is_own(host)) {
            return Err(refused("host"));
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            if !origin.is_some_and(|(scheme, host)| ["http", "https"].contains(&scheme) && self.is_own(host)) {
                return Err(refused("origin"));
            }
        }
        Ok(())
    }

    /// Returns whether `host`, with a port or without, is a name of this server.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        self.0.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_its_whole_name_and_an_origin_by_its_scheme_too() {
        let hosts = Hosts::new(&["Memory.example.org".to_owned()]);
        let check = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            origin.map(|origin| headers.insert(ORIGIN, origin.parse().unwrap()));
            hosts.check(&Uri::from_static("/"), &headers).is_ok()
        };
        for host in ["localhost", "LOCALHOST:7777", "127.0.0.1:1", "[::1]:7777", "[::1]", "memory.example.org"] {
            assert!(check(host, None), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:", "localhost:x"]
        {
            assert!(!check(host, None), "{host}");
        }
        for origin in ["http://localhost:7777", "https://memory.example.org"] {
            assert!(check("localhost", Some(origin)), "{origin}");
        }
        for origin in
            ["null", "", "http://evil.example", "file://localhost", "localhost", "http://localhost@evil.example"]
        {
            assert!(!check("localhost", Some(origin)), "{origin}");
        }
        assert!(hosts.check(&Uri::from_static("/"), &HeaderMap::new()).is_err());
    }
}

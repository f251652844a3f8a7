//! The addresses of servers in settings: what is none, and what would go over the network in clear.

use crate::backend::is_here;

/// What is wrong with an address, and how it is put right. It may hold a secret, so nothing of it is repeated.
pub(super) type Flaw = (&'static str, String);

const NONE: &str = "this is not the address of a server";

/// An address as `http://PLACE` or `https://PLACE`.
#[derive(Clone, Copy)]
struct Address<'t> {
    is_encrypted: bool,
    /// `USER:PASSWORD@HOST:PORT`, and perhaps a path.
    place: &'t str,
}

impl<'t> Address<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (way, place) = text.split_once("://")?;
        let is_encrypted = way.eq_ignore_ascii_case("https");
        let has_host = !place.starts_with(['/', '?', '#', ':']) && !place.is_empty();
        (has_host && (is_encrypted || way.eq_ignore_ascii_case("http"))).then_some(Self { is_encrypted, place })
    }

    fn names_user(self) -> bool {
        self.place.split(['/', '\\', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
    }

    /// Returns whether others can read what is sent there.
    fn is_open(self) -> bool {
        !self.is_encrypted && !is_here(self.place)
    }
}

/// Returns what is wrong with the address of a model's server, which the setting `name` says.
pub(super) fn of_model(text: &str, name: &str) -> Option<Flaw> {
    match Address::of(text) {
        None => Some((NONE, format!("write for example `{name}: https://models.example.org/v1`"))),
        Some(address) if address.names_user() => Some(("no key belongs into an address", "say `api_key`".to_owned())),
        Some(address) if address.is_open() => {
            Some(("what is sent there would go over the network in clear", "ask it by https".to_owned()))
        }
        Some(_) => None,
    }
}

/// Returns what is wrong with the address of the Qdrant server.
pub(super) fn of_qdrant(text: &str) -> Option<Flaw> {
    let is_bare = |place: &str| !place.strip_suffix('/').unwrap_or(place).contains(['@', '/', '?', '#']);
    let is_one = Address::of(text).is_some_and(|address| is_bare(address.place));
    (!is_one).then(|| (NONE, "write for example `url: https://vectors:6334`".to_owned()))
}

/// Returns whether others could read what is sent to an address of HTTP.
pub(super) fn is_open(text: &str) -> bool {
    Address::of(text).is_some_and(Address::is_open)
}

/// Returns whether others could read the password in the URL of a place, such as `elastic+http://USER:PASSWORD@HOST`.
pub(super) fn tells_password(place: &str) -> bool {
    let address = place.split_once('+').and_then(|(_, address)| Address::of(address));
    address.is_some_and(|address| address.is_open() && address.names_user())
}

/// Returns whether a key can be sent as the value of a header.
pub(super) fn is_key(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_in_clear_stays_on_this_machine() {
        for here in ["http://localhost:11434", "HTTP://127.0.0.1/v1", "http://[::1]:80", "https://models.example/v1"] {
            assert!(of_model(here, "base_url").is_none() && !is_open(here), "{here}");
        }
        for open in ["http://models/v1", "http://localhost.example.org", "http://10.0.0.1:8000"] {
            assert!(of_model(open, "base_url").is_some() && is_open(open), "{open}");
        }
        for none in ["", "models:8000", "ftp://models", "https://", "https:///v1", "https://key@models"] {
            assert!(of_model(none, "base_url").is_some(), "{none}");
        }
        assert!(tells_password("elastic+http://app:x@search:9200") && !tells_password("elastic+http://search:9200"));
        assert!(!tells_password("elastic+https://app:x@search") && !tells_password("elastic+http://app:x@127.0.0.1"));
    }

    #[test]
    fn a_qdrant_server_has_a_host_and_a_port_and_nothing_else() {
        assert!(["http://vectors:6334", "https://vectors/"].iter().all(|url| of_qdrant(url).is_none()));
        for none in ["vectors:6334", "https://vectors/path", "https://a:b@vectors", "grpc://vectors"] {
            assert!(of_qdrant(none).is_some(), "{none}");
        }
    }
}

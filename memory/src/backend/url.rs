//! Parses the URLs of backends.

use memory_core::{Error, Result};

/// Splits a URL into its kind, in lower case, and the rest; none for a bare path.
pub(super) fn split(url: &str) -> Option<(String, &str)> {
    let (kind, rest) = url.split_once(':')?;
    // A letter before a colon is a drive.
    let is_kind = kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'+');
    is_kind.then(|| (kind.to_ascii_lowercase(), rest))
}

/// Returns a place as all others read it: without blanks around it, its kind in lower case.
pub(crate) fn normal(url: &str) -> String {
    let url = url.trim();
    split(url).map_or_else(|| url.to_owned(), |(kind, rest)| format!("{kind}:{rest}"))
}

/// Returns what stands behind the last question mark of a URL, if it is a list of parameters: else it belongs to a path.
pub(super) fn query(url: &str) -> Option<(&str, &str)> {
    let (place, query) = url.rsplit_once('?')?;
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'-');
    let is_pair = |pair: &str| pair.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name));
    query.split('&').all(is_pair).then_some((place, query))
}

/// Returns the path of a file from a URL of SQLite or a bare path, without parameters.
pub(super) fn file(url: &str) -> Result<&str> {
    let url = query(url.trim()).map_or(url.trim(), |(place, _)| place);
    let rest = split(url).map_or(url, |(_, rest)| rest);
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() { Err(Error::invalid("the database has no path: write sqlite:PATH")) } else { Ok(path) }
}

/// Takes the value called `name` out of the query of a URL.
pub(super) fn take(url: &str, name: &str) -> (String, Option<String>) {
    let Some((place, query)) = url.rsplit_once('?') else { return (url.to_owned(), None) };
    let (taken, rest): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| pair.split_once('=').is_some_and(|(key, _)| key == name));
    let value = taken.last().and_then(|pair| pair.split_once('=')).map(|(_, value)| value.to_owned());
    if rest.is_empty() { (place.to_owned(), value) } else { (format!("{place}?{}", rest.join("&")), value) }
}

/// Returns the URLs of the nodes of a cluster: `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT` names some of them, and
/// who logs in to all. None for a URL of another kind.
#[cfg(any(test, feature = "redis"))]
pub(super) fn nodes(url: &str) -> Option<Vec<String>> {
    let (kind, rest) = split(url)?;
    let way = kind.strip_suffix("+cluster")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (rest, query) = rest.find('?').map_or((rest, ""), |at| rest.split_at(at));
    // The last @ ends what names the user: a password may hold others, and commas.
    let (login, hosts) = rest.rfind('@').map_or(("", rest), |at| rest.split_at(at + 1));
    Some(hosts.split(',').map(|host| format!("{way}://{login}{host}{query}")).collect())
}

/// Returns the address for HTTP; none for a URL without a place. The way is encrypted unless it says otherwise or ends on
/// this machine.
#[cfg(any(test, feature = "qdrant", feature = "elastic"))]
pub(super) fn http(url: &str) -> Option<String> {
    let (kind, rest) = split(url)?;
    let place = rest.strip_prefix("//").unwrap_or(rest);
    if place.is_empty() {
        return None;
    }
    let way = match kind.split_once('+') {
        Some((_, way)) => way,
        None if is_here(place) => "http",
        None => "https",
    };
    Some(format!("{way}://{place}"))
}

/// Returns whether a place, `USER:PASSWORD@HOST:PORT` and perhaps a path, is on this machine.
pub(crate) fn is_here(place: &str) -> bool {
    let place = place.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[') {
        Some(host) => host.split_once(']').unwrap_or_default(),
        None => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    if !port.is_empty() && !port.starts_with(':') {
        return false;
    }
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_is_encrypted_unless_it_ends_here_or_says_otherwise() {
        let table = [
            ("qdrant:", None),
            ("qdrant://vectors:6334", Some("https://vectors:6334")),
            ("qdrant://localhost:6334", Some("http://localhost:6334")),
            ("elastic://ada:x@127.0.0.1:9200", Some("http://ada:x@127.0.0.1:9200")),
            ("qdrant://[::1]:6334/", Some("http://[::1]:6334/")),
            ("elastic://localhost.corp.example:9200", Some("https://localhost.corp.example:9200")),
            ("qdrant://127.example.org", Some("https://127.example.org")),
            ("qdrant://[::1].example.org", Some("https://[::1].example.org")),
            ("elastic://search.example/@localhost", Some("https://search.example/@localhost")),
            ("elastic+http://search:9200", Some("http://search:9200")),
            ("elastic+https://localhost", Some("https://localhost")),
            ("ELASTIC+HTTP://search", Some("http://search")),
        ];
        for (url, expected) in table {
            assert_eq!(http(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_cluster_is_named_by_some_of_its_nodes() {
        assert_eq!(nodes("redis://a:1"), None);
        assert_eq!(nodes("redis+cluster://a:1").unwrap(), ["redis://a:1"]);
        let several = nodes("rediss+cluster://ada:x,y@a:1,b:2?protocol=resp3").unwrap();
        assert_eq!(several, ["rediss://ada:x,y@a:1?protocol=resp3", "rediss://ada:x,y@b:2?protocol=resp3"]);
    }

    #[test]
    fn values_are_taken_out_of_the_query() {
        let taken = |url| take(url, "schema");
        assert_eq!(taken("postgres://h/d"), ("postgres://h/d".to_owned(), None));
        assert_eq!(taken("postgres://h/d?schema=a"), ("postgres://h/d".to_owned(), Some("a".to_owned())));
        let both = ("postgres://h/d?sslmode=require".to_owned(), Some("a".to_owned()));
        assert_eq!(taken("postgres://h/d?schema=a&sslmode=require"), both);
    }
}

use secrecy::ExposeSecret as _;

use super::*;

fn read(pairs: &[(&str, &str)]) -> Result<Configured> {
    Configured::from_values(|name| {
        let found = pairs.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn enabled(pairs: &[(&str, &str)]) -> ElasticConfig {
    read(pairs).unwrap().enabled().unwrap()
}

#[test]
fn s3_15_an_unset_host_disables_the_backend_and_says_so() {
    for pairs in [&[][..], &[("ELASTIC_HOST", " ")], &[("ELASTIC_PORT", "9200"), ("ELASTIC_USER", "u")]] {
        let configured = read(pairs).unwrap();
        assert!(matches!(configured, Configured::Disabled));
        let error = configured.enabled().unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }));
        assert_eq!(error.to_string(), "elastic cannot be used: ELASTIC_HOST is not set");
    }
}

#[test]
fn s3_15_the_settings_have_their_defaults() {
    let config = enabled(&[("ELASTIC_HOST", "localhost")]);
    assert_eq!((config.url.as_str(), config.index.as_str()), ("http://localhost:9200/", "kari_memory"));
    assert!(config.user.is_none());
    assert_eq!(config.patience, Duration::from_secs(2));
    assert_eq!(config.bulk_patience, Duration::from_secs(10));
}

#[test]
fn the_scheme_is_encrypted_unless_the_server_is_this_machine() {
    let table = [
        ("127.0.0.1", "http://127.0.0.1:9200/"),
        ("localhost:9201", "http://localhost:9201/"),
        ("search.example", "https://search.example:9200/"),
        ("http://search.example", "http://search.example:9200/"),
        ("https://search.example/base", "https://search.example:9200/base"),
    ];
    for (host, expected) in table {
        assert_eq!(enabled(&[("ELASTIC_HOST", host)]).url.as_str(), expected);
    }
    let config = enabled(&[("ELASTIC_HOST", "search.example"), ("ELASTIC_PORT", "443"), ("ELASTIC_INDEX", "mine")]);
    assert_eq!((config.url.as_str(), config.index.as_str()), ("https://search.example/", "mine"));
}

#[test]
fn a_port_that_is_usual_for_its_scheme_is_a_port_like_another() {
    let table = [
        ("https://search.example:443", "https://search.example/"),
        ("https://ada:p@search.example:443/base", "https://search.example/base"),
        ("http://search.example:80", "http://search.example/"),
        ("search.example:80", "https://search.example:80/"),
        ("search.example:443", "https://search.example/"),
        ("http://[::1]", "http://[::1]:9200/"),
        ("[::1]:80", "http://[::1]/"),
        ("http://ada:1@search.example", "http://search.example:9200/"),
    ];
    for (host, expected) in table {
        assert_eq!(enabled(&[("ELASTIC_HOST", host)]).url.as_str(), expected, "{host}");
    }
    let config = enabled(&[("ELASTIC_HOST", "https://search.example:443"), ("ELASTIC_PORT", "9243")]);
    assert_eq!(config.url.as_str(), "https://search.example:9243/");
}

#[test]
fn a_user_in_the_host_counts_unless_another_is_set() {
    let of = |pairs: &[(&str, &str)]| {
        let (user, password) = enabled(pairs).user.unwrap();
        (user, password.expose_secret().to_owned())
    };
    let host = ("ELASTIC_HOST", "https://ada:p%40ss@search.example");
    assert_eq!(of(&[host]), ("ada".to_owned(), "p@ss".to_owned()));
    let other = [host, ("ELASTIC_USER", "bob"), ("ELASTIC_PASSWORD", "canary")];
    assert_eq!(of(&other), ("bob".to_owned(), "canary".to_owned()));
    assert_eq!(of(&[host, ("ELASTIC_PASSWORD", "canary")]), ("ada".to_owned(), "canary".to_owned()));
    assert!(enabled(&[("ELASTIC_HOST", "localhost"), ("ELASTIC_PASSWORD", "canary")]).user.is_none());
}

#[test]
fn values_that_are_none_are_invalid() {
    let host = ("ELASTIC_HOST", "localhost");
    for pair in
        [("ELASTIC_PORT", "many"), ("ELASTIC_PORT", "99999"), ("ELASTIC_INDEX", "Upper"), ("ELASTIC_INDEX", "_a")]
    {
        assert!(matches!(read(&[host, pair]), Err(Error::Invalid { .. })), "{pair:?}");
    }
    for host in ["ftp://a", "://", "http://"] {
        assert!(matches!(read(&[("ELASTIC_HOST", host)]), Err(Error::Invalid { .. })), "{host}");
    }
    for prefix in ["", "a/b", "a*", "a,b", "..", "-a", "a b", "é", &"x".repeat(129)] {
        assert!(ElasticConfig::new("http://localhost").unwrap().with_prefix(prefix).is_err(), "{prefix}");
    }
}

#[test]
fn no_password_is_shown_or_kept_in_the_address() {
    let pairs = [("ELASTIC_HOST", "localhost"), ("ELASTIC_USER", "ada"), ("ELASTIC_PASSWORD", "canary")];
    let configured = read(&pairs).unwrap();
    assert!(!format!("{configured:?}").contains("canary"));
    let config = ElasticConfig::new("https://ada:canary@search.example:9200").unwrap();
    assert!(!format!("{config:?}").contains("canary"));
    assert_eq!(config.url.as_str(), "https://search.example:9200/");
    assert!(config.user.is_some());
    let (user, password) = ElasticConfig::new("https://a%40b:p%40%2F%3Ass@search.example").unwrap().user.unwrap();
    assert_eq!((user.as_str(), password.expose_secret()), ("a@b", "p@/:ss"), "encoded, it would be another password");
    let config = ElasticConfig::new("https://search.example:9200/?api_key=canary").unwrap();
    assert!(!format!("{config:?}").contains("canary"));
    let error = ElasticConfig::new("http://ada:canary@[").unwrap_err();
    assert!(!format!("{error:?} {error}").contains("canary"));
}

#[test]
fn a_password_in_clear_is_sent_to_this_machine_only() {
    let clear = ElasticConfig::new("http://ada:p@search.example").unwrap();
    assert!(matches!(clear.check(), Err(Error::Unsupported { .. })));
    clear.with_plaintext(true).check().unwrap();
    for url in
        ["http://ada:p@127.0.0.1", "http://ada:p@[::1]:9200", "https://ada:p@search.example", "http://search.example"]
    {
        ElasticConfig::new(url).unwrap().check().unwrap();
    }
}

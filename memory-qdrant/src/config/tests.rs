use super::*;

#[test]
fn a_key_is_sent_over_tls_or_to_this_machine_only() {
    let table = [
        ("https://qdrant.example.org:6334", true),
        ("HTTPS://qdrant.example.org:6334", true),
        ("http://qdrant.example.org:6334", false),
        ("http://10.0.0.7:6334", false),
        ("http://localhost:6334", true),
        ("http://localhost.example.org:6334", false),
        ("http://127.0.0.1:6334", true),
        ("http://127.8.9.1:6334/", true),
        ("http://[::1]:6334", true),
        ("http://[::2]:6334", false),
        ("http://0.0.0.0:6334", false),
    ];
    for (url, is_fine) in table {
        let config = QdrantConfig::new(url);
        assert!(config.check().is_ok(), "{url}");
        assert_eq!(config.with_api_key("secret").check().is_ok(), is_fine, "{url}");
    }
}

#[test]
fn urls_that_are_none_or_hold_credentials_are_invalid_and_never_shown() {
    for url in
        ["", "qdrant", "ftp://a", "http://", "http://:6334", "http://me:canary@host:6334", "http://host/?k=canary"]
    {
        let config = QdrantConfig::new(url);
        let error = config.check().unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{url}");
        assert!(!format!("{config:?} {error:?} {error}").contains("canary"), "{url}");
    }
}

#[test]
fn the_key_is_not_shown() {
    let config = QdrantConfig::new("https://host:6334").with_api_key("canary");
    assert!(!format!("{config:?}").contains("canary"));
    assert!(format!("{config:?}").contains("https://host:6334"));
}

#[test]
fn prefixes_hold_letters_that_names_of_collections_may_hold() {
    for (prefix, is_legal) in
        [("memory", true), ("a-b_C9", true), ("", false), ("a/b", false), ("é", false), ("a b", false)]
    {
        assert_eq!(QdrantConfig::new("http://localhost").with_prefix(prefix).check().is_ok(), is_legal, "{prefix}");
    }
    assert!(QdrantConfig::new("http://localhost").with_prefix("a".repeat(201)).check().is_err());
}

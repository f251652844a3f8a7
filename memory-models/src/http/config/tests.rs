use super::*;

#[test]
fn addresses_in_clear_to_other_machines_are_refused_unless_allowed() {
    for url in ["http://example.org/v1", "http://10.0.0.1:8000", "HTTP://example.org", "http://localhost.example.org"] {
        assert!(matches!(HttpConfig::new(url), Err(Error::Invalid { .. })), "{url}");
        HttpConfig::in_clear(url).unwrap();
    }
    for url in ["https://example.org/v1", "http://localhost:11434", "http://127.0.0.1:1", "http://[::1]:80/v1"] {
        HttpConfig::new(url).unwrap();
    }
}

#[test]
fn what_is_no_address_or_holds_a_password_is_refused_without_being_repeated() {
    for url in
        ["", "canary", "ftp://canary", "https://canary:canary@h/v1", "https://canary@h", "file:///canary", "https://"]
    {
        let error = HttpConfig::in_clear(url).unwrap_err();
        assert!(!error.with_causes().contains("canary"), "{error}");
    }
}

#[test]
fn paths_are_put_behind_the_address_and_before_its_query() {
    let at = |url: &str| HttpConfig::new(url).unwrap().at(&["chat", "completions"]).to_string();
    assert_eq!(at("https://h/v1"), "https://h/v1/chat/completions");
    assert_eq!(at("https://h/v1/"), "https://h/v1/chat/completions");
    assert_eq!(at("https://h"), "https://h/chat/completions");
    let azure = "https://n.openai.azure.com/openai/deployments/d?api-version=2024-10-21";
    let expected = "https://n.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21";
    assert_eq!(at(azure), expected);
}

#[test]
fn nothing_shows_a_key() {
    let config = HttpConfig::new("https://h/v1?api_key=canary-1").unwrap().with_key("canary-2");
    assert!(!format!("{config:?} {config:#?}").contains("canary"), "{config:?}");
}

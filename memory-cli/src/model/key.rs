//! Which key a server of models is told.

use crate::failure::Failure;
use crate::provider::Provider;

/// The variable of a key for a server that is no vendor's.
const KEY: &str = "MEMORY_API_KEY";
/// The variable that allows to ask other machines by http.
const IN_CLEAR: &str = "MEMORY_IN_CLEAR";
/// Where Azure has models; other names below `azure.com` may be anybody's.
const AZURE: [&str; 3] = [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];

/// Returns the vendor's own variable, and the ends of the names of its own hosts.
fn own(provider: Provider) -> (&'static str, &'static [&'static str]) {
    match provider {
        Provider::Openai => ("OPENAI_API_KEY", &["api.openai.com"]),
        Provider::Azure => ("AZURE_OPENAI_API_KEY", &AZURE),
        Provider::Anthropic => ("ANTHROPIC_API_KEY", &["api.anthropic.com"]),
        Provider::Ollama => ("OLLAMA_API_KEY", &["ollama.com"]),
    }
}

/// Returns the key for a server, if there is one: that of the variable named, else that of the vendor if the server is the vendor's,
/// else that for other servers. So no server hears the key of another.
///
/// # Errors
/// If the variable named is not set.
pub(super) fn key(provider: Provider, host: &str, named: Option<&str>) -> Result<Option<String>, Failure> {
    key_from(provider, host, named, variable)
}

fn key_from(
    provider: Provider,
    host: &str,
    named: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, Failure> {
    if let Some(name) = named {
        // Without the name: somebody may have given the key itself.
        let missing = || Failure::Usage("there is no key in the variable that --key-env names".to_owned());
        return variable(name).map(Some).ok_or_else(missing);
    }
    let (own, hosts) = own(provider);
    let is_own = hosts.iter().any(|end| host == *end || (end.starts_with('.') && host.ends_with(end)));
    if is_own {
        let missing = || Failure::Usage(format!("there is no key: set {own}, or name another variable by --key-env"));
        return variable(own).map(Some).ok_or_else(missing);
    }
    Ok(variable(KEY))
}

/// Returns whether models on other machines may be asked by http.
pub(super) fn is_clear_allowed() -> bool {
    variable(IN_CLEAR).is_some_and(|value| value == "1")
}

#[expect(clippy::disallowed_methods, reason = "this is configuration: where keys are")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_vendor_goes_to_the_vendor_alone() {
        let all = |name: &str| Some(format!("key of {name}"));
        let key = |provider, host, named| key_from(provider, host, named, all).unwrap().unwrap();
        assert_eq!(key(Provider::Openai, "api.openai.com", None), "key of OPENAI_API_KEY");
        assert_eq!(key(Provider::Azure, "mine.openai.azure.com", None), "key of AZURE_OPENAI_API_KEY");
        assert_eq!(key(Provider::Anthropic, "api.anthropic.com", None), "key of ANTHROPIC_API_KEY");
        for host in [
            "127.0.0.1",
            "openrouter.ai",
            "api.openai.com.example.org",
            "notapi.openai.com",
            "x.cloudapp.azure.com",
            "evilazure.com",
        ] {
            for provider in [Provider::Openai, Provider::Azure, Provider::Anthropic, Provider::Ollama] {
                assert_eq!(key(provider, host, None), "key of MEMORY_API_KEY", "{host}");
                assert_eq!(key(provider, host, Some("MINE")), "key of MINE");
            }
        }
    }

    #[test]
    fn a_key_that_is_missing_is_told_where_it_is_needed() {
        let none = |provider, host, named| key_from(provider, host, named, |_| None);
        assert_eq!(none(Provider::Ollama, "127.0.0.1", None).unwrap(), None);
        assert!(none(Provider::Openai, "api.openai.com", None).unwrap_err().line().contains("OPENAI_API_KEY"));
        for given in ["MINE", "AKIA2CANARY7", "sk-canary"] {
            let told = none(Provider::Openai, "127.0.0.1", Some(given)).unwrap_err().line();
            assert!(told.contains("--key-env") && !told.contains(given), "{told}");
        }
    }
}

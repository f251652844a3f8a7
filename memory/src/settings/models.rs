//! The models that settings name: who embeds, who summarises, who judges, who finds facts, who answers.

use std::sync::Arc;

use memory_core::extract::{Extractor, RuleExtractor};
use memory_core::model::{Embedder, Reranker, Summarizer};
use memory_core::{Error, Result};

use super::key::Key;
use super::keys::{DIMENSION, EMBEDDING_MODEL, EXTRACTOR_MODEL, RERANKER_MODEL, SUMMARIZER_MODEL};
use super::values::Values;

/// Returns the embedder that is named, opened; none for the table inside the program, or if none is named.
///
/// # Errors
/// If it cannot be asked; `Invalid` if its vectors have another number of numbers than was said.
pub(super) async fn embedder(values: &Values) -> Result<Option<Arc<dyn Embedder>>> {
    let Some((provider, model)) = named(values, &EMBEDDING_MODEL) else { return Ok(None) };
    over_http::embedder(values, provider, model, values.count(&DIMENSION)).await.map(Some)
}

/// Refuses an embedder whose vectors have another number of numbers than was said.
pub(super) fn check_dimension(values: &Values, embedder: &dyn Embedder) -> Result<()> {
    let (Some(said), has) = (values.count(&DIMENSION), embedder.space().dimension) else { return Ok(()) };
    if said == has {
        return Ok(());
    }
    Err(Error::invalid(format!("working.vector_dimension is {said}, and the embedder's vectors have {has} numbers")))
}

/// Returns the summariser that is named; none for extracts.
pub(super) fn summarizer(values: &Values) -> Result<Option<Arc<dyn Summarizer>>> {
    let Some((provider, model)) = named(values, &SUMMARIZER_MODEL) else { return Ok(None) };
    over_http::summarizer(values, provider, model).map(Some)
}

/// Returns the reranker that is named.
pub(super) fn reranker(values: &Values) -> Result<Option<Arc<dyn Reranker>>> {
    let Some((provider, model)) = named(values, &RERANKER_MODEL) else { return Ok(None) };
    over_http::reranker(values, provider, model).map(Some)
}

/// Returns the extractor that is named.
pub(super) fn extractor(values: &Values) -> Result<Option<Arc<dyn Extractor>>> {
    if values.text(&EXTRACTOR_MODEL) == Some("rules") {
        return Ok(Some(Arc::new(RuleExtractor)));
    }
    let Some((provider, model)) = named(values, &EXTRACTOR_MODEL) else { return Ok(None) };
    over_http::extractor(values, provider, model).map(Some)
}

#[cfg(feature = "http-models")]
pub(super) use over_http::answering;

/// Returns the provider and the model that a key names, if one over HTTP is named.
pub(super) fn named<'v>(values: &'v Values, key: &Key) -> Option<(&'v str, Option<&'v str>)> {
    let text = values.text(key).filter(|text| !matches!(*text, "static" | "extractive" | "none" | "rules"))?;
    Some(text.split_once('/').map_or((text, None), |(provider, model)| (provider, Some(model))))
}

#[cfg(feature = "http-models")]
mod over_http {
    use memory_models::{
        Anthropic, ChatExtractor, ChatModel, ChatSummarizer, HttpChat, HttpConfig, Ollama, OpenAi, RerankServer,
    };

    use std::time::Duration;

    use super::{Arc, Embedder, Error, Extractor, Key, Reranker, Result, Summarizer, Values, named};
    use crate::settings::keys::{
        self, CHAT_DEADLINE, CHAT_KEY, CHAT_MODEL, CHAT_URL, EMBEDDING_DEADLINE, EMBEDDING_KEY, EMBEDDING_URL,
        EXTRACTOR_DEADLINE, EXTRACTOR_KEY, EXTRACTOR_PROMPT, EXTRACTOR_URL, EXTRACTOR_WINDOW, PATIENCE,
        RERANKER_DEADLINE, RERANKER_KEY, RERANKER_URL, SUMMARIZER_DEADLINE, SUMMARIZER_KEY, SUMMARIZER_URL,
        SUMMARIZER_WINDOW,
    };

    /// How a server is asked: its address, the key for it, for how long, how often again, and how much at once.
    pub(super) fn config(values: &Values, keys: [&Key; 3], vendor: &str) -> Result<HttpConfig> {
        let [url, key, deadline] = keys;
        let config = HttpConfig::new(values.text(url).unwrap_or(vendor))?;
        let config = values.text(key).into_iter().fold(config, HttpConfig::with_key);
        // What is not streamed is silent until it has done.
        let limited =
            |config: HttpConfig, limit| config.with_deadline(limit).with_silence(limit).with_stream_deadline(limit);
        Ok(bounded(limited(config, limit(values, deadline)?), values, url.section()))
    }

    /// Returns how long a server has for an answer.
    fn limit(values: &Values, deadline: &Key) -> Result<Duration> {
        let is_of_search = deadline.path == RERANKER_DEADLINE.path;
        let said = values.time(deadline, 1.0).or_else(|| values.time(&PATIENCE, 1.0).filter(|_| is_of_search));
        let usual = || deadline.default.parse().map(Duration::from_secs);
        said.map_or_else(usual, Ok).map_err(|_| Error::invalid(format!("{} has no default", deadline.path)))
    }

    /// Returns it with the bounds that a section says.
    fn bounded(config: HttpConfig, values: &Values, section: &str) -> HttpConfig {
        let said = |name: &str| {
            let key = keys::all().find(|key| key.section() == section && key.name() == name)?;
            values.whole(key)
        };
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let config = said("retries").map(small).into_iter().fold(config, HttpConfig::with_retries);
        let rate = said("requests_per_minute").map(small);
        let config = rate.into_iter().fold(config, HttpConfig::with_requests_per_minute);
        let at_once = said("concurrency").map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        at_once.into_iter().fold(config, HttpConfig::with_concurrency)
    }

    pub(super) async fn embedder(
        values: &Values,
        provider: &str,
        model: Option<&str>,
        dimension: Option<usize>,
    ) -> Result<Arc<dyn Embedder>> {
        let config = |vendor| config(values, [&EMBEDDING_URL, &EMBEDDING_KEY, &EMBEDDING_DEADLINE], vendor);
        let options = match provider {
            "ollama" => Ollama::with_config(config(Ollama::URL)?)?.embedder(model.unwrap_or(Ollama::EMBEDDER)),
            "azure" => OpenAi::azure(config("")?)?.embedder(model.unwrap_or_default()),
            _ if values.has(&EMBEDDING_URL) => OpenAi::compatible(config("")?)?.embedder(model.unwrap_or_default()),
            _ => OpenAi::with_config(config(OpenAi::URL)?)?.embedder(model.unwrap_or_default()),
        };
        let options = dimension.into_iter().fold(options, |options, numbers| options.with_dimension(numbers));
        Ok(Arc::new(options.open().await?))
    }

    /// Returns a chat model whose server stands in `keys`, and which may hold so many tokens, if that is said.
    fn chat(
        values: &Values,
        keys: [&Key; 3],
        window: Option<u64>,
        (provider, model): (&str, Option<&str>),
    ) -> Result<Arc<dyn ChatModel>> {
        let config = |vendor| config(values, keys, vendor);
        let ([url, ..], name) = (keys, model.unwrap_or_default());
        let chat: Arc<dyn ChatModel> = match provider {
            "anthropic" => Arc::new(Anthropic::with_config(config(Anthropic::URL)?)?.chat(name)),
            "ollama" => {
                let chat = Ollama::with_config(config(Ollama::URL)?)?.chat(name);
                Arc::new(window.into_iter().fold(chat, HttpChat::with_window))
            }
            "azure" => Arc::new(OpenAi::azure(config("")?)?.chat(name)),
            _ if values.has(url) => Arc::new(OpenAi::compatible(config("")?)?.chat(name)),
            _ => Arc::new(OpenAi::with_config(config(OpenAi::URL)?)?.chat(name)),
        };
        Ok(chat)
    }

    pub(super) fn summarizer(values: &Values, provider: &str, model: Option<&str>) -> Result<Arc<dyn Summarizer>> {
        let keys = [&SUMMARIZER_URL, &SUMMARIZER_KEY, &SUMMARIZER_DEADLINE];
        let chat = chat(values, keys, values.whole(&SUMMARIZER_WINDOW), (provider, model))?;
        Ok(Arc::new(ChatSummarizer::new(chat)))
    }

    pub(super) fn extractor(values: &Values, provider: &str, model: Option<&str>) -> Result<Arc<dyn Extractor>> {
        let keys = [&EXTRACTOR_URL, &EXTRACTOR_KEY, &EXTRACTOR_DEADLINE];
        let chat = chat(values, keys, values.whole(&EXTRACTOR_WINDOW), (provider, model))?;
        let mut extractor = ChatExtractor::new(chat);
        if let Some(tokens) = values.whole(&EXTRACTOR_PROMPT) {
            extractor = extractor.with_prompt_tokens(tokens);
        }
        if let Some(limit) = values.time(&EXTRACTOR_DEADLINE, 1.0) {
            extractor = extractor.with_deadline(limit);
        }
        Ok(Arc::new(extractor))
    }

    /// Returns the model that answers in a chat, if one is named. One of Ollama may hold so many tokens.
    pub(in super::super) fn answering(values: &Values, window: u64) -> Result<Option<Arc<dyn ChatModel>>> {
        let Some(named) = named(values, &CHAT_MODEL) else { return Ok(None) };
        chat(values, [&CHAT_URL, &CHAT_KEY, &CHAT_DEADLINE], Some(window), named).map(Some)
    }

    pub(super) fn reranker(values: &Values, provider: &str, model: Option<&str>) -> Result<Arc<dyn Reranker>> {
        let config = |vendor| config(values, [&RERANKER_URL, &RERANKER_KEY, &RERANKER_DEADLINE], vendor);
        let server = match provider {
            "tei" => RerankServer::tei(config("")?)?,
            "jina" => RerankServer::with_config(config(RerankServer::JINA)?)?,
            _ => RerankServer::with_config(config(RerankServer::COHERE)?)?,
        };
        Ok(Arc::new(server.reranker(model.unwrap_or_default())))
    }
}

#[cfg(not(feature = "http-models"))]
mod over_http {
    use super::{Arc, Embedder, Error, Extractor, Reranker, Result, Summarizer, Values};

    fn off<T>() -> Result<T> {
        let what = "ask a model over HTTP: the feature http-models is off".to_owned();
        Err(Error::Unsupported { backend: "memory", what })
    }

    pub(super) async fn embedder(_: &Values, _: &str, _: Option<&str>, _: Option<usize>) -> Result<Arc<dyn Embedder>> {
        off()
    }

    pub(super) fn summarizer(_: &Values, _: &str, _: Option<&str>) -> Result<Arc<dyn Summarizer>> {
        off()
    }

    pub(super) fn extractor(_: &Values, _: &str, _: Option<&str>) -> Result<Arc<dyn Extractor>> {
        off()
    }

    pub(super) fn reranker(_: &Values, _: &str, _: Option<&str>) -> Result<Arc<dyn Reranker>> {
        off()
    }
}

#[cfg(test)]
#[cfg(feature = "http-models")]
mod tests {
    use super::over_http::config;
    use crate::settings::{Settings, keys};

    /// Returns in words how the server of a section is asked that says these bounds.
    fn shown(section: &str, bounds: &[&str]) -> String {
        let model: &[&str] = match section {
            "embedding" => &[],
            "reranker" => &["model: cohere/mine"],
            _ => &["model: openai/mine"],
        };
        let lines = [model, bounds].concat().join(", ");
        let yaml = format!("memory: {{ buffer: {{ embedding_model: openai/mine }}, {section}: {{ {lines} }} }}");
        let values = Settings::from_yaml(&yaml, |_| None).unwrap().values;
        let key = |name: &str| keys::all().find(|key| key.section() == section && key.name() == name).unwrap();
        let server = ["base_url", "api_key", "deadline_seconds"].map(key);
        format!("{:?}", config(&values, server, "https://models.example").unwrap())
    }

    #[test]
    fn s1_19_every_section_of_a_model_bounds_its_requests() {
        let sections = keys::sections_of_models();
        assert!(sections.len() >= 5, "{sections:?}");
        for section in &sections {
            let made = shown(section, &["retries: 5", "concurrency: 3", "requests_per_minute: 60"]);
            assert!(made.contains("retries: 5, concurrency: 3, requests_per_minute: Some(60)"), "{section}: {made}");
        }
        // What the table of settings names as the default is what counts where nothing is said.
        let bounds = ["deadline_seconds", "retries", "concurrency"];
        for key in keys::all().filter(|key| sections.contains(&key.section()) && bounds.contains(&key.name())) {
            let said = format!("{}: {}", key.name(), key.default);
            assert_eq!(shown(key.section(), &[&said]), shown(key.section(), &[]), "{}", key.path);
        }
        // A model that thinks in silence has as long as one that streams.
        for limit in ["deadline: 7s", "silence: 7s", "stream_deadline: 7s"] {
            let made = shown("chat", &["deadline_seconds: 7"]);
            assert!(made.contains(limit), "{limit}: {made}");
        }
    }

    #[test]
    fn s1_19_a_reranker_has_as_long_as_a_search_waits() {
        let limits = |search: &str| {
            let yaml = format!("memory: {{ reranker: {{ model: cohere/mine }}, {search} }}");
            let values = Settings::from_yaml(&yaml, |_| None).unwrap().values;
            let keys = [&keys::RERANKER_URL, &keys::RERANKER_KEY, &keys::RERANKER_DEADLINE];
            format!("{:?}", config(&values, keys, "https://models.example").unwrap())
        };
        assert!(limits("search: { patience_seconds: 25 }").contains("deadline: 25s"));
        assert!(limits("search: { limit: 9 }").contains("deadline: 10s"));
    }

    #[test]
    fn s1_19_bounds_of_a_model_that_is_not_asked_are_refused() {
        for section in keys::sections_of_models() {
            let yaml = format!("memory: {{ {section}: {{ retries: 5 }} }}");
            let error = Settings::from_yaml(&yaml, |_| None).unwrap_err();
            let own = format!("{section}.model");
            let model = if section == "embedding" { "buffer.embedding_model" } else { own.as_str() };
            assert!(error.to_string().contains(&format!("say `{model}` too")), "{section}: {error}");
        }
    }
}

//! Models over HTTP.

use std::fmt;
use std::sync::Arc;

use memory::extract::Extractor;
use memory::model::{Embedder, Summarizer};
use memory::models::{
    Anthropic, ChatExtractor, ChatModel, ChatRequest, ChatSummarizer, EmbedderOptions, HttpConfig, Ollama, OpenAi,
};
use memory::{Message, Settings};

use super::Answered;
use super::key::{is_clear_allowed, key};
use crate::cli::Answering;
use crate::failure::Failure;
use crate::provider::{Provider, Served};

/// The tokens that Ollama may be asked to hold at once where few are needed.
const WINDOW: u64 = 32_768;
/// The tokens that are left for an answer without a bound.
const ANSWER: u64 = 8_192;

/// The model that answers.
pub(crate) struct Model(Arc<dyn ChatModel>);

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Model {
    /// Returns the model of this name, which is sent contexts of up to `budget` tokens. Asks it nothing yet.
    pub(crate) fn open(answering: &Answering, name: Option<&str>, budget: u64) -> Result<Self, Failure> {
        let name = name.ok_or_else(|| Failure::Usage("say which model is to answer: --model NAME".to_owned()))?;
        let url = answering.base_url.as_deref();
        let config = |provider| config(provider, url, answering.key_env.as_deref());
        let window = window(answering, budget);
        Ok(Self(match answering.provider {
            None => Arc::new(OpenAi::compatible(config(Provider::Openai)?)?.chat(name)),
            Some(Provider::Openai) => Arc::new(OpenAi::with_config(config(Provider::Openai)?)?.chat(name)),
            Some(Provider::Azure) => Arc::new(OpenAi::azure(config(Provider::Azure)?)?.chat(name)),
            Some(Provider::Anthropic) => Arc::new(Anthropic::with_config(config(Provider::Anthropic)?)?.chat(name)),
            Some(Provider::Ollama) => {
                Arc::new(Ollama::with_config(config(Provider::Ollama)?)?.chat(name).with_window(window))
            }
        }))
    }

    /// Returns the model that the settings name, if they name one, which is sent contexts of up to `budget` tokens. Asks it nothing
    /// yet.
    pub(crate) fn of(settings: &Settings, answering: &Answering, budget: u64) -> Result<Option<Self>, Failure> {
        Ok(settings.chat_model(window(answering, budget))?.map(Self))
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns a summariser that asks it.
    pub(crate) fn summarizer(&self) -> Arc<dyn Summarizer> {
        Arc::new(ChatSummarizer::new(Arc::clone(&self.0)))
    }

    /// Returns an extractor that asks it.
    pub(crate) fn extractor(&self) -> Arc<dyn Extractor> {
        Arc::new(ChatExtractor::new(Arc::clone(&self.0)))
    }

    /// Answers messages, and gives the answer to `piece` as it comes.
    pub(crate) async fn stream(
        &self,
        messages: Vec<Message>,
        max_tokens: Option<u64>,
        piece: &mut (dyn FnMut(&str) + Send),
    ) -> memory::Result<Answered> {
        let mut request = ChatRequest::new(messages);
        request.max_tokens = max_tokens;
        let answer = self.0.stream(&request, piece).await?;
        let usage = answer.usage.map(|usage| (usage.input, usage.output));
        Ok(Answered { stop: answer.stop.name(), usage })
    }
}

/// Returns how many tokens Ollama may be asked to hold. It is asked for as much as a request needs, by an estimate that may be well
/// above the count of the budget.
fn window(answering: &Answering, budget: u64) -> u64 {
    let answer = answering.max_tokens.unwrap_or(ANSWER);
    budget.saturating_mul(2).saturating_add(answer).max(WINDOW)
}

/// Opens an embedder, which is asked once how many numbers a vector has.
pub(crate) async fn embedder(served: &Served) -> Result<Arc<dyn Embedder>, Failure> {
    let Served { provider, model, url } = served;
    let config = config(*provider, url.as_deref(), None)?;
    let options: EmbedderOptions = match (provider, url) {
        (Provider::Ollama, _) => Ollama::with_config(config)?.embedder(model.as_deref().unwrap_or(Ollama::EMBEDDER)),
        (_, None) => OpenAi::with_config(config)?.embedder(model.as_deref().unwrap_or_default()),
        (_, Some(_)) => OpenAi::compatible(config)?.embedder(model.as_deref().unwrap_or_default()),
    };
    Ok(Arc::new(options.open().await?))
}

/// Returns how a server is asked.
fn config(provider: Provider, url: Option<&str>, key_env: Option<&str>) -> Result<HttpConfig, Failure> {
    let url = match (url, provider) {
        (Some(url), _) => url,
        (None, Provider::Openai) => OpenAi::URL,
        (None, Provider::Anthropic) => Anthropic::URL,
        (None, Provider::Ollama) => Ollama::URL,
        (None, Provider::Azure) => return Err(Failure::Usage("say where Azure is asked: --base-url URL".to_owned())),
    };
    let config = match HttpConfig::in_clear(url)? {
        config if is_clear_allowed() => config,
        _ => HttpConfig::new(url).map_err(|_| {
            let how = "ask it by https, or set MEMORY_IN_CLEAR=1";
            Failure::Usage(format!("what a model on another machine is sent would go over the network in clear: {how}"))
        })?,
    };
    Ok(match key(provider, config.host(), key_env)? {
        Some(key) => config.with_key(key),
        None => config,
    })
}

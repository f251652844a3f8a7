//! What the tests share.

use std::time::Duration;

use memory_core::{Message, Result, Role, Timestamp};
use memory_models::{Answer, Anthropic, ChatModel, ChatRequest, HttpConfig, Ollama, OpenAi};
use memory_testkit::wire::{Reply, Server, anthropic, ollama, openai};

/// A key that must be shown nowhere.
pub(crate) const KEY: &str = "sk-canary-7Qw2";

pub(crate) const PIECES: [&str; 4] = ["Lima", " is the", " capital — ", "¡sí! 🦙"];

pub(crate) fn config(url: &str) -> HttpConfig {
    let second = Duration::from_secs(1);
    let config = HttpConfig::new(url).unwrap().with_key(KEY).with_silence(60 * second);
    config.with_deadline(120 * second).with_stream_deadline(120 * second)
}

pub(crate) fn said(role: Role, text: &str) -> Message {
    Message::new(role, text, Timestamp(0))
}

pub(crate) fn question() -> ChatRequest {
    ChatRequest::new(vec![said(Role::System, "Be brief."), said(Role::User, "What is the capital of Peru?")])
}

/// The wires of chat models.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire {
    OpenAi,
    Anthropic,
    Ollama,
}

pub(crate) const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Ollama];

impl Wire {
    /// Returns the model of a server that is asked as `config` says.
    pub(crate) fn model(self, config: HttpConfig) -> Box<dyn ChatModel> {
        match self {
            Self::OpenAi => Box::new(OpenAi::compatible(config).unwrap().chat("m")),
            Self::Anthropic => Box::new(Anthropic::with_config(config).unwrap().chat("m")),
            Self::Ollama => Box::new(Ollama::with_config(config).unwrap().chat("m")),
        }
    }

    pub(crate) fn of(self, server: &Server) -> Box<dyn ChatModel> {
        self.model(config(&server.url("")))
    }

    /// Returns a stream of these pieces.
    pub(crate) fn stream(self, pieces: &[&str]) -> Reply {
        let (kind, body) = match self {
            Self::OpenAi => (openai::STREAM, openai::stream(pieces)),
            Self::Anthropic => (anthropic::STREAM, anthropic::stream(pieces)),
            Self::Ollama => (ollama::STREAM, ollama::stream(pieces)),
        };
        Reply::stream(kind, body)
    }

    /// Returns an answer that is whole.
    pub(crate) fn whole(self, text: &str) -> Reply {
        Reply::json(&match self {
            Self::OpenAi => openai::answer(text),
            Self::Anthropic => anthropic::answer(text),
            Self::Ollama => ollama::answer(text),
        })
    }
}

/// Streams an answer, and returns it with the pieces that were given.
pub(crate) async fn stream(model: &dyn ChatModel, request: &ChatRequest) -> (Result<Answer>, Vec<String>) {
    let mut pieces = Vec::new();
    let answer = model.stream(request, &mut |piece| pieces.push(piece.to_owned())).await;
    (answer, pieces)
}

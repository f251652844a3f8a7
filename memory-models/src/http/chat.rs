//! Chat models over HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::Result;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::attempts::{Attempts, end_of, made_of};
use super::client::{Client, Incoming};
use super::dialect::{Asked, ChatDialect, Progress};
use super::error::Fault;
use super::framing::{Frames, Framing};
use crate::chat::{Answer, ChatModel, ChatRequest, Pieces};

const ANSWER: &str = "answer";
/// The most tokens that a model may hold at once, unless it is said.
const WINDOW: u64 = 32_768;

/// A chat model over HTTP. Cheap to clone.
///
/// The makers are [`OpenAi::chat`](super::OpenAi::chat), [`Anthropic::chat`](super::Anthropic::chat) and
/// [`Ollama::chat`](super::Ollama::chat). Instructions, calls of tools and their results are sent in the vendor's own shape; asides
/// and what only another vendor's model can use are not.
#[derive(Clone, Debug)]
pub struct HttpChat {
    client: Arc<Client>,
    model: String,
    dialect: &'static ChatDialect,
    window: u64,
}

impl HttpChat {
    pub(super) fn new(client: Arc<Client>, model: impl Into<String>, dialect: &'static ChatDialect) -> Self {
        Self { client, model: model.into(), dialect, window: WINDOW }
    }

    /// Sets the most tokens that the model may hold at once, request and answer together. Default 32,768. Ollama alone is told: it is
    /// asked for as much as the request needs, up to this. All others know it of themselves.
    #[must_use]
    pub fn with_window(mut self, tokens: u64) -> Self {
        self.window = tokens;
        self
    }

    /// Returns the body of a request.
    fn body(&self, request: &ChatRequest, is_streamed: bool) -> Result<Value> {
        (self.dialect.body)(&Asked { model: &self.model, request, is_streamed, window: self.window })
    }

    /// Reads a stream to its end.
    async fn read(
        &self,
        body: &str,
        until: Instant,
        text: &mut String,
        piece: &mut Pieces<'_>,
    ) -> Result<Answer, Fault> {
        let _turn = self.client.pace.enter(until).await?;
        let mut incoming = self.client.send(self.dialect.path, body).await?;
        let (mut frames, mut progress) = (Frames::new(self.dialect.framing), Progress::default());
        let mut is_begun = self.dialect.framing != Framing::Events;
        // What follows the end, such as a connection that is not closed, is not waited for.
        while !progress.is_ended {
            let Some(part) = incoming.next().await? else { break };
            if !is_begun {
                // No line of a stream of events begins so.
                match part.as_ref().trim_ascii_start().first() {
                    Some(b'{') => return self.read_whole(part.as_ref().to_vec(), incoming, piece).await,
                    Some(b'<') => return Err(Fault::Garbled("it is a page, and no stream")),
                    first => is_begun = first.is_some(),
                }
            }
            for event in frames.push(part.as_ref())? {
                if !progress.is_ended {
                    self.take(&event, &mut progress, text, piece)?;
                }
            }
        }
        if !progress.is_ended
            && let Some(last) = frames.end()?
        {
            self.take(&last, &mut progress, text, piece)?;
        }
        match progress {
            // Some servers leave the last mark out.
            Progress { stop: Some(stop), usage, .. } => Ok(Answer { text: std::mem::take(text), stop, usage }),
            _ => Err(Fault::Cut),
        }
    }

    /// Takes an event of a stream, and gives on the words that it adds.
    fn take(
        &self,
        event: &str,
        progress: &mut Progress,
        text: &mut String,
        piece: &mut Pieces<'_>,
    ) -> Result<(), Fault> {
        let words = (self.dialect.event)(event, progress)?;
        if !words.is_empty() {
            text.push_str(&words);
            piece(&words);
        }
        Ok(())
    }

    /// Reads an answer that came as a whole, although a stream was asked for: some servers know no streams.
    async fn read_whole(
        &self,
        mut bytes: Vec<u8>,
        mut rest: Incoming,
        piece: &mut Pieces<'_>,
    ) -> Result<Answer, Fault> {
        while let Some(part) = rest.next().await? {
            bytes.extend_from_slice(part.as_ref());
        }
        let answer = made_of(bytes, self.dialect.whole).await?;
        if !answer.text.is_empty() {
            piece(&answer.text);
        }
        Ok(answer)
    }
}

#[async_trait]
impl ChatModel for HttpChat {
    fn name(&self) -> &str {
        &self.model
    }

    async fn answer(&self, request: &ChatRequest) -> Result<Answer> {
        let body = self.body(request, false)?;
        let until = end_of(self.client.config.deadline);
        self.client.post(ANSWER, self.dialect.path, &body, self.dialect.whole, until).await
    }

    async fn stream(&self, request: &ChatRequest, piece: &mut Pieces<'_>) -> Result<Answer> {
        let body = self.body(request, true)?.to_string();
        let mut attempts = Attempts::begin(&self.client, ANSWER, end_of(self.client.config.stream_deadline));
        let mut text = String::new();
        loop {
            let attempt = self.read(&body, attempts.until(), &mut text, piece);
            let fault = match timeout_at(attempts.until(), attempt).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(fault)) => fault,
                Err(_) => Fault::Late,
            };
            if !text.is_empty() {
                // What was given on cannot be taken back.
                return Err(attempts.end(fault));
            }
            attempts.again(fault).await?;
        }
    }
}

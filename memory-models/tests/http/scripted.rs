//! A model that answers by a function of what it is given, and keeps that.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memory_core::engine::Memory;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::time::{Clock, SystemClock};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Result, Truth};
use memory_models::{Answer, ChatExtractor, ChatModel, ChatRequest, Pieces, StopReason};

type Script = dyn Fn(&str) -> String + Send + Sync;

pub(crate) struct Scripted {
    script: Box<Script>,
    stop: StopReason,
    pub(crate) asked: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    pub(crate) fn new(script: impl Fn(&str) -> String + Send + Sync + 'static) -> Arc<Self> {
        Self::ending(StopReason::End, script)
    }

    pub(crate) fn ending(stop: StopReason, script: impl Fn(&str) -> String + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), stop, asked: Mutex::default() })
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn answer(&self, request: &ChatRequest) -> Result<Answer> {
        self.asked.lock().unwrap().push(request.clone());
        let given = request.messages.last().map(memory_core::Message::text).unwrap_or_default();
        Ok(Answer { text: (self.script)(&given), stop: self.stop, usage: None })
    }

    async fn stream(&self, request: &ChatRequest, _: &mut Pieces<'_>) -> Result<Answer> {
        self.answer(request).await
    }
}

/// Returns a memory in this process that finds facts by a model.
pub(crate) async fn memory(model: Arc<Scripted>) -> Memory {
    memory_by(ChatExtractor::new(model)).await
}

/// Returns a memory in this process that finds facts.
pub(crate) async fn memory_by(extractor: ChatExtractor) -> Memory {
    memory_at(extractor, Arc::new(SystemClock)).await
}

/// Returns the same by the time of a clock.
pub(crate) async fn memory_at(extractor: ChatExtractor, clock: Arc<dyn Clock>) -> Memory {
    let (chat, records) = (Truth::chat(Arc::new(MemChat::default())), Truth::records(Arc::new(MemRecords::default())));
    let builder = Memory::builder(chat, records).extractor(Arc::new(extractor)).clock(clock);
    builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await.unwrap()
}

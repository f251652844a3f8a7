//! Models over HTTP where none are built in.

use std::convert::Infallible;
use std::sync::Arc;

use memory::extract::Extractor;
use memory::model::{Embedder, Summarizer};
use memory::{Message, Settings};

use super::Answered;
use crate::cli::Answering;
use crate::failure::Failure;
use crate::provider::Served;

/// No model.
#[derive(Debug)]
pub(crate) struct Model(Infallible);

impl Model {
    pub(crate) fn open(_: &Answering, _: Option<&str>, _: u64) -> Result<Self, Failure> {
        Err(missing())
    }

    pub(crate) fn of(settings: &Settings, _: &Answering, _: u64) -> Result<Option<Self>, Failure> {
        if settings.chat_model_name().is_some() { Err(missing()) } else { Ok(None) }
    }

    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn summarizer(&self) -> Arc<dyn Summarizer> {
        match self.0 {}
    }

    pub(crate) fn extractor(&self) -> Arc<dyn Extractor> {
        match self.0 {}
    }

    pub(crate) async fn stream(
        &self,
        _: Vec<Message>,
        _: Option<u64>,
        _: &mut (dyn FnMut(&str) + Send),
    ) -> memory::Result<Answered> {
        match self.0 {}
    }
}

pub(crate) async fn embedder(_: &Served) -> Result<Arc<dyn Embedder>, Failure> {
    Err(missing())
}

fn missing() -> Failure {
    Failure::Usage("models over HTTP are not built in: build with --features http-models".to_owned())
}

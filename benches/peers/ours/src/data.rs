//! What both sides read: messages, questions, and a vector for each.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use memory::model::EmbeddingSpace;
use memory::model::{Embedder, Purpose};
use serde::Deserialize;

const DIMENSION: usize = 384;

#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) id: u64,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) owner: u64,
    #[serde(default)]
    pub(crate) role: String,
}

/// The content of a folder.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) messages: Vec<Line>,
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) questions: Vec<Line>,
    pub(crate) sought: Vec<Vec<f32>>,
}

impl Data {
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            messages: lines(&folder.join("messages.jsonl"))?,
            vectors: rows(&folder.join("messages.f32"))?,
            questions: lines(&folder.join("questions.jsonl"))?,
            sought: rows(&folder.join("questions.f32"))?,
        })
    }

    /// Returns the embedder that looks each text up.
    pub(crate) fn embedder(&self) -> Arc<Table> {
        let known = |lines: &[Line], vectors: &[Vec<f32>]| -> Vec<(String, Vec<f32>)> {
            lines.iter().map(|line| line.text.clone()).zip(vectors.iter().cloned()).collect()
        };
        let messages = known(&self.messages, &self.vectors);
        let questions = known(&self.questions, &self.sought);
        Arc::new(Table { space: space(), vectors: messages.into_iter().chain(questions).collect() })
    }
}

pub(crate) fn space() -> EmbeddingSpace {
    let (model, recipe) = ("table".to_owned(), "1".to_owned());
    EmbeddingSpace { model, dimension: DIMENSION, normalised: true, recipe }
}

fn lines(path: &Path) -> Result<Vec<Line>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn rows(path: &Path) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    Ok(numbers.chunks_exact(DIMENSION).map(<[f32]>::to_vec).collect())
}

/// An embedder that knows its texts.
#[derive(Debug)]
pub(crate) struct Table {
    space: EmbeddingSpace,
    vectors: HashMap<String, Vec<f32>>,
}

#[async_trait]
impl Embedder for Table {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> memory::Result<Vec<Vec<f32>>> {
        let unknown = || memory::Error::invalid("a text that is not in the table");
        texts.iter().map(|text| self.vectors.get(*text).cloned().ok_or_else(unknown)).collect()
    }
}

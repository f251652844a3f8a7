//! Embeddings.
//!
//! Shapes: <https://platform.openai.com/docs/api-reference/embeddings/create>.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::dialect::{EmbedDialect, Placed, json};
use crate::http::error::Fault;

pub(super) static DIALECT: EmbedDialect = EmbedDialect { name: "openai", path: &["embeddings"], body, read };

fn body(model: &str, texts: &[&str], shortened: Option<usize>) -> Value {
    let mut body = json!({ "model": model, "input": texts });
    if let (Some(members), Some(numbers)) = (body.as_object_mut(), shortened) {
        members.insert("dimensions".to_owned(), numbers.into());
    }
    body
}

#[derive(Deserialize)]
struct List {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

fn read(bytes: &[u8]) -> Placed<Vec<f32>> {
    if let Some(fault) = Fault::told_in(bytes) {
        return Err(fault);
    }
    let list: List = json(bytes)?;
    Ok(list.data.into_iter().map(|one| (one.index, one.embedding)).collect())
}

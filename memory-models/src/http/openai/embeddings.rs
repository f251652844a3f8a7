//! Embeddings.
//!
//! Shapes: <https://platform.openai.com/docs/api-reference/embeddings/create>.

use serde::Deserialize;

use crate::http::dialect::{EmbedDialect, Placed, answer, embed_body};

pub(super) static DIALECT: EmbedDialect =
    EmbedDialect { name: "openai", path: &["embeddings"], body: embed_body, read };

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
    let list: List = answer(bytes)?;
    Ok(list.data.into_iter().map(|one| (one.index, one.embedding)).collect())
}

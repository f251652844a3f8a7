//! An embedder that looks word pieces up in a table.

mod file;
#[cfg(test)]
mod tests;
mod wordpiece;

use async_trait::async_trait;
use memory_core::error::{Cause, Transience};
use memory_core::model::{Embedder, Purpose};
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Error, Result};
use tokio::task::spawn_blocking;

use crate::text::check;
use file::{Head, Table};

/// Texts of fewer bytes together are embedded at once, in well under a millisecond; others in a thread of their own.
const AT_ONCE: usize = 16 << 10;

/// Turns texts into vectors by a table of word pieces that is built into the program: no network, no files, no keys, no wait.
///
/// A text's vector is the mean of the vectors of its word pieces. Each of those was learnt from a transformer
/// (all-MiniLM-L6-v2) over neutral English text: on conversations it finds nearly as much as the transformer does, at about a
/// microsecond a word. It knows nothing of the order of words, and of languages other than English it knows some words and
/// names. Same text, same vector, on every machine with the same order of sums.
///
/// Cheap to clone and to make. The table is read at the first call, which takes some milliseconds once per process. Needs a
/// tokio runtime.
///
/// A blank text, and one of more than 64 KiB, is `Invalid`. A text of which fewer than half the pieces were learnt, as in most
/// other scripts, has a vector without numbers.
///
/// ```
/// use memory_core::model::{Embedder, Purpose};
/// use memory_models::StaticEmbedder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> memory_core::Result<()> {
/// let vectors = StaticEmbedder::new().embed(&["my dog is ill", "the puppy is sick", "an invoice"], Purpose::Document).await?;
/// let alike = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum::<f32>();
/// assert!(alike(0, 1) > alike(0, 2) + 0.3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StaticEmbedder {
    space: EmbeddingSpace,
}

impl StaticEmbedder {
    /// Returns the embedder.
    pub fn new() -> Self {
        let (revision, dimension) = Head::built_in().map_or(("damaged", 1), |head| (head.revision, head.numbers));
        let recipe = format!("table-{revision}-mean-1");
        Self { space: EmbeddingSpace { model: "minilm-l6-static".to_owned(), dimension, normalised: true, recipe } }
    }
}

impl Default for StaticEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        check(texts)?;
        if texts.iter().map(|text| text.len()).sum::<usize>() <= AT_ONCE {
            return embed(texts);
        }
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        spawn_blocking(move || embed(&texts)).await.map_err(|_| failed("the thread that embeds was stopped"))?
    }
}

fn embed(texts: &[impl AsRef<str>]) -> Result<Vec<Vec<f32>>> {
    let table = Table::built_in().ok_or_else(|| failed("the table is damaged"))?;
    Ok(texts.iter().map(|text| one(table, text.as_ref()).unwrap_or_default()).collect())
}

/// Returns the mean of the rows of a text's pieces, as a unit vector; none if too few were learnt.
fn one(table: &Table, text: &str) -> Option<Vec<f32>> {
    let mut sum = vec![0f32; table.head.numbers];
    let (mut learnt, mut others) = (0u32, 0u32);
    table.vocabulary.cut(text, |pieces| {
        for piece in pieces {
            let count = if table.add(*piece, &mut sum) { &mut learnt } else { &mut others };
            *count += 1;
        }
        others += u32::from(pieces.is_empty());
    });
    if learnt < others { None } else { normalise(&sum) }
}

fn failed(what: &'static str) -> Error {
    Error::Backend {
        backend: "static embedder",
        doing: "embed",
        transience: Transience::Permanent,
        source: Cause::new(what),
    }
}

//! Embedders over HTTP: what is sent at once, and what is checked of the answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::model::{Embedder, Purpose};
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Error, Result};
use tokio::time::Instant;

use super::attempts::end_of;
use super::batches::batches;
use super::client::Client;
use super::dialect::{EmbedDialect, in_order};
use super::error::Fault;
use super::windows::{tokens, windows};
use crate::text::check;

const EMBED: &str = "embed";
/// What is embedded to learn how many numbers a vector has.
const PROBE: &str = "memory";
/// The most numbers of a vector.
const NUMBERS: usize = 65_536;

/// How an embedder is opened.
///
/// ```no_run
/// # async fn example(ollama: &memory_models::Ollama) -> memory_core::Result<()> {
/// let embedder = ollama.embedder("mxbai-embed-large").with_dimension(1_024).with_window(400).open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbedderOptions {
    client: Arc<Client>,
    model: String,
    dialect: &'static EmbedDialect,
    dimension: Option<usize>,
    shortened: bool,
    prefixes: (String, String),
    window: u64,
    batch: (usize, u64),
}

impl EmbedderOptions {
    pub(super) fn new(client: Arc<Client>, model: String, dialect: &'static EmbedDialect, batch: (usize, u64)) -> Self {
        let prefixes = prefixes(&model);
        Self { client, model, dialect, dimension: None, shortened: false, prefixes, window: 1_000, batch }
    }

    /// Says how many numbers a vector has. Unless it is said, the model is asked once when the embedder is opened.
    pub fn with_dimension(mut self, numbers: usize) -> Self {
        (self.dimension, self.shortened) = (Some(numbers), false);
        self
    }

    /// Asks for vectors of so many numbers, of a model that can shorten its vectors. Vectors of another length are a space of their own.
    pub fn shortened(mut self, numbers: usize) -> Self {
        (self.dimension, self.shortened) = (Some(numbers), true);
        self
    }

    /// Sets the prefixes of queries and of documents, as some models want them. Default none, but for `nomic-embed-text` those
    /// that it was trained with.
    pub fn with_prefixes(mut self, query: impl Into<String>, document: impl Into<String>) -> Self {
        self.prefixes = (query.into(), document.into());
        self
    }

    /// Sets how many tokens the model reads of a text. Default 1,000, by a count that is rather too high. A longer text is read in
    /// windows, and its vector is their mean.
    pub fn with_window(mut self, tokens: u64) -> Self {
        self.window = tokens.max(1);
        self
    }

    /// Sets how many texts and tokens are sent at once. Default 256 and 100,000 for OpenAI, 32 and 30,000 for others.
    pub fn with_batch(mut self, texts: usize, tokens: u64) -> Self {
        self.batch = (texts, tokens);
        self
    }

    /// Returns the embedder. Asks the model once unless it was said how many numbers a vector has.
    ///
    /// # Errors
    /// `Backend` if the model does not answer; `Invalid` for a dimension that no vector has.
    pub async fn open(self) -> Result<HttpEmbedder> {
        let Self { client, model, dialect, dimension, shortened, prefixes, window, batch } = self;
        if dimension.is_some_and(|numbers| !(1..=NUMBERS).contains(&numbers)) {
            return Err(Error::invalid(format!("a vector has 1 to {NUMBERS} numbers")));
        }
        let recipe = recipe(dialect.name, window, &prefixes);
        let space = EmbeddingSpace { model, dimension: dimension.unwrap_or(0), normalised: true, recipe };
        let shortened = dimension.filter(|_| shortened);
        let mut embedder = HttpEmbedder { client, dialect, space, shortened, prefixes, window, batch };
        if dimension.is_none() {
            let vectors = embedder.ask(&[PROBE], embedder.end_of_call()).await?;
            embedder.space.dimension = vectors.first().map_or(0, Vec::len);
            if !(1..=NUMBERS).contains(&embedder.space.dimension) {
                return Err(embedder.failed(Fault::Garbled("a vector without numbers, or with too many")));
            }
        }
        Ok(embedder)
    }
}

/// Returns what the model was trained to read before a query and before a document:
/// <https://huggingface.co/nomic-ai/nomic-embed-text-v1.5>.
fn prefixes(model: &str) -> (String, String) {
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.starts_with("nomic-embed-text") {
        ("search_query: ".to_owned(), "search_document: ".to_owned())
    } else {
        (String::new(), String::new())
    }
}

/// Names how text becomes a vector.
fn recipe(wire: &str, window: u64, (query, document): &(String, String)) -> String {
    let prefixes = if query.is_empty() && document.is_empty() {
        String::new()
    } else {
        format!("-prefixes {query:?} {document:?}")
    };
    format!("{wire}-window-{window}-mean-1{prefixes}")
}

/// An embedder over HTTP. Cheap to clone.
///
/// Its vectors have unit length. A text longer than the window is read in windows, and its vector is their mean by length. Equal texts
/// of a call are sent once. It depends on the server whether a text has exactly the same vector alone and in a batch.
///
/// A blank text, and one of more than 64 KiB, is `Invalid`. Vectors of another length than that of the space are a `SpaceMismatch`: the
/// server has another model under this name.
#[derive(Clone)]
pub struct HttpEmbedder {
    client: Arc<Client>,
    dialect: &'static EmbedDialect,
    space: EmbeddingSpace,
    shortened: Option<usize>,
    prefixes: (String, String),
    window: u64,
    batch: (usize, u64),
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEmbedder").field("space", &self.space).field("client", &self.client).finish_non_exhaustive()
    }
}

impl HttpEmbedder {
    /// Returns when a call has to be done that begins now.
    fn end_of_call(&self) -> Instant {
        end_of(self.client.config.deadline)
    }

    /// Returns the vectors of texts as the model gives them, in order, in one request.
    async fn ask(&self, texts: &[&str], until: Instant) -> Result<Vec<Vec<f32>>> {
        let body = (self.dialect.body)(&self.space.model, texts, self.shortened);
        let given = self.client.post(EMBED, self.dialect.path, &body, self.dialect.read, until).await?;
        in_order(given, texts.len()).map_err(|fault| self.failed(fault))
    }

    /// Returns the unit vectors of windows, in order.
    async fn embed_windows(&self, windows: &[&str]) -> Result<Vec<Vec<f32>>> {
        let sizes: Vec<u64> = windows.iter().map(|window| tokens(window)).collect();
        let batches = batches(&sizes, self.batch.0, self.batch.1);
        let until = self.end_of_call();
        let asked = batches.into_iter().map(|batch| self.ask(windows.get(batch).unwrap_or_default(), until));
        let vectors = self.client.all(EMBED, asked, until).await?.into_iter().flatten();
        vectors.map(|vector| self.unit(&vector)).collect()
    }

    /// Returns a vector with unit length, if it belongs to the space.
    fn unit(&self, vector: &[f32]) -> Result<Vec<f32>> {
        if vector.len() != self.space.dimension {
            let found = EmbeddingSpace { dimension: vector.len(), ..self.space.clone() };
            self.space.check(&found)?;
        }
        if vector.iter().any(|number| !number.is_finite()) {
            return Err(self.failed(Fault::Garbled("a vector holds a number that is not finite")));
        }
        normalise(vector).ok_or_else(|| self.failed(Fault::Garbled("a vector has no length")))
    }

    fn failed(&self, fault: Fault) -> Error {
        fault.while_doing(self.client.backend, EMBED)
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        check(texts)?;
        let prefix = match purpose {
            Purpose::Query => &self.prefixes.0,
            Purpose::Document => &self.prefixes.1,
        };
        let cut: Vec<Vec<String>> = texts
            .iter()
            .map(|text| windows(text, self.window).into_iter().map(|window| format!("{prefix}{window}")).collect())
            .collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut sent: Vec<&str> = Vec::new();
        for window in cut.iter().flatten() {
            places.entry(window).or_insert_with(|| {
                sent.push(window);
                sent.len() - 1
            });
        }
        let vectors = self.embed_windows(&sent).await?;
        let vector = |window: &String| vectors.get(*places.get(window.as_str())?).map(Vec::as_slice);
        let of_text = |windows: &Vec<String>| match windows.as_slice() {
            [one] => vector(one).map(<[f32]>::to_vec),
            many => mean(many.iter().filter_map(|window| Some((window.len(), vector(window)?))), self.space.dimension),
        };
        let opposite = || Error::invalid("the windows of the text point in opposite directions");
        cut.iter().map(|windows| of_text(windows).ok_or_else(opposite)).collect()
    }
}

/// Returns the mean of vectors by weights, as a unit vector.
fn mean<'a>(vectors: impl Iterator<Item = (usize, &'a [f32])>, numbers: usize) -> Option<Vec<f32>> {
    let mut sum = vec![0_f32; numbers];
    for (weight, vector) in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += weight as f32 * number);
    }
    normalise(&sum)
}

//! A question as each owner is asked it.

use std::sync::Arc;

use foldhash::HashMap;
use tokio::sync::OnceCell;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::scope::Scope;
use crate::sync::Lock;

use super::question::Search;
use super::terms::Terms;

/// The vector of some words, made by whoever needs it first.
pub(super) type Embedded = OnceCell<Result<Vec<f32>>>;

/// A question as each owner is asked it: by the same words. An owner whose hits by words tell of a speaker whom the question names is
/// asked by the vector of what that speaker would say, and the others by that of the question.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    /// Who asks. The vectors of the question are kept as theirs alone, so that they are forgotten with them.
    pub(super) asker: &'a Scope,
    pub(super) search: &'a Search,
    pub(super) filter: &'a Filter,
    pub(super) terms: Terms,
    /// Why the embedder did not answer for this question just before. It is not asked again.
    pub(super) unembedded: Option<&'a Error>,
    /// The vectors of the question, as it stands and as speakers would say it.
    vectors: Lock<HashMap<String, Arc<Embedded>>>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        asker: &'a Scope,
        search: &'a Search,
        filter: &'a Filter,
        terms: Terms,
        unembedded: Option<&'a Error>,
    ) -> Self {
        Self { asker, search, filter, terms, unembedded, vectors: Lock::default() }
    }

    /// Returns the place for the vector of these words, one for all owners.
    pub(super) fn vector_of(&self, words: &str) -> Arc<Embedded> {
        Arc::clone(self.vectors.lock().entry(words.to_owned()).or_default())
    }
}

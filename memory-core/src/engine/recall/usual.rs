//! Searches and requests that go by the defaults of a memory.

use crate::engine::defaults::Defaults;
use crate::window::Budget;

use super::question::Search;
use super::request::ContextRequest;

impl Defaults {
    /// Returns a search for `words`.
    pub fn search(&self, words: impl Into<String>) -> Search {
        Search::new(words).limit(self.hits)
    }

    /// Returns a request for a context of `query` within `budget`.
    pub fn request(&self, query: impl Into<String>, budget: impl Into<Budget>) -> ContextRequest {
        let budget: Budget = budget.into();
        let budget = if budget.reserve == 0 { budget.reserve(self.reserve) } else { budget };
        let mut request = ContextRequest::new(query, budget).recall(self.recall).notes(self.notes);
        request.recall_tokens = self.recall_tokens;
        request
    }
}

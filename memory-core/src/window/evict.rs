//! A ring buffer bounded in tokens, for agents that keep their notes in process.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use super::truncate::cut_middle;
use super::{ExtractiveSummarizer, HeuristicCounter, Oversize, must_keep};
use crate::error::{Error, Result};
use crate::id::{Seq, SeqRange, SessionId};
use crate::message::{Message, Role, StoredMessage};
use crate::model::{CounterId, Summary, SummaryPurpose, SummaryRequest, TokenCounter};
use crate::time::Timestamp;

/// The share of an extract, as one part in so many, that numbers, ids and names may take which its sentences lack.
const KEEP_SHARE: u64 = 2;

/// An entry of a buffer, with its tokens.
#[doc(alias = "MemoryEntry")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    content: String,
    tokens: u64,
    number: u64,
    is_summary: bool,
}

impl Entry {
    /// Returns an entry of `content`, counted by `counter`.
    pub fn new(content: impl Into<String>, counter: &dyn TokenCounter) -> Self {
        let content = content.into();
        let tokens = counter.count_text(&content);
        Self { content, tokens, number: 0, is_summary: false }
    }

    /// Sets the caller's own count of tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Returns its text.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Returns its tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns its number in the order of pushes, from 1; 0 before it is pushed.
    ///
    /// A summary has the number of the last entry that it replaces.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns it as a summariser reads it: as a note, or as an earlier summary.
    fn row(&self, session: &SessionId) -> StoredMessage {
        let mut message = Message::new(Role::Assistant, self.content.as_str(), Timestamp(0));
        message.speaker = Some("note".to_owned());
        let seq = Seq(self.number);
        StoredMessage {
            id: message.id,
            session: session.clone(),
            seq,
            tokens: self.tokens,
            counter: CounterId::UNKNOWN,
            covers: self.is_summary.then_some(SeqRange { first: seq, last: seq }),
            archived_by: None,
            message: Some(Arc::new(message)),
        }
    }
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The entry's number.
    pub number: u64,
    /// The evicted entries, oldest first.
    pub evicted: Vec<Entry>,
    /// What was done with an entry larger than the buffer; none for others.
    pub oversize: Option<Oversize>,
}

/// The statistics of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Entries, summaries included.
    pub total_entries: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// How often entries were summarised. Merging summaries adds to it.
    pub summarization_count: u64,
    /// How many entries were evicted.
    pub eviction_count: u64,
    /// The most tokens that it holds.
    pub capacity: u64,
}

/// Keeps the newest entries, up to a capacity in tokens. Evicted entries are returned, so that nothing is lost unseen.
///
/// Summarising replaces the oldest entries; the newest four stay verbatim.
///
/// ```
/// use std::sync::Arc;
///
/// use memory_core::window::{Entry, HeuristicCounter, RingBuffer};
///
/// let mut notes = RingBuffer::new(100)?.with_threshold(0.5).with_kept(1).with_counter(Arc::new(HeuristicCounter));
/// notes.push(Entry::new("looked at the log", &HeuristicCounter).with_tokens(60))?;
/// assert!(!notes.needs_summary(), "the newest entry stays as it is");
/// let pushed = notes.push(Entry::new("found the fault", &HeuristicCounter).with_tokens(60))?;
/// assert_eq!(pushed.evicted.len(), 1, "what leaves is handed back");
///
/// let mut notes = RingBuffer::new(1_000)?;
/// for shard in 1..=9 {
///     let note = format!("Looked at shard {shard}. Nothing was wrong there, neither today nor before. It is done.");
///     notes.push(Entry::new(note, &HeuristicCounter))?;
/// }
/// let replaced = notes.summarize_extractively(80)?;
/// assert_eq!((replaced.len(), notes.len()), (5, 5), "a summary, and four as they were");
/// # Ok::<(), memory_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RingBuffer {
    entries: VecDeque<Entry>,
    tokens: u128,
    capacity: u64,
    threshold: f64,
    kept: usize,
    oversize: Oversize,
    counter: Arc<dyn TokenCounter>,
    pushed: u64,
    summarized: u64,
    evicted: u64,
}

impl RingBuffer {
    /// Returns an empty buffer of `capacity` tokens.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a buffer of no tokens.
    pub fn new(capacity: u64) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::invalid("a buffer has room for at least one token"));
        }
        Ok(Self {
            entries: VecDeque::new(),
            tokens: 0,
            capacity,
            threshold: 0.80,
            kept: 4,
            oversize: Oversize::Error,
            counter: Arc::new(HeuristicCounter),
            pushed: 0,
            summarized: 0,
            evicted: 0,
        })
    }

    /// Sets the share of the capacity, clamped to 0 to 1, at which a summary is due. Default 0.80.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold.clamp(0.0, 1.0);
        self
    }

    /// Sets how many of the newest entries stay verbatim. Default 4.
    #[must_use]
    pub fn with_kept(mut self, entries: usize) -> Self {
        self.kept = entries;
        self
    }

    /// Sets what happens to an entry larger than the buffer. Default [`Oversize::Error`].
    #[must_use]
    pub fn with_oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Sets the counter of truncated entries. Default [`HeuristicCounter`].
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Appends an entry, and evicts the oldest ones until the rest fits.
    ///
    /// # Errors
    /// [`Error::OverBudget`] for an entry larger than the buffer, unless another [`Oversize`] is set; also if even the mark of a
    /// truncated entry is larger. Nothing changes then.
    pub fn push(&mut self, entry: Entry) -> Result<Pushed> {
        let is_oversize = entry.tokens > self.capacity;
        let mut entry = if is_oversize { self.admit(entry)? } else { entry };
        self.pushed += 1;
        entry.number = self.pushed;
        self.tokens += u128::from(entry.tokens);
        self.entries.push_back(entry);
        let mut evicted = Vec::new();
        while self.tokens > u128::from(self.capacity) && self.entries.len() > 1 {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.tokens -= u128::from(oldest.tokens);
            evicted.push(oldest);
        }
        self.evicted += evicted.len() as u64;
        Ok(Pushed { number: self.pushed, evicted, oversize: is_oversize.then_some(self.oversize) })
    }

    fn admit(&self, entry: Entry) -> Result<Entry> {
        let over = Error::OverBudget { need: entry.tokens, budget: self.capacity };
        match self.oversize {
            Oversize::Error => Err(over),
            Oversize::Keep => Ok(entry),
            Oversize::TruncateMiddle => {
                let count = &mut |text: &str| self.counter.count_text(text);
                let (content, tokens) = cut_middle(&entry.content, self.capacity, count);
                if tokens > self.capacity { Err(over) } else { Ok(Entry { content, tokens, ..entry }) }
            }
        }
    }

    /// Returns whether a summary is due: the threshold is reached and there are entries to summarise.
    #[doc(alias = "should_summarize")]
    pub fn needs_summary(&self) -> bool {
        let is_full = self.tokens as f64 >= self.threshold * self.capacity as f64;
        is_full && self.entries.len() > self.kept
    }

    /// Returns the entries that a summary would replace, oldest first.
    pub fn to_summarize(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter().take(self.entries.len().saturating_sub(self.kept))
    }

    /// Replaces the entries of [`RingBuffer::to_summarize`] by `summary`, and returns them.
    ///
    /// If entries may have been pushed since the summary was requested, use [`RingBuffer::summarize_through`].
    ///
    /// # Errors
    /// As [`RingBuffer::summarize_through`].
    pub fn summarize(&mut self, summary: Entry) -> Result<Vec<Entry>> {
        let last = self.to_summarize().last().map(Entry::number);
        self.summarize_through(last.ok_or(Error::Conflict)?, summary)
    }

    /// Replaces the entries of [`RingBuffer::to_summarize`] by an extract of up to `max_tokens` tokens, and returns them.
    ///
    /// That is what [`ExtractiveSummarizer`] says of them, with the numbers, ids and names in them ([`must_keep`]): the newer ones,
    /// if all would take more than half of it.
    ///
    /// # Errors
    /// [`Error::OverBudget`] if not even a line fits; else as [`RingBuffer::summarize_through`]. Nothing changes then.
    pub fn summarize_extractively(&mut self, max_tokens: u64) -> Result<Vec<Entry>> {
        let last = self.to_summarize().last().map(Entry::number).ok_or(Error::Conflict)?;
        let session = SessionId::new("ring")?;
        let messages: Vec<StoredMessage> = self.to_summarize().map(|entry| entry.row(&session)).collect();
        let keep = must_keep(&messages, max_tokens / KEEP_SHARE, self.counter.as_ref());
        let (purpose, records) = (SummaryPurpose::Window, Vec::new());
        let request = SummaryRequest { purpose, messages, records, max_tokens, keep };
        let Summary { text, .. } = ExtractiveSummarizer::new(Arc::clone(&self.counter)).extract(&request)?;
        let summary = Entry::new(text, self.counter.as_ref());
        self.summarize_through(last, summary)
    }

    /// Replaces the entries up to the number `last` by `summary`, and returns them.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there are none left, or if any is among the newest, which stay verbatim;
    /// [`Error::Invalid`] if the summary is empty or no shorter than they are. Nothing changes then.
    pub fn summarize_through(&mut self, last: u64, mut summary: Entry) -> Result<Vec<Entry>> {
        let count = self.entries.partition_point(|entry| entry.number <= last);
        if count == 0 || count > self.to_summarize().len() {
            return Err(Error::Conflict);
        }
        let replaced: u128 = self.entries.range(..count).map(|entry| u128::from(entry.tokens)).sum();
        if summary.content.trim().is_empty() || u128::from(summary.tokens) >= replaced {
            return Err(Error::invalid("a summary must say something, and be shorter than what it stands for"));
        }
        let entries: Vec<_> = self.entries.drain(..count).collect();
        summary.is_summary = true;
        summary.number = entries.last().map_or(last, Entry::number);
        self.tokens = self.tokens - replaced + u128::from(summary.tokens);
        self.summarized += 1;
        self.entries.push_front(summary);
        Ok(entries)
    }

    /// Returns the entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the most tokens that it holds.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the statistics.
    pub fn stats(&self) -> MemoryStats {
        MemoryStats {
            total_entries: self.entries.len() as u64,
            total_tokens: u64::try_from(self.tokens).unwrap_or(u64::MAX),
            summarization_count: self.summarized,
            eviction_count: self.evicted,
            capacity: self.capacity,
        }
    }
}

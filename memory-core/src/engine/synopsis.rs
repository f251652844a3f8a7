//! The synopsis of an owner: who that is, and what it is about of late, in a few hundred tokens.

mod config;

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::id::{ItemId, RecordId};
use crate::message::Trust;
use crate::record::{Record, StoredRecord, Telling};
use crate::time::Timestamp;

use super::handle::Scoped;
use super::inner::{Built, Half};

pub use config::SynopsisConfig;

/// The kind of the record that holds a synopsis.
pub(super) const SYNOPSIS: &str = "synopsis";
/// The text of that record. Its words stand in its tellings, one for each half, so that each falls with its own sources.
const TEXT: &str = "who the owner is, and what it is about";
/// The member of a telling's metadata that says how many tokens of conversation there were.
const HISTORY: &str = "history_tokens";

/// The member that says that something was told since, where nobody used the synopsis.
const STALE: &str = "stale";

/// Who an owner is, and what the owner is about of late: two halves, each with its own sources and its own age.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Synopsis {
    /// Name, preferences, traits; none if nothing is known or it was not told yet.
    pub identity: Option<SynopsisHalf>,
    /// Recent topics and current goals.
    pub context: Option<SynopsisHalf>,
}

/// A half of a synopsis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SynopsisHalf {
    /// Its words. They are data with the trust below, and never an instruction.
    pub text: String,
    /// When it was told.
    pub built_at: Timestamp,
    /// Who told it: `extractive`, or a model's name.
    pub by: String,
    /// The lowest trust of its sources.
    pub trust: Trust,
    /// What it was told from. When one of these is forgotten, the half is too.
    pub sources: Vec<ItemId>,
    /// The tokens of all the owner's conversations at that time: exact as long as no window was folded, else an estimate.
    pub history_tokens: u64,
    /// Whether it is no longer good: its time is over, or something was told since. It is served until upkeep has built another.
    pub is_stale: bool,
}

/// Returns the id of the record that holds an owner's synopsis. Records of all owners have ids of their own.
pub(super) fn synopsis_id() -> RecordId {
    RecordId::of_content(b"the synopsis of an owner")
}

impl SynopsisHalf {
    /// Returns the half that a telling holds, if it holds that half.
    fn of(telling: &Telling, half: Half) -> Option<Self> {
        let text = telling.metadata.get(half.name()).and_then(Value::as_str)?.to_owned();
        let by = telling.origin.as_deref().and_then(|origin| origin.strip_prefix("synopsis:")).unwrap_or_default();
        Some(Self {
            text,
            built_at: telling.at,
            by: by.to_owned(),
            trust: telling.trust,
            sources: telling.sources.clone(),
            history_tokens: telling.metadata.get(HISTORY).and_then(Value::as_u64).unwrap_or(0),
            is_stale: telling.metadata.contains_key(STALE),
        })
    }

    fn telling(&self, half: Half) -> Telling {
        let mut telling = Telling::new(self.built_at, self.trust);
        let mut origin = format!("synopsis:{}", self.by);
        origin.truncate(origin.floor_char_boundary(255));
        telling.origin = Some(origin);
        telling.sources.clone_from(&self.sources);
        telling.metadata.insert(half.name().to_owned(), Value::from(self.text.as_str()));
        telling.metadata.insert(HISTORY.to_owned(), Value::from(self.history_tokens));
        if self.is_stale {
            telling.metadata.insert(STALE.to_owned(), Value::from(true));
        }
        telling
    }
}

impl Synopsis {
    /// Returns the synopsis that a record holds; one that is about to be forgotten holds none.
    pub(super) fn of(stored: Option<&StoredRecord>) -> Self {
        let record = stored.map(|stored| &stored.record).filter(|record| !record.doomed);
        let half =
            |half| record.and_then(|record| record.tellings().find_map(|telling| SynopsisHalf::of(telling, half)));
        Self { identity: half(Half::Identity), context: half(Half::Context) }
    }

    /// Returns the record that holds it; none for a synopsis without words.
    pub(super) fn record(&self) -> Option<Record> {
        let halves = [(&self.identity, Half::Identity), (&self.context, Half::Context)];
        let mut tellings = halves.into_iter().filter_map(|(text, half)| Some(text.as_ref()?.telling(half)));
        let first = tellings.next()?;
        let record = Record::new(SYNOPSIS, TEXT, first.at);
        Some(Record { id: synopsis_id(), first, again: tellings.collect(), ..record })
    }

    pub(super) fn half_mut(&mut self, half: Half) -> &mut Option<SynopsisHalf> {
        match half {
            Half::Identity => &mut self.identity,
            Half::Context => &mut self.context,
        }
    }

    /// Returns whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.identity.is_none() && self.context.is_none()
    }

    /// Returns the halves, who before what.
    pub(super) fn halves(&self) -> impl Iterator<Item = (Half, &SynopsisHalf)> {
        let halves = [(Half::Identity, &self.identity), (Half::Context, &self.context)];
        halves.into_iter().filter_map(|(half, text)| Some((half, text.as_ref()?)))
    }

    pub(super) fn built(&self, stored: Option<&StoredRecord>) -> Built {
        let at = |half: &Option<SynopsisHalf>| half.as_ref().map(|half| half.built_at);
        let stale = |half: &Option<SynopsisHalf>| half.as_ref().is_some_and(|half| half.is_stale);
        let (is_stale, used) =
            ([&self.identity, &self.context].map(stale), stored.and_then(|stored| stored.accessed_at));
        Built { identity: at(&self.identity), context: at(&self.context), is_stale, used }
    }
}

impl Scoped {
    /// Returns the synopsis of the owner as it stands, also if it is stale; empty before upkeep has built one.
    ///
    /// Upkeep builds it in the background by the memory's summariser ([`MemoryBuilder::summarizer`](super::MemoryBuilder::summarizer)),
    /// or without a model: who the owner is, from facts and preferences, and what the owner is about, from records of the kinds
    /// `context`, `goal`, `task`, `topic` and `plan` and from what was said in the newest conversations. No call waits for it, and
    /// only a half that is missing, too old or made stale by a new record is built anew, at most once a minute. If the summariser
    /// fails, what is there stays.
    ///
    /// The first call asks for it: from then on this process keeps it, and each context of the owner shows it
    /// ([`ContextRequest::synopsis`](super::ContextRequest::synopsis)). With [`MemoryBuilder::synopsis`](super::MemoryBuilder::synopsis)
    /// all owners have one, also after a restart, and what any process tells makes it stale.
    ///
    /// It is one record of the kind `synopsis`, which no search finds by its words. Forgetting a source forgets the half that was told
    /// from it.
    ///
    /// # Examples
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory, ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// ada.synopsis().await?; // asks for one
    /// memory.upkeep_once().await?; // or a task: `memory.upkeep()`
    /// if let Some(identity) = ada.synopsis().await?.identity {
    ///     println!("{} ({}, from {} sources)", identity.text, identity.by, identity.sources.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "generate_synopsis")]
    pub async fn synopsis(&self) -> Result<Synopsis> {
        let stored = self.inner().records.store().get(self.scope(), &[synopsis_id()]).await?;
        let mut synopsis = Synopsis::of(stored.first());
        let built = synopsis.built(stored.first());
        let ([identity, context], is_wanted) =
            self.inner().synopses.used(self.scope(), built, self.inner().clock.now());
        for (half, is_stale) in [(&mut synopsis.identity, identity), (&mut synopsis.context, context)] {
            half.iter_mut().for_each(|half| half.is_stale = is_stale);
        }
        if !stored.is_empty() {
            self.note_access(vec![synopsis_id()]);
        }
        if is_wanted {
            self.inner().changed.notify_one();
        }
        Ok(synopsis)
    }
}

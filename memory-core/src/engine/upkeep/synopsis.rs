//! Building synopses: reads what an owner told and said, has it summarised, and stores it with its sources.
//!
//! The fence of records is read before the sources are, and the synopsis is put with it. So whatever is forgotten meanwhile, the
//! synopsis is refused, and built again later.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use tokio::time::{Duration, Instant};

use crate::engine::careful::Careful;
use crate::engine::handle::{Memory, Scoped};
use crate::engine::inner::{Half, Synopses};
use crate::engine::synopsis::{Synopsis, SynopsisHalf, synopsis_id};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::ItemId;
use crate::message::{StoredMessage, Trust};
use crate::model::{Summarizer, Summary, SummaryPurpose, SummaryRequest};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{Page, SessionState, View};
use crate::store::records::{Expect, Put};
use crate::window::{ExtractiveSummarizer, bounded};

use super::report::UpkeepReport;
use super::summarise::summary_in_time;

/// How many records are read in one call, and at most for one synopsis.
const PAGE: usize = 500;
const MOST: usize = 10_000;
/// How many records one half is told from.
const RECORDS: usize = 100;
/// How many conversations are told of, and how many of their newest messages.
const SESSIONS: usize = 6;
const MESSAGES: usize = 16;
/// How long all summarisers together may take in one pass, and one answer more.
const SHARE: Duration = Duration::from_secs(300);

/// What a half is told from.
#[derive(Default)]
struct Sources {
    records: Vec<StoredRecord>,
    messages: Vec<StoredMessage>,
}

impl Sources {
    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.messages.is_empty()
    }

    fn items(&self) -> Vec<ItemId> {
        let records = self.records.iter().map(|stored| ItemId::Record(stored.record.id));
        records.chain(self.messages.iter().map(|row| ItemId::Message(row.id))).collect()
    }

    fn trust(&self) -> Trust {
        let records = self.records.iter().map(|stored| stored.record.trust());
        let messages = self.messages.iter().filter_map(|row| Some(row.message.as_ref()?.trust));
        records.chain(messages).min().unwrap_or(Trust::Untrusted)
    }
}

/// Halves that are to be built, each with its owner and whether this process used their synopsis. Of those that are left when a pass is
/// cut off, the first ones were being built, and the others waited.
struct Wanted<'a> {
    synopses: &'a Synopses,
    left: VecDeque<(Scope, Vec<Half>, bool)>,
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        let mut left = self.left.iter();
        if let Some((scope, halves, _)) = left.next() {
            self.synopses.failed(scope, halves);
        }
        left.for_each(|(scope, halves, _)| self.synopses.put_off(scope, halves));
    }
}

impl Memory {
    /// Builds the halves of synopses that are missing, too old or stale, until upkeep is to end or the time is up.
    pub(super) async fn build_synopses(&self, report: &mut UpkeepReport) {
        let (inner, until) = (&self.inner, Instant::now() + SHARE);
        let synopses = &inner.synopses;
        let mut wanted = Wanted { synopses, left: synopses.take_wanted(inner.clock.now()).into() };
        while let Some((scope, halves, is_used)) = wanted.left.front() {
            if inner.turn.is_ending() || Instant::now() >= until {
                synopses.put_off(scope, halves);
            } else {
                match self.of(scope).build(halves, *is_used, until, report).await {
                    Ok(built) => report.synopses += built,
                    Err(error) => {
                        synopses.failed(scope, halves);
                        // Something was forgotten or told meanwhile: that is no failure.
                        if !matches!(error, Error::Conflict | Error::Fenced) {
                            report.fail(&error);
                        }
                    }
                }
            }
            wanted.left.pop_front();
        }
    }
}

impl Scoped {
    /// Builds halves of the owner's synopsis until the time is up, and returns how many. A half of which the summariser makes nothing
    /// stays as it is.
    async fn build(&self, halves: &[Half], is_used: bool, until: Instant, report: &mut UpkeepReport) -> Result<usize> {
        let fence = self.fence().await?;
        let stored = self.stored(&[synopsis_id()]).await?.pop();
        let mut synopsis = Synopsis::of(stored.as_ref());
        if !is_used && !stored.as_ref().is_some_and(|stored| self.is_in_use(stored)) {
            // Whoever uses it next learns that something was told since, in whichever process.
            let mut was_good = false;
            for half in halves {
                let half = synopsis.half_mut(*half).as_mut();
                was_good |= half.is_some_and(|half| !std::mem::replace(&mut half.is_stale, true));
            }
            if let Some((stored, record)) = stored.zip(synopsis.record()).filter(|_| was_good) {
                let put = Put { record: Arc::new(record), expect: Expect::Version(stored.version) };
                self.write(fence, vec![put]).await?;
            }
            self.inner().synopses.written(self.scope(), halves, false);
            return Ok(0);
        }
        let (records, states) = tokio::try_join!(self.all_records(), self.all_sessions())?;
        let history_tokens = states.iter().map(history_of).fold(0, u64::saturating_add);
        let (mut built, mut is_changed, mut done) = (0, false, Vec::new());
        for half in halves {
            if self.inner().turn.is_ending() || Instant::now() >= until {
                self.inner().synopses.put_off(self.scope(), &[*half]);
                continue;
            }
            let sources = self.sources_of_half(*half, &records, &states).await?;
            let told = match self.told(*half, &sources, synopsis.half_mut(*half).is_none(), report).await {
                Some(Summary { text, by }) => Some(SynopsisHalf {
                    text,
                    by,
                    built_at: self.inner().clock.now(),
                    trust: sources.trust(),
                    sources: sources.items(),
                    history_tokens,
                    is_stale: false,
                }),
                None if sources.is_empty() => None,
                None => {
                    self.inner().synopses.unmade(self.scope(), *half);
                    continue;
                }
            };
            built += usize::from(told.is_some());
            is_changed |= told.is_some() || synopsis.half_mut(*half).is_some();
            *synopsis.half_mut(*half) = told;
            done.push(*half);
        }
        let (id, version) = (synopsis_id(), stored.map(|stored| stored.version));
        match (synopsis.record(), version) {
            (Some(record), version) if is_changed => {
                self.inner().limits.check_record(&record)?;
                let expect = version.map_or(Expect::Absent, Expect::Version);
                self.write(fence, vec![Put { record: Arc::new(record), expect }]).await?;
            }
            // Of what it was told from nothing is left.
            (None, Some(version)) => drop(self.inner().records.store().delete(self.scope(), &[(id, version)]).await?),
            _ => {}
        }
        self.inner().synopses.written(self.scope(), &done, true);
        Ok(built)
    }

    /// Returns whether somebody used the owner's synopsis of late, in whichever process.
    fn is_in_use(&self, stored: &StoredRecord) -> bool {
        let told = stored.record.tellings().map(|telling| telling.at).max();
        let used = stored.accessed_at.max(told).unwrap_or_default();
        self.inner().clock.now().since(used) <= self.inner().synopses.config.context_ttl
    }

    /// Returns what a summariser tells of the sources; none if there are no words, or it fails. Where nothing is told yet, an extract
    /// stands in.
    async fn told(&self, half: Half, sources: &Sources, is_first: bool, report: &mut UpkeepReport) -> Option<Summary> {
        if sources.is_empty() {
            return None;
        }
        let inner = self.inner();
        let purpose = match half {
            Half::Identity => SummaryPurpose::Identity,
            Half::Context => SummaryPurpose::Context,
        };
        let Sources { records, messages } = sources;
        let (messages, records) = (messages.clone(), records.clone());
        let max_tokens = inner.synopses.config.half_tokens();
        let request = Arc::new(SummaryRequest { purpose, messages, records, max_tokens, keep: Vec::new() });
        match self.ask(Arc::clone(&inner.summarizer), &request).await {
            Ok(summary) => return Some(summary),
            Err(error) => report.fail(&error),
        }
        if !is_first {
            return None;
        }
        self.ask(Arc::new(ExtractiveSummarizer::new(Arc::clone(&inner.counter))), &request).await.ok()
    }

    async fn ask(&self, summarizer: Arc<dyn Summarizer>, request: &Arc<SummaryRequest>) -> Result<Summary> {
        let summary = summary_in_time(summarizer, request).await?;
        let counter = Careful::new(&self.inner().counter);
        counter.verdict(bounded(&summary.text, request.max_tokens, &counter))?;
        Ok(summary)
    }

    /// Returns the owner's current records, not those that are about to be forgotten, and no synopsis.
    async fn all_records(&self) -> Result<Vec<StoredRecord>> {
        let (filter, mut after) = (Filter::current(self.inner().clock.now()), None);
        let mut all: Vec<StoredRecord> = Vec::new();
        while all.len() < MOST {
            let page = self.inner().bare.records.scan(self.scope(), &filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.record.id);
            all.extend(page.into_iter().filter(|stored| !stored.record.doomed && stored.record.id != synopsis_id()));
        }
        Ok(all)
    }

    /// Returns the owner's conversations, the newest first.
    async fn all_sessions(&self) -> Result<Vec<SessionState>> {
        let mut all: Vec<SessionState> = Vec::new();
        loop {
            let after = all.last().map(|state| state.session.clone());
            let next = self.inner().bare.chat.sessions(self.scope(), after.as_ref(), PAGE).await?;
            if next.is_empty() {
                break;
            }
            all.extend(next);
        }
        all.sort_by_key(|state| Reverse(state.last_at));
        Ok(all)
    }

    /// Returns what a half is told from.
    async fn sources_of_half(&self, half: Half, records: &[StoredRecord], states: &[SessionState]) -> Result<Sources> {
        let mut records: Vec<StoredRecord> =
            records.iter().filter(|stored| Half::of(&stored.record) == half).cloned().collect();
        if half == Half::Identity {
            records.sort_by(|one, other| telling_most(other).total_cmp(&telling_most(one)).then(by_age(one, other)));
            records.truncate(RECORDS);
            return Ok(Sources { records, messages: Vec::new() });
        }
        records.sort_by(by_age);
        records.truncate(RECORDS);
        let mut messages = Vec::new();
        for state in states.iter().take(SESSIONS).rev() {
            let page = Page { view: View::Active, ..Page::newest(MESSAGES) };
            let read = self.inner().bare.chat.read(self.scope(), &state.session, &page).await?;
            messages.extend(read.messages.into_iter().filter(is_told));
        }
        Ok(Sources { records, messages })
    }
}

/// Returns how much a record tells of who somebody is: pinned ones most, then those of more importance, then preferences and facts.
fn telling_most(stored: &StoredRecord) -> f32 {
    let record = &stored.record;
    let is_known = ["preference", "fact"].contains(&record.kind.as_str());
    let importance = record.importance().unwrap_or(0.5);
    importance + if record.is_pinned() { 2.0 } else { 0.0 } + if is_known { 0.01 } else { 0.0 }
}

/// Orders records, the newest first.
fn by_age(one: &StoredRecord, other: &StoredRecord) -> std::cmp::Ordering {
    let key = |stored: &StoredRecord| (Reverse(stored.record.created_at()), stored.record.id);
    key(one).cmp(&key(other))
}

/// Returns whether a message is part of what was said: no instruction, and no row that stands for others without words.
fn is_told(row: &StoredMessage) -> bool {
    !row.is_archive() && row.message.as_ref().is_some_and(|message| !message.role.is_instruction())
}

/// Returns the tokens of a conversation. Of one with folded parts the mean of its window is taken for the others.
fn history_of(state: &SessionState) -> u64 {
    let (said, shown) = (u128::from(state.head.0), u128::from(state.active_messages.max(1)));
    let tokens = u128::from(state.active_tokens) * said.max(shown) / shown;
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

//! Broken upkeep.

use async_trait::async_trait;
use memory_core::reference::MemChat;
use memory_core::store::chat::{Append, Appended, ChatStore as _, Redacted};
use memory_core::store::upkeep::{Backlog, Incarnation, IndexName, Note, Outcome, Target, Upkeep as _};
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, MessageId, Result, Scope, SessionId, Timestamp};

use crate::chat_stores::{Break, caught};

/// After everything that will ever be due.
const END: Timestamp = Timestamp(i64::MAX);

/// Settles what is noted now, whatever the note covered when it was read.
#[derive(Clone, Debug)]
struct SettlesWhatIsThere;

#[async_trait]
impl Break for SettlesWhatIsThere {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let current = inner.pending(index, END, usize::MAX).await?;
        for (note, outcome) in notes {
            let same = |other: &&Note| (&other.scope, &other.target) == (&note.scope, &note.target);
            let Some(now) = current.iter().find(same) else { continue };
            let outcome = match outcome {
                Outcome::Done { .. } => Outcome::Done { through: now.upto },
                other => other.clone(),
            };
            inner.settle(index, &[(now.clone(), outcome)]).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_settlement_of_what_is_there_is_caught() {
    let by = ["a_settlement_leaves_what_was_written_since", "a_settlement_covers_no_more_than_its_note"];
    caught(SettlesWhatIsThere, &by).await;
    caught(SettlesWhatIsThere, &["an_indexer_beside_writers_misses_nothing"]).await;
}

/// Settles by number alone: a change behind it is covered too.
#[derive(Clone, Debug)]
struct IgnoresStamps;

#[async_trait]
impl Break for IgnoresStamps {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let current = inner.pending(index, END, usize::MAX).await?;
        for (note, outcome) in notes {
            let same = |other: &&Note| (&other.scope, &other.target) == (&note.scope, &note.target);
            let stamp = current.iter().find(same).map_or(note.stamp, |now| now.stamp);
            inner.settle(index, &[(Note { stamp, ..note.clone() }, outcome.clone())]).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_settlement_that_ignores_stamps_is_caught() {
    let by = ["a_redaction_is_not_covered_by_a_settlement_under_way", "a_settlement_does_not_cover_a_later_burial"];
    caught(IgnoresStamps, &by).await;
    caught(IgnoresStamps, &["a_settlement_does_not_cover_a_removal"]).await;
}

/// Forgets to note appends to sessions that were there before.
#[derive(Clone, Debug)]
struct ForgetsNotes;

#[async_trait]
impl Break for ForgetsNotes {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let index = IndexName::new("text/test-1")?;
        let before = inner.pending(&index, END, usize::MAX).await?;
        let appended = inner.append(scope, session, batch).await?;
        if appended.state.head.0 > batch.messages.len() as u64 {
            for note in inner.pending(&index, END, usize::MAX).await? {
                if !before.contains(&note) {
                    let through = note.upto;
                    inner.settle(&index, &[(note, Outcome::Done { through })]).await?;
                }
            }
        }
        Ok(appended)
    }
}

#[tokio::test]
async fn a_store_that_forgets_notes_is_caught() {
    caught(ForgetsNotes, &["a_note_done_is_gone", "an_indexer_beside_writers_misses_nothing"]).await;
}

/// Tries again at once, whatever was asked for.
#[derive(Clone, Debug)]
struct RetriesAtOnce;

#[async_trait]
impl Break for RetriesAtOnce {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let hurried = |(note, outcome): &(Note, Outcome)| match outcome {
            Outcome::Retry { why, .. } => (note.clone(), Outcome::Retry { at: Timestamp(0), why: why.clone() }),
            other => (note.clone(), other.clone()),
        };
        inner.settle(index, &notes.iter().map(hurried).collect::<Vec<_>>()).await
    }
}

#[tokio::test]
async fn a_retry_at_once_is_caught() {
    caught(RetriesAtOnce, &["a_retry_waits_until_it_is_due", "those_due_longest_come_first"]).await;
}

/// Drops notes that were given up.
#[derive(Clone, Debug)]
struct DropsDeadNotes;

#[async_trait]
impl Break for DropsDeadNotes {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let dropped = |(note, outcome): &(Note, Outcome)| match outcome {
            Outcome::Dead { .. } => (note.clone(), Outcome::Done { through: note.upto }),
            other => (note.clone(), other.clone()),
        };
        inner.settle(index, &notes.iter().map(dropped).collect::<Vec<_>>()).await
    }
}

#[tokio::test]
async fn dropped_dead_notes_are_caught() {
    caught(DropsDeadNotes, &["a_dead_note_is_not_pending", "counts_what_is_pending_and_dead"]).await;
}

/// Returns all notes, however many were asked for.
#[derive(Clone, Debug)]
struct ReturnsAllNotes;

#[async_trait]
impl Break for ReturnsAllNotes {
    async fn pending(&self, inner: &MemChat, index: &IndexName, now: Timestamp, _: usize) -> Result<Vec<Note>> {
        inner.pending(index, now, usize::MAX).await
    }
}

#[tokio::test]
async fn a_list_of_notes_without_limit_is_caught() {
    caught(ReturnsAllNotes, &["returns_no_more_notes_than_asked_for"]).await;
}

/// Buries without a note.
#[derive(Clone, Debug)]
struct BuriesInSilence;

#[async_trait]
impl Break for BuriesInSilence {
    async fn bury(&self, inner: &MemChat, scope: &Scope, _: Epoch) -> Result<Epoch> {
        let epoch = Epoch(inner.epoch(scope).await?.0 + 1);
        inner.erase(scope, epoch).await?;
        Ok(epoch)
    }
}

#[tokio::test]
async fn a_burial_without_a_note_is_caught() {
    caught(BuriesInSilence, &["a_burial_notes_the_owner_for_every_index"]).await;
}

/// Erases the note of the burial with everything else.
#[derive(Clone, Debug)]
struct ErasesTheBurial;

#[async_trait]
impl Break for ErasesTheBurial {
    async fn erase(&self, inner: &MemChat, scope: &Scope, below: Epoch) -> Result<Erased> {
        let index = IndexName::new("text/test-1")?;
        for note in inner.pending(&index, END, usize::MAX).await? {
            if note.scope == *scope && note.target == Target::Owner {
                let through = note.upto;
                inner.settle(&index, &[(note, Outcome::Done { through })]).await?;
            }
        }
        inner.erase(scope, below).await
    }
}

#[tokio::test]
async fn an_erasure_of_the_burial_is_caught() {
    caught(ErasesTheBurial, &["the_note_of_a_burial_survives_the_erasure"]).await;
}

/// Lists owners from the last to the first.
#[derive(Clone, Debug)]
struct ListsOwnersBackwards;

#[async_trait]
impl Break for ListsOwnersBackwards {
    async fn owners(&self, inner: &MemChat, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let mut owners = inner.owners(after, limit).await?;
        owners.reverse();
        Ok(owners)
    }
}

#[tokio::test]
async fn a_list_of_owners_in_another_order_is_caught() {
    caught(ListsOwnersBackwards, &["lists_owners_in_the_order_of_their_keys"]).await;
}

/// Counts the notes of all owners for one.
#[derive(Clone, Debug)]
struct CountsForAll;

#[async_trait]
impl Break for CountsForAll {
    async fn backlog_of(&self, inner: &MemChat, _: &Scope, index: &IndexName) -> Result<Backlog> {
        inner.backlog(index).await
    }
}

#[tokio::test]
async fn a_count_of_the_notes_of_all_owners_is_caught() {
    caught(CountsForAll, &["counts_the_notes_of_one_owner_alone"]).await;
}

/// Leaves what was given up as it is.
#[derive(Clone, Debug)]
struct RevivesNothing;

#[async_trait]
impl Break for RevivesNothing {
    async fn revive(&self, _: &MemChat, _: &IndexName) -> Result<u64> {
        Ok(0)
    }
}

#[tokio::test]
async fn a_store_that_revives_nothing_is_caught() {
    let by = ["dead_notes_are_revived_as_if_they_were_new", "a_settlement_under_way_does_not_cover_a_revived_note"];
    caught(RevivesNothing, &by).await;
}

/// Has those who find facts read again after a redaction.
#[derive(Clone, Debug)]
struct ReadsAgain;

#[async_trait]
impl Break for ReadsAgain {
    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let touched = inner.redact(scope, ids).await?;
        for reader in inner.indexes().await?.into_iter().filter(|index| index.name.finds_facts()) {
            inner.enlist(&reader.name, Some(Incarnation::draw()), usize::MAX).await?;
        }
        Ok(touched)
    }
}

#[tokio::test]
async fn a_redaction_that_has_facts_found_again_is_caught() {
    caught(ReadsAgain, &["a_redaction_has_nobody_read_again_who_finds_facts"]).await;
}

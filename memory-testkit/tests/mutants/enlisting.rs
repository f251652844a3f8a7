//! Broken enlisting, and indexes that do not tell which they are.

use async_trait::async_trait;
use memory_core::Result;
use memory_core::Timestamp;
use memory_core::reference::{MemChat, MemText, MemVectors};
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName, Outcome, Upkeep as _};
use uuid::Uuid;

use crate::chat_stores::{Break, caught};
use crate::search::{texts, vectors};

/// Enlists without noting what is stored.
#[derive(Clone, Debug)]
struct EnlistsForLaterOnly;

#[async_trait]
impl Break for EnlistsForLaterOnly {
    async fn enlist(
        &self,
        inner: &MemChat,
        index: &IndexName,
        told: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        let is_noted = inner.enlist(index, told, limit).await?;
        for note in inner.pending(index, Timestamp(i64::MAX), usize::MAX).await? {
            let through = note.upto;
            inner.settle(index, &[(note, Outcome::Done { through })]).await?;
        }
        Ok(is_noted)
    }
}

#[tokio::test]
async fn an_enlisting_that_notes_nothing_is_caught() {
    let by = ["enlisting_notes_what_is_stored_already", "enlisting_a_retired_index_notes_everything_anew"];
    caught(EnlistsForLaterOnly, &by).await;
}

/// Enlists an enlisted index anew.
#[derive(Clone, Debug)]
struct EnlistsAnew;

#[async_trait]
impl Break for EnlistsAnew {
    async fn enlist(
        &self,
        inner: &MemChat,
        index: &IndexName,
        told: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        inner.retire(index).await?;
        inner.enlist(index, told, limit).await
    }
}

#[tokio::test]
async fn an_enlisting_that_begins_anew_is_caught() {
    let by = ["enlisting_again_leaves_an_index_as_it_is", "another_incarnation_keeps_the_notes_of_what_is_gone"];
    caught(EnlistsAnew, &by).await;
}

/// Knows an index by its name alone.
#[derive(Clone, Debug)]
struct KnowsTheNameAlone;

#[async_trait]
impl Break for KnowsTheNameAlone {
    async fn enlist(
        &self,
        inner: &MemChat,
        index: &IndexName,
        told: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        let known = inner.indexes().await?.into_iter().find(|known| known.name == *index);
        inner.enlist(index, known.map_or(told, |known| known.incarnation), limit).await
    }
}

#[tokio::test]
async fn an_index_that_is_known_by_its_name_alone_is_caught() {
    let by = ["another_incarnation_notes_everything_anew", "another_incarnation_revives_what_was_given_up"];
    caught(KnowsTheNameAlone, &by).await;
    let by = ["a_settlement_under_way_does_not_cover_another_incarnation", "a_doubted_index_is_noted_anew"];
    caught(KnowsTheNameAlone, &by).await;
}

/// Notes all at once, however much there is.
#[derive(Clone, Debug)]
struct NotesAllAtOnce;

#[async_trait]
impl Break for NotesAllAtOnce {
    async fn enlist(&self, inner: &MemChat, index: &IndexName, told: Option<Incarnation>, _: usize) -> Result<bool> {
        inner.enlist(index, told, usize::MAX).await
    }
}

#[tokio::test]
async fn an_enlisting_without_steps_is_caught() {
    caught(NotesAllAtOnce, &["an_enlisting_in_steps_notes_everything_once"]).await;
}

/// Takes the first step for all.
#[derive(Clone, Debug)]
struct EndsWithTheFirstStep;

#[async_trait]
impl Break for EndsWithTheFirstStep {
    async fn enlist(
        &self,
        inner: &MemChat,
        index: &IndexName,
        told: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        inner.enlist(index, told, limit).await.map(|_| true)
    }

    async fn indexes(&self, inner: &MemChat) -> Result<Vec<Enlisted>> {
        let indexes = inner.indexes().await?;
        Ok(indexes.into_iter().map(|index| Enlisted { is_noted: true, ..index }).collect())
    }
}

#[tokio::test]
async fn an_enlisting_that_ends_with_its_first_step_is_caught() {
    let by = ["an_enlisting_in_steps_notes_everything_once", "what_is_written_between_the_steps_is_noted"];
    caught(EndsWithTheFirstStep, &by).await;
}

/// Does not tell who follows.
#[derive(Clone, Debug)]
struct ListsNone;

#[async_trait]
impl Break for ListsNone {
    async fn indexes(&self, _: &MemChat) -> Result<Vec<Enlisted>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_list_without_the_indexes_is_caught() {
    caught(ListsNone, &["lists_the_indexes_that_follow"]).await;
}

/// Draws another incarnation whenever it is asked.
#[derive(Clone, Debug)]
struct DrawsEachTime;

#[async_trait]
impl texts::Break for DrawsEachTime {
    async fn incarnation(&self, _: &MemText) -> Result<Incarnation> {
        Ok(Incarnation::draw())
    }
}

#[async_trait]
impl vectors::Break for DrawsEachTime {
    async fn incarnation(&self, _: &MemVectors) -> Result<Incarnation> {
        Ok(Incarnation::draw())
    }
}

#[tokio::test]
async fn an_incarnation_drawn_each_time_is_caught() {
    let by = ["asked_again_it_tells_the_same_incarnation", "what_is_put_and_erased_changes_no_incarnation"];
    texts::caught(DrawsEachTime, &by).await;
    vectors::caught(DrawsEachTime, &by).await;
}

/// Tells one incarnation for all indexes.
#[derive(Clone, Debug)]
struct TellsOneForAll;

#[async_trait]
impl texts::Break for TellsOneForAll {
    async fn incarnation(&self, _: &MemText) -> Result<Incarnation> {
        Ok(Incarnation(Uuid::nil()))
    }
}

#[async_trait]
impl vectors::Break for TellsOneForAll {
    async fn incarnation(&self, _: &MemVectors) -> Result<Incarnation> {
        Ok(Incarnation(Uuid::nil()))
    }
}

#[tokio::test]
async fn one_incarnation_for_all_indexes_is_caught() {
    texts::caught(TellsOneForAll, &["another_index_has_another_incarnation"]).await;
    vectors::caught(TellsOneForAll, &["another_index_has_another_incarnation"]).await;
}

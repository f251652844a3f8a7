//! Stores over which a memory does not keep what its rows promise, caught by the scenarios of a whole memory.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::store::chat::{ChatStore as _, Compaction, Edge, FoundMessages, Page, SessionState, Slice};
use memory_core::store::records::{RecordBatch, RecordStore as _};
use memory_core::store::text::{Rejected, TextEntry, TextHits, TextQuery, TextStore as _, Visibility};
use memory_core::store::vectors::VectorEntry;
use memory_core::{Filter, Message, MessageId, Record, RecordId, Result, Role, Scope, Seq, SessionId, Timestamp};
use memory_testkit::Setting;
use memory_testkit::isolation::Stores;
use memory_testkit::memory::{fitted, table};

use crate::search::{joined, texts, vectors};
use crate::{chat_stores, frame, records_stores};

async fn caught(by: &[&str], make: impl Fn(Setting) -> Stores + Send + Sync + 'static) {
    frame::caught(&table(), by, move |setting| make(fitted(setting))).await;
}

async fn caught_in_chat<B: chat_stores::Break + Clone>(broken: B, by: &[&str]) {
    caught(by, move |_| Stores { chat: Some(chat_stores::store(broken.clone())), ..Stores::default() }).await;
}

async fn caught_in_records<B: records_stores::Break + Clone>(broken: B, by: &[&str]) {
    caught(by, move |_| Stores { records: Some(records_stores::store(broken.clone())), ..Stores::default() }).await;
}

async fn caught_in_text<B: texts::Break + Clone>(broken: B, by: &[&str]) {
    let make = move |setting: Setting| Stores {
        text: Some(texts::store_of(&setting.analysis, broken.clone())),
        ..Stores::default()
    };
    caught(by, make).await;
}

/// Takes owners whose names are one when a colon joins them for one.
#[derive(Clone, Debug)]
struct JoinsNames;

impl chat_stores::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

impl records_stores::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

#[tokio::test]
async fn owners_whose_names_run_together_are_caught() {
    let by = ["s2_10_s1_17_owners_with_equal_sessions_and_ids_never_see_each_other"];
    caught_in_chat(JoinsNames, &by).await;
    caught_in_records(JoinsNames, &by).await;
}

/// Loses who said what: everything comes from a person.
#[derive(Clone, Debug)]
struct DropsRoles;

#[async_trait]
impl chat_stores::Break for DropsRoles {
    async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let mut slice = inner.read(scope, session, page).await?;
        for row in &mut slice.messages {
            row.message =
                row.message.take().map(|message| Message { role: Role::User, ..Message::clone(&message) }.into());
        }
        Ok(slice)
    }
}

#[tokio::test]
async fn a_dropped_role_is_caught() {
    caught_in_chat(DropsRoles, &["s2_1_parts_stand_in_their_order_and_keep_the_budget"]).await;
}

/// Gives the oldest messages where the newest are asked for.
#[derive(Clone, Debug)]
struct InvertsRecency;

#[async_trait]
impl chat_stores::Break for InvertsRecency {
    async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let edge = if matches!(page.edge, Edge::Newest) { Edge::After(Seq(0)) } else { page.edge };
        inner.read(scope, session, &Page { edge, ..page.clone() }).await
    }
}

#[tokio::test]
async fn inverted_recency_is_caught() {
    caught_in_chat(InvertsRecency, &["s2_2_one_session_is_every_kind_of_memory_by_its_settings"]).await;
}

/// Says that a fold was done, and does nothing.
#[derive(Clone, Debug)]
struct FoldsNothing;

#[async_trait]
impl chat_stores::Break for FoldsNothing {
    async fn compact(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        _: &Compaction,
    ) -> Result<SessionState> {
        Ok(inner.read(scope, session, &Page::newest(1)).await?.state)
    }
}

#[tokio::test]
async fn a_fold_that_does_nothing_is_caught() {
    let by = [
        "s0_5_c21_a_full_window_is_folded_down_to_half_and_nothing_is_lost",
        "s1_4_at_message_51_the_oldest_ten_are_folded_and_archived",
    ];
    caught_in_chat(FoldsNothing, &by).await;
}

/// Does not find by its id what was said.
#[derive(Clone, Debug)]
struct LosesIds;

#[async_trait]
impl chat_stores::Break for LosesIds {
    async fn get(&self, _: &MemChat, _: &Scope, _: &[MessageId]) -> Result<FoundMessages> {
        Ok(FoundMessages::of([]))
    }
}

#[tokio::test]
async fn messages_that_are_not_read_by_their_ids_are_caught() {
    let by = [
        "s0_8_what_was_written_is_found_before_upkeep_and_after",
        "o7_a_context_of_one_conversation_recalls_what_was_just_said_in_another",
        "s0_12_a_session_is_searched_alone",
        "s0_12_a_search_finds_ten_unless_it_is_told_otherwise",
        "s2_13d_history_is_recalled_unless_it_is_switched_off",
    ];
    caught_in_chat(LosesIds, &by).await;
}

/// Keeps neither accesses nor what was superseded, and sweeps nothing.
#[derive(Clone, Debug)]
struct KeepsNoTimes;

#[async_trait]
impl records_stores::Break for KeepsNoTimes {
    async fn touch(&self, _: &MemRecords, _: &Scope, _: &[RecordId], _: Timestamp) -> Result<()> {
        Ok(())
    }

    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let mut batch = batch.clone();
        for put in &mut batch.puts {
            put.record = Arc::new(Record { superseded: None, ..Record::clone(&put.record) });
        }
        inner.put(scope, &batch).await
    }

    async fn sweep(&self, _: &MemRecords, _: Timestamp, _: usize) -> Result<u64> {
        Ok(0)
    }
}

#[tokio::test]
async fn records_that_neither_age_nor_expire_are_caught() {
    let by = [
        "s1_12_what_is_recalled_is_counted_and_what_is_only_found_is_not",
        "s3_3_s3_14_what_has_expired_is_never_found_and_then_deleted",
        "s3_14_what_is_told_for_longer_outlives_its_first_moment",
        "o12_a_superseded_fact_is_found_only_as_of_its_time",
        "o12_the_state_at_any_time_is_that_of_a_model_after_random_changes",
    ];
    caught_in_records(KeepsNoTimes, &by).await;
}

/// Says that entries were put, and holds none.
#[derive(Clone, Debug)]
struct HoldsNothing;

#[async_trait]
impl texts::Break for HoldsNothing {
    async fn put(&self, _: &MemText, _: &Scope, _: &[TextEntry], _: Visibility) -> Result<Vec<Rejected>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl vectors::Break for HoldsNothing {
    async fn put(&self, _: &MemVectors, _: &Scope, _: &[VectorEntry], _: Visibility) -> Result<Vec<Rejected>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn an_index_that_holds_nothing_is_caught() {
    let after = "s0_8_what_was_written_is_found_before_upkeep_and_after";
    let text = [
        after,
        "s0_17_what_could_not_be_embedded_is_found_by_its_words_and_embedded_later",
        "s0_17_what_an_index_did_not_take_is_found_all_the_same_and_indexed_later",
        "o11_a_reranker_orders_the_best_candidates_and_the_receipt_tells_its_scores",
        "s3_13_as_many_candidates_are_ranked_as_the_ranking_says",
    ];
    caught_in_text(HoldsNothing, &text).await;
    let near = [
        after,
        "s0_9_similarity_and_recency_are_weighed_as_the_ranking_says",
        "s0_14_a_given_vector_is_used_in_place_of_words_and_embeds_nothing",
        "s0_17_an_index_that_does_not_answer_is_told_and_the_other_answers",
    ];
    let make =
        |setting: Setting| Stores { vectors: Some(vectors::store(setting.space, HoldsNothing)), ..Stores::default() };
    caught(&near, make).await;
}

/// Looks at no condition.
#[derive(Clone, Debug)]
struct FiltersNothing;

#[async_trait]
impl texts::Break for FiltersNothing {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        inner.search(scope, &TextQuery { filter: Filter::All, ..query.clone() }).await
    }
}

#[tokio::test]
async fn an_index_that_filters_nothing_is_caught() {
    caught_in_text(FiltersNothing, &["s0_13_filters_are_pushed_down_and_never_starve_the_answer"]).await;
}

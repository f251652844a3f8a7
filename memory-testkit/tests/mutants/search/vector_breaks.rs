//! Broken vector stores.

use std::collections::BTreeMap;

use async_trait::async_trait;
use memory_core::reference::MemVectors;
use memory_core::store::text::{Deletion, Rejected, Visibility};
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery};
use memory_core::store::{Erased, Store as _};
use memory_core::vector::Similarity;
use memory_core::{Epoch, Filter, ItemId, Result, Scope};

use super::vectors::{Break, caught};
use super::{Owners, Shared, lock, unbounded};

/// Filters the nearest after they were found.
#[derive(Clone, Debug)]
struct FiltersAfterwards;

#[async_trait]
impl Break for FiltersAfterwards {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let wide = VectorQuery { filter: Filter::All, limit: query.limit.saturating_mul(10), ..query.clone() };
        let mut hits = inner.search(scope, &wide).await?;
        hits.retain(|hit| query.filter.matches(&hit.fields));
        hits.truncate(query.limit);
        Ok(hits)
    }
}

#[tokio::test]
async fn a_store_that_filters_afterwards_is_caught() {
    let by = [
        "nearer_items_that_the_filter_hides_take_no_place",
        "a_filter_that_matches_one_of_a_thousand_finds_all_it_matches",
    ];
    caught(FiltersAfterwards, &by).await;
}

/// Takes the similarity for a distance.
#[derive(Clone, Debug)]
struct InvertsSimilarity;

#[async_trait]
impl Break for InvertsSimilarity {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let vector = query.vector.iter().map(|number| -number).collect();
        inner.search(scope, &VectorQuery { vector, ..query.clone() }).await
    }
}

#[tokio::test]
async fn an_inverted_similarity_is_caught() {
    let by = [
        "the_nearest_stands_first",
        "opposite_vectors_are_found_last_and_below_zero",
        "s0_6_similarities_of_generated_vectors_are_those_of_brute_force",
    ];
    caught(InvertsSimilarity, &by).await;
}

/// Gives similarities of 0 to 1, as some engines do.
#[derive(Clone, Debug)]
struct HalvesSimilarity;

#[async_trait]
impl Break for HalvesSimilarity {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let mut hits = inner.search(scope, query).await?;
        hits.iter_mut().for_each(|hit| hit.similarity = Similarity::new((1.0 + hit.similarity.value()) / 2.0));
        Ok(hits)
    }
}

#[tokio::test]
async fn similarities_on_another_scale_are_caught() {
    caught(HalvesSimilarity, &["opposite_vectors_are_found_last_and_below_zero"]).await;
}

type Pieces = Vec<Vec<f32>>;

/// Adds new pieces to those that are there.
#[derive(Clone, Debug, Default)]
struct MergesPieces {
    pieces: Shared<BTreeMap<(Scope, ItemId), Pieces>>,
}

#[async_trait]
impl Break for MergesPieces {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut merged = entries.to_vec();
        for entry in &mut merged {
            let mut pieces = lock(&self.pieces);
            let held = pieces.entry((scope.clone(), entry.item.clone())).or_default();
            held.extend(entry.pieces.clone());
            entry.pieces.clone_from(held);
        }
        inner.put(scope, &merged, visibility).await
    }
}

#[tokio::test]
async fn pieces_that_are_merged_are_caught() {
    let by = ["s0_7_a_put_replaces_all_pieces_of_its_item", "the_same_version_is_put_in_the_place_of_the_first"];
    caught(MergesPieces::default(), &by).await;
}

/// Keeps the first piece of an item.
#[derive(Clone, Debug)]
struct KeepsFirstPiece;

#[async_trait]
impl Break for KeepsFirstPiece {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut cut = entries.to_vec();
        cut.iter_mut().for_each(|entry| entry.pieces.truncate(1));
        inner.put(scope, &cut, visibility).await
    }
}

#[tokio::test]
async fn a_store_that_keeps_one_piece_is_caught() {
    let by = ["an_item_is_found_once_by_its_nearest_piece", "one_bad_piece_refuses_its_whole_item"];
    caught(KeepsFirstPiece, &by).await;
}

/// Lets each piece of an item take a place of the answer.
#[derive(Clone, Debug, Default)]
struct CountsPieces {
    pieces: Shared<BTreeMap<ItemId, usize>>,
}

#[async_trait]
impl Break for CountsPieces {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        lock(&self.pieces).extend(entries.iter().map(|entry| (entry.item.clone(), entry.pieces.len())));
        inner.put(scope, entries, visibility).await
    }

    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let hits = inner.search(scope, query).await?;
        let pieces = lock(&self.pieces).clone();
        let mut taken = 0;
        let fits = |hit: &VectorHit| {
            let is_free = taken < query.limit;
            taken += pieces.get(&hit.item).copied().unwrap_or(1);
            is_free
        };
        Ok(hits.into_iter().take_while(fits).collect())
    }
}

#[tokio::test]
async fn pieces_that_take_places_are_caught() {
    let by = ["many_pieces_of_one_item_take_one_place", "an_item_is_found_once_by_its_nearest_piece"];
    caught(CountsPieces::default(), &by).await;
}

/// Puts a batch entry by entry, and stops where it is dropped.
#[derive(Clone, Debug)]
struct PutsOneByOne;

#[async_trait]
impl Break for PutsOneByOne {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut rejected = Vec::new();
        for entry in entries {
            rejected.extend(inner.put(scope, std::slice::from_ref(entry), visibility).await?);
            tokio::task::yield_now().await;
        }
        Ok(rejected)
    }
}

#[tokio::test]
async fn a_put_that_is_torn_apart_is_caught() {
    caught(PutsOneByOne, &["calls_given_up_halfway_happen_fully_or_not_at_all"]).await;
}

/// Refuses the whole put for one bad entry.
#[derive(Clone, Debug)]
struct RefusesTheWholePut;

#[async_trait]
impl Break for RefusesTheWholePut {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        for piece in entries.iter().flat_map(|entry| &entry.pieces) {
            inner.space().check_vector(piece)?;
        }
        inner.put(scope, entries, visibility).await
    }
}

#[tokio::test]
async fn a_whole_put_refused_for_one_entry_is_caught() {
    caught(RefusesTheWholePut, &["one_bad_entry_of_a_hundred_is_reported_and_ninety_nine_are_stored"]).await;
}

/// Drops bad entries and says nothing.
#[derive(Clone, Debug)]
struct HidesRejections;

#[async_trait]
impl Break for HidesRejections {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        inner.put(scope, entries, visibility).await?;
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_store_that_hides_rejections_is_caught() {
    let by = [
        "each_bad_entry_is_refused_and_the_others_are_stored",
        "one_bad_entry_of_a_hundred_is_reported_and_ninety_nine_are_stored",
        "a_bulk_put_reports_what_it_refuses",
    ];
    caught(HidesRejections, &by).await;
}

/// Leaves out the floor, the space, or the vectors.
#[derive(Clone, Debug)]
struct IgnoresOptions;

#[async_trait]
impl Break for IgnoresOptions {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let space = inner.space().clone();
        let vector = query.vector.iter().copied().take(space.dimension).collect();
        let query = VectorQuery { space, vector, floor: None, with_vectors: false, ..query.clone() };
        inner.search(scope, &query).await
    }
}

#[tokio::test]
async fn a_store_that_ignores_options_of_a_query_is_caught() {
    let by = [
        "hits_below_the_floor_are_left_out",
        "a_query_of_another_space_is_a_mismatch",
        "hits_carry_their_piece_at_unit_length_when_asked",
        "vectors_that_cannot_be_sought_are_invalid",
    ];
    caught(IgnoresOptions, &by).await;
}

/// Deletes whatever is there, however new it is.
#[derive(Clone, Debug)]
struct DeletesAnyVersion;

#[async_trait]
impl Break for DeletesAnyVersion {
    async fn delete(&self, inner: &MemVectors, scope: &Scope, what: &Deletion) -> Result<()> {
        inner.delete(scope, &unbounded(what)).await
    }
}

#[tokio::test]
async fn a_deletion_that_takes_what_is_newer_is_caught() {
    let by = [
        "a_late_deletion_of_items_takes_nothing_newer",
        "a_late_deletion_of_a_session_takes_nothing_newer",
        "a_put_of_equal_content_counts_as_newer",
    ];
    caught(DeletesAnyVersion, &by).await;
}

/// Erases every owner whose name begins with the owner's.
#[derive(Clone, Debug, Default)]
struct ErasesByPrefix {
    owners: Owners,
}

#[async_trait]
impl Break for ErasesByPrefix {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        self.owners.meet(scope);
        inner.put(scope, entries, visibility).await
    }

    async fn erase(&self, inner: &MemVectors, scope: &Scope, below: Epoch) -> Result<Erased> {
        for owner in self.owners.like(scope) {
            inner.erase(&owner, below).await?;
        }
        inner.erase(scope, below).await
    }

    async fn delete(&self, inner: &MemVectors, scope: &Scope, what: &Deletion) -> Result<()> {
        for owner in self.owners.all() {
            inner.delete(&owner, what).await?;
        }
        inner.delete(scope, what).await
    }
}

#[tokio::test]
async fn calls_that_reach_other_owners_are_caught() {
    let by = ["erasing_one_of_fifty_leaves_the_others_as_they_are", "deleting_spares_other_owners"];
    caught(ErasesByPrefix::default(), &by).await;
}

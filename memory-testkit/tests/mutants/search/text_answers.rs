//! Text stores that give wrong answers.

use async_trait::async_trait;
use memory_core::reference::MemText;
use memory_core::store::text::{TextEntry, TextHits, TextQuery, TextStore as _, Visibility};
use memory_core::{Filter, Result, Scope, Unit};

use super::Owners;
use super::texts::{Break, caught};

/// Asks for a few more hits than wanted and filters afterwards.
#[derive(Clone, Debug)]
struct FiltersAfterwards {
    times: usize,
}

#[async_trait]
impl Break for FiltersAfterwards {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let wide = TextQuery { filter: Filter::All, limit: query.limit * self.times, ..query.clone() };
        let mut found = inner.search(scope, &wide).await?;
        found.hits.retain(|hit| query.filter.matches(&hit.fields));
        found.hits.truncate(query.limit);
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_filters_afterwards_is_caught() {
    let by = [
        "better_items_that_the_filter_hides_take_no_place",
        "a_filter_that_matches_one_of_a_thousand_finds_all_it_matches",
        "what_has_expired_takes_no_place",
        "s0_15_o10_random_filters_give_the_answer_of_brute_force",
    ];
    caught(FiltersAfterwards { times: 1 }, &by).await;
}

#[tokio::test]
async fn a_store_that_fills_up_too_little_is_caught() {
    let by = [
        "better_items_that_the_filter_hides_take_no_place",
        "a_filter_that_matches_one_of_a_thousand_finds_all_it_matches",
    ];
    caught(FiltersAfterwards { times: 10 }, &by).await;
}

/// Counts the items of all owners, as an index of one engine does.
#[derive(Clone, Debug, Default)]
struct CountsAllOwners {
    owners: Owners,
}

#[async_trait]
impl Break for CountsAllOwners {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        self.owners.meet(scope);
        let mut found = inner.search(scope, query).await?;
        let (mut documents, mut containing) = (0, vec![0; query.terms.len()]);
        for owner in self.owners.all() {
            let other = inner.search(&owner, query).await?;
            documents += other.documents;
            containing.iter_mut().zip(other.containing).for_each(|(sum, count)| *sum += count);
        }
        (found.documents, found.containing) = (documents, containing);
        Ok(found)
    }

    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<memory_core::store::text::Rejected>> {
        self.owners.meet(scope);
        inner.put(scope, entries, visibility).await
    }
}

#[tokio::test]
async fn statistics_over_all_owners_are_caught() {
    let by = ["other_owners_change_no_score", "owners_with_hostile_names_stay_apart"];
    caught(CountsAllOwners::default(), &by).await;
}

/// Counts an item that a term is near to as one that holds it.
#[derive(Clone, Debug)]
struct CountsNearAsOwn;

#[async_trait]
impl Break for CountsNearAsOwn {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let mut found = inner.search(scope, query).await?;
        let all = TextQuery { filter: Filter::All, limit: usize::MAX, ..query.clone() };
        let hits = inner.search(scope, &all).await?.hits;
        for (term, count) in found.containing.iter_mut().enumerate() {
            let holds = |hit: &&memory_core::store::text::TextHit| {
                hit.own.get(term).is_some_and(|n| *n > 0) || hit.near.get(term).is_some_and(|n| *n > 0.0)
            };
            *count = hits.iter().filter(holds).count() as u64;
        }
        Ok(found)
    }
}

#[tokio::test]
async fn near_terms_counted_as_own_are_caught() {
    let by = [
        "near_terms_alone_make_a_hit_and_count_in_no_statistics",
        "evidence_of_generated_entries_is_that_of_brute_force",
    ];
    caught(CountsNearAsOwn, &by).await;
}

/// Leaves out items that hold none of the terms themselves.
#[derive(Clone, Debug)]
struct IgnoresNear;

#[async_trait]
impl Break for IgnoresNear {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let mut found = inner.search(scope, query).await?;
        found.hits.retain(|hit| hit.own.iter().any(|count| *count > 0));
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_ignores_near_terms_is_caught() {
    caught(IgnoresNear, &["near_terms_alone_make_a_hit_and_count_in_no_statistics"]).await;
}

/// Counts only what the filter lets through.
#[derive(Clone, Debug)]
struct CountsWhatIsShown;

#[async_trait]
impl Break for CountsWhatIsShown {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let mut found = inner.search(scope, query).await?;
        found.documents = found.hits.len() as u64;
        Ok(found)
    }
}

#[tokio::test]
async fn statistics_of_what_is_shown_are_caught() {
    let by = [
        "statistics_count_what_the_filter_hides",
        "statistics_are_whole_under_a_filter_that_lets_nothing_through",
        "statistics_do_not_depend_on_the_limit",
    ];
    caught(CountsWhatIsShown, &by).await;
}

/// Searches items of every unit.
#[derive(Clone, Debug)]
struct IgnoresUnits;

#[async_trait]
impl Break for IgnoresUnits {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let mut all = TextHits::default();
        for unit in [Unit::Message, Unit::Record, Unit::Span] {
            let found = inner.search(scope, &TextQuery { unit, ..query.clone() }).await?;
            let held = all.documents as f32 * all.mean_length + found.documents as f32 * found.mean_length;
            all.documents += found.documents;
            all.mean_length = held / all.documents.max(1) as f32;
            all.containing.resize(query.terms.len(), 0);
            all.containing.iter_mut().zip(found.containing).for_each(|(sum, count)| *sum += count);
            all.hits.extend(found.hits);
        }
        all.hits.truncate(query.limit);
        Ok(all)
    }
}

#[tokio::test]
async fn a_store_that_ignores_units_is_caught() {
    let by = ["units_are_searched_and_counted_apart", "an_empty_put_changes_nothing"];
    caught(IgnoresUnits, &by).await;
}

/// Orders hits again, and ties by the text of the item's key alone.
#[derive(Clone, Debug)]
struct TiesByKey;

#[async_trait]
impl Break for TiesByKey {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let all = TextQuery { limit: usize::MAX, ..query.clone() };
        let mut found = inner.search(scope, &all).await?;
        let weights = memory_core::rank::bm25f(&memory_core::rank::Bm25::default(), &found);
        let mut hits: Vec<_> = weights.into_iter().zip(found.hits).collect();
        hits.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.item.key().cmp(&y.item.key())));
        found.hits = hits.into_iter().map(|(_, hit)| hit).take(query.limit).collect();
        Ok(found)
    }
}

#[tokio::test]
async fn ties_in_another_order_are_caught() {
    let by = ["ties_stand_newest_first_then_by_item", "spans_that_tie_stand_by_number_and_not_by_its_digits"];
    caught(TiesByKey, &by).await;
}

/// Returns the worst hits first.
#[derive(Clone, Debug)]
struct WorstFirst;

#[async_trait]
impl Break for WorstFirst {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let mut found = inner.search(scope, query).await?;
        found.hits.reverse();
        Ok(found)
    }
}

#[tokio::test]
async fn hits_in_the_reverse_order_are_caught() {
    let by = ["more_of_a_rare_word_stands_before_less_of_it", "scores_fall_along_the_hits"];
    caught(WorstFirst, &by).await;
}

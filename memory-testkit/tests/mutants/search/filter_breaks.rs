//! Stores that read filters in their engine's way, caught by the comparison with brute force.

use async_trait::async_trait;
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::text::{TextHits, TextQuery, TextStore as _};
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::{Filter, Result, Scalar, Scope};

use super::{texts, vectors};

/// Rewrites every node of a filter.
#[derive(Clone, Copy, Debug)]
struct Rewrites(fn(Filter) -> Filter);

impl Rewrites {
    fn apply(self, filter: &Filter) -> Filter {
        let list = |list: &[Filter]| list.iter().map(|filter| self.apply(filter)).collect();
        (self.0)(match filter {
            Filter::And(filters) => Filter::And(list(filters)),
            Filter::Or(filters) => Filter::Or(list(filters)),
            Filter::Not(filter) => self.apply(filter).negate(),
            leaf => leaf.clone(),
        })
    }
}

#[async_trait]
impl texts::Break for Rewrites {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        inner.search(scope, &TextQuery { filter: self.apply(&query.filter), ..query.clone() }).await
    }
}

#[async_trait]
impl vectors::Break for Rewrites {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        inner.search(scope, &VectorQuery { filter: self.apply(&query.filter), ..query.clone() }).await
    }
}

async fn caught(rewrite: fn(Filter) -> Filter) {
    let by = ["s0_15_o10_random_filters_give_the_answer_of_brute_force"];
    texts::caught(Rewrites(rewrite), &by).await;
    vectors::caught(Rewrites(rewrite), &by).await;
}

#[tokio::test]
async fn ne_that_wants_the_field_to_be_there_is_caught() {
    caught(|filter| match filter {
        Filter::Ne(field, value) => Filter::Exists(field.clone()).and(Filter::Ne(field, value)),
        other => other,
    })
    .await;
}

#[tokio::test]
async fn not_in_three_valued_logic_is_caught() {
    caught(|filter| match filter {
        Filter::Not(inner) => match *inner {
            Filter::Eq(field, value) => Filter::Exists(field.clone()).and(Filter::Eq(field, value).negate()),
            other => other.negate(),
        },
        other => other,
    })
    .await;
}

#[tokio::test]
async fn a_range_that_includes_its_end_is_caught() {
    caught(|filter| match filter {
        Filter::Range { field, from, until: Some(Scalar::Int(until)) } => {
            Filter::Range { field, from, until: Some(Scalar::Int(until.saturating_add(1))) }
        }
        other => other,
    })
    .await;
}

#[tokio::test]
async fn a_range_that_leaves_out_its_beginning_is_caught() {
    caught(|filter| match filter {
        Filter::Range { field, from: Some(Scalar::Int(from)), until } => {
            Filter::Range { field, from: Some(Scalar::Int(from.saturating_add(1))), until }
        }
        other => other,
    })
    .await;
}

#[tokio::test]
async fn numbers_that_equal_texts_are_caught() {
    caught(|filter| match filter {
        Filter::Eq(field, Scalar::Int(number)) => {
            let values = [Scalar::Int(number), Scalar::float(number as f64), Scalar::Text(number.to_string())];
            Filter::In(field, values.to_vec())
        }
        other => other,
    })
    .await;
}

#[tokio::test]
async fn texts_compared_without_case_are_caught() {
    caught(|filter| match filter {
        Filter::Eq(field, Scalar::Text(text)) => {
            Filter::In(field, [text.to_lowercase(), text.to_uppercase(), text].map(Scalar::Text).to_vec())
        }
        other => other,
    })
    .await;
}

#[tokio::test]
async fn an_empty_list_that_matches_is_caught() {
    caught(|filter| match filter {
        Filter::In(_, values) if values.is_empty() => Filter::All,
        other => other,
    })
    .await;
    caught(|filter| match filter {
        Filter::Or(list) if list.is_empty() => Filter::All,
        other => other,
    })
    .await;
}

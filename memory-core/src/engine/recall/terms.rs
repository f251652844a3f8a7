//! The terms of a question that are searched for: all, or the rarest if there are more than a search takes.

use std::cmp::Reverse;

use futures_util::future::join_all;

use crate::engine::inner::Inner;
use crate::filter::Filter;
use crate::id::Unit;
use crate::scope::Scope;
use crate::store::text::{Term, TextHits, TextQuery};

use super::question::Search;
use super::stages::Stages;

/// How many terms are counted in one call, so that a pasted book keeps no store busy for long.
const COUNTED: usize = 1_024;

/// The terms of a question.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// The terms searched for, in the order of the question.
    pub(crate) sought: Vec<Term>,
    /// How many others were left out.
    pub(crate) left_out: usize,
    /// The words of the question that give the terms searched for, as they are written there.
    pub(crate) words: Vec<String>,
}

impl Inner {
    /// Returns the terms to search for.
    ///
    /// If there are too many, takes those that the fewest texts hold of the owner and of those who share; a term that no text holds
    /// finds nothing and comes last. If no index counts them, takes the longest, which are usually rare.
    pub(super) async fn terms(&self, scope: &Scope, search: &Search, stages: &Stages) -> Terms {
        let terms = self.analysis.query(&search.words);
        let of = |sought: Vec<Term>, left_out| {
            let words = self.analysis.typed(&search.words, &sought);
            Terms { sought, left_out, words }
        };
        let (all, most) = (terms.len(), self.limits.query_terms);
        if all <= most {
            return of(terms, 0);
        }
        let mut counts = Some(Vec::with_capacity(all));
        for some in terms.chunks(COUNTED) {
            let owners = std::iter::once(scope).chain(&search.sharing);
            let counted = join_all(owners.map(|owner| self.containing((owner, stages), search, some))).await;
            let counted = counted.into_iter().flatten().reduce(added);
            counts = counts.zip(counted).map(|(all, some)| [all, some].concat());
            if counts.is_none() {
                break;
            }
        }
        let sought = match counts {
            Some(counts) => best(terms, most, |place, _| {
                let count = counts.get(place).copied().unwrap_or(0);
                (count == 0, count)
            }),
            None => best(terms, most, |_, term| Reverse(term.as_str().len())),
        };
        let left_out = all - sought.len();
        of(sought, left_out)
    }

    /// Returns how many of the owner's texts hold each term; none if no index tells. The search itself reports why.
    async fn containing(
        &self,
        (scope, stages): (&Scope, &Stages),
        search: &Search,
        terms: &[Term],
    ) -> Option<Vec<u64>> {
        let of_unit = |unit| {
            // Statistics count what the filter hides. No hit is wanted, and one would have to be the best of all that match.
            let nothing = Filter::Or(Vec::new());
            let query = TextQuery { terms: terms.to_vec(), unit, filter: nothing, limit: 1 };
            self.text_leg(scope, query, search.searches(unit), stages)
        };
        let (messages, records) = tokio::join!(of_unit(Unit::Message), of_unit(Unit::Record));
        let (messages, records) = (messages.ok()?, records.ok()?);
        let count = |hits: &TextHits, place: usize| hits.containing.get(place).copied().unwrap_or(0);
        let sum = |place| count(&messages, place).saturating_add(count(&records, place));
        (messages.documents + records.documents > 0).then(|| (0..terms.len()).map(sum).collect())
    }
}

/// Returns the sums of two lists of counts.
fn added(one: Vec<u64>, other: Vec<u64>) -> Vec<u64> {
    one.into_iter().zip(other).map(|(one, other)| one.saturating_add(other)).collect()
}

/// Returns the `most` terms with the lowest keys, the first of equal ones, in their original order.
fn best<K: Ord>(terms: Vec<Term>, most: usize, key: impl Fn(usize, &Term) -> K) -> Vec<Term> {
    let mut ranked: Vec<(usize, Term)> = terms.into_iter().enumerate().collect();
    ranked.sort_by_key(|(place, term)| key(*place, term));
    ranked.truncate(most);
    ranked.sort_unstable_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, term)| term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_keys_are_kept_in_the_order_of_the_question() {
        let terms = |words: &str| words.split(' ').map(|word| Term::new(word).unwrap()).collect::<Vec<_>>();
        let longest = |words: &str, most| best(terms(words), most, |_, term| Reverse(term.as_str().len()));
        assert_eq!(longest("a ccc bb dddd ee", 3), terms("ccc bb dddd"));
        assert_eq!(longest("a b", 2), terms("a b"));
        assert_eq!(longest("a b", 0), []);
    }
}

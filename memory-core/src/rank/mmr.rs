//! Diversity: keeps near-duplicates of what was already chosen from being chosen next.

/// Returns the places of up to `limit` candidates in the order of maximal marginal relevance (Carbonell and Goldstein
/// 1998), chosen greedily: `lambda × relevance - (1 - lambda) × the greatest similarity to a candidate chosen before`.
///
/// `relevance` should lie in 0 to 1, as similarities do. With `lambda` 1 only relevance counts. Of equal candidates the earlier
/// one is taken. Calls `similarity` fewer than `limit × relevance.len()` times; NaN counts as 0.
#[doc(alias = "maximal_marginal_relevance")]
pub fn mmr(relevance: &[f32], similarity: impl Fn(usize, usize) -> f32, lambda: f32, limit: usize) -> Vec<usize> {
    let number = |value: f32| if value.is_nan() { 0.0 } else { value };
    let lambda = number(lambda).clamp(0.0, 1.0);
    let mut rest: Vec<Remaining> = relevance
        .iter()
        .enumerate()
        .map(|(place, relevance)| Remaining { place, relevance: number(*relevance), closest: None })
        .collect();
    let mut chosen = Vec::with_capacity(limit.min(rest.len()));
    while chosen.len() < limit {
        let Some(best) = best(&rest, lambda) else { break };
        let taken = rest.remove(best).place;
        chosen.push(taken);
        for candidate in &mut rest {
            let near = number(similarity(candidate.place, taken));
            candidate.closest = Some(candidate.closest.map_or(near, |closest| closest.max(near)));
        }
    }
    chosen
}

struct Remaining {
    place: usize,
    relevance: f32,
    /// The greatest similarity to a candidate chosen before.
    closest: Option<f32>,
}

fn best(rest: &[Remaining], lambda: f32) -> Option<usize> {
    let value = |it: &Remaining| lambda * it.relevance - (1.0 - lambda) * it.closest.unwrap_or(0.0);
    let mut best: Option<(usize, f32)> = None;
    for (index, candidate) in rest.iter().enumerate() {
        let value = value(candidate);
        if best.is_none_or(|(_, highest)| value > highest) {
            best = Some((index, value));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn o11_a_near_duplicate_of_the_best_is_not_second() {
        let similarity = |a: usize, b: usize| if (a, b) == (1, 0) || (a, b) == (0, 1) { 0.98 } else { 0.1 };
        assert_eq!(mmr(&[0.9, 0.89, 0.6], similarity, 0.5, 3), [0, 2, 1]);
        assert_eq!(mmr(&[0.9, 0.89, 0.6], similarity, 1.0, 3), [0, 1, 2]);
    }

    #[test]
    fn of_equal_candidates_the_earlier_is_chosen() {
        assert_eq!(mmr(&[0.5, 0.5, 0.5], |_, _| 0.0, 0.5, 2), [0, 1]);
    }

    proptest! {
        #[test]
        fn chooses_each_place_at_most_once_and_the_most_relevant_first(
            relevance in prop::collection::vec(any::<f32>(), 0..30), lambda in 0.1f32..=1.0, limit in 0usize..40
        ) {
            let chosen = mmr(&relevance, |a, b| if a % 3 == b % 3 { 0.9 } else { 0.0 }, lambda, limit);
            prop_assert_eq!(chosen.len(), limit.min(relevance.len()));
            let mut distinct = chosen.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), chosen.len());
            if let Some(first) = chosen.first() {
                let number = |value: f32| if value.is_nan() { 0.0 } else { lambda * value };
                prop_assert!(relevance.iter().all(|other| number(*other) <= number(relevance[*first])));
            }
        }
    }
}

//! How well ranked answers meet the evidence.

use serde::{Deserialize, Serialize};

/// The figures of a set of questions: the mean over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How many questions there are.
    pub questions: usize,
    /// R@10: how much of the evidence stands within the first 10.
    pub recall_at_10: f64,
    /// hit@5: whether any evidence stands within the first 5.
    pub hit_at_5: f64,
    /// MRR: 1 / the rank of the first evidence.
    pub mrr: f64,
}

impl Figures {
    /// Returns the figures of questions, each with what it found, best first, and its evidence; 0 without questions.
    pub fn of<T: PartialEq>(questions: &[(Vec<T>, Vec<T>)]) -> Self {
        let mean = |measure: &dyn Fn(&[T], &[T]) -> f64| {
            let sum: f64 = questions.iter().map(|(ranked, gold)| measure(ranked, gold)).sum();
            sum / questions.len().max(1) as f64
        };
        Self {
            questions: questions.len(),
            recall_at_10: mean(&|ranked, gold| recall(ranked, gold, 10)),
            hit_at_5: mean(&|ranked, gold| hit(ranked, gold, 5)),
            mrr: mean(&reciprocal_rank),
        }
    }
}

/// Returns R@k: the share of `gold` that stands within the first `k` of `ranked`; 0 without gold.
pub fn recall<T: PartialEq>(ranked: &[T], gold: &[T], k: usize) -> f64 {
    let found = gold.iter().filter(|gold| ranked.iter().take(k).any(|item| item == *gold)).count();
    found as f64 / gold.len().max(1) as f64
}

/// Returns hit@k: 1 if any of `gold` stands within the first `k` of `ranked`, else 0.
pub fn hit<T: PartialEq>(ranked: &[T], gold: &[T], k: usize) -> f64 {
    if ranked.iter().take(k).any(|item| gold.contains(item)) { 1.0 } else { 0.0 }
}

/// Returns 1 / the rank of the first of `gold` in `ranked`; 0 if there is none.
pub fn reciprocal_rank<T: PartialEq>(ranked: &[T], gold: &[T]) -> f64 {
    ranked.iter().position(|item| gold.contains(item)).map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_the_share_of_the_evidence_within_k() {
        let ranked = [7, 1, 8, 2, 9];
        assert_eq!(recall(&ranked, &[1, 2, 3, 4], 1), 0.0);
        assert_eq!(recall(&ranked, &[1, 2, 3, 4], 2), 0.25);
        assert_eq!(recall(&ranked, &[1, 2, 3, 4], 4), 0.5);
        assert_eq!(recall(&ranked, &[1, 2], 100), 1.0);
        assert_eq!(recall(&ranked, &[], 5), 0.0);
        assert_eq!(recall(&[], &[1], 5), 0.0);
    }

    #[test]
    fn one_piece_of_evidence_within_k_is_a_hit() {
        let ranked = [7, 1, 8, 2, 9];
        assert_eq!(hit(&ranked, &[2, 1], 1), 0.0);
        assert_eq!(hit(&ranked, &[2, 1], 2), 1.0);
        assert_eq!(hit(&ranked, &[2, 3], 3), 0.0);
        assert_eq!(hit(&ranked, &[2, 3], 4), 1.0);
        assert_eq!(hit(&ranked, &[], 5), 0.0);
    }

    #[test]
    fn the_reciprocal_rank_is_that_of_the_first_evidence() {
        let ranked = [7, 1, 8, 2, 9];
        assert_eq!(reciprocal_rank(&ranked, &[7]), 1.0);
        assert_eq!(reciprocal_rank(&ranked, &[9, 2]), 0.25);
        assert_eq!(reciprocal_rank(&ranked, &[3]), 0.0);
        assert_eq!(reciprocal_rank(&[], &[3]), 0.0);
    }

    #[test]
    fn figures_are_means_over_the_questions() {
        let late: Vec<u32> = (0..12).collect();
        let found = |gold: &[u32]| (late.clone(), gold.to_vec());
        // Ranks 1 and 11, rank 6, rank 12, none.
        let figures = Figures::of(&[found(&[0, 10]), found(&[5]), found(&[11]), found(&[99])]);
        assert_eq!(figures.questions, 4);
        assert_eq!(figures.recall_at_10, (0.5 + 1.0) / 4.0);
        assert_eq!(figures.hit_at_5, 1.0 / 4.0);
        assert_eq!(figures.mrr, (1.0 + 1.0 / 6.0 + 1.0 / 12.0) / 4.0);
        assert_eq!(Figures::of::<u32>(&[]), Figures::default());
    }
}

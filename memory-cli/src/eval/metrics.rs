//! Recall, hit rate and reciprocal rank of ranked answers.

use serde::Serialize;

/// The places, from 1, at which one question's evidence was found, ascending, and how much there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    /// The places.
    pub(crate) found: Vec<usize>,
    /// How many there are to be found.
    pub(crate) gold: usize,
}

/// Means over questions, in percent but for their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Scores {
    /// Questions.
    pub(crate) questions: usize,
    /// Share of the evidence in the first 5.
    pub(crate) recall_at_5: f64,
    /// Share of the evidence in the first 10.
    pub(crate) recall_at_10: f64,
    /// Share of the evidence in the first 20.
    pub(crate) recall_at_20: f64,
    /// Questions with evidence in the first place.
    pub(crate) hit_at_1: f64,
    /// Questions with any evidence in the first 5.
    pub(crate) hit_at_5: f64,
    /// Questions with any evidence in the first 20.
    pub(crate) hit_at_20: f64,
    /// Questions with all evidence in the first 5.
    pub(crate) all_at_5: f64,
    /// Discounted gain of the first 10, of the ideal.
    pub(crate) ndcg_at_10: f64,
    /// Reciprocal place of the first evidence.
    pub(crate) mrr: f64,
}

impl Ranks {
    fn within(&self, k: usize) -> usize {
        self.found.iter().filter(|place| **place <= k).count()
    }

    fn recall(&self, k: usize) -> f64 {
        self.within(k) as f64 / self.gold.max(1) as f64
    }

    fn hit(&self, k: usize) -> f64 {
        f64::from(u8::from(self.within(k) > 0))
    }

    fn all(&self, k: usize) -> f64 {
        f64::from(u8::from(self.within(k) == self.gold))
    }

    fn ndcg(&self, k: usize) -> f64 {
        let gain = |place: usize| 1.0 / (1.0 + place as f64).log2();
        let ideal: f64 = (1..=self.gold.min(k)).map(gain).sum();
        let found: f64 = self.found.iter().copied().filter(|place| *place <= k).map(gain).sum();
        if ideal > 0.0 { found / ideal } else { 0.0 }
    }

    fn reciprocal(&self) -> f64 {
        self.found.first().map_or(0.0, |place| 1.0 / *place as f64)
    }
}

impl Scores {
    /// Returns the means over `ranks`.
    pub(crate) fn of(ranks: &[&Ranks]) -> Self {
        let mean = |value: &dyn Fn(&Ranks) -> f64| {
            // The sum of nothing is -0.0, and so is that of many of them.
            let sum = ranks.iter().fold(0.0, |sum, ranks| sum + value(ranks));
            100.0 * sum / ranks.len().max(1) as f64
        };
        Self {
            questions: ranks.len(),
            recall_at_5: mean(&|ranks| ranks.recall(5)),
            recall_at_10: mean(&|ranks| ranks.recall(10)),
            recall_at_20: mean(&|ranks| ranks.recall(20)),
            hit_at_1: mean(&|ranks| ranks.hit(1)),
            hit_at_5: mean(&|ranks| ranks.hit(5)),
            hit_at_20: mean(&|ranks| ranks.hit(20)),
            all_at_5: mean(&|ranks| ranks.all(5)),
            ndcg_at_10: mean(&|ranks| ranks.ndcg(10)),
            mrr: mean(&Ranks::reciprocal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_those_of_the_field() {
        let both = Ranks { found: vec![2, 7], gold: 2 };
        let none = Ranks { found: vec![], gold: 1 };
        let scores = Scores::of(&[&both, &none]);
        assert_eq!((scores.recall_at_5, scores.recall_at_10, scores.hit_at_5), (25.0, 50.0, 50.0));
        assert_eq!((scores.all_at_5, scores.mrr, scores.questions), (0.0, 25.0, 2));
        let ideal = 1.0 + 1.0 / 3f64.log2();
        let found = 1.0 / 3f64.log2() + 1.0 / 8f64.log2();
        assert!((scores.ndcg_at_10 - 50.0 * found / ideal).abs() < 1e-9);
        assert_eq!(Scores::of(&[]).mrr, 0.0);
    }

    #[test]
    fn nothing_is_no_negative_zero() {
        let missed = Ranks { found: vec![], gold: 1 };
        for scores in [Scores::of(&[]), Scores::of(&[&missed, &missed])] {
            assert!(!serde_json::to_string(&scores).unwrap().contains("-0"), "{scores:?}");
        }
    }
}

use super::*;
use crate::id::MessageId;
use crate::rank::Candidate;

const HOUR: i64 = 3_600_000_000;

fn item(n: u8) -> ItemId {
    ItemId::Message(MessageId::of_content(&[n]))
}

/// Candidates as (number, hours of age before hour 100, score).
fn leg(kind: LegKind, found: &[(u8, i64, f32)]) -> (LegKind, Leg) {
    let candidate = |(n, age, score): &(u8, i64, f32)| Candidate {
        item: item(*n),
        at: Timestamp((100 - age) * HOUR),
        score: *score,
        importance: 0.0,
        decay: None,
    };
    let candidates = found.iter().map(candidate).collect();
    (kind, Leg { candidates, floor: 0.0, partition: 100, weight: 1.0 })
}

const NOW: Timestamp = Timestamp(100 * HOUR);

fn scores(ranking: Ranking, legs: &[(LegKind, Leg)]) -> Vec<(ItemId, f32)> {
    ranking.rank(legs.to_vec(), NOW).into_iter().map(|fused| (fused.item, fused.score)).collect()
}

#[test]
fn s0_9_muxi_is_the_weighted_sum_of_cosine_and_recency() {
    let legs = [leg(LegKind::Vector, &[(1, 9, 0.8), (2, 1, 0.3), (3, 5, -0.5)])];
    let found = scores(Ranking::muxi(0.3), &legs);
    let expected = [(1, 0.7 * 0.8 + 0.3 / 3.0), (2, 0.7 * 0.3 + 0.3), (3, 0.3 * 2.0 / 3.0)];
    for ((found, score), (n, wanted)) in found.iter().zip(expected) {
        assert_eq!(found, &item(n));
        assert!((score - wanted).abs() < 1e-6, "{score} {wanted}");
    }
}

#[test]
fn c1_the_newest_and_closest_beats_the_oldest_and_farthest() {
    let many: Vec<(u8, i64, f32)> = (0..100).map(|n| (n, i64::from(99 - n), if n == 99 { 0.8 } else { 0.3 })).collect();
    let found = Ranking::muxi(0.3).rank([leg(LegKind::Vector, &many)], NOW);
    assert_eq!(found[0].item, item(99));
    assert!((found[0].score - 0.86).abs() < 1e-6);
    assert_eq!(found[99].item, item(0));
}

#[test]
fn s0_10_similarity_is_linear_and_never_below_zero() {
    let score = |cosine: f32| scores(Ranking::muxi(0.0), &[leg(LegKind::Vector, &[(1, 0, cosine)])])[0].1;
    assert_eq!([-1.0, -0.2, 0.0, 0.25, 0.5, 1.0].map(score), [0.0, 0.0, 0.0, 0.25, 0.5, 1.0]);
}

#[test]
fn s3_13_kari_weighs_similarity_065_and_an_hour_of_age() {
    let legs = [leg(LegKind::Vector, &[(1, 1, 0.9), (2, 0, 0.5)])];
    let found = scores(Ranking::kari(), &legs);
    assert!((found[0].1 - (0.65 * 0.9 + 0.35 * (-1f32).exp())).abs() < 1e-6);
    assert!((found[1].1 - (0.65 * 0.5 + 0.35)).abs() < 1e-6);
    assert_eq!(Ranking::kari().candidates(5), 24);
    assert_eq!(Ranking::kari().candidates(50), 50);
}

#[test]
fn c32_one_recency_weight_and_a_converter_for_the_other_wording() {
    assert!((Ranking::recency_weight_of_alpha(0.65) - 0.35).abs() < 1e-6);
    assert_eq!(Ranking::recency_weight_of_alpha(f32::NAN), 1.0);
    assert_eq!(Ranking::muxi(7.0), Ranking::muxi(1.0));
}

#[test]
fn without_vectors_words_stand_in_for_similarity() {
    let legs = [leg(LegKind::Text, &[(1, 9, 8.0), (2, 1, 4.0)])];
    let found = scores(Ranking::muxi(0.3), &legs);
    assert_eq!(found[0].0, item(1));
    assert!((found[0].1 - (0.7 + 0.15)).abs() < 1e-6);
}

#[test]
fn words_alone_are_still_found_where_vectors_decide() {
    let legs = [leg(LegKind::Text, &[(3, 1, 8.0)]), leg(LegKind::Vector, &[(1, 9, 0.8), (2, 1, 0.4)])];
    for ranking in [Ranking::muxi(0.3), Ranking::kari(), Ranking::weighted(), Ranking::z_score(), Ranking::rrf()] {
        assert_eq!(ranking.rank(legs.clone(), NOW).len(), 3, "{ranking:?}");
    }
}

#[test]
fn the_default_ignores_age_except_between_equals() {
    let legs = |age| [leg(LegKind::Text, &[(1, age, 3.0), (2, 0, 1.0)]), leg(LegKind::Vector, &[(1, age, 0.9)])];
    assert_eq!(scores(Ranking::default(), &legs(0)), scores(Ranking::default(), &legs(90)));
    assert_eq!(Ranking::default().candidates(5), 100);
    assert_eq!([Ranking::default(), Ranking::muxi(0.3)].map(|ranking| ranking.candidates(50)), [500, 500]);
    let Ranking::Blend { recency_weight, recency, clips, .. } = Ranking::muxi(0.3) else { panic!("muxi blends") };
    let wide = Ranking::Blend { recency_weight, recency, clips, candidates: 400 };
    assert_eq!([5, 50].map(|limit| wide.candidates(limit)), [400, 500]);
}

#[test]
fn the_presets_have_the_documented_weights() {
    let legs = [leg(LegKind::Text, &[(1, 0, 8.0), (2, 0, 4.0)]), leg(LegKind::Vector, &[(2, 0, 0.5)])];
    let score = |ranking: Ranking, n: u8| scores(ranking, &legs).iter().find(|found| found.0 == item(n)).unwrap().1;
    assert_eq!([1, 2].map(|n| score(Ranking::min_max(), n)), [0.4, 0.4 * 0.5 + 0.6]);
    assert_eq!([1, 2].map(|n| score(Ranking::rrf(), n)), [1.0 / 11.0, 23.0 / 132.0]);
}

#[test]
fn a_ranking_tells_what_it_weighs() {
    let without = Ranking::Weighted {
        weights: Weights { text: 0.0, vector: 1.0 },
        recency_weight: 0.1,
        recency: Recency::Rank,
        importance_weight: 0.0,
    };
    let told = |ranking: Ranking| {
        let counts = [LegKind::Text, LegKind::Vector].map(|kind| ranking.counts(kind));
        (ranking.weighs_context(), ranking.weighs_importance(), counts)
    };
    assert_eq!(told(Ranking::z_score()), (true, false, [true, true]));
    assert_eq!(told(Ranking::kari()), (false, false, [true, true]));
    assert_eq!(told(Ranking::weighted()), (true, true, [true, true]));
    assert_eq!(told(without), (true, false, [false, true]));
}

#[test]
fn weighted_counts_importance() {
    let mut legs = [leg(LegKind::Vector, &[(1, 1, 0.8), (2, 1, 0.8)])];
    legs[0].1.candidates[1].importance = 1.0;
    let fused = Ranking::weighted().rank(legs, NOW);
    assert_eq!(fused[0].item, item(2));
    assert!((fused[0].bonus - fused[1].bonus - 0.1).abs() < 1e-6);
    assert!((fused[0].score - fused[0].legs[0].added - fused[0].bonus).abs() < 1e-6);
}

#[test]
fn c2_what_has_a_half_life_of_its_own_ages_by_it() {
    let recency = Recency::Age(Decay::SESSION);
    let ranking = Ranking::Blend { recency_weight: 1.0, recency, clips: true, candidates: 100 };
    let mut legs = [leg(LegKind::Vector, &[(1, 24, 0.5), (2, 24, 0.5)])];
    legs[0].1.candidates[1].decay = Some(Decay::WORKING);
    let found = scores(ranking, &legs);
    assert_eq!(found[0], (item(2), 0.5));
    assert!(found[1].1 < 1e-6, "{found:?}");
}

#[test]
fn the_largest_weights_are_allowed_and_give_finite_scores() {
    let legs = [leg(LegKind::Text, &[(1, 0, 9.0), (2, 1, 1.0)]), leg(LegKind::Vector, &[(2, 1, 0.9), (3, 2, 0.1)])];
    let (weights, recency) = (Weights { text: LARGEST, vector: LARGEST }, Recency::Rank);
    for ranking in [
        Ranking::ZScore(weights),
        Ranking::Rrf { k: 0.0, weights },
        Ranking::MinMax(weights),
        Ranking::Weighted { weights, recency_weight: LARGEST, recency, importance_weight: LARGEST },
    ] {
        assert!(ranking.check().is_ok(), "{ranking:?}");
        let found = scores(ranking, &legs);
        assert!(found.iter().all(|(_, score)| score.is_finite()), "{ranking:?}: {found:?}");
    }
}

#[test]
fn a_ranking_whose_scores_cannot_be_compared_is_refused() {
    let blend =
        |recency_weight| Ranking::Blend { recency_weight, recency: Recency::Rank, clips: false, candidates: 24 };
    for share in [0.0, 0.25, 1.0] {
        assert!(blend(share).check().is_ok(), "{share}");
    }
    let weighted = |weights, recency_weight, importance_weight| {
        let recency = Recency::Rank;
        Ranking::Weighted { weights, recency_weight, recency, importance_weight }
    };
    let one = Weights { text: 1.0, vector: 1.0 };
    let mut refused = vec![blend(1.5)];
    for number in [-0.1, LARGEST * 2.0, f32::NAN] {
        for weights in [Weights { text: number, ..one }, Weights { vector: number, ..one }] {
            refused.extend([Ranking::ZScore(weights), Ranking::MinMax(weights), Ranking::Rrf { k: 60.0, weights }]);
            refused.push(weighted(weights, 0.0, 0.0));
        }
        refused.extend([blend(number), Ranking::Rrf { k: number, weights: one }]);
        refused.extend([weighted(one, number, 0.0), weighted(one, 0.0, number)]);
    }
    for ranking in refused {
        assert!(matches!(ranking.check(), Err(Error::Invalid { .. })), "{ranking:?}");
    }
}

use proptest::prelude::*;

use super::*;
use crate::id::MessageId;

fn item(n: u8) -> ItemId {
    ItemId::Message(MessageId::of_content(&[n]))
}

fn candidate(n: u8, score: f32) -> Candidate {
    Candidate { item: item(n), at: Timestamp(i64::from(n)), score, importance: 0.0, decay: None }
}

fn leg(scores: &[(u8, f32)], floor: f32, partition: u64) -> Leg {
    let candidates = scores.iter().map(|(n, score)| candidate(*n, *score)).collect();
    Leg { candidates, floor, partition, weight: 1.0 }
}

fn order_of(fused: &[Fused]) -> Vec<ItemId> {
    fused.iter().map(|fused| fused.item.clone()).collect()
}

fn items(numbers: &[u8]) -> Vec<ItemId> {
    numbers.iter().map(|n| item(*n)).collect()
}

#[test]
fn o11_rank_two_in_two_lists_beats_rank_one_in_one() {
    let legs = [leg(&[(1, 9.0), (2, 8.0)], 0.0, 10), leg(&[(3, 0.9), (2, 0.8)], 0.1, 10)];
    let fused = rrf(&legs, 10.0);
    assert_eq!(fused[0].item, item(2));
    assert_eq!(fused[0].score, 2.0 / 12.0);
    assert_eq!(fused[1].score, 1.0 / 11.0);
    assert_eq!(order_of(&fused), items(&[2, 3, 1]), "equal scores: newer first");
    assert_eq!(fused[0].legs[1], Contribution { rank: Some(2), score: Some(0.8), added: 1.0 / 12.0 });
    assert_eq!(fused[1].legs[0], Contribution::default());
}

#[test]
fn o11_a_hit_by_words_alone_is_found() {
    let legs = [leg(&[(1, 5.0)], 0.0, 100), leg(&[(2, 0.9), (3, 0.5)], 0.5, 100)];
    for fused in [z_score(&legs), rrf(&legs, 10.0), min_max(&legs)] {
        assert!(order_of(&fused).contains(&item(1)));
        assert_eq!(fused.len(), 3);
    }
}

#[test]
fn standard_scores_are_those_of_the_padded_sample() {
    // One hit among 100: mean s/100, deviation s·sqrt(99)/100, so its standard score is sqrt(99) whatever s is.
    let fused = z_score(&[leg(&[(1, 7.0)], 0.0, 5_000)]);
    assert!((fused[0].score - 99f32.sqrt()).abs() < 1e-4, "{}", fused[0].score);
    // Two of two items: no padding.
    let fused = z_score(&[leg(&[(1, 3.0), (2, 1.0)], 0.0, 2)]);
    assert_eq!((fused[0].score, fused[1].score), (1.0, -1.0));
    // What the other leg did not find has the standard score of that leg's floor.
    let fused = z_score(&[leg(&[(1, 3.0)], 0.0, 4), leg(&[(2, 1.0)], 0.0, 4)]);
    let low = -(1.0f32 / 3.0).sqrt();
    assert!((fused[0].legs[0].added - low).abs() < 1e-6, "{:?}", fused[0].legs);
}

#[test]
fn lists_of_one_or_of_none_and_equal_scores_break_nothing() {
    let legs = [leg(&[(1, 0.3)], 0.3, 1), leg(&[], 0.0, 0), leg(&[(1, 0.1), (2, 0.1), (3, 0.1)], 0.1, 3)];
    for fused in [z_score(&legs), rrf(&legs, 10.0), min_max(&legs)] {
        assert_eq!(fused.len(), 3);
        assert!(fused.iter().all(|fused| fused.score.is_finite()));
    }
    assert!(z_score(&legs).iter().all(|fused| fused.score == 0.0));
    assert!(z_score(&[]).is_empty());
    assert_eq!(min_max(&legs[..1])[0].score, 1.0);
}

#[test]
fn equal_scores_are_ordered_by_importance_then_newer_then_item() {
    let mut leg = leg(&[(1, 1.0), (2, 1.0), (3, 1.0)], 0.0, 3);
    leg.candidates[0].importance = 0.9;
    leg.candidates[1].at = Timestamp(3);
    let mut same_time = items(&[2, 3]);
    same_time.sort();
    assert_eq!(order_of(&z_score(&[leg])), [items(&[1]), same_time].concat());
}

#[test]
fn the_better_score_of_an_item_given_twice_counts_and_wrong_numbers_are_the_floor() {
    let fused = rrf(&[leg(&[(1, 1.0), (2, 5.0), (1, 9.0), (3, f32::NAN), (4, f32::INFINITY)], 0.0, 9)], 10.0);
    assert_eq!(order_of(&fused), items(&[1, 2, 4, 3]));
    assert_eq!(fused[3].legs[0].score, Some(0.0));
}

fn legs() -> impl Strategy<Value = Vec<Leg>> {
    let scores = prop::collection::btree_map(0u8..60, 0u16..1_000, 0..40);
    let leg = (scores, 0u64..200, 1u8..5).prop_map(|(scores, partition, weight)| {
        let scores: Vec<(u8, f32)> = scores.into_iter().map(|(n, score)| (n, f32::from(score) / 8.0)).collect();
        Leg { weight: f32::from(weight) / 4.0, ..leg(&scores, 0.0, partition) }
    });
    prop::collection::vec(leg, 0..4)
}

type Fusion = fn(&[Leg]) -> Vec<Fused>;

const FUSIONS: [Fusion; 3] = [z_score, min_max, |legs| rrf(legs, 10.0)];

proptest! {
    #[test]
    fn every_item_of_every_leg_is_there_once_in_order(legs in legs()) {
        let mut all: Vec<ItemId> = legs.iter().flat_map(|leg| &leg.candidates).map(|it| it.item.clone()).collect();
        all.sort();
        all.dedup();
        for fusion in FUSIONS {
            let fused = fusion(&legs);
            prop_assert!(fused.is_sorted_by(|a, b| a.score >= b.score));
            let mut found = order_of(&fused);
            found.sort();
            prop_assert_eq!(&found, &all);
            for item in &fused {
                let added: f32 = item.legs.iter().map(|leg| leg.added).sum();
                prop_assert!((item.score - added).abs() <= 1e-3 * (1.0 + added.abs()));
            }
        }
    }

    #[test]
    fn o11_rescaling_a_leg_changes_no_order(legs in legs(), scaled in 0usize..4, power in -6i32..7) {
        let mut other = legs.clone();
        if let Some(leg) = other.get_mut(scaled) {
            leg.floor *= 2f32.powi(power);
            leg.candidates.iter_mut().for_each(|candidate| candidate.score *= 2f32.powi(power));
        }
        for fusion in FUSIONS {
            prop_assert_eq!(order_of(&fusion(&legs)), order_of(&fusion(&other)));
        }
    }

    #[test]
    fn o11_shifting_a_leg_changes_no_score(
        legs in legs(), shifted in 0usize..4, power in -6i32..7, by in -8_000i16..8_000,
    ) {
        let mut other = legs.clone();
        if let Some(leg) = other.get_mut(shifted) {
            // The numbers are such that this is exact.
            let moved = |score: f32| score * 2f32.powi(power) + f32::from(by) / 8.0;
            leg.floor = moved(leg.floor);
            leg.candidates.iter_mut().for_each(|candidate| candidate.score = moved(candidate.score));
        }
        for fusion in FUSIONS {
            let (before, after) = (fusion(&legs), fusion(&other));
            let scores: HashMap<&ItemId, f32> = after.iter().map(|fused| (&fused.item, fused.score)).collect();
            prop_assert_eq!(scores.len(), before.len());
            for fused in &before {
                // The mean of larger numbers is rounded elsewhere, so what scores alike but for that may change places.
                let score = scores[&fused.item];
                prop_assert!((score - fused.score).abs() < 1e-4, "{fused:?} became {score}");
            }
        }
    }

    #[test]
    fn the_order_of_what_comes_in_changes_nothing(legs in legs()) {
        let mut other = legs.clone();
        other.iter_mut().for_each(|leg| leg.candidates.reverse());
        for fusion in FUSIONS {
            prop_assert_eq!(fusion(&legs), fusion(&other));
        }
    }

    #[test]
    fn no_standard_score_is_further_from_zero_than_one_of_a_hundred_values_can_be(
        legs in legs(), common in 0u16..2_000, more in 0u8..150,
    ) {
        let mut legs = legs;
        // Everything matches alike, but for a little: the floor is far below all of it.
        for leg in &mut legs {
            let again = (100..100 + more).map(|n| candidate(n, f32::from(n % 3) / 8.0));
            leg.candidates.extend(again);
            leg.candidates.iter_mut().for_each(|candidate| candidate.score += f32::from(common));
        }
        for fused in z_score(&legs) {
            for (leg, contribution) in legs.iter().zip(&fused.legs) {
                let furthest = if contribution.rank.is_some_and(|rank| rank > SAMPLE) { 10.051 } else { 9.951 };
                prop_assert!(contribution.added.abs() <= leg.weight * furthest, "{contribution:?}");
            }
        }
    }
}

#[test]
fn a_leg_of_almost_equal_scores_does_not_silence_the_others() {
    // All that the words find, they find alike; only the meaning tells items apart, and it knows one more.
    for hits in [2u8, 100, 150] {
        let words: Vec<_> = (0..hits).map(|n| (n, if n == 0 { 42.5 } else { 42.375 })).collect();
        let meaning = [(200, 0.9), (0, 0.2), (1, 0.1)];
        let fused = z_score(&[leg(&words, 0.0, u64::from(hits)), leg(&meaning, 0.0, 1_000)]);
        let other = fused.iter().find(|fused| fused.item == item(200)).unwrap();
        assert!(other.legs[0].added >= -9.951, "{hits}: {other:?}");
        let last = fused.iter().filter(|fused| fused.legs[0].rank.is_some()).map(|fused| fused.legs[0].added);
        assert!(last.fold(f32::MAX, f32::min) >= other.legs[0].added, "{hits}: found, and below what was not");
    }
}

#[test]
fn asking_for_more_changes_no_score_of_the_first_and_keeps_the_order_of_the_others() {
    let fused = |count: u8| {
        let words: Vec<_> = (0..count).map(|n| (n, 300.0 - f32::from(n))).collect();
        // In the other leg everything stands the other way round.
        let meaning: Vec<_> = (0..count).map(|n| (249 - n, 0.9 - f32::from(n) / 512.0)).collect();
        z_score(&[leg(&words, 0.0, 1_000), leg(&meaning, 0.9 - 99.0 / 512.0, 1_000)])
    };
    let (few, many) = (fused(100), fused(250));
    for (item, score) in few.iter().map(|fused| (&fused.item, fused.score)) {
        let again = many.iter().find(|fused| fused.item == *item).unwrap().score;
        assert!((again - score).abs() < 0.1, "{score} became {again}");
    }
    let words: Vec<_> = (0..250).map(|n| (n, 300.0 - f32::from(n))).collect();
    let alone: Vec<u8> = (0..250).collect();
    assert_eq!(order_of(&z_score(&[leg(&words, 0.0, 1_000)])), items(&alone));
}

/// 100 candidates with the mean `middle` and the deviation `deviation`, and after them one for each score of `others`.
fn hundred_and(middle: f32, deviation: f32, others: &[f32]) -> Vec<(u8, f32)> {
    let best = (0..100).map(|n| (n, if n % 2 == 0 { middle + deviation } else { middle - deviation }));
    best.chain((100..).zip(others.iter().copied())).collect()
}

fn added_to(n: u8, fused: &[Fused]) -> f32 {
    fused.iter().find(|fused| fused.item == item(n)).unwrap().legs[0].added
}

#[test]
fn after_the_best_hundred_a_hundredth_of_the_distance_from_the_floor_counts() {
    let close = |got: f32, want: f32| assert!((got - want).abs() < 1e-5, "{got} is not {want}");
    // The floor is 1.375 deviations below the mean, and the next score a quarter of a deviation above the floor.
    let fused = z_score(&[leg(&hundred_and(3.0, 2.0, &[0.75]), 0.25, 1_000)]);
    close(added_to(100, &fused), -1.375 + 0.0025);
    // Where the distances are larger than any standard score, the largest is a hundredth of the largest standard score.
    let fused = z_score(&[leg(&hundred_and(100.0, 0.5, &[99.0, 49.5]), 0.0, 1_000)]);
    let furthest = 99f32.sqrt();
    close(added_to(100, &fused), -furthest + furthest / 100.0);
    close(added_to(101, &fused), -furthest + furthest / 200.0);
}

#[test]
fn scores_are_scaled_from_the_lowest_or_from_the_floor_where_not_all_was_found() {
    let added = |partition: u64| {
        let fused = min_max(&[leg(&[(1, 5.0), (2, 3.0), (3, 1.0)], 0.0, partition)]);
        [1, 2, 3].map(|n| added_to(n, &fused))
    };
    assert_eq!(added(3), [1.0, 0.5, 0.0]);
    assert_eq!(added(4), [1.0, 3.0 / 5.0, 1.0 / 5.0]);
}

#[test]
fn a_leg_that_found_nothing_adds_nothing_however_far_its_floor() {
    let fused = z_score(&[leg(&[], f32::INFINITY, 5), leg(&[(1, 2.0), (2, 1.0)], 0.0, 2)]);
    assert_eq!(fused.iter().map(|fused| fused.score).collect::<Vec<_>>(), [1.0, -1.0]);
}

#[test]
fn both_zeros_are_one_score() {
    assert_eq!(order_of(&rrf(&[leg(&[(1, 0.0), (2, -0.0)], 0.0, 2)], 10.0)), items(&[2, 1]), "newer first");
}

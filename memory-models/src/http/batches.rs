//! Texts put together into requests.

/// Returns batches of at most `texts` texts and `tokens` tokens, in order. A text of more tokens is a batch of its own.
///
/// `sizes` are the tokens of the texts; a batch is a range of their places.
pub(super) fn batches(sizes: &[u64], texts: usize, tokens: u64) -> Vec<std::ops::Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0_u64);
    for (place, size) in sizes.iter().enumerate() {
        let is_full = place - start >= texts.max(1) || sum.saturating_add(*size) > tokens;
        if is_full && place > start {
            batches.push(start..place);
            (start, sum) = (place, 0);
        }
        sum = sum.saturating_add(*size);
    }
    if start < sizes.len() {
        batches.push(start..sizes.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_batch_ends_where_one_more_would_be_too_much() {
        assert_eq!(batches(&[3, 3, 3, 9, 1], 10, 6), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(batches(&[1; 5], 2, 100), [0..2, 2..4, 4..5]);
        assert!(batches(&[], 2, 100).is_empty());
    }

    proptest! {
        #[test]
        fn batches_hold_all_texts_in_order_and_keep_their_bounds(
            sizes in prop::collection::vec(0..50_u64, 0..60), texts in 0..8_usize, tokens in 0..100_u64
        ) {
            let batches = batches(&sizes, texts, tokens);
            let places: Vec<usize> = batches.iter().cloned().flatten().collect();
            prop_assert_eq!(places, (0..sizes.len()).collect::<Vec<_>>());
            for batch in batches {
                let sum: u64 = sizes[batch.clone()].iter().sum();
                prop_assert!(!batch.is_empty() && batch.len() <= texts.max(1));
                prop_assert!(sum <= tokens || batch.len() == 1);
            }
        }
    }
}

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn entry(tokens: u64) -> Entry {
    Entry::new("a note", &HeuristicCounter).with_tokens(tokens)
}

fn filled(capacity: u64, tokens: &[u64]) -> RingBuffer {
    let mut buffer = RingBuffer::new(capacity).unwrap();
    tokens.iter().for_each(|tokens| _ = buffer.push(entry(*tokens)).unwrap());
    buffer
}

fn numbers<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<u64> {
    entries.into_iter().map(Entry::number).collect()
}

#[test]
fn s4_1_s4_12_a_buffer_of_1000_tokens_tells_its_figures() {
    let buffer = filled(1_000, &[100, 200, 300]);
    let expected =
        MemoryStats { total_entries: 3, total_tokens: 600, summarization_count: 0, eviction_count: 0, capacity: 1_000 };
    assert_eq!((buffer.stats(), buffer.capacity(), buffer.len()), (expected, 1_000, 3));
}

#[test]
fn s4_1_a_buffer_of_no_tokens_is_refused() {
    assert!(matches!(RingBuffer::new(0), Err(Error::Invalid { .. })));
    assert!(RingBuffer::new(1).is_ok());
}

#[test]
fn s4_2_the_oldest_leave_first_and_are_handed_back() {
    let mut buffer = filled(10, &[4, 4]);
    let pushed = buffer.push(entry(7)).unwrap();
    assert_eq!((pushed.number, numbers(&pushed.evicted), pushed.oversize), (3, vec![1, 2], None));
    assert_eq!((buffer.len(), buffer.stats().total_tokens, buffer.stats().eviction_count), (1, 7, 2));
}

#[test]
fn s4_2_an_entry_larger_than_the_buffer_follows_the_policy() {
    let mut buffer = filled(100, &[40, 40]);
    let before = buffer.stats();
    let long = Entry::new("many words ".repeat(200), &HeuristicCounter);
    let found = buffer.push(long.clone());
    assert!(matches!(found, Err(Error::OverBudget { need, budget: 100 }) if need == long.tokens()));
    assert_eq!(buffer.stats(), before);

    let mut keeping = filled(100, &[40, 40]).with_oversize(Oversize::Keep);
    let pushed = keeping.push(long.clone()).unwrap();
    assert_eq!((numbers(&pushed.evicted), pushed.oversize), (vec![1, 2], Some(Oversize::Keep)));
    assert_eq!(keeping.iter().map(Entry::content).collect::<Vec<_>>(), [long.content()]);

    let mut cutting = filled(100, &[40, 40]).with_oversize(Oversize::TruncateMiddle);
    let pushed = cutting.push(long).unwrap();
    assert_eq!(pushed.oversize, Some(Oversize::TruncateMiddle));
    let kept = cutting.iter().next_back().unwrap();
    assert!(kept.tokens() <= 100 && kept.content().starts_with("many words") && kept.content().contains("cut …]"));
}

#[test]
fn s4_3_a_summary_is_due_at_the_threshold() {
    let sizes = [[10; 7].as_slice(), &[9]].concat();
    assert!(!filled(100, &sizes).needs_summary());
    assert!(filled(100, &[10; 8]).needs_summary());
    assert!(filled(100, &sizes).with_threshold(0.75).needs_summary());
    assert!(!filled(100, &[24; 4]).needs_summary());
}

#[test]
fn s4_4_a_summary_replaces_the_oldest_and_leaves_four_verbatim() {
    let mut buffer = filled(100, &[10, 11, 12, 13, 14, 15]);
    assert_eq!(numbers(buffer.to_summarize()), [1, 2]);
    let replaced = buffer.summarize(entry(5)).unwrap();
    assert_eq!(numbers(&replaced), [1, 2]);
    assert_eq!(buffer.iter().map(Entry::tokens).collect::<Vec<_>>(), [5, 12, 13, 14, 15]);
    assert_eq!(numbers(buffer.iter()), [2, 3, 4, 5, 6]);
    assert_eq!((buffer.stats().summarization_count, buffer.stats().total_tokens), (1, 59));
}

#[test]
fn s4_4_an_extract_is_shorter_keeps_numbers_and_leaves_four_verbatim() {
    let note = |number: u64| {
        let aside = "which the depot had sent back before anybody looked at it again, ".repeat(4);
        format!("Looked at a part of the log. It held order {number}, {aside}and was closed. Nothing else was wrong.")
    };
    let mut buffer = RingBuffer::new(100_000).unwrap();
    let push = |buffer: &mut RingBuffer, number| {
        let entry = Entry::new(note(number), &HeuristicCounter);
        assert!(buffer.push(entry).unwrap().evicted.is_empty());
    };
    (1001..=1010).for_each(|number| push(&mut buffer, number));
    // The second time the summary of the first is among what is summarised.
    for (last, verbatim) in [(1006, 1007..=1010), (1008, 1009..=1012)] {
        let replaced = buffer.summarize_extractively(200).unwrap();
        let mut entries = buffer.iter();
        let summary = entries.next().unwrap();
        assert!(summary.tokens() <= 200 && summary.tokens() < replaced.iter().map(Entry::tokens).sum::<u64>());
        assert_eq!(summary.tokens(), HeuristicCounter.count_text(summary.content()));
        for number in 1001..=last {
            assert!(summary.content().contains(&number.to_string()), "{number} in {}", summary.content());
        }
        assert!(!summary.content().contains("the depot"), "{}", summary.content());
        assert_eq!(summary.number(), last - 1000);
        assert_eq!(entries.map(Entry::content).collect::<Vec<_>>(), verbatim.map(note).collect::<Vec<_>>());
        (last + 5..=last + 6).for_each(|number| push(&mut buffer, number));
    }
    assert_eq!(buffer.stats().summarization_count, 2);
}

#[test]
fn s4_4_an_extract_without_room_or_entries_changes_nothing() {
    let mut buffer = RingBuffer::new(10_000).unwrap();
    assert!(matches!(buffer.summarize_extractively(100), Err(Error::Conflict)));
    for number in 0..6 {
        _ = buffer.push(Entry::new(format!("Looked at shard {number}."), &HeuristicCounter)).unwrap();
    }
    let before = buffer.stats();
    assert!(matches!(buffer.summarize_extractively(1), Err(Error::OverBudget { budget: 1, .. })));
    assert!(matches!(buffer.summarize_extractively(1_000), Err(Error::Invalid { .. })), "it is no shorter");
    assert_eq!(buffer.stats(), before);
}

#[test]
fn s4_4_bad_and_late_summaries_change_nothing() {
    let mut buffer = filled(100, &[10, 10, 10, 10, 10]);
    let before = buffer.stats();
    assert!(matches!(buffer.summarize(entry(10)), Err(Error::Invalid { .. })));
    assert!(matches!(buffer.summarize(Entry::new(" ", &HeuristicCounter)), Err(Error::Invalid { .. })));
    assert!(matches!(buffer.summarize_through(2, entry(1)), Err(Error::Conflict)));
    assert!(matches!(filled(100, &[10; 4]).summarize(entry(1)), Err(Error::Conflict)));
    assert_eq!(buffer.stats(), before);
    // Entry 1 has left meanwhile: its summary comes too late.
    _ = buffer.push(entry(60)).unwrap();
    assert!(matches!(buffer.summarize_through(1, entry(1)), Err(Error::Conflict)));
}

#[test]
fn s4_5_entries_are_counted_unless_the_caller_says_otherwise() {
    assert_eq!(Entry::new("hello world", &HeuristicCounter).tokens(), HeuristicCounter.count_text("hello world"));
    assert_eq!(Entry::new("hello world", &HeuristicCounter).with_tokens(2).tokens(), 2);
}

#[test]
fn c37_counts_do_not_overflow() {
    let mut buffer = filled(u64::MAX, &[u64::MAX - 1, 1]);
    assert_eq!(buffer.stats().total_tokens, u64::MAX);
    assert_eq!(numbers(&buffer.push(entry(u64::MAX)).unwrap().evicted), [1, 2]);
}

proptest! {
    #[test]
    fn s4_2_pushes_keep_the_cap_the_order_and_every_entry(sizes in vec(0..30_u64, 0..40), capacity in 30..90_u64) {
        let mut buffer = RingBuffer::new(capacity).unwrap();
        let mut gone = Vec::new();
        for size in &sizes {
            gone.extend(buffer.push(entry(*size)).unwrap().evicted);
            prop_assert!(buffer.stats().total_tokens <= capacity);
            prop_assert_eq!(buffer.stats().total_tokens, buffer.iter().map(Entry::tokens).sum::<u64>());
        }
        let seen: Vec<_> = gone.iter().chain(buffer.iter()).map(Entry::tokens).collect();
        prop_assert_eq!(seen, sizes);
        prop_assert_eq!(buffer.stats().eviction_count, gone.len() as u64);
    }
}

#[test]
fn s4_2_a_buffer_too_small_for_the_mark_of_a_cut_takes_nothing() {
    let mut buffer = RingBuffer::new(2).unwrap().with_oversize(Oversize::TruncateMiddle);
    let found = buffer.push(Entry::new("many words ".repeat(200), &HeuristicCounter));
    assert!(matches!(found, Err(Error::OverBudget { budget: 2, .. })), "{found:?}");
    assert!(buffer.is_empty());
    _ = buffer.push(entry(2)).unwrap();
    assert!(!buffer.is_empty());
}

use super::*;
use crate::rank::Recency;

/// What a preset shows and keeps, and how much newness counts.
fn preset(config: BufferConfig) -> (Option<u64>, Option<u64>, f32) {
    let Ranking::Blend { recency_weight, recency: Recency::Rank, .. } = config.ranking else {
        panic!("another ranking: {config:?}");
    };
    (config.window_messages, config.capacity_messages, recency_weight)
}

#[test]
fn the_presets_show_keep_and_weigh_what_they_say() {
    assert_eq!(preset(BufferConfig::balanced()), (Some(10), Some(100), 0.3));
    assert_eq!(preset(BufferConfig::high_recall()), (Some(15), Some(300), 0.1));
    assert_eq!(preset(BufferConfig::conversational()), (Some(10), Some(50), 0.6));
}

#[test]
fn a_setting_changes_itself_alone() {
    let default = BufferConfig::default();
    let set = default
        .with_window_messages(5)
        .with_capacity_messages(50)
        .with_summarize_after(40)
        .with_limit(8_000)
        .with_folding(Folding::Archive)
        .with_shares(0.9, 0.6)
        .with_adaptive_threshold()
        .with_keep_turns(6)
        .with_max_summaries(40, 5)
        .with_summary_tokens(256)
        .with_oversize(Oversize::Keep)
        .with_stable_prefix()
        .with_ranking(Ranking::rrf());
    let expected = BufferConfig {
        window_messages: Some(5),
        capacity_messages: Some(50),
        summarize_after: Some(40),
        limit: Some(8_000),
        folding: Folding::Archive,
        high: 0.9,
        low: 0.6,
        is_adaptive: true,
        keep_turns: 6,
        max_summaries: 40,
        merge: 5,
        summary_tokens: 256,
        oversize: Oversize::Keep,
        is_stable: true,
        ranking: Ranking::rrf(),
        ..default
    };
    assert_eq!(set, expected);
    let clamped = default.with_shares(7.0, 3.0).with_max_summaries(40, 0);
    assert_eq!((clamped.high, clamped.low, clamped.merge), (1.0, 1.0, 2));
    let ordered = default.with_shares(0.5, 0.75);
    assert_eq!((ordered.high, ordered.low), (0.5, 0.5));
}

#[test]
fn shares_that_are_no_numbers_are_refused() {
    for (high, low) in [(f64::NAN, 0.5), (0.8, f64::NAN), (f64::NAN, f64::NAN)] {
        let refused = BufferConfig::default().with_shares(high, low).check();
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{high} {low}: {refused:?}");
    }
    let kept = BufferConfig::default().with_shares(f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!((kept.check().is_ok(), kept.high, kept.low), (true, 1.0, 0.0));
}

#[test]
fn shares_that_were_set_as_fields_are_checked_too() {
    let default = BufferConfig::default();
    for share in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        for config in [
            BufferConfig { high: share, ..default },
            BufferConfig { low: share, ..default },
            BufferConfig { summary_share: share, ..default },
        ] {
            assert!(matches!(config.check(), Err(Error::Invalid { .. })), "{config:?}");
        }
    }
    let above = BufferConfig { low: 0.9, ..default }.check().unwrap_err().to_string();
    assert!(above.contains("folding that begins at 0.8 of the limit cannot end at 0.9 of it"), "{above}");
    for (high, low, summary_share) in [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.8, 0.8, 0.25)] {
        assert!(BufferConfig { high, low, summary_share, ..default }.check().is_ok(), "{high} {low} {summary_share}");
    }
}

#[test]
fn settings_that_cannot_be_kept_are_refused() {
    let with = |window, capacity, limit, is_stable| {
        let default = BufferConfig::default();
        BufferConfig { window_messages: window, capacity_messages: capacity, limit, is_stable, ..default }
    };
    for kept in [
        with(None, None, None, false),
        with(None, None, None, true),
        with(Some(1), Some(1), Some(1), false),
        with(Some(5), None, Some(9), false),
        with(Some(5), Some(9), None, false),
        with(None, Some(9), None, true),
    ] {
        assert!(kept.check().is_ok(), "{kept:?}");
    }
    let refused = [
        (with(Some(0), None, None, false), "the window of a buffer is at least 1"),
        (with(None, Some(0), None, false), "the capacity of a buffer is at least 1"),
        (with(Some(5), Some(0), None, false), "the capacity of a buffer is at least 1"),
        (with(None, None, Some(0), false), "the limit of a buffer is at least 1"),
        (BufferConfig::default().with_summarize_after(0), "the number of messages of a buffer is at least 1"),
        (BufferConfig::default().with_max_summaries(0, 2), "the number of summaries of a buffer is at least 1"),
        (with(Some(6), Some(5), None, false), "a window of 6 messages is above the capacity of 5"),
        (with(Some(5), Some(9), None, true), "a window of 5 messages moves with each message"),
    ];
    for (config, why) in refused {
        let found = config.check().unwrap_err().to_string();
        assert!(found.contains(why), "{found}, not {why}");
    }
    let five = BufferConfig::default().with_window_messages(5);
    assert!(five.with_summarize_after(5).check().is_ok());
    for after in [0, 4] {
        assert!(matches!(five.with_summarize_after(after).check(), Err(Error::Invalid { .. })), "{after}");
    }
}

#[test]
fn the_limit_is_the_set_one_or_the_largest_that_was_asked_for() {
    let default = BufferConfig::default();
    assert_eq!([0, 30_000, 50_000].map(|asked| default.limit_beside(asked)), [30_000, 30_000, 50_000]);
    assert_eq!(default.with_limit(8_000).limit_beside(50_000), 8_000);
}

#[test]
fn folding_begins_and_ends_at_shares_that_the_largest_turn_moves() {
    let (fixed, adaptive) = (BufferConfig::default(), BufferConfig::default().with_adaptive_threshold());
    assert_eq!((fixed.earliest(), adaptive.earliest()), (0.8, 0.5));
    let shares = |config: BufferConfig, largest| (config.threshold(largest, 1_000), config.end(largest, 1_000));
    assert_eq!(shares(fixed, 400), (0.8, 0.5));
    let is = |found: (f64, f64), wanted: (f64, f64)| {
        assert!((found.0 - wanted.0).abs() < 1e-9 && (found.1 - wanted.1).abs() < 1e-9, "{found:?}, not {wanted:?}");
    };
    for (largest, wanted) in [(0, (0.9, 0.5)), (200, (0.8, 0.5)), (400, (0.6, 0.4)), (900, (0.5, 0.3))] {
        is(shares(adaptive, largest), wanted);
    }
}

#[test]
fn a_summary_has_a_quarter_of_what_it_stands_for_at_least_32_and_always_less() {
    let config = BufferConfig::default();
    let found = [10_000, 400, 100, 20, 0].map(|tokens| config.bound(tokens));
    assert_eq!(found, [512, 100, 32, 19, 0]);
    assert_eq!(config.with_folding(Folding::Archive).bound(400), 0);
}

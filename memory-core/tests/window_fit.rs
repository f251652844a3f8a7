//! What `fit` promises, over generated histories: 100,000 of them, or as many as `MEMORY_CASES` says.

#[cfg(test)]
#[path = "window/histories.rs"]
mod histories;
#[cfg(test)]
#[path = "window/oracle.rs"]
mod oracle;

use histories::{Histories, NoCounter, cases, rows_of};
use memory_core::window::{Budget, FitOptions, Fitted, Oversize, fit};
use memory_core::{Error, StoredMessage};
use oracle::Kind;

/// Runs `test` over generated histories; a failing one is named by its seed.
fn for_histories(test: impl Fn(&mut Histories, &[StoredMessage])) {
    for seed in 0..cases() {
        let mut histories = Histories::new(seed);
        let rows = histories.history();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&mut histories, &rows)));
        assert!(
            run.is_ok(),
            "seed {seed}: {:?}",
            rows.iter().map(|row| (Kind::of(row), row.tokens)).collect::<Vec<_>>()
        );
    }
}

fn keeping(options: FitOptions) -> FitOptions {
    options.with_oversize(Oversize::Keep)
}

fn fit_of(rows: &[StoredMessage], budget: &Budget, options: &FitOptions) -> Result<Fitted, Error> {
    fit(rows, budget, options, &NoCounter)
}

fn ids<'a>(rows: impl IntoIterator<Item = &'a StoredMessage>) -> Vec<u128> {
    rows.into_iter().map(|row| row.id.0.as_u128()).collect()
}

#[test]
fn s2_3_o3_the_fit_is_what_brute_force_over_all_starts_finds() {
    for_histories(|histories, rows| {
        let (budget, options) = (histories.budget(), histories.options());
        let expected = oracle::best(rows, &budget, options.keep_unfinished);
        match (fit_of(rows, &budget, &options), expected) {
            (Ok(fitted), oracle::Best::Fits(indices)) => {
                assert_eq!(ids(fitted.rows(rows)), ids(&rows_of(rows, &indices)));
                let tokens: u128 = fitted.rows(rows).map(|row| u128::from(row.tokens)).sum();
                assert_eq!(u128::from(fitted.tokens), tokens);
                assert!(tokens + u128::from(budget.reserve) <= u128::from(budget.limit));
            }
            (Err(Error::OverBudget { need, budget: limit }), oracle::Best::Over { need: expected, .. }) => {
                assert_eq!((need, limit), (expected, budget.limit));
                assert!(need > limit || need == u64::MAX);
            }
            (found, expected) => panic!("{found:?} for {expected:?}"),
        }
    });
}

#[test]
fn s2_4_o4_no_context_has_a_wrong_start_or_a_broken_group() {
    for_histories(|histories, rows| {
        let (budget, options) = (histories.budget(), keeping(histories.options()));
        let Ok(fitted) = fit_of(rows, &budget, &options) else { return };
        let kinds: Vec<_> = fitted.rows(rows).map(Kind::of).collect();
        assert!(kinds[..fitted.instructions].iter().all(|kind| *kind == Kind::Instruction));
        let rest = &kinds[fitted.instructions..];
        assert!(!rest.contains(&Kind::Instruction));
        let first = rest.iter().find(|kind| **kind != Kind::Summary);
        assert!(first.is_none_or(|kind| *kind == Kind::User), "{kinds:?}");
        oracle::check_groups(rest, options.keep_unfinished);
    });
}

#[test]
fn s2_4_o4_instructions_are_all_kept_and_order_is_never_changed() {
    for_histories(|histories, rows| {
        let Ok(fitted) = fit_of(rows, &histories.budget(), &keeping(histories.options())) else { return };
        let instructions: Vec<_> =
            rows.iter().filter(|row| Kind::of(row) == Kind::Instruction).map(|row| row.id).collect();
        let shown: Vec<_> = fitted.rows(rows).collect();
        let (head, rest) = shown.split_at(fitted.instructions);
        assert_eq!(head.iter().map(|row| row.id).collect::<Vec<_>>(), instructions);
        assert!(rest.is_sorted_by(|a, b| a.id < b.id));
        assert!(shown.iter().all(|row| rows.contains(row)));
        let active = rows.iter().filter(|row| row.is_active()).count();
        assert_eq!(fitted.dropped, active - shown.len());
        assert_eq!(
            fitted.dropped > 0,
            fitted.events.iter().any(|event| !matches!(event, memory_core::window::FitEvent::Kept { .. }))
        );
    });
}

#[test]
fn s2_3_o4_fitting_twice_changes_nothing() {
    for_histories(|histories, rows| {
        let (budget, options) = (histories.budget(), keeping(histories.options()));
        let Ok(once) = fit_of(rows, &budget, &options) else { return };
        let shown: Vec<StoredMessage> = once.rows(rows).cloned().collect();
        let twice = fit_of(&shown, &budget, &options).unwrap();
        assert!(twice.rows(&shown).eq(&shown));
        assert_eq!((twice.tokens, twice.dropped), (once.tokens, 0));
    });
}

#[test]
fn s2_3_o4_a_larger_budget_never_gives_a_shorter_tail() {
    for_histories(|histories, rows| {
        let options = keeping(histories.options());
        let (one, two) = (histories.budget().limit, histories.budget().limit);
        let of = |limit: u64| ids(fit_of(rows, &Budget::new(limit), &options).unwrap().rows(rows));
        let (small, large) = (of(one.min(two)), of(one.max(two)));
        assert!(small.iter().all(|id| large.contains(id)), "{small:?} of {one}, {large:?} of {two}");
    });
}

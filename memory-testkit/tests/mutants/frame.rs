//! What all tests of broken stores share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use memory_testkit::{Opener, Scenario, Setting, Subject, Verdict, run_table};

/// Returns the opener of stores that live in the process: opened twice by one name, it is the same store.
fn shared<S: Subject>(make: impl Fn(Setting) -> S + Send + Sync + 'static) -> Opener<S> {
    let stores = Mutex::new(BTreeMap::new());
    Arc::new(move |setting: Setting| {
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let store: &mut S = stores.entry(setting.name.clone()).or_insert_with(|| make(setting));
        let store = store.clone();
        Box::pin(async { Ok(store) })
    })
}

/// Checks that each of the scenarios `by` fails on the stores that `make` makes.
///
/// That they pass on stores that are not broken is what `tests/reference.rs` checks.
pub(crate) async fn caught<S: Subject>(
    table: &[Scenario<S>],
    by: &[&str],
    make: impl Fn(Setting) -> S + Send + Sync + 'static,
) {
    let outcomes = run_table("mutant", table, by, shared(make)).await;
    assert_eq!(outcomes.len(), by.len(), "there are no such scenarios: {by:?}");
    for outcome in outcomes {
        // A hang or a broken opener would fail every scenario; a broken promise is found at a line.
        let is_caught = matches!(&outcome.verdict, Verdict::Failed(why) if why.contains(".rs:"));
        assert!(is_caught, "{} does not catch it: {:?}", outcome.name, outcome.verdict);
    }
}

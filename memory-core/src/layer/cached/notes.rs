//! Failures of a cache, collected for the receipt. They do not affect the answer of the store.

use std::cell::RefCell;
use std::future::Future;

use crate::error::Error;

tokio::task_local! {
    static NOTED: RefCell<Vec<Error>>;
}

/// Runs `call` and returns its answer with the failures of caches meanwhile, each text once.
pub(crate) async fn noting<F: Future>(call: F) -> (F::Output, Vec<Error>) {
    let noted = async {
        let answer = call.await;
        (answer, NOTED.with(RefCell::take))
    };
    NOTED.scope(RefCell::default(), noted).await
}

pub(super) fn note(error: Error) {
    tracing::debug!(%error, "answered without the cache");
    let text = error.to_string();
    // Outside of `noting`, only the log gets the failure.
    let _ = NOTED.try_with(|noted| {
        let mut noted = noted.borrow_mut();
        if noted.iter().all(|other| other.to_string() != text) {
            noted.push(error);
        }
    });
}

//! Asking the file for the present state of an owner's index.

use std::sync::Arc;

use futures_util::FutureExt as _;
use memory_core::{Result, Scope};
use tokio::task;

use super::Owner;
use super::stamp::Stamp;
use crate::client::Sqlite;

/// Returns the present state of the owner's entries in the index called `name`; none if it has none.
pub(crate) async fn now(file: &Sqlite, doing: &'static str, scope: &Scope, name: &Arc<str>) -> Result<Option<Stamp>> {
    let key = (task::try_id(), scope.clone(), Arc::clone(name));
    let question = file.questions().join(key, || {
        let (file, scope, name) = (file.clone(), scope.clone(), Arc::clone(name));
        let ask = async move {
            // Each statement is a transaction of its own. The second one looks for damage, which no sound state of the file has.
            let work = file
                .read(doing, move |connection| Box::pin(async move { Owner::find(connection, &scope, &name).await }));
            Ok(work.await?.map(|owner| Stamp::of(&owner)))
        };
        ask.boxed().shared()
    });
    // The parts of one search ask at the same time; here the others join.
    task::yield_now().await;
    // Callers that come later may know of writes that the answer does not show.
    question.close();
    question.answer.clone().await
}

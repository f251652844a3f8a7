//! What truth does not hold is deleted from the indexes.

use std::sync::PoisonError;

use futures_util::future::join_all;

use crate::engine::inner::Inner;
use crate::error::Error;
use crate::id::ItemId;
use crate::scope::Scope;
use crate::store::text::Deletion;

use super::report::UpkeepReport;

/// Searches whose findings wait for upkeep at the most; what later ones find is left to the next search.
const SEARCHES: usize = 10_000;

impl Inner {
    /// Notes items that an index named and truth does not hold, for upkeep to delete.
    pub(crate) fn note_absent(&self, scope: &Scope, items: Vec<ItemId>) {
        if items.is_empty() || self.only_reads {
            return;
        }
        tracing::warn!(items = items.len(), "indexes named items that truth does not hold");
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        if absent.len() < SEARCHES {
            absent.push((scope.clone(), items));
            self.changed.notify_one();
        }
    }

    /// Deletes from the indexes what searches found there and truth still does not hold.
    pub(crate) async fn clean(&self, report: &mut UpkeepReport) {
        let absent = std::mem::take(&mut *self.absent.lock().unwrap_or_else(PoisonError::into_inner));
        for (scope, items) in absent {
            let (deleted, failures) = self.delete_absent(&scope, &items).await;
            failures.iter().for_each(|(_, error)| report.fail(error));
            report.cleaned += deleted;
        }
    }

    /// Deletes those of the items from every index that truth does not hold. Returns how many were there, and the failures.
    ///
    /// The versions that are deleted are read before truth is asked: what is stored under such an id later is newer, and
    /// stays, however late a deletion comes.
    pub(crate) async fn delete_absent(&self, scope: &Scope, items: &[ItemId]) -> (usize, Vec<(&'static str, Error)>) {
        let versions = self.indexes.iter().map(|index| async { (index.part(), index.versions(scope, items).await) });
        let (mut stored, mut failures) = (Vec::new(), Vec::new());
        for (part, versions) in join_all(versions).await {
            match versions {
                Ok(versions) => stored.extend(versions),
                Err(error) => failures.push((part, error)),
            }
        }
        let absent = self.absent(scope, stored).await.unwrap_or_else(|failure| {
            failures.push(failure);
            Vec::new()
        });
        let count = absent.len();
        if count > 0 {
            failures.extend(self.delete_everywhere(scope, &Deletion::Items(absent)).await);
        }
        (count, failures)
    }

    /// Deletes from every index at once and returns the failures.
    pub(crate) async fn delete_everywhere(&self, scope: &Scope, what: &Deletion) -> Vec<(&'static str, Error)> {
        let deletions = self.indexes.iter().map(|index| async { (index.part(), index.delete(scope, what).await) });
        join_all(deletions).await.into_iter().filter_map(|(part, deleted)| Some((part, deleted.err()?))).collect()
    }
}

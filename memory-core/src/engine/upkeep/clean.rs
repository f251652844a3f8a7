//! Cleaning: deletes from the indexes what truth does not hold.

use futures_util::future::join_all;

use crate::engine::inner::Inner;
use crate::error::Error;
use crate::id::ItemId;
use crate::scope::Scope;
use crate::store::text::Deletion;

use super::report::UpkeepReport;

/// How many searches may leave findings for upkeep. Findings of further ones are dropped; a later search renews them.
const SEARCHES: usize = 10_000;

impl Inner {
    /// Notes items that an index named and truth does not hold, for upkeep to delete.
    pub(crate) fn note_absent(&self, scope: &Scope, items: Vec<ItemId>) {
        if items.is_empty() || self.only_reads {
            return;
        }
        tracing::warn!(items = items.len(), "indexes named items that truth does not hold");
        let mut absent = self.absent.lock();
        if absent.len() < SEARCHES {
            absent.push((scope.clone(), items));
            self.changed.notify_one();
        }
    }

    /// Deletes from the indexes what searches found there, if truth still does not hold it.
    pub(crate) async fn clean(&self, report: &mut UpkeepReport) {
        let absent = std::mem::take(&mut *self.absent.lock());
        for (scope, items) in absent {
            let (deleted, failures) = self.delete_absent(&scope, &items).await;
            failures.iter().for_each(|(_, error)| report.fail(error));
            report.cleaned += deleted;
        }
    }

    /// Deletes the items that truth does not hold from every index. Returns how many entries were there, and the failures.
    ///
    /// The versions to delete are read before truth is. What is stored under the same id later has a newer version and stays,
    /// however late the deletion arrives.
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

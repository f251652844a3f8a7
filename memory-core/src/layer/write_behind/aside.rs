//! What was set aside: messages that the primary refused for good.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Result;
use crate::id::SessionId;
use crate::scope::Scope;
use crate::store::chat::{Fence, Page};
use crate::store::journal::{Queued, Rejection};

use super::shared::Shared;

impl Shared {
    /// Returns up to `limit` messages that were set aside, of one owner or of all. Those whose session or owner was erased since are
    /// removed first: another process may have erased them, which knows nothing of this journal.
    ///
    /// # Errors
    /// That of the primary, if it does not tell how the sessions are.
    pub(super) async fn refused(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>> {
        let mut refused = self.journal.rejected(scope, usize::MAX).await?;
        let mut fences: BTreeMap<(Scope, SessionId), Fence> = BTreeMap::new();
        for Rejection { queued, .. } in &refused {
            if let Entry::Vacant(unknown) = fences.entry((queued.scope.clone(), queued.session.clone())) {
                let slice = self.inner.read(&queued.scope, &queued.session, &Page::newest(0)).await?;
                unknown.insert(slice.state.fence);
            }
        }
        let is_erased = |rejection: &Rejection| {
            let Queued { scope, session, fence, .. } = &rejection.queued;
            let now = fences.get(&(scope.clone(), session.clone()));
            now.zip(fence.as_ref()).is_some_and(|(now, fence)| fence < now)
        };
        let erased: Vec<u64> =
            refused.iter().filter(|refused| is_erased(refused)).map(|refused| refused.queued.number).collect();
        if !erased.is_empty() {
            self.journal.discard(&erased).await?;
        }
        refused.retain(|rejection| !erased.contains(&rejection.queued.number));
        refused.truncate(limit);
        Ok(refused)
    }

    /// Removes what was set aside of a session, if its fence is known and `is_older`.
    pub(super) async fn discard_older(
        &self,
        scope: &Scope,
        session: &SessionId,
        is_older: impl Fn(Fence) -> bool + Send,
    ) -> Result<()> {
        let refused = self.journal.rejected(Some(scope), usize::MAX).await?.into_iter().map(|refused| refused.queued);
        let meant = refused.filter(|queued| queued.session == *session && queued.fence.is_some_and(&is_older));
        let numbers: Vec<u64> = meant.map(|queued| queued.number).collect();
        self.journal.discard(&numbers).await.map(drop)
    }
}

//! Conversations behind a layer that answers without its primary: no page is whole.

use std::sync::Arc;

use memory_core::methods::*;
use memory_core::reference::MemChat;
use memory_testkit::broken_store;

memory_core::store_methods!(Store, ChatStore => broken_store { Arc<MemChat> {} });

/// Shows nothing of what is stored, and says that this is not all.
#[derive(Debug)]
struct Partial;

#[async_trait]
impl Break for Partial {
    async fn read(&self, inner: &Arc<MemChat>, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let slice = inner.read(scope, session, page).await?;
        Ok(Slice { messages: Vec::new(), complete: false, ..slice })
    }

    async fn get(&self, _: &Arc<MemChat>, _: &Scope, _: &[MessageId]) -> Result<FoundMessages> {
        Ok(FoundMessages { complete: false, ..FoundMessages::of([]) })
    }
}

/// Puts the layer before `inner`.
pub(crate) fn partial(inner: Arc<MemChat>) -> Arc<dyn ChatStore> {
    Arc::new(Mutant { inner, broken: Partial })
}

//! An index whose store may be lost with all its data. An empty one replaces it.

use std::sync::{Arc, Mutex, PoisonError};

use memory_core::methods::*;

/// An index whose store can be replaced, as when its data is lost. It keeps its name.
#[derive(Debug)]
pub(super) struct ReplaceableStore<S: ?Sized> {
    /// The first one, which is asked for its name.
    named: Arc<S>,
    held: Mutex<Arc<S>>,
}

impl<S: ?Sized> ReplaceableStore<S> {
    pub(super) fn new(store: Arc<S>) -> Arc<Self> {
        Arc::new(Self { named: Arc::clone(&store), held: Mutex::new(store) })
    }

    pub(super) fn replace(&self, store: Arc<S>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = store;
    }

    fn held(&self) -> Arc<S> {
        Arc::clone(&self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

macro_rules! placed {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for ReplaceableStore<S> {
            $(fn $plain(&self) -> $given {
                self.named.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.held().$method($($argument),*).await
            })*
        }
    )+};
}

memory_core::store_methods!(Store, TextStore, VectorStore => placed {});

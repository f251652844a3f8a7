//! Truth stores behind a cache: reads by id ask it first, changes invalidate it.
//!
//! An append changes no item that can have been cached, so it goes straight to truth.

use std::sync::Arc;

use crate::methods::*;

use super::item::Item;
use super::shelf::Shelf;

/// A truth store whose items of one kind are cached.
#[derive(Debug)]
pub(super) struct Cached<S: ?Sized, I: Item> {
    inner: Arc<S>,
    shelf: Shelf<I>,
}

impl<S: ?Sized, I: Item> Cached<S, I> {
    pub(super) fn new(inner: Arc<S>, shelf: Shelf<I>) -> Self {
        Self { inner, shelf }
    }
}

#[async_trait]
impl<S: Store + ?Sized, I: Item> Store for Cached<S, I> {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn ping(&self) -> Result<Health> {
        self.inner.ping().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.shelf.change(scope, self.inner.erase(scope, below)).await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

impl Cached<dyn ChatStore, StoredMessage> {
    async fn look_up(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let looked = self.shelf.look(scope, ids).await;
        let mut found = FoundMessages::of([]);
        if !looked.missing.is_empty() {
            found = self.inner.get(scope, &looked.missing).await?;
        }
        found.messages = self.shelf.keep(scope, ids, looked, found.messages).await;
        Ok(found)
    }
}

impl Cached<dyn RecordStore, StoredRecord> {
    async fn look_up(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let looked = self.shelf.look(scope, ids).await;
        let mut read = Vec::new();
        if !looked.missing.is_empty() {
            read = self.inner.get(scope, &looked.missing).await?;
        }
        Ok(self.shelf.keep(scope, ids, looked, read).await)
    }
}

/// Looks items up by id, hands other reads and appends on, and takes every other call for a change.
macro_rules! cached {
    ({ $item:ident } $trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    }) => {
        #[async_trait]
        impl $trait for Cached<dyn $trait, $item> {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                cached!(@ $trait self $method $($argument)*)
            })*
        }
    };
    (@ $trait:ident $self:ident get $scope:ident $ids:ident) => { $self.look_up($scope, $ids).await };
    (@ ChatStore $self:ident append $($argument:ident)*) => { $self.inner.append($($argument),*).await };
    (@ ChatStore $self:ident read $($argument:ident)*) => { $self.inner.read($($argument),*).await };
    (@ ChatStore $self:ident sessions $($argument:ident)*) => { $self.inner.sessions($($argument),*).await };
    (@ RecordStore $self:ident scan $($argument:ident)*) => { $self.inner.scan($($argument),*).await };
    (@ RecordStore $self:ident newest $($argument:ident)*) => { $self.inner.newest($($argument),*).await };
    (@ RecordStore $self:ident fence $($argument:ident)*) => { $self.inner.fence($($argument),*).await };
    // `advance` is taken for a change too, although it changes no item: whoever calls it is about to look for what is left, and what
    // another call deleted meanwhile, for which nobody waited, is not to be served after that look.
    (@ $trait:ident $self:ident $method:ident $scope:ident $($argument:ident)*) => {
        $self.shelf.change($scope, $self.inner.$method($scope, $($argument),*)).await
    };
}

crate::store_methods!(ChatStore => cached { StoredMessage });
crate::store_methods!(RecordStore => cached { StoredRecord });

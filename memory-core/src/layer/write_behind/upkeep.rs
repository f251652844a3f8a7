//! The upkeep of conversations behind a journal: that of the primary. An erasure is known here at once.

use std::sync::Arc;

use crate::methods::*;

use super::shared::Shared;

/// The upkeep of the layer.
#[derive(Debug)]
pub(super) struct BehindUpkeep {
    inner: Arc<dyn Upkeep>,
    shared: Arc<Shared>,
}

impl BehindUpkeep {
    pub(super) fn new(inner: Arc<dyn Upkeep>, shared: Arc<Shared>) -> Self {
        Self { inner, shared }
    }

    /// Notes the epoch of an owner that was erased.
    fn heard(&self, scope: &Scope, epoch: Epoch) -> Epoch {
        self.shared.queue.lock().bury(scope, epoch);
        epoch
    }
}

/// Hands the calls of an upkeep on.
macro_rules! handed_on {
    ({} Store { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    } Upkeep {} calls {
        $($upkeep_kind:ident $upkeep_doing:literal $upkeep:ident($($given_to:ident: $of:ty),*) -> $back:ty;)*
    }) => {
        #[async_trait]
        impl Store for BehindUpkeep {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                handed_on!(@ self $method $($argument)*)
            })*
        }
        #[async_trait]
        impl Upkeep for BehindUpkeep {
            $(async fn $upkeep(&self, $($given_to: $of),*) -> Result<$back> {
                handed_on!(@ self $upkeep $($given_to)*)
            })*
        }
    };
    (@ $self:ident ping) => {
        Ok($self.shared.health($self.inner.ping().await?))
    };
    (@ $self:ident bury $scope:ident $seen:ident) => {
        Ok($self.heard($scope, $self.inner.bury($scope, $seen).await?))
    };
    (@ $self:ident $upkeep:ident $($given_to:ident)*) => {
        $self.inner.$upkeep($($given_to),*).await
    };
}

crate::store_methods!(Store, Upkeep => handed_on {});

//! A record store that holds nothing, for a truth of conversations alone.

use crate::error::Error;
use crate::methods::*;
use crate::store::ErasureLevel;
use crate::store::truth::Truth;

/// Holds no records: reads find nothing, and a put is `Unsupported`. Its epochs are those of the conversations.
#[derive(Debug)]
pub(crate) struct NoRecords {
    chat: Truth<dyn ChatStore>,
}

impl NoRecords {
    pub(crate) fn beside(chat: Truth<dyn ChatStore>) -> Self {
        Self { chat }
    }

    /// Takes what is nothing, and no records.
    fn take<T: Default>(&self, is_nothing: bool) -> Result<T> {
        let refusal = || Error::Unsupported { backend: self.backend(), what: "hold records".to_owned() };
        is_nothing.then(T::default).ok_or_else(refusal)
    }
}

#[async_trait]
impl Store for NoRecords {
    fn backend(&self) -> &'static str {
        self.chat.store().backend()
    }

    async fn ping(&self) -> Result<Health> {
        Ok(Health::new("none: conversations alone", "", Durability::Volatile))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, _: &Scope, _: Epoch) -> Result<Erased> {
        Ok(Erased { removed: 0, remaining: 0, level: ErasureLevel::Purged })
    }
}

/// Answers that there is nothing, where no other answer is said.
macro_rules! nothing {
    ({} $($trait:ident {} calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl $trait for NoRecords {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                nothing!(@ self $method $($argument)*)
            })*
        }
    )+};
    (@ $self:ident put $scope:ident $batch:ident) => {{
        let _ = $scope;
        $self.take($batch.puts.is_empty())
    }};
    (@ $self:ident restore $scope:ident $seen:ident $rows:ident) => {{
        let _ = ($scope, $seen);
        $self.take($rows.is_empty())
    }};
    (@ $self:ident enlist $($argument:ident)*) => {{
        let _ = ($($argument),*);
        Ok(true)
    }};
    (@ $self:ident bury $scope:ident $seen:ident) => {{
        let _ = $seen;
        $self.epoch($scope).await
    }};
    (@ $self:ident epoch $scope:ident) => {
        $self.chat.upkeep().epoch($scope).await
    };
    (@ $self:ident $method:ident $($argument:ident)*) => {{
        $(let _ = $argument;)*
        Ok(Default::default())
    }};
}

crate::store_methods!(RecordStore, Upkeep => nothing {});

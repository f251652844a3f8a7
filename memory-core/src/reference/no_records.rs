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

    /// Returns nothing, if that is the answer; else the refusal to hold records.
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

/// Answers that there is nothing, where no other answer is said. A method that is not named is refused: it may store something.
macro_rules! nothing {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl $trait for NoRecords {
            $(fn $plain(&self) -> $given {
                Durability::Volatile
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                nothing!(@ $trait self $method $($argument)*)
            })*
        }
    )+};
    (@ RecordStore $self:ident put $scope:ident $batch:ident) => {{
        let _ = $scope;
        $self.take($batch.puts.is_empty())
    }};
    (@ RecordStore $self:ident restore $scope:ident $seen:ident $rows:ident) => {{
        let _ = ($scope, $seen);
        $self.take($rows.is_empty())
    }};
    (@ Upkeep $self:ident enlist $($argument:ident)*) => {{
        let _ = ($($argument),*);
        Ok(true)
    }};
    (@ Upkeep $self:ident bury $scope:ident $seen:ident) => {{
        let _ = $seen;
        $self.epoch($scope).await
    }};
    (@ Upkeep $self:ident epoch $scope:ident) => {
        $self.chat.upkeep().epoch($scope).await
    };
    (@ $trait:ident $self:ident $method:ident $($argument:ident)*) => {{
        $(let _ = $argument;)*
        $self.take(matches!(
            (stringify!($trait), stringify!($method)),
            ("RecordStore", "get" | "scan" | "newest" | "touch" | "fence" | "advance" | "delete")
                | ("Upkeep", "doubt" | "indexes" | "retire" | "revive" | "pending" | "settle")
                | ("Upkeep", "backlog" | "backlog_of" | "sweep" | "owners")
        ))
    }};
}

crate::store_methods!(RecordStore, Upkeep => nothing {});

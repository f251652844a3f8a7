//! Taps around stores of every trait.

use memory_core::methods::*;

use super::Tapped;

/// An answer of a store, as rows are counted.
pub(super) trait Answer {
    /// Returns how many rows were found.
    fn rows(&self) -> usize;
}

impl<T> Answer for Vec<T> {
    fn rows(&self) -> usize {
        self.len()
    }
}

impl<T> Answer for Option<T> {
    fn rows(&self) -> usize {
        usize::from(self.is_some())
    }
}

impl Answer for Slice {
    fn rows(&self) -> usize {
        self.messages.len()
    }
}

impl Answer for Found {
    fn rows(&self) -> usize {
        self.messages.len()
    }
}

impl Answer for TextHits {
    fn rows(&self) -> usize {
        self.hits.len()
    }
}

macro_rules! without_rows {
    ($($answer:ty)*) => {$(
        impl Answer for $answer {
            fn rows(&self) -> usize {
                0
            }
        }
    )*};
}

without_rows! { () bool u64 Appended Backlog BlackboardStats Epoch Erased Fence Health Incarnation SessionState }

macro_rules! tapped {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for Tapped<S> {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.run(stringify!($method), self.inner.$method($($argument),*)).await
            })*
        }
    )+};
}

memory_core::store_methods!(
    Store, ChatStore, RecordStore, Upkeep, TextStore, VectorStore, Cache, Blackboard, Journal => tapped {}
);

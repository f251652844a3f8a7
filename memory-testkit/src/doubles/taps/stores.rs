//! Taps around stores of every trait.

use memory_core::methods::*;

use super::Tapped;

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

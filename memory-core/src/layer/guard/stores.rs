//! The store traits behind a guard, generated from the table of methods.

use crate::methods::*;

use super::Guarded;
use super::policy::Call;

/// Expands to the owner of a call: its argument `scope`. Each argument is passed twice, once to compare and once to use.
macro_rules! owner {
    (scope $scope:ident $($rest:ident)*) => {
        Some($scope)
    };
    ($($rest:ident)*) => {
        None
    };
}

/// Makes a call in the way that the table says.
macro_rules! ask {
    (unguarded $doing:literal $guard:expr, $owner:expr, $call:expr) => {
        $call.await
    };
    ($kind:ident $doing:literal $guard:expr, $owner:expr, $call:expr) => {
        $guard.call($owner, Call::$kind($doing), || $call).await
    };
}

macro_rules! guarded {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for Guarded<S> {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                ask!($kind $doing self.guard, owner!($($argument $argument)*), self.inner.$method($($argument),*))
            })*
        }
    )+};
}

crate::store_methods!(
    Store, ChatStore, RecordStore, Upkeep, TextStore, VectorStore, Cache, Blackboard => guarded {}
);

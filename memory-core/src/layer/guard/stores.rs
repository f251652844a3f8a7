//! The store traits behind a guard, made from the table of methods.

use crate::methods::*;

use super::Guarded;
use super::policy::Call;

/// The owner of a call, which is its argument `scope`: each argument is named twice, to be compared and to be used.
macro_rules! owner {
    (scope $scope:ident $($rest:ident)*) => {
        Some($scope)
    };
    ($($rest:ident)*) => {
        None
    };
}

/// Makes a call as the table says how.
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

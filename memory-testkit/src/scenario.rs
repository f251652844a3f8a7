//! Scenarios: each is an async function that tests one promise. The macro `scenarios!` lists those of a file.

use crate::bed::Bed;
use crate::boxed::Boxed;
use crate::check::Scene;

/// What a scenario needs beyond an open store. Where that is missing, the scenario is reported as ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// A store that keeps its data when it is closed and opened again: any durability but `Volatile`.
    Durability,
}

/// A test of one promise. Its name states the promise.
pub struct Scenario<S> {
    /// The name of the function.
    pub name: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// The function that tests the promise.
    pub run: fn(Bed<S>) -> Boxed<'static, Scene>,
}

impl<S> Clone for Scenario<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Scenario<S> {}

/// Makes the table of a file's scenarios: each is a private `async fn(Bed<S>) -> Scene` and is named here once.
///
/// One that is not named is dead code, and a table that no group contains is too: both fail the build.
///
/// `scenarios!(TABLE: Chat = [one, another]);`, for scenarios that need something
/// `scenarios!(TABLE: Chat, Needs::Durability = [one, another]);`, and for generic ones
/// `scenarios!(CHAT: Chat, RECORDS: Records = [one, another]);`.
#[macro_export]
macro_rules! scenarios {
    ($table:ident: $store:ty = $names:tt) => {
        $crate::scenarios!($table: $store, $crate::Needs::Nothing = $names);
    };
    ($table:ident: $store:ty, $other:ident: $another:ty = $names:tt) => {
        $crate::scenarios!($table: $store = $names);
        $crate::scenarios!($other: $another = $names);
    };
    ($table:ident: $store:ty, $needs:path = [$($name:ident),* $(,)?]) => {
        pub(super) const $table: &[$crate::Scenario<$store>] = &[$($crate::Scenario {
            name: stringify!($name),
            needs: $needs,
            run: |bed| Box::pin($name(bed)),
        }),*];
    };
}

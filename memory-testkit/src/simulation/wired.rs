//! A store behind the wire.

use std::sync::Arc;

use memory_core::methods::*;

use super::wire::{Call, Caller, Wire};

/// A store as one process reaches it.
pub(super) struct WiredStore<S: ?Sized> {
    pub(super) inner: Arc<S>,
    pub(super) part: &'static str,
    pub(super) caller: Caller,
    pub(super) wire: Arc<Wire>,
}

impl<S: ?Sized> std::fmt::Debug for WiredStore<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WiredStore({})", self.part)
    }
}

// A call may be carried out when its caller has gone, so it owns what it was given: what is lent (`r`), what may be lent
// (`o`), what is copied (`c`), and a list of lent texts (`k`).
macro_rules! own {
    (r $name:ident) => {
        $name.to_owned()
    };
    (o $name:ident) => {
        $name.cloned()
    };
    (c $name:ident) => {
        $name
    };
    (k $name:ident) => {
        $name.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>()
    };
}

macro_rules! again {
    (c $name:ident) => {
        $name
    };
    ($kind:ident $name:ident) => {
        $name.clone()
    };
}

macro_rules! lend {
    (r $name:ident) => {
        &$name
    };
    (o $name:ident) => {
        $name.as_ref()
    };
    (c $name:ident) => {
        $name
    };
    (k $name:ident) => {
        &$name.iter().map(String::as_str).collect::<Vec<&str>>()
    };
}

// Tells the kinds of the arguments, one after the other, then makes the call.
macro_rules! send {
    ($far:ident $method:ident [$($told:tt)*] $name:ident: &[&str] $(, $($rest:tt)*)?) => {
        send!($far $method [$($told)* k $name] $($($rest)*)?)
    };
    ($far:ident $method:ident [$($told:tt)*] $name:ident: &$type:ty $(, $($rest:tt)*)?) => {
        send!($far $method [$($told)* r $name] $($($rest)*)?)
    };
    ($far:ident $method:ident [$($told:tt)*] $name:ident: Option<&$type:ty> $(, $($rest:tt)*)?) => {
        send!($far $method [$($told)* o $name] $($($rest)*)?)
    };
    ($far:ident $method:ident [$($told:tt)*] $name:ident: $type:ty $(, $($rest:tt)*)?) => {
        send!($far $method [$($told)* c $name] $($($rest)*)?)
    };
    ($far:ident $method:ident [$($kind:ident $name:ident)*]) => {{
        $(let $name = own!($kind $name);)*
        let told = ($(again!($kind $name),)*);
        let inner = Arc::clone(&$far.inner);
        let call = Call { part: $far.part, method: stringify!($method) };
        let make = move || {
            let inner = Arc::clone(&inner);
            $(let $name = again!($kind $name);)*
            async move { inner.$method($(lend!($kind $name)),*).await }
        };
        $far.wire.send(&$far.caller, call, &told, make).await
    }};
}

macro_rules! far {
    ({} $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($arguments:tt)*) -> $answer:ty;)*
    })+) => {$(
        #[async_trait]
        impl<S: $trait + ?Sized> $trait for WiredStore<S> {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($arguments)*) -> Result<$answer> {
                send!(self $method [] $($arguments)*)
            })*
        }
    )+};
}

memory_core::store_methods!(Store, ChatStore, RecordStore, Upkeep, TextStore, VectorStore, Cache => far {});

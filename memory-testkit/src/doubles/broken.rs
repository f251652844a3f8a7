//! Broken stores: each behaves like a correct one except for the methods that a test replaces.

/// Makes a trait `Break` and a store `Mutant { inner, broken }` from the table of methods:
/// `store_methods!(Store, Cache => broken_store { MemCache {} })`.
///
/// `Break` has each method of the table, with the whole store as its first argument, and hands it on: a break gives those that
/// are broken. By `Break::scope` it tells which owner a call is taken for; in the braces stand more such changes, of the
/// arguments that are named in `taken`. Names are looked up in `memory_core::methods`.
#[doc(hidden)]
#[macro_export]
macro_rules! broken_store {
    ({ $(#[$lint:meta])? $inner:ty { $($changes:tt)* } } $($trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })+) => {
        /// What is broken: the methods that are not given here are whole.
        $(#[$lint])?
        #[async_trait]
        pub(crate) trait Break: std::fmt::Debug + Send + Sync + 'static {
            /// Returns the owner that a call is taken for.
            fn scope(&self, scope: &Scope) -> Scope {
                scope.clone()
            }

            $($changes)*

            $($(async fn $method(&self, inner: &$inner, $($argument: $type),*) -> Result<$answer> {
                inner.$method($($argument),*).await
            })*)+
        }

        /// A store with a break.
        #[derive(Debug)]
        pub(crate) struct Mutant<B> {
            pub(crate) inner: $inner,
            pub(crate) broken: B,
        }

        $(
            #[async_trait]
            impl<B: Break> $trait for Mutant<B> {
                $(fn $plain(&self) -> $given {
                    self.inner.$plain()
                })*

                $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                    $($crate::broken_store!(@ taken self $argument $argument);)*
                    self.broken.$method(&self.inner, $($argument),*).await
                })*
            }
        )+
    };

    // Each argument is named twice, to be compared and to be changed.
    (@ taken $self:ident scope $scope:ident) => {
        let $scope = &$self.broken.scope($scope);
    };
    (@ taken $self:ident epoch $epoch:ident) => {
        let $epoch = $self.broken.epoch($epoch);
    };
    (@ taken $self:ident ttl $ttl:ident) => {
        let $ttl = $self.broken.life($ttl);
    };
    (@ taken $self:ident cap $cap:ident) => {
        let $cap = $self.broken.cap($cap);
    };
    (@ taken $self:ident $other:ident $again:ident) => {};
}

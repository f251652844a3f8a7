//! Stores of a server that was away when it was to be opened: they connect when they are first needed. Truth may be among them where
//! a journal takes what is said meanwhile.
//!
//! Guards stand before them, so that a server that stays away is not asked again at every call.

use std::fmt;
use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::layer::GuardPolicy;
use memory_core::methods::*;
use memory_core::model::Embedder;
use memory_core::store::blackboard::Keep;
use memory_core::{Away, Error, Stores, Truth};
use tokio::sync::OnceCell;

use super::kind::{Kind, Named, Wanted};

/// A part that is opened later, and its store once it is open.
struct LatePart {
    kind: &'static Kind,
    url: String,
    truth: bool,
    analysis: Option<Analysis>,
    embedders: Vec<Arc<dyn Embedder>>,
    cache: bool,
    board: Option<(usize, Keep)>,
    named: Named,
    policy: GuardPolicy,
    opened: OnceCell<Stores>,
}

impl LatePart {
    /// Returns the open stores; connects if there are none.
    async fn opened(&self) -> Result<&Stores> {
        let analysis = self.analysis.as_ref();
        let Self { kind: _, url: _, truth, analysis: _, embedders, cache, board, named, policy, opened: _ } = self;
        let wanted = Wanted { truth: *truth, analysis, embedders, cache: *cache, board: *board, named, policy };
        self.opened.get_or_try_init(|| self.kind.connect(&self.url, &wanted)).await
    }
}

/// Returns stores that open what is wanted once they are needed; `why` is why they are not open.
pub(super) fn open(kind: &'static Kind, url: &str, wanted: &Wanted<'_>, why: Error) -> Stores {
    let Wanted { truth, analysis, embedders, cache, board, named, policy } = *wanted;
    let (analysis, embedders, url) = (analysis.cloned(), embedders.to_vec(), url.to_owned());
    let (named, policy) = (named.clone(), policy.clone());
    let opened = OnceCell::new();
    let place = Arc::new(LatePart { kind, url, truth, analysis, embedders, cache, board, named, policy, opened });
    let late = || Arc::clone(&place);
    let text = |analysis: &Analysis| -> Arc<dyn TextStore> {
        Arc::new(Late { place: late(), of: analysis.name().to_owned(), take: |stores, _| stores.text.as_ref() })
    };
    let vectors = |embedder: &Arc<dyn Embedder>| -> (Arc<dyn VectorStore>, Arc<dyn Embedder>) {
        (Arc::new(Late { place: late(), of: embedder.space().clone(), take: vectors_of }), Arc::clone(embedder))
    };
    Stores {
        chat: truth.then(|| Truth::chat(Arc::new(LateTruth { place: late(), take: |stores| stores.chat.as_ref() }))),
        records: (truth && kind.holds.records)
            .then(|| Truth::records(Arc::new(LateTruth { place: late(), take: |stores| stores.records.as_ref() }))),
        text: place.analysis.as_ref().map(text),
        vectors: place.embedders.iter().map(vectors).collect(),
        cache: cache.then(|| Arc::new(Late { place: late(), of: (), take: |stores, ()| stores.cache.as_ref() }) as _),
        blackboard: board
            .map(|_| Arc::new(Late { place: late(), of: (), take: |stores, ()| stores.blackboard.as_ref() }) as _),
        away: vec![Away { backend: kind.name, why }],
        ..Stores::default()
    }
}

fn vectors_of<'a>(stores: &'a Stores, space: &EmbeddingSpace) -> Option<&'a Arc<dyn VectorStore>> {
    stores.vectors.iter().map(|(store, _)| store).find(|store| store.space() == space)
}

/// A store of a place that may be away. What it is `of`, analysis or space, is known without the server.
struct Late<S: ?Sized, N> {
    place: Arc<LatePart>,
    of: N,
    take: for<'a> fn(&'a Stores, &N) -> Option<&'a Arc<S>>,
}

impl<S: ?Sized, N> fmt::Debug for Late<S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Late").field("backend", &self.place.kind.name).finish_non_exhaustive()
    }
}

impl<S: ?Sized, N> Late<S, N> {
    async fn store(&self) -> Result<&Arc<S>> {
        let opened = self.place.opened().await?;
        (self.take)(opened, &self.of).ok_or_else(|| self.place.kind.cannot("hold this part"))
    }
}

#[async_trait]
impl<S: Store + ?Sized, N: Send + Sync + 'static> Store for Late<S, N> {
    fn backend(&self) -> &'static str {
        self.place.kind.name
    }

    async fn ping(&self) -> Result<Health> {
        self.store().await?.ping().await
    }

    /// Closes nothing where nothing was opened.
    async fn close(&self) -> Result<()> {
        match self.place.opened.get().and_then(|opened| (self.take)(opened, &self.of)) {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.store().await?.erase(scope, below).await
    }
}

/// Hands the calls of a store on; what is known without the server is answered at once.
macro_rules! late {
    ({ $of:ty } $trait:ident { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    }) => {
        #[async_trait]
        impl $trait for Late<dyn $trait, $of> {
            $(fn $plain(&self) -> $given {
                &self.of
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.store().await?.$method($($argument),*).await
            })*
        }
    };
}

memory_core::store_methods!(TextStore => late { String });
memory_core::store_methods!(VectorStore => late { EmbeddingSpace });
memory_core::store_methods!(Cache => late { () });
memory_core::store_methods!(Blackboard => late { () });

/// A truth store of a place that may be away, with its upkeep.
struct LateTruth<S: ?Sized> {
    place: Arc<LatePart>,
    take: fn(&Stores) -> Option<&Truth<S>>,
}

impl<S: ?Sized> fmt::Debug for LateTruth<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateTruth").field("backend", &self.place.kind.name).finish_non_exhaustive()
    }
}

impl<S: ?Sized> LateTruth<S> {
    async fn truth(&self) -> Result<&Truth<S>> {
        (self.take)(self.place.opened().await?).ok_or_else(|| self.place.kind.cannot("hold this part"))
    }
}

#[async_trait]
impl<S: Store + ?Sized> Store for LateTruth<S> {
    fn backend(&self) -> &'static str {
        self.place.kind.name
    }

    async fn ping(&self) -> Result<Health> {
        self.truth().await?.store().ping().await
    }

    /// Closes nothing where nothing was opened.
    async fn close(&self) -> Result<()> {
        match self.place.opened.get().and_then(self.take) {
            Some(truth) => truth.store().close().await,
            None => Ok(()),
        }
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.truth().await?.store().erase(scope, below).await
    }
}

/// Hands the calls of a truth store, or of its upkeep, on.
macro_rules! late_truth {
    ({ $truth:ident $half:ident } $trait:ident {} calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    }) => {
        #[async_trait]
        impl $trait for LateTruth<dyn $truth> {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.truth().await?.$half().$method($($argument),*).await
            })*
        }
    };
}

memory_core::store_methods!(ChatStore => late_truth { ChatStore store });
memory_core::store_methods!(Upkeep => late_truth { ChatStore upkeep });
memory_core::store_methods!(RecordStore => late_truth { RecordStore store });
memory_core::store_methods!(Upkeep => late_truth { RecordStore upkeep });

//! Who embeds, for search by meaning beside search by words.

use std::sync::Arc;

use clap::ValueEnum;
use memory::model::Embedder;
use memory::store::upkeep::IndexName;
use memory::{Settings, Stores};

use crate::failure::Failure;

/// Who turns texts into vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Embedding {
    /// A table of English words inside the program: at once
    Static,
    /// A small English transformer inside the program: a hundredth of that speed
    Local,
    /// Nobody: search is by words alone
    None,
}

impl Embedding {
    /// Those who embed, and their names.
    const ALL: [(Self, &'static str); 2] = [(Self::Static, "static"), (Self::Local, "local")];

    /// Returns the embedder, if it is built in; none for [`Embedding::None`].
    fn built_in(self) -> Option<Arc<dyn Embedder>> {
        match self {
            #[cfg(feature = "static")]
            Self::Static => Some(Arc::new(memory::models::StaticEmbedder::new())),
            #[cfg(feature = "local")]
            Self::Local => Some(Arc::new(memory::models::LocalEmbedder::new())),
            _ => None,
        }
    }

    /// Returns the name of its index; none for [`Embedding::None`].
    pub(crate) fn index(self) -> Option<IndexName> {
        self.built_in().map(|embedder| IndexName::of_space(embedder.space()))
    }
}

/// Returns the embedder wished; without a wish the table, if it is built in.
pub(crate) fn embedder(wished: Option<Embedding>) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let embedder = wished.unwrap_or(Embedding::Static).built_in();
    let missing = Embedding::ALL.iter().find(|(one, _)| embedder.is_none() && Some(*one) == wished);
    match missing {
        Some((_, name)) => {
            Err(Failure::Usage(format!("the {name} embedder is not built in: build with --features {name}")))
        }
        None => Ok(embedder),
    }
}

/// Returns the name of an index, with who embeds for it if that is built in.
pub(crate) fn shown(index: &IndexName) -> String {
    let of_index = |one: Embedding| one.index().as_ref() == Some(index);
    match Embedding::ALL.iter().find(|(one, _)| of_index(*one)) {
        Some((_, name)) => format!("{} ({name})", index.as_str()),
        None => index.as_str().to_owned(),
    }
}

/// Returns settings with an index of meaning for each embedder that is built in, the one wished first; see [`settle`].
pub(crate) fn with_embedders(settings: Settings, wished: Option<Embedding>) -> Result<Settings, Failure> {
    if wished == Some(Embedding::None) {
        return Ok(settings.without_embedder());
    }
    let first = wished.unwrap_or(Embedding::Static);
    let settings = match embedder(wished)? {
        // As it is, the settings do without if the database cannot hold vectors.
        Some(_) if wished.is_none() => settings,
        Some(embedder) => settings.with_embedder(embedder),
        None => settings,
    };
    let others = Embedding::ALL.iter().filter(|(one, _)| *one != first).filter_map(|(one, _)| one.built_in());
    Ok(others.fold(settings, Settings::with_embedder_beside))
}

/// Keeps, of the indexes of meaning, the first and those that follow the database; the one that lacks least answers. So the old
/// one answers after a change of the embedder until the new one is full, and without a wish what there is is gone on with.
pub(crate) async fn settle(stores: &mut Stores, wished: Option<Embedding>) -> Result<(), Failure> {
    let only_reads = stores.chat()?.store().ping().await.is_ok_and(|health| health.is_read_only);
    if stores.vectors.len() < 2 && !only_reads {
        return Ok(());
    }
    let mut kept = Vec::new();
    for (place, part) in std::mem::take(&mut stores.vectors).into_iter().enumerate() {
        let lacking = lacking(stores, &IndexName::of_space(part.0.space())).await?;
        if place == 0 || lacking.is_some() {
            kept.push((lacking, part));
        }
    }
    // Nobody wished for an index that cannot be made, or beside one that is there.
    if wished.is_none() && (only_reads || kept.len() > 1) {
        kept.retain(|(lacking, _)| lacking.is_some());
    }
    kept.sort_by_key(|(lacking, _)| lacking.unwrap_or(u64::MAX));
    stores.vectors = kept.into_iter().map(|(_, part)| part).collect();
    Ok(())
}

/// Returns how many notes an index lacks; none if it does not follow the database.
async fn lacking(stores: &Stores, index: &IndexName) -> Result<Option<u64>, Failure> {
    let records = stores.records.as_ref().map(|records| records.upkeep());
    let mut lacking = None;
    for truth in std::iter::once(stores.chat()?.upkeep()).chain(records) {
        let Some(enlisted) = truth.indexes().await?.into_iter().find(|enlisted| enlisted.name == *index) else {
            continue;
        };
        let notes = if enlisted.is_noted { truth.backlog(index).await?.pending } else { u64::MAX };
        lacking = Some(notes.saturating_add(lacking.unwrap_or(0)));
    }
    Ok(lacking)
}

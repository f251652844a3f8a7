//! Who embeds, for search by meaning beside search by words.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use memory::model::Embedder;
use memory::store::secrets::without_secrets;
use memory::store::upkeep::{Enlisted, IndexName, Upkeep};
use memory::{Settings, Stores};

use crate::failure::Failure;
use crate::model;
use crate::output::say;
use crate::provider::{Provider, Served};

/// Who turns texts into vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Embedding {
    /// A table of English words inside the program: at once.
    Static,
    /// A small English transformer inside the program: a hundredth of that speed.
    Local,
    /// A model over HTTP.
    Served(Served),
    /// Nobody: search is by words alone.
    None,
}

impl FromStr for Embedding {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (who, url) = match text.split_once("@http") {
            Some((who, rest)) => (who, Some(format!("http{rest}"))),
            None => (text, None),
        };
        let (who, model) = who.split_once(':').map_or((who, None), |(who, model)| (who, Some(model.to_owned())));
        let model = model.filter(|model| !model.is_empty());
        let served = |provider| Ok(Self::Served(Served { provider, model: model.clone(), url: url.clone() }));
        match (who, &model, &url) {
            ("static", None, None) => Ok(Self::Static),
            ("local", None, None) => Ok(Self::Local),
            ("none", None, None) => Ok(Self::None),
            ("ollama", ..) => served(Provider::Ollama),
            ("openai", Some(_), _) => served(Provider::Openai),
            _ => {
                Err("write static, local, none, ollama, ollama:MODEL or openai:MODEL, the last three perhaps with @URL")
            }
        }
    }
}

impl fmt::Display for Embedding {
    /// Writes it as it is named on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Served(Served { provider, model, url }) = self else {
            return f.write_str(match self {
                Self::Static => "static",
                Self::Local => "local",
                _ => "none",
            });
        };
        f.write_str(if *provider == Provider::Openai { "openai" } else { "ollama" })?;
        model.iter().try_for_each(|model| write!(f, ":{model}"))?;
        url.iter().try_for_each(|url| write!(f, "@{}", without_secrets(url)))
    }
}

impl Embedding {
    /// Those inside the program, and their names.
    const INSIDE: [(Self, &'static str); 2] = [(Self::Static, "static"), (Self::Local, "local")];

    /// Returns the embedder, if it is built in; none for others.
    fn built_in(&self) -> Option<Arc<dyn Embedder>> {
        match self {
            #[cfg(feature = "static")]
            Self::Static => Some(Arc::new(memory::models::StaticEmbedder::new())),
            #[cfg(feature = "local")]
            Self::Local => Some(Arc::new(memory::models::LocalEmbedder::new())),
            _ => None,
        }
    }
}

/// Returns the embedder wished; without a wish the table, if it is built in.
///
/// # Errors
/// If it is not built in, or if its server does not answer.
pub(crate) async fn embedder(wished: Option<&Embedding>) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    if let Some(Embedding::Served(served)) = wished {
        return model::embedder(served).await.map(Some);
    }
    let embedder = wished.unwrap_or(&Embedding::Static).built_in();
    let missing = Embedding::INSIDE.iter().find(|(one, _)| embedder.is_none() && Some(one) == wished);
    match missing {
        Some((_, name)) => {
            Err(Failure::Usage(format!("the {name} embedder is not built in: build with --features {name}")))
        }
        None => Ok(embedder),
    }
}

/// Returns the name of an index, with who embeds for it if that is built in.
pub(crate) fn shown(index: &IndexName) -> String {
    let of_index = |one: &Embedding| one.built_in().is_some_and(|one| IndexName::of_space(one.space()) == *index);
    match Embedding::INSIDE.iter().find(|(one, _)| of_index(one)) {
        Some((_, name)) => format!("{} ({name})", index.as_str()),
        None => index.as_str().to_owned(),
    }
}

/// Returns settings with an index of meaning for each embedder that is built in, the one wished first; see [`settle`]. An embedder
/// whose server does not answer now is done without: what it has to embed stays noted.
pub(crate) async fn with_embedders(settings: Settings, wished: Option<&Embedding>) -> Result<Settings, Failure> {
    if wished == Some(&Embedding::None) {
        return Ok(settings.without_embedder());
    }
    let first = wished.unwrap_or(&Embedding::Static);
    let settings = match embedder(wished).await {
        Err(Failure::Memory(error)) if error.is_retryable() => {
            say(&format!("warning: search is by words alone: {}", error.with_causes()));
            return Ok(settings.without_embedder());
        }
        // As it is, the settings do without if the database cannot hold vectors.
        Ok(Some(_)) if wished.is_none() => settings,
        Ok(Some(embedder)) => settings.with_embedder(embedder),
        Ok(None) => settings,
        Err(failure) => return Err(failure),
    };
    let others = Embedding::INSIDE.iter().filter(|(one, _)| one != first).filter_map(|(one, _)| one.built_in());
    Ok(others.fold(settings, Settings::with_embedder_beside))
}

/// Keeps, of the indexes of meaning, the first and those that follow the database; the one that lacks least answers. So the old
/// one answers after a change of the embedder until the new one is full, and without a wish what there is is gone on with.
pub(crate) async fn settle(stores: &mut Stores, wished: Option<&Embedding>) -> Result<(), Failure> {
    let only_reads = stores.chat()?.store().ping().await.is_ok_and(|health| health.is_read_only);
    let is_settled = |stores: &Stores| stores.vectors.len() < 2 && !only_reads;
    // Truth may be away: it is asked only where something is to be chosen.
    if wished.is_some() && is_settled(stores) {
        return Ok(());
    }
    let followed = match followed(stores).await {
        // A server may begin before its truth does. The first index is the one that is wished for, or that of the build: where the truth
        // turns out to follow another one that nobody named, it gets this one beside it.
        Err(Failure::Memory(error)) if error.is_retryable() && stores.journal.is_some() => {
            stores.vectors.truncate(1);
            return Ok(());
        }
        followed => followed?,
    };
    if wished.is_none() {
        leave_to_the_named(stores, &followed);
    }
    if is_settled(stores) {
        return Ok(());
    }
    let mut kept = Vec::new();
    for (place, part) in std::mem::take(&mut stores.vectors).into_iter().enumerate() {
        let lacking = lacking(&followed, &IndexName::of_space(part.0.space())).await?;
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

/// Begins no index of meaning beside one whose embedder is known to whoever filled it and not to this call.
fn leave_to_the_named(stores: &mut Stores, followed: &[Followed]) {
    let followed = followed.iter().flat_map(|(_, indexes)| indexes).map(|index| &index.name);
    let followed: Vec<&IndexName> = followed.filter(|name| name.is_of_meaning()).collect();
    let names: Vec<IndexName> = stores.vectors.iter().map(|(store, _)| IndexName::of_space(store.space())).collect();
    if followed.iter().all(|name| names.contains(name)) {
        return;
    }
    let mut follows = names.iter().map(|name| followed.contains(&name));
    stores.vectors.retain(|_| follows.next().unwrap_or(false));
    if !stores.vectors.is_empty() {
        return;
    }
    if let Some(disabled) = stores.disabled.iter().find(|disabled| disabled.part == "vectors") {
        say(&format!("warning: search by meaning is switched off: {}", disabled.why.with_causes()));
        return;
    }
    // Settings that want no search by meaning, or a database that cannot hold vectors, are told elsewhere or meant so.
    if !names.is_empty() || Embedding::Static.built_in().is_none() {
        say(
            "warning: search is by words alone: this database was embedded by a model that is not named here; name it with --embedder, or change to another with --embedder and reindex",
        );
    }
}

/// A truth, and the indexes that follow it.
type Followed = (Arc<dyn Upkeep>, Vec<Enlisted>);

async fn followed(stores: &Stores) -> Result<Vec<Followed>, Failure> {
    let mut followed = Vec::new();
    let records = stores.records.as_ref().map(|records| records.upkeep());
    for truth in std::iter::once(stores.chat()?.upkeep()).chain(records) {
        followed.push((Arc::clone(truth), truth.indexes().await?));
    }
    Ok(followed)
}

/// Returns how many notes an index lacks; none if it does not follow the database.
async fn lacking(followed: &[Followed], index: &IndexName) -> Result<Option<u64>, Failure> {
    let mut lacking = None;
    for (truth, indexes) in followed {
        let Some(enlisted) = indexes.iter().find(|enlisted| enlisted.name == *index) else {
            continue;
        };
        let notes = if enlisted.is_noted { truth.backlog(index).await?.pending } else { u64::MAX };
        lacking = Some(notes.saturating_add(lacking.unwrap_or(0)));
    }
    Ok(lacking)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_embeds_is_written_in_one_word() {
        let served = |provider, model: &str, url: &str| {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            Ok(Embedding::Served(Served { provider, model: some(model), url: some(url) }))
        };
        let read = str::parse::<Embedding>;
        assert_eq!(read("static"), Ok(Embedding::Static));
        assert_eq!(read("none"), Ok(Embedding::None));
        assert_eq!(read("ollama"), served(Provider::Ollama, "", ""));
        assert_eq!(read("ollama:bge-m3:567m"), served(Provider::Ollama, "bge-m3:567m", ""));
        assert_eq!(
            read("openai:BAAI/bge-m3@http://127.0.0.1:8000/v1"),
            served(Provider::Openai, "BAAI/bge-m3", "http://127.0.0.1:8000/v1")
        );
        assert_eq!(read("ollama@https://o.example.org"), served(Provider::Ollama, "", "https://o.example.org"));
        for text in ["", "openai", "openai:", "static:x", "none@http://h", "anthropic:x", "ollama-x"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

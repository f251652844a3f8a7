//! The database that a command opens, and its default path.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory::extract::{Extractor, RuleExtractor};
use memory::model::Summarizer;
use memory::store::secrets::without_secrets;
use memory::window::{BufferConfig, CounterKind, Oversize};
use memory::{Backend, Error, Folding, Memory, Scope, Settings, Stores};

use crate::embedding::{self, Embedding};
use crate::failure::Failure;
use crate::output::say;

/// The session of a command that names none.
pub(crate) const SESSION: &str = "chat_history";

/// The model that a conversation is for: longer ones are summarised.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// How many tokens it reads.
    pub(crate) tokens: u64,
    /// Who summarises; none for an extract, without a model.
    pub(crate) summarizer: Option<Arc<dyn Summarizer>>,
    /// Who finds facts; none for whom the settings name, or rules if that was begun.
    pub(crate) extractor: Option<Arc<dyn Extractor>>,
}

/// A database.
#[derive(Clone)]
pub(crate) struct Database {
    /// Its URL, which may hold a password: see [`Database::shown`].
    url: String,
    /// Its file, if it is one.
    pub(crate) file: Option<PathBuf>,
    /// What is said beside its place.
    beside: Settings,
    /// Who counts tokens when it is opened.
    counter: CounterKind,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.shown()).finish()
    }
}

impl Database {
    /// Returns its URL as people may see it: without passwords and keys.
    pub(crate) fn shown(&self) -> String {
        without_secrets(&self.url)
    }

    /// Returns the path of its file, which may be a mistyped URL, as people may see it.
    pub(crate) fn shown_file(&self) -> String {
        let shown = self.shown();
        shown.strip_prefix("sqlite:").unwrap_or(&shown).to_owned()
    }

    /// Returns it with the path of its file as it is found from every folder.
    pub(crate) fn absolute(self) -> Self {
        let behind = |file: &PathBuf| self.url.strip_prefix("sqlite:")?.strip_prefix(file.to_str()?).map(str::to_owned);
        let file = self.file.as_ref().and_then(|file| std::path::absolute(file).ok().zip(behind(file)));
        let Some((file, parameters)) = file else { return self };
        Self { url: format!("sqlite:{}{parameters}", file.display()), file: Some(file), ..self }
    }

    /// Returns whether both are one: their files may be named in two ways.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let files = self.file.as_deref().zip(other.file.as_deref());
        self.url == other.url || files.is_some_and(|(one, two)| same_file::is_same_file(one, two).unwrap_or(false))
    }

    /// Returns whether it is gone when the command ends.
    pub(crate) fn ends_with_the_command(&self) -> bool {
        Backend::of(&self.url).is_ok_and(|kind| kind.name() == "memory")
    }

    /// Refuses a file that is not there.
    pub(crate) fn must_be_there(&self) -> Result<(), Failure> {
        match self.file.as_ref().map(|file| file.try_exists()) {
            None | Some(Ok(true)) => Ok(()),
            Some(Ok(false)) => Err(Failure::Usage(format!("there is no database {}", self.shown_file()))),
            Some(Err(error)) => {
                let file = self.shown_file();
                Err(Failure::Usage(format!("whether there is a database {file} cannot be told: {error}")))
            }
        }
    }

    /// Refuses a file that is there and is no database. It is asked before it is opened: to close it again would give back the locks
    /// that connections of this process have.
    pub(crate) fn must_be_one(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut head = Vec::new();
        // One that cannot be read is told when it is opened. An empty one becomes a database.
        let read = |file: File| file.take(SQLITE.len() as u64).read_to_end(&mut head);
        if !file.is_file() || File::open(file).and_then(read).is_err() || head.is_empty() || head == SQLITE {
            return Ok(());
        }
        let file = self.shown_file();
        Err(Failure::Usage(format!("{file} is no database; to read a chat into one: memory import {file}")))
    }

    /// Returns the database that `url` names.
    pub(crate) fn at(url: &str) -> Result<Self, Failure> {
        let kind = Backend::of(url).map_err(|error| match error {
            Error::Invalid { what } => Failure::Usage(what),
            _ => Failure::Usage("no kind of database: write sqlite:PATH, postgres://… or redis://…".to_owned()),
        })?;
        if !kind.holds_truth() {
            return Err(Failure::Usage(format!("{} holds indexes, not conversations", kind.name())));
        }
        if !kind.is_built_in() {
            let name = kind.name();
            return Err(Failure::Usage(format!("{name} is not built in: build with --features {name}")));
        }
        Ok(match Backend::file(url) {
            Some(path) => {
                let parameters = url.trim().rsplit_once('?').filter(|(place, _)| place.ends_with(path));
                let parameters = parameters.map_or_else(String::new, |(_, query)| format!("?{query}"));
                Self {
                    url: format!("sqlite:{path}{parameters}"),
                    file: Some(PathBuf::from(path)),
                    beside: Settings::default(),
                    counter: COUNTER,
                }
            }
            None => Self { url: url.to_owned(), file: None, beside: Settings::default(), counter: COUNTER },
        })
    }

    /// Returns the database `name` in the platform's data folder, which is made if it is missing.
    pub(crate) fn in_data_folder(name: &str) -> Result<Self, Failure> {
        let how = "say where with --db sqlite:PATH";
        let file = in_data_folder(name, how)?;
        let not_text = || Failure::Usage(format!("the path of the data folder is not UTF-8: {how}"));
        let path = file.to_str().ok_or_else(not_text)?;
        Ok(Self { url: format!("sqlite:{path}"), file: Some(file), beside: Settings::default(), counter: COUNTER })
    }

    /// Returns it with what a file of settings says beside its place.
    pub(crate) fn by(self, settings: &Settings) -> Self {
        Self { beside: settings.clone(), ..self }
    }

    /// Returns it with another counter than [`COUNTER`], for a command that stores no message.
    pub(crate) fn counted_by(self, counter: CounterKind) -> Self {
        Self { counter, ..self }
    }

    /// Opens it, with search by meaning where somebody embeds.
    ///
    /// Conversations are summarised only where it is known how much a model reads, which is the `reader`: an import does
    /// not know, and a later context with a larger budget would miss the words that a summary stands for. A limit or a capacity of the
    /// settings counts in any case.
    pub(crate) async fn open(&self, reader: Option<Reader>, wished: Option<&Embedding>) -> Result<Memory, Failure> {
        self.must_be_one()?;
        let settings = self.placed();
        let mut stores = connect(embedding::with_embedders(settings, wished).await?).await?;
        embedding::settle(&mut stores, wished).await?;
        if matches!(wished, Some(Embedding::Local | Embedding::Static)) && stores.vectors.is_empty() {
            let what = "no place for vectors: this database holds none, so name one by MEMORY_VECTORS_URL";
            return Err(Failure::Usage(what.to_owned()));
        }
        self.build(stores, reader).await
    }

    /// Returns its settings, with text and cache where the environment says. Nobody embeds, and nothing is queued.
    pub(crate) fn settings(&self) -> Settings {
        self.placed().without_embedder().without_journal()
    }

    /// Refuses settings of places that are not used, and a journal in the file of the database or of an index.
    #[cfg(feature = "sqlite")]
    pub(crate) fn check_places(&self) -> Result<(), Failure> {
        Ok(self.placed().check_places().map_err(Error::from)?)
    }

    fn placed(&self) -> Settings {
        self.beside.clone().with_truth(&self.url).or_env()
    }

    /// Opens its stores.
    pub(crate) async fn connect(&self) -> Result<Stores, Failure> {
        self.must_be_one()?;
        connect(self.settings()).await
    }

    /// Puts a memory over stores, which finds facts if that was begun.
    pub(crate) async fn build(&self, stores: Stores, reader: Option<Reader>) -> Result<Memory, Failure> {
        self.build_finding(stores, reader, Finding::AsBefore).await
    }

    /// Opens it, and finds facts or not.
    pub(crate) async fn open_finding(&self, finding: Finding) -> Result<Memory, Failure> {
        self.build_finding(self.connect().await?, None, finding).await
    }

    /// Returns the buffer of conversations; `reader` is the model that they are for. Without a model, windows are folded only where
    /// the settings ask for it.
    fn buffer(&self, reader: Option<&Reader>) -> BufferConfig {
        // Whoever asks the program for a context wants one, also where the last thing said is a long page.
        let said = self.beside.buffer().with_oversize(self.beside.oversize().unwrap_or(Oversize::TruncateMiddle));
        let is_asked = said.limit.is_some() || said.folds_above().is_some() || self.beside.names_folding();
        match reader {
            Some(reader) if said.limit.is_none() => said.with_limit(reader.tokens),
            None if !is_asked => said.with_folding(Folding::Off),
            _ => said,
        }
    }

    async fn build_finding(&self, stores: Stores, reader: Option<Reader>, finding: Finding) -> Result<Memory, Failure> {
        let finds = match finding {
            Finding::Begun | Finding::Tried => true,
            Finding::AsBefore => {
                let indexes = stores.chat()?.upkeep().indexes().await;
                indexes.is_ok_and(|indexes| indexes.iter().any(|index| index.name.as_str() == FACTS))
            }
        };
        let buffer = self.buffer(reader.as_ref());
        let mut builder = self.beside.over(stores)?.counter(self.counter.counter()).buffer(buffer);
        let (summarizer, extractor) = reader.map_or((None, None), |reader| (reader.summarizer, reader.extractor));
        if let Some(summarizer) = summarizer {
            builder = builder.summarizer(summarizer);
        }
        if let Some(extractor) = extractor {
            builder = builder.extractor(extractor);
        } else if finds && !self.beside.names_extractor() {
            builder = builder.extractor(Arc::new(RuleExtractor));
        }
        Ok(builder.build().await?)
    }
}

/// How every database of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The name under which a database notes conversations for the finding of facts by rules.
pub(crate) const FACTS: &str = "facts/rules-1";

/// Whether facts are found in what people say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// If that was begun in this database.
    AsBefore,
    /// From now on.
    Begun,
    /// To see what would be found; upkeep does not run.
    Tried,
}

/// Opens stores, and says what is done without.
async fn connect(settings: Settings) -> Result<Stores, Failure> {
    if let Some(name) = settings.idle_variable() {
        say(&format!("note: {name} changes nothing without a journal: SESSION_BUFFER_PATH names the file of one"));
    }
    let stores = settings.connect().await?;
    for away in &stores.away {
        let (backend, why) = (away.backend, away.why.with_causes());
        say(&match away.why {
            Error::Unsupported { .. } => format!("note: search is by words alone, as with --embedder none: {why}"),
            _ => format!("warning: {backend} does not answer, what there is answers without it: {why}"),
        });
    }
    Ok(stores)
}

/// The counter of every command that stores, so that stored counts and those of a context agree.
pub(crate) const COUNTER: CounterKind =
    if cfg!(feature = "tiktoken") { CounterKind::O200k } else { CounterKind::Heuristic };

/// Returns the owner that is named, or how to name it.
pub(crate) fn owner(tenant: Option<&str>, subject: Option<&str>) -> Result<Scope, Failure> {
    let (Some(tenant), Some(subject)) = (tenant, subject) else {
        let how = "say whose memory this is: --tenant NAME --subject NAME, or set MEMORY_TENANT and MEMORY_SUBJECT";
        return Err(Failure::Usage(how.to_owned()));
    };
    Ok(Scope::from_names(tenant, subject)?)
}

/// Returns the path of the file `name` in the platform's data folder, which is made if it is missing; `how` says what to do where there
/// is no such folder.
pub(crate) fn in_data_folder(name: &str, how: &str) -> Result<PathBuf, Failure> {
    let folder = data_folder().ok_or_else(|| Failure::Usage(format!("there is no home folder: {how}")))?;
    make_private(&folder)
        .map_err(|error| Failure::Usage(format!("the folder {} cannot be made: {error}", folder.display())))?;
    Ok(folder.join(name))
}

#[expect(clippy::disallowed_methods, reason = "this is configuration: where the platform keeps data")]
fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return Some(absolute("APPDATA")?.join("memory"));
    }
    if cfg!(target_os = "macos") {
        return Some(absolute("HOME")?.join("Library/Application Support/memory"));
    }
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    Some(data?.join("memory"))
}

/// Makes a folder, and those above it, for nobody but this user. One that is there stays as it is.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the size of a database's file and of the log beside it, in bytes.
pub(crate) fn size(file: &Path) -> u64 {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    [file.as_os_str(), log.as_os_str()].iter().filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_name_files() {
        let file = |url: &str| Database::at(url).unwrap().file.map(|file| file.to_str().unwrap().to_owned());
        assert_eq!(file("a/b.sqlite").as_deref(), Some("a/b.sqlite"));
        assert_eq!(file("./a:b").as_deref(), Some("./a:b"));
        assert_eq!(file("sqlite:/a").as_deref(), Some("/a"));
        assert_eq!(file("sqlite:///a").as_deref(), Some("/a"));
        assert_eq!(file("SQLite:a").as_deref(), Some("a"));
        assert_eq!(file("sqlite:/a?mode=ro").as_deref(), Some("/a"));
        assert_eq!(Database::at("o?mode=ro").unwrap().url, "sqlite:o?mode=ro");
        assert_eq!(Database::at("what? o").unwrap().url, "sqlite:what? o");
        assert_eq!(file("memory:"), None);
        for url in ["", "sqlite:", "mysql://x", "memory:x", "qdrant://x"] {
            assert_eq!(Database::at(url).unwrap_err().code(), 2, "{url}");
        }
    }

    #[test]
    fn windows_are_folded_where_the_settings_or_a_model_ask_for_it() {
        let folding = |settings: &str, reader: Option<&Reader>| {
            let beside = Settings::from_yaml(settings, |_| None).unwrap();
            Database { beside, ..Database::at("memory:").unwrap() }.buffer(reader).folding
        };
        let reader = Reader { tokens: 8_000, summarizer: None, extractor: None };
        let summaries = BufferConfig::default().folding;
        assert_ne!(summaries, Folding::Off);
        for (settings, expected) in [
            ("{}", Folding::Off),
            ("memory: { buffer: { fold_to: 0.4 } }", Folding::Off),
            ("memory: { buffer: { folding: summaries } }", summaries),
            ("memory: { buffer: { limit_tokens: 9000 } }", summaries),
            ("memory: { buffer: { summarize_after: 50 } }", summaries),
            ("memory: { buffer: { limit_tokens: 9000, folding: \"off\" } }", Folding::Off),
        ] {
            assert_eq!(folding(settings, None), expected, "{settings}");
        }
        assert_eq!(folding("{}", Some(&reader)), summaries);
    }
}

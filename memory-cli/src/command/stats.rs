//! `memory stats`: the database, what it holds of the owner, how far its indexes are.

mod rates;

use std::fmt;

use memory::Status;
use memory::receipt::JournalStatus;
use memory::store::Health;
use memory::{Error, Filter, Memory, RecordId, Scope, Scoped};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::Stats;
use crate::config::{Database, size};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::words::{counted, plural};
use crate::{embedding, sessions, upkeep};

const PAGE: usize = 1_000;

/// What an owner has.
#[derive(Debug)]
pub(super) struct OwnerStats {
    pub(super) sessions: usize,
    pub(super) messages: u64,
    pub(super) window_tokens: u64,
    pub(super) records: usize,
}

impl fmt::Display for OwnerStats {
    /// Writes how many sessions, messages and records there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sessions, messages, window_tokens: _, records } = self;
        write!(f, "{sessions} {}, ", plural(*sessions, "session"))?;
        write!(f, "{messages} {}, {records} {}", plural(*messages, "message"), plural(*records, "record"))
    }
}

/// Shows the statistics. Without an owner, those of the database alone.
pub(crate) async fn run(call: &Call, args: &Stats, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(address) = args.metrics {
        return rates::run(address, args, output).await;
    }
    let (owner, database) = (call.owner_if_named()?, call.database()?);
    let memory = call.open_database(&database, None).await?;
    let owned = match &owner {
        Some(owner) => match count(&memory.of(owner)).await {
            // A truth that is away behind a journal is told among the stores.
            Err(Failure::Memory(error)) if error.is_retryable() => Some(Err(error)),
            counted => Some(Ok(counted?)),
        },
        None => None,
    };
    let owned = owner.as_ref().zip(owned.as_ref());
    let mut status = memory.status().await;
    // Notes and boards in this process end with it: the program has none to tell of.
    status.stores.retain(|store| store.part != "working" && (store.part != "board" || store.backend != "reference"));
    if let Some(owner) = &owner {
        // Who asks for one owner sees nothing of the others.
        status.indexes = memory.of(owner).indexes().await;
    }
    if output.is_json() {
        output.json(&as_json(&database, &status, owned))?;
    } else {
        in_words(&database, &status, owned, output)?;
    }
    output.flush()?;
    let is_healthy = status.stores.iter().all(|store| store.health.is_ok());
    finish(&memory, is_healthy).await
}

async fn finish(memory: &Memory, is_healthy: bool) -> Result<Outcome, Failure> {
    if !is_healthy {
        return Err(Failure::Inner("a store does not answer".to_owned()));
    }
    upkeep::after(memory).await;
    Ok(Outcome::Done)
}

/// Returns the version of the tables: opening a file brings it up to the newest one.
fn schema(database: &Database) -> Option<usize> {
    #[cfg(feature = "sqlite")]
    let version = memory::sqlite::SCHEMA_VERSION;
    #[cfg(not(feature = "sqlite"))]
    let version = 0;
    database.file.as_ref().map(|_| version)
}

pub(super) async fn count(scoped: &Scoped) -> Result<OwnerStats, Failure> {
    let sessions = sessions::all(scoped).await?;
    let unexpired = Filter::unexpired(scoped.memory().now());
    let (mut records, mut after): (usize, Option<RecordId>) = (0, None);
    loop {
        let page = scoped.records(&unexpired, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        records += page.len();
    }
    Ok(OwnerStats {
        sessions: sessions.len(),
        messages: sessions.iter().map(|state| state.head.0).sum(),
        window_tokens: sessions.iter().map(|state| state.active_tokens).sum(),
        records,
    })
}

/// Returns what is to be known of a store, in words.
fn of_store(health: &Health) -> String {
    let Health { server, version, durability, is_walled, is_read_only } = health;
    let writes = match is_read_only {
        true => "only read".to_owned(),
        false => format!("writes are {}", format!("{durability:?}").to_lowercase()),
    };
    let wall = match is_walled {
        None => "",
        Some(true) => ", the server walls owners off",
        Some(false) => ", the server does not wall owners off: this role is a superuser or has BYPASSRLS",
    };
    format!("{server} {version}, {writes}{wall}")
}

/// An owner, and what they have if it could be counted.
type Owned<'a> = (&'a Scope, &'a std::result::Result<OwnerStats, Error>);

fn as_json(database: &Database, status: &Status, owned: Option<Owned<'_>>) -> Value {
    let stores = status.stores.iter().map(|store| match &store.health {
        Ok(health) => json!({
            "part": store.part, "backend": store.backend, "server": health.server, "version": health.version,
            "durability": health.durability, "walled": health.is_walled, "read_only": health.is_read_only,
        }),
        Err(error) => json!({ "part": store.part, "backend": store.backend, "error": error.with_causes() }),
    });
    let indexes = status.indexes.iter().map(|index| match &index.backlog {
        Ok(backlog) => json!({
            "index": index.name.as_str(), "pending": backlog.pending, "dead": backlog.dead, "noted": index.is_noted,
        }),
        Err(error) => json!({ "index": index.name.as_str(), "error": error.with_causes() }),
    });
    let owner = owned.map(|(owner, owned)| match owned {
        Ok(owned) => json!({
            "tenant": owner.tenant(), "subject": owner.subject(), "sessions": owned.sessions,
            "messages": owned.messages, "window_tokens": owned.window_tokens, "records": owned.records,
        }),
        Err(error) => json!({ "tenant": owner.tenant(), "subject": owner.subject(), "error": error.with_causes() }),
    });
    let mut all = json!({
        "url": database.shown(), "file": database.file.as_ref().map(|_| database.shown_file()), "bytes": database.file.as_deref().map(size),
        "schema": schema(database),
        "stores": stores.collect::<Vec<Value>>(), "indexes": indexes.collect::<Vec<Value>>(), "owner": owner,
    });
    if let (false, Some(members)) = (status.disabled.is_empty(), all.as_object_mut()) {
        let disabled = status.disabled.iter().map(
            |disabled| json!({ "part": disabled.part, "backend": disabled.backend, "why": disabled.why.with_causes() }),
        );
        members.insert("disabled".to_owned(), disabled.collect());
    }
    if let (Some(JournalStatus { waiting, bytes, refused }), Some(members)) = (&status.journal, all.as_object_mut()) {
        let journal = json!({ "waiting": waiting, "bytes": bytes, "refused": refused.as_ref().ok() });
        members.insert("journal".to_owned(), journal);
    }
    all
}

fn in_words(
    database: &Database,
    status: &Status,
    owned: Option<Owned<'_>>,
    output: &mut Output,
) -> Result<(), Failure> {
    match &database.file {
        Some(file) => {
            let schema = schema(database).unwrap_or_default();
            let shown = database.shown_file();
            output.line(&format!("file       {shown} ({} bytes, schema {schema})", size(file)))?;
        }
        None if database.shown() == "memory:" => output.line("database   in this process, gone when it ends")?,
        None => output.line(&format!("database   {}", database.shown()))?,
    }
    for store in &status.stores {
        let health = match &store.health {
            Ok(health) => of_store(health),
            Err(error) => format!("does not answer: {}", error.with_causes()),
        };
        output.line(&format!("{:<10} {health}", store.part))?;
    }
    for disabled in &status.disabled {
        output.line(&format!("{:<10} switched off: {}", disabled.part, disabled.why.with_causes()))?;
    }
    for index in &status.indexes {
        let backlog = match &index.backlog {
            Ok(backlog) => {
                let rest = if index.is_noted { "" } else { "; what was stored before is still being noted" };
                format!("{} to be indexed, {} given up{rest}", counted(backlog.pending, "note"), backlog.dead)
            }
            Err(error) => error.with_causes(),
        };
        output.line(&format!("index      {}: {backlog}", embedding::shown(&index.name)))?;
    }
    if status.indexes.is_empty() {
        output.line("index      none, so nothing is found by words: MEMORY_TEXT_URL says where one is")?;
    }
    if let Some(JournalStatus { waiting, bytes: _, refused }) = &status.journal {
        let refused = match refused {
            Ok(refused) => format!("{refused} refused"),
            Err(error) => error.with_causes(),
        };
        output.line(&format!("journal    {waiting} waiting, {refused}; memory queue tells"))?;
    }
    let Some((owner, owned)) = owned else {
        output.line("owner      none named: --tenant NAME --subject NAME")?;
        return Ok(());
    };
    output.line(&format!("owner      {} of {}", owner.subject(), owner.tenant()))?;
    match owned {
        Ok(owned) => {
            output.line(&format!("           {owned}"))?;
            let tokens = counted(owned.window_tokens, "token");
            output.line(&format!("           {tokens} in the windows of the sessions"))?;
        }
        Err(error) => output.line(&format!("           not counted: {}", error.with_causes()))?,
    }
    Ok(())
}

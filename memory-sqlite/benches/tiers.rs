//! The calls of a memory of three tiers beside the ceilings of its design (S1-18): one message more, the search of one conversation,
//! of notes, of what lasts, and a context over all tiers, through the public calls over a file, and the pass of upkeep that builds a
//! synopsis anew, for which no call waits. Fails if a median is above its ceiling.
//!
//! `cargo bench -p memory-sqlite --bench tiers`; `-- 1000 5000 20000` for so many messages of the conversation, notes and records.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{ContextRequest, Memory, MemoryBuilder, Remember, Scoped, Search, WorkingNote};
use memory_core::hashing::HashEmbedder;
use memory_core::model::Embedder as _;
use memory_core::window::BufferConfig;
use memory_core::{Analysis, Error, Field, Filter, Message, Role, Scope, SessionId, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};
use memory_testkit::bench::{Outcome, Times, alone, heading, numbers, say};
use memory_testkit::doubles::ManualClock;

/// Words that texts are made of, so that a question finds many of them.
const WORDS: [&str; 12] =
    ["train", "Porto", "ticket", "garden", "letter", "window", "river", "bread", "doctor", "music", "winter", "bridge"];
/// How often each call is made.
const CALLS: usize = 100;
/// How often a synopsis is built anew.
const SYNOPSES: usize = 10;
/// A synopsis is built at most once in this time.
const PAUSE: Duration = Duration::from_secs(60);

fn main() -> std::process::ExitCode {
    alone(measure)
}

fn word(number: usize) -> &'static str {
    WORDS.get(number % WORDS.len()).copied().unwrap_or_default()
}

fn text(number: usize, what: &str) -> String {
    let [one, two, three, four] = [1, 5, 7, 11].map(|step| word(number / step));
    format!("{what} {number}: the {one} and the {two} by the {three} near the {four}.")
}

fn question(number: usize) -> String {
    format!("Where is the {} with number {number}?", word(number))
}

async fn open(folder: &std::path::Path, clock: Arc<ManualClock>) -> Outcome<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(folder.join("tiers.db"))).await?;
    let embedder = Arc::new(HashEmbedder::new(384));
    let vectors = SqliteVectors::new(&file, embedder.space().clone());
    let builder: MemoryBuilder = Memory::builder(
        Truth::chat(Arc::new(SqliteChat::new(&file))),
        Truth::records(Arc::new(SqliteRecords::new(&file))),
    );
    let builder = builder.text(Arc::new(SqliteText::new(&file, Analysis::english().name()))).clock(clock);
    Ok(builder.vectors(Arc::new(vectors), embedder).buffer(BufferConfig::balanced()).build().await?)
}

/// Tells something that makes the synopsis stale, and lets upkeep build it anew, from all that is known.
async fn anew(memory: &Memory, ada: &Scoped, clock: &ManualClock) -> memory_core::Result<Times> {
    let build = async |number: usize| {
        clock.advance(PAUSE);
        ada.remember(Remember::fact(format!("Ada has lived in {number} houses."))).await?;
        // Only what is used is built.
        ada.synopsis().await?;
        match memory.upkeep_once().await?.synopses {
            0 => Err(Error::invalid("the synopsis was not built anew")),
            _ => Ok(()),
        }
    };
    Times::of(SYNOPSES, build).await
}

async fn measure() -> Outcome<()> {
    let [messages, notes, records] = numbers([1_000, 5_000, 10_000]);
    let folder = tempfile::tempdir()?;
    let clock = Arc::<ManualClock>::default();
    let memory = open(folder.path(), clock.clone()).await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let talk = ada.session(&SessionId::new("talk")?);
    // Who has a conversation and nothing else: the buffer of the design.
    let buffer = memory.of(&Scope::new("acme", "bob")?).session(&SessionId::new("talk")?);
    let said = |number: usize| vec![Message::new(Role::User, text(number, "message"), memory.now())];
    for number in 0..messages {
        talk.append(said(number)).await?;
        buffer.append(said(number)).await?;
    }
    for number in 0..records {
        ada.remember(Remember::fact(text(number, "record"))).await?;
    }
    for number in 0..notes {
        ada.note(WorkingNote::new(text(number, "note"), "bench")).await?;
    }
    ada.synopsis().await?;
    memory.upkeep_once().await?;

    say(&format!("{messages} messages, {notes} notes, {records} records, a file, vectors of 384 numbers"));
    heading();
    let of_kind = |question: String, is_note: bool| {
        let note = Filter::eq(Field::Kind, WorkingNote::KIND);
        Search::new(question).limit(5).matching(if is_note { note } else { Filter::Not(Box::new(note)) })
    };
    let add = Times::of(CALLS, async |number| buffer.append(said(messages + number)).await.map(drop)).await?;
    memory.upkeep_once().await?;
    let of_buffer =
        Times::of(CALLS, async |number| buffer.search(&Search::new(question(number))).await.map(drop)).await?;
    let beside = Times::of(CALLS, async |number| talk.search(&Search::new(question(number))).await.map(drop)).await?;
    let working = Times::of(CALLS, async |number| ada.search(&of_kind(question(number), true)).await.map(drop)).await?;
    let lasting =
        Times::of(CALLS, async |number| ada.search(&of_kind(question(number), false)).await.map(drop)).await?;
    let all = async |number| talk.assemble(&ContextRequest::muxi(question(number))).await.map(drop);
    let context = Times::of(CALLS, all).await?;
    let synopsis = anew(&memory, &ada, &clock).await?;

    let ceilings = [
        ("one message more, below 1 ms", add, 1),
        ("search of a conversation, 1 to 5 ms", of_buffer, 5),
        ("search of notes, 5 to 20 ms", working, 20),
        ("search of what lasts, 20 to 100 ms", lasting, 100),
        ("a context over all tiers, 50 to 200 ms", context, 200),
        ("a synopsis anew, 500 to 2,000 ms", synopsis, 2_000),
    ];
    let mut above = Vec::new();
    for (name, times, ceiling) in &ceilings {
        times.report(name);
        if times.median() > Duration::from_millis(*ceiling) {
            above.push(*name);
        }
    }
    beside.report("search of a conversation beside all records");
    memory.close().await?;
    // As a test tells its end, for `scripts/rows.py`.
    let end = if above.is_empty() { "ok" } else { "FAILED" };
    say(&format!("test s1_18_each_call_of_three_tiers_stays_below_its_ceiling ... {end}"));
    if above.is_empty() { Ok(()) } else { Err(format!("above the ceiling: {}", above.join("; ")).into()) }
}

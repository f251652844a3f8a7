//! One owner with many messages of chat: how large the file is and by what, how fast it is filled, and how long the first
//! search of a process and the later ones take, by words alone and by words and meaning.
//!
//! `cargo bench -p memory-sqlite --bench large`; `-- 30000` for this many messages, `-- 30000 DIR` to keep the file in `DIR`
//! and to measure the one that is there already.
//!
//! Beside each time that passed stands the processor time of all threads, which tells more on a machine that is shared.
//!
//! A message has 470 bytes in the mean. Half of its words follow Zipf's law, half are of the topic of its conversation: so the
//! file of a version before had 2.8 KB a message without vectors, as one of real chat had. The vector is the mean of the
//! words' vectors, as that of the embedder which is the default, and as long: 256 numbers.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Search};
use memory_core::model::{Embedder, Purpose};
use memory_core::time::Stopwatch;
use memory_core::vector::EmbeddingSpace;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Result, Role, Scope, SessionId, Timestamp, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};
use memory_testkit::bench::{cpu, resident, say};
use memory_testkit::generate::{Random, unit_vector};
use sqlx::{Connection as _, SqliteConnection};

/// As many messages as the goals are set for.
const MESSAGES: usize = 304_248;
/// Messages of a conversation.
const SESSION: usize = 24;
const DIMENSION: usize = 256;
const VOCABULARY: usize = 30_000;
/// Words of a conversation's topic.
const TOPIC: usize = 60;
/// First searches, each of a process of its own.
const PROCESSES: usize = 9;
/// Later searches of one process.
const SEARCHES: usize = 200;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Words by rank: the most frequent ones are those of English that analysis drops, the others are made of syllables.
struct Words {
    texts: Vec<String>,
    sums: Vec<f64>,
}

impl Words {
    fn new() -> Self {
        const FREQUENT: &str = "the to and i a of it in you is that for on my me with be have was so this but not are we \
            at your do what just can if or as all will about an like they there get how out up from one would when";
        let (mut random, mut texts) = (Random::new(5), Vec::with_capacity(VOCABULARY));
        texts.extend(FREQUENT.split_ascii_whitespace().map(str::to_owned));
        let syllables =
            ["an", "er", "in", "ta", "lo", "ri", "en", "st", "mo", "ca", "ble", "tor", "pe", "si", "du", "ing"];
        let mut seen: std::collections::HashSet<String> = texts.iter().cloned().collect();
        while texts.len() < VOCABULARY {
            let count = 2 + random.below(3);
            let word: String = (0..count).map(|_| random.pick(&syllables)).collect();
            if seen.insert(word.clone()) {
                texts.push(word);
            }
        }
        let weights = (0..VOCABULARY).map(|rank| 1.0 / (rank as f64 + 2.7));
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { texts, sums: sums.collect() }
    }

    fn draw(&self, random: &mut Random) -> &str {
        let sought = random.unit() * self.sums.last().copied().unwrap_or_default();
        let rank = self.sums.partition_point(|sum| *sum < sought);
        self.texts.get(rank).map_or("", String::as_str)
    }

    /// Returns a text of sentences with at least this many bytes.
    fn text(&self, random: &mut Random, topic: &[&str], bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let word = if random.chance(1, 2) { random.pick(topic) } else { self.draw(random) };
            let begins = text.is_empty() || text.ends_with(". ");
            text.extend(
                word.chars().enumerate().map(|(at, c)| if begins && at == 0 { c.to_ascii_uppercase() } else { c }),
            );
            text.push_str(if random.chance(1, 12) { ". " } else { " " });
        }
        text.trim_end().to_owned()
    }

    /// Returns a question of some words that are neither rare nor frequent above all.
    fn question(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..8).map(|_| self.draw(random)).collect();
        words.join(" ") + "?"
    }
}

/// The length of a message: short ones of a person, long ones of a model; 470 bytes in the mean.
fn length(random: &mut Random, role: Role) -> usize {
    let (least, most) = if role == Role::User { (12.0, 780.0) } else { (80.0, 2_700.0) };
    (least * f64::powf(most / least, random.unit())) as usize
}

/// Gives each word a vector, and a text the mean of its words'.
#[derive(Debug)]
struct Means {
    space: EmbeddingSpace,
    words: Mutex<HashMap<String, Arc<[f32]>>>,
}

impl Means {
    fn new() -> Self {
        let (model, recipe) = ("bench".to_owned(), "mean-1".to_owned());
        let space = EmbeddingSpace { model, dimension: DIMENSION, normalised: true, recipe };
        Self { space, words: Mutex::default() }
    }

    fn one(&self, text: &str) -> Vec<f32> {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = vec![0.0; DIMENSION];
        for word in text.split([' ', '.', '?', ':']).filter(|word| !word.is_empty()) {
            let seed =
                word.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(131).wrapping_add(u64::from(byte | 0x20)));
            if !words.contains_key(word) {
                words.insert(word.to_owned(), unit_vector(&mut Random::new(seed), DIMENSION).into());
            }
            let vector = words.get(word).map(AsRef::as_ref).unwrap_or_default();
            sum.iter_mut().zip(vector).for_each(|(sum, number): (&mut f32, &f32)| *sum += number);
        }
        sum
    }
}

#[async_trait]
impl Embedder for Means {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| self.one(text)).collect())
    }
}

async fn open(path: &Path, with_vectors: bool) -> Result<Memory> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&file)));
    let records = Truth::records(Arc::new(SqliteRecords::new(&file)));
    let mut builder = Memory::builder(chat, records).text(Arc::new(SqliteText::new(&file, Analysis::english().name())));
    if with_vectors {
        let embedder = Arc::new(Means::new());
        builder = builder.vectors(Arc::new(SqliteVectors::new(&file, embedder.space().clone())), embedder);
    }
    builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await
}

fn owner() -> Result<Scope> {
    Scope::new("bench", "ada")
}

async fn fill(path: &Path, count: usize) -> Outcome<()> {
    let (memory, words, mut random) = (open(path, true).await?, Words::new(), Random::new(11));
    let (owner, mut bytes) = (memory.of(&owner()?), 0);
    let watch = Stopwatch::start();
    for (number, from) in (0..count).step_by(SESSION).enumerate() {
        let session = owner.session(&SessionId::new(&random.id().to_string())?);
        let begin = number as i64 * 3_600_000_000 + 1_600_000_000_000_000;
        let topic: Vec<&str> = (0..TOPIC).map(|_| words.draw(&mut random)).collect();
        let message = |place: usize, random: &mut Random| {
            let role = if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
            let text = {
                let bytes = length(random, role);
                words.text(random, &topic, bytes)
            };
            Message::new(role, text, Timestamp(begin + (place - from) as i64 * 47_123_456))
        };
        let messages: Vec<Message> =
            (from..count.min(from + SESSION)).map(|place| message(place, &mut random)).collect();
        bytes += messages.iter().map(|message| message.text().len()).sum::<usize>();
        session.append(messages).await?;
    }
    let appended = watch.elapsed().as_secs_f64();
    loop {
        let report = memory.upkeep_once().await?;
        if !report.failures.is_empty() {
            return Err(report.failures.join(", ").into());
        }
        if report.indexed == 0 {
            break;
        }
    }
    let all = watch.elapsed().as_secs_f64();
    memory.close().await?;
    say(&format!("{count} messages of {} bytes in the mean", bytes / count.max(1)));
    let worked = cpu().as_secs_f64();
    say(&format!("filled in {all:.1} s, {:.0} a second; {appended:.1} s of it appending", count as f64 / all));
    say(&format!("processor time {worked:.1} s, {:.0} a second", count as f64 / worked));
    Ok(())
}

/// Writes what each table and index takes.
async fn sizes(path: &Path, count: usize) -> Outcome<()> {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await?;
    let size = std::fs::metadata(path)?.len();
    say(&format!("the file has {:.1} MB, {} bytes a message", size as f64 / 1e6, size as usize / count.max(1)));
    let sql = "SELECT name, sum(pgsize), sum(payload), sum(ncell) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 24";
    let rows: std::result::Result<Vec<(String, i64, i64, i64)>, _> =
        sqlx::query_as(sql).fetch_all(&mut connection).await;
    let Ok(rows) = rows else {
        say("this SQLite was built without dbstat");
        return Ok(());
    };
    for (name, bytes, payload, cells) in rows {
        let each = bytes as f64 / count.max(1) as f64;
        say(&format!(
            "{name:<28} {:>8.1} MB {each:>8.1} bytes a message, {payload:>11} payload, {cells:>9} cells",
            bytes as f64 / 1e6
        ));
    }
    Ok(())
}

/// Returns a search's milliseconds, and those of the processor.
async fn search(memory: &Memory, words: &str) -> Outcome<(f64, f64)> {
    let owner = memory.of(&owner()?);
    let (before, watch) = (cpu(), Stopwatch::start());
    let found = owner.search(&Search::new(words)).await?;
    let took = (watch.elapsed().as_secs_f64() * 1e3, cpu().saturating_sub(before).as_secs_f64() * 1e3);
    if found.hits.len() < 10 || !found.receipt.degraded.is_empty() {
        return Err(format!("{} hits, {:?}", found.hits.len(), found.receipt.degraded).into());
    }
    Ok(took)
}

/// The part of a process of its own: opens the file, searches once, then often.
async fn child(path: &Path, with_vectors: bool, number: usize) -> Outcome<()> {
    let (words, mut random) = (Words::new(), Random::new(100 + number as u64));
    let memory = open(path, with_vectors).await?;
    // The table of words is made before the clock starts, as the program's is.
    let questions: Vec<String> = (0..=SEARCHES).map(|_| words.question(&mut random)).collect();
    let say_times = |kind: &str, (passed, worked): (f64, f64)| say(&format!("{kind} {passed} {worked}"));
    say_times("first", search(&memory, questions.first().map_or("", String::as_str)).await?);
    if number == 0 {
        for kind in ["other", "again"] {
            let mut times = Vec::new();
            for words in questions.iter().skip(1) {
                times.push(search(&memory, words).await?);
            }
            times.into_iter().for_each(|time| say_times(kind, time));
        }
        let (now, most) = resident();
        say(&format!("resident {} kB, at most {} kB", now >> 10, most >> 10));
    }
    Ok(())
}

/// Starts the processes that search.
fn searches(path: &Path, kind: &str) -> Outcome<()> {
    let mut times: HashMap<String, Vec<(f64, f64)>> = HashMap::new();
    let mut resident = String::new();
    for number in 0..PROCESSES {
        let output = Command::new(std::env::current_exe()?)
            .args([format!("child={kind}"), format!("number={number}"), path.display().to_string()])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("resident", rest)) => resident = rest.to_owned(),
                Some((name, pair)) => {
                    let (passed, worked) = pair.split_once(' ').ok_or("a time without that of the processor")?;
                    times.entry(name.to_owned()).or_default().push((passed.parse()?, worked.parse()?));
                }
                None => {}
            }
        }
    }
    for (name, title) in
        [("first", "first of a process"), ("other", "for words new to it"), ("again", "for the same again")]
    {
        let times = times.remove(name).unwrap_or_default();
        let sorted = |of: fn(&(f64, f64)) -> f64| {
            let mut list: Vec<f64> = times.iter().map(of).collect();
            list.sort_by(f64::total_cmp);
            move |share: f64| {
                list.get((list.len().saturating_sub(1) as f64 * share).round() as usize).copied().unwrap_or_default()
            }
        };
        let (passed, worked) = (sorted(|(passed, _)| *passed), sorted(|(_, worked)| *worked));
        say(&format!(
            "{kind:<8} {title:<22} p50 {:>8.2} ms   p99 {:>8.2} ms   processor p50 {:>8.2} ms   of {}",
            passed(0.5),
            passed(0.99),
            worked(0.5),
            times.len()
        ));
    }
    say(&format!("{kind:<8} resident {resident}"));
    Ok(())
}

async fn run() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let named = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let place = arguments.iter().find(|argument| argument.contains('/')).map(Path::new);
    if let (Some(kind), Some(path)) = (named("child="), place) {
        let number = named("number=").and_then(|number| number.parse().ok()).unwrap_or_default();
        return child(path, kind == "both", number).await;
    }
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(MESSAGES);
    let folder = tempfile::tempdir()?;
    let path = place.unwrap_or(folder.path()).join(format!("{count}.db"));
    if !path.exists() {
        fill(&path, count).await?;
    }
    sizes(&path, count).await?;
    searches(&path, "words")?;
    searches(&path, "both")
}

fn main() -> Outcome<()> {
    tokio::runtime::Runtime::new()?.block_on(run())
}

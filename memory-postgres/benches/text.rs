//! How long putting and searching texts take, over generated messages of one owner; and the raw
//! driver reading the rows that a search reads.
//!
//! `cargo bench -p memory-postgres --bench text`

mod measure;

use memory_core::store::Store as _;
use memory_core::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit, Version,
};
use memory_postgres::{PgText, Postgres};
use memory_testkit::generate::Random;
use sqlx::postgres::PgPool;

use measure::server::{self, raw};
use measure::{Times, heading, say};

/// Messages of one owner, as many as the pool of LongMemEval has.
const MESSAGES: usize = 10_866;

/// Different words; the n-th is n times rarer than the first, as in natural text.
const VOCABULARY: usize = 30_000;

/// Words so frequent that analysis would have dropped them.
const STOPPED: usize = 30;

/// Draws words by their frequency.
struct Words {
    /// The sums of the words' weights.
    sums: Vec<f64>,
}

impl Words {
    fn new() -> Self {
        let weights = (STOPPED..STOPPED + VOCABULARY).map(|rank| 1.0 / (rank as f64 + 2.7));
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let total = self.sums.last().copied().unwrap_or_default();
        let sought = random.unit() * total;
        self.sums.partition_point(|sum| *sum < sought)
    }
}

/// Counts of words, in the order of the words.
type Counts = std::collections::BTreeMap<usize, u32>;

/// Returns the words of a message: about 60 different ones in the mean, up to about 600.
fn message(random: &mut Random, words: &Words) -> Counts {
    let length = (21.0 / (1.0 - random.unit()).powf(0.75)).min(750.0) as usize;
    let mut counts = Counts::new();
    for _ in 0..length {
        *counts.entry(words.draw(random)).or_default() += 1;
    }
    counts
}

fn term(word: usize) -> Result<Term> {
    Term::new(&format!("w{word:x}"))
}

/// Returns the entry of a message among its neighbours, whose counts are damped by length as core damps them.
fn entry(number: usize, own: &Counts, neighbours: &[&Counts], fresh: bool) -> Result<TextEntry> {
    let mut near = std::collections::BTreeMap::new();
    let damp = |counts: &Counts| (30.0 / counts.len().max(1) as f32).min(1.0);
    for neighbour in neighbours {
        for (word, count) in *neighbour {
            *near.entry(*word).or_insert(0.0) += 0.4 * damp(own) * damp(neighbour) * *count as f32;
        }
    }
    let session = SessionId::new(&format!("session {}", number / 12))?;
    let mut fields = Fields::of_span(&session, Seq(number as u64 % 12 + 1), Timestamp(number as i64 * 1_000_000));
    fields.unit = Unit::Message;
    fields.role = Some(if number.is_multiple_of(2) { Role::User } else { Role::Assistant });
    let item = if fresh { MessageId::fresh() } else { MessageId::of_content(&number.to_le_bytes()) };
    Ok(TextEntry {
        item: ItemId::Message(item),
        version: Version { epoch: Epoch(0), revision: 0 },
        own: own.iter().map(|(word, count)| Ok((term(*word)?, *count))).collect::<Result<_>>()?,
        near: near.into_iter().map(|(word, count)| Ok((term(word)?, count))).collect::<Result<_>>()?,
        fields,
    })
}

fn entries(random: &mut Random, words: &Words, count: usize, fresh: bool) -> Result<Vec<TextEntry>> {
    let messages: Vec<Counts> = (0..count).map(|_| message(random, words)).collect();
    let entry = |(number, own): (usize, &Counts)| {
        let before = number.checked_sub(1).and_then(|before| messages.get(before));
        let neighbours: Vec<_> = before.into_iter().chain(messages.get(number + 1)).collect();
        entry(number, own, &neighbours, fresh)
    };
    messages.iter().enumerate().map(entry).collect()
}

/// Returns entries of about 100 own and 200 near words each.
fn wide_entries(random: &mut Random, words: &Words, count: usize) -> Result<Vec<TextEntry>> {
    let wide = |random: &mut Random, least: usize| {
        let mut counts = Counts::new();
        while counts.len() < least {
            *counts.entry(words.draw(random)).or_default() += 1;
        }
        counts
    };
    (0..count)
        .map(|number| {
            let (own, near) = (wide(random, 100), wide(random, 200));
            entry(number, &own, &[&near], true)
        })
        .collect()
}

fn queries(random: &mut Random, words: &Words, filter: &Filter) -> Result<Vec<TextQuery>> {
    let query = |random: &mut Random| {
        let mut terms: Vec<Term> = Vec::new();
        while terms.len() < 8 {
            let term = term(words.draw(random))?;
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        Ok(TextQuery { terms, unit: Unit::Message, filter: filter.clone(), limit: 100 })
    };
    (0..50).map(|_| query(random)).collect()
}

async fn search(text: &PgText, words: &Words) -> Result<()> {
    let (mut random, scope) = (Random::new(2), Scope::new("bench", "large")?);
    let filters = [
        ("search", Filter::All),
        ("search, what is current", Filter::current(Timestamp(0))),
        ("search, half of the messages", Filter::eq(Field::Role, "user")),
        ("search, one of 906 sessions", Filter::eq(Field::Session, "session 400")),
    ];
    for (name, filter) in filters {
        let queries = queries(&mut random, words, &filter)?;
        let times = Times::of(200, async |number| {
            let Some(query) = queries.get(number % queries.len()) else { return Ok(()) };
            text.search(&scope, query).await.map(|_| ())
        });
        times.await?.report(name);
    }
    Ok(())
}

async fn put(text: &PgText, words: &Words) -> Result<()> {
    let (mut random, scope) = (Random::new(3), Scope::new("bench", "large")?);
    let batches = (0..20).map(|_| wide_entries(&mut random, words, 256)).collect::<Result<Vec<_>>>()?;
    let put = async |entries: Option<&[TextEntry]>| {
        text.put(&scope, entries.unwrap_or_default(), Visibility::OnReturn).await.map(|_| ())
    };
    let times = Times::of(batches.len(), async |number| put(batches.get(number).map(Vec::as_slice)).await).await?;
    times.report("put 256 entries of 300 words");
    let stream = entries(&mut random, words, 501, true)?;
    let times = Times::of(500, async |number| put(stream.get(number..number + 2)).await).await?;
    times.report("put a message, and the one before it again");
    Ok(())
}

/// Puts all messages, and returns how many different words they have in the mean.
async fn fill(text: &PgText, words: &Words) -> Result<usize> {
    let scope = Scope::new("bench", "large")?;
    let entries = entries(&mut Random::new(1), words, MESSAGES, false)?;
    let batches: Vec<_> = entries.chunks(256).collect();
    let times = Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        text.put(&scope, batch, Visibility::AfterFlush).await.map(|_| ())
    });
    times.await?.report("put 256 messages");
    Ok(entries.iter().map(|entry| entry.own.len()).sum::<usize>() / entries.len())
}

/// Reads the owner's statistics, the tail, the segments and the lists of a query's terms, a statement each; none of it is
/// ranked, filtered or told apart from what other owners have.
async fn search_raw(pool: &PgPool, words: &Words) -> Result<()> {
    const STATEMENTS: [&str; 2] = [
        "SELECT item, length, at, terms FROM bench.text_tail WHERE scope = $1",
        "SELECT segment, documents FROM bench.text_segment WHERE scope = $1",
    ];
    let lists = "SELECT segment, term, postings FROM bench.text_posting WHERE scope = $1 AND term = ANY ($2)";
    let (mut random, scope) = (Random::new(2), Scope::new("bench", "large")?);
    let queries = queries(&mut random, words, &Filter::All)?;
    let times = Times::of(200, async |number| {
        let Some(query) = queries.get(number % queries.len()) else { return Ok(()) };
        for sql in STATEMENTS {
            raw(sqlx::query(sql).bind(scope.key()).fetch_all(pool).await)?;
        }
        let terms: Vec<_> = query.terms.iter().map(Term::as_str).collect();
        raw(sqlx::query(lists).bind(scope.key()).bind(terms).fetch_all(pool).await).map(|_| ())
    });
    times.await?.report("search, raw driver");
    Ok(())
}

async fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let words = Words::new();
    let (database, pool): (Postgres, PgPool) = server::open().await?;
    heading();
    // An index of its own each time: what is erased in the end stays erased.
    let text = PgText::new(&database, &uuid::Uuid::now_v7().to_string());
    let mean = fill(&text, &words).await?;
    say(&format!("{MESSAGES} messages of {mean} different words in the mean"));
    search_raw(&pool, &words).await?;
    search(&text, &words).await?;
    put(&text, &words).await?;
    text.erase(&Scope::new("bench", "large")?, Epoch(1)).await?;
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}

//! Times of a text store, over generated messages of one owner.

use std::collections::BTreeMap;

use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore, Visibility};
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp, Unit, Version,
};

use super::{Times, say};
use crate::generate::Random;

/// Messages of the large owner, as many as the pool of LongMemEval has.
pub const MESSAGES: usize = 10_866;

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
type Counts = BTreeMap<usize, u32>;

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
    let mut near = BTreeMap::new();
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

fn draw_queries(random: &mut Random, words: &Words, filter: &Filter) -> Result<Vec<TextQuery>> {
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

/// Returns the owner of the messages.
///
/// # Errors
/// None.
pub fn large() -> Result<Scope> {
    Scope::new("bench", "large")
}

/// Returns 50 questions of eight words each, the same at every call.
///
/// # Errors
/// None.
pub fn queries() -> Result<Vec<TextQuery>> {
    draw_queries(&mut Random::new(2), &Words::new(), &Filter::All)
}

/// Searches what [`fill`] put: everything, by three filters, 200 times each.
///
/// # Errors
/// The first error of the store.
pub async fn search(text: &dyn TextStore) -> Result<()> {
    let words = &Words::new();
    let (mut random, scope) = (Random::new(2), large()?);
    let filters = [
        ("search", Filter::All),
        ("search, what is current", Filter::current(Timestamp(0))),
        ("search, half of the messages", Filter::eq(Field::Role, "user")),
        ("search, one of 906 sessions", Filter::eq(Field::Session, "session 400")),
    ];
    for (name, filter) in filters {
        let queries = draw_queries(&mut random, words, &filter)?;
        let times = Times::of(200, async |number| {
            let Some(query) = queries.get(number % queries.len()) else { return Ok(()) };
            text.search(&scope, query).await.map(|_| ())
        });
        times.await?.report(name);
    }
    Ok(())
}

/// Puts wide batches, and a stream of messages beside what [`fill`] put.
///
/// # Errors
/// The first error of the store.
pub async fn put(text: &dyn TextStore) -> Result<()> {
    let words = &Words::new();
    let (mut random, scope) = (Random::new(3), large()?);
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

/// Puts [`MESSAGES`] messages of the owner [`large`], and tells how many different words they have in the mean.
///
/// # Errors
/// The first error of the store.
pub async fn fill(text: &dyn TextStore) -> Result<()> {
    let words = &Words::new();
    let scope = large()?;
    let entries = entries(&mut Random::new(1), words, MESSAGES, false)?;
    let batches: Vec<_> = entries.chunks(256).collect();
    let times = Times::of(batches.len(), async |number| {
        let batch = batches.get(number).copied().unwrap_or_default();
        text.put(&scope, batch, Visibility::AfterFlush).await.map(|_| ())
    });
    times.await?.report("put 256 messages");
    let mean = entries.iter().map(|entry| entry.own.len()).sum::<usize>() / entries.len();
    say(&format!("{MESSAGES} messages of {mean} different words in the mean"));
    Ok(())
}

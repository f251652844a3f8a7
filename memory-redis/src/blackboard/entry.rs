//! Entries as bytes: `number at expiry `, which scripts read, then value, terms and vector, each with its length.

use std::collections::HashSet;

use memory_core::error::Result;
use memory_core::store::blackboard::{Posted, Sought};
use memory_core::store::text::Term;
use memory_core::time::Timestamp;
use memory_core::vector::Similarity;

use crate::error::damaged;
use crate::reply::number;

/// An entry that was read.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Tells it from every other entry that the board had.
    pub(super) number: u64,
    at: Timestamp,
    expires_at: Option<Timestamp>,
    value: String,
    terms: HashSet<Term>,
    /// Its vector at unit length.
    direction: Option<Vec<f32>>,
}

/// How often an entry was used, and when last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uses {
    pub(super) count: u64,
    pub(super) last: Option<Timestamp>,
}

impl Uses {
    /// Reads `count time`, or nothing for an entry that was never used.
    pub(super) fn decode(text: &str) -> Result<Self> {
        let Some((count, last)) = text.split_once(' ') else { return Ok(Self { count: 0, last: None }) };
        Ok(Self { count: number(count)?, last: Some(time(last)?) })
    }
}

/// Reads a time in microseconds.
pub(super) fn time(text: &str) -> Result<Timestamp> {
    text.parse().map(Timestamp).map_err(|_| damaged("a time is no number"))
}

/// Returns the content of an entry.
pub(super) fn encode(value: &str, terms: &[Term], direction: Option<&[f32]>) -> Vec<u8> {
    let terms = terms.iter().map(Term::as_str).collect::<Vec<_>>().join(" ");
    let vector: Vec<u8> = direction.unwrap_or_default().iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut bytes = Vec::with_capacity(value.len() + terms.len() + vector.len() + 24);
    for part in [value.as_bytes(), terms.as_bytes(), &vector] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

impl Entry {
    /// Reads an entry.
    pub(super) fn decode(key: String, bytes: &[u8]) -> Result<Self> {
        let odd = || damaged("an entry has another shape");
        let mut parts = bytes.splitn(4, |byte| *byte == b' ');
        let mut part = || parts.next().ok_or_else(odd);
        let (number, at, expiry, mut rest) = (text(part()?)?, text(part()?)?, text(part()?)?, part()?);
        let micros = |text: &str| text.parse().map(Timestamp).map_err(|_| odd());
        let value = text(take(&mut rest)?)?.to_owned();
        let terms = text(take(&mut rest)?)?.split(' ').filter(|term| !term.is_empty()).map(Term::new);
        let terms = terms.collect::<Result<_>>().map_err(|_| odd())?;
        let vector: Vec<f32> = take(&mut rest)?
            .chunks_exact(4)
            .filter_map(|bytes| bytes.try_into().ok().map(f32::from_le_bytes))
            .collect();
        Ok(Self {
            key,
            number: number.parse().map_err(|_| odd())?,
            at: micros(at)?,
            // A life that is too long for a number never ends.
            expires_at: if expiry == "-" { None } else { Some(micros(expiry).unwrap_or(Timestamp(i64::MAX))) },
            value,
            terms,
            direction: (!vector.is_empty()).then_some(vector),
        })
    }

    /// Returns the entry as the board gives it.
    pub(super) fn posted(self, Uses { count, last }: Uses) -> Posted {
        let Self { key, number: _, at, expires_at, value, terms: _, direction: _ } = self;
        Posted { key, value, at, expires_at, access_count: count, last_accessed: last }
    }

    /// Returns how near it is to what is sought; none if it is no hit.
    pub(super) fn similarity(&self, sought: &Sought<'_>) -> Option<Similarity> {
        sought.similarity(&self.terms, self.direction.as_deref())
    }
}

/// Takes a part off the front.
fn take<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let odd = || damaged("an entry is cut off");
    let (length, behind) = rest.split_first_chunk::<8>().ok_or_else(odd)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| odd())?;
    let (part, behind) = behind.split_at_checked(length).ok_or_else(odd)?;
    *rest = behind;
    Ok(part)
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| damaged("a text is none"))
}

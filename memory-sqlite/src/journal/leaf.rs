//! What stands whole on the leaf pages of a damaged journal. It is read without SQLite, which finds nothing below a damaged page that
//! leads to others.
//!
//! Only rows that their page names are read, and each has to match its checksum: what was removed, and was not overwritten yet, does
//! not come back. The format: <https://www.sqlite.org/fileformat.html>

mod pages;

use std::path::Path;

use memory_core::error::Result;

use super::entry::{Entry, Stored};
use super::whole::Whole;
use pages::{PAGE, Pages, word};

/// The first byte of a page that holds rows.
const LEAF: u8 = 13;

/// How many bytes stand before the first page's own.
const FILE_HEAD: usize = 100;

/// How many columns the widest table has.
const WIDEST: usize = 11;

/// How many bytes of a row stand on its page at most; and at least, if the others stand on further pages.
const MOST: usize = PAGE - 35;
const LEAST: usize = (PAGE - 12) * 32 / 255 - 23;

/// How many bytes of a row stand on each further page, behind the number of the next one.
const FURTHER: usize = PAGE - 4;

/// What was found on leaf pages.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// The whole entries, in no order.
    pub(super) entries: Vec<Entry>,
    /// What the entries were as a whole, if that was found.
    pub(super) whole: Option<Whole>,
}

impl Leaves {
    /// Reads all leaf pages of the journal at `path` and of its log.
    ///
    /// # Errors
    /// `Backend` if the file or its log cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let pages = Pages::read(path)?;
        let mut found = Self::default();
        // Each further page belongs to one row, so that an undamaged file needs no more. Damaged rows may lead in circles.
        let mut steps = u64::from(pages.count()) * 8;
        for number in 1..=pages.count() {
            let Some(page) = pages.get(number) else { continue };
            for cell in cells(page, number) {
                if let Some((rowid, row)) = row(&pages, page, cell, &mut steps) {
                    found.take(rowid, &row);
                }
            }
        }
        Ok(found)
    }

    /// Keeps a row, if it is an entry that is whole, or tells what the entries are as a whole.
    fn take(&mut self, rowid: u64, row: &[u8]) {
        let Some(values) = values(row) else { return };
        match entry(rowid, &values) {
            Some(entry) => self.entries.push(entry),
            None => self.whole = whole(&values).or(self.whole.take()),
        }
    }
}

/// Returns where the rows of a page begin; none unless it is a leaf page.
fn cells(page: &[u8], number: u32) -> impl Iterator<Item = usize> {
    let head = if number == 1 { FILE_HEAD } else { 0 };
    let half = move |at: usize| page.get(at..)?.first_chunk().copied().map(u16::from_be_bytes).map(usize::from);
    let count = if page.get(head) == Some(&LEAF) { half(head + 3).unwrap_or_default() } else { 0 };
    (0..count).map_while(move |cell| half(head + 8 + cell * 2))
}

/// Returns the number and the content of the row at `cell`, with what stands on further pages. `steps` tells how many of these may
/// still be read.
fn row(pages: &Pages, page: &[u8], cell: usize, steps: &mut u64) -> Option<(u64, Vec<u8>)> {
    let mut rest = page.get(cell..)?;
    let length = usize::try_from(varint(&mut rest)?).ok()?;
    let rowid = varint(&mut rest)?;
    let here = on_page(length);
    let mut row = rest.get(..here)?.to_vec();
    let mut next = if here < length { word(rest, here)? } else { 0 };
    while row.len() < length {
        *steps = steps.checked_sub(1)?;
        let further = pages.get(next)?;
        next = word(further, 0)?;
        row.extend_from_slice(further.get(4..4 + FURTHER.min(length - row.len()))?);
    }
    Some((rowid, row))
}

/// Returns how many bytes of a row of this length stand on its own page.
fn on_page(length: usize) -> usize {
    if length <= MOST {
        return length;
    }
    let fits = LEAST + (length - LEAST) % FURTHER;
    if fits <= MOST { fits } else { LEAST }
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Null,
    Number(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
}

/// Returns the values of a row; none if it is not one of a journal.
fn values(row: &[u8]) -> Option<Vec<Value<'_>>> {
    let mut kinds = row;
    let head = usize::try_from(varint(&mut kinds)?).ok()?;
    let mut kinds = row.get(row.len() - kinds.len()..head)?;
    let mut rest = row.get(head..)?;
    let mut values = Vec::new();
    while !kinds.is_empty() {
        let kind = varint(&mut kinds)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind,
            5 => 6,
            6 => 8,
            // Fractions and kinds that are not used.
            7 | 10 | 11 => return None,
            _ => (kind - 12) / 2,
        };
        let (bytes, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        rest = behind;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Number(signed(bytes)),
            8 => Value::Number(0),
            9 => Value::Number(1),
            _ if kind.is_multiple_of(2) => Value::Bytes(bytes),
            _ => Value::Text(std::str::from_utf8(bytes).ok()?),
        });
        if values.len() > WIDEST {
            return None;
        }
    }
    Some(values)
}

/// Returns a number of up to nine bytes, of which all but the last have their highest bit set, unless it has nine.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 1..=9 {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        if place == 9 {
            return Some((number << 8) | u64::from(*byte));
        }
        number = (number << 7) | u64::from(byte & 0x7f);
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Returns a number of up to eight bytes, the first of which tells its sign.
fn signed(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number: i64, byte| (number << 8) | i64::from(*byte))
}

/// Returns the entry that these values are, if it is whole.
fn entry(rowid: u64, values: &[Value<'_>]) -> Option<Entry> {
    use Value::{Bytes, Null, Number, Text};
    let [Null, Text(scope), Text(session), epoch, generation, counts @ .., Bytes(body), why, Bytes(sum)] = values
    else {
        return None;
    };
    let [Number(asked), Number(tokens), Number(counter)] = counts else { return None };
    let perhaps = |value: &Value<'_>| match value {
        Null => Some(None),
        Number(number) => Some(Some(*number)),
        Bytes(_) | Text(_) => None,
    };
    let stored = Stored {
        number: rowid,
        scope,
        session,
        epoch: perhaps(epoch)?,
        generation: perhaps(generation)?,
        asked: *asked,
        tokens: *tokens,
        counter: *counter,
        body,
        why: text(why)?,
        sum,
    };
    Entry::of(&stored).ok()
}

/// Returns what the entries are as a whole, if that is what these values are.
fn whole(values: &[Value<'_>]) -> Option<Whole> {
    use Value::{Bytes, Null, Number};
    let [Null, Number(last), Number(count), Bytes(mark), truth, Bytes(sum)] = values else { return None };
    Whole::of(*last, *count, mark, text(truth)?, sum)
}

/// Returns a text that may be absent; none if the value is something else.
fn text<'a>(value: &Value<'a>) -> Option<Option<&'a str>> {
    match value {
        Value::Null => Some(None),
        Value::Text(text) => Some(Some(*text)),
        Value::Number(_) | Value::Bytes(_) => None,
    }
}

#[cfg(test)]
mod tests;

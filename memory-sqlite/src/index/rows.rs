//! Inserting many rows in one statement, and binding lists as one value.

use std::fmt::Display;

use memory_core::Result;
use sqlx::query_builder::Separated;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, QueryBuilder, Row as _, Sqlite, SqliteConnection};

use super::corrupt;
use crate::error::Doing;

/// The most rows of one statement; a power of two.
const MOST: usize = 128;

/// Inserts all rows: `head` begins the statement, `bind` binds the columns of one row.
///
/// The rows of a statement are a power of two, so that a few prepared statements serve any number.
pub(crate) async fn insert<T: Sync>(
    connection: &mut SqliteConnection,
    head: &'static str,
    rows: &[T],
    bind: impl Fn(&mut Separated<'_, Sqlite, &'static str>, &T) + Send + Sync,
) -> Result<()> {
    let mut rest = rows;
    while let Some(bits) = rest.len().min(MOST).checked_ilog2() {
        let (now, later) = rest.split_at(1 << bits);
        let mut sql = QueryBuilder::new(head);
        sql.push_values(now, |mut columns, row| bind(&mut columns, row));
        sql.build().execute(&mut *connection).await.doing("write the index")?;
        rest = later;
    }
    Ok(())
}

/// Many rows, each of some words and bytes, packed into one row by the statement.
///
/// SQLite runs in a thread of its own, and handing over row by row takes longer than reading them. One text holds the words of
/// each row and the length of its bytes, separated by spaces; all bytes are concatenated. Both are null without rows.
pub(crate) struct Packed(Option<String>, Option<Vec<u8>>);

impl FromRow<'_, SqliteRow> for Packed {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self(row.try_get(0)?, row.try_get(1)?))
    }
}

impl Packed {
    /// Returns the rows, each with so many words.
    pub(crate) fn rows<const WORDS: usize>(&self) -> Result<Vec<([&str; WORDS], &[u8])>> {
        let (Self(Some(words), Some(bytes)), mut rows) = (self, Vec::new()) else { return Ok(Vec::new()) };
        let (mut words, mut rest) = (words.split(' ').peekable(), bytes.as_slice());
        while words.peek().is_some() {
            let mut row = [""; WORDS];
            row.iter_mut().zip(words.by_ref()).for_each(|(place, word)| *place = word);
            // Behind the words of a row stands a length, so a row that lacks a word lacks that.
            let length = words.next().and_then(|length| length.parse().ok());
            let split = length.and_then(|length| rest.split_at_checked(length));
            let (taken, left) = split.ok_or_else(|| corrupt("packed rows are of another length"))?;
            rows.push((row, taken));
            rest = left;
        }
        Ok(rows)
    }
}

/// Returns the list as JSON, for `json_each`.
pub(crate) fn json_numbers(numbers: impl IntoIterator<Item = i64>) -> String {
    json(numbers, |number, out| out.push_str(&number.to_string()))
}

/// Returns numbers, each with a number, as a JSON object, for `json_each`.
pub(crate) fn json_members<K: Display>(members: impl IntoIterator<Item = (K, i64)>) -> String {
    let mut out = json(members, |(key, number), out| out.push_str(&format!("\"{key}\":{number}")));
    out.replace_range(..1, "{");
    out.pop();
    out.push('}');
    out
}

fn json<T>(list: impl IntoIterator<Item = T>, push: impl Fn(T, &mut String)) -> String {
    let mut out = String::from("[");
    for (place, element) in list.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        push(element, &mut out);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::*;

    #[tokio::test]
    async fn bytes_of_every_kind_are_unpacked_as_they_were_packed() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let create = "CREATE TABLE row (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)";
        sqlx::query(create).execute(&mut connection).await.unwrap();
        let pack = "SELECT group_concat('w' || number || ' ' || number || ' ' || length(bytes), ' '), \
             CAST(group_concat(CAST(bytes AS TEXT), '') AS BLOB) FROM row";
        let nothing: Packed = sqlx::query_as(pack).fetch_one(&mut connection).await.unwrap();
        assert_eq!(nothing.rows::<2>().unwrap(), []);
        let all: Vec<u8> = (0..=255).rev().cycle().take(2_000).collect();
        let rows = [&b""[..], &[0], &all, b"\xff\x00 \xc3", b"", "\u{fdd0}".as_bytes()];
        for (number, bytes) in (0_i64..).zip(rows) {
            let insert = sqlx::query("INSERT INTO row VALUES (?, ?)").bind(number).bind(bytes);
            insert.execute(&mut connection).await.unwrap();
        }
        let packed: Packed = sqlx::query_as(pack).fetch_one(&mut connection).await.unwrap();
        let expected: Vec<_> = (0..).zip(rows).map(|(number, bytes)| (format!("w{number}"), number, bytes)).collect();
        let found = packed.rows::<2>().unwrap();
        let found: Vec<(String, i32, &[u8])> =
            found.iter().map(|([word, number], bytes)| (word.to_string(), number.parse().unwrap(), *bytes)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_packed_and_cut_is_damage() {
        for (words, bytes) in [("a 1 3", &b"ab"[..]), ("a 1", b"ab"), ("a 1 x", b"ab"), ("a 1 1 b", b"ab")] {
            assert!(Packed(Some(words.to_owned()), Some(bytes.to_vec())).rows::<2>().is_err(), "{words}");
        }
        let packed = |words: &str| Packed(Some(words.to_owned()), Some(b"ab".to_vec()));
        assert_eq!(packed("1 2 3 4 2").rows::<4>().unwrap(), [(["1", "2", "3", "4"], &b"ab"[..])]);
        for words in ["1 2 3 4", "1 2 3 4 3", "1 2 3 4 1 5"] {
            assert!(packed(words).rows::<4>().is_err(), "{words}");
        }
    }
}

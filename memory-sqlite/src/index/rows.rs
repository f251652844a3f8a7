//! Many rows in one statement, and lists as one bound value.

use memory_core::Result;
use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::error::Doing;

/// The most rows of one statement; a power of two.
const MOST: usize = 128;

/// Inserts all rows: `head` begins the statement, `bind` binds the columns of one row.
///
/// Statements hold a power of two of rows, so that a handful of them, prepared once, serves any number.
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

/// Returns the list as JSON, for `json_each`.
pub(crate) fn json_numbers(numbers: impl IntoIterator<Item = i64>) -> String {
    json(numbers, |number, out| out.push_str(&number.to_string()))
}

/// Returns the list as JSON, for `json_each`. Terms and keys are ASCII letters, digits, `-`, `_` and `.`: nothing in
/// them needs an escape.
pub(crate) fn json_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    json(keys, |key, out| {
        out.push('"');
        out.push_str(key);
        out.push('"');
    })
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

//! Converting core's numbers to SQLite's, which are signed, and back; and lists as statements take them.

use memory_core::error::Result;

use crate::error::BACKEND;

pub(crate) use memory_core::number::stored;

/// Returns a number that was stored.
///
/// # Errors
/// `Corrupt` for a negative one.
pub(crate) fn loaded(number: i64) -> Result<u64> {
    memory_core::number::loaded(BACKEND, number)
}

/// Returns the LIMIT of a statement for the limit of a call.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns ids as a JSON list of hexadecimal texts, so that one statement takes any number of them.
pub(crate) fn list<'a, B: AsRef<[u8]> + 'a>(ids: impl IntoIterator<Item = &'a B>) -> String {
    let mut text = String::from("[");
    for (place, id) in ids.into_iter().enumerate() {
        text.push_str(if place == 0 { "\"" } else { ",\"" });
        push_hex(&mut text, id.as_ref());
        text.push('"');
    }
    text.push(']');
    text
}

/// Adds the hexadecimal digits of an id.
pub(crate) fn push_hex(text: &mut String, id: &[u8]) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digits = id.iter().flat_map(|byte| [usize::from(byte >> 4), usize::from(byte & 15)]);
    text.extend(digits.filter_map(|digit| DIGITS.get(digit)));
}

/// The most rows of one statement.
const MOST_ROWS: usize = 64;

/// Splits rows into runs of powers of two, the longest first, so that few prepared statements suffice.
pub(crate) fn runs<T>(rows: &[T]) -> impl Iterator<Item = &[T]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let count = rest.len().min(MOST_ROWS);
        let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
        let (some, others) = rest.split_at(count);
        rest = others;
        (!some.is_empty()).then_some(some)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_every_row_once_and_in_order() {
        for count in 0..300 {
            let rows: Vec<usize> = (0..count).collect();
            assert!(runs(&rows).all(|run| run.len().is_power_of_two() && run.len() <= MOST_ROWS));
            assert_eq!(runs(&rows).collect::<Vec<_>>().concat(), rows);
        }
        assert_eq!(runs(&[0; 100]).map(<[i32]>::len).collect::<Vec<_>>(), [64, 32, 4]);
    }

    #[test]
    fn ids_are_listed_as_hexadecimal_texts() {
        let ids = [[0x0f; 16], [0xa0; 16]];
        assert_eq!(list::<[u8; 16]>([]), "[]");
        assert_eq!(list(&ids), format!("[\"{}\",\"{}\"]", "0f".repeat(16), "a0".repeat(16)));
    }
}

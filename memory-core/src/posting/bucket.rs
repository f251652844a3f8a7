//! Several terms with their lists side by side, so that a row does not hold one short list alone.

use super::bytes::{Damaged, Reader, put_number};

/// Returns the bytes of terms with the bytes of their lists: the length of each before it.
pub fn pack_lists<'l>(lists: impl Iterator<Item = (&'l str, &'l [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (term, list) in lists {
        for part in [term.as_bytes(), list] {
            put_number(&mut out, part.len() as u64);
            out.extend_from_slice(part);
        }
    }
    out
}

/// Reads what [`pack_lists`] wrote, and gives each term with the bytes of its list to `visit`.
///
/// # Errors
/// `Damaged` for invalid bytes. Discard what was visited before.
pub fn visit_lists<'b>(bytes: &'b [u8], mut visit: impl FnMut(&'b str, &'b [u8])) -> Result<(), Damaged> {
    let mut reader = Reader::new(bytes);
    let part = |reader: &mut Reader<'b>| {
        let length = usize::try_from(reader.number()?).map_err(|_| Damaged)?;
        reader.bytes(length)
    };
    while !reader.is_empty() {
        let term = std::str::from_utf8(part(&mut reader)?).map_err(|_| Damaged)?;
        visit(term, part(&mut reader)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Damaged> {
        let mut lists = Vec::new();
        visit_lists(bytes, |term, list| lists.push((term.to_owned(), list.to_vec())))?;
        Ok(lists)
    }

    proptest! {
        #[test]
        fn terms_and_lists_are_read_back(
            lists in prop::collection::vec(("[a-z]{0,20}", prop::collection::vec(any::<u8>(), 0..300)), 0..9),
        ) {
            let bytes = pack_lists(lists.iter().map(|(term, list)| (term.as_str(), list.as_slice())));
            prop_assert_eq!(read(&bytes), Ok(lists));
        }

        #[test]
        fn what_can_be_read_is_what_a_writer_makes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(lists) = read(&bytes) {
                let lists = lists.iter().map(|(term, list)| (term.as_str(), list.as_slice()));
                prop_assert_eq!(pack_lists(lists), bytes);
            }
        }
    }
}

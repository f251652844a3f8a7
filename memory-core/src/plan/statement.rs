//! SQL statements with named holes, for stores whose tables or conditions vary.

/// Splits the text of a statement at its holes, which are names in braces: `DELETE FROM {table} WHERE id = {id}`.
///
/// Yields the text before each hole with the hole's name, and finally the text after the last hole without a name. Braces
/// around anything but lower-case letters and underscores are text.
///
/// ```
/// use memory_core::plan::statement::holes;
///
/// let parts: Vec<_> = holes("DELETE FROM {table} WHERE tags = '{}'").collect();
/// assert_eq!(parts, [("DELETE FROM ", Some("table")), (" WHERE tags = '{}'", None)]);
/// ```
pub fn holes(text: &'static str) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let mut from = 0;
        while let Some(open) = text.get(from..)?.find('{').map(|found| from + found) {
            let close = text.get(open..)?.find('}').map(|found| open + found);
            let name = close.and_then(|close| text.get(open + 1..close));
            if let (Some(close), Some(name)) = (close, name.filter(|name| is_name(name))) {
                rest = text.get(close + 1..);
                return Some((text.get(..open)?, Some(name)));
            }
            from = open + 1;
        }
        Some((text, None))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_at_names_in_braces_alone() {
        let parts = |text| holes(text).collect::<Vec<_>>();
        assert_eq!(parts(""), [("", None)]);
        assert_eq!(parts("no hole"), [("no hole", None)]);
        assert_eq!(parts("{a}{b_c}"), [("", Some("a")), ("", Some("b_c")), ("", None)]);
        assert_eq!(parts("x {} {A} {1} {y} z"), [("x {} {A} {1} ", Some("y")), (" z", None)]);
        assert_eq!(parts("an open { brace"), [("an open { brace", None)]);
    }
}

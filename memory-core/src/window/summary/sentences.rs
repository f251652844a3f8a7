//! The sentences of a text, and their beginnings.

/// The most characters of a sentence that are kept.
pub(super) const SENTENCE: usize = 200;

/// The most characters if space is short.
pub(super) const SHORT_SENTENCE: usize = 80;

/// Returns the sentences. A sentence ends at the end of a line, at a full stop before a blank, or at a Chinese or Japanese
/// full stop.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(sentences_of_line).filter(|sentence| !sentence.is_empty())
}

fn sentences_of_line(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_before_blank = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends =
            matches!(character, '。' | '！' | '？') || (matches!(character, '.' | '!' | '?' | '…') && is_before_blank);
        if ends {
            let end = at + character.len_utf8() - (line.len() - rest.len());
            let (sentence, after) = rest.split_at(end);
            found.push(sentence.trim());
            rest = after;
        }
    }
    found.push(rest.trim());
    found
}

/// Returns at most so many characters of a text.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

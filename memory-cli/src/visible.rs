//! Text as it is shown: none can steer the terminal.

/// Returns text as one line that cannot steer a terminal: control characters, line ends, and characters that turn the
/// direction of writing are shown by their codes.
pub(crate) fn visible(text: &str) -> String {
    shown(text, |c| c.is_control() || is_line_end(c) || turns(c) || is_mark(c))
}

/// Returns text of several lines that cannot steer a terminal. Line breaks, tabs, and the marks that texts written from the
/// right need, stay.
pub(crate) fn visible_lines(text: &str) -> String {
    shown(&text.replace("\r\n", "\n"), |c| (c.is_control() && c != '\n' && c != '\t') || is_line_end(c) || turns(c))
}

fn shown(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// The ends of lines and paragraphs that are no control characters.
fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Embeddings, overrides, isolates and their ends, and the old characters that change how digits and letters look.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal_or_begin_a_line() {
        let name = "a\u{1b}[2J\r\n\u{9b}b\u{202e}c\u{2028}\u{200f}\td\u{7f}é日";
        assert_eq!(visible(name), "a\\u{1b}[2J\\r\\n\\u{9b}b\\u{202e}c\\u{2028}\\u{200f}\\td\\u{7f}é日");
    }

    #[test]
    fn what_was_said_keeps_its_lines() {
        let said = "one\r\ntwo\n\tthree\u{200f}\u{1b}]0;x\u{7}\u{2067}\r";
        assert_eq!(visible_lines(said), "one\ntwo\n\tthree\u{200f}\\u{1b}]0;x\\u{7}\\u{2067}\\r");
    }
}

//! What is wrong in a file of settings: where, what, and how it is put right. No secret is quoted.

use std::fmt;

use memory_core::secrets::without_secrets;

/// Something that is wrong in a file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1; 0 if it is none of a line.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// How it is put right.
    pub remedy: String,
    /// The part of the line that may be shown, and how many characters are before and in what is wrong.
    excerpt: Option<(String, usize, usize)>,
}

/// Shows the line with a caret, and the remedy, on five lines.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what, remedy, excerpt } = self;
        match line {
            0 => writeln!(f, "{what}")?,
            _ => writeln!(f, "line {line}, column {column}: {what}")?,
        }
        if let Some((shown, before, length)) = excerpt {
            let number = line.to_string();
            let blank = " ".repeat(number.len());
            writeln!(f, " {blank} |\n {number} | {shown}")?;
            writeln!(f, " {blank} | {}{}", " ".repeat(*before), "^".repeat((*length).max(1)))?;
        }
        write!(f, "   = {remedy}")
    }
}

/// A part of a line, in characters from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Problem {
    /// Returns a problem of no line.
    pub(super) fn of_file(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: 0, column: 0, what: what.into(), remedy: remedy.into(), excerpt: None }
    }

    /// Returns a problem of a name. What stands around the name is not shown: a value may be secret.
    pub(super) fn of_name(source: &str, name: At, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (shown, before) = cut(source, name.line, name.from, name.to);
        let excerpt = Some((shown, before, name.to.saturating_sub(name.from)));
        Self { line: name.line, column: name.from + 1, what: what.into(), remedy: remedy.into(), excerpt }
    }

    /// Returns a problem of the value beside a name; `is_hidden` if it may be secret.
    pub(super) fn of_value(
        source: &str,
        name: At,
        value: At,
        is_hidden: bool,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        // A place may stand where none belongs.
        let written: String =
            characters(source, value.line).skip(value.from).take(value.to.saturating_sub(value.from)).collect();
        let holds_secret = without_secrets(&written) != written;
        if is_hidden || holds_secret || value.line != name.line || value.from < name.to {
            return Self::of_name(source, name, what, remedy);
        }
        let (shown, before) = cut(source, name.line, name.from, value.to);
        let excerpt = Some((shown, before + value.from - name.from, value.to.saturating_sub(value.from)));
        Self { line: value.line, column: value.from + 1, what: what.into(), remedy: remedy.into(), excerpt }
    }

    /// Returns a problem of a place where the file is no YAML. Only a name before it is shown.
    pub(super) fn of_place(
        source: &str,
        line: usize,
        column: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        // At the end the parser stands behind the last line.
        let last = lines(source).count().max(1);
        let text = lines(source).nth(line.clamp(1, last) - 1).unwrap_or_default();
        let (line, column) = if line > last { (last, text.chars().count()) } else { (line, column) };
        let indent = text.chars().take_while(|character| character.is_whitespace()).count();
        let word = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
        let name = text.trim_start().chars().take_while(word).count();
        let is_name = text.trim_start().chars().nth(name) == Some(':');
        let excerpt = is_name.then(|| cut(source, line, indent, indent + name)).map(|(shown, before)| {
            let length = name.max(1);
            (shown, before, length)
        });
        Self { line, column: column + 1, what: what.into(), remedy: remedy.into(), excerpt }
    }
}

/// Returns the lines of a file as YAML counts them: a carriage return alone ends one too.
pub(super) fn lines(source: &str) -> impl Iterator<Item = &str> {
    source.lines().flat_map(|line| line.split('\r'))
}

fn characters(source: &str, line: usize) -> impl Iterator<Item = char> {
    lines(source).nth(line.saturating_sub(1)).unwrap_or_default().chars()
}

/// Returns the characters of a line from `from` to `to`, dots for what else it has, and how many characters stand before them.
fn cut(source: &str, line: usize, from: usize, to: usize) -> (String, usize) {
    let text: Vec<char> = characters(source, line).collect();
    let part = |from: usize, to: usize| -> String {
        let shown = text.get(from.min(text.len())..to.min(text.len())).unwrap_or_default();
        shown.iter().map(|character| if character.is_control() { ' ' } else { *character }).collect()
    };
    let before = match part(0, from) {
        before if before.trim().is_empty() => before,
        _ => "… ".to_owned(),
    };
    let after = match part(to, text.len()) {
        after if after.trim().is_empty() => "",
        after if after.trim_start().starts_with(':') && after.trim() != ":" => ": …",
        after if after.trim() == ":" => ":",
        _ => " …",
    };
    (format!("{before}{}{after}", part(from, to)), before.chars().count())
}

/// Why a file of settings cannot be used: all that is wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<Problem>,
}

impl SettingsError {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Returns what is wrong, in the order of the file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// Shows all problems, an empty line between them.
impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        f.write_str(&shown.join("\n\n"))
    }
}

impl std::error::Error for SettingsError {}

/// The first problem is told, and how many more there are.
impl From<SettingsError> for memory_core::Error {
    fn from(error: SettingsError) -> Self {
        let mut problems = error.problems.iter();
        let first = problems.next().map_or_else(String::new, |problem| match problem.line {
            0 => format!("{}: {}", problem.what, problem.remedy),
            line => format!("line {line} of the settings: {}: {}", problem.what, problem.remedy),
        });
        let more = match problems.count() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Self::invalid(format!("{first}{more}"))
    }
}

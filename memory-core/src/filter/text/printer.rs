//! The printer: writes a filter as text.

use std::fmt::{self, Formatter, Write};

use super::names::{FIELDS, Kind, METADATA};
use crate::filter::{Field, Filter, Scalar};
use crate::message::Trust;
use crate::time::Timestamp;

/// Words that are quoted as values, so that people are not misled. Not all of them need it.
const RESERVED: [&str; 7] = ["and", "or", "not", "in", "exists", "all", "meta"];

pub(super) fn filter(filter: &Filter, f: &mut Formatter<'_>) -> fmt::Result {
    match filter {
        Filter::All => f.write_str("all"),
        Filter::Eq(field, value) => compare(field, "=", value, f),
        Filter::Ne(field, value) => compare(field, "!=", value, f),
        Filter::In(name, values) => {
            field(name, f)?;
            f.write_str(" in (")?;
            for (index, value) in values.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                scalar(name, value, f)?;
            }
            f.write_char(')')
        }
        Filter::Range { field, from: Some(from), until: None } => compare(field, ">=", from, f),
        Filter::Range { field, from: None, until: Some(until) } => compare(field, "<", until, f),
        Filter::Range { field: name, from, until } => {
            field(name, f)?;
            f.write_str(" in [")?;
            from.iter().try_for_each(|value| scalar(name, value, f))?;
            f.write_str(", ")?;
            until.iter().try_for_each(|value| scalar(name, value, f))?;
            f.write_char(')')
        }
        Filter::Exists(name) => {
            f.write_str("exists(")?;
            field(name, f)?;
            f.write_char(')')
        }
        Filter::And(list) => joined("and", list, f),
        Filter::Or(list) => joined("or", list, f),
        Filter::Not(inner) => {
            f.write_str("not ")?;
            operand(inner, f)
        }
    }
}

fn joined(word: &str, list: &[Filter], f: &mut Formatter<'_>) -> fmt::Result {
    if list.len() < 2 {
        write!(f, "{word}(")?;
        list.iter().try_for_each(|only| filter(only, f))?;
        return f.write_char(')');
    }
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            write!(f, " {word} ")?;
        }
        operand(item, f)?;
    }
    Ok(())
}

/// Writes an operand of `and` or `or`.
fn operand(inner: &Filter, f: &mut Formatter<'_>) -> fmt::Result {
    match inner {
        Filter::And(list) | Filter::Or(list) if list.len() > 1 => {
            f.write_char('(')?;
            filter(inner, f)?;
            f.write_char(')')
        }
        _ => filter(inner, f),
    }
}

fn compare(name: &Field, operator: &str, value: &Scalar, f: &mut Formatter<'_>) -> fmt::Result {
    field(name, f)?;
    write!(f, " {operator} ")?;
    scalar(name, value, f)
}

fn field(field: &Field, f: &mut Formatter<'_>) -> fmt::Result {
    if let Field::Metadata(key) = field {
        f.write_str(METADATA)?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        return if !key.is_empty() && key.chars().all(is_plain) { f.write_str(key) } else { quoted(key, f) };
    }
    let name = FIELDS.iter().find(|(_, known)| known == field).map_or("", |(name, _)| name);
    f.write_str(name)
}

fn scalar(field: &Field, value: &Scalar, f: &mut Formatter<'_>) -> fmt::Result {
    match (Kind::of(field), value) {
        (Kind::Text | Kind::Any, Scalar::Text(text)) => word(text, f),
        (Kind::Number | Kind::Any, Scalar::Int(number)) => write!(f, "{number}"),
        (Kind::Any, Scalar::Bool(flag)) => write!(f, "{flag}"),
        (Kind::Any, Scalar::Float(number)) if number.is_finite() => write!(f, "{number:?}"),
        (Kind::Time, Scalar::Int(micros)) => write!(f, "{}", Timestamp(*micros)),
        (Kind::Trust, Scalar::Int(level)) => trust(*level, f),
        (_, Scalar::Bool(flag)) => write!(f, "bool({flag})"),
        (_, Scalar::Int(number)) => write!(f, "int({number})"),
        (_, Scalar::Float(number)) => write!(f, "float({number:?})"),
        (_, Scalar::Text(text)) => {
            f.write_str("text(")?;
            quoted(text, f)?;
            f.write_char(')')
        }
    }
}

fn trust(level: i64, f: &mut Formatter<'_>) -> fmt::Result {
    let levels = [Trust::Untrusted, Trust::Tool, Trust::Assistant, Trust::User, Trust::System];
    match levels.into_iter().find(|known| *known as i64 == level) {
        Some(known) => f.write_str(known.name()),
        None => write!(f, "{level}"),
    }
}

/// Writes a text, quoted if it looks like anything else.
fn word(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '/');
    let begins_well = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let misleads = RESERVED.iter().chain(&["true", "false"]).any(|reserved| text.eq_ignore_ascii_case(reserved));
    if begins_well && text.chars().all(is_plain) && !misleads { f.write_str(text) } else { quoted(text, f) }
}

fn quoted(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
            plain => f.write_char(plain)?,
        }
    }
    f.write_char('"')
}

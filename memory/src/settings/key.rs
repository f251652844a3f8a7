//! What a setting is: its names, its kind of value, its default, and its meaning.

use memory_core::Error;

use crate::backend::{Backend, check_query, normal};

/// A setting. Files, variables, suggestions, the schema and the documentation go by this alone.
pub(super) struct Key {
    /// Its section and its name, with a dot between.
    pub(super) path: &'static str,
    /// Its other names in the same section: those of other designs.
    pub(super) others: &'static [&'static str],
    /// The variables of the environment that say it; they mean the same.
    pub(super) variables: &'static [&'static str],
    pub(super) kind: Kind,
    /// What counts without it, in words or as it would be written.
    pub(super) default: &'static str,
    /// What it means.
    pub(super) what: &'static str,
}

impl Key {
    /// Returns the section.
    pub(super) fn section(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(section, _)| section)
    }

    /// Returns the name within the section.
    pub(super) fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    /// Returns whether it may be called so within its section.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.others.contains(&name)
    }
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number, this or more.
    Whole(u64),
    /// A number from 0 to 1.
    Share,
    /// A number from 0 to a million: what such a one weighs can be added up.
    Weight,
    /// A time above 0, in the unit that the name or the meaning tells.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text.
    Text,
    /// A model, `provider/model`, of one of these providers; those that have one model alone stand without `/model`.
    Model(&'static [&'static str], &'static [&'static str]),
    /// Where a part is: a URL or a path, which may hold a password.
    Place(Part),
    /// A password or a key.
    Secret,
}

/// A part of a memory that has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Truth,
    Text,
    Vectors,
    Cache,
    Board,
}

impl Part {
    /// Returns whether a backend can hold it, and what it then can do.
    fn of(self, backend: Backend) -> (bool, &'static str) {
        match self {
            Self::Truth => (backend.holds_truth(), "hold conversations"),
            Self::Text => (backend.holds_text(), "hold an index of words"),
            Self::Vectors => (backend.holds_vectors(), "hold an index of meaning"),
            Self::Cache => (backend.is_cache(), "be a cache"),
            Self::Board => (backend.holds_boards(), "hold boards"),
        }
    }
}

/// A value that a setting has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
}

impl Kind {
    /// Returns whether its values are never shown.
    pub(super) fn is_hidden(self) -> bool {
        matches!(self, Self::Secret | Self::Place(_))
    }

    /// Returns the value that a text says; otherwise what is wrong, without the text, which may be secret.
    pub(super) fn read(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Self::Flag => text.parse().ok().map(Value::Flag),
            Self::Whole(least) => text.parse().ok().filter(|number| *number >= least).map(Value::Whole),
            Self::Share => text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Value::Number),
            Self::Weight => text.parse().ok().filter(|weight| (0.0..=1e6).contains(weight)).map(Value::Number),
            Self::Time => text.parse().ok().filter(|time| *time > 0.0 && *time <= 1e9).map(Value::Number),
            Self::Word(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Text | Self::Secret => Some(Value::Text(text.to_owned())),
            Self::Model(..) => self.is_model(text).then(|| Value::Text(text.to_owned())),
            Self::Place(part) => {
                let backend = Backend::of(text).ok();
                if let Some((false, what)) = backend.map(|backend| part.of(backend)) {
                    return Err(format!("this place cannot {what}"));
                }
                if let (Some(_), Err(Error::Invalid { what })) = (backend, check_query(text)) {
                    return Err(what);
                }
                backend.map(|_| Value::Text(normal(text)))
            }
        };
        value.ok_or_else(|| format!("this is not {}", self.wanted()))
    }

    /// Returns whether a text names a model of a provider that there is.
    fn is_model(self, text: &str) -> bool {
        let Self::Model(providers, alone) = self else { return false };
        match text.split_once('/') {
            Some((provider, model)) => providers.contains(&provider) && !model.trim().is_empty(),
            None => alone.contains(&text),
        }
    }

    /// Returns what it takes, in words.
    pub(super) fn wanted(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Whole(0) => "a whole number".to_owned(),
            Self::Whole(least) => format!("a whole number, {least} or more"),
            Self::Share => "a number from 0 to 1".to_owned(),
            Self::Weight => "a number from 0 to 1000000".to_owned(),
            Self::Time => "a number above 0".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Text => "a text".to_owned(),
            Self::Model(providers, alone) => {
                let named: Vec<String> = providers.iter().map(|provider| format!("{provider}/MODEL")).collect();
                let alone = alone.iter().map(|name| (*name).to_owned());
                format!("one of {}", named.into_iter().chain(alone).collect::<Vec<_>>().join(", "))
            }
            Self::Place(_) => "a place: a URL or the path of a file".to_owned(),
            Self::Secret => "a text, best a reference to a secret".to_owned(),
        }
    }

    /// Returns a value as it may be written.
    pub(super) fn example(self, default: &'static str) -> String {
        match self {
            _ if !default.is_empty() && !self.is_hidden() && self.read(default).is_ok() => default.to_owned(),
            Self::Flag => "true".to_owned(),
            Self::Whole(least) => (least * 10).max(10).to_string(),
            Self::Share | Self::Weight => "0.5".to_owned(),
            Self::Time => "30".to_owned(),
            Self::Word(words) => words.last().map_or_else(String::new, |word| (*word).to_owned()),
            Self::Text => "name".to_owned(),
            Self::Model(providers, _) => format!("{}/MODEL", providers.first().unwrap_or(&"openai")),
            Self::Place(Part::Truth) => "sqlite:memory.sqlite".to_owned(),
            Self::Place(Part::Text | Part::Vectors) => "postgres://app@db/memory".to_owned(),
            Self::Place(Part::Cache | Part::Board) => "redis://cache".to_owned(),
            Self::Secret => "${{ secrets.NAME }}".to_owned(),
        }
    }
}

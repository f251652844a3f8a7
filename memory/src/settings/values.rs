//! What was said of the settings, by a file, by code, or by the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use memory_core::secrets::without_secrets;
use memory_core::{Error, Result};

use super::key::{Key, Kind, Value};
use super::keys;
use crate::backend::Named;

/// What was said, by the path of the key.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Values {
    said: BTreeMap<&'static str, Said>,
    /// What was wrong with the environment, told when the stores are opened.
    wrong: Option<String>,
}

#[derive(Clone, PartialEq)]
struct Said {
    key: &'static Key,
    value: Value,
    /// A secret is in it.
    is_secret: bool,
    /// The environment said it.
    is_ambient: bool,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.said.values().map(|said| {
            let shown = match (&said.value, said.key.kind) {
                (Value::Text(place), Kind::Place(_)) if !said.is_secret => without_secrets(place),
                (_, Kind::Secret) => "hidden".to_owned(),
                _ if said.is_secret => "hidden".to_owned(),
                (Value::Text(text), _) => without_secrets(text),
                (value, _) => format!("{value:?}"),
            };
            (said.key.path, shown)
        });
        f.debug_map().entries(shown).finish()
    }
}

impl Values {
    /// Notes a value.
    pub(super) fn set(&mut self, key: &'static Key, value: Value, is_secret: bool) {
        self.said.insert(key.path, Said { key, value, is_secret, is_ambient: false });
    }

    /// Notes a text.
    pub(super) fn set_text(&mut self, key: &'static Key, text: impl Into<String>) {
        self.set(key, Value::Text(text.into()), false);
    }

    /// Forgets what was said of a key.
    pub(super) fn forget(&mut self, key: &Key) {
        self.said.remove(key.path);
    }

    /// Forgets what was said of the keys of a section.
    pub(super) fn clear(&mut self, section: &str) {
        self.said.retain(|_, said| said.key.section() != section);
    }

    /// Takes from the environment what was not said.
    pub(super) fn or_values(mut self, value: impl Fn(&str) -> Option<String>) -> Self {
        // The variables of servers are read where their place is opened: other programs may have them too.
        for key in keys::all().filter(|key| !matches!(key.section(), "elastic" | "qdrant")) {
            if self.said.contains_key(key.path) {
                continue;
            }
            let said: Vec<_> = key.variables.iter().filter_map(|name| Some((*name, value(name)?))).collect();
            let Some((name, text)) = said.first() else { continue };
            if let Some((other, _)) = said.iter().find(|(_, other)| other.trim() != text.trim()) {
                self.wrong = Some(format!("{other} is another name of {name}, and they differ"));
            }
            // Whoever opens a place says best what is wrong with it.
            let is_place = matches!(key.kind, Kind::Place(_));
            let value = key.kind.read(text).ok().or_else(|| is_place.then(|| Value::Text(text.clone())));
            match value {
                Some(value) => {
                    let said = Said { key, value, is_secret: false, is_ambient: true };
                    self.said.insert(key.path, said);
                }
                None => self.wrong = Some(format!("{name} must be {}", key.kind.wanted())),
            }
        }
        self
    }

    /// Returns `Ok` if the environment was right.
    ///
    /// # Errors
    /// `Invalid` for a variable that is none of what it may be.
    pub(super) fn check_environment(&self) -> Result<()> {
        self.wrong.as_ref().map_or(Ok(()), |wrong| Err(Error::invalid(wrong.as_str())))
    }

    /// Returns whether anything was said of a section.
    pub(super) fn says(&self, section: &str) -> bool {
        self.said.values().any(|said| said.key.section() == section)
    }

    /// Returns whether this key was said.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.said.contains_key(key.path)
    }

    /// Returns whether the environment said this key.
    pub(super) fn is_ambient(&self, key: &Key) -> bool {
        self.said.get(key.path).is_some_and(|said| said.is_ambient)
    }

    pub(super) fn flag(&self, key: &Key) -> Option<bool> {
        match self.value(key)? {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn whole(&self, key: &Key) -> Option<u64> {
        match self.value(key)? {
            Value::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a number as what counts items in this process.
    pub(super) fn count(&self, key: &Key) -> Option<usize> {
        self.whole(key).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(super) fn number(&self, key: &Key) -> Option<f64> {
        match self.value(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a time, which is written in units of so many seconds.
    pub(super) fn time(&self, key: &Key, unit: f64) -> Option<Duration> {
        Duration::try_from_secs_f64(self.number(key)? * unit).ok()
    }

    pub(super) fn text(&self, key: &Key) -> Option<&str> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the values of the variables of backends.
    pub(super) fn named(&self) -> Named {
        let servers = self.said.values().filter(|said| matches!(said.key.section(), "elastic" | "qdrant"));
        let named = servers.filter_map(|said| {
            let text = match &said.value {
                Value::Text(text) => text.clone(),
                Value::Whole(number) => number.to_string(),
                Value::Flag(_) | Value::Number(_) => return None,
            };
            Some((*said.key.variables.first()?, text))
        });
        Named(named.collect())
    }

    fn value(&self, key: &Key) -> Option<&Value> {
        self.said.get(key.path).map(|said| &said.value)
    }
}

//! Reading a file of settings: names are looked up in the table, values read, and everything wrong is told at once.

use std::collections::{BTreeMap, BTreeSet};

use super::check;
use super::key::Key;
use super::keys::{self, SECTIONS};
use super::problem::{At, Problem};
use super::secret;
use super::values::Values;
use super::yaml::{Entry, Node, parse};

/// The name that all settings stand below.
pub(super) const ROOT: &str = "memory";

/// Returns what a file says.
pub(super) fn read(source: &str, secrets: &dyn Fn(&str) -> Option<String>) -> Result<Values, Vec<Problem>> {
    let root = parse(source).map_err(|problem| vec![problem])?;
    let mut reading = Reading { source, secrets, values: Values::default(), found: BTreeMap::new(), problems: vec![] };
    match root {
        Node::Nothing => {}
        Node::Map(entries) => reading.top(entries),
        Node::Text(_, at) | Node::List(at) => {
            let what = "the file begins with no name";
            reading.problems.push(Problem::of_place(source, at.line, at.from, what, "begin with `memory:`"));
        }
    }
    reading.check();
    let Reading { values, mut problems, .. } = reading;
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

struct Reading<'a> {
    source: &'a str,
    secrets: &'a dyn Fn(&str) -> Option<String>,
    values: Values,
    /// Where each key stands, by its path: its name, its value, and whether that is hidden.
    found: BTreeMap<&'static str, (At, At, bool)>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn refuse(&mut self, (text, name): (&str, At), what: impl Into<String>, remedy: impl Into<String>) {
        let name = At { to: name.to.min(name.from + named(text)), ..name };
        self.problems.push(Problem::of_name(self.source, name, what, remedy));
    }

    fn top(&mut self, entries: Vec<Entry>) {
        let mut first = None;
        for entry in entries {
            let name = (entry.name.as_str(), entry.at);
            if entry.name != ROOT {
                let is_section = SECTIONS.iter().any(|(name, _)| *name == entry.name);
                let remedy = match is_section {
                    true => format!("indent it below `{ROOT}:`"),
                    false => format!("all settings stand below `{ROOT}:`"),
                };
                self.refuse(name, format!("{} does not stand at the beginning", shown(&entry.name)), remedy);
                continue;
            }
            if let Some(line) = first.replace(entry.at.line) {
                self.refuse(name, format!("`{ROOT}` stands in line {line} already"), "put both together");
                continue;
            }
            match entry.node {
                Node::Nothing => {}
                Node::Map(sections) => self.sections(sections),
                _ => self.refuse(name, "there are no sections behind it", "write `buffer:` on the next line"),
            }
        }
    }

    fn sections(&mut self, entries: Vec<Entry>) {
        let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
        for entry in entries {
            let name = (entry.name.as_str(), entry.at);
            let Some((section, _)) = SECTIONS.iter().find(|(name, _)| *name == entry.name) else {
                let what = format!("there is no section {}", shown(&entry.name));
                let names = SECTIONS.iter().map(|(name, _)| *name);
                let homes = keys::all().filter(|key| key.is_called(&entry.name)).map(|key| key.path);
                let remedy = match (nearest(&entry.name, names), homes.collect::<Vec<_>>()) {
                    (_, homes) if !homes.is_empty() => format!("did you mean {}?", homes.join(" or ")),
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, _) => {
                        let all: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
                        format!("there are {}", all.join(", "))
                    }
                };
                self.refuse(name, what, remedy);
                continue;
            };
            if let Some(line) = seen.insert(section, entry.at.line) {
                self.refuse(name, format!("`{section}` stands in line {line} already"), "put both together");
            }
            match entry.node {
                Node::Nothing => {}
                Node::Map(settings) => settings.into_iter().for_each(|setting| self.setting(section, setting)),
                Node::Text(..) | Node::List(_) => {
                    let what = format!("`{section}` is a section, and has names below it");
                    self.refuse(name, what, format!("write `{section}:`, and on the next line `  name: value`"));
                }
            }
        }
    }

    fn setting(&mut self, section: &'static str, entry: Entry) {
        let mut in_section = keys::all().filter(|key| key.section() == section);
        let Some(key) = in_section.find(|key| key.is_called(&entry.name)) else {
            let what = format!("there is no setting {} in `{section}`", shown(&entry.name));
            self.refuse((&entry.name, entry.at), what, remedy_of_unknown(section, &entry.name));
            return;
        };
        if let Some((first, ..)) = self.found.get(key.path) {
            let what = match key.name() == entry.name {
                true => format!("`{}` stands in line {} already", key.name(), first.line),
                false => {
                    format!("{} is another name of `{}`, said in line {}", shown(&entry.name), key.name(), first.line)
                }
            };
            self.refuse((&entry.name, entry.at), what, "leave one of them out");
            return;
        }
        let (text, at) = match entry.node {
            Node::Text(text, at) => (text, at),
            node => {
                let what = match node {
                    Node::Nothing => format!("`{}` has no value", entry.name),
                    _ => format!("`{}` takes one value", entry.name),
                };
                self.found.insert(key.path, (entry.at, entry.at, true));
                self.refuse((&entry.name, entry.at), what, written(key, &entry.name));
                return;
            }
        };
        self.found.insert(key.path, (entry.at, at, key.kind.is_hidden()));
        self.value(key, &entry.name, entry.at, (&text, at));
    }

    fn value(&mut self, key: &'static Key, name: &str, name_at: At, (text, at): (&str, At)) {
        let (what, remedy) = match secret::resolve(text, key.kind, self.secrets) {
            Err(wrong) => wrong,
            Ok((text, is_secret)) => match key.kind.read(&text) {
                Ok(value) => return self.values.set(key, value, is_secret),
                Err(what) => (what, written(key, name)),
            },
        };
        self.problems.push(Problem::of_value(self.source, name_at, at, key.kind.is_hidden(), what, remedy));
    }

    /// Looks at what settings say together. Where a value of a section could not be read, what the section says together is not
    /// known: that value is perhaps what seems to be missing.
    fn check(&mut self) {
        let is_unread = |key: &Key| self.found.contains_key(key.path) && !self.values.has(key);
        let mut unread: BTreeSet<&str> = keys::all().filter(|key| is_unread(key)).map(Key::section).collect();
        if is_unread(&keys::EMBEDDING_MODEL) {
            // Its server stands in a section of its own.
            unread.insert(keys::EMBEDDING_URL.section());
        }
        for wrong in check::wrong(&self.values) {
            if unread.contains(wrong.key.section()) {
                continue;
            }
            let Some((name, value, is_hidden)) = self.found.get(wrong.key.path) else { continue };
            self.problems.push(Problem::of_value(self.source, *name, *value, *is_hidden, wrong.what, wrong.remedy));
        }
    }
}

/// Returns a line as it may be written.
fn written(key: &Key, name: &str) -> String {
    format!("write for example `{name}: {}`", key.kind.example(key.default))
}

/// Returns what may have been meant by a name that there is not.
fn remedy_of_unknown(section: &str, name: &str) -> String {
    let elsewhere: Vec<&str> = keys::all().filter(|key| key.is_called(name)).map(|key| key.path).collect();
    if !elsewhere.is_empty() {
        return format!("did you mean {}?", elsewhere.join(" or "));
    }
    let in_section = || keys::all().filter(|key| key.section() == section);
    let names = in_section().flat_map(|key| key.others.iter().copied().chain([key.name()]));
    match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", in_section().map(Key::name).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the name that is most like another, if one is like enough.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name: String = name.chars().take(64).collect::<String>().to_lowercase().replace('-', "_");
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(&name, other);
    let (near, likeness) = names.map(|other| (other, likeness(other))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (likeness >= 0.5).then_some(near)
}

/// Returns how many characters of a name may be shown: behind a forgotten colon stands a value, which may be secret.
fn named(name: &str) -> usize {
    name.chars().take(40).take_while(|character| character.is_alphanumeric() || matches!(character, '_' | '-')).count()
}

/// Returns a name of the file as it may be shown.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(named(name)).collect();
    let dots = if short.len() < name.len() { "…" } else { "" };
    format!("`{short}{dots}`")
}

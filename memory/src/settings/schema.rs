//! The JSON schema of a file of settings, for editors.

use serde_json::{Map, Value, json};

use super::key::{Key, Kind};
use super::keys::{self, SECTIONS};
use super::read::ROOT;

/// Returns the schema, of the draft 2020-12.
pub(super) fn schema() -> Value {
    let sections: Map<String, Value> = SECTIONS
        .iter()
        .map(|(section, about)| {
            let settings = keys::all().filter(|key| key.section() == *section);
            let settings: Map<String, Value> = settings.flat_map(of_key).collect();
            ((*section).to_owned(), map(about, &settings))
        })
        .collect();
    let memory = map("The settings of a memory.", &sections);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of a memory",
        "type": ["object", "null"],
        "properties": { ROOT: memory },
        "additionalProperties": false,
    })
}

fn map(about: &str, properties: &Map<String, Value>) -> Value {
    json!({
        "type": ["object", "null"], "description": about, "properties": properties, "additionalProperties": false,
    })
}

/// Returns the schema of a key under each of its names.
fn of_key(key: &'static Key) -> impl Iterator<Item = (String, Value)> {
    let others = key.others.iter().map(move |other| {
        let mut schema = of_kind(key.kind);
        schema.insert("description".to_owned(), json!(format!("Another name of `{}`.", key.name())));
        ((*other).to_owned(), Value::Object(schema))
    });
    let mut schema = of_kind(key.kind);
    schema.insert("description".to_owned(), json!(format!("{} Default: {}.", key.what, key.default)));
    std::iter::once((key.name().to_owned(), Value::Object(schema))).chain(others)
}

/// Returns the schema of a kind of value. A reference to a secret may stand for each.
fn of_kind(kind: Kind) -> Map<String, Value> {
    let value = match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(least) => json!({ "type": "integer", "minimum": least }),
        Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Weight => json!({ "type": "number", "minimum": 0, "maximum": 1e6 }),
        Kind::Time => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e9 }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Model(providers, alone) => {
            json!({ "type": "string", "pattern": format!("^((({})/.+)|({}))$", providers.join("|"), alone.join("|")) })
        }
        Kind::Text | Kind::Place(_) | Kind::Secret => {
            // A text that looks like a number is read as it is written.
            return json!({ "type": ["string", "number", "boolean"] }).as_object().cloned().unwrap_or_default();
        }
    };
    let secret = json!({ "type": "string", "pattern": "\\$\\{\\{ *secrets\\.[A-Za-z_][A-Za-z0-9_]* *\\}\\}" });
    json!({ "anyOf": [value, secret] }).as_object().cloned().unwrap_or_default()
}

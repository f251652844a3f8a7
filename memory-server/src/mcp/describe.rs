//! The schemas of arguments, in few tokens.

use serde_json::{Map, Value, json};

/// Returns the schema of an object with these members, of which the first `required` have to be given.
pub(super) fn object(required: usize, members: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = members.iter().take(required).map(|(name, _)| *name).collect();
    let members: Map<String, Value> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = json!({ "type": "object", "properties": members });
    if let (false, Value::Object(schema)) = (names.is_empty(), &mut schema) {
        schema.insert("required".to_owned(), json!(names));
    }
    schema
}

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

pub(super) fn told(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn whole(most: u64, default: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most, "default": default })
}

pub(super) fn texts() -> Value {
    list(&text())
}

pub(super) fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

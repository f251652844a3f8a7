//! The profile `files`: one tool `memory`, as Claude's memory tool is called and answers. A file is a record; folders are what
//! paths begin with.

mod commands;
mod lines;
mod path;
mod shelf;

use serde_json::{Map, Value, json};

pub(super) use self::shelf::owns;
use super::answer::{Answer, Fitting};
use super::describe::{object, text};
use super::refusal::Refusal;
use super::tool::{Definition, Effect};
use crate::caller::Caller;

/// Returns the tool.
pub(super) fn definitions() -> Vec<Definition> {
    let commands = json!({ "enum": ["view", "create", "str_replace", "insert", "delete", "rename"] });
    let range = json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 });
    let line = json!({ "type": "integer", "minimum": 0 });
    let members = [
        ("command", commands),
        ("path", text()),
        ("view_range", range),
        ("file_text", text()),
        ("old_str", text()),
        ("new_str", text()),
        ("insert_line", line),
        ("insert_text", text()),
        ("old_path", text()),
        ("new_path", text()),
    ];
    let what = "Files under /memories that last between conversations. view{path, view_range?}: a folder, or a file with line \
                numbers; create{path, file_text}; str_replace{path, old_str, new_str}; insert{path, insert_line, insert_text}; \
                delete{path}; rename{old_path, new_path}. View /memories before you begin, and keep there what will matter later.";
    vec![Definition::new("memory", Effect::Changes, what, object(1, &members))]
}

/// Calls the tool.
pub(super) async fn call(
    name: &str,
    arguments: Map<String, Value>,
    caller: &Caller,
    fitting: &Fitting,
) -> Option<Result<Answer, Refusal>> {
    match name {
        "memory" => Some(commands::run(arguments, caller, fitting).await.map(Answer::from)),
        _ => None,
    }
}

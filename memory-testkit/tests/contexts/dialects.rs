//! What the two APIs accept, as their references say: OpenAI's chat completions, Anthropic's messages.

use std::collections::HashSet;

use serde_json::Value;

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Says what OpenAI's API would refuse of the messages.
pub(crate) fn refused_by_openai(messages: &[Value]) -> Result<(), String> {
    let mut waiting: Vec<String> = Vec::new();
    let mut has_begun = false;
    for message in messages {
        let role = text(message, "role").ok_or("a message has no role")?;
        match role {
            "tool" => {
                let id = text(message, "tool_call_id").ok_or("a result names no call")?;
                let place = waiting.iter().position(|call| call == id).ok_or("a result has no call before it")?;
                waiting.remove(place);
                let content = message.get("content").ok_or("a result has no content")?;
                let is_words = |piece: &Value| text(piece, "type") == Some("text");
                if !content.is_string() && !list(content).iter().all(is_words) {
                    return Err("a result holds more than words".to_owned());
                }
                continue;
            }
            _ if !waiting.is_empty() => return Err(format!("{} calls have no result behind them", waiting.len())),
            "system" | "developer" => {
                if has_begun {
                    return Err("an instruction stands behind what was said".to_owned());
                }
            }
            "user" => has_begun = true,
            "assistant" if !has_begun => return Err("the model speaks first".to_owned()),
            "assistant" => {
                let calls = message.get("tool_calls").map(list).unwrap_or_default();
                for call in calls {
                    let function = call.get("function").ok_or("a call has no function")?;
                    text(function, "name").ok_or("a call has no name")?;
                    text(function, "arguments").ok_or("a call has no arguments")?;
                    waiting.push(text(call, "id").ok_or("a call has no id")?.to_owned());
                }
                if calls.is_empty() && message.get("content").is_none_or(Value::is_null) {
                    return Err("the model says nothing".to_owned());
                }
            }
            other => return Err(format!("the role {other} is none")),
        }
        for piece in message.get("content").map(list).unwrap_or_default() {
            let kind = text(piece, "type").ok_or("a piece has no type")?;
            if !["text", "refusal", "image_url", "input_audio", "file"].contains(&kind) {
                return Err(format!("a piece has the type {kind}"));
            }
        }
    }
    if waiting.is_empty() { Ok(()) } else { Err("calls at the end have no result".to_owned()) }
}

/// Says what Anthropic's API would refuse of a request.
pub(crate) fn refused_by_anthropic(request: &Value) -> Result<(), String> {
    let system = request.get("system").map(list).unwrap_or_default();
    system.iter().try_for_each(words)?;
    let messages = request.get("messages").map(list).ok_or("there are no messages")?;
    let mut used: HashSet<&str> = HashSet::new();
    let mut waiting: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        if text(message, "role") != Some(role) {
            return Err(format!("message {index} is not the {role}'s"));
        }
        let content = message.get("content").map(list).unwrap_or_default();
        if content.is_empty() {
            return Err(format!("message {index} is empty"));
        }
        let mut calls = HashSet::new();
        let mut has_other = false;
        for piece in content {
            match (text(piece, "type").ok_or("a piece has no type")?, role) {
                ("tool_result", "user") => {
                    let id = text(piece, "tool_use_id").ok_or("a result names no call")?;
                    if has_other || !waiting.remove(id) {
                        return Err(format!("the result of {id} does not stand right behind its call"));
                    }
                    piece.get("content").map(list).unwrap_or_default().iter().try_for_each(words_or_image)?;
                    continue;
                }
                ("tool_use", "assistant") => {
                    let id = text(piece, "id").ok_or("a call has no id")?;
                    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
                    if id.is_empty() || !is_plain || !used.insert(id) || !piece["input"].is_object() {
                        return Err(format!("the call {id} is none"));
                    }
                    calls.insert(id);
                }
                ("thinking", "assistant") => _ = text(piece, "signature").ok_or("a thought is not signed")?,
                ("text", _) => words(piece)?,
                ("image" | "document", "user") => _ = piece.get("source").ok_or("an image has no source")?,
                (kind, _) => return Err(format!("a piece of the {role} has the type {kind}")),
            }
            has_other = true;
        }
        if !waiting.is_empty() {
            return Err(format!("{} calls have no result behind them", waiting.len()));
        }
        waiting = calls;
    }
    let last = messages.last().filter(|last| text(last, "role") == Some("assistant"));
    let end = last.and_then(|last| last.get("content")?.as_array()?.last()?.get("text")?.as_str());
    if end.is_some_and(|end| end.ends_with(char::is_whitespace)) {
        return Err("the last words end with blanks".to_owned());
    }
    if waiting.is_empty() { Ok(()) } else { Err("calls at the end have no result".to_owned()) }
}

fn words(piece: &Value) -> Result<(), String> {
    let said = text(piece, "text").ok_or("a text has no words")?;
    if said.trim().is_empty() { Err("a text is of blanks".to_owned()) } else { Ok(()) }
}

fn words_or_image(piece: &Value) -> Result<(), String> {
    if text(piece, "type") == Some("image") { Ok(()) } else { words(piece) }
}

//! The event of a hook, as Claude Code writes it.

use std::path::PathBuf;

use memory::import::mend_surrogates;
use serde_json::Value;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A session begins or goes on.
    Begins,
    /// The person asks something.
    Asks(String),
    /// Something of the conversation is over: it is stored.
    Ends,
    /// Nothing that matters here.
    Other,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name, as the answer repeats it.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) session: String,
    pub(super) transcript: Option<PathBuf>,
    /// The folder in which the agent works.
    pub(super) folder: Option<String>,
}

impl Event {
    /// Reads an event. Members that are not known are passed over: the agent may be newer.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut json = text.as_bytes().to_vec();
        mend_surrogates(&mut json);
        let value: Value = serde_json::from_slice(&json).map_err(|error| format!("the event is no JSON: {error}"))?;
        let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let name = member("hook_event_name").ok_or("the event has no hook_event_name")?;
        let kind = match name.as_str() {
            "SessionStart" => Kind::Begins,
            "UserPromptSubmit" => Kind::Asks(member("prompt").or_else(|| member("user_prompt")).unwrap_or_default()),
            "Stop" | "PreCompact" | "SessionEnd" => Kind::Ends,
            _ => Kind::Other,
        };
        let session = member("session_id").filter(|name| !name.is_empty()).ok_or("the event has no session_id")?;
        Ok(Self {
            name,
            kind,
            session,
            transcript: member("transcript_path").map(PathBuf::from),
            folder: member("cwd"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_by_their_names_and_odd_ones_are_refused() {
        let kind = |text: &str| Event::parse(text).map(|event| event.kind);
        let asks = r#"{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Hm?", "new": [1]}"#;
        assert_eq!(kind(asks), Ok(Kind::Asks("Hm?".to_owned())));
        assert_eq!(kind(&asks.replace("\"prompt\"", "\"user_prompt\"")), Ok(Kind::Asks("Hm?".to_owned())));
        assert_eq!(kind(&asks.replace("Hm?", "Hm \\ud83d?")), Ok(Kind::Asks("Hm \u{fffd}?".to_owned())));
        for (name, expected) in [
            ("SessionStart", Kind::Begins),
            ("Stop", Kind::Ends),
            ("PreCompact", Kind::Ends),
            ("SessionEnd", Kind::Ends),
            ("PreToolUse", Kind::Other),
        ] {
            assert_eq!(kind(&asks.replace("UserPromptSubmit", name)), Ok(expected));
        }
        for text in [
            "",
            "{",
            "[]",
            "null",
            "{}",
            r#"{"hook_event_name": "Stop"}"#,
            r#"{"hook_event_name": 3, "session_id": "s"}"#,
        ] {
            assert!(kind(text).is_err(), "{text}");
        }
    }
}

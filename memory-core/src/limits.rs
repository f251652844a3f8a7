//! How large things may be. Checked in core before any backend sees them.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::message::{Block, Message};
use crate::record::Record;

/// The largest inputs accepted. Larger ones are `Invalid`, and nothing of them is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Canonical bytes of one message. Default 4 MiB.
    pub message_bytes: usize,
    /// Messages of one append. Default 10,000.
    pub messages: usize,
    /// Bytes of one record's text. Default 1 MiB.
    pub record_bytes: usize,
    /// Records of one put. Default 10,000.
    pub records: usize,
    /// Tags of one record. Default 1,024.
    pub tags: usize,
    /// Nesting of metadata and of pieces. Default 32.
    pub depth: usize,
    /// Keys and elements of one metadata map, at all depths together. Default 4,096.
    pub metadata_entries: usize,
    /// Bytes of one metadata key. Default 512.
    pub metadata_key_bytes: usize,
    /// Clauses of one filter, values counted. Default 1,024.
    pub filter_clauses: usize,
    /// Nesting of one filter. Default 32.
    pub filter_depth: usize,
    /// Bytes of one query. Default 64 KiB.
    pub query_bytes: usize,
    /// Results of one search. Default 10,000.
    pub results: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            messages: 10_000,
            record_bytes: 1 << 20,
            records: 10_000,
            tags: 1_024,
            depth: 32,
            metadata_entries: 4_096,
            metadata_key_bytes: 512,
            filter_clauses: 1_024,
            filter_depth: 32,
            query_bytes: 64 << 10,
            results: 10_000,
        }
    }
}

impl Limits {
    /// Returns `Ok` if the message keeps the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_message(&self, message: &Message) -> Result<()> {
        check_name("agent", message.agent.as_deref())?;
        check_name("run", message.run.as_deref())?;
        self.check_map("metadata", &message.metadata)?;
        self.check_map("members", &message.extra)?;
        self.check_blocks(&message.blocks, 1)?;
        let bytes = message.encode().len();
        if bytes > self.message_bytes {
            return Err(Error::invalid(format!("the message has {bytes} bytes, more than {}", self.message_bytes)));
        }
        Ok(())
    }

    /// Returns `Ok` if the record keeps the limits, its text and tags are not blank and its importance lies in 0 to 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_record(&self, record: &Record) -> Result<()> {
        let bytes = record.text.len();
        if bytes == 0 || bytes > self.record_bytes {
            return Err(Error::invalid(format!(
                "a record's text must hold 1 to {} bytes, not {bytes}",
                self.record_bytes
            )));
        }
        if record.text.trim().is_empty() {
            return Err(Error::invalid("a record's text must hold more than blanks"));
        }
        if record.tags.len() > self.tags || record.tags.iter().any(|tag| tag.trim().is_empty() || tag.len() > 255) {
            return Err(Error::invalid(format!("a record has up to {} tags of 1 to 255 bytes each", self.tags)));
        }
        if record.importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
            return Err(Error::invalid("the importance must lie between 0 and 1"));
        }
        if record.kind.is_empty() || record.kind.len() > 255 {
            return Err(Error::invalid("a record's kind must hold 1 to 255 bytes"));
        }
        check_name("agent", record.agent.as_deref())?;
        check_name("run", record.run.as_deref())?;
        self.check_map("metadata", &record.metadata)
    }

    /// Returns `Ok` if a search may return `limit` results and the filter keeps the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the limit is 0 or too large, or the filter too large.
    pub fn check_search(&self, limit: usize, filter: &Filter) -> Result<()> {
        if limit == 0 || limit > self.results {
            return Err(Error::invalid(format!("a search returns 1 to {} results, not {limit}", self.results)));
        }
        filter.check(self)
    }

    /// Deeper pieces could be written and never read back.
    fn check_blocks(&self, blocks: &[Block], depth: usize) -> Result<()> {
        if depth > self.depth {
            return Err(Error::invalid("the pieces are nested too deep"));
        }
        blocks.iter().try_for_each(|block| match block {
            Block::Text { extra, .. } | Block::Refusal { extra, .. } | Block::ToolCall { extra, .. } => {
                self.check_map("members", extra)
            }
            Block::ToolResult { content, .. } => self.check_blocks(content, depth + 1),
            Block::Media { value } | Block::Other { value, .. } => self.check_depth(value, depth),
            Block::Reasoning { .. } => Ok(()),
        })
    }

    fn check_depth(&self, value: &Value, depth: usize) -> Result<()> {
        if depth > self.depth {
            return Err(Error::invalid("the pieces are nested too deep"));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.check_depth(item, depth + 1)),
            Value::Object(map) => map.values().try_for_each(|item| self.check_depth(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn check_map(&self, what: &str, map: &serde_json::Map<String, Value>) -> Result<()> {
        let mut entries = 0;
        for (key, value) in map {
            self.check_key(what, key)?;
            self.check_value(what, value, 1, &mut entries)?;
        }
        if entries > self.metadata_entries {
            return Err(Error::invalid(format!("more than {} {what}", self.metadata_entries)));
        }
        Ok(())
    }

    fn check_key(&self, what: &str, key: &str) -> Result<()> {
        if key.len() > self.metadata_key_bytes {
            return Err(Error::invalid(format!(
                "a key of the {what} is longer than {} bytes",
                self.metadata_key_bytes
            )));
        }
        Ok(())
    }

    fn check_value(&self, what: &str, value: &Value, depth: usize, entries: &mut usize) -> Result<()> {
        *entries += 1;
        if depth > self.depth || *entries > self.metadata_entries {
            return Err(Error::invalid(format!("the {what} are nested too deep or too many")));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.check_value(what, item, depth + 1, entries)),
            Value::Object(map) => map.iter().try_for_each(|(key, item)| {
                self.check_key(what, key)?;
                self.check_value(what, item, depth + 1, entries)
            }),
            _ => Ok(()),
        }
    }
}

/// Returns `Ok` if the name of an agent or run, where there is one, has 1 to 255 bytes.
fn check_name(what: &str, name: Option<&str>) -> Result<()> {
    match name.map(str::len) {
        None | Some(1..=255) => Ok(()),
        Some(bytes) => Err(Error::invalid(format!("the {what} must hold 1 to 255 bytes, not {bytes}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Role, Slot};
    use crate::time::Timestamp;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }

    fn holding(block: Block) -> Message {
        Message::of_blocks(Role::Tool, vec![block], Timestamp(0))
    }

    #[test]
    fn pieces_that_could_not_be_read_back_are_refused() {
        let limits = Limits::default();
        let results = |depth: usize| {
            (1..depth).fold(Block::text("x"), |inner, _| Block::ToolResult { id: "c".to_owned(), content: vec![inner] })
        };
        let kinds: [&dyn Fn(usize) -> Block; 3] = [
            &|depth| Block::Media { value: nested(depth) },
            &|depth| Block::Other { slot: Slot::Content, value: nested(depth) },
            &results,
        ];
        for kind in kinds {
            let whole = holding(kind(limits.depth));
            assert!(limits.check_message(&whole).is_ok());
            assert_eq!(Message::decode("test", &whole.encode()).unwrap(), whole);
            for depth in [limits.depth + 1, 200] {
                assert!(matches!(limits.check_message(&holding(kind(depth))), Err(Error::Invalid { .. })), "{depth}");
            }
        }
    }

    #[test]
    fn agents_and_runs_have_names_of_1_to_255_bytes() {
        let limits = Limits::default();
        for (name, is_legal) in [("", false), ("a", true), (&*"a".repeat(255), true), (&*"a".repeat(256), false)] {
            let message = Message::new(Role::User, "x", Timestamp(0));
            let mut record = Record::new("fact", "x", Timestamp(0));
            record.agent = Some(name.to_owned());
            assert_eq!(limits.check_record(&record).is_ok(), is_legal, "{}", name.len());
            assert_eq!(limits.check_message(&message.clone().with_agent(name)).is_ok(), is_legal, "{}", name.len());
            assert_eq!(limits.check_message(&message.with_run(name)).is_ok(), is_legal, "{}", name.len());
        }
    }

    #[test]
    fn blank_records_and_tags_are_refused() {
        let limits = Limits::default();
        let record = |text: &str, tags: &[&str]| {
            let mut record = Record::new("fact", text, Timestamp(0));
            record.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            record
        };
        assert!(limits.check_record(&record("x", &["a", "b"])).is_ok());
        let long = "x".repeat(256);
        for bad in [record(" \n", &[]), record("x", &[""]), record("x", &[" "]), record("x", &[&long])] {
            assert!(matches!(limits.check_record(&bad), Err(Error::Invalid { .. })), "{bad:?}");
        }
        assert!(limits.check_record(&record("x", &["t"; 1_025])).is_err());
    }
}

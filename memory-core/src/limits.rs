//! How large things may be. Checked in core before any backend sees them.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::ItemId;
use crate::message::{Block, Message, StoredMessage};
use crate::record::{Record, StoredRecord, Telling};
use crate::scope::{self, Scope};

/// The largest inputs accepted. Larger ones are `Invalid`, and nothing of them is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Canonical bytes of one message. Default 4 MiB.
    pub message_bytes: usize,
    /// Messages of one append. Default 10,000.
    pub messages: usize,
    /// Tokens of one message. Default 2³²: the sum of any session fits a number of 63 bits.
    pub tokens: u64,
    /// Canonical bytes of one record, with its text, tags, sources and metadata. Default 4 MiB.
    pub record_bytes: usize,
    /// Bytes of one record's text. Default 1 MiB.
    pub record_text_bytes: usize,
    /// Records of one put. Default 10,000.
    pub records: usize,
    /// Tags of one record. Default 1,024.
    pub tags: usize,
    /// Tellings of one record. Default 1,024.
    pub tellings: usize,
    /// Sources of one message or record. Default 4,096.
    pub sources: usize,
    /// Bytes of one name: a kind, a tag, a speaker, an agent, a run, an origin. Default 255.
    pub name_bytes: usize,
    /// Bytes of the id of a tool call, and of a tool's name. Default 16 KiB: some models sign their calls in the id.
    pub call_bytes: usize,
    /// Nesting of metadata and of pieces. Default 32.
    pub depth: usize,
    /// Pieces of one message, and values within those that are kept as they came. Default 8,192: each takes a hundred times
    /// its bytes in memory.
    pub piece_values: usize,
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
    /// Bytes of the value of a board's entry. Default 64 KiB: a search may read the whole board.
    pub board_value_bytes: usize,
    /// Bytes of one note's text. Default 64 KiB: what a tool answered, not what it read.
    pub note_bytes: usize,
    /// Terms that one query is searched for by. Default 256: of more, the rarest, and the receipt says how many were left
    /// out.
    pub query_terms: usize,
    /// Results of one search. Default 10,000.
    pub results: usize,
    /// Owners whose memory one search or context takes beside its own. Default 8: each is asked like the owner itself, by up to three
    /// searches by words and one by meaning. So a call for nine owners makes up to 27 searches by words at once, of the 32 calls that a
    /// guarded store runs at once ([`GuardPolicy::concurrency`](crate::layer::GuardPolicy::concurrency)): others wait for the rest.
    pub sharing: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            messages: 10_000,
            tokens: 1 << 32,
            record_bytes: 4 << 20,
            record_text_bytes: 1 << 20,
            records: 10_000,
            tags: 1_024,
            tellings: 1_024,
            sources: 4_096,
            name_bytes: 255,
            call_bytes: 16 << 10,
            depth: 32,
            piece_values: 8_192,
            metadata_entries: 4_096,
            metadata_key_bytes: 512,
            filter_clauses: 1_024,
            filter_depth: 32,
            query_bytes: 64 << 10,
            board_value_bytes: 64 << 10,
            note_bytes: 64 << 10,
            query_terms: 256,
            results: 10_000,
            sharing: 8,
        }
    }
}

impl Limits {
    /// Returns `Ok` if the message keeps the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_message(&self, message: &Message) -> Result<()> {
        self.check_name("agent", 1, message.agent.as_deref())?;
        self.check_name("run", 1, message.run.as_deref())?;
        self.check_name("speaker", 0, message.speaker.as_deref())?;
        self.check_name("origin", 0, message.origin.as_deref())?;
        self.check_sources(&message.sources)?;
        self.check_map("metadata", &message.metadata)?;
        self.check_map("members", &message.extra)?;
        let mut values = 0;
        self.check_blocks(&message.blocks, 1, &mut values)?;
        self.check_blocks(&message.aside, 1, &mut values)?;
        let bytes = message.encoded_len();
        if bytes > self.message_bytes {
            return Err(Error::invalid(format!("the message has {bytes} bytes, more than {}", self.message_bytes)));
        }
        Ok(())
    }

    /// Returns `Ok` if a message may count so many tokens.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it may not.
    pub fn check_tokens(&self, tokens: u64) -> Result<()> {
        if tokens > self.tokens {
            return Err(Error::invalid(format!("a message counts at most {} tokens, not {tokens}", self.tokens)));
        }
        Ok(())
    }

    /// Returns `Ok` if the row, as an export holds it, keeps the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_row(&self, row: &StoredMessage) -> Result<()> {
        self.check_tokens(row.tokens)?;
        row.message.as_ref().map_or(Ok(()), |message| self.check_message(message))
    }

    /// Returns `Ok` if the record keeps the limits, its text and tags are not blank and what is told of its importance lies in
    /// 0 to 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_record(&self, record: &Record) -> Result<()> {
        let bytes = record.text.len();
        if bytes == 0 || bytes > self.record_text_bytes {
            return Err(Error::invalid(format!(
                "a record's text must hold 1 to {} bytes, not {bytes}",
                self.record_text_bytes
            )));
        }
        if record.text.trim().is_empty() {
            return Err(Error::invalid("a record's text must hold more than blanks"));
        }
        let most = self.name_bytes;
        let is_bad = |tag: &String| tag.trim().is_empty() || tag.len() > most;
        let are_bad = |tags: &[String]| tags.len() > self.tags || tags.iter().any(is_bad);
        if record.tellings().any(|telling| are_bad(&telling.tags)) || record.tags().len() > self.tags {
            return Err(Error::invalid(format!("a record has up to {} tags of 1 to {most} bytes each", self.tags)));
        }
        if record.again.len() >= self.tellings {
            return Err(Error::invalid(format!("a record has up to {} tellings", self.tellings)));
        }
        if record.kind.is_empty() || record.kind.len() > most {
            return Err(Error::invalid(format!("a record's kind must hold 1 to {most} bytes")));
        }
        self.check_name("agent", 1, record.agent.as_deref())?;
        record.tellings().try_for_each(|telling| self.check_telling(telling))?;
        if record.sources().len() > self.sources {
            return Err(Error::invalid(format!("more than {} sources", self.sources)));
        }
        self.check_map("metadata", &record.metadata())?;
        let bytes = record.encoded_len();
        if bytes > self.record_bytes {
            return Err(Error::invalid(format!("the record has {bytes} bytes, more than {}", self.record_bytes)));
        }
        Ok(())
    }

    fn check_telling(&self, telling: &Telling) -> Result<()> {
        if telling.importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
            return Err(Error::invalid("the importance must lie between 0 and 1"));
        }
        self.check_name("run", 1, telling.run.as_deref())?;
        self.check_name("origin", 0, telling.origin.as_deref())?;
        self.check_sources(&telling.sources)?;
        self.check_map("metadata", &telling.metadata)
    }

    /// Returns `Ok` if the record, as an export holds it, keeps the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check_stored(&self, stored: &StoredRecord) -> Result<()> {
        stored.check_numbers()?;
        self.check_record(&stored.record)
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

    /// Returns `Ok` if `owner` may ask for what these owners share: others of the same tenant, each named once, and not too many.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one is `owner`, of another tenant or named twice, or if there are too many.
    pub fn check_sharing(&self, owner: &Scope, sharing: &[Scope]) -> Result<()> {
        let (count, most) = (sharing.len(), self.sharing);
        if count > most {
            return Err(Error::invalid(format!("up to {most} other owners share with a search, not {count}")));
        }
        for (place, other) in sharing.iter().enumerate() {
            if other == owner {
                return Err(Error::invalid("who asks has their own memory: name other owners who share"));
            }
            if sharing.iter().take(place).any(|before| before == other) {
                return Err(Error::invalid("each owner who shares is named once"));
            }
            if other.tenant() != owner.tenant() {
                return Err(Error::invalid("owners of different tenants share nothing"));
            }
        }
        Ok(())
    }

    /// Returns `Ok` if a query is not too long.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is.
    pub fn check_query(&self, words: &str) -> Result<()> {
        if words.len() > self.query_bytes {
            return Err(Error::invalid(format!("a query holds at most {} bytes", self.query_bytes)));
        }
        Ok(())
    }

    /// Returns `Ok` if an entry with this key and value may be put on a board.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the key has not 1 to 255 bytes, or the value is too long.
    pub fn check_board_entry(&self, key: &str, value: &str) -> Result<()> {
        scope::check_name(key, "a key of a board")?;
        let (bytes, most) = (value.len(), self.board_value_bytes);
        if bytes > most {
            return Err(Error::invalid(format!("a value on a board holds at most {most} bytes, not {bytes}")));
        }
        Ok(())
    }

    /// Returns `Ok` if a text that comes from there may be noted.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the text is blank or too long, or the place has no name or one that is too long.
    pub fn check_note(&self, text: &str, from: &str) -> Result<()> {
        self.check_name("place that a note comes from", 1, Some(from))?;
        let (bytes, most) = (text.len(), self.note_bytes);
        if bytes > most || text.trim().is_empty() {
            return Err(Error::invalid(format!("a note holds more than blanks and at most {most} bytes, not {bytes}")));
        }
        Ok(())
    }

    fn check_name(&self, what: &str, least: usize, name: Option<&str>) -> Result<()> {
        let most = self.name_bytes;
        match name.map(str::len).filter(|bytes| !(least..=most).contains(bytes)) {
            Some(bytes) => Err(Error::invalid(format!("the {what} must hold {least} to {most} bytes, not {bytes}"))),
            None => Ok(()),
        }
    }

    fn check_sources(&self, sources: &[ItemId]) -> Result<()> {
        if sources.len() > self.sources {
            return Err(Error::invalid(format!("more than {} sources", self.sources)));
        }
        Ok(())
    }

    /// Deeper pieces could be written and never read back.
    fn check_blocks(&self, blocks: &[Block], depth: usize, values: &mut usize) -> Result<()> {
        for block in blocks {
            self.check_nesting(depth, values)?;
            match block {
                Block::Text { extra, .. } | Block::Refusal { extra, .. } | Block::Reasoning { extra, .. } => {
                    self.check_members(extra, values)?;
                }
                Block::ToolCall { id, name, extra, .. } => {
                    self.check_call(id)?;
                    self.check_call(name)?;
                    self.check_members(extra, values)?;
                }
                Block::ToolResult { id, content, form: _, extra } => {
                    self.check_call(id)?;
                    self.check_members(extra, values)?;
                    self.check_blocks(content, depth + 1, values)?;
                }
                Block::Media { value } | Block::Other { value, .. } => self.check_piece(value, depth, values)?,
            }
        }
        Ok(())
    }

    fn check_nesting(&self, depth: usize, values: &mut usize) -> Result<()> {
        *values += 1;
        if depth > self.depth || *values > self.piece_values {
            return Err(Error::invalid("the pieces are nested too deep or hold too many values"));
        }
        Ok(())
    }

    fn check_call(&self, name: &str) -> Result<()> {
        if name.len() > self.call_bytes {
            return Err(Error::invalid(format!("a tool call's id or name is longer than {} bytes", self.call_bytes)));
        }
        Ok(())
    }

    /// Each piece may have as many as a message, but not all of them.
    fn check_members(&self, members: &Map<String, Value>, values: &mut usize) -> Result<()> {
        self.check_map("members", members)?;
        members.values().try_for_each(|value| self.check_piece(value, 1, values))
    }

    fn check_piece(&self, value: &Value, depth: usize, values: &mut usize) -> Result<()> {
        self.check_nesting(depth, values)?;
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.check_piece(item, depth + 1, values)),
            Value::Object(map) => map.values().try_for_each(|item| self.check_piece(item, depth + 1, values)),
            _ => Ok(()),
        }
    }

    fn check_map(&self, what: &str, map: &Map<String, Value>) -> Result<()> {
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

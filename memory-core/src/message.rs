//! Messages: their blocks, their metadata, and their canonical bytes.

mod anthropic;
mod defaults;
mod left;
mod link;
mod openai;
mod role;
mod stored;
mod summarised;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::error::Result;
use crate::id::{Digest, ItemId, MessageId, SessionId};
use crate::time::Timestamp;

pub use anthropic::conversation as to_anthropic;
pub use defaults::Defaults;
pub(crate) use left::Left;
pub(crate) use link::{Link, Point};
pub use openai::{Chat, chat as as_openai, conversation as to_openai};
pub use role::{Role, Trust};
pub use stored::StoredMessage;

/// The member of a message's metadata that holds the title of its conversation.
pub const TITLE: &str = "title";

/// A block of a message's content. Unknown members of a block are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Unknown members of the block.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// A refusal of the model to answer.
    Refusal {
        /// Its text.
        text: String,
        /// Whether it stood in `content`, and not as a member of the chat message.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_piece: bool,
        /// Unknown members of the piece.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// The model's reasoning, which is counted but neither searched nor shown.
    Reasoning {
        /// Its words.
        text: String,
        /// The member of the chat message that held it, `reasoning_content` or `reasoning`; `thinking` for a block of content.
        field: String,
        /// Unknown members of the block, such as a signature.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// A call of a tool by the model.
    ToolCall {
        /// The call's id, which the result names.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them; usually, but not always, JSON.
        arguments: String,
        /// Unknown members of the call, among them its `type` unless that is `function` (`tool_use` in Anthropic's dialect);
        /// `null` for a call without one.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The result.
        content: Vec<Block>,
        /// The shape of the result, if it is a block of a message's content.
        #[serde(default, skip_serializing_if = "Form::is_plain")]
        form: Form,
        /// Unknown members of the piece.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// An image, sound or file.
    Media {
        /// The block as received: `image_url`, `input_audio`, `file`, or `image`, `document`.
        #[serde(serialize_with = "codec::sorted_value")]
        value: Value,
    },
    /// A block of an unknown kind, kept as received.
    Other {
        /// The list of the chat message in which it stood.
        slot: Slot,
        /// The block.
        #[serde(serialize_with = "codec::sorted_value")]
        value: Value,
    },
}

impl Block {
    /// Returns a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    /// Returns the result of the call `id`.
    pub fn tool_result(id: impl Into<String>, content: Vec<Block>) -> Self {
        Self::ToolResult { id: id.into(), content, form: Form::default(), extra: Map::new() }
    }
}

/// The list of a chat message in which an unknown block stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// `content`.
    Content,
    /// `tool_calls`.
    ToolCalls,
}

/// The shape of `content` in chat JSON, so that it is written as it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A string; absent if there is no text.
    #[default]
    Plain,
    /// A list of parts.
    Parts,
    /// `null`.
    Null,
}

impl Form {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// A message. Immutable once stored: the same id with other content is an `IdConflict`.
///
/// Stores hold the bytes of [`Message::encode`] and never look inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The caller's id, unique within the owner.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// The participant's name, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// The shape of the content in chat JSON.
    #[serde(default, skip_serializing_if = "Form::is_plain")]
    pub form: Form,
    /// When it was said. For information: the store's numbers give the order.
    pub at: Timestamp,
    /// Its trust.
    pub trust: Trust,
    /// Its origin, in the caller's words, such as `import:chatgpt` or `tool:search`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What it was derived from, for filters. Forgetting a source forgets derived records and summaries, but not messages: a
    /// message stays until it is forgotten itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// The caller's own values, for filters.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub metadata: Map<String, Value>,
    /// Unknown members of the chat message, kept as received.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub extra: Map<String, Value>,
    /// The agent that it belongs to, 1 to 255 bytes; none if there is only one agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The run of an agent in which it was said, 1 to 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What stood beside the words where the conversation was imported from: thoughts, calls of tools and their results. Kept,
    /// exported and forgotten with the message; neither counted nor searched, and in no context that does not ask for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<Block>,
}

impl Message {
    /// Returns a message of plain text, with a fresh id and the usual trust of its role.
    pub fn new(role: Role, text: impl Into<String>, at: Timestamp) -> Self {
        Self::of_blocks(role, vec![Block::text(text)], at)
    }

    /// Returns a message of `blocks`, with a fresh id and the usual trust of its role.
    pub fn of_blocks(role: Role, blocks: Vec<Block>, at: Timestamp) -> Self {
        Self {
            id: MessageId::fresh(),
            role,
            speaker: None,
            blocks,
            form: Form::default(),
            at,
            trust: Trust::of(role),
            origin: None,
            sources: Vec::new(),
            metadata: Map::new(),
            extra: Map::new(),
            agent: None,
            run: None,
            aside: Vec::new(),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: MessageId) -> Self {
        self.id = id;
        self
    }

    /// Sets the speaker's name.
    #[must_use]
    pub fn with_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Sets the agent that it belongs to.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Sets the run in which it was said.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Sets one value of the metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns the title of the conversation that it was said in, if its metadata has one under [`TITLE`], as imported
    /// messages have.
    pub fn title(&self) -> Option<&str> {
        self.metadata.get(TITLE).and_then(Value::as_str).filter(|title| !title.trim().is_empty())
    }

    /// Returns its author, for people: `Ada (user)`, or the role alone if it names no speaker.
    pub fn author(&self) -> String {
        match &self.speaker {
            Some(name) => format!("{name} ({})", self.role.name()),
            None => self.role.name().to_owned(),
        }
    }

    /// Returns the text that is searched and shown to people: text, refusals, calls and results, a line each.
    pub fn text(&self) -> String {
        let mut out = String::new();
        append_text(&self.blocks, &mut out);
        out
    }

    /// Returns whether this is an instruction of the application, which is pinned at the head of a context: a message of the role
    /// `system` or `developer` with the trust [`Trust::System`].
    ///
    /// A message of such a role with less trust, for example from an imported file, is stored like any other but shown in no
    /// context.
    pub fn is_instruction(&self) -> bool {
        self.role.is_instruction() && self.trust == Trust::System
    }

    /// Returns whether all of this message stands aside, as the thoughts before an answer that never came do.
    pub(crate) fn is_aside(&self) -> bool {
        self.blocks.is_empty() && !self.aside.is_empty()
    }

    /// Returns the call of the legacy dialect, `function_call`, which an assistant alone makes: to another role it is a member like
    /// any that is not known.
    pub(crate) fn legacy_call(&self) -> Option<&Value> {
        let call = self.extra.get("function_call").filter(|call| call.is_object());
        call.filter(|_| self.role == Role::Assistant)
    }

    /// Returns the ids of the calls that this message makes.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Returns the ids of the calls that this message answers.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolResult { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Returns the canonical bytes, which stores hold.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Returns the number of bytes of [`Message::encode`], without making them.
    pub fn encoded_len(&self) -> usize {
        codec::encoded_len(self)
    }

    /// Decodes canonical bytes. Errors name `backend`.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for bytes that are not a message, [`crate::Error::Unsupported`] for a newer version.
    pub fn decode(backend: &'static str, bytes: &[u8]) -> Result<Self> {
        codec::decode(backend, bytes)
    }

    /// Returns the digest of the content and session, which tells a repeated write from a conflicting one.
    pub fn digest(&self, session: &SessionId) -> Digest {
        Self::digest_of(session, &self.encode())
    }

    /// Returns the digest of a message whose canonical bytes are `encoded`.
    pub fn digest_of(session: &SessionId, encoded: &[u8]) -> Digest {
        Digest::of(&[session.key().as_bytes(), encoded])
    }
}

fn append_text(blocks: &[Block], out: &mut String) {
    let mut line = |parts: &[&str]| {
        if !out.is_empty() {
            out.push('\n');
        }
        out.extend(parts.iter().copied());
    };
    for block in blocks {
        match block {
            Block::Text { text, .. } | Block::Refusal { text, .. } => line(&[text]),
            Block::ToolCall { name, arguments, .. } => line(&[name, " ", arguments]),
            Block::ToolResult { content, .. } => {
                let mut inner = String::new();
                append_text(content, &mut inner);
                line(&[&inner]);
            }
            Block::Reasoning { .. } | Block::Media { .. } | Block::Other { .. } => {}
        }
    }
}

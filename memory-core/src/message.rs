//! What is said in a conversation.

mod anthropic;
mod defaults;
mod openai;
mod role;
mod stored;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::error::Result;
use crate::id::{Digest, ItemId, MessageId, SessionId};
use crate::time::Timestamp;

pub(crate) use anthropic::conversation as to_anthropic;
pub use defaults::Defaults;
pub(crate) use openai::conversation as to_openai;
pub use role::{Role, Trust};
pub use stored::StoredMessage;

/// A piece of a message. Unknown members of a piece are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// Unknown members of the piece.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// The model's declining to answer.
    Refusal {
        /// Its words.
        text: String,
        /// Whether it stood as a piece of `content`, not as a member of the chat message.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_piece: bool,
        /// Unknown members of the piece.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// The model's reasoning, counted but neither searched nor shown.
    Reasoning {
        /// Its words.
        text: String,
        /// The member of the chat message that held it, `reasoning_content` or `reasoning`; `thinking` for a piece of content.
        field: String,
        /// Unknown members of the piece, such as a signature.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// A call of a tool by the model.
    ToolCall {
        /// The call's id, which the result names.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them; usually, but not surely, JSON.
        arguments: String,
        /// Unknown members of the call, among them its `type` unless that is `function` (`tool_use` in Anthropic's dialect);
        /// `null` for a call without one.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// What a tool answered.
    ToolResult {
        /// The id of the call it answers.
        id: String,
        /// The answer.
        content: Vec<Block>,
        /// The shape of the answer where it is a piece of a message's content.
        #[serde(default, skip_serializing_if = "Form::is_plain")]
        form: Form,
        /// Unknown members of the piece.
        #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
        extra: Map<String, Value>,
    },
    /// An image, sound or file.
    Media {
        /// The piece as it came: `image_url`, `input_audio`, `file`, or `image`, `document`.
        #[serde(serialize_with = "codec::sorted_value")]
        value: Value,
    },
    /// A piece of a kind that this library does not know, kept as it came.
    Other {
        /// Where in the chat message it stood.
        slot: Slot,
        /// The piece.
        #[serde(serialize_with = "codec::sorted_value")]
        value: Value,
    },
}

impl Block {
    /// Returns a block of words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    /// Returns the answer to the call `id`.
    pub fn tool_result(id: impl Into<String>, content: Vec<Block>) -> Self {
        Self::ToolResult { id: id.into(), content, form: Form::default(), extra: Map::new() }
    }
}

/// The list of a chat message in which an unknown piece stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// `content`.
    Content,
    /// `tool_calls`.
    ToolCalls,
}

/// The shape that `content` had in chat JSON, so that it goes out as it came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A string; absent where there is no text.
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

/// What the caller says. Immutable once stored: the same id with other content is an `IdConflict`.
///
/// Stores keep [`Message::encode`] and never look inside.
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
    /// When it was said. Informs; the order is the store's number.
    pub at: Timestamp,
    /// How far it may be believed.
    pub trust: Trust,
    /// Where it comes from, in the caller's words, such as `import:chatgpt` or `tool:search`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What it was derived from, which filters see. Records and summaries fall with their sources; a message was said, and
    /// stays until it is forgotten itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// The caller's own values, which filters see.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub metadata: Map<String, Value>,
    /// Members of the chat message that this library does not know, kept as they came.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub extra: Map<String, Value>,
    /// The agent that it belongs to, 1 to 255 bytes; none where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The run of an agent in which it was said, 1 to 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl Message {
    /// Returns a message of plain words with a fresh id and the usual trust of its role.
    pub fn new(role: Role, text: impl Into<String>, at: Timestamp) -> Self {
        Self::of_blocks(role, vec![Block::text(text)], at)
    }

    /// Returns a message of `blocks` with a fresh id and the usual trust of its role.
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

    /// Returns who said it, for people: `Ada (user)`, or the role alone where nobody is named.
    pub fn author(&self) -> String {
        match &self.speaker {
            Some(name) => format!("{name} ({})", self.role.name()),
            None => self.role.name().to_owned(),
        }
    }

    /// Returns the words that search sees and people read: text, refusals, calls and results, a line each.
    pub fn text(&self) -> String {
        let mut out = String::new();
        append_text(&self.blocks, &mut out);
        out
    }

    /// Returns whether this is an instruction of the application, pinned at the head of a context: one of the roles
    /// `system` and `developer` with the trust [`Trust::System`].
    ///
    /// What has such a role with less trust, as a line of an imported file, is kept like any message and shown in no
    /// context.
    pub fn is_instruction(&self) -> bool {
        self.role.is_instruction() && self.trust == Trust::System
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

    /// Returns the canonical bytes that stores keep.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Returns how many bytes [`Message::encode`] would return, without making them.
    pub fn encoded_len(&self) -> usize {
        codec::encoded_len(self)
    }

    /// Reads canonical bytes back; `backend` is named in errors.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for bytes that are no message, [`crate::Error::Unsupported`] for a newer version.
    pub fn decode(backend: &'static str, bytes: &[u8]) -> Result<Self> {
        codec::decode(backend, bytes)
    }

    /// Returns the digest of the content in its session, by which a repeated write is known from a conflicting one.
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

//! What stands aside in a conversation that a person had with a model: thoughts, calls of tools and their results. It is
//! kept with the answer that came of it, as far as a message has room.

use memory_core::{Block, Limits, Message};
use serde_json::Map;

use super::conversation::Conversation;
use super::item::LeftOut;
use super::queue::{Sink, Stopped};

/// The most bytes that stand aside in a message. Answers of tools may hold whole pages of the web.
const BYTES: usize = 1 << 20;
/// The most blocks that stand aside in a message.
const BLOCKS: usize = 256;
/// The longest id or name of a call that is kept, in bytes.
const NAME: usize = 255;
/// The member of a chat message that holds thoughts, as core names it.
const THINKING: &str = "thinking";

/// What stands aside, until the message comes that it is kept with.
#[derive(Debug, Default)]
pub(super) struct Asides {
    blocks: Vec<Block>,
    bytes: usize,
    left_out: u64,
    /// The last call, which a result without an id answers.
    call: Option<String>,
}

impl Asides {
    /// Returns whether nothing stands aside.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns all of it as one text, which tells it from another one.
    pub(super) fn said(&self) -> String {
        serde_json::to_string(&self.blocks).unwrap_or_default()
    }

    /// Adds a thought.
    pub(super) fn think(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let (text, field) = (text.to_owned(), THINKING.to_owned());
            self.push(text.len(), Block::Reasoning { text, field, extra: Map::new() });
        }
    }

    /// Adds a call of a tool.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: String) {
        let (id, name) = (short(id), short(name));
        self.call = Some(id.clone());
        self.push(arguments.len(), Block::ToolCall { id, name, arguments, extra: Map::new() });
    }

    /// Adds the result of the call `id`, or of the last one.
    pub(super) fn answer(&mut self, id: Option<&str>, text: String) {
        let id = id.map(short).or_else(|| self.call.clone()).unwrap_or_default();
        self.push(text.len(), Block::tool_result(id, vec![Block::text(text)]));
    }

    fn push(&mut self, bytes: usize, block: Block) {
        if self.blocks.len() < BLOCKS && self.bytes.saturating_add(bytes) <= BYTES {
            self.bytes += bytes;
            self.blocks.push(block);
        } else {
            self.left_out += 1;
        }
    }

    /// Puts all of it aside in a message, and begins anew. Reports what has no room.
    pub(super) fn put_into(&mut self, message: &mut Message, of: Conversation<'_>, sink: &Sink) -> Result<(), Stopped> {
        let Self { blocks, mut left_out, .. } = std::mem::take(self);
        if !blocks.is_empty() {
            let count = blocks.len() as u64;
            message.aside = blocks;
            if Limits::default().check_message(message).is_err() {
                message.aside.clear();
                left_out += count;
            }
        }
        (0..left_out).try_for_each(|_| sink.leave_out(of, LeftOut::LargeAside))
    }
}

/// Returns the beginning of an id or name: a file may hold one of any length.
fn short(name: &str) -> String {
    name.get(..name.floor_char_boundary(NAME)).unwrap_or_default().to_owned()
}

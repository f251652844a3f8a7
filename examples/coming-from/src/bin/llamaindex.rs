//! Coming from LlamaIndex: `ChatMemoryBuffer`, `ChatSummaryMemoryBuffer`, `VectorMemory` and `SimpleComposableMemory` are one session.
//!
//! `cargo run -p coming-from --bin llamaindex`

use std::io::{self, Write};

use memory::store::chat::Page;
use memory::window::Budget;
use memory::{BufferConfig, Forget, Message, MessageId, Role, Scope, SessionId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `token_limit`: what the window should stay below. Above it the oldest messages are summarised, not lost.
    let buffer = BufferConfig::default().with_limit(3_000);
    // `chat_store`: the place at which the memory is opened. `chat_store_key`: an owner, and a conversation of theirs.
    let memory = memory::open("memory:").await?.buffer(buffer).build().await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let chat = ada.session(&SessionId::new("chat_history")?);

    // `put`, `add_message`
    chat.append(vec![
        Message::new(Role::User, "Hello!", memory.now()),
        Message::new(Role::Assistant, "Hello! How can I help?", memory.now()),
    ])
    .await?;
    // `get`, with `initial_token_count` = 500: the instructions of the agent take these.
    let context = chat.context("Where is my order?", Budget::new(3_000).reserve(500)).await?;
    writeln!(io::stdout(), "get: {} messages", context.messages().count())?;
    // `get_all`, `get_messages`
    let all = chat.read(&Page::newest(100)).await?.messages;
    writeln!(io::stdout(), "get_all: {} messages", all.len())?;

    // `set_messages`: a new conversation, and then the old one goes.
    let anew = ada.session(&SessionId::new("chat_history_2")?);
    anew.append(all.iter().filter_map(|row| row.message.as_deref()).map(renewed).collect()).await?;
    // `reset`; of single messages, as `delete_messages` does, by `Forget::Messages`.
    ada.forget(&Forget::Session(chat.id().clone())).await?;
    let moved = anew.read(&Page::newest(100)).await?.messages;
    writeln!(io::stdout(), "moved: {} messages", moved.len())?;
    Ok(())
}

/// Returns a message of the same words with an id of its own.
fn renewed(message: &Message) -> Message {
    Message { id: MessageId::fresh(), ..message.clone() }
}

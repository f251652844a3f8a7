//! Coming from the agent manager: ring buffers, a blackboard, `create_agent_buffer` and `add_to_agent`.
//!
//! `cargo run -p coming-from --bin agents`

use std::io::{self, Write};
use std::time::Duration;

use memory::window::{Entry, HeuristicCounter, RingBuffer};
use memory::{BoardEntry, Message, Role, Scope, SessionId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `RingBuffer::new(cap).with_threshold(0.75)`, `MemoryEntry::new(content, tokens)`
    let mut notes = RingBuffer::new(1_000)?.with_threshold(0.75);
    for shard in 1..=9 {
        let entry = Entry::new(format!("Looked at shard {shard}. Nothing was wrong there."), &HeuristicCounter);
        notes.push(entry.with_tokens(100))?;
    }
    // `should_summarize`
    writeln!(io::stdout(), "needs a summary: {}", notes.needs_summary())?;
    let replaced = notes.summarize_extractively(80)?;
    writeln!(io::stdout(), "summarised: {} notes, {} are left", replaced.len(), notes.len())?;

    // `create_agent_buffer`, `add_to_agent`: what is to last is a session, of an owner that is the agent.
    let memory = memory::open("memory:").await?.build().await?;
    let planner = memory.of(&Scope::agent("acme", "planner")?).session(&SessionId::new("run-1")?);
    let said = Message::new(Role::Assistant, "First I look up the trains.", memory.now());
    planner.append(vec![said]).await?;

    // `Blackboard`, `BlackboardEntry::new(k, v).with_ttl(secs)`, `add_to_blackboard`; `with_embeddings` is `BoardEntry::embedded`.
    let board = memory.of(&Scope::team("acme", "travel")?).blackboard();
    board.put(&BoardEntry::new("train", "leaves at nine").with_ttl(Duration::from_secs(60))).await?;
    if let Some(train) = board.get("train").await? {
        writeln!(io::stdout(), "the train {}", train.value)?;
    }
    // `recall`
    let found = board.search("When does the train leave?", 3).await?;
    writeln!(io::stdout(), "found: {}", found.hits.len())?;
    Ok(())
}

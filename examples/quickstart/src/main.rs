//! An agent loop over one SQLite file: each turn appends what the person says, asks the memory what to send to the
//! model, and appends the answer.
//!
//! `cargo run -p quickstart -- memory.sqlite`, then say something; say something else tomorrow.

use std::io::{self, BufRead, Write};

use memory::{Context, Message, Role, Scope, SessionId};
use serde_json::Value;

/// Tokens that a context may have; a real model reads more.
const BUDGET: u64 = 1_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("give the path of a file")?;
    let memory = memory::open(&file).await?.build().await?;
    // Every call names its owner: there is no way to anybody's data without one.
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let session = ada.session(&SessionId::new("quickstart")?);
    // Search follows what is written, in the background.
    let upkeep = memory.upkeep();

    for line in io::stdin().lock().lines() {
        let line = line?;
        session.append(vec![Message::new(Role::User, line.as_str(), memory.now())]).await?;
        let context = session.context(&line, BUDGET).await?;
        let answer = ask(&context);
        session.append(vec![Message::new(Role::Assistant, answer.as_str(), memory.now())]).await?;
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        let (tokens, window) = (context.receipt.tokens, context.receipt.history);
        writeln!(out, "  ({} of {} tokens, {} messages)", tokens.total, tokens.limit, window.kept_messages)?;
    }
    upkeep.stop().await;
    memory.upkeep_once().await?;
    Ok(())
}

/// Stands in for a model: it repeats what it was sent. A real one gets `context.to_openai()` over HTTP.
fn ask(context: &Context) -> String {
    let sent = context.to_openai();
    let said = |message: &Value| {
        let user = message.get("role").and_then(Value::as_str) == Some("user");
        message.get("content").and_then(Value::as_str).filter(|_| user).map(str::to_owned)
    };
    let said: Vec<String> = sent.iter().filter_map(said).collect();
    format!("You told me: {}", said.join(" / "))
}

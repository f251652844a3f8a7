//! `memory hook`: what an agent is told before a prompt, and its conversation stored after it. Whatever is wrong, the agent goes on:
//! the exit code is 0, and the answer is none.

mod event;
mod transcript;

use std::collections::HashSet;
use std::io::Read as _;
use std::time::Duration;

use memory::{Error, Memory, Message, MessageId, Scoped, SessionId};
use memory_server::gather;
use serde_json::json;
use tokio::time::timeout;

use self::event::{Event, Kind};
use super::call::Call;
use crate::cli::{Hook, HookedAgent};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

/// How long a hook takes at the most: the agent waits for it.
const PATIENCE: Duration = Duration::from_millis(1_800);

/// The most bytes that are read of the event.
const MOST: u64 = 16 << 20;

/// How many messages are stored at once.
const BATCH: usize = 500;

/// Answers an event.
pub(crate) async fn run(call: &Call, args: &Hook, output: &mut Output) -> Result<Outcome, Failure> {
    let HookedAgent::ClaudeCode = args.agent;
    let work = async {
        let answered = answer(call, args.budget, output).await;
        call.close().await;
        answered
    };
    let answered = timeout(PATIENCE, work).await;
    match answered {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => say(&format!("memory: {}", failure.line())),
        Err(_) => say("memory: it took too long, and the agent goes on without it"),
    }
    Ok(Outcome::Done)
}

async fn answer(call: &Call, budget: u64, output: &mut Output) -> Result<(), Failure> {
    let event = read().await?;
    let (memory, scoped) = call.open().await?;
    match &event.kind {
        Kind::Begins => tell(&event, gather(&scoped, &begins(&event), budget).await?, output),
        Kind::Asks(prompt) => tell(&event, gather(&scoped, prompt, budget).await?, output),
        Kind::Ends => store(&memory, &scoped, &event).await,
        Kind::Other => Ok(()),
    }
}

/// Returns what is asked for when a session begins: what is known of the person and of the project.
fn begins(event: &Event) -> String {
    let project = event.folder.as_deref().and_then(|folder| folder.rsplit(['/', '\\']).find(|part| !part.is_empty()));
    format!("preferences and decisions of the user {}", project.unwrap_or_default())
}

/// Reads the event from stdin, in a thread: whoever starts a hook may not close it.
async fn read() -> Result<Event, Failure> {
    let text = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        std::io::stdin().take(MOST).read_to_string(&mut text).map(|_| text)
    });
    let text = text.await.map_err(|_| Failure::Inner("stdin could not be read".to_owned()))??;
    Event::parse(&text).map_err(Failure::Usage)
}

/// Adds what is recalled to the conversation.
fn tell(event: &Event, recalled: Option<String>, output: &mut Output) -> Result<(), Failure> {
    if let Some(recalled) = recalled {
        output.json(&json!({
            "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": recalled },
        }))?;
    }
    Ok(output.flush()?)
}

/// Stores what the transcript has and the memory has not.
async fn store(memory: &Memory, scoped: &Scoped, event: &Event) -> Result<(), Failure> {
    let Some(path) = event.transcript.clone() else { return Ok(()) };
    let messages = tokio::task::spawn_blocking(move || transcript::read(&path)).await;
    let messages = messages.map_err(|_| Failure::Inner("the transcript could not be read".to_owned()))??;
    let session = SessionId::new(&event.session)?;
    // Batches are stored oldest first, so those before one that is stored are stored too.
    let mut missing = Vec::new();
    for batch in messages.chunks(BATCH).rev() {
        let fresh = fresh(scoped, batch).await?;
        if fresh.is_empty() {
            break;
        }
        missing.push(fresh);
    }
    for batch in missing.into_iter().rev() {
        append(scoped, &session, batch).await?;
    }
    // What is left to be indexed is done by the next call.
    memory.upkeep_once().await?;
    Ok(())
}

/// Returns those messages that are not stored. Their ids and times are the transcript's, so a repeat adds nothing.
async fn fresh(scoped: &Scoped, messages: &[Message]) -> Result<Vec<Message>, Failure> {
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    let stored: HashSet<MessageId> = scoped.messages(&ids).await?.iter().map(|row| row.id).collect();
    Ok(messages.iter().filter(|message| !stored.contains(&message.id)).cloned().collect())
}

async fn append(scoped: &Scoped, session: &SessionId, fresh: Vec<Message>) -> Result<(), Failure> {
    match scoped.session(session).append(fresh.clone()).await {
        // One of them is taken by other content: the others are stored all the same.
        Err(Error::IdConflict { .. } | Error::Invalid { .. }) => {
            for message in fresh {
                match scoped.session(session).append(vec![message]).await {
                    Err(Error::IdConflict { .. } | Error::Invalid { .. }) => {}
                    outcome => drop(outcome?),
                }
            }
        }
        outcome => drop(outcome?),
    }
    Ok(())
}

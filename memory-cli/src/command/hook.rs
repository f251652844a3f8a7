//! `memory hook`: what an agent is told before a prompt, and its conversation stored after it. Whatever is wrong, the agent goes on:
//! the exit code is 0, and the answer is none.

mod event;
mod mark;
mod transcript;

use std::collections::HashSet;
use std::io::Read as _;
use std::time::Duration;

use memory::{Error, Message, MessageId, Scoped, SessionId};
use memory_server::gather;
use serde_json::json;
use tokio::time::timeout;

use self::event::{Event, Kind};
use self::mark::{Line, Mark, Marks};
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
        Kind::Ends => {
            let marks = Marks::of(&call.database()?, scoped.scope())?;
            store(&scoped, &event, marks).await?;
            // What is left to be indexed is done by the next call.
            memory.upkeep_once().await?;
            Ok(())
        }
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

/// Stores what the transcript has and the memory neither has nor forgot.
async fn store(scoped: &Scoped, event: &Event, marks: Marks) -> Result<(), Failure> {
    let Some(path) = event.transcript.clone() else { return Ok(()) };
    let messages = beside(move || transcript::read(&path)).await?;
    let session = SessionId::new(&event.session)?;
    let begin = forgotten(scoped, &session, &messages, marks).await?;
    // Batches are stored oldest first, so those before one that is stored are stored too.
    let mut missing = Vec::new();
    for batch in messages.get(begin..).unwrap_or_default().chunks(BATCH).rev() {
        let fresh = fresh(scoped, batch).await?;
        if fresh.is_empty() {
            break;
        }
        missing.push(fresh);
    }
    for batch in missing.into_iter().rev() {
        append(scoped, &session, batch).await?;
    }
    Ok(())
}

/// Does what waits for files, in a thread.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| Failure::Inner("a file of the hook could not be used".to_owned()))?;
    done.map_err(|error| Failure::Usage(format!("a file of the hook cannot be used: {error}")))
}

/// Returns how many of the messages, from the first on, were forgotten with a session, and marks how far they are offered now.
///
/// The mark is there before they are stored: else what is forgotten after a hook was cut off would come back.
async fn forgotten(scoped: &Scoped, session: &SessionId, messages: &[Message], marks: Marks) -> Result<usize, Failure> {
    let Some(last) = messages.last().map(Line::of) else { return Ok(0) };
    let fence = scoped.session(session).state().await?.fence;
    let of_marks = marks.clone();
    let (mut end, mut own) = (0, None);
    for mark in beside(move || of_marks.read()).await? {
        let then = if mark.session == session.name() {
            fence
        } else if mark.last.is_among(messages) {
            // A conversation that goes on as another session begins with what was said in the first.
            scoped.session(&SessionId::new(&mark.session)?).state().await?.fence
        } else {
            continue;
        };
        end = mark.forgotten_by(then).map_or(end, |line| end.max(line.end(messages)));
        own = if mark.session == session.name() { Some(mark) } else { own };
    }
    if own.is_none() && fence.generation > 0 {
        // It was forgotten, and nothing tells when: what is new begins behind what was stored since, or with the next message.
        let missing: HashSet<MessageId> = fresh(scoped, messages).await?.iter().map(|message| message.id).collect();
        let stored = messages.iter().rposition(|message| !missing.contains(&message.id));
        end = end.max(stored.map_or(messages.len(), |place| place + 1));
    }
    let gone = end.checked_sub(1).and_then(|place| messages.get(place)).map(Line::of);
    let forgotten = gone.or_else(|| own.and_then(|mark| mark.forgotten));
    let mark = Mark { session: session.name().to_owned(), fence, last, forgotten };
    beside(move || marks.put(mark)).await?;
    Ok(end)
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

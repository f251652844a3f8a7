//! `memory hook`: what an agent is told before a prompt, and its conversation stored after it. Whatever is wrong, the agent goes on:
//! the exit code is 0, and the answer is none.

mod event;
mod mark;
mod store;
mod transcript;
mod typed;

use std::io::Read as _;
use std::time::Duration;

use memory::store::time::Stopwatch;
use memory::window::CounterKind;
use memory_server::gather;
use serde_json::json;
use tokio::time::timeout;

use self::event::{Event, Kind};
use self::mark::Marks;
use super::call::Call;
use crate::cli::{Hook, HookedAgent};
use crate::config::COUNTER;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

/// How long a hook takes at the most: the agent waits for it. The start and the end of the program have the rest of two seconds.
const PATIENCE: Duration = Duration::from_millis(1_800);

/// The most bytes that are read of the event.
const MOST: u64 = 16 << 20;

/// Answers an event.
pub(crate) async fn run(call: &Call, args: &Hook, output: &mut Output) -> Result<Outcome, Failure> {
    let HookedAgent::ClaudeCode = args.agent;
    let watch = Stopwatch::start();
    let work = async {
        let answered = answer(call, args.budget, output, watch).await;
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

async fn answer(call: &Call, budget: u64, output: &mut Output, watch: Stopwatch) -> Result<(), Failure> {
    let event = read().await?;
    let counter = counter(&event.kind);
    let (memory, scoped) = call.open_counted(None, counter).await?;
    match &event.kind {
        Kind::Begins => tell(&event, gather(&scoped, &begins(&event), budget, counter).await?, output),
        Kind::Asks(prompt) => tell(&event, gather(&scoped, prompt, budget, counter).await?, output),
        Kind::Ends => {
            let marks = Marks::of(&call.database()?, scoped.scope())?;
            match store::store(&scoped, &event, marks, watch).await? {
                // What is left to be indexed is done by the next call.
                0 => drop(memory.upkeep_once().await?),
                left => say(&format!("memory: the transcript is long: {left} messages are left for the next hook")),
            }
            Ok(())
        }
        Kind::Other => Ok(()),
    }
}

/// Returns who counts tokens. What is stored is counted as by every command. What is only recalled is counted by an estimate that
/// is never too low, so that the budget holds: the tables of the exact counter would be loaded anew before each prompt.
fn counter(kind: &Kind) -> CounterKind {
    if *kind != Kind::Ends {
        return CounterKind::Heuristic;
    }
    COUNTER.load_ahead();
    COUNTER
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
    let text = text.await.map_err(|_| Failure::Inner("stdin could not be read".to_owned()))?;
    let text = text.map_err(|error| Failure::Usage(format!("the event cannot be read: {error}")))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_gives_up_so_early_that_its_program_ends_within_two_seconds() {
        let (start_and_end, most) = (Duration::from_millis(200), Duration::from_secs(2));
        assert!(PATIENCE + start_and_end <= most, "{PATIENCE:?}");
    }
}

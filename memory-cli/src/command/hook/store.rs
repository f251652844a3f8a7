//! What a hook stores of a transcript: what stands behind the newest message that was stored or forgotten, oldest first, so that the next
//! hook goes on where this one was cut off.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use memory::store::chat::Fence;
use memory::store::time::Stopwatch;
use memory::{Error, Message, MessageId, Scoped, Session, SessionId};

use super::event::Event;
use super::mark::{Line, Mark, Marks};
use super::transcript::Backwards;
use crate::failure::Failure;
use crate::output::say;

/// Until when a transcript is read, from the start of the hook: what is before that is left out. Most machines read all that may be
/// read in a third of it.
const READING: Duration = Duration::from_millis(1_100);

/// When no further batch is stored, so that there is time to close what is open.
const STORING: Duration = Duration::from_millis(1_300);

/// How many hooks in a row may leave what is new to the next one, since they had no time to read back to what is stored. The one behind
/// them stores what it has read, and says that the rest is not stored: else a machine that is always late would store nothing.
const LATE: u8 = 3;

/// How many messages are looked up or stored at once.
const BATCH: usize = 500;

/// The most bytes that are stored first, unless one message has more: few, so that each hook stores some on a busy machine too.
const FIRST_BYTES: usize = 16 << 10;

/// The most bytes that are stored at once later.
const BYTES: usize = 256 << 10;

/// Stores what the transcript has and the memory neither has nor forgot. Returns how many messages are left for the next hook, since the
/// watch of this one tells that it is late.
pub(super) async fn store(scoped: &Scoped, event: &Event, marks: Marks, watch: Stopwatch) -> Result<usize, Failure> {
    let Some(path) = event.transcript.clone() else { return Ok(0) };
    let back = beside(move || open(&path)).await?;
    let session = SessionId::new(&event.session)?;
    let past = Past::of(scoped, &session, &marks).await?;
    // Behind the end of a session there may be no next hook.
    let may_wait = event.name != "SessionEnd";
    let New { messages, last, forgotten } = match past.new_of(back, watch, may_wait).await? {
        Found::New(new) => new,
        Found::Late(own) => {
            say("memory: there was no time to read the transcript back to what is stored: the next hook stores it");
            let mark = Mark { late: own.late + 1, ..own.clone() };
            beside(move || marks.put(mark, Some(&own))).await?;
            return Ok(0);
        }
    };
    let Some(last) = last else { return Ok(0) };
    // The mark is there before they are stored: else what is forgotten after a hook was cut off would come back.
    let mark = Mark { session: session.name().to_owned(), fence: past.fence, last, forgotten, late: 0 };
    let seen = past.own().cloned();
    beside(move || marks.put(mark, seen.as_ref())).await?;
    let talk = scoped.session(&session);
    let (mut rest, mut bytes) = (messages.as_slice(), FIRST_BYTES);
    while !rest.is_empty() {
        let (batch, others) = rest.split_at(fitting(rest, bytes));
        append(&talk, batch).await?;
        (rest, bytes) = (others, BYTES.min(2 * bytes));
        if watch.elapsed() >= STORING {
            break;
        }
    }
    Ok(rest.len())
}

/// Does what waits for files, in a thread.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| Failure::Inner("a file of the hook could not be used".to_owned()))?;
    done.map_err(|error| Failure::Usage(format!("a file of the hook cannot be used: {error}")))
}

fn open(path: &Path) -> io::Result<Backwards> {
    Backwards::open(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// What was found in a transcript.
enum Found {
    /// What is new.
    New(New),
    /// There was no time to read back to what is stored: if the newest were stored now, later hooks would take all before it for stored.
    /// The mark of the session.
    Late(Mark),
}

/// What a transcript has that is new.
struct New {
    /// The messages, oldest first.
    messages: Vec<Message>,
    /// The last message of the transcript, stored or not; none if it has no messages.
    last: Option<Line>,
    /// The last one that was forgotten.
    forgotten: Option<Line>,
}

/// A message that is old, with all before it.
#[derive(Clone, Copy)]
struct Old {
    line: Line,
    /// It is stored, and those before it are too: they are stored oldest first. Else it was the last one when its session was forgotten.
    is_stored: bool,
}

/// What was stored and forgotten before, of the session and of those that it may go on with.
struct Past<'a> {
    scoped: &'a Scoped,
    session: &'a SessionId,
    /// The present fence of the session.
    fence: Fence,
    marks: Vec<Mark>,
    /// The time up to which no mark tells what was forgotten, if there is one.
    lost: Option<Line>,
    /// The messages that the marks name.
    marked: HashSet<MessageId>,
}

impl<'a> Past<'a> {
    async fn of(scoped: &'a Scoped, session: &'a SessionId, marks: &Marks) -> Result<Self, Failure> {
        let fence = scoped.session(session).state().await?.fence;
        let marks = marks.clone();
        let (marks, lost) = beside(move || Ok((marks.read()?, marks.lost()?))).await?;
        let named = marks.iter().flat_map(|mark| mark.forgotten.into_iter().chain([mark.last]));
        let marked = named.map(Line::id).collect();
        Ok(Self { scoped, session, fence, marks, lost, marked })
    }

    /// Returns the mark of the session itself.
    fn own(&self) -> Option<&Mark> {
        self.marks.iter().find(|mark| mark.session == self.session.name())
    }

    /// Reads a transcript back to what is old, as far as the watch of the hook leaves time for more than its last block. Where that was
    /// too short and something of the session was offered before, what is new may wait for the next hook.
    async fn new_of(&self, mut back: Backwards, watch: Stopwatch, may_wait: bool) -> Result<Found, Failure> {
        let (mut blocks, mut last, mut old) = (Vec::new(), None, None);
        while old.is_none() && !back.is_over() && (blocks.is_empty() || watch.elapsed() < READING) {
            let (mut block, rest) = beside(move || Ok((back.block()?, back))).await?;
            back = rest;
            last = last.or(block.last().map(Line::of));
            if let Some((place, is_stored)) = self.old_in(&block).await? {
                old = block.drain(..=place).next_back().map(|message| Old { line: Line::of(&message), is_stored });
            }
            blocks.push(block);
        }
        let own = self.own();
        if let Some(own) = own.filter(|own| may_wait && own.late < LATE && old.is_none() && !back.is_over()) {
            return Ok(Found::Late(own.clone()));
        }
        let mut messages: Vec<Message> = blocks.into_iter().rev().flatten().collect();
        // It was forgotten, and nothing tells when: what is new begins behind what was stored since, or with the next message.
        let is_unmarked = own.is_none() && self.fence.generation > 0;
        let was_forgotten = own.map_or(self.lost, |mark| mark.forgotten_by(self.fence));
        let end = match old {
            Some(old) if old.is_stored || !is_unmarked => 0,
            _ if is_unmarked => messages.len(),
            // It may be another transcript of the session: then the times tell.
            _ => was_forgotten.map_or(0, |line| line.end(&messages)),
        };
        let gone = messages.drain(..end).next_back().map(|message| Line::of(&message));
        let behind = old.filter(|old| is_unmarked || !old.is_stored).map(|old| old.line);
        let left = back.left();
        if old.is_none() && !is_unmarked && left > 0 {
            say(&format!("memory: the transcript is too long: its first {left} bytes are not stored"));
        }
        Ok(Found::New(New { messages, last, forgotten: gone.or(behind).or(was_forgotten) }))
    }

    /// Returns the place of the newest of these messages that is old, and whether it is stored.
    async fn old_in(&self, messages: &[Message]) -> Result<Option<(usize, bool)>, Failure> {
        let stored = self.stored_in(messages).await?;
        let behind = stored.map_or(0, |place| place + 1);
        for (place, message) in messages.iter().enumerate().skip(behind).rev() {
            if self.marked.contains(&message.id) && self.was_forgotten_to(message.id).await? {
                return Ok(Some((place, false)));
            }
        }
        Ok(stored.map(|place| (place, true)))
    }

    /// Returns the place of the newest of these messages that is stored. Their ids are the transcript's.
    async fn stored_in(&self, messages: &[Message]) -> Result<Option<usize>, Failure> {
        let mut end = messages.len();
        for batch in messages.rchunks(BATCH) {
            let ids: Vec<MessageId> = batch.iter().map(|message| message.id).collect();
            let stored: HashSet<MessageId> = self.scoped.messages(&ids).await?.iter().map(|row| row.id).collect();
            end -= batch.len();
            if let Some(place) = batch.iter().rposition(|message| stored.contains(&message.id)) {
                return Ok(Some(end + place));
            }
        }
        Ok(None)
    }

    /// Returns whether a session was forgotten up to this message: this one, or one with which it goes on.
    async fn was_forgotten_to(&self, id: MessageId) -> Result<bool, Failure> {
        for mark in &self.marks {
            if mark.forgotten.is_some_and(|line| line.id() == id) {
                return Ok(true);
            }
            if mark.last.id() == id {
                let session = SessionId::new(&mark.session)?;
                if self.scoped.session(&session).state().await?.fence > mark.fence {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns how many of these messages, from the first on, have at most so many bytes: at least one.
fn fitting(messages: &[Message], most: usize) -> usize {
    let mut bytes = 0;
    let fits = |message: &&Message| {
        bytes += message.encoded_len();
        bytes <= most
    };
    messages.iter().take(BATCH).take_while(fits).count().max(1)
}

async fn append(talk: &Session, batch: &[Message]) -> Result<(), Failure> {
    match talk.append(batch.to_vec()).await {
        // One of them is taken by other content: the others are stored all the same.
        Err(Error::IdConflict { .. } | Error::Invalid { .. }) => {
            for message in batch {
                match talk.append(vec![message.clone()]).await {
                    Err(Error::IdConflict { .. }) => {}
                    Err(error @ Error::Invalid { .. }) => {
                        say(&format!("memory: the message {} is not stored: {error}", message.id));
                    }
                    outcome => drop(outcome?),
                }
            }
        }
        outcome => drop(outcome?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use memory::Scope;
    use serde_json::json;

    use super::super::event::Kind;
    use super::*;

    #[tokio::test]
    async fn a_hook_that_has_no_time_to_read_back_leaves_no_gap() {
        let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
        let scoped = memory.of(&Scope::new("acme", "ada").unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let write = |count: usize| {
            let line = |number: usize| {
                let id = format!("0190b0a0-0000-7000-8000-{number:012}");
                let message = json!({ "role": "user", "content": format!("{number} {}", "word ".repeat(2_000)) });
                json!({ "type": "user", "uuid": id, "timestamp": "2026-11-22T10:00:00Z", "message": message })
            };
            let lines: Vec<String> = (0..count).map(|number| line(number).to_string()).collect();
            std::fs::write(&path, lines.join("\n")).unwrap();
        };
        let hook = async |name: &str, watch: Stopwatch| {
            let (name, transcript) = (name.to_owned(), Some(path.clone()));
            let event = Event { name, kind: Kind::Ends, session: "s".to_owned(), transcript, folder: None };
            let marks = Marks::at(folder.path().join("hook.json"));
            store(&scoped, &event, marks, watch).await.unwrap();
            let talk = scoped.session(&SessionId::new("s").unwrap());
            talk.state().await.unwrap().head.0
        };
        // One that is in time may leave some messages to the next one.
        let all_stored = async |count: u64| {
            for _ in 0..100 {
                if hook("Stop", Stopwatch::start()).await == count {
                    return;
                }
            }
            panic!("{count} messages are not stored");
        };
        let late = Stopwatch::start();
        tokio::time::sleep(READING).await;
        write(2);
        all_stored(2).await;
        // More than the last block is new.
        write(30);
        assert_eq!(hook("Stop", late).await, 2);
        all_stored(30).await;
        write(60);
        for _ in 0..LATE {
            assert_eq!(hook("Stop", late).await, 30);
        }
        // A machine that is always late stores something.
        let stored = hook("Stop", late).await;
        assert!((31..60).contains(&stored), "{stored}");
        write(90);
        assert!(hook("SessionEnd", late).await > stored, "there may be no next hook");
    }
}

//! How far hooks offered each session: so that they do not store again what was forgotten since.
//!
//! A deletion frees the ids of a session's messages, and the transcript still has them. What tells of the deletion is that the session's
//! fence rose, and what tells which messages were there before it is a mark, in a file of the data folder. The file holds ids and
//! times and no words, and stays when the memory forgets.
//!
//! A damaged file is set aside. What was forgotten before that is not told any more, so all that is older counts as forgotten, but for what
//! the memory holds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use memory::store::chat::Fence;
use memory::{Message, MessageId, Scope, Timestamp};
use serde::{Deserialize, Serialize};

use crate::config::{Database, in_data_folder};
use crate::failure::Failure;
use crate::output::say;

/// How many sessions are kept in mind: those that were offered last.
const MOST: usize = 1_000;

/// The most bytes of the file that are read.
const BYTES: u64 = 4 << 20;

/// A message of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    id: MessageId,
    at: Timestamp,
}

/// How far a session was offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) session: String,
    /// The fence under which it was offered.
    pub(super) fence: Fence,
    /// The last message that was offered.
    pub(super) last: Line,
    /// The last message that was forgotten with the session.
    pub(super) forgotten: Option<Line>,
    /// How many hooks in a row had no time to read back to what is stored, and left what is new to the next one.
    #[serde(default)]
    pub(super) late: u8,
}

impl Line {
    pub(super) fn of(message: &Message) -> Self {
        Self { id: message.id, at: message.at }
    }

    pub(super) fn id(self) -> MessageId {
        self.id
    }

    /// Returns how many of these messages end with it: where it is not among them, those that are as old.
    pub(super) fn end(self, messages: &[Message]) -> usize {
        let place = messages.iter().rposition(|message| message.id == self.id);
        let place = place.or_else(|| messages.iter().rposition(|message| message.at <= self.at));
        place.map_or(0, |place| place + 1)
    }
}

impl Mark {
    /// Returns the last message that is forgotten now that the session has this fence.
    pub(super) fn forgotten_by(&self, fence: Fence) -> Option<Line> {
        if fence > self.fence { Some(self.last) } else { self.forgotten }
    }
}

/// The file of marks of an owner of a database. Several processes may use it at once.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    path: PathBuf,
}

impl Marks {
    /// Names the file.
    pub(super) fn of(database: &Database, owner: &Scope) -> Result<Self, Failure> {
        let file = database.file.as_deref().and_then(|file| fs::canonicalize(file).ok());
        let place = file.map_or_else(|| database.shown(), |file| file.to_string_lossy().into_owned());
        let name = MessageId::of_content(format!("hook\n{}\n{place}", owner.key()).as_bytes());
        Ok(Self { path: in_data_folder(&format!("hook-{name}.json"), "set HOME (APPDATA on Windows)")? })
    }

    /// Names a file by its path.
    #[cfg(test)]
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the marks, the newest last; none if the file is not there. A damaged one is set aside.
    pub(super) fn read(&self) -> io::Result<Vec<Mark>> {
        match self.parse() {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let _lock = self.lock()?;
                // Another hook may have set it aside meanwhile.
                if self.parse().is_err() {
                    self.set_aside()?;
                }
                self.parse()
            }
            marks => marks,
        }
    }

    /// Returns the time up to which no mark tells what was forgotten, as a line that stands nowhere; none if no file was ever damaged.
    pub(super) fn lost(&self) -> io::Result<Option<Line>> {
        let made = match fs::metadata(self.damaged()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            metadata => metadata?.modified()?,
        };
        let since = made.duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
        Ok(Some(Line { id: MessageId::of_content(b"lost marks"), at }))
    }

    /// Reads the file.
    fn parse(&self) -> io::Result<Vec<Mark>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let mut text = Vec::new();
        file.take(BYTES).read_to_end(&mut text)?;
        serde_json::from_slice(&text).map_err(|_| {
            let damaged = format!("{} is damaged: it tells what hooks stored before", self.path.display());
            io::Error::new(ErrorKind::InvalidData, damaged)
        })
    }

    /// Copies the damaged file, as far as marks may reach, and removes it. The time of the copy is that of now.
    fn set_aside(&self) -> io::Result<()> {
        let aside = self.damaged();
        let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&aside)?;
        io::copy(&mut File::open(&self.path)?.take(BYTES), &mut file)?;
        file.sync_all()?;
        fs::remove_file(&self.path)?;
        let (path, aside) = (self.path.display(), aside.display());
        say(&format!(
            "memory: {path} told what hooks stored before, and is damaged: it is {aside} now. Of a conversation that the memory does not \
             hold, only what is said from now on is stored; to have all of it stored, remove {aside}: what was forgotten may come back"
        ));
        Ok(())
    }

    fn damaged(&self) -> PathBuf {
        self.path.with_extension("damaged")
    }

    /// Locks the marks until the file is dropped. It lies beside them, since their own file is another one after each change.
    fn lock(&self) -> io::Result<File> {
        let lock = private(OpenOptions::new().write(true).create(true)).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Puts a mark in the place of the one of the same session. `seen` is that one as it was when the session was looked at: if another
    /// hook has put one since, the later of the two stays.
    pub(super) fn put(&self, mark: Mark, seen: Option<&Mark>) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut marks = self.parse()?;
        let present = marks.iter().find(|other| other.session == mark.session);
        let is_later = |other: &Mark| (other.fence, other.last.at) > (mark.fence, mark.last.at);
        if present == Some(&mark) || present.is_some_and(|other| seen != Some(other) && is_later(other)) {
            return Ok(());
        }
        marks.retain(|other| other.session != mark.session);
        marks.push(mark);
        marks.drain(..marks.len().saturating_sub(MOST));
        let fresh = self.path.with_extension("new");
        let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&fresh)?;
        file.write_all(&serde_json::to_vec(&marks)?)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)
    }
}

/// Lets a file be made for its user alone.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use memory::Role;

    use super::*;

    fn said(seconds: i64) -> Message {
        Message::new(Role::User, "word", Timestamp(seconds * 1_000_000))
    }

    #[test]
    fn a_mark_tells_what_was_forgotten_once_the_fence_rose() {
        let messages = [said(1), said(2), said(2), said(3)];
        let lines: Vec<Line> = messages.iter().map(Line::of).collect();
        let fence = |generation| Fence { generation, ..Fence::default() };
        let forgotten = Some(lines[0]);
        let mark = Mark { session: "s".to_owned(), fence: fence(2), last: lines[2], forgotten, late: 0 };
        assert_eq!(mark.forgotten_by(fence(2)), Some(lines[0]));
        assert_eq!(mark.forgotten_by(fence(1)), Some(lines[0]), "an older copy of the database");
        assert_eq!(mark.forgotten_by(fence(3)), Some(lines[2]));
        assert_eq!(lines[1].end(&messages), 2);
        assert_eq!(Line::of(&said(2)).end(&messages), 3, "of another transcript: by its time");
        assert_eq!(Line::of(&said(0)).end(&messages), 0);
        assert_eq!(lines[1].id(), messages[1].id);
    }

    #[test]
    fn marks_are_kept_for_the_sessions_that_were_offered_last() {
        let folder = tempfile::tempdir().unwrap();
        let marks = Marks { path: folder.path().join("hook.json") };
        assert_eq!(marks.read().unwrap(), []);
        let line = Line::of(&said(1));
        let mark = |number: usize| Mark {
            session: number.to_string(),
            fence: Fence::default(),
            last: line,
            forgotten: None,
            late: 0,
        };
        let full: Vec<Mark> = (0..MOST).map(mark).collect();
        fs::write(&marks.path, serde_json::to_vec(&full).unwrap()).unwrap();
        marks.put(Mark { forgotten: Some(line), ..mark(0) }, Some(&mark(0))).unwrap();
        marks.put(mark(MOST), None).unwrap();
        let names: Vec<String> = marks.read().unwrap().into_iter().map(|mark| mark.session).collect();
        assert_eq!((names.len(), names[0].as_str()), (MOST, "2"));
        assert_eq!(names[MOST - 2..], ["0".to_owned(), MOST.to_string()]);
        fs::write(&marks.path, "{").unwrap();
        assert!(marks.put(mark(1), None).is_err());
    }

    #[test]
    fn damaged_marks_are_set_aside_with_the_time_of_that() {
        let folder = tempfile::tempdir().unwrap();
        let marks = Marks { path: folder.path().join("hook.json") };
        assert_eq!(marks.lost().unwrap(), None);
        for damaged in [b"{".as_slice(), b"", b"\xff"] {
            fs::write(&marks.path, damaged).unwrap();
            assert_eq!(marks.read().unwrap(), []);
            assert!(!marks.path.exists());
            assert_eq!(fs::read(folder.path().join("hook.damaged")).unwrap(), damaged);
            let lost = marks.lost().unwrap().unwrap();
            assert_eq!(lost.end(&[said(1), said(2), Message::new(Role::User, "word", Timestamp(i64::MAX))]), 2);
        }
    }

    #[test]
    fn a_mark_of_an_earlier_look_replaces_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let marks = Marks { path: folder.path().join("hook.json") };
        let mark = |generation: u64, seconds: i64| Mark {
            session: "s".to_owned(),
            fence: Fence { generation, ..Fence::default() },
            last: Line::of(&said(seconds)),
            forgotten: None,
            late: 0,
        };
        let [first, second, forgotten] = [mark(0, 1), mark(0, 2), mark(1, 2)];
        marks.put(first.clone(), None).unwrap();
        marks.put(second.clone(), Some(&first)).unwrap();
        // Another hook looked before the second was put, and is done after it.
        for seen in [None, Some(&first)] {
            marks.put(mark(0, 1), seen).unwrap();
            assert_eq!(marks.read().unwrap(), std::slice::from_ref(&second));
        }
        marks.put(forgotten.clone(), Some(&first)).unwrap();
        marks.put(mark(0, 3), Some(&second)).unwrap();
        assert_eq!(marks.read().unwrap(), std::slice::from_ref(&forgotten));
        // An older copy of the database was put back, and the clock.
        marks.put(first.clone(), Some(&forgotten)).unwrap();
        assert_eq!(marks.read().unwrap(), [first]);
    }
}

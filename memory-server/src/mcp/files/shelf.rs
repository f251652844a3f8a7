//! Files as records: made, changed over what was read, and forgotten.

use memory::store::record::Telling;
use memory::store::records::Expect;
use memory::{Error, Forget, MessageId, Record, RecordId, Scoped, SessionId, StoredRecord, Trust};

use super::path::Place;
use crate::mcp::pages::Pages;
use crate::mcp::tool::ORIGIN;

/// The kind of the records.
const KIND: &str = "file";
/// The kind of what is left of a renamed file until it is forgotten: its path, without its content. No command shows it, and whoever
/// read the file before cannot change it.
const LEFT: &str = "file renamed";
/// The member of their metadata that holds the path.
const PATH: &str = "path";
/// How often a file is tried to be made where something else is made and forgotten meanwhile.
const ATTEMPTS: usize = 100;

/// A file.
#[derive(Debug)]
pub(super) struct Kept {
    stored: StoredRecord,
}

impl Kept {
    /// Returns the content. The record's text has the path before it, by which the file is found, and is never empty.
    pub(super) fn content(&self) -> &str {
        self.stored.record.text.split_once('\n').map_or("", |(_, content)| content)
    }

    pub(super) fn path(&self) -> &str {
        path_of(&self.stored.record)
    }

    /// Returns its record as it is at another place.
    fn at(&self, place: &Place) -> Record {
        at_place(Record { text: text(place, self.content()), ..(*self.stored.record).clone() }, place)
    }

    fn listed(&self) -> Listed {
        Listed { path: self.path().to_owned(), bytes: self.content().len(), id: self.stored.record.id }
    }
}

/// A file without its content.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) path: String,
    /// The bytes of the content.
    pub(super) bytes: usize,
    id: RecordId,
}

/// What one call leaves of files. It is forgotten by a session of its own: a record of that session is what the call left and nothing
/// that stands there since, because whoever makes a file over it names no session. To forget the records by their ids would delete
/// the new file too.
#[derive(Debug)]
pub(super) struct Leavings(SessionId);

impl Leavings {
    pub(super) fn new() -> Result<Self, Error> {
        SessionId::new(&format!("{LEFT} {}", MessageId::fresh())).map(Self)
    }

    /// Closes a file that has another name now, and returns false if somebody else changed it meanwhile.
    pub(super) async fn leave(&self, ada: &Scoped, kept: &Kept) -> Result<bool, Error> {
        let StoredRecord { record, .. } = &kept.stored;
        let first = Telling {
            origin: Some(ORIGIN.to_owned()),
            session: Some(self.0.clone()),
            ..Telling::new(record.first.at, Trust::Assistant)
        };
        // The content is at the new place. If this ends before the rest is forgotten, nothing gives out what was there.
        let left = Record { id: record.id, first, ..Record::new(LEFT, format!("{}\n", kept.path()), record.first.at) };
        change(ada, kept, left).await
    }

    /// Forgets what was left for good.
    pub(super) async fn forget(self, ada: &Scoped) -> Result<(), Error> {
        ada.forget(&Forget::Session(self.0)).await.map(drop)
    }
}

fn id(path: &str) -> RecordId {
    RecordId::of_content(&[b"memory file\0", path.as_bytes()].concat())
}

fn path_of(record: &Record) -> &str {
    record.text.split_once('\n').map_or("", |(path, _)| path)
}

/// Returns whether a record is the one of its path: not what others made of its kind, nor what another record took the place of.
fn is_in_place(record: &Record) -> bool {
    record.superseded.is_none() && record.id == id(path_of(record))
}

/// Returns whether a record is a file, or what is left of one, which this tool alone changes.
pub(crate) fn owns(record: &Record) -> bool {
    matches!(record.kind.as_str(), KIND | LEFT) && is_in_place(record)
}

fn text(place: &Place, content: &str) -> String {
    format!("{}\n{content}", place.as_str())
}

/// Returns the file at `place`.
pub(super) async fn file(ada: &Scoped, place: &Place) -> Result<Option<Kept>, Error> {
    let found = at(ada, place).await?;
    Ok(found.filter(|kept| kept.stored.record.kind == KIND && kept.stored.record.superseded.is_none()))
}

/// Returns what is at `place`: a file, what is left of one, or a file that another record took the place of.
async fn at(ada: &Scoped, place: &Place) -> Result<Option<Kept>, Error> {
    Ok(ada.get(&[id(place.as_str())]).await?.pop().map(|stored| Kept { stored }))
}

/// Returns the file at `place`, or else the files below it, in the order of their paths.
pub(super) async fn at_or_below(ada: &Scoped, place: &Place) -> Result<Vec<Listed>, Error> {
    match file(ada, place).await? {
        Some(kept) => Ok(vec![kept.listed()]),
        None => below(ada, place).await,
    }
}

/// Returns the files below `place`, in the order of their paths.
pub(super) async fn below(ada: &Scoped, place: &Place) -> Result<Vec<Listed>, Error> {
    let (mut pages, mut found): (Pages, Vec<Listed>) = (Pages::of(KIND), Vec::new());
    while let Some(page) = pages.read(ada).await? {
        let files = page.into_iter().map(|stored| Kept { stored });
        found.extend(files.filter(|kept| is_file_below(kept, place)).map(|kept| kept.listed()));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns whether a file is below `place`.
pub(super) async fn is_folder(ada: &Scoped, place: &Place) -> Result<bool, Error> {
    let mut pages = Pages::of(KIND);
    while let Some(page) = pages.read(ada).await? {
        if page.into_iter().any(|stored| is_file_below(&Kept { stored }, place)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_file_below(kept: &Kept, place: &Place) -> bool {
    place.below(kept.path()).is_some() && is_in_place(&kept.stored.record)
}

/// Forgets what renames that were cut off left at `place` and below it.
pub(super) async fn sweep(ada: &Scoped, place: &Place) -> Result<(), Error> {
    let (mut pages, leavings, mut is_any) = (Pages::of(LEFT), Leavings::new()?, false);
    while let Some(page) = pages.read(ada).await? {
        for kept in page.into_iter().map(|stored| Kept { stored }) {
            if kept.path() == place.as_str() || place.below(kept.path()).is_some() {
                // Whoever changed it meanwhile made a file of it, or forgets it.
                leavings.leave(ada, &kept).await?;
                is_any = true;
            }
        }
    }
    if is_any { leavings.forget(ada).await } else { Ok(()) }
}

/// Makes a file, and returns false if one is there. One that another record took the place of is made anew.
pub(super) async fn make(ada: &Scoped, place: &Place, content: &str) -> Result<bool, Error> {
    let mut record = Record::new(KIND, text(place, content), ada.memory().now());
    record.first.trust = Trust::Assistant;
    record.first.origin = Some(ORIGIN.to_owned());
    store(ada, place, at_place(record, place)).await
}

/// Makes a file of another one, with all that is known of that, and returns false if one is there.
pub(super) async fn copy(ada: &Scoped, kept: &Kept, place: &Place) -> Result<bool, Error> {
    store(ada, place, kept.at(place)).await
}

/// Makes a copy of a file like another one, and returns false if somebody else changed it meanwhile.
pub(super) async fn copy_again(ada: &Scoped, kept: &Kept, place: &Place, copy: &Kept) -> Result<bool, Error> {
    change(ada, copy, kept.at(place)).await
}

fn at_place(mut record: Record, place: &Place) -> Record {
    record.id = id(place.as_str());
    for telling in record.tellings_mut() {
        telling.metadata.insert(PATH.to_owned(), place.as_str().into());
    }
    record
}

async fn store(ada: &Scoped, place: &Place, record: Record) -> Result<bool, Error> {
    for _ in 0..ATTEMPTS {
        let expect = match at(ada, place).await? {
            None => Expect::Absent,
            Some(Kept { stored }) if stored.record.kind == LEFT || stored.record.superseded.is_some() => {
                Expect::Version(stored.version)
            }
            Some(_) => return Ok(false),
        };
        match ada.put(record.clone(), expect).await {
            Ok(_) => return Ok(true),
            // Somebody made it meanwhile, or forgot what was left there.
            Err(Error::IdConflict { .. } | Error::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Conflict)
}

/// Puts other content into a file, and returns false if somebody else changed it meanwhile.
pub(super) async fn rewrite(ada: &Scoped, place: &Place, kept: &Kept, content: &str) -> Result<bool, Error> {
    change(ada, kept, Record { text: text(place, content), ..(*kept.stored.record).clone() }).await
}

async fn change(ada: &Scoped, Kept { stored }: &Kept, record: Record) -> Result<bool, Error> {
    match ada.put(record, Expect::Version(stored.version)).await {
        Ok(_) => Ok(true),
        Err(Error::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Forgets files for good.
pub(super) async fn remove(ada: &Scoped, files: &[Listed]) -> Result<(), Error> {
    let ids = files.iter().map(|file| file.id).collect();
    ada.forget(&Forget::Records(ids)).await.map(drop)
}

//! Files as records: made, changed over what was read, and forgotten.

use memory::store::records::Expect;
use memory::{Error, Field, Filter, Forget, Record, RecordId, Scoped, StoredRecord, Trust};

use super::path::Place;
use crate::mcp::tool::ORIGIN;

/// The kind of the records.
const KIND: &str = "file";
/// The kind of what is left of a renamed file until it is forgotten. Nothing finds it, and whoever read the file before cannot change it.
const LEFT: &str = "file renamed";
/// The member of their metadata that holds the path.
const PATH: &str = "path";
/// How many are read at once.
const PAGE: usize = 500;

/// A file.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    stored: StoredRecord,
}

impl Kept {
    /// Returns the content. The record's text has the path before it, by which the file is found, and is never empty.
    pub(super) fn content(&self) -> &str {
        self.stored.record.text.split_once('\n').map_or("", |(_, content)| content)
    }

    pub(super) fn path(&self) -> &str {
        self.stored.record.text.split_once('\n').map_or("", |(path, _)| path)
    }
}

fn id(place: &Place) -> RecordId {
    RecordId::of_content(&[b"memory file\0", place.as_str().as_bytes()].concat())
}

fn text(place: &Place, content: &str) -> String {
    format!("{}\n{content}", place.as_str())
}

/// Returns the file at `place`.
pub(super) async fn file(ada: &Scoped, place: &Place) -> Result<Option<Kept>, Error> {
    Ok(at(ada, place).await?.filter(|kept| kept.stored.record.kind == KIND))
}

/// Returns what is at `place`: a file, or what is left of one.
async fn at(ada: &Scoped, place: &Place) -> Result<Option<Kept>, Error> {
    Ok(ada.get(&[id(place)]).await?.pop().map(|stored| Kept { stored }))
}

/// Returns the files below `place`, in the order of their paths.
pub(super) async fn below(ada: &Scoped, place: &Place) -> Result<Vec<Kept>, Error> {
    let (filter, mut after, mut found) = (Filter::eq(Field::Kind, KIND), None, Vec::new());
    loop {
        let page = ada.records(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        let kept = page.into_iter().map(|stored| Kept { stored });
        found.extend(kept.filter(|kept| place.below(kept.path()).is_some()));
    }
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(found)
}

/// Makes a file, and returns false if one is there.
pub(super) async fn make(ada: &Scoped, place: &Place, content: &str) -> Result<bool, Error> {
    let mut record = Record { id: id(place), ..Record::new(KIND, text(place, content), ada.memory().now()) };
    record.first.trust = Trust::Assistant;
    record.first.origin = Some(ORIGIN.to_owned());
    record.first.metadata.insert(PATH.to_owned(), place.as_str().into());
    let left = at(ada, place).await?.filter(|kept| kept.stored.record.kind == LEFT);
    let expect = left.map_or(Expect::Absent, |left| Expect::Version(left.stored.version));
    match ada.put(record, expect).await {
        Ok(_) => Ok(true),
        Err(Error::IdConflict { .. } | Error::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts other content into a file, and returns false if somebody else changed it meanwhile.
pub(super) async fn rewrite(ada: &Scoped, place: &Place, kept: &Kept, content: &str) -> Result<bool, Error> {
    change(ada, kept, Record { text: text(place, content), ..(*kept.stored.record).clone() }).await
}

/// Closes a file that has another name now, and returns false if somebody else changed it meanwhile.
pub(super) async fn leave(ada: &Scoped, kept: &Kept) -> Result<bool, Error> {
    change(ada, kept, Record { kind: LEFT.to_owned(), ..(*kept.stored.record).clone() }).await
}

async fn change(ada: &Scoped, Kept { stored }: &Kept, record: Record) -> Result<bool, Error> {
    match ada.put(record, Expect::Version(stored.version)).await {
        Ok(_) => Ok(true),
        Err(Error::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Forgets files for good.
pub(super) async fn remove(ada: &Scoped, files: &[Kept]) -> Result<(), Error> {
    let ids = files.iter().map(|kept| kept.stored.record.id).collect();
    ada.forget(&Forget::Records(ids)).await.map(drop)
}

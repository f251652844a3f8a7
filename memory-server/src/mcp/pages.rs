//! Records of a kind, a page after the other.

use memory::{Error, Field, Filter, RecordId, Scoped, StoredRecord};

use crate::app::PART;

/// Where the reading of all records of a kind stands.
#[derive(Debug)]
pub(super) struct Pages {
    filter: Filter,
    after: Option<RecordId>,
}

impl Pages {
    /// Begins to read the records of this kind.
    pub(super) fn of(kind: &str) -> Self {
        Self { filter: Filter::eq(Field::Kind, kind), after: None }
    }

    /// Returns the next page; none behind the last one.
    pub(super) async fn read(&mut self, ada: &Scoped) -> Result<Option<Vec<StoredRecord>>, Error> {
        let page = ada.records(&self.filter, self.after, PART).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = Some(last.record.id);
        Ok(Some(page))
    }
}

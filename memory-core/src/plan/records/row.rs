//! Records as rows, encoded before the transaction.

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::{Digest, RecordId};
use crate::record::Record;

/// A record, ready to be stored. `F` holds the values that a store keeps for filters outside its columns.
#[derive(Debug)]
pub struct Row<F> {
    /// Its id.
    pub id: RecordId,
    /// The digest of the content.
    pub digest: Vec<u8>,
    /// Its canonical text.
    pub body: String,
    /// The fields that filters look at.
    pub fields: Fields,
    /// The values for filters outside the columns.
    pub facets: F,
    /// Whether it is on hold, and so outlives its expiry.
    pub hold: bool,
}

/// The state of a stored record.
#[derive(Clone, Debug)]
pub struct KnownRecord {
    /// The highest version that it ever had.
    pub version: i64,
    /// Its digest; none if it is deleted.
    pub digest: Option<Vec<u8>>,
}

/// A record with its version and access statistics.
#[derive(Debug)]
pub struct Stored<'a, F> {
    /// The record.
    pub record: &'a Row<F>,
    /// The version that it will have.
    pub version: i64,
    /// The access statistics to store: when it was last returned, and how often. None keeps the stored ones.
    pub accessed: Option<(Option<i64>, i64)>,
}

impl<F> Row<F> {
    /// Encodes a record.
    ///
    /// # Errors
    /// `Invalid` if its canonical bytes are not text.
    pub fn encode(record: &Record, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let body = String::from_utf8(record.encode()).map_err(|_| Error::invalid("the record is no text"))?;
        let (fields, digest) = (Fields::of_record(record), Digest::of(&[body.as_bytes()]).0.to_vec());
        Ok(Self { id: record.id, digest, body, facets: facets(&fields), fields, hold: record.hold })
    }
}

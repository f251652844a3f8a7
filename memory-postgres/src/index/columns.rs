//! The columns for filters, of many rows at once.

use memory_core::Fields;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use crate::filter::facets;

/// The names of the columns, in the order of [`VALUES`].
pub(crate) const NAMES: &str = "unit, session, seq, role, speaker, kind, trust, at, expires_at, valid_from, valid_to, \
     superseded_at, words, fields";

/// The values that [`Columns::bind`] binds; a statement's other values begin with `$15`.
pub(crate) const VALUES: &str = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14";

/// The columns as they are selected from a row called `new`.
pub(crate) const SELECTED: &str = "new.unit, new.session, new.seq, new.role, new.speaker, new.kind, new.trust, new.at, \
     new.expires_at, new.valid_from, new.valid_to, new.superseded_at, new.words::bytea[], new.fields";

/// The columns of a row that could not be inserted.
pub(crate) const EXCLUDED: &str = "excluded.unit, excluded.session, excluded.seq, excluded.role, excluded.speaker, \
     excluded.kind, excluded.trust, excluded.at, excluded.expires_at, excluded.valid_from, excluded.valid_to, \
     excluded.superseded_at, excluded.words, excluded.fields";

/// A list for each column, with an element for each row.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    unit: Vec<&'static [u8]>,
    session: Vec<Option<Vec<u8>>>,
    seq: Vec<Option<i64>>,
    role: Vec<Option<&'static [u8]>>,
    speaker: Vec<Option<Vec<u8>>>,
    kind: Vec<Option<Vec<u8>>>,
    trust: Vec<i64>,
    at: Vec<i64>,
    expires_at: Vec<Option<i64>>,
    valid_from: Vec<Option<i64>>,
    valid_to: Vec<Option<i64>>,
    superseded_at: Vec<Option<i64>>,
    words: Vec<String>,
    fields: Vec<Vec<u8>>,
}

impl Columns {
    /// Adds a row.
    pub(crate) fn add(&mut self, fields: &Fields) {
        let Fields {
            unit,
            session,
            sessions: _,
            seq,
            role,
            speaker,
            agent: _,
            runs: _,
            kind,
            tags: _,
            trust,
            sources: _,
            at,
            expires_at,
            valid_from,
            valid_to,
            superseded_at,
            metadata: _,
        } = fields;
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        self.unit.push(unit.name().as_bytes());
        self.session.push(session.as_ref().map(|session| session.name().as_bytes().to_vec()));
        self.seq.push(seq.and_then(|seq| i64::try_from(seq.0).ok()));
        self.role.push(role.map(|role| role.name().as_bytes()));
        self.speaker.push(bytes(speaker));
        self.kind.push(bytes(kind));
        self.trust.push(*trust as i64);
        self.at.push(at.0);
        self.expires_at.push(expires_at.map(|time| time.0));
        self.valid_from.push(valid_from.map(|time| time.0));
        self.valid_to.push(valid_to.map(|time| time.0));
        self.superseded_at.push(superseded_at.map(|time| time.0));
        self.words.push(facets(fields).unwrap_or_else(|| "{}".to_owned()));
        self.fields.push(fields.encode());
    }

    /// Binds the lists as the first values of a statement: [`VALUES`].
    pub(crate) fn bind(self, query: Query<'_, Postgres, PgArguments>) -> Query<'_, Postgres, PgArguments> {
        let query = query.bind(self.unit).bind(self.session).bind(self.seq).bind(self.role).bind(self.speaker);
        let query = query.bind(self.kind).bind(self.trust).bind(self.at).bind(self.expires_at).bind(self.valid_from);
        query.bind(self.valid_to).bind(self.superseded_at).bind(self.words).bind(self.fields)
    }
}

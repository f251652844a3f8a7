//! The rows of a table of values, which hold the lists and metadata for filters.

use memory_core::fields::scalars;
use memory_core::{Field, Fields, Role, Scalar, Unit};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArgumentsBuffer, SqliteTypeInfo};
use sqlx::{Encode, Sqlite, Type};

/// The largest type tag.
pub(super) const LAST_TYPE: i64 = 3;

const METADATA: i64 = 0;
const TAG: i64 = 1;
pub(super) const SOURCE: i64 = 2;
const AGENT: i64 = 3;
const RUN: i64 = 4;
/// The sessions of a record except the first, which has a column.
pub(super) const SESSION: i64 = 5;

/// One value of one field of an item: a row of a table of values.
///
/// It has the type too, because SQLite considers 1 and 1.0 equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueRow {
    /// 0 for metadata, 1 for tags, 2 for sources, 3 for the agent, 4 for runs, 5 for further sessions.
    pub(crate) field: i64,
    /// The key of metadata; empty for the others.
    pub(crate) key: String,
    /// 0 for a truth value, 1 for a whole number, 2 for another number, 3 for a text.
    pub(crate) kind: i64,
    /// The value, to be [`Bound`].
    pub(crate) value: Scalar,
}

/// Returns the rows of an item with these fields; a list may hold a value twice.
pub(crate) fn value_rows(fields: &Fields) -> Vec<ValueRow> {
    let row = |field, key: &str, value| ValueRow { field, key: key.to_owned(), kind: type_of(&value), value };
    let tags = fields.tags.iter().map(|tag| row(TAG, "", Scalar::Text(tag.clone())));
    let sources = fields.sources.iter().map(|source| row(SOURCE, "", Scalar::Text(source.key())));
    let text = |field, text: &str| row(field, "", Scalar::from(text));
    let agent = fields.agent.iter().map(|agent| text(AGENT, agent));
    let runs = fields.runs.iter().map(|run| text(RUN, run));
    let sessions = fields.sessions.iter().map(|session| text(SESSION, session.name()));
    let metadata = fields.metadata.iter();
    let metadata =
        metadata.flat_map(|(key, value)| scalars(value).into_iter().map(move |value| row(METADATA, key, value)));
    tags.chain(sources).chain(agent).chain(runs).chain(sessions).chain(metadata).collect()
}

pub(crate) const EACH_UNIT: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// The names of the units, each at the place of its number in an index.
pub(super) const UNITS: [&str; 3] = ["message", "record", "span"];

/// The roles, each at the place of its number in an index.
pub(super) const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Returns the number by which an index stores a unit.
pub(crate) fn unit_number(unit: Unit) -> Option<i64> {
    place_of(&UNITS, unit.name())
}

/// Returns the unit that an index stores by this number.
pub(crate) fn unit_of(number: i64) -> Option<Unit> {
    EACH_UNIT.into_iter().find(|unit| unit_number(*unit) == Some(number))
}

/// Returns the number by which an index stores a role.
pub(crate) fn role_number(role: Role) -> Option<i64> {
    place_of(&ROLES, role.name())
}

fn place_of(names: &[&str], name: &str) -> Option<i64> {
    (0..).zip(names).find_map(|(number, known)| (*known == name).then_some(number))
}

/// A value, bound as SQLite's own type; a truth value as 0 or 1.
pub(crate) struct Bound<'s>(pub(crate) &'s Scalar);

impl Encode<'_, Sqlite> for Bound<'_> {
    fn encode_by_ref(&self, arguments: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        match self.0 {
            // Named explicitly, because another database's `Encode` may be compiled in too.
            Scalar::Bool(flag) => Encode::<Sqlite>::encode(i64::from(*flag), arguments),
            Scalar::Int(number) => Encode::<Sqlite>::encode_by_ref(number, arguments),
            Scalar::Float(number) => Encode::<Sqlite>::encode_by_ref(number, arguments),
            Scalar::Text(text) => Encode::<Sqlite>::encode(text.as_str(), arguments),
        }
    }
}

impl Type<Sqlite> for Bound<'_> {
    fn type_info() -> SqliteTypeInfo {
        // Used only for reading; SQLite binds any type anywhere.
        <i64 as Type<Sqlite>>::type_info()
    }
}

/// Returns the field and key under which the values of `field` are stored; none for a field with a column of its own.
pub(super) fn key_of(field: &Field) -> Option<(i64, String)> {
    match field {
        Field::Tag => Some((TAG, String::new())),
        Field::Source => Some((SOURCE, String::new())),
        Field::Agent => Some((AGENT, String::new())),
        Field::Run => Some((RUN, String::new())),
        Field::Metadata(key) => Some((METADATA, key.clone())),
        _ => None,
    }
}

pub(super) fn type_of(value: &Scalar) -> i64 {
    match value {
        Scalar::Bool(_) => 0,
        Scalar::Int(_) => 1,
        Scalar::Float(_) => 2,
        Scalar::Text(_) => LAST_TYPE,
    }
}

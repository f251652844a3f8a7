//! The names of fields, and the kinds of their values.

use crate::filter::Field;

/// The fields by name, except metadata.
pub(super) const FIELDS: [(&str, Field); 16] = [
    ("unit", Field::Unit),
    ("session", Field::Session),
    ("seq", Field::Seq),
    ("role", Field::Role),
    ("speaker", Field::Speaker),
    ("agent", Field::Agent),
    ("run", Field::Run),
    ("kind", Field::Kind),
    ("tag", Field::Tag),
    ("trust", Field::Trust),
    ("source", Field::Source),
    ("at", Field::At),
    ("expires_at", Field::ExpiresAt),
    ("valid_from", Field::ValidFrom),
    ("valid_to", Field::ValidTo),
    ("superseded_at", Field::SupersededAt),
];

/// The prefix of a metadata key.
pub(super) const METADATA: &str = "meta.";

/// The kind of a field's values, and so how they are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Trust,
    Time,
    Any,
}

impl Kind {
    pub(super) fn of(field: &Field) -> Self {
        match field {
            Field::Unit
            | Field::Session
            | Field::Role
            | Field::Speaker
            | Field::Agent
            | Field::Run
            | Field::Kind
            | Field::Tag
            | Field::Source => Self::Text,
            Field::Seq => Self::Number,
            Field::Trust => Self::Trust,
            Field::At | Field::ExpiresAt | Field::ValidFrom | Field::ValidTo | Field::SupersededAt => Self::Time,
            Field::Metadata(_) => Self::Any,
        }
    }
}

//! An owner of a run: a scope, a word that marks all its content, and ids that other owners use or know, too.

use memory_core::{Fields, Scope, Timestamp, Unit};
use serde_json::Value;
use uuid::Uuid;

use crate::generate::Random;
use crate::text::build::plain_fields;
use crate::{Failure, Scene};

/// Ids in a pool.
const POOL: usize = 5;

/// The moment of everything in a run.
pub(super) const NOON: Timestamp = Timestamp(1_767_268_800_000_000);

/// One of the owners.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) scope: Scope,
    /// A word that only this owner's content holds: ASCII letters and digits.
    pub(super) mark: String,
    number: u64,
    owners: u64,
}

impl Owner {
    pub(super) fn new(scope: Scope, number: usize, owners: usize) -> Self {
        Self { scope, mark: format!("owner{number}x"), number: number as u64, owners: owners as u64 }
    }

    /// Returns an id to write: from the owner's pool, or from the one that all owners share.
    pub(super) fn id(&self, random: &mut Random) -> Uuid {
        let pool = if random.chance(1, 2) { 0 } else { 1 + self.number };
        Uuid::from_u64_pair(pool, random.below(POOL) as u64)
    }

    /// Returns an id to ask for: from any owner's pool.
    pub(super) fn any_id(&self, random: &mut Random) -> Uuid {
        if random.chance(2, 3) {
            return self.id(random);
        }
        let other = random.number() % self.owners.max(1);
        Uuid::from_u64_pair(1 + other, random.below(POOL) as u64)
    }

    /// Returns the mark of some owner.
    pub(super) fn any_mark(&self, random: &mut Random) -> String {
        if random.chance(2, 3) { self.mark.clone() } else { format!("owner{}x", random.number() % self.owners.max(1)) }
    }

    /// Returns fields with the owner's mark in a tag and in the metadata.
    pub(super) fn fields(&self, unit: Unit) -> Fields {
        let mut fields = plain_fields(unit, NOON.0);
        fields.tags.push(self.mark.clone());
        fields.metadata.insert("owner".to_owned(), Value::String(self.mark.clone()));
        fields
    }

    /// Passes if the fields carry the owner's mark.
    pub(super) fn owns(&self, fields: &Fields) -> Scene {
        let marked = fields.metadata.get("owner").and_then(Value::as_str) == Some(self.mark.as_str());
        let is_own = marked && fields.tags == [self.mark.as_str()];
        if is_own { Ok(()) } else { self.passes(false, &format!("{fields:?}")) }
    }

    /// Passes if the text begins with the owner's mark.
    pub(super) fn wrote(&self, text: &str) -> Scene {
        self.passes(text.starts_with(&self.mark), text)
    }

    fn passes(&self, is_own: bool, what: &str) -> Scene {
        if is_own { Ok(()) } else { Err(Failure::new(format!("{:?} was given what is not his: {what}", self.scope))) }
    }
}

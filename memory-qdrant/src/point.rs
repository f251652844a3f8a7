//! What a point of a collection is: an item with all its pieces, or the tombstone of an owner.

use std::collections::HashMap;

use ::qdrant_client::qdrant::point_id::PointIdOptions;
use ::qdrant_client::qdrant::{
    Condition, DenseVector, Filter, MultiDenseVector, PointId, PointStruct, Range, Value, Vector, Vectors,
    VectorsOutput, value::Kind, vector, vector_output, vectors_output,
};
use memory_core::error::{Error, Result};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Epoch, Fields, ItemId, Scalar, Scope, Version};
use uuid::Uuid;

use crate::error::BACKEND;
use crate::filter::tokens;

/// The owner's key; the index on it keeps the points of an owner together.
pub(crate) const OWNER: &str = "owner";
/// The item's key.
pub(crate) const ITEM: &str = "item";
/// The epoch of the version.
pub(crate) const EPOCH: &str = "epoch";
/// The revision of the version.
pub(crate) const REVISION: &str = "revision";
/// How many pieces the item has.
pub(crate) const PIECES: &str = "pieces";
/// The item's fields, as core encodes them.
pub(crate) const FIELDS: &str = "fields";
/// What can be compared for equality.
pub(crate) const TOKENS: &str = "tokens";
/// Of a tombstone: what is older is erased.
pub(crate) const BELOW: &str = "below";
/// Of the point that tells which making of the collection it is.
pub(crate) const INCARNATION: &str = "incarnation";
/// The whole numbers of the metadata, each with its key.
pub(crate) const INTS: &str = "ints";
/// The other numbers of the metadata, each with its key.
pub(crate) const FLOATS: &str = "floats";
/// The key of a number of the metadata.
pub(crate) const KEY: &str = "k";
/// A number of the metadata.
pub(crate) const NUMBER: &str = "v";

/// The server compares whole numbers as doubles; up to here every one of them is a number of its own.
pub(crate) const LARGEST: u64 = 1 << 53;

/// An entry that was checked, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) item: ItemId,
    pub(crate) version: Version,
    pieces: Vec<Vec<f32>>,
    fields: Fields,
}

impl Prepared {
    /// Returns the entry with its pieces at unit length.
    ///
    /// # Errors
    /// `Invalid` for an entry without pieces, with one that the space does not take, or with too large a version.
    pub(crate) fn new(space: &EmbeddingSpace, entry: &VectorEntry) -> Result<Self> {
        let VectorEntry { item, version, pieces, fields } = entry;
        if pieces.is_empty() {
            return Err(Error::invalid("an entry needs at least one vector"));
        }
        if version.epoch.0 >= LARGEST || version.revision >= LARGEST {
            return Err(Error::invalid("a version has numbers below 2^53"));
        }
        pieces.iter().try_for_each(|piece| space.check_vector(piece))?;
        let pieces = pieces.iter().filter_map(|piece| normalise(piece)).collect();
        Ok(Self { item: item.clone(), version: *version, pieces, fields: fields.clone() })
    }

    /// Returns about how many bytes the point takes in a message.
    pub(crate) fn weight(&self) -> usize {
        let numbers: usize = self.pieces.iter().map(Vec::len).sum();
        // Fields travel as text and as what filters see.
        numbers * 4 + self.fields.encode().len() * 2 + 512
    }

    /// Returns the point of the entry.
    ///
    /// # Errors
    /// `Corrupt` if the fields are no text, which they always are.
    pub(crate) fn point(&self, scope: &Scope) -> Result<PointStruct> {
        let Self { item, version, pieces, fields } = self;
        let text = String::from_utf8(fields.encode()).map_err(|source| Error::corrupt(BACKEND, source))?;
        let pieces_count = i64::try_from(pieces.len()).unwrap_or(i64::MAX);
        let mut payload: HashMap<String, Value> = HashMap::from([
            (OWNER.to_owned(), Value::from(scope.key())),
            (ITEM.to_owned(), Value::from(item.key())),
            (EPOCH.to_owned(), number(version.epoch.0)),
            (REVISION.to_owned(), number(version.revision)),
            (PIECES.to_owned(), Value::from(pieces_count)),
            (FIELDS.to_owned(), Value::from(text)),
            (TOKENS.to_owned(), list(tokens::of(item, fields).into_iter().map(Value::from))),
        ]);
        for (name, field) in tokens::numbers() {
            if let Some(Scalar::Int(number)) = fields.values(&field).first() {
                payload.insert(name.to_owned(), Value::from(*number));
            }
        }
        let (ints, floats) = metadata_numbers(fields);
        for (name, numbers) in [(INTS, ints), (FLOATS, floats)] {
            if !numbers.is_empty() {
                payload.insert(name.to_owned(), list(numbers));
            }
        }
        Ok(PointStruct { id: Some(item_id(scope, item)), payload, vectors: Some(vectors(pieces)) })
    }
}

/// Returns the numbers of the metadata, the whole ones and the others.
fn metadata_numbers(fields: &Fields) -> (Vec<Value>, Vec<Value>) {
    let (mut ints, mut floats) = (Vec::new(), Vec::new());
    for (key, value) in &fields.metadata {
        for scalar in memory_core::fields::scalars(value) {
            match scalar {
                Scalar::Int(number) => ints.push(keyed(key, Value::from(number))),
                Scalar::Float(number) => floats.push(keyed(key, Value::from(number))),
                Scalar::Bool(_) | Scalar::Text(_) => {}
            }
        }
    }
    (ints, floats)
}

fn keyed(key: &str, number: Value) -> Value {
    let fields = HashMap::from([(KEY.to_owned(), Value::from(key)), (NUMBER.to_owned(), number)]);
    Value { kind: Some(Kind::StructValue(::qdrant_client::qdrant::Struct { fields })) }
}

fn list(values: impl IntoIterator<Item = Value>) -> Value {
    let values = values.into_iter().collect();
    Value { kind: Some(Kind::ListValue(::qdrant_client::qdrant::ListValue { values })) }
}

/// Returns a number that was checked to fit.
fn number(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

fn vectors(pieces: &[Vec<f32>]) -> Vectors {
    let vectors = pieces.iter().map(|piece| DenseVector { data: piece.clone() }).collect();
    Vectors::from(Vector {
        vector: Some(vector::Vector::MultiDense(MultiDenseVector { vectors })),
        ..Vector::default()
    })
}

/// Returns the id of the point of an item. Ids are global to a collection, so the owner is hashed into them.
pub(crate) fn item_id(scope: &Scope, item: &ItemId) -> PointId {
    // No key holds a slash.
    hashed(&format!("{}/{}", scope.key(), item.key()))
}

/// Returns the id of the tombstone of an owner.
pub(crate) fn tombstone_id(scope: &Scope) -> PointId {
    hashed(&format!("{}/", scope.key()))
}

fn hashed(name: &str) -> PointId {
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
    PointId { point_id_options: Some(PointIdOptions::Uuid(id.to_string())) }
}

/// Returns the id of the point that tells which making of the collection it is.
pub(crate) fn incarnation_id() -> PointId {
    // No owner's key is empty.
    hashed("/incarnation")
}

/// Returns the tombstone of an owner.
pub(crate) fn tombstone(scope: &Scope, below: Epoch, dimension: usize) -> PointStruct {
    unowned(tombstone_id(scope), (BELOW, number(below.0)), dimension)
}

/// Returns the point that tells which making of the collection it is.
pub(crate) fn incarnation(told: Incarnation, dimension: usize) -> PointStruct {
    unowned(incarnation_id(), (INCARNATION, Value::from(told.0.to_string())), dimension)
}

/// Returns a point without an owner, so that no search ever sees it, and with a vector that says nothing.
fn unowned(id: PointId, (key, value): (&str, Value), dimension: usize) -> PointStruct {
    let mut direction = vec![0.0; dimension];
    if let Some(first) = direction.first_mut() {
        *first = 1.0;
    }
    let payload = HashMap::from([(key.to_owned(), value)]);
    PointStruct { id: Some(id), payload, vectors: Some(vectors(&[direction])) }
}

/// Returns the condition that a point is of this owner.
pub(crate) fn is_of(scope: &Scope) -> Condition {
    Condition::matches(OWNER, scope.key().to_owned())
}

/// Returns the condition that a whole number below 2^53 lies below `bound`.
pub(crate) fn is_below(key: &str, bound: u64) -> Condition {
    Condition::range(key, Range { lt: Some(bound as f64), ..Range::default() })
}

/// Returns the condition that an entry is not newer than `version`.
pub(crate) fn is_not_newer(version: Version) -> Condition {
    let Version { epoch, revision } = version;
    let in_epoch = epoch.0 as f64;
    let same = Range { gte: Some(in_epoch), lte: Some(in_epoch), ..Range::default() };
    let revised = Range { lte: Some(revision as f64), ..Range::default() };
    let same = Filter::must([Condition::range(EPOCH, same), Condition::range(REVISION, revised)]);
    Filter::should([is_below(EPOCH, epoch.0), same.into()]).into()
}

/// A point's payload as it is read back.
pub(crate) struct Payload(pub(crate) HashMap<String, Value>);

impl Payload {
    /// Returns the text under `key`.
    ///
    /// # Errors
    /// `Corrupt` if there is none.
    pub(crate) fn text(&self, key: &str) -> Result<&str> {
        match self.0.get(key).and_then(|value| value.kind.as_ref()) {
            Some(Kind::StringValue(text)) => Ok(text),
            _ => Err(Error::corrupt(BACKEND, format!("a point has no {key}"))),
        }
    }

    /// Returns the whole number under `key`.
    ///
    /// # Errors
    /// `Corrupt` if there is none, or it is negative.
    pub(crate) fn number(&self, key: &str) -> Result<u64> {
        let number = match self.0.get(key).and_then(|value| value.kind.as_ref()) {
            Some(Kind::IntegerValue(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        number.ok_or_else(|| Error::corrupt(BACKEND, format!("a point has no {key}")))
    }
}

/// Returns the pieces of a point.
pub(crate) fn pieces(vectors: Option<VectorsOutput>) -> Vec<Vec<f32>> {
    let Some(vectors_output::VectorsOptions::Vector(output)) = vectors.and_then(|vectors| vectors.vectors_options)
    else {
        return Vec::new();
    };
    match output.vector {
        Some(vector_output::Vector::MultiDense(multi)) => multi.vectors.into_iter().map(|piece| piece.data).collect(),
        Some(vector_output::Vector::Dense(dense)) => vec![dense.data],
        _ => Vec::new(),
    }
}

//! The rows of posting lists: a segment's terms, spread over buckets by a hash, so that few rows hold many short lists.
//!
//! A bucket is cut into parts, because SQLite gives what does not fit beside others in a page a page of its own.

use std::collections::{BTreeMap, BTreeSet};

use memory_core::Result;
use memory_core::posting::{Damaged, Packed as PackedPosting, pack_lists, pack_postings, visit_lists};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::corrupt;
use crate::index::rows::{Packed, insert, json_numbers};

/// How many low bits of a place are the bucket's number.
const BITS: u32 = 11;

/// The most bytes of a part: as many as SQLite keeps in a page of 4,096 bytes with three others.
const PART: usize = 960;

/// Reads buckets by their places, packed into one row: each part with its place and its own number.
pub(super) const READ: &str = "SELECT group_concat(wanted.value || ' ' || list.part || ' ' || length(list.lists), ' '), \
     CAST(group_concat(CAST(list.lists AS TEXT), '') AS BLOB) FROM json_each(?) AS wanted CROSS JOIN text_posting AS list \
     WHERE list.owner = ? AND list.segment = wanted.value >> 11 AND list.bucket = wanted.value & 2047";

const DOING_READ: &str = "read the posting lists";
const DOING_WRITE: &str = "write the posting lists";

/// The lists of a bucket, by term.
pub(super) type Bucket = BTreeMap<String, Vec<u8>>;

/// Returns where the list of a term is: its segment, and its bucket there (FNV-1a, folded).
pub(super) fn place(segment: i64, term: &str) -> i64 {
    let hash = term.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    segment << BITS | i64::from((hash ^ hash >> BITS ^ hash >> (2 * BITS)) & ((1 << BITS) - 1))
}

/// Returns the segment of a place.
pub(super) fn segment(place: i64) -> i64 {
    place >> BITS
}

/// Reads those of the buckets at `places` that there are.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    owner: i64,
    places: &BTreeSet<i64>,
) -> Result<BTreeMap<i64, Vec<u8>>> {
    if places.is_empty() {
        return Ok(BTreeMap::new());
    }
    let read = sqlx::query_as(READ).bind(json_numbers(places.iter().copied())).bind(owner);
    let packed: Packed = read.fetch_one(connection).await.doing(DOING_READ)?;
    let mut buckets: BTreeMap<i64, (u32, Vec<u8>)> = BTreeMap::new();
    for ([place, part], bytes) in packed.rows::<2>()? {
        let place = place.parse().map_err(|_| corrupt("a bucket without a number"))?;
        // Parts come in the order of their key.
        let (parts, bucket) = buckets.entry(place).or_default();
        if part.parse() != Ok(*parts) {
            return Err(corrupt("a bucket lacks a part"));
        }
        bucket.extend_from_slice(bytes);
        *parts += 1;
    }
    Ok(buckets.into_iter().map(|(place, (_, bytes))| (place, bytes)).collect())
}

/// Reads all buckets of a segment.
pub(super) async fn all(connection: &mut SqliteConnection, owner: i64, segment: i64) -> Result<BTreeMap<i64, Bucket>> {
    let sql = "SELECT DISTINCT bucket FROM text_posting WHERE owner = ? AND segment = ?";
    let numbers: Vec<i64> =
        sqlx::query_scalar(sql).bind(owner).bind(segment).fetch_all(&mut *connection).await.doing(DOING_READ)?;
    let places = numbers.into_iter().map(|number| segment << BITS | number).collect();
    open(read(connection, owner, &places).await?)
}

/// Reads the lists of buckets.
pub(super) fn open(buckets: BTreeMap<i64, Vec<u8>>) -> Result<BTreeMap<i64, Bucket>> {
    let open = |(place, bytes): (i64, Vec<u8>)| {
        let mut bucket = Bucket::new();
        visit_lists(&bytes, |term, list| _ = bucket.insert(term.to_owned(), list.to_owned())).map_err(damaged)?;
        Ok((place, bucket))
    };
    buckets.into_iter().map(open).collect()
}

/// Puts a list into its bucket; an empty one is taken out.
pub(super) fn put(buckets: &mut BTreeMap<i64, Bucket>, segment: i64, term: &str, list: &[PackedPosting]) {
    let bucket = buckets.entry(place(segment, term)).or_default();
    if list.is_empty() {
        bucket.remove(term);
    } else {
        bucket.insert(term.to_owned(), pack_postings(list));
    }
}

/// Writes buckets of a segment in place of what they were.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    owner: i64,
    segment: i64,
    buckets: &BTreeMap<i64, Bucket>,
) -> Result<()> {
    let number = |place: i64| place & ((1 << BITS) - 1);
    let sql = "DELETE FROM text_posting WHERE owner = ? AND segment = ? AND bucket IN (SELECT value FROM json_each(?))";
    let delete = sqlx::query(sql).bind(owner).bind(segment).bind(json_numbers(buckets.keys().copied().map(number)));
    delete.execute(&mut *connection).await.doing(DOING_WRITE)?;
    let mut parts: Vec<(i64, i64, Vec<u8>)> = Vec::with_capacity(buckets.len());
    for (place, bucket) in buckets {
        let bytes = pack_lists(bucket.iter().map(|(term, list)| (term.as_str(), list.as_slice())));
        parts.extend((0..).zip(bytes.chunks(PART)).map(|(part, bytes)| (number(*place), part, bytes.to_owned())));
    }
    let head = "INSERT INTO text_posting (owner, segment, bucket, part, lists) ";
    insert(connection, head, &parts, |columns, (bucket, part, bytes)| {
        columns.push_bind(owner).push_bind(segment).push_bind(*bucket).push_bind(*part).push_bind(bytes.clone());
    })
    .await
}

/// Returns the error for invalid bytes of a posting list, document table or list of terms.
pub(super) fn damaged(_: Damaged) -> memory_core::Error {
    corrupt("a posting list is damaged")
}

//! The header `Idempotency-Key`: of what a request with one stores, the ids are made of the key, so that a repeat stores nothing twice.

use axum::http::HeaderMap;

use crate::problem::Problem;

/// The header.
const KEY: &str = "idempotency-key";

/// Returns the key of a request.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&[u8]>, Problem> {
    let key = headers.get(KEY).map(|key| key.as_bytes());
    match key {
        Some(key) if !(1..=255).contains(&key.len()) => Err(Problem::bad("Idempotency-Key has 1 to 255 bytes")),
        key => Ok(key),
    }
}

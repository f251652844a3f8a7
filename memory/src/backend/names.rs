//! Names that the servers take, in URLs and in settings. Each rule is its adapter's, and said once more because an adapter is not
//! there where its feature is off; tests compare the two.

/// Returns whether Postgres takes a name for the schema of the tables.
pub(super) fn is_schema(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && !name.starts_with("pg_");
    starts && name.len() <= 63 && name.bytes().all(is_legal)
}

/// Returns whether keys of Redis may begin with a text.
pub(super) fn is_of_keys(prefix: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=64).contains(&prefix.len()) && prefix.bytes().all(is_legal)
}

/// Returns whether names of Elasticsearch's indexes may begin with a text.
pub(crate) fn is_index(name: &str) -> bool {
    let is_small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= 128
        && name.bytes().all(|byte| is_small(byte) || matches!(byte, b'-' | b'_'))
        && name.bytes().next().is_some_and(is_small)
}

/// Returns whether names of Qdrant's collections may begin with a text.
pub(crate) fn is_collection(prefix: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=200).contains(&prefix.len()) && prefix.bytes().all(is_legal)
}

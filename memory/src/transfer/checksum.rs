//! Checksums: how many rows there are, and a rolling SHA-256 over their canonical bytes.

use memory_core::{Digest, StoredMessage, StoredRecord};

/// A checksum of rows in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checksum {
    /// How many rows there are.
    pub count: u64,
    digest: Digest,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { count: 0, digest: Digest([0; 32]) }
    }
}

impl Checksum {
    fn add(&mut self, parts: &[&[u8]]) {
        let mut all = vec![self.digest.0.as_slice()];
        all.extend(parts);
        self.digest = Digest::of(&all);
        self.count += 1;
    }

    /// Adds a row of a session with everything that a store keeps of it.
    pub(super) fn add_message(&mut self, row: &StoredMessage) {
        let StoredMessage { id, session, seq, tokens, counter, covers, archived_by, message } = row;
        let covers = covers.map(|covers| [covers.first.0.to_le_bytes(), covers.last.0.to_le_bytes()].concat());
        let archived_by = archived_by.map(|id| id.0.into_bytes().to_vec());
        let encoded = message.as_ref().map(|message| message.encode());
        self.add(&[
            session.key().as_bytes(),
            id.0.as_bytes(),
            &seq.0.to_le_bytes(),
            &tokens.to_le_bytes(),
            &counter.0.to_le_bytes(),
            &covers.unwrap_or_default(),
            &archived_by.unwrap_or_default(),
            &encoded.unwrap_or_default(),
        ]);
    }

    /// Adds a record with its version.
    pub(super) fn add_record(&mut self, stored: &StoredRecord) {
        self.add(&[&stored.record.encode(), &stored.version.to_le_bytes()]);
    }

    /// Adds how a record was used.
    pub(super) fn add_accesses(&mut self, stored: &StoredRecord) {
        let at = stored.accessed_at.map(|at| at.0.to_le_bytes().to_vec()).unwrap_or_default();
        self.add(&[&stored.access_count.to_le_bytes(), &at]);
    }

    /// Adds the checksum of other rows.
    pub fn add_sum(&mut self, sum: &Self) {
        let count = self.count + sum.count;
        self.add(&[&sum.count.to_le_bytes(), &sum.digest.0]);
        self.count = count;
    }

    /// Returns the SHA-256 in hexadecimal digits.
    pub fn hex(&self) -> String {
        self.digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

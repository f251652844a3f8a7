//! The pages of a damaged file as its last commit left them: the log has the newest copies of some, and the file has the others.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use memory_core::error::Result;

use crate::client::connect::unopened;
use crate::client::place::log_of;

/// How many bytes a page of a journal has.
pub(super) const PAGE: usize = 4_096;

/// The first word of a log. The other one says that its sums are made of words in the other order of bytes.
const LITTLE: u32 = 0x377f_0682;
const BIG: u32 = 0x377f_0683;

/// How many bytes stand before the first frame of a log, and before the page of each frame.
const LOG_HEAD: usize = 32;
const FRAME_HEAD: usize = 24;

/// The pages of a file.
#[derive(Debug)]
pub(super) struct Pages {
    file: Vec<u8>,
    log: Vec<u8>,
    /// Where in the log the newest copy of a page begins.
    newest: HashMap<u32, usize>,
    count: u32,
}

impl Pages {
    /// Reads the file at `path` and its log.
    ///
    /// # Errors
    /// `Backend` if one of them is there and cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let (file, log) = (bytes(path)?, bytes(&log_of(path))?);
        let of_file = u32::try_from(file.len() / PAGE).unwrap_or(u32::MAX);
        let (newest, count) = committed(&log).unwrap_or_else(|| (HashMap::new(), of_file));
        Ok(Self { file, log, newest, count })
    }

    /// Returns how many pages there are. Their numbers begin with 1.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the page with this number; none if it is missing or cut off.
    pub(super) fn get(&self, number: u32) -> Option<&[u8]> {
        if number > self.count {
            return None;
        }
        if let Some(start) = self.newest.get(&number) {
            return self.log.get(*start..start + PAGE);
        }
        let start = usize::try_from(number.checked_sub(1)?).ok()?.checked_mul(PAGE)?;
        self.file.get(start..start.checked_add(PAGE)?)
    }
}

/// Returns the four bytes at `at` as a number.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Returns what a file holds; nothing if it is missing.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|source| unopened(source.to_string())),
    }
}

/// Returns where the newest committed copy of each page begins in a log, and how many pages there are after the last commit. None if
/// nothing in the log was committed.
fn committed(log: &[u8]) -> Option<(HashMap<u32, usize>, u32)> {
    let is_big = match word(log, 0)? {
        LITTLE => false,
        BIG => true,
        _ => return None,
    };
    let salts = log.get(16..24)?;
    let mut sums = summed(log.get(..24)?, is_big, (0, 0));
    if word(log, 8).and_then(|size| usize::try_from(size).ok()) != Some(PAGE) || !has_sums(log, 24, sums) {
        return None;
    }
    let (mut newest, mut written, mut count) = (HashMap::new(), Vec::new(), None);
    let mut start = LOG_HEAD;
    while let Some(frame) = log.get(start..start + FRAME_HEAD + PAGE) {
        let (head, page) = frame.split_at(FRAME_HEAD);
        sums = summed(page, is_big, summed(head.get(..8)?, is_big, sums));
        // A frame of an earlier use of the log, or one that was not written to its end.
        if head.get(8..16) != Some(salts) || !has_sums(head, 16, sums) {
            break;
        }
        written.push((word(head, 0)?, start + FRAME_HEAD));
        // The last frame of a commit tells how many pages there are.
        let pages = word(head, 4)?;
        if pages > 0 {
            newest.extend(written.drain(..));
            count = Some(pages);
        }
        start += FRAME_HEAD + PAGE;
    }
    count.map(|count| (newest, count))
}

/// Returns whether these sums stand at `at`.
fn has_sums(bytes: &[u8], at: usize, sums: (u32, u32)) -> bool {
    (word(bytes, at), word(bytes, at + 4)) == (Some(sums.0), Some(sums.1))
}

/// Returns the sums of a log with more bytes added.
fn summed(bytes: &[u8], is_big: bool, sums: (u32, u32)) -> (u32, u32) {
    let number = |four: &[u8; 4]| if is_big { u32::from_be_bytes(*four) } else { u32::from_le_bytes(*four) };
    let (fours, _) = bytes.as_chunks::<4>();
    let (pairs, _) = fours.as_chunks::<2>();
    pairs.iter().fold(sums, |(one, other), [first, second]| {
        let one = one.wrapping_add(number(first)).wrapping_add(other);
        (one, other.wrapping_add(number(second)).wrapping_add(one))
    })
}

//! Times as people write them: `2024-05-17`, `yesterday`, `two weeks ago`, `in May`.

use memory::Timestamp;
use memory::analysis::Analysis;
use memory::store::time::{Clock as _, SystemClock};

/// Reads a time, as seen from now.
pub(crate) fn parse(text: &str) -> Result<Timestamp, memory::Error> {
    Analysis::default().moment(text, SystemClock.now())
}

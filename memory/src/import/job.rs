//! An import under way: a file read, and written batch by batch.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use memory_core::engine::Scoped;
use memory_core::{Error, Result};
use tokio::time::timeout;

use super::items::Items;
use super::source::Source;
use super::tally::Tally;
use super::writer::Writer;

/// How long items wait for a full batch, where the file is a pipe that somebody still writes.
const PATIENCE: Duration = Duration::from_millis(200);

/// An import under way.
#[derive(Debug)]
pub struct Import {
    items: Items,
    writer: Writer,
    has_begun: bool,
    has_ended: bool,
    /// Whether items that were read are lost, so that no later step may pass over them.
    is_broken: bool,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Items that are durable: added now, or stored before.
    pub committed: u64,
    /// Bytes of the file that were read.
    pub bytes: u64,
}

impl Import {
    /// Begins to read a file for the owner of `scoped`. Call it in a tokio runtime.
    ///
    /// # Errors
    /// The thread that reads cannot be started.
    pub fn begin(scoped: Scoped, input: impl Read + Send + 'static, source: Source) -> io::Result<Self> {
        Ok(Self::of(Items::of(input, source)?, scoped))
    }

    /// Begins to read what stands at `paths` for the owner of `scoped`: files, and folders and ZIP archives as they were
    /// downloaded. Files of theirs that hold no conversations are counted. Call it in a tokio runtime.
    ///
    /// # Errors
    /// The thread that reads cannot be started. A file that cannot be read is no error: it is counted as rejected.
    pub fn begin_files(scoped: Scoped, paths: Vec<PathBuf>, source: Source) -> io::Result<Self> {
        Ok(Self::of(Items::of_files(paths, source)?, scoped))
    }

    fn of(items: Items, scoped: Scoped) -> Self {
        Self { items, writer: Writer::new(scoped), has_begun: false, has_ended: false, is_broken: false }
    }

    /// Reads on and writes one more batch; returns none at the end of the file. A batch is durable when this returns.
    ///
    /// To stop an import, drop the future. The batches before it stay, and [`tally`](Self::tally) counts them.
    ///
    /// # Errors
    /// The error of the memory; a transient one is retried for half a minute first. What is wrong with the file is no error:
    /// it is counted in the tally. `Fenced` if the owner was erased since the first step: what was not written yet stays out.
    /// `Invalid` behind a step that failed, or was dropped while it wrote: its batch may be missing. Another import of the same file
    /// finds again what is stored.
    pub async fn step(&mut self) -> Result<Option<Progress>> {
        if self.is_broken {
            return Err(Error::invalid("an import does not go on behind a step that failed: begin it again"));
        }
        if !self.has_begun {
            self.writer.begin().await?;
            self.has_begun = true;
        }
        while !self.has_ended {
            let next = if self.writer.is_waiting() {
                timeout(PATIENCE, self.items.next()).await.ok()
            } else {
                Some(self.items.next().await)
            };
            let is_due = match next.transpose().inspect_err(|_| self.is_broken = true)? {
                Some(Some(item)) => self.writer.take(item),
                Some(None) => {
                    self.has_ended = true;
                    true
                }
                None => true,
            };
            if is_due {
                // The writer has the batch no more, if this fails or is dropped.
                self.is_broken = true;
                self.writer.write().await?;
                self.is_broken = false;
                return Ok(Some(Progress { committed: self.tally().committed(), bytes: self.items.bytes() }));
            }
        }
        Ok(None)
    }

    /// Returns the result so far.
    pub fn tally(&self) -> &Tally {
        self.writer.tally()
    }

    /// Ends the import and returns its result.
    pub fn finish(self) -> Tally {
        self.writer.into_tally()
    }
}

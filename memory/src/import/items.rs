//! The items of a file that is read in a thread of its own.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use memory_core::error::{Cause, Transience};
use memory_core::{Error, Result};

use super::files::read_all;
use super::item::Item;
use super::meter::Meter;
use super::queue::{Outlet, Sink, Stopped, queue};
use super::read::read;
use super::source::Source;

/// Items between reader and taker at the most.
const AHEAD: usize = 256;

/// The items of a file, in order. The reader is at most 256 items, or 32 MiB, ahead.
#[derive(Debug)]
pub struct Items {
    outlet: Outlet,
    meter: Arc<Meter>,
    /// None once its end was seen.
    reader: Option<JoinHandle<()>>,
}

impl Items {
    /// Starts a thread that reads the file. It ends at the end of the file, or at the next item once this value is
    /// dropped.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn of(input: impl Read + Send + 'static, source: Source) -> io::Result<Self> {
        Self::of_reader(move |meter, sink| read(input, &source, meter, sink))
    }

    /// Starts a thread that reads what stands at `paths`, as [`Import::begin_files`](super::Import::begin_files) does.
    pub(super) fn of_files(paths: Vec<PathBuf>, source: Source) -> io::Result<Self> {
        Self::of_reader(move |meter, sink| read_all(&paths, &source, meter, sink))
    }

    fn of_reader(
        read: impl FnOnce(&Arc<Meter>, &Sink) -> std::result::Result<(), Stopped> + Send + 'static,
    ) -> io::Result<Self> {
        let ((sink, outlet), meter) = (queue(AHEAD), Arc::<Meter>::default());
        let counted = Arc::clone(&meter);
        let work = move || {
            // Stopped means that nobody takes the items any more, or that the file is of no use: both are known there.
            let _ = read(&counted, &sink);
        };
        let reader = Builder::new().name("reader".to_owned()).spawn(work)?;
        Ok(Self { outlet, meter, reader: Some(reader) })
    }

    /// Returns the next item; none at the end of the file. Nothing is lost where this future is dropped.
    ///
    /// # Errors
    /// `Backend` if the reader broke down: that must not look like the end of the file.
    pub async fn next(&mut self) -> Result<Option<Item>> {
        match self.outlet.next().await {
            Some(item) => Ok(Some(item)),
            None => self.end(),
        }
    }

    /// Returns the next item as [`next`](Self::next) does, for a thread that may be blocked.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn blocking_next(&mut self) -> Result<Option<Item>> {
        match self.outlet.blocking_next() {
            Some(item) => Ok(Some(item)),
            None => self.end(),
        }
    }

    /// Returns how many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.meter.bytes()
    }

    fn end(&mut self) -> Result<Option<Item>> {
        match self.reader.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(Error::Backend {
                backend: "memory",
                doing: "read a file",
                transience: Transience::Permanent,
                source: Cause::new("the reader broke down"),
            }),
            _ => Ok(None),
        }
    }
}

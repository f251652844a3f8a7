//! The journal of a siege: a file of all operations and answers. It is kept if the siege fails.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use memory_core::{Clock as _, SystemClock};

use crate::check::Failure;

#[derive(Debug)]
pub(super) struct Journal {
    pub(super) path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    pub(super) fn begin(name: &str) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("memory-siege-{name}.log"));
        let file = File::create(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Writes a line at once.
    pub(super) fn note(&self, line: &str) {
        let line = format!("{} {line}\n", SystemClock.now().0);
        // A full disk ends no siege: only the tale of it is lost.
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }

    /// Takes the file away: nobody needs it.
    pub(super) fn discard(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

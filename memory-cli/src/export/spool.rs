//! Lines that wait in a file without a name until it is known that they are to be written.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// Lines of JSON on disk. They are gone with this value, and nobody else can open them.
#[derive(Debug)]
pub(super) struct Spool {
    file: BufWriter<File>,
    lines: u64,
}

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), lines: 0 })
    }

    pub(super) fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.lines += 1;
        self.file.write_all(b"\n")
    }

    /// Writes all lines, and returns how many there are.
    pub(super) fn copy_to(self, output: &mut Output) -> Result<u64, Failure> {
        let mut file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        output.copy(&mut file)?;
        Ok(self.lines)
    }
}

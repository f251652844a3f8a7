//! Holds lines in a temporary file until it is known whether they are to be written.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use serde::Serialize;

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
        self.lines += 1;
        write_line(&mut self.file, line)
    }

    /// Writes all lines, and returns how many there are.
    pub(super) fn copy_to(self, output: &mut (impl Write + ?Sized)) -> io::Result<u64> {
        let mut file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        io::copy(&mut file, output)?;
        Ok(self.lines)
    }
}

/// Writes a value as one line of JSON.
pub(super) fn write_line(output: &mut (impl Write + ?Sized), line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}

//! Files, folders and ZIP archives as they were downloaded: one file after the other, each told by its own content.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::item::Item;
use super::meter::Meter;
use super::queue::{Sink, Stopped};
use super::read::read;
use super::refusal::{Refusal, named};
use super::source::Source;
use super::zip;

/// Files that are looked at, at the most.
const FILES: usize = 100_000;
/// The most characters of a file's name that are told.
const NAME: usize = 80;
/// How deep folders are nested that are read.
const DEPTH: usize = 16;

/// Reads all that stands at `paths` into `sink`, and counts it by `meter`. Blocks; stops when the other side does.
pub(super) fn read_all(paths: &[PathBuf], source: &Source, meter: &Arc<Meter>, sink: &Sink) -> Result<(), Stopped> {
    let mut reader = Reader { source, meter, sink, lines: 0, left: FILES };
    if let [file] = paths
        && !file.is_dir()
        && !is_archive(file)
    {
        return match Whole::open(file) {
            Ok(input) => read(input, &Source { stem: stem(&shown(file)), ..source.clone() }, meter, sink),
            Err(error) => sink.reject(1u64, Refusal::unreadable("file", &error)),
        };
    }
    let has_folders = paths.iter().filter(|path| path.is_dir()).count() > 1;
    for path in paths {
        let name = name_among(path, paths);
        if path.is_dir() {
            reader.folder(path, &name, if has_folders { name.as_str() } else { "" }, DEPTH)?;
        } else if is_archive(path) {
            reader.archive(path, &name)?;
        } else {
            reader.file(path, &name, false)?;
        }
    }
    Ok(())
}

/// Reads one file after the other.
struct Reader<'a> {
    source: &'a Source,
    meter: &'a Arc<Meter>,
    sink: &'a Sink,
    /// The lines of the files before.
    lines: u64,
    /// How many files may still be looked at.
    left: usize,
}

impl Reader<'_> {
    /// Reads the files of a folder in the order of their names, which are told behind those of the folders `above`. Links are not
    /// followed: they may lead anywhere.
    fn folder(&mut self, folder: &Path, name: &str, above: &str, depth: usize) -> Result<(), Stopped> {
        let listed = fs::read_dir(folder).and_then(|entries| entries.take(FILES).collect::<io::Result<Vec<_>>>());
        let mut entries = match listed {
            Ok(entries) => entries,
            Err(error) => return self.refuse(name, Refusal::unreadable("folder", &error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind, own) = (entry.path(), entry.file_type(), entry.file_name());
            let own = own.to_string_lossy();
            let name = if above.is_empty() { own.into_owned() } else { format!("{above}/{own}") };
            match kind {
                Ok(kind) if kind.is_file() && is_chat(&name) => self.file(&path, &name, true)?,
                Ok(kind) if kind.is_dir() && depth > 0 => self.folder(&path, &name, &name, depth - 1)?,
                Ok(kind) if kind.is_file() && is_named_archive(&path) => {
                    self.sink.note(format!("{} is not looked into: import the archive by its name", label(&name)))?;
                    self.pass_over(&name)?;
                }
                _ => self.pass_over(&name)?,
            }
        }
        Ok(())
    }

    fn archive(&mut self, path: &Path, archive: &str) -> Result<(), Stopped> {
        let opened = File::open(path).map_err(|error| Refusal::unreadable("file", &error));
        let listed = opened.and_then(|mut file| Ok((zip::entries(&mut file)?, file)));
        let (entries, mut file) = match listed {
            Ok(listed) => listed,
            Err(why) => return self.refuse(archive, why),
        };
        for entry in entries {
            let name = format!("{archive}/{}", entry.name);
            if is_chat(&entry.name) {
                self.entry(&mut file, &entry, &name)?;
            } else {
                self.pass_over(&name)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, archive: &mut (impl Read + Seek), entry: &zip::Entry, name: &str) -> Result<(), Stopped> {
        match zip::open(archive, entry) {
            Ok(input) => self.input(input, name, true),
            Err(why) => self.refuse(name, why),
        }
    }

    fn file(&mut self, path: &Path, name: &str, is_among_others: bool) -> Result<(), Stopped> {
        match Whole::open(path) {
            Ok(input) => self.input(input, name, is_among_others),
            Err(error) => self.refuse(name, Refusal::unreadable("file", &error)),
        }
    }

    /// Reads one file. Of those that stand among others, as in a download, one without conversations is only told.
    fn input(&mut self, input: impl Read, name: &str, is_among_others: bool) -> Result<(), Stopped> {
        if !self.takes_one()? {
            return Ok(());
        }
        let (stem, name) = (stem(&named(own_name(name))), label(name));
        self.sink.put(Item::File { line: self.lines, name: name.clone() })?;
        let among_others = is_among_others.then_some(name);
        let source = Source { stem, among_others, ..self.source.clone() };
        // Stopped may mean that this file is of no use; if nobody takes items any more, the next one cannot be put.
        let _ = read(input, &source, self.meter, &self.sink.behind(self.lines));
        self.lines += self.meter.end_file();
        Ok(())
    }

    fn refuse(&mut self, name: &str, why: Refusal) -> Result<(), Stopped> {
        self.sink.put(Item::File { line: self.lines, name: label(name) })?;
        self.lines += 1;
        self.sink.reject(self.lines, why)
    }

    fn pass_over(&mut self, name: &str) -> Result<(), Stopped> {
        if self.takes_one()? { self.sink.put(Item::NoConversation { name: label(name) }) } else { Ok(()) }
    }

    /// Returns whether one more file is looked at.
    fn takes_one(&mut self) -> Result<bool, Stopped> {
        self.left = self.left.saturating_sub(1);
        if self.left == 1 {
            self.sink.note(format!("only the first {FILES} files are looked at"))?;
        }
        Ok(self.left > 0)
    }
}

/// A file that may grow while it is read, but not shrink: reading one that became shorter fails, because else nobody would see
/// that its end is missing.
struct Whole {
    file: File,
    /// What is still to come.
    left: u64,
}

impl Whole {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Self { file, left })
    }
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(count as u64);
        if count == 0 && !buffer.is_empty() && self.left > 0 {
            return Err(io::Error::other("it became shorter while it was read"));
        }
        Ok(count)
    }
}

/// Returns the name under which a path is told among others: its last part, or all of it if another one has the same last part.
fn name_among(path: &Path, paths: &[PathBuf]) -> String {
    let alike = paths.iter().filter(|other| *other != path && other.file_name() == path.file_name()).count();
    let name = path.file_name().filter(|_| alike == 0);
    name.map_or_else(|| shown(path), |name| name.to_string_lossy().into_owned())
}

/// Returns a name as it is told, on one line: of a long one the end, which says more than the folders before it.
fn label(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().rev().nth(NAME - 1) {
        Some((start, _)) if start > 0 => format!("…{}", line.get(start..).unwrap_or(&line)),
        _ => line,
    }
}

fn own_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns whether a file may hold conversations, by its name.
fn is_chat(name: &str) -> bool {
    let name = own_name(name).to_ascii_lowercase();
    !name.starts_with('.') && (name.ends_with(".json") || name.ends_with(".jsonl"))
}

fn is_archive(path: &Path) -> bool {
    let mut head = [0; 4];
    let read = path.is_file().then(|| File::open(path).and_then(|mut file| file.read_exact(&mut head)));
    read.is_some_and(|read| read.is_ok()) && matches!(&head, b"PK\x03\x04" | b"PK\x05\x06")
}

/// Returns whether a file is an archive and says so: others are packed in the same way, such as documents.
fn is_named_archive(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) && is_archive(path)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the name of a file without its folders and its kind, with which conversations without a name begin.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

//! ZIP archives, read in place: what is in one is listed, and an entry is unpacked while it is read. Nothing is written
//! anywhere, so the names in an archive name no file. Whatever an archive claims, listing it takes little memory.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::refusal::{Foreign, Refusal};

/// Entries of an archive at the most.
const ENTRIES: u64 = 100_000;
/// The longest name that is kept, in bytes.
const NAME: usize = 255;
/// How many times its size what is packed may have, and what it may have besides. Chats shrink to a fifth.
const RATIO: u64 = 200;
const BESIDES: u64 = 1 << 20;
/// The end of the directory, without its comment, and the longest comment.
const END: u64 = 22;
const COMMENT: u64 = 0xffff;
/// A number that does not fit is this one, and stands elsewhere in 64 bits.
const ELSEWHERE: u64 = 0xffff_ffff;

const BROKEN: Refusal = Refusal::Foreign(Foreign::BrokenZip);

/// An entry of an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its name; the beginning of a long one.
    pub(super) name: String,
    is_encrypted: bool,
    method: u64,
    checksum: u64,
    packed: u64,
    size: u64,
    start: u64,
}

/// Returns the entries of an archive, without its folders, by their names; else why it is refused, as a clause.
pub(super) fn entries(archive: &mut (impl Read + Seek)) -> Result<Vec<Entry>, Refusal> {
    let length = archive.seek(SeekFrom::End(0)).map_err(|error| unreadable(&error))?;
    let (count, start) = directory(archive, length)?;
    if count > ENTRIES {
        return Err(Refusal::Whole(format!("a ZIP archive of more than {ENTRIES} files")));
    }
    archive.seek(SeekFrom::Start(start)).map_err(|error| unreadable(&error))?;
    let mut directory = BufReader::new(archive);
    let mut entries = Vec::new();
    let mut size = 0u64;
    for _ in 0..count {
        let entry = entry(&mut directory)?;
        size = size.saturating_add(entry.size);
        if !entry.name.ends_with('/') {
            entries.push(entry);
        }
    }
    if size > most(length) {
        return Err(Refusal::Whole(format!("a ZIP archive that unpacks to more than {RATIO} times its size")));
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

/// Returns what an entry holds, as it is read; else why it is refused, as a clause.
pub(super) fn open<'a>(archive: &'a mut (impl Read + Seek), entry: &Entry) -> Result<Box<dyn Read + 'a>, Refusal> {
    let Entry { name: _, is_encrypted, method, checksum, packed, size, start } = *entry;
    if is_encrypted {
        return Err(Refusal::Whole("it is encrypted".to_owned()));
    }
    if size > most(packed) {
        return Err(Refusal::Whole(format!("it unpacks to more than {RATIO} times its size")));
    }
    archive.seek(SeekFrom::Start(start)).map_err(|error| unreadable(&error))?;
    let head = taken::<30>(archive)?;
    let beside = number(&head, 26, 2).zip(number(&head, 28, 2)).map(|(name, extra)| name + extra);
    let beside = beside.filter(|_| head.starts_with(b"PK\x03\x04")).ok_or(BROKEN)?;
    skip(archive, beside)?;
    let bytes = archive.take(packed);
    let inner: Box<dyn Read> = match method {
        0 => Box::new(bytes),
        8 => Box::new(DeflateDecoder::new(bytes)),
        _ => return Err(Refusal::Whole("it is packed in a way that this program does not read".to_owned())),
    };
    Ok(Box::new(Checked { inner, left: size, crc: Crc::new(), checksum }))
}

fn most(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).saturating_add(BESIDES)
}

/// Returns how many entries the directory has, and where it begins.
fn directory(archive: &mut (impl Read + Seek), length: u64) -> Result<(u64, u64), Refusal> {
    let from = length.saturating_sub(END + COMMENT);
    archive.seek(SeekFrom::Start(from)).map_err(|error| unreadable(&error))?;
    let mut tail = Vec::new();
    archive.by_ref().take(END + COMMENT).read_to_end(&mut tail).map_err(|error| unreadable(&error))?;
    let is_end = |at: &usize| {
        let end = tail.get(*at..).unwrap_or_default();
        let comment = number(end, 20, 2).filter(|_| end.starts_with(b"PK\x05\x06"));
        comment.is_some_and(|comment| END + comment == end.len() as u64)
    };
    let at = (0..tail.len()).rev().find(is_end).ok_or(BROKEN)?;
    let end = tail.get(at..).unwrap_or_default();
    let (count, start) = number(end, 10, 2).zip(number(end, 16, 4)).ok_or(BROKEN)?;
    if count < 0xffff && start < ELSEWHERE {
        return Ok((count, start));
    }
    let locator = at.checked_sub(20).and_then(|at| tail.get(at..)).filter(|bytes| bytes.starts_with(b"PK\x06\x07"));
    let Some(place) = locator.and_then(|locator| number(locator, 8, 8)) else { return Ok((count, start)) };
    archive.seek(SeekFrom::Start(place)).map_err(|error| unreadable(&error))?;
    let end = taken::<56>(archive)?;
    let found = number(&end, 32, 8).zip(number(&end, 48, 8)).filter(|_| end.starts_with(b"PK\x06\x06"));
    found.ok_or(BROKEN)
}

/// Reads an entry of the directory.
fn entry(directory: &mut impl Read) -> Result<Entry, Refusal> {
    let head = taken::<46>(directory)?;
    if !head.starts_with(b"PK\x01\x02") {
        return Err(BROKEN);
    }
    let read = |at, bytes| number(&head, at, bytes).unwrap_or_default();
    let name = bytes(directory, read(28, 2))?;
    let extra = bytes(directory, read(30, 2))?;
    skip(directory, read(32, 2))?;
    let mut large = large(&extra).into_iter();
    // Those numbers that stand elsewhere come there in this order.
    let mut whole = |short: u64| if short == ELSEWHERE { large.next().ok_or(BROKEN) } else { Ok(short) };
    let (size, packed, start) = (whole(read(24, 4))?, whole(read(20, 4))?, whole(read(42, 4))?);
    let is_folder = name.ends_with(b"/");
    let name = String::from_utf8_lossy(&name);
    // Copied, because what is cut off would stay in memory: up to 64 KiB for each entry.
    let mut name = name.get(..name.floor_char_boundary(NAME)).unwrap_or_default().to_owned();
    if is_folder && !name.ends_with('/') {
        name.push('/');
    }
    let is_encrypted = read(8, 2) & 1 == 1;
    Ok(Entry { name, is_encrypted, method: read(10, 2), checksum: read(16, 4), packed, size, start })
}

/// Returns the numbers of 64 bits of an entry.
fn large(mut extra: &[u8]) -> Vec<u64> {
    while let (Some(kind), Some(length)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let field = usize::try_from(length).ok().and_then(|length| extra.get(4..4 + length));
        let Some(field) = field else { break };
        if kind == 1 {
            return field.chunks_exact(8).filter_map(|chunk| number(chunk, 0, 8)).collect();
        }
        extra = extra.get(4 + field.len()..).unwrap_or_default();
    }
    Vec::new()
}

/// Returns the number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(count)?)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn taken<const N: usize>(input: &mut impl Read) -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

fn bytes(input: &mut impl Read, count: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    input.take(count).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

fn skip(input: &mut impl Read, count: u64) -> Result<(), Refusal> {
    io::copy(&mut input.take(count), &mut io::sink()).map(|_| ()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => BROKEN,
        _ => Refusal::unreadable("file", error),
    }
}

/// What an entry holds, compared with its size and checksum.
struct Checked<R> {
    inner: R,
    left: u64,
    crc: Crc,
    checksum: u64,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let read = buffer.get(..count).unwrap_or_default();
        self.crc.update(read);
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other("it is larger than it says"))?;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end && (self.left > 0 || u64::from(self.crc.sum()) != self.checksum) {
            return Err(io::Error::other("it is cut, or its checksum is wrong"));
        }
        Ok(count)
    }
}

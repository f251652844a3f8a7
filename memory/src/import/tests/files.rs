//! Folders and ZIP archives as they were downloaded, and archives that mean harm.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{source, told};
use crate::import::files::read_all;
use crate::import::queue::queue;
use crate::import::zip::entries;

const LINE: &str = "{\"role\":\"user\",\"content\":\"a\"}\n";

fn read(paths: &[PathBuf]) -> Vec<String> {
    let (sink, mut items) = queue(200_000);
    read_all(paths, &source(), &Arc::default(), &sink).unwrap();
    drop(sink);
    told(&std::iter::from_fn(|| items.blocking_next()).collect::<Vec<_>>())
}

/// An entry of an archive, and what is wrong with it.
struct Entry<'a> {
    name: &'a str,
    text: &'a [u8],
    method: u16,
    flags: u16,
    /// What the archive says of its size.
    size: u32,
    checksum: Option<u32>,
}

fn entry<'a>(name: &'a str, text: &'a str) -> Entry<'a> {
    Entry { name, text: text.as_bytes(), method: 8, flags: 0, size: text.len() as u32, checksum: None }
}

fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    archive(entries, false)
}

/// Returns an archive; a large one has its numbers in 64 bits.
fn archive(entries: &[Entry<'_>], is_large: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    let short = |number: usize| if is_large { u32::MAX } else { number as u32 };
    let extra = |numbers: &[usize]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| (*number as u64).to_le_bytes()).collect();
        if is_large { [&[1, 0, bytes.len() as u8, 0], &*bytes].concat() } else { Vec::new() }
    };
    for entry in entries {
        let start = file.len();
        let mut packed = entry.text.to_vec();
        if entry.method == 8 {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(entry.text).unwrap();
            packed = encoder.finish().unwrap();
        }
        let mut crc = Crc::new();
        crc.update(entry.text);
        let mut head = Vec::new();
        head.extend([20, 0]);
        head.extend(entry.flags.to_le_bytes());
        head.extend(entry.method.to_le_bytes());
        head.extend([0; 4]);
        head.extend(entry.checksum.unwrap_or(crc.sum()).to_le_bytes());
        let size = entry.size as usize;
        head.extend(short(packed.len()).to_le_bytes());
        head.extend(short(size).to_le_bytes());
        head.extend((entry.name.len() as u16).to_le_bytes());
        let (here, there) = (extra(&[size, packed.len()]), extra(&[size, packed.len(), start]));
        file.extend(b"PK\x03\x04");
        file.extend(&head);
        file.extend((here.len() as u16).to_le_bytes());
        file.extend(entry.name.as_bytes());
        file.extend(here);
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&head);
        directory.extend((there.len() as u16).to_le_bytes());
        directory.extend([0; 10]);
        directory.extend(short(start).to_le_bytes());
        directory.extend(entry.name.as_bytes());
        directory.extend(there);
    }
    let (start, count) = (file.len(), entries.len());
    file.extend(&directory);
    if is_large {
        let end = file.len() as u64;
        file.extend(b"PK\x06\x06");
        file.extend(44_u64.to_le_bytes());
        file.extend([0; 12]);
        file.extend([count, count, directory.len(), start].iter().flat_map(|number| (*number as u64).to_le_bytes()));
        file.extend(b"PK\x06\x07\0\0\0\0");
        file.extend(end.to_le_bytes());
        file.extend([1, 0, 0, 0]);
    }
    let count = if is_large { u16::MAX } else { count as u16 };
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(short(directory.len()).to_le_bytes());
    file.extend(short(start).to_le_bytes());
    file.extend([0, 0]);
    file
}

fn of_zip(bytes: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    fs::write(&path, bytes).unwrap();
    let told = read(&[path]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is unpacked");
    told
}

#[test]
fn the_conversations_of_a_folder_are_read_in_order_and_other_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("conversations-001.json", &format!("[{}, 7]", LINE.trim()));
    put("conversations-000.json", LINE);
    put("users.json", "[{\"uuid\": \"u\"}]");
    put("deep/chat.jsonl", LINE);
    put("image.png", "\u{0}");
    let expected = [
        "0 file conversations-000.json",
        "1 chat_history user a",
        "2 file conversations-001.json",
        "3 chat_history user a",
        "3 ! not a message: it is no JSON object",
        "3 file deep/chat.jsonl",
        "4 chat_history user a",
        "no conversation in image.png",
        "5 file users.json",
        "no conversation in users.json",
    ];
    assert_eq!(read(&[folder.path().to_owned()]), expected);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.json")).unwrap();
    assert_eq!(read(&[folder.path().to_owned()]), ["no conversation in link.json", "no conversation in loop"]);
}

#[test]
fn an_archive_is_read_entry_by_entry_whatever_its_names_are() {
    let stored = Entry { method: 0, ..entry("../../b.json", LINE) };
    let archive = zip(&[entry("folder/", ""), entry("export/a.json", LINE), stored, entry("chat.html", "<p>")]);
    let expected = [
        "0 file export.zip/../../b.json",
        "1 chat_history user a",
        "no conversation in export.zip/chat.html",
        "2 file export.zip/export/a.json",
        "3 chat_history user a",
    ];
    assert_eq!(of_zip(&archive), expected);
    let behind = [&archive[..archive.len() - 2], &[4, 0], b"note"].concat();
    assert_eq!(of_zip(&behind), expected, "with a comment");
}

#[test]
fn an_archive_with_its_numbers_in_64_bits_is_read_as_any_other() {
    let entries = || [entry("a.json", LINE), Entry { method: 0, ..entry("b.json", LINE) }, entry("chat.html", "<p>")];
    let large = archive(&entries(), true);
    assert_eq!(of_zip(&large), of_zip(&zip(&entries())));
    assert_eq!(of_zip(&large).len(), 5);
    let place = large.len() - 22 - 20 + 8;
    let elsewhere = [&large[..place], &(large.len() as u64).to_le_bytes(), &large[place + 8..]].concat();
    assert!(of_zip(&elsewhere)[1].contains("broken or cut"));
}

#[test]
fn an_entry_that_cannot_be_read_is_refused_in_a_line_and_the_others_are_read() {
    let bomb = "0".repeat(4 << 20);
    let entries = [
        Entry { flags: 1, ..entry("a.json", LINE) },
        Entry { method: 93, ..entry("b.json", LINE) },
        entry("c.json", &bomb),
        Entry { checksum: Some(7), ..entry("d.json", LINE) },
        Entry { size: 3, ..entry("e.json", LINE) },
        entry("f.json", LINE),
        Entry { method: 0, ..entry("g.txt", &bomb[..100_000]) },
    ];
    let told = of_zip(&zip(&entries));
    let told: Vec<&str> = told.iter().filter(|line| !line.contains(" file export.zip")).map(String::as_str).collect();
    let expected = [
        "1 ! it is encrypted",
        "2 ! it is packed in a way that this program does not read",
        "3 ! it unpacks to more than 200 times its size",
        "4 chat_history user a",
        "5 ! the file cannot be read: it is cut, or its checksum is wrong",
        "6 ! the file cannot be read: it is cut, or its checksum is wrong",
        "7 chat_history user a",
        "no conversation in export.zip/g.txt",
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_archive_that_means_harm_is_refused_in_a_line() {
    let archive = zip(&[entry("a.json", LINE)]);
    for cut in [4, 30, archive.len() - 40, archive.len() - 1] {
        let told = of_zip(&archive[..cut]);
        assert!(told[1].contains("broken or cut"), "{told:?}");
    }
    let many = [&archive[..archive.len() - 14], &[0xff; 10], &[0; 4]].concat();
    assert_eq!(of_zip(&many).len(), 2, "more files than there are, in a directory that is not there");
    let bomb = Entry { size: u32::MAX - 1, ..entry("a.json", LINE) };
    assert!(of_zip(&zip(&[bomb]))[1].contains("unpacks to more than 200 times"));
    let empty: Vec<String> = (0..65_535).map(|number| format!("{number}.json")).collect();
    let empty: Vec<Entry<'_>> = empty.iter().map(|name| Entry { method: 0, ..entry(name, "") }).collect();
    assert_eq!(of_zip(&zip(&empty)).len(), empty.len());
}

#[test]
fn of_a_long_name_the_beginning_alone_stays_in_memory() {
    for letter in ["a", "é", "\u{fffd}"] {
        let name = letter.repeat(60_000 / letter.len());
        let listed = entries(&mut Cursor::new(zip(&[entry(&name, LINE)]))).unwrap();
        assert!(name.starts_with(&listed[0].name) && listed[0].name.capacity() <= 255, "{letter}");
    }
}

#[test]
fn a_file_that_is_not_there_is_refused_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, LINE).unwrap();
    let told = read(&[Path::new("/nowhere/b.json").to_owned(), path]);
    assert!(told[1].starts_with("1 ! the file cannot be read: "), "{told:?}");
    assert_eq!(told.last().unwrap(), "2 chat_history user a");
}

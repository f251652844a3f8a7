//! Files that are broken, cut, too long or too large: each is told in a line, and what is whole is kept.

use std::io::Read;
use std::sync::Arc;

use serde_json::json;

use super::{Format, LONGEST, items, items_from, items_of, source, told, whole_source};
use crate::import::item::{Item, LeftOut};
use crate::import::queue::queue;
use crate::import::read::read;

#[test]
fn a_bad_line_is_told_with_its_number_and_the_good_ones_are_kept() {
    let good = "{\"role\":\"user\",\"content\":\"a\"}";
    let deep = format!("{{\"role\":\"user\",\"content\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let lines = [
        good,
        "{\"role\":\"user\"",
        "7",
        "{\"role\":\"nobody\",\"content\":\"a\"}",
        "{\"role\":\"user\",\"content\":1e400}",
        &deep,
        good,
    ];
    let expected = [
        "1 chat_history user a",
        "2 ! not JSON: it ends too soon",
        "3 ! not a message: it is no JSON object",
        "4 ! a chat message has an unknown role",
        "5 ! not JSON: it is not well formed at column 30",
        "6 ! not JSON: it is nested too deep at column 152",
        "7 chat_history user a",
    ];
    assert_eq!(told(&items(&lines.join("\n"))), expected);
    let mut bytes = format!("{good}\n").into_bytes();
    bytes.extend([b'"', 0xff, b'"', b'\n']);
    bytes.extend(good.as_bytes());
    let expected = ["1 chat_history user a", "2 ! the line is not UTF-8", "3 chat_history user a"];
    assert_eq!(told(&items_of(bytes.as_slice(), None)), expected);
}

#[test]
fn a_file_without_a_line_of_json_is_refused_once() {
    let table = "id,text\n1,hello\n2\n3,caf";
    assert_eq!(told(&items(table)), ["1 ! not JSON, nor are the 3 lines behind it"]);
    let latin = items_of([table.as_bytes(), &[0xe9, b'\n']].concat().as_slice(), None);
    assert_eq!(told(&latin), ["1 ! not JSON, nor are the 3 lines behind it"]);
    assert_eq!(told(&items("\n\nhello\nworld\n")), ["3 ! not JSON, nor is the line behind it"]);
    assert_eq!(told(&items("hello")), ["1 ! not JSON"]);
    assert_eq!(told(&items("1\n00:00:01 --> 00:00:02\nhello\n")), ["1 ! not JSON, nor are the 2 lines behind it"]);
    let long = "hello\n".repeat(5_000);
    assert_eq!(told(&items(&long)), ["1 ! not JSON, nor are the 99 lines behind it"]);
    // The lines of a file that holds JSON too are told one by one, however it begins.
    let message = "{\"role\":\"user\",\"content\":\"a\"}";
    let expected = [
        "1 ! not JSON: it is not well formed at column 1",
        "2 ! not a format that is known",
        "3 chat_history user a",
        "4 ! not JSON: it is not well formed at column 1",
    ];
    assert_eq!(told(&items(&format!("hello\n7\n{message}\nhello\n"))), expected);
    assert_eq!(told(&items("{\"role\"\n{\"role\"\n")).len(), 2);
}

#[test]
fn messages_that_hold_nothing_are_left_out() {
    let lines = [
        "{\"role\":\"user\"}",
        "{\"role\":\"user\",\"content\":\"\"}",
        "{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
        "{\"role\":\"function\",\"name\":\"f\",\"content\":\"\"}",
        "{\"role\":\"user\",\"content\":\"a\"}",
    ];
    let items = items(&lines.join("\n"));
    let is_empty = |item: &&Item| matches!(item, Item::LeftOut { what: LeftOut::Empty, .. });
    assert_eq!((items.iter().filter(is_empty).count(), items.len()), (2, 5));
}

#[test]
fn half_a_character_is_replaced_and_the_rest_is_read() {
    let lines = "{\"role\":\"user\",\"content\":\"a \\ud83d b \\ud83d\\ude00\"}\n{\"role\":\"user\",\"content\":\"c\"}";
    let expected = ["1 chat_history user a \u{fffd} b 😀", "2 chat_history user c"];
    assert_eq!(told(&items(lines)), expected);
    assert_eq!(told(&items(&format!("[{}]", lines.replace('\n', ",\n")))), expected);
}

#[test]
fn files_that_are_no_conversations_are_refused_in_a_line() {
    assert!(items("").is_empty() && items(" \n\t\n").is_empty());
    assert_eq!(told(&items("{\"a\":1}")), ["1 ! not a format that is known"]);
    let brackets = "[".repeat(1 << 20);
    assert_eq!(told(&items(&brackets)), ["1 ! not JSON from here on: it is nested too deep at column 128"]);
    let cut = "[{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"us";
    assert_eq!(told(&items(cut)), ["1 chat_history user a", "2 ! not JSON from here on: it ends too soon"]);
}

#[test]
fn a_line_or_an_element_that_is_too_long_is_not_read_into_memory() {
    let good = "{\"role\":\"user\",\"content\":\"a\"}\n";
    let long = std::io::repeat(b'x').take(LONGEST as u64 * 100);
    let lines = good.as_bytes().chain(long).chain(b"\n".as_slice()).chain(good.as_bytes());
    let expected = ["1 chat_history user a", "2 ! the line is longer than this program reads", "3 chat_history user a"];
    assert_eq!(told(&items_of(lines, None)), expected);
    let long = std::io::repeat(b'x').take(LONGEST as u64 * 100);
    let array = b"[\n\"".as_slice().chain(long);
    assert_eq!(
        told(&items_of(array, None)),
        ["2 ! not JSON from here on: an element is longer than this program reads"]
    );
}

#[test]
fn an_element_that_is_too_long_is_passed_over_and_the_others_are_kept() {
    let good = "{\"role\":\"user\",\"content\":\"a\"}";
    let text = format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "],\\\"[{\\\\".repeat(LONGEST));
    let list = format!("[{}0]", "[{}],".repeat(LONGEST));
    // Of a number the end is seen by the byte behind it, which is here the first that is too much.
    let digits = "1".repeat(LONGEST - 2);
    let why = "! the element is longer than this program reads";
    let good_line = |line: u64| format!("{line} chat_history user a");
    for long in [&text, &list, &digits] {
        let told = told(&items(&format!("[{good},\n{long},\n{good},\n{long},\n{good}]")));
        assert_eq!(told, [good_line(1), format!("2 {why}"), good_line(3), format!("4 {why}"), good_line(5)]);
    }
    for long in [&text, &list] {
        let blanks = " \n".repeat(LONGEST);
        assert_eq!(told(&items(&format!("[{long}]{blanks}"))), [format!("1 {why}")]);
        // Of the line where the rest begins the column is not known.
        let broken = "! not JSON from here on: it is not well formed";
        for (rest, last) in [
            (format!("] {good}"), format!("1 {broken}")),
            (format!("]\n {good}"), format!("2 {broken} at column 2")),
            (", x]".to_owned(), format!("1 {broken}")),
        ] {
            assert_eq!(told(&items(&format!("[{long}{rest}"))), [format!("1 {why}"), last]);
        }
        let cut = told(&items(&format!("[{good},\n{}", &long[..long.len() - 2])));
        assert_eq!(cut[1..], ["2 ! not JSON from here on: an element is longer than this program reads"]);
    }
}

#[test]
fn an_export_says_when_it_is_cut_or_of_another_version() {
    let head = "{\"memory_export\":1,\"tenant\":\"acme\",\"subject\":\"ada\"}";
    assert_eq!(told(&items(head)), ["1 ! the export ends too soon: its last line is missing"]);
    let whole = format!("{head}\n{{\"end\":{{\"rows\":0,\"records\":0}}}}\n");
    assert!(items(&whole).is_empty());
    assert!(items(&whole.repeat(2)).is_empty());
    let less = format!("{head}\n{{\"row\":{{\"session\":\"\"}}}}\n{{\"end\":{{\"rows\":2,\"records\":0}}}}");
    let expected = [
        "2 ! the line does not have the members of an export",
        "3 ! the export had 2 rows and 0 records, the file has not",
    ];
    assert_eq!(told(&items(&less)), expected);
    let newer = "{\"memory_export\":2}\n{\"row\":{}}\n";
    assert_eq!(told(&items(newer)), ["1 ! an export of a version that this program does not read: it reads 1"]);
    let headless = items_of("{\"row\":{}}\n{\"row\":{}}".as_bytes(), Some(Format::Export));
    assert_eq!(told(&headless), ["1 ! an export begins with its version, as {\"memory_export\":1}"]);
}

#[test]
fn a_reader_stops_when_nobody_takes_its_items() {
    let (sink, items) = queue(1);
    drop(items);
    let endless = std::io::repeat(b'\n').chain(std::io::empty());
    let text = b"{\"role\":\"user\",\"content\":\"a\"}\n".chain(endless);
    assert!(read(text, &source(), &Arc::default(), &sink).is_err());
}

#[test]
fn an_element_of_too_many_values_is_passed_over_and_the_others_are_kept() {
    let good = "{\"role\":\"user\",\"content\":\"a\"}";
    let wide = format!("{{\"role\":\"user\",\"content\":\"x\",\"z\":[{}0]}}", "{\"\":0},".repeat(1 << 20));
    let told_of = |text: String| told(&items_from(text.as_bytes(), &whole_source()));
    let why = "holds more values than this program reads at once: write a message a line";
    let good_line = |line: u64| format!("{line} chat_history user a");
    let lines = told_of(format!("{good}\n{wide}\n{good}"));
    assert_eq!(lines, [good_line(1), format!("2 ! the line {why}"), good_line(3)]);
    let elements = told_of(format!("[{good},\n{wide},\n{good}]"));
    assert_eq!(elements, [good_line(1), format!("2 ! the element {why}"), good_line(3)]);
    let heavy = format!("{{\"role\":\"user\",\"content\":\"x\",\"z\":[{}0]}}", "[],".repeat(600_000));
    assert_eq!(told_of(heavy), ["1 ! the message is larger than any that is taken"]);
}

#[test]
fn what_is_beyond_the_limits_is_rejected_before_it_waits_for_the_database() {
    let long = json!({"role": "user", "content": "x".repeat(5 << 20)}).to_string();
    let named = json!({"role": "user", "content": "x", "name": "n".repeat(1 << 20)}).to_string();
    let told = told(&items_from(format!("{long}\n{named}").as_bytes(), &whole_source()));
    assert!(
        told[0].starts_with("1 ! the message has ") && told[1].starts_with("2 ! the speaker must hold"),
        "{told:?}"
    );
}

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::analysis::Analysis;
use crate::id::ItemId;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::Message;
use crate::message::{Role, StoredMessage, TITLE};
use crate::model::CounterId;
use crate::record::{Record, StoredRecord};
use crate::scope::Epoch;
use crate::store::chat::{Fence, SessionState};
use crate::store::text::TextEntry;
use crate::time::Timestamp;

fn span_entries(analysis: &Analysis, rows: &[StoredMessage], state: &SessionState, range: SeqRange) -> Changes {
    span::entries(&message::analyse(analysis, rows.iter()), state, range)
}

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn row(seq: u64, text: Option<&str>) -> StoredMessage {
    let id = MessageId::of_content(&seq.to_le_bytes());
    let message = text.map(|text| Arc::new(Message::new(Role::User, text, Timestamp(seq as i64)).with_id(id)));
    StoredMessage {
        id,
        session: session(),
        seq: Seq(seq),
        tokens: 1,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message,
    }
}

fn rows(texts: &[&str]) -> Vec<StoredMessage> {
    texts.iter().zip(1..).map(|(text, seq)| row(seq, Some(text))).collect()
}

fn state(revision: u64, head: usize) -> SessionState {
    SessionState {
        session: session(),
        fence: Fence { epoch: Epoch(3), generation: 0 },
        revision,
        head: Seq(head as u64),
        active_messages: 0,
        active_tokens: 0,
        asked: 0,
        last_at: Timestamp(0),
    }
}

fn range(first: u64, last: u64) -> SeqRange {
    SeqRange { first: Seq(first), last: Seq(last) }
}

fn near(entry: &TextEntry) -> Vec<(&str, f32)> {
    entry.near.iter().map(|(term, count)| (term.as_str(), *count)).collect()
}

fn own(entry: &TextEntry) -> Vec<&str> {
    entry.own.iter().map(|(term, _)| term.as_str()).collect()
}

#[test]
fn entries_carry_own_terms_and_those_of_both_neighbours() {
    let rows = rows(&["red red", "green", "blue red"]);
    let changes = message_entries(&Analysis::english(), &rows, &state(5, 3), range(1, 3));
    assert_eq!(near(&changes.puts[0]), [("blue", 0.15), ("green", 0.4), ("red", 0.15)]);
    assert_eq!(near(&changes.puts[1]), [("blue", 0.4), ("red", 0.8 + 0.4)]);
    assert_eq!(near(&changes.puts[2]), [("green", 0.4), ("red", 0.3)]);
    assert_eq!(own(&changes.puts[1]), ["1", "1970", "green", "januari"]);
    assert_eq!(changes.puts[1].fields.seq, Some(Seq(2)));
    assert_eq!(changes.puts[1].version.epoch, Epoch(3));
    assert!(changes.deletions.is_empty());
}

#[test]
fn only_the_range_is_written_and_its_edges_are_seen() {
    let rows = rows(&["one", "two", "three", "four", "five", "six"]);
    let all = message_entries(&Analysis::english(), &rows, &state(0, 6), range(1, 6));
    let some = message_entries(&Analysis::english(), &rows[1..], &state(0, 6), range(4, 5));
    assert_eq!(some.puts, all.puts[3..5]);
}

#[test]
fn neighbours_of_long_messages_are_damped() {
    let long = "word ".repeat(60);
    let changes = message_entries(&Analysis::english(), &rows(&["short", &long, &long]), &state(0, 3), range(1, 3));
    assert_eq!(near(&changes.puts[0]), [("word", 60.0 * (0.4 * 0.5) + 60.0 * (0.15 * 0.5))]);
    assert_eq!(near(&changes.puts[1]), [("short", 0.4 * 0.5), ("word", 60.0 * 0.4 * 0.25)]);
}

#[test]
fn forgotten_messages_are_deleted_and_lend_nothing_and_summaries_are_no_messages() {
    let mut rows = rows(&["red", "green", "blue"]);
    rows[1].message = None;
    let summary = StoredMessage { covers: Some(range(1, 3)), ..row(3, Some("summary of it")) };
    rows.push(summary);
    let changes = message_entries(&Analysis::english(), &rows, &state(1, 3), range(1, 3));
    assert_eq!(changes.deletions, [(ItemId::Message(rows[1].id), session_version(&state(1, 3), 1))]);
    assert_eq!(changes.puts.len(), 2);
    assert_eq!(near(&changes.puts[0]), [("blue", 0.15)]);
    assert_eq!(near(&changes.puts[1]), [("red", 0.15)]);
    assert!(changes.puts.iter().all(|entry| entry.own.len() == 4));
}

#[test]
fn versions_rise_with_each_successor_and_with_the_revision() {
    let rows = rows(&["red", "green", "blue"]);
    let version = |rows: &[StoredMessage], revision| {
        let changes = message_entries(&Analysis::english(), rows, &state(revision, rows.len()), range(1, 1));
        changes.puts[0].version
    };
    assert!(version(&rows[..1], 4) < version(&rows[..2], 4));
    assert!(version(&rows[..2], 4) < version(&rows, 4));
    assert!(version(&rows, 4) < version(&rows[..1], 5));
    assert_eq!(version(&rows, 4).revision, 4 * 128 + 2);
}

#[test]
fn a_deleted_generation_stands_between_what_it_was_and_what_came_after() {
    assert_eq!(deleted_version(&state(700, 3)), None, "no generation was deleted");
    let rows: Vec<_> = (1..=64).map(|seq| row(seq, Some("red"))).collect();
    let versions = |revision| {
        let changes = session_entries(&Analysis::english(), &rows, &state(revision, 64), range(1, 64));
        changes.puts.into_iter().map(|entry| entry.version).collect::<Vec<_>>()
    };
    for before in [0, 1, 700, 1_023, 1_024, 5_000] {
        let after = crate::store::chat::revision_after_deletion(before);
        let through = deleted_version(&state(after, 64)).unwrap();
        assert!(versions(before).into_iter().all(|version| version <= through));
        assert!(versions(after).into_iter().all(|version| version > through));
        assert_eq!(deleted_version(&state(after + 7, 64)), Some(through), "changes of the window leave it");
    }
}

#[test]
fn spans_are_of_sixty_four_messages_and_rewritten_with_rising_versions() {
    let texts = vec!["red apple"; 70];
    let rows = rows(&texts);
    let spans = |count: usize, revision| {
        span_entries(&Analysis::english(), &rows[..count], &state(revision, count), range(1, count as u64)).puts
    };
    let all = spans(70, 0);
    assert_eq!(
        all.iter().map(|entry| entry.item.clone()).collect::<Vec<_>>(),
        [ItemId::Span(session(), 0), ItemId::Span(session(), 1)]
    );
    assert_eq!(all.iter().map(TextEntry::length).collect::<Vec<_>>(), [128 + 3 * 64, 12 + 3 * 6]);
    assert!(all.iter().all(|entry| entry.near.is_empty()));
    assert_eq!(all[1].fields.at, Timestamp(70));
    let versions: Vec<_> = (65..=70).map(|count| spans(count, 0)[1].version).chain([spans(65, 1)[1].version]).collect();
    assert!(versions.is_sorted_by(|a, b| a < b));
    assert!((1..64).all(|count| spans(count, 7)[0].version < spans(count + 1, 7)[0].version));
    assert!(spans(64, 7)[0].version < spans(1, 8)[0].version);
}

#[test]
fn a_span_of_which_nothing_is_left_is_deleted() {
    let forgotten: Vec<_> = (1..=3).map(|seq| row(seq, None)).collect();
    let changes = span_entries(&Analysis::english(), &forgotten, &state(1, 3), range(2, 2));
    assert_eq!(changes.deletions, [(ItemId::Span(session(), 0), session_version(&state(1, 3), 3))]);
    assert!(changes.puts.is_empty());
}

#[test]
fn spans_and_messages_agree_where_they_begin_and_end() {
    for (seq, span) in [(1, 0), (64, 0), (65, 1), (128, 1), (129, 2)] {
        assert_eq!(span_of(Seq(seq)), span);
        assert!(span_range(span).contains(Seq(seq)));
    }
}

#[test]
fn the_speaker_is_searched_with_the_text() {
    let message = Message::new(Role::User, "I paint", Timestamp(0)).with_speaker("Caroline");
    assert_eq!(searched_text(&message), "Caroline: I paint");
    assert_eq!(message_pieces(&message, 3), ["Caroline: I paint"]);
    assert_eq!(message_pieces(&message, 2), ["Caroline: I", "Caroline: paint"]);
    assert_eq!(message_pieces(&message, 0), ["Caroline: I", "Caroline: paint"]);
}

#[test]
fn a_record_is_found_by_its_text_at_its_version() {
    let record = Record::new("fact", "likes red apples", Timestamp(9));
    let stored = StoredRecord { record: Arc::new(record), version: 4, accessed_at: None, access_count: 0 };
    let entry = record_entry(&Analysis::english(), &stored, Epoch(2));
    assert_eq!(entry.own.iter().map(|(term, _)| term.as_str()).collect::<Vec<_>>(), ["appl", "like", "red"]);
    assert_eq!((entry.version.epoch, entry.version.revision), (Epoch(2), 4));
    assert_eq!(record_pieces(&stored.record, 2), ["likes red", "apples"]);
}

#[test]
fn texts_without_blanks_are_cut_too() {
    let record = |text: &str| Record::new("fact", text, Timestamp(0));
    assert_eq!(record_pieces(&record("我们去了东京"), 4), ["我们去了", "东京"]);
    assert_eq!(record_pieces(&record(&"a".repeat(100)), 2).iter().map(String::len).collect::<Vec<_>>(), [64, 36]);
    assert_eq!(record_pieces(&record(" \n "), 4), [""; 0]);
}

proptest! {
    #[test]
    fn pieces_hold_everything_and_no_more_than_they_may(text in "[a-z漢ß \n]{0,300}", words in 1usize..20) {
        let pieces = record_pieces(&Record::new("fact", text.clone(), Timestamp(0)), words);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(bare(&pieces.concat()), bare(&text));
        prop_assert!(pieces.iter().all(|piece| piece.split_whitespace().count() <= words && !piece.trim().is_empty()));
    }

    #[test]
    fn pages_give_the_entries_of_the_whole(count in 1usize..30, cuts in prop::collection::vec(1u64..30, 0..5)) {
        let texts: Vec<String> = (0..count).map(|n| format!("word{} {}", n % 7, "more ".repeat(n * 3))).collect();
        let rows = rows(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let (english, state, last) = (Analysis::english(), state(2, count), count as u64);
        let whole = message_entries(&english, &rows, &state, range(1, last)).puts;
        let mut edges: Vec<u64> = cuts.into_iter().filter(|cut| *cut < last).chain([0, last]).collect();
        edges.sort_unstable();
        let mut paged = Vec::new();
        for edge in edges.windows(2) {
            paged.extend(message_entries(&english, &rows, &state, range(edge[0] + 1, edge[1])).puts);
        }
        prop_assert_eq!(paged, whole);
    }
}

#[test]
fn the_entries_of_a_session_are_those_of_its_messages_and_of_its_spans() {
    let texts: Vec<String> = (0..150).map(|number| format!("word{number} tea")).collect();
    let mut rows = rows(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    rows[70].message = None;
    let (analysis, state) = (Analysis::english(), state(2, rows.len()));
    for range in [range(1, 150), range(60, 72), range(65, 65), range(149, 150)] {
        let together = session_entries(&analysis, &rows, &state, range);
        let messages = message_entries(&analysis, &rows, &state, range);
        let spans = span_entries(&analysis, &rows, &state, range);
        assert_eq!(together.puts, [messages.puts, spans.puts].concat());
        assert_eq!(together.deletions, [messages.deletions, spans.deletions].concat());
    }
}

#[test]
fn the_words_of_a_title_are_words_of_the_first_message_alone() {
    let mut rows = rows(&["hello", "tea", "milk", "bread"]);
    for row in &mut rows {
        let message = row.message.take().map(Arc::unwrap_or_clone).unwrap();
        row.message = Some(Arc::new(message.with_metadata(TITLE, format!("Sourdough {}", "é".repeat(1 << 20)))));
    }
    let analysis = Analysis::english();
    let word = analysis.document("sourdough").remove(0).0;
    let entries = message_entries(&analysis, &rows, &state(2, rows.len()), range(1, 4)).puts;
    let own: Vec<bool> = entries.iter().map(|entry| entry.own.iter().any(|(term, _)| *term == word)).collect();
    assert_eq!(own, [true, false, false, false]);
}

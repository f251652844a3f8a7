use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::engine::WorkingNote;
use crate::filter::Filter;
use crate::id::RecordId;
use crate::record::Record;
use crate::store::text::Term;
use crate::vector::Direction;

fn owner(name: &str) -> Scope {
    Scope::new("acme", name).unwrap()
}

fn note(text: &str, expires_at: Option<i64>) -> NewNote {
    let mut record = Record::new(WorkingNote::KIND, text, Timestamp(0));
    record.id = RecordId::of_content(text.as_bytes());
    record.first.expires_at = expires_at.map(Timestamp);
    let terms = text.split(' ').map(|word| (Term::new(word).unwrap(), 1)).collect();
    NewNote { record: Arc::new(record), epoch: Epoch(0), terms, pieces: Vec::new() }
}

fn tier(most: u64) -> WorkingTier {
    WorkingTier::new(WorkingConfig::default().with_max_bytes(most))
}

fn put(tier: &WorkingTier, scope: &Scope, note: NewNote, now: i64) -> Placed {
    tier.put(scope, note, tier.forgotten(), Timestamp(now)).unwrap().unwrap()
}

fn texts(tier: &WorkingTier, scope: &Scope) -> Vec<String> {
    let newest = tier.notes(scope, Epoch(0)).newest(&Filter::All, usize::MAX);
    newest.into_iter().rev().map(|stored| stored.record.text.clone()).collect()
}

/// The bytes that one owner takes with so many notes of one word of a letter.
fn bytes(notes: usize) -> u64 {
    let (tier, ada) = (tier(u64::MAX), owner("ada"));
    (0..notes).for_each(|n| drop(put(&tier, &ada, note(&char::from(b'a' + n as u8).to_string(), None), 0)));
    tier.shelves.lock().bytes()
}

#[test]
fn s1_6_c18_the_oldest_notes_make_room_on_insert() {
    let (tier, ada) = (tier(bytes(3)), owner("ada"));
    for word in ["a", "b", "c"] {
        assert_eq!(put(&tier, &ada, note(word, None), 0), Placed { is_new: true, evicted: BTreeMap::new() });
    }
    // Noted again it is the newest.
    assert!(!put(&tier, &ada, note("a", None), 0).is_new);
    let placed = put(&tier, &ada, note("d", None), 0);
    assert_eq!(placed.evicted, BTreeMap::from([(ada.clone(), 1)]));
    assert_eq!(texts(&tier, &ada), ["c", "a", "d"]);
    assert_eq!(tier.shelves.lock().bytes(), bytes(3));
}

#[test]
fn s1_6_c18_what_a_note_takes_is_its_text_its_words_and_its_vectors() {
    let hasher = RandomState::new();
    let bytes = |note: NewNote| Kept::new(note, &hasher).bytes;
    let bare = bytes(note("tea", None));
    assert!(bare >= (size_of::<Kept>() + size_of::<Record>()) as u64);
    let words = note("tea pot cup", None);
    assert_eq!(bytes(words) - bare, ("tea pot cup".len() - "tea".len() + 2 * size_of::<(u64, u32)>()) as u64);
    let vector = Direction::of(&vec![1.0; 1_536]).unwrap();
    let embedded = NewNote { pieces: vec![vector], ..note("tea", None) };
    assert!(bytes(embedded) - bare >= 4 * 1_536);
}

#[test]
fn c33_what_has_expired_makes_room_before_what_lives() {
    let (tier, ada) = (tier(bytes(3)), owner("ada"));
    put(&tier, &ada, note("a", None), 0);
    put(&tier, &ada, note("b", Some(5)), 0);
    put(&tier, &ada, note("c", None), 0);
    assert_eq!(put(&tier, &ada, note("d", None), 5).evicted, BTreeMap::new());
    assert_eq!(texts(&tier, &ada), ["a", "c", "d"]);
    put(&tier, &ada, note("a", Some(7)), 6);
    assert_eq!((tier.sweep(Timestamp(6)), tier.sweep(Timestamp(7))), (0, 1));
    assert_eq!(texts(&tier, &ada), ["c", "d"]);
}

#[test]
fn an_owner_with_less_than_an_even_share_loses_nothing_to_others() {
    let (tier, ada, bob) = (tier(2 * bytes(4)), owner("ada"), owner("bob"));
    for word in ["a", "b", "c"] {
        put(&tier, &ada, note(word, None), 0);
    }
    for word in 0..100 {
        let placed = put(&tier, &bob, note(&word.to_string(), None), 0);
        assert!(!placed.evicted.contains_key(&ada), "{word}");
    }
    assert_eq!(texts(&tier, &ada), ["a", "b", "c"]);
    assert_eq!(texts(&tier, &bob).last().map(String::as_str), Some("99"));
}

#[test]
fn a_note_larger_than_the_tier_is_refused_and_takes_nothing_away() {
    let (tier, ada) = (tier(bytes(1)), owner("ada"));
    put(&tier, &ada, note("a", None), 0);
    let large = note("long ".repeat(200).trim(), None);
    assert!(matches!(tier.put(&ada, large, tier.forgotten(), Timestamp(0)), Err(Error::Invalid { .. })));
    assert_eq!(texts(&tier, &ada), ["a"]);
    for config in
        [WorkingConfig::default().with_max_bytes(0), WorkingConfig::default().with_sweep_every(Duration::ZERO)]
    {
        assert!(matches!(config.check(), Err(Error::Invalid { .. })));
    }
}

#[test]
fn what_was_forgotten_meanwhile_has_to_be_checked_again() {
    let (tier, ada) = (tier(u64::MAX), owner("ada"));
    let before = tier.forgotten();
    tier.forget(&ada, &HashSet::new());
    assert!(tier.put(&ada, note("a", None), before, Timestamp(0)).unwrap().is_none());
    assert!(!tier.has(&ada));
}

#[test]
fn an_erasure_takes_the_notes_of_earlier_epochs_alone() {
    let (tier, ada, bob) = (tier(u64::MAX), owner("ada"), owner("bob"));
    put(&tier, &ada, note("a", None), 0);
    put(&tier, &bob, note("a", None), 0);
    assert_eq!(tier.shelves.lock().erase(&ada, Epoch(1)), 1);
    put(&tier, &ada, NewNote { epoch: Epoch(1), ..note("b", None) }, 0);
    assert_eq!(tier.shelves.lock().erase(&ada, Epoch(1)), 0);
    // Who still reads in the earlier epoch sees nothing of the later one.
    assert!(tier.notes(&ada, Epoch(0)).newest(&Filter::All, 9).is_empty());
    assert_eq!(tier.notes(&ada, Epoch(1)).newest(&Filter::All, 9).len(), 1);
    // Another process erased: the next read of the new epoch drops what is older.
    assert!(tier.notes(&ada, Epoch(2)).newest(&Filter::All, 9).is_empty());
    assert!(!tier.has(&ada) && tier.has(&bob));
    tier.shelves.lock().clear();
    assert_eq!(tier.shelves.lock().bytes(), 0);
}

#[test]
fn a_note_from_before_an_erasure_is_not_put_beside_later_ones() {
    let (tier, ada) = (tier(u64::MAX), owner("ada"));
    put(&tier, &ada, NewNote { epoch: Epoch(1), ..note("b", None) }, 0);
    // Another process erased, so that nothing here was forgotten.
    let placed = tier.put(&ada, note("a", None), tier.forgotten(), Timestamp(0)).unwrap();
    assert_eq!((placed, texts(&tier, &ada)), (None, Vec::<String>::new()));
    assert_eq!(tier.notes(&ada, Epoch(1)).newest(&Filter::All, 9).len(), 1);
}

proptest! {
    #[test]
    fn s1_6_the_bound_holds_after_every_put(
        puts in prop::collection::vec((0..4_usize, "[a-e]{1,2}( [a-e]{1,40}){0,3}", prop::option::of(0..50_i64)), 1..60),
        most in 2_000..9_000_u64,
    ) {
        let (tier, owners) = (tier(most), ["ada", "bob", "eve", "dan"].map(owner));
        for (now, (who, text, expires)) in (0..).zip(puts) {
            let Ok(placed) = tier.put(&owners[who], note(&text, expires), tier.forgotten(), Timestamp(now)) else { continue };
            prop_assert!(placed.is_some());
            prop_assert!(tier.shelves.lock().bytes() <= most);
            prop_assert_eq!(texts(&tier, &owners[who]).pop(), Some(text));
        }
    }
}

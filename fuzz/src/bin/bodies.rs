//! What stores keep and give back: bodies of messages, records and fields, posting lists, rows of vectors. Damaged bytes are an
//! error, and what is read is written as it was.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use memory_core::posting::{self, Evidence, Query, Segment, StoredShares};
use memory_core::store::text::Term;
use memory_core::vector::CodedRows;
use memory_core::{Fields, Message, Record};

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind {
        b'm' => {
            if let Ok(message) = Message::decode("fuzz", bytes) {
                assert_eq!(message.encoded_len(), message.encode().len());
                assert_eq!(Message::decode("fuzz", &message.encode()).expect("its own bytes"), message);
            }
        }
        b'r' => {
            if let Ok(record) = Record::decode("fuzz", bytes) {
                assert_eq!(record.encoded_len(), record.encode().len());
                assert_eq!(Record::decode("fuzz", &record.encode()).expect("its own bytes"), record);
            }
        }
        b'f' => {
            if let Ok(fields) = Fields::decode("fuzz", bytes) {
                assert_eq!(Fields::decode("fuzz", &fields.encode()).expect("its own bytes"), fields);
            }
        }
        _ => lists(*kind, bytes),
    }
});

/// Reads lists of an index.
fn lists(kind: u8, bytes: &[u8]) {
    match kind {
        b'p' => {
            if let Ok(postings) = posting::decode_postings(bytes) {
                let written = posting::encode_postings(&postings);
                assert_eq!(posting::decode_postings(&written).expect("its own bytes"), postings);
            }
        }
        b'k' => {
            if let Ok(postings) = posting::unpack_postings(bytes) {
                let written = posting::pack_postings(&postings);
                assert_eq!(posting::unpack_postings(&written).expect("its own bytes"), postings);
            }
        }
        b'd' => {
            if let Ok(mut segment) = Segment::decode(bytes.len() as i64, bytes) {
                let again = Segment::decode(segment.size(), &segment.encode()).expect("its own bytes");
                assert_eq!((again.live(), again.slots()), (segment.live(), segment.slots()));
                let _ = segment.take(&HashSet::from([0, 1]));
            }
        }
        b't' => tail(bytes),
        b'l' => drop(posting::visit_lists(bytes, |_, list| drop(posting::decode_postings(list)))),
        b's' => {
            if let Ok(shares) = StoredShares::new(bytes.to_vec(), 3) {
                assert_eq!(shares.all().len() * bytes.len().checked_div(shares.all().len()).unwrap_or(0), bytes.len());
            }
        }
        dimension => {
            let dimension = usize::from(dimension % 33);
            if let Some(rows) = CodedRows::decode(dimension, bytes) {
                assert_eq!(rows.numbers(0).is_some(), !bytes.is_empty());
            }
        }
    }
}

/// Reads the terms of one document, as a search does.
fn tail(bytes: &[u8]) {
    let terms = ["cat", "dog"].map(|term| Term::new(term).expect("a term"));
    let (query, mut evidence) = (Query::new(&terms), Evidence::new(terms.len()));
    let document = posting::Document { slot: 0, item: 1, length: 3, at: memory::Timestamp(0) };
    let _ = evidence.read_tail(&query, document, bytes);
    let _ = posting::visit_terms(bytes, |_, _| Ok(()));
}

use proptest::prelude::*;

use super::*;

fn counts() -> impl Strategy<Value = Counts> {
    let near = prop_oneof![Just(0.0_f32), 0.001_f32..40.0, Just(f32::MIN_POSITIVE), Just(f32::MAX)];
    let own = prop_oneof![0_u32..4, any::<u32>()];
    (own, near)
        .prop_filter("a count", |(own, near)| *own > 0 || *near > 0.0)
        .prop_map(|(own, near)| Counts { own, near })
}

fn postings() -> impl Strategy<Value = Vec<Posting>> {
    let slot = prop_oneof![0_u32..300, 0..u32::MAX];
    let list = prop::collection::btree_map(slot, counts(), 0..60);
    list.prop_map(|list| list.into_iter().map(|(slot, counts)| Posting { slot, counts }).collect())
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    let document = (any::<i64>(), any::<u32>(), any::<i64>());
    let list = prop::collection::btree_map(0..u32::MAX, document, 0..60);
    list.prop_map(|list| {
        let document = |(slot, (item, length, at))| Document { slot, item, length, at: Timestamp(at) };
        list.into_iter().map(document).collect()
    })
}

fn read_terms(bytes: &[u8]) -> Result<Vec<(String, Counts)>, Damaged> {
    let mut terms = Vec::new();
    visit_terms(bytes, |term, counts| {
        terms.push((String::from_utf8(term.to_owned()).map_err(|_| Damaged)?, counts));
        Ok(())
    })?;
    Ok(terms)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn posting_lists_are_read_back(list in postings()) {
        prop_assert_eq!(decode_postings(&encode_postings(&list)), Ok(list));
    }

    #[test]
    fn document_tables_are_read_back(list in documents()) {
        prop_assert_eq!(decode_documents(&encode_documents(&list)), Ok(list));
    }

    #[test]
    fn terms_of_documents_are_read_back(terms in prop::collection::btree_map("[a-z0-9]{1,128}", counts(), 0..40)) {
        let bytes = encode_terms(terms.iter().map(|(term, counts)| (term.as_str(), *counts)));
        prop_assert_eq!(read_terms(&bytes), Ok(terms.into_iter().collect::<Vec<_>>()));
    }

    #[test]
    fn what_can_be_read_is_what_a_writer_makes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(list) = decode_postings(&bytes) {
            prop_assert_eq!(encode_postings(&list), bytes.clone());
        }
        if let Ok(list) = decode_documents(&bytes) {
            prop_assert_eq!(encode_documents(&list), bytes.clone());
        }
        if let Ok(terms) = read_terms(&bytes) {
            prop_assert_eq!(encode_terms(terms.iter().map(|(term, counts)| (term.as_str(), *counts))), bytes);
        }
    }

    #[test]
    fn a_posting_list_cut_short_gives_a_beginning_or_damage(list in postings(), cut in any::<prop::sample::Index>()) {
        let bytes = encode_postings(&list);
        let kept = &bytes[..cut.index(bytes.len() + 1)];
        if let Ok(read) = decode_postings(kept) {
            prop_assert!(list.starts_with(&read));
        }
    }
}

#[test]
fn nonsense_is_damage() {
    let overflow: &[u8] = &[0xfe, 0xff, 0xff, 0xff, 0x1f, 1, 0, 1];
    let nan: &[u8] = &[1, 1, 0, 0, 0xc0, 0x7f];
    for bytes in [&[0x80][..], &[0, 0], &[1, 1, 0], &[0x80, 0, 1], &[0xff; 12], overflow, nan] {
        assert_eq!(decode_postings(bytes), Err(Damaged), "{bytes:?}");
    }
    assert_eq!(decode_documents(&[0, 2, 1]), Err(Damaged));
    assert_eq!(read_terms(&[4, 1, b'a']), Err(Damaged));
    assert_eq!(read_terms(&[2, 1, 0xff]), Err(Damaged));
}

#[test]
fn a_common_posting_takes_two_bytes() {
    let list: Vec<_> = (0..256).map(|slot| Posting { slot, counts: Counts { own: 1, near: 0.0 } }).collect();
    assert_eq!(encode_postings(&list).len(), 512);
}

#[test]
fn a_cut_folds_the_oldest_and_stores_what_is_new_of_the_rest() {
    let shape = Shape { tail: 30, kept: 20, documents: 4, postings: 9 };
    let document = |stamp| TailDocument { item: stamp, stamp, length: 3, at: Timestamp(0), terms: vec![0; 10] };
    let items = |documents: &[TailDocument]| documents.iter().map(|document| document.item).collect::<Vec<_>>();
    let (stored, new) = ([document(3), document(1)], [document(4), document(2)]);
    let mut totals = Totals::default();
    assert!(totals.add(&stored, &shape));
    assert!(!totals.add(&new, &shape));
    let Cut { old, fresh } = totals.cut(stored.to_vec(), &new, &shape);
    assert_eq!((items(&old), items(&fresh)), (vec![1, 2], vec![4]));
    assert_eq!(totals, Totals { documents: 4, length: 12, tail_bytes: 20 });
    totals.remove(3);
    totals.remove_from_tail(3, 10);
    assert_eq!((totals, totals.mean_length()), (Totals { documents: 2, length: 6, tail_bytes: 10 }, 3.0));
}

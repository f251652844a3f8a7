use memory_core::{Error, Timestamp};
use memory_testkit::generate::{self, Random};
use proptest::prelude::*;

use super::*;

fn scalar() -> impl Strategy<Value = Scalar> {
    let text = prop::collection::vec(prop::sample::select(vec!["", "a", "b", "\0", "é", "😀"]), 0..4);
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        any::<i64>().prop_map(Scalar::Int),
        (-3_i64..3).prop_map(Scalar::Int),
        any::<f64>().prop_filter("a number", |number| !number.is_nan()).prop_map(Scalar::Float),
        prop::sample::select(vec![0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY]).prop_map(Scalar::Float),
        text.prop_map(|parts| Scalar::Text(parts.concat())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn words_are_in_the_order_of_their_values(a in scalar(), b in scalar()) {
        let beginning = word::beginning(&Field::Tag).unwrap();
        let (first, second) = (word::word(&beginning, &a).unwrap(), word::word(&beginning, &b).unwrap());
        if let Some(order) = a.compare(&b) {
            prop_assert_eq!(first.cmp(&second), order);
        } else {
            prop_assert_ne!(first, second);
        }
    }

    #[test]
    fn words_of_one_key_are_never_those_of_another(a in "[ab\u{0}]{0,3}", b in "[ab\u{0}]{0,3}", value in scalar()) {
        prop_assume!(a != b);
        let word = |key: &str| word::word(&word::beginning(&Field::Metadata(key.to_owned())).unwrap(), &value).unwrap();
        let (from, until) = word::all(&word::beginning(&Field::Metadata(a.clone())).unwrap());
        prop_assert!(from <= word(&a) && word(&a) < until);
        prop_assert!(!(from <= word(&b) && word(&b) < until));
    }
}

#[test]
fn words_are_written_as_an_array() {
    assert_eq!(word::literal(&[]), None);
    let text = word::literal(&[vec![0, 255], Vec::new()]).unwrap();
    assert_eq!(text, r#"{"\\x00ff","\\x"}"#);
}

#[test]
fn nothing_that_a_caller_wrote_enters_the_statement() {
    let mut random = Random::new(24);
    let mut sql = QueryBuilder::new("");
    for _ in 0..500 {
        for place in [FilteredTable::Messages("x'; DROP TABLE x; --"), FilteredTable::Records, FilteredTable::Index] {
            push_filter(&mut sql, place, &generate::filter(&mut random, 3)).unwrap();
        }
    }
    let hostile = Filter::eq(Field::Metadata("key'); DROP TABLE x; --".to_owned()), "value'); DROP TABLE x; --");
    push_filter(&mut sql, FilteredTable::Records, &hostile).unwrap();
    push_filter(&mut sql, FilteredTable::Records, &Filter::current(Timestamp(1))).unwrap();
    let text = sql.sql().as_str().to_owned();
    let is_ours = |letter: char| letter.is_ascii_alphanumeric() || " _.,()$<>=&".contains(letter);
    assert!(text.chars().all(is_ours) && !text.contains("DROP"), "a statement holds what is not ours");
}

#[test]
fn larger_filters_are_refused() {
    let leaf = || Filter::Exists(Field::Tag);
    let wide = Filter::Or((0..10_000).map(|_| leaf()).collect());
    let list = Filter::In(Field::At, (0..10_000).map(Scalar::Int).collect());
    let deep = (0..1_000).fold(leaf(), |inner, _| inner.negate());
    for filter in [wide, list, deep] {
        let mut sql = QueryBuilder::new("");
        assert!(matches!(push_filter(&mut sql, FilteredTable::Records, &filter), Err(Error::Invalid { .. })));
    }
}

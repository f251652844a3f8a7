use super::*;

const MOST: Bounds = Bounds { leaves: 4, values: 6, levels: 3, depth: 8 };

fn tag(name: &str) -> Filter {
    Filter::eq(Field::Tag, name)
}

fn leaf(filter: &Filter, is_negated: bool) -> Normal<'_> {
    match filter.normal(&MOST).unwrap() {
        Normal::Leaf { field, test, .. } => Normal::Leaf { field, test, is_negated },
        other => panic!("{other:?} is no leaf"),
    }
}

#[test]
fn what_is_always_true_or_false_is_folded() {
    let number = |value: f64| Some(Scalar::Float(value));
    let table = [
        (Filter::All, true),
        (Filter::And(Vec::new()), true),
        (Filter::Or(Vec::new()), false),
        (Filter::In(Field::Tag, Vec::new()), false),
        (Filter::range(Field::Tag, Some(Scalar::Int(1)), number(2.0)), false),
        (Filter::range(Field::Tag, number(f64::NAN), number(2.0)), false),
        (Filter::And(vec![tag("a"), Filter::Or(Vec::new())]), false),
        (Filter::Or(vec![tag("a"), Filter::All]), true),
    ];
    for (filter, outcome) in table {
        assert_eq!(filter.normal(&MOST).unwrap(), Normal::Fixed(outcome), "{filter:?}");
        assert_eq!(filter.negate().normal(&MOST).unwrap(), Normal::Fixed(!outcome));
    }
    let (a, b) = (tag("a"), tag("b"));
    let some = Filter::And(vec![Filter::All, a.clone()]);
    assert_eq!(some.normal(&MOST).unwrap(), leaf(&a, false));
    let all = Filter::And(vec![a.clone(), Filter::All, b.clone()]);
    assert_eq!(all.normal(&MOST).unwrap(), Normal::All(vec![leaf(&a, false), leaf(&b, false)]));
}

#[test]
fn negations_stand_at_the_leaves() {
    let (a, b, c) = (tag("a"), tag("b"), Filter::Ne(Field::Tag, Scalar::from("c")));
    let inner = Filter::Or(vec![b.clone(), c.clone()]);
    let filter = Filter::And(vec![a.clone(), inner.negate()]).negate();
    let expected = Normal::Any(vec![leaf(&a, true), Normal::Any(vec![leaf(&b, false), leaf(&c, true)])]);
    assert_eq!(filter.normal(&MOST).unwrap(), expected);
    let deep = (0..8).fold(a.clone(), |inner, _| inner.negate());
    assert_eq!(deep.normal(&MOST).unwrap(), leaf(&a, false));
}

#[test]
fn what_is_beyond_a_bound_is_refused() {
    let values = |count| Filter::In(Field::Tag, vec![Scalar::Int(1); count]);
    let leaves = |count| Filter::Or(vec![Filter::Exists(Field::Tag); count]);
    let levels = |count| (0..count).fold(Filter::All, |inner, _| Filter::Or(vec![inner, Filter::All]));
    let deep = |count| (0..count).fold(Filter::All, |inner, _| Filter::Or(vec![inner]));
    for (most, larger) in [(values(6), values(7)), (leaves(4), leaves(5)), (levels(3), levels(4)), (deep(8), deep(9))] {
        assert!(most.normal(&MOST).is_ok(), "{most:?}");
        assert!(matches!(larger.normal(&MOST), Err(Error::Invalid { .. })), "{larger:?}");
    }
}

#[test]
fn a_test_passes_what_a_filter_matches() {
    let (one, two) = (Scalar::Int(1), Scalar::Int(2));
    assert!(Test::Between(Some(&one), Some(&two)).passes(&one));
    assert!(!Test::Between(Some(&one), Some(&two)).passes(&two));
    assert!(!Test::Between(None, Some(&two)).passes(&Scalar::Float(1.0)));
    assert!(!Test::Among(&[one]).passes(&two));
    assert!(Test::Exists.passes(&two));
}

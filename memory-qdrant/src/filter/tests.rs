use ::qdrant_client::qdrant::condition::ConditionOneOf;
use ::qdrant_client::qdrant::{Condition, Filter as Conditions};
use memory_core::{Error, Limits, Scalar, Timestamp, Unit};
use memory_testkit::generate::{self, Random};

use super::*;
use crate::point::TOKENS;

fn metadata(key: &str) -> Field {
    Field::Metadata(key.to_owned())
}

fn clause(filter: &Filter) -> Clause {
    compile(filter).unwrap().clause
}

#[test]
fn constants_are_folded_without_a_server() {
    let tag = || Filter::eq(Field::Tag, "a");
    let table = [
        (Filter::All, Clause::Always),
        (Filter::And(Vec::new()), Clause::Always),
        (Filter::Or(Vec::new()), Clause::Never),
        (Filter::In(Field::Tag, Vec::new()), Clause::Never),
        (Filter::All.negate(), Clause::Never),
        (Filter::And(vec![tag(), Filter::Or(Vec::new())]), Clause::Never),
        (Filter::Or(vec![tag(), Filter::All]), Clause::Always),
        (Filter::range(Field::At, Some(Scalar::from("a")), None), Clause::Never),
        (Filter::range(Field::Tag, Some(Scalar::Int(1)), None), Clause::Never),
        (Filter::range(metadata("n"), Some(Scalar::Int(1)), Some(Scalar::Float(2.0))), Clause::Never),
        (Filter::range(metadata("n"), Some(Scalar::Float(f64::NAN)), None), Clause::Never),
        (Filter::eq(metadata("n"), f64::NAN), Clause::Never),
        (Filter::And(vec![Filter::All, tag()]), Clause::Tokens(vec!["ft:3:tag=a".to_owned()])),
    ];
    for (filter, expected) in table {
        assert_eq!(clause(&filter), expected, "{filter:?}");
    }
}

#[test]
fn what_is_current_is_asked_of_the_server_alone() {
    let now = Timestamp(1_767_268_800_000_000);
    for filter in [Filter::current(now), Filter::as_of(Timestamp(0), now)] {
        assert!(compile(&filter).unwrap().is_exact);
        assert!(compile(&filter.negate()).unwrap().is_exact);
    }
}

#[test]
fn ranges_of_texts_let_more_through_and_say_so() {
    let range = || Filter::range(Field::Kind, Some(Scalar::from("a")), Some(Scalar::from("b")));
    let compiled = compile(&range()).unwrap();
    assert!(!compiled.is_exact);
    assert_eq!(compiled.clause, exists(&Field::Kind));
    // Below a negation the same range lets nothing through, so that the whole lets more through again.
    assert_eq!(clause(&range().negate()), Clause::Always);
    assert_eq!(clause(&range().negate().negate()).condition(), exists(&Field::Kind).condition());
    let roles = Filter::range(Field::Role, Some(Scalar::from("system")), Some(Scalar::from("user")));
    let compiled = compile(&roles).unwrap();
    assert!(compiled.is_exact);
    let names = ["system", "tool"].map(|name| format!("ft:4:role={name}"));
    assert_eq!(compiled.clause, Clause::Tokens(names.to_vec()));
}

#[test]
fn double_negations_take_no_level() {
    let leaf = || Filter::range(Field::At, Some(Scalar::Int(1)), None);
    let deep = (0..30).fold(leaf(), |inner, _| inner.negate());
    assert_eq!(clause(&deep), clause(&leaf()));
}

#[test]
fn the_largest_filters_that_core_lets_pass_are_compiled_and_larger_ones_are_refused() {
    let limits = Limits::default();
    let leaf = || Filter::eq(metadata("n"), 1);
    let deep = (1..limits.filter_depth / 2).fold(leaf(), |inner, _| Filter::Or(vec![inner, leaf()]).negate());
    let values = (0..limits.filter_clauses as i64 - 1).map(Scalar::Int).collect();
    for filter in [deep, Filter::In(Field::At, values)] {
        filter.check(&limits).unwrap();
        compile(&filter).unwrap();
    }
    let wide = Filter::Or((0..10_000).map(|_| leaf()).collect());
    let list = Filter::In(Field::At, (0..10_000).map(Scalar::Int).collect());
    let deep = (0..1_000).fold(leaf(), |inner, _| inner.negate());
    for filter in [wide, list, deep] {
        assert!(matches!(compile(&filter), Err(Error::Invalid { .. })));
    }
}

#[test]
fn the_server_is_asked_for_keys_of_ours_alone() {
    let mut random = Random::new(41);
    let ours = [TOKENS, "seq", "trust", "at", "expires_at", "valid_from", "valid_to", "superseded_at", "k", "v"];
    for _ in 0..2_000 {
        let compiled = compile(&generate::filter(&mut random, 3)).unwrap();
        for key in compiled.clause.condition().iter().flat_map(keys) {
            assert!(ours.contains(&key.as_str()), "{key}");
        }
    }
}

/// Returns the keys that a condition names.
fn keys(condition: &Condition) -> Vec<String> {
    let inside = |filter: &Conditions| {
        let Conditions { should, must, must_not, min_should: _ } = filter;
        should.iter().chain(must).chain(must_not).flat_map(keys).collect::<Vec<_>>()
    };
    match condition.condition_one_of.as_ref().unwrap() {
        ConditionOneOf::Field(field) => vec![field.key.clone()],
        ConditionOneOf::Filter(filter) => inside(filter),
        ConditionOneOf::Nested(nested) => inside(nested.filter.as_ref().unwrap()),
        ConditionOneOf::HasId(_) => Vec::new(),
        other => panic!("an unexpected condition: {other:?}"),
    }
}

#[test]
fn a_compiled_filter_errs_on_the_side_of_more_only() {
    // The tokens of an item decide each match of tokens, so those filters can be judged without a server.
    let mut random = Random::new(42);
    for _ in 0..2_000 {
        let filter = generate::filter(&mut random, 2);
        let compiled = compile(&filter).unwrap();
        let item = generate::item(&mut random, Unit::Record);
        let fields = generate::fields(&mut random, Unit::Record);
        let found = tokens::of(&item, &fields);
        let passes = match &compiled.clause {
            Clause::Always => true,
            Clause::Never => false,
            Clause::Tokens(sought) => sought.iter().any(|token| found.contains(token)),
            Clause::When(_) => continue,
        };
        let matches = filter.matches(&fields);
        assert!(passes == matches || (passes && !compiled.is_exact), "{filter:?}");
    }
}

use memory_core::{Fields, SessionId, Timestamp};
use memory_testkit::generate::{self, Random};
use serde_json::Map;

use super::*;

/// What the server does with the queries that are made here, over one document.
struct Document {
    words: Vec<String>,
    numbers: Vec<(&'static str, i64)>,
}

impl Document {
    fn of(fields: &Fields) -> Self {
        let (words, numbers) = values_of(fields);
        Self { words, numbers }
    }

    fn matches(&self, query: &Value) -> bool {
        let (kind, body) = query.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "match_all" => true,
            "match_none" => false,
            "bool" => self.matches_bool(body),
            "exists" => self.numbers.iter().any(|(name, _)| body["field"] == *name),
            "term" => self.words.iter().any(|word| body["values"] == **word),
            "terms" => self.matches_terms(body),
            "range" => self.matches_range(body),
            other => panic!("{other}"),
        }
    }

    fn matches_bool(&self, body: &Value) -> bool {
        let list = |name: &str| body.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let should = list("should");
        list("filter").iter().all(|query| self.matches(query))
            && !list("must_not").iter().any(|query| self.matches(query))
            && (should.is_empty() || should.iter().any(|query| self.matches(query)))
    }

    fn matches_terms(&self, body: &Value) -> bool {
        let (name, values) = body.as_object().unwrap().iter().next().unwrap();
        let values = values.as_array().unwrap();
        let is_word = name == "values" && self.words.iter().any(|word| values.contains(&json!(word)));
        is_word || self.numbers.iter().any(|(field, number)| name == field && values.contains(&json!(number)))
    }

    fn matches_range(&self, body: &Value) -> bool {
        let (name, ends) = body.as_object().unwrap().iter().next().unwrap();
        if name == "values" {
            let (from, until) = (ends["gte"].as_str().unwrap(), ends["lt"].as_str().unwrap());
            return self.words.iter().any(|word| from <= word.as_str() && word.as_str() < until);
        }
        self.numbers.iter().any(|(field, number)| {
            let from = ends.get("gte").is_none_or(|from| from.as_i64().unwrap() <= *number);
            name == field && from && ends.get("lt").is_none_or(|until| *number < until.as_i64().unwrap())
        })
    }
}

#[test]
fn queries_match_where_filters_do() {
    let mut random = Random::new(7);
    let fields: Vec<Fields> = (0..120).map(|_| generate::fields(&mut random, memory_core::Unit::Record)).collect();
    for number in 0..2_000 {
        let filter = generate::filter(&mut random, number % 4);
        let query = compile(&filter).unwrap();
        for fields in &fields {
            assert_eq!(Document::of(fields).matches(&query), filter.matches(fields), "{filter:?}\n{query}\n{fields:?}");
        }
    }
}

fn texts(key: &str, value: &str) -> Fields {
    let session = SessionId::new("s").unwrap();
    let mut fields = Fields::of_span(&session, memory_core::Seq(1), Timestamp(0));
    fields.metadata = Map::from_iter([(key.to_owned(), json!(value))]);
    fields
}

#[test]
fn long_texts_are_equal_to_themselves_only_and_stand_in_their_order() {
    let long = |last: &str| format!("{}{last}", "é".repeat(5_000));
    let fields = [long("a"), long("b"), "é".to_owned(), "x".repeat(2_048), "x".repeat(2_049)].map(|t| texts("k", &t));
    let field = || Field::Metadata("k".to_owned());
    let filters = [
        Filter::eq(field(), long("a")),
        Filter::eq(field(), long("c")),
        Filter::eq(field(), "x".repeat(2_048)),
        Filter::range(field(), Some(Scalar::from("é".repeat(1_000))), None),
        Filter::range(field(), None, Some(Scalar::from("é".repeat(1_000)))),
        Filter::range(field(), Some(Scalar::from("x".repeat(2_044))), Some(Scalar::from("y"))),
    ];
    for filter in filters {
        let query = compile(&filter).unwrap();
        for fields in &fields {
            assert_eq!(Document::of(fields).matches(&query), filter.matches(fields));
        }
    }
    let words = fields.iter().flat_map(|fields| values_of(fields).0);
    assert!(words.map(|word| word.len()).max().unwrap() < 32_766);
    let filter = Filter::range(field(), Some(Scalar::from("x".repeat(2_045))), None);
    assert!(matches!(compile(&filter), Err(Error::Unsupported { .. })));
}

#[test]
fn keys_are_told_apart_however_they_are_written() {
    let keys = ["", ".unit", "k", "k=", "1:k", "k\0", "é", &"k".repeat(512), &"k".repeat(513), &"k".repeat(9_000)];
    for key in keys {
        let document = Document::of(&texts(key, "v"));
        for other in keys {
            let query = compile(&Filter::eq(Field::Metadata(other.to_owned()), "v")).unwrap();
            assert_eq!(document.matches(&query), key == other);
        }
    }
    let unit = compile(&Filter::eq(Field::Unit, "v")).unwrap();
    assert!(!Document::of(&texts(".unit", "v")).matches(&unit));
}

#[test]
fn filters_that_are_too_large_are_refused() {
    let clauses = |count: i64| Filter::Or((0..count).map(|number| Filter::eq(Field::At, number)).collect());
    assert!(compile(&clauses(1_000)).is_ok());
    assert!(matches!(compile(&clauses(1_001)), Err(Error::Invalid { .. })));
    let values = |count| Filter::In(Field::Tag, vec![Scalar::Int(1); count]);
    assert!(compile(&values(10_000)).is_ok());
    assert!(matches!(compile(&values(10_001)), Err(Error::Invalid { .. })));
    let nested =
        |levels| (0..levels).fold(Filter::All, |inner, _| Filter::Or(vec![inner, Filter::Exists(Field::Kind)]));
    assert!(compile(&nested(20)).is_ok());
    assert!(matches!(compile(&nested(40)), Err(Error::Invalid { .. })));
    let negated = (0..30).fold(Filter::Exists(Field::Kind), |inner, _| inner.negate());
    assert_eq!(compile(&negated).unwrap(), compile(&Filter::Exists(Field::Kind)).unwrap());
}

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fields::Fields;
use crate::filter::text::names::FIELDS;
use crate::filter::{Field, Scalar};
use crate::id::{Seq, SessionId};
use crate::time::Timestamp;

fn parse(text: &str) -> Filter {
    text.parse().unwrap()
}

fn refusal(text: &str) -> String {
    text.parse::<Filter>().unwrap_err().to_string()
}

fn meta(key: &str) -> Field {
    Field::Metadata(key.to_owned())
}

#[test]
fn reads_what_people_write() {
    let expected = Filter::And(vec![
        Filter::eq(Field::Role, "user"),
        Filter::range(Field::At, Some(Scalar::Int(1_704_067_200_000_000)), None),
        Filter::In(Field::Tag, vec!["a".into(), "b".into()]),
    ]);
    assert_eq!(parse("role = user and at >= 2024-01-01 and tag in (a, b)"), expected);
    assert_eq!(parse("role=user AND at>=\"2024-01-01T01:00:00+01:00\" and tag in(a,b,)"), expected);
}

#[test]
fn not_binds_before_and_and_that_before_or() {
    let eq = |name: &str| Filter::eq(Field::Kind, name);
    let expected = Filter::Or(vec![eq("a"), Filter::And(vec![eq("b").negate(), eq("c")])]);
    assert_eq!(parse("kind = a or not kind = b and kind = c"), expected);
    let grouped = Filter::And(vec![Filter::Or(vec![eq("a"), eq("b")]), eq("c")]);
    assert_eq!(parse("(kind = a or kind = b) and kind = c"), grouped);
    assert_eq!(parse("((all))"), Filter::All);
}

#[test]
fn values_have_the_type_of_their_field() {
    assert_eq!(parse("session = 42"), Filter::eq(Field::Session, "42"));
    assert_eq!(parse("seq = 42"), Filter::eq(Field::Seq, 42));
    assert_eq!(parse("trust >= user"), Filter::range(Field::Trust, Some(Scalar::Int(3)), None));
    assert_eq!(
        parse("speaker = \"Ada \\\"Countess\\\" \\u{1f600}\""),
        Filter::eq(Field::Speaker, "Ada \"Countess\" 😀")
    );
    assert_eq!(parse("tag = 猫"), Filter::eq(Field::Tag, "猫"));
    assert_eq!(parse("at = @-5"), Filter::eq(Field::At, -5));
    assert_eq!(parse("seq = text(x)"), Filter::eq(Field::Seq, "x"));
}

#[test]
fn metadata_values_have_the_type_they_look_like() {
    let value = |text: &str| match parse(&format!("meta.k = {text}")) {
        Filter::Eq(field, value) if field == meta("k") => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(value("5"), Scalar::Int(5));
    assert_eq!(value("-5"), Scalar::Int(-5));
    assert_eq!(value("5.0"), Scalar::Float(5.0));
    assert_eq!(value("1e3"), Scalar::Float(1000.0));
    assert_eq!(value("18446744073709551615"), Scalar::Float(u64::MAX as f64));
    assert_eq!(value("true"), Scalar::Bool(true));
    assert_eq!(value("\"true\""), "true".into());
    assert_eq!(value("2024-01-01"), "2024-01-01".into());
    assert_eq!(value("inf"), "inf".into());
    assert_eq!(value("float(-inf)"), Scalar::Float(f64::NEG_INFINITY));
    assert_eq!(value("int"), "int".into());
}

#[test]
fn keys_may_be_any_text() {
    assert_eq!(parse("exists(meta.a.b)"), Filter::Exists(meta("a.b")));
    assert_eq!(parse("exists(meta.\"a b\")"), Filter::Exists(meta("a b")));
    assert_eq!(parse("meta.\"\" = 1"), Filter::eq(meta(""), 1));
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    let cases = [
        (
            "",
            "character 1: expected one of the fields unit, session, seq, role, speaker, agent, run, kind, tag, trust, source, at, expires_at, valid_from, \
             valid_to, superseded_at or meta.KEY, found the end",
        ),
        ("role", "character 5: expected an operator or in, found the end"),
        ("role = ", "character 8: expected a value, found the end"),
        ("role = user user", "character 13: expected and, or, or the end, found a word"),
        (
            "rôle = user",
            "character 1: expected one of the fields unit, session, seq, role, speaker, agent, run, kind, tag, trust, source, at, expires_at, valid_from, \
             valid_to, superseded_at or meta.KEY, found a word",
        ),
        ("speaker = é and role = )", "character 24: expected a value, found a closing parenthesis"),
        ("(role = user", "character 13: expected a closing parenthesis, found the end"),
        ("tag in a", "character 8: expected a list in parentheses or a stretch such as [1, 5), found a word"),
        ("tag in (a b)", "character 11: expected a comma, found a word"),
        ("at > soon", "character 6: expected a time such as 2024-05-17 or 2024-05-17T18:30:00Z, found a word"),
        ("seq = \"a\"", "character 7: expected a whole number, found a quoted text"),
        ("trust = much", "character 9: expected a level of trust such as tool or user, found a word"),
        ("meta.k = 1e400", "character 10: expected a number within range, found a word"),
        ("speaker = \"a", "character 11: the quoted text does not end"),
        ("speaker = \"a\\x\"", "character 13: an escape that has no meaning"),
        ("speaker = \"\\u{d800}\"", "character 12: an escape that has no meaning"),
        ("role = 'user'", "character 8: expected a condition, found a character that has no meaning"),
        ("meta.k = float(nan)", "character 10: expected int, float, bool or text with such a value"),
        ("meta.k = f(1)", "character 10: expected int, float, bool or text with such a value"),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(text), format!("invalid call: filter, {expected}"), "{text}");
    }
}

#[test]
fn errors_hold_no_payload() {
    for text in ["secret = 1", "role secret", "at = secret", "meta.k = secret(secret)", "\"secret\"", "role = \"secret"]
    {
        assert!(!refusal(text).contains("secret"), "{text}");
    }
}

#[test]
fn size_and_depth_are_bounded_while_parsing() {
    for text in ["(", "not ", "and(", "or(not ("] {
        assert!(refusal(&text.repeat(1_000_000 / text.len())).contains("too deep"), "{text}");
    }
    let long = |text: &str| refusal(&format!("kind = a{}", text.repeat(200_000)));
    assert!(long(" or kind = a").contains("too large"));
    assert!(refusal(&format!("kind in ({})", "a,".repeat(500_000))).contains("too large"));
    assert!(refusal(&"a".repeat(1_000_000)).contains("expected one of the fields"));
    let stretch = Filter::range(Field::Seq, Some(Scalar::Int(1)), Some(Scalar::Int(2)));
    let many = Filter::Or(vec![stretch.negate(); 511]);
    assert_eq!(parse(&many.to_string()), many);
    let most = format!("{}role = user{}", "and(".repeat(31), ")".repeat(31));
    assert_eq!(parse(&most).to_string(), most);
    assert!(refusal(&format!("and({most})")).contains("too large"));
    let wide = Limits { filter_depth: 40, ..Limits::default() };
    assert!(Filter::parse(&format!("and({most})"), &wide).is_ok());
}

#[test]
fn unusual_trees_have_a_text_too() {
    let x = || Filter::Exists(meta("x"));
    let range = |from: Option<i64>, until: Option<i64>| {
        Filter::range(Field::Seq, from.map(Scalar::Int), until.map(Scalar::Int)).to_string()
    };
    assert_eq!(Filter::And(vec![]).to_string(), "and()");
    assert_eq!(Filter::Or(vec![Filter::And(vec![x(), x()])]).to_string(), "or(exists(meta.x) and exists(meta.x))");
    assert_eq!(range(Some(1), Some(5)), "seq in [1, 5)");
    assert_eq!(range(None, None), "seq in [, )");
    assert_eq!(Filter::eq(Field::Role, 5).to_string(), "role = int(5)");
    assert_eq!(Filter::eq(Field::At, "x").to_string(), "at = text(\"x\")");
    assert_eq!(Filter::eq(Field::Kind, "and").to_string(), "kind = \"and\"");
}

fn any_field() -> impl Strategy<Value = Field> {
    let known = prop::sample::select(FIELDS.map(|(_, field)| field).to_vec());
    prop_oneof![known, "[a-z.\"\\\\ =äé\u{0}\n]{0,5}".prop_map(Field::Metadata)]
}

fn any_scalar() -> impl Strategy<Value = Scalar> {
    let number = prop_oneof![any::<i64>(), -2..6_i64, Just(i64::MAX), Just(i64::MIN)];
    let words = ["and", "true", "1", "1.5", "-", "", "int", "2024-01-01", "meta.x", "a b", "null", "1e5", "@5", "+.5"];
    let text = prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), any::<String>(), "[a-z]{1,5}"];
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        number.prop_map(Scalar::Int),
        any::<f64>().prop_filter("a number", |number| !number.is_nan()).prop_map(Scalar::float),
        (-3..3_i8).prop_map(|number| Scalar::float(f64::from(number))),
        text.prop_map(Scalar::Text),
    ]
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        Just(Filter::All),
        (any_field(), any_scalar()).prop_map(|(field, value)| Filter::Eq(field, value)),
        (any_field(), any_scalar()).prop_map(|(field, value)| Filter::Ne(field, value)),
        (any_field(), vec(any_scalar(), 0..4)).prop_map(|(field, values)| Filter::In(field, values)),
        (any_field(), option::of(any_scalar()), option::of(any_scalar()))
            .prop_map(|(field, from, until)| Filter::Range { field, from, until }),
        any_field().prop_map(Filter::Exists),
    ];
    leaf.prop_recursive(8, 60, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Filter::And),
            vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(Filter::negate),
        ]
    })
}

fn fields(values: &[Value]) -> Fields {
    let mut fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
    fields.metadata.insert("x".to_owned(), values.into());
    fields
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_shown_parses_to_the_same_filter(filter in any_filter()) {
        let text = filter.to_string();
        prop_assert_eq!(text.parse::<Filter>().unwrap(), filter, "{}", text);
    }

    #[test]
    fn no_text_panics_and_what_parses_is_shown_again(text in "([a-z]{1,3}|meta\\.|[ ()\\[\\],\"=<>!\\\\0-9.]|and|or|not|seq|in|exists|all|é){0,12}") {
        if let Ok(filter) = text.parse::<Filter>() {
            prop_assert_eq!(filter.to_string().parse::<Filter>().unwrap(), filter);
        }
    }

    #[test]
    fn comparisons_mean_what_they_say(
        held in vec(prop_oneof![(-3..3).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from),
            (-3..3).prop_map(|n: i32| json!(f64::from(n) / 2.0 + 0.25)), any::<bool>().prop_map(Value::from)], 0..4),
        value in prop_oneof![(-3..3_i64).prop_map(Scalar::Int), "[ab]{0,2}".prop_map(Scalar::Text),
            (-3..3).prop_map(|n: i32| Scalar::float(f64::from(n) / 2.0 + 0.25)), any::<bool>().prop_map(Scalar::Bool)],
        operator in prop::sample::select(&["=", "!=", "<", "<=", ">", ">="][..]),
    ) {
        let found: Vec<_> = crate::fields::scalars(&Value::from(held.clone()));
        let any = |test: &dyn Fn(std::cmp::Ordering) -> bool| {
            found.iter().any(|found| found.compare(&value).is_some_and(test))
        };
        let expected = match operator {
            "=" => any(&|order| order.is_eq()),
            "!=" => !any(&|order| order.is_eq()),
            "<" => any(&|order| order.is_lt()),
            "<=" => any(&|order| order.is_le()),
            ">" => any(&|order| order.is_gt()),
            _ => any(&|order| order.is_ge()),
        };
        let written = Filter::eq(meta("x"), value.clone()).to_string().replace(" = ", &format!(" {operator} "));
        prop_assert_eq!(parse(&written).matches(&fields(&held)), expected, "{}", written);
    }
}

//! Ranges: of numbers by the server, of truth values and of the few known names as lists, of other texts roughly.

use std::cmp::Ordering;

use ::qdrant_client::qdrant::{Condition, Filter as Conditions, NestedCondition, Range, condition::ConditionOneOf};
use memory_core::{Field, Role, Scalar, Unit};

use super::clause::{Clause, Side, among, exists};
use super::tokens;
use crate::point::{FLOATS, INTS, KEY, LARGEST, NUMBER};

const ROLES: [Role; 6] = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool, Role::Function];
const UNITS: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// The ends of a range, by their type.
enum Ends {
    Bools,
    Ints(Option<i64>, Option<i64>),
    Floats(Option<f64>, Option<f64>),
    Texts,
    /// Of two types, or no numbers: nothing lies between them.
    Apart,
}

impl Ends {
    fn of(from: Option<&Scalar>, until: Option<&Scalar>) -> Self {
        let int = |end: &Scalar| if let Scalar::Int(number) = end { Some(*number) } else { None };
        let float = |end: &Scalar| if let Scalar::Float(number) = end { Some(*number) } else { None };
        let are_all = |is_of_type: fn(&Scalar) -> bool| from.into_iter().chain(until).all(is_of_type);
        if are_all(|end| matches!(end, Scalar::Bool(_))) {
            Self::Bools
        } else if are_all(|end| matches!(end, Scalar::Int(_))) {
            Self::Ints(from.and_then(int), until.and_then(int))
        } else if are_all(|end| matches!(end, Scalar::Float(number) if !number.is_nan())) {
            Self::Floats(from.and_then(float), until.and_then(float))
        } else if are_all(|end| matches!(end, Scalar::Text(_))) {
            Self::Texts
        } else {
            Self::Apart
        }
    }
}

/// Returns the clause that a field holds a value from `from` up to `until`, and whether it is exact.
pub(super) fn clause(field: &Field, from: Option<&Scalar>, until: Option<&Scalar>, side: Side) -> (Clause, bool) {
    let known = |values: &[Scalar]| (among(field, values.iter().filter(|value| lies(value, from, until))), true);
    match (Ends::of(from, until), field) {
        (Ends::Bools, _) => known(&[Scalar::Bool(false), Scalar::Bool(true)]),
        (Ends::Ints(from, until), _) => ints(field, from, until, side),
        (Ends::Floats(from, until), Field::Metadata(key)) => {
            let range = Range { gte: from, lt: until, ..Range::default() };
            (keyed(FLOATS, key, range), true)
        }
        (Ends::Texts, Field::Unit) => known(&UNITS.map(|unit| Scalar::from(unit.name()))),
        (Ends::Texts, Field::Role) => known(&ROLES.map(|role| Scalar::from(role.name()))),
        (Ends::Texts, _) if may_hold_text(field) => match side {
            Side::More => (exists(field), false),
            Side::Less => (Clause::Never, false),
        },
        _ => (Clause::Never, true),
    }
}

/// Returns whether a value lies in the range, as the definition of filters says.
fn lies(value: &Scalar, from: Option<&Scalar>, until: Option<&Scalar>) -> bool {
    from.is_none_or(|from| value.compare(from).is_some_and(Ordering::is_ge))
        && until.is_none_or(|until| value.compare(until).is_some_and(Ordering::is_lt))
}

fn may_hold_text(field: &Field) -> bool {
    tokens::numbers().iter().all(|(_, number)| number != field)
}

fn ints(field: &Field, from: Option<i64>, until: Option<i64>, side: Side) -> (Clause, bool) {
    let is_exact = from.into_iter().chain(until).all(|end| end.unsigned_abs() < LARGEST);
    let range = match side {
        _ if is_exact => Range { gte: from.map(below), lt: until.map(below), ..Range::default() },
        Side::More => Range { gte: from.map(below), lte: until.map(above), ..Range::default() },
        Side::Less => Range { gt: from.map(above), lt: until.map(below), ..Range::default() },
    };
    if let Field::Metadata(key) = field {
        return (keyed(INTS, key, range), is_exact);
    }
    let place = tokens::numbers().into_iter().find(|(_, number)| number == field);
    let clause = place.map_or(Clause::Never, |(name, _)| Clause::when(Condition::range(name, range)));
    (clause, is_exact)
}

/// Returns the clause that one of the numbers under a key of the metadata lies in the range.
fn keyed(list: &str, key: &str, range: Range) -> Clause {
    let filter = Conditions::must([Condition::matches(KEY, key.to_owned()), Condition::range(NUMBER, range)]);
    let nested = NestedCondition { key: list.to_owned(), filter: Some(filter) };
    Clause::when(Condition { condition_one_of: Some(ConditionOneOf::Nested(nested)) })
}

/// Returns the greatest double that is not greater than the number.
fn below(number: i64) -> f64 {
    let near = number as f64;
    if near as i128 > i128::from(number) { near.next_down() } else { near }
}

/// Returns the least double that is not less than the number.
fn above(number: i64) -> f64 {
    let near = number as f64;
    if (near as i128) < i128::from(number) { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doubles_around_a_number_enclose_it_and_are_it_where_they_can_be() {
        let edge = 1_i64 << 53;
        for number in [0, 1, -1, edge - 1, edge, edge + 1, edge + 2, -edge - 1, i64::MAX, i64::MIN, i64::MAX - 1_024] {
            let (low, high) = (below(number), above(number));
            assert!(low as i128 <= i128::from(number) && i128::from(number) <= high as i128, "{number}");
            let is_double = (number as f64) as i128 == i128::from(number);
            assert_eq!(low == high, is_double, "{number}");
        }
    }

    #[test]
    fn ranges_below_two_to_the_53_are_exact() {
        let edge = 1_i64 << 53;
        for (end, expected) in [(0, true), (edge - 1, true), (1 - edge, true), (edge, false), (i64::MIN, false)] {
            let (_, is_exact) = clause(&Field::At, Some(&Scalar::Int(end)), None, Side::More);
            assert_eq!(is_exact, expected, "{end}");
        }
    }
}

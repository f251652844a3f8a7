//! Random filters over random fields.

use memory_core::{Field, Filter, Scalar};

use super::Random;
use super::fields::{METADATA_KEYS, values};

/// Returns a random filter: every node, every field, values of the field and of other types, nested up to `depth`.
pub fn filter(random: &mut Random, depth: usize) -> Filter {
    let nested = if depth == 0 { 0 } else { 4 };
    match random.below(8 + nested) {
        0 => Filter::All,
        1 | 2 => with_value(random, Filter::Eq),
        3 => with_value(random, Filter::Ne),
        4 => {
            let field = field(random);
            let list = (0..random.below(4)).map(|_| value(random, &field)).collect();
            Filter::In(field, list)
        }
        5 | 6 => range(random),
        7 => Filter::Exists(field(random)),
        8 => Filter::And(list(random, depth)),
        9 | 10 => Filter::Or(list(random, depth)),
        _ => Filter::Not(Box::new(filter(random, depth - 1))),
    }
}

fn with_value(random: &mut Random, node: fn(Field, Scalar) -> Filter) -> Filter {
    let field = field(random);
    let value = value(random, &field);
    node(field, value)
}

fn range(random: &mut Random) -> Filter {
    let field = field(random);
    let from = random.chance(3, 5).then(|| value(random, &field));
    let until = random.chance(3, 5).then(|| value(random, &field));
    Filter::Range { field, from, until }
}

fn list(random: &mut Random, depth: usize) -> Vec<Filter> {
    (0..random.below(4)).map(|_| filter(random, depth - 1)).collect()
}

fn field(random: &mut Random) -> Field {
    match random.below(24) {
        0 => Field::Unit,
        1 => Field::Session,
        2 => Field::Seq,
        3 => Field::Role,
        4 => Field::Speaker,
        5 => Field::Kind,
        6 | 7 => Field::Tag,
        8 => Field::Trust,
        9 => Field::At,
        10 => Field::ExpiresAt,
        11 => Field::ValidFrom,
        12 => Field::ValidTo,
        13 => Field::SupersededAt,
        14 => Field::Source,
        15 => Field::Metadata("missing".to_owned()),
        16 => Field::Agent,
        17 | 18 => Field::Run,
        _ => Field::Metadata(random.pick(METADATA_KEYS).to_owned()),
    }
}

/// Returns a value that the field may hold, and now and then one that belongs to another field.
fn value(random: &mut Random, of: &Field) -> Scalar {
    let other = random.chance(1, 6).then(|| field(random));
    let list = values(other.as_ref().unwrap_or(of));
    let place = random.below(list.len());
    list.into_iter().nth(place).unwrap_or(Scalar::Bool(true))
}

#[cfg(test)]
mod tests {
    use memory_core::{Limits, Unit};

    use super::super::fields;
    use super::*;

    #[test]
    fn random_filters_keep_the_limits_and_part_random_fields() {
        let mut random = Random::new(11);
        let mut parting = 0;
        for _ in 0..300 {
            let filter = filter(&mut random, 3);
            filter.check(&Limits::default()).unwrap();
            let matching = (0..60).filter(|_| filter.matches(&fields(&mut random, Unit::Record))).count();
            parting += usize::from((1..60).contains(&matching));
        }
        assert!(parting > 100, "only {parting} of 300 filters tell items apart");
    }
}

//! Filters in their text form, and what they say of an item: the form is read back, the normal form agrees with the definition, and
//! so does the SQL of SQLite. The first line is the filter, and the rest the fields of an item as an index keeps them.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Error, Fields, Filter, Limits};
use memory_fuzz::{Shelf, run};

static SHELF: LazyLock<Shelf> = LazyLock::new(|| run(Shelf::fill()));

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (Some(Ok(text)), fields) = (parts.next().map(str::from_utf8), parts.next()) else { return };
    let filter = match Filter::parse(text, &Limits::default()) {
        Ok(filter) => filter,
        Err(Error::Invalid { .. }) => return,
        Err(error) => panic!("{error:?}"),
    };
    let written = filter.to_string();
    match Filter::parse(&written, &Limits::default()) {
        Ok(again) => assert_eq!(again, filter, "{written}"),
        Err(error) => panic!("{written}: {error:?}"),
    }
    let given = fields.and_then(|bytes| Fields::decode("fuzz", bytes).ok());
    for fields in given.iter().chain(SHELF.fields()) {
        agree(&filter, fields);
    }
    run(SHELF.agrees(&filter));
});

/// Compares a filter, and its opposite, with their normal forms.
fn agree(filter: &Filter, fields: &Fields) {
    let bounds = Bounds { leaves: 4_096, values: 4_096, levels: 64, depth: 64 };
    let negated = filter.clone().negate();
    for filter in [filter, &negated] {
        let normal = filter.normal(&bounds).expect("the limits are below these bounds");
        assert_eq!(passes(&normal, fields), filter.matches(fields), "{filter}: {fields:?}");
    }
    assert_ne!(filter.matches(fields), negated.matches(fields), "{filter}: {fields:?}");
}

/// Returns what a normal form says of an item, by what is written of normal forms.
fn passes(normal: &Normal<'_>, fields: &Fields) -> bool {
    match normal {
        Normal::Fixed(outcome) => *outcome,
        Normal::Leaf { field, test, is_negated } => {
            let passes = |test: &Test<'_>| fields.values(field).iter().any(|value| test.passes(value));
            passes(test) != *is_negated
        }
        Normal::All(list) => list.iter().all(|normal| passes(normal, fields)),
        Normal::Any(list) => list.iter().any(|normal| passes(normal, fields)),
    }
}

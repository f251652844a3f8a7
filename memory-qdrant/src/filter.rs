//! Compiles core's filters to Qdrant's conditions.
//!
//! Equality, lists and existence are matches of tokens ([`tokens`]), so that no type is ever taken for another. Ranges
//! of numbers are ranges of numbers. Qdrant has no ranges of texts, and compares whole numbers beyond 2^53 as doubles:
//! there the compiled filter lets through more than core's does, says so, and the hits are checked again.

mod clause;
mod range;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Field, Filter, Result};

pub(crate) use clause::Clause;
use clause::{Side, all, among, any, exists};

/// What one message can hold: protobuf stops at 100 levels, two for each of these.
const MOST: Bounds = Bounds { leaves: 4_096, values: 4_096, levels: 40, depth: 40 };

/// A filter in the server's words.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// What the server is asked for.
    pub(crate) clause: Clause,
    /// Whether it is the filter itself; else it lets more through.
    pub(crate) is_exact: bool,
}

/// Returns the condition that an item matches `filter`.
///
/// # Errors
/// `Invalid` for a filter too large for one message.
pub(crate) fn compile(filter: &Filter) -> Result<Compiled> {
    let mut is_exact = true;
    let clause = clause_of(&filter.normal(&MOST)?, &mut is_exact);
    Ok(Compiled { clause, is_exact })
}

fn clause_of(node: &Normal<'_>, is_exact: &mut bool) -> Clause {
    match node {
        Normal::Fixed(true) => Clause::Always,
        Normal::Fixed(false) => Clause::Never,
        Normal::Leaf { field, test, is_negated } => {
            let (clause, is_sharp) = leaf(field, test, if *is_negated { Side::Less } else { Side::More });
            *is_exact &= is_sharp;
            if *is_negated { clause.negate() } else { clause }
        }
        Normal::All(list) => all(list.iter().map(|node| clause_of(node, is_exact)).collect()),
        Normal::Any(list) => any(list.iter().map(|node| clause_of(node, is_exact)).collect()),
    }
}

/// Returns the clause that one of a field's values passes, and whether it is exact.
fn leaf(field: &Field, test: &Test<'_>, side: Side) -> (Clause, bool) {
    match test {
        Test::Among(values) => (among(field, *values), true),
        Test::Exists => (exists(field), true),
        Test::Between(from, until) => range::clause(field, *from, *until, side),
    }
}

//! Compiles core's filters to Qdrant's conditions.
//!
//! Equality, lists and existence are matches of tokens ([`tokens`]), so that no type is ever taken for another. Ranges
//! of numbers are ranges of numbers. Qdrant has no ranges of texts, and compares whole numbers beyond 2^53 as doubles:
//! there the compiled filter lets through more than core's does, says so, and the hits are checked again.

mod range;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

use ::qdrant_client::qdrant::{Condition, Filter as Conditions};
use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Field, Filter, Result, Scalar};

use crate::point::TOKENS;

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

/// A condition, folded as far as it can be without a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    /// True for every item.
    Always,
    /// True for no item.
    Never,
    /// True for an item that has one of these tokens.
    Tokens(Vec<String>),
    /// True where the condition is.
    When(Box<Condition>),
}

/// On which side a condition may err where it cannot be exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// It may let through more.
    More,
    /// It may let through less: it is negated.
    Less,
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

impl Clause {
    /// Returns the condition; none where there is nothing to ask.
    pub(crate) fn condition(self) -> Option<Condition> {
        match self {
            Self::Always => None,
            // No point has one of no ids.
            Self::Never => Some(Condition::has_id(Vec::<u64>::new())),
            Self::Tokens(tokens) => Some(Condition::matches(TOKENS, tokens)),
            Self::When(condition) => Some(*condition),
        }
    }

    fn negate(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            asked => Self::of(Conditions::must_not(asked.condition())),
        }
    }

    fn of(filter: Conditions) -> Self {
        Self::when(filter.into())
    }

    fn when(condition: Condition) -> Self {
        Self::When(Box::new(condition))
    }
}

/// Returns the clause that all of them hold.
fn all(clauses: Vec<Clause>) -> Clause {
    if clauses.contains(&Clause::Never) {
        return Clause::Never;
    }
    let mut left: Vec<Clause> = clauses.into_iter().filter(|clause| *clause != Clause::Always).collect();
    match left.pop() {
        None => Clause::Always,
        Some(only) if left.is_empty() => only,
        Some(last) => Clause::of(Conditions::must(left.into_iter().chain([last]).filter_map(Clause::condition))),
    }
}

/// Returns the clause that one of them holds; matches of tokens become one.
fn any(clauses: Vec<Clause>) -> Clause {
    let (mut tokens, mut conditions) = (Vec::new(), Vec::new());
    for clause in clauses {
        match clause {
            Clause::Always => return Clause::Always,
            Clause::Never => {}
            Clause::Tokens(more) => tokens.extend(more),
            Clause::When(condition) => conditions.push(*condition),
        }
    }
    let tokens = if tokens.is_empty() { None } else { Some(Clause::Tokens(tokens)) };
    match (tokens, conditions.len()) {
        (None, 0) => Clause::Never,
        (Some(tokens), 0) => tokens,
        (None, 1) => conditions.pop().map_or(Clause::Never, Clause::when),
        (tokens, _) => {
            conditions.extend(tokens.and_then(Clause::condition));
            Clause::of(Conditions::should(conditions))
        }
    }
}

/// Returns the clause that a field holds one of these values.
fn among<'v>(field: &Field, values: impl IntoIterator<Item = &'v Scalar>) -> Clause {
    let tokens: Vec<String> = values.into_iter().filter_map(|value| tokens::value(field, value)).collect();
    if tokens.is_empty() { Clause::Never } else { Clause::Tokens(tokens) }
}

/// Returns the clause that a field holds a value.
fn exists(field: &Field) -> Clause {
    Clause::Tokens(vec![tokens::exists(field)])
}

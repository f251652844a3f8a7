//! Conditions, folded as far as they can be without a server.

use ::qdrant_client::qdrant::{Condition, Filter as Conditions};
use memory_core::{Field, Scalar};

use super::tokens;
use crate::point::TOKENS;

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
pub(super) enum Side {
    /// It may let through more.
    More,
    /// It may let through less: it is negated.
    Less,
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

    pub(super) fn negate(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            asked => Self::of(Conditions::must_not(asked.condition())),
        }
    }

    fn of(filter: Conditions) -> Self {
        Self::when(filter.into())
    }

    pub(super) fn when(condition: Condition) -> Self {
        Self::When(Box::new(condition))
    }
}

/// Returns the clause that all of them hold.
pub(super) fn all(clauses: Vec<Clause>) -> Clause {
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
pub(super) fn any(clauses: Vec<Clause>) -> Clause {
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
pub(super) fn among<'v>(field: &Field, values: impl IntoIterator<Item = &'v Scalar>) -> Clause {
    let tokens: Vec<String> = values.into_iter().filter_map(|value| tokens::value(field, value)).collect();
    if tokens.is_empty() { Clause::Never } else { Clause::Tokens(tokens) }
}

/// Returns the clause that a field holds a value.
pub(super) fn exists(field: &Field) -> Clause {
    Clause::Tokens(vec![tokens::exists(field)])
}

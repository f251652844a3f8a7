//! Compiles core's filters to Qdrant's conditions.
//!
//! Equality, lists and existence are matches of tokens ([`tokens`]), so that no type is ever taken for another. Ranges
//! of numbers are ranges of numbers. Qdrant has no ranges of texts, and compares whole numbers beyond 2^53 as doubles:
//! there the compiled filter lets through more than core's does, says so, and the hits are checked again.

mod range;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

use ::qdrant_client::qdrant::condition::ConditionOneOf;
use ::qdrant_client::qdrant::{Condition, Filter as Conditions};
use memory_core::{Error, Field, Filter, Result, Scalar};

use crate::error::unsupported;
use crate::point::TOKENS;

/// The most clauses and the deepest nesting that one message can hold: protobuf stops at 100 levels, two for each.
const MAX_CLAUSES: usize = 4_096;
const MAX_DEPTH: usize = 40;

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
    /// It may let through less: it stands below an odd number of negations.
    Less,
}

/// Returns the condition that an item matches `filter`.
///
/// # Errors
/// `Unsupported` for a node that this build does not know, `Invalid` for a filter too large for one message.
pub(crate) fn compile(filter: &Filter) -> Result<Compiled> {
    let mut compiler = Compiler { is_exact: true, clauses: 0 };
    let clause = compiler.clause(filter, Side::More, 0)?;
    Ok(Compiled { clause, is_exact: compiler.is_exact })
}

struct Compiler {
    is_exact: bool,
    clauses: usize,
}

impl Compiler {
    fn clause(&mut self, filter: &Filter, side: Side, depth: usize) -> Result<Clause> {
        self.count(1)?;
        if depth > MAX_DEPTH {
            return Err(too_large());
        }
        Ok(match filter {
            Filter::All => Clause::Always,
            Filter::Eq(field, value) => self.among(field, std::slice::from_ref(value))?,
            Filter::Ne(field, value) => self.among(field, std::slice::from_ref(value))?.negate(),
            Filter::In(field, values) => self.among(field, values)?,
            Filter::Exists(field) | Filter::Range { field, from: None, until: None } => exists(field),
            Filter::Range { field, from, until } => {
                let (clause, is_exact) = range::clause(field, from.as_ref(), until.as_ref(), side);
                self.is_exact &= is_exact;
                clause
            }
            Filter::And(list) => {
                let list = list.iter().map(|filter| self.clause(filter, side, depth + 1));
                all(list.collect::<Result<_>>()?)
            }
            Filter::Or(list) => {
                let list = list.iter().map(|filter| self.clause(filter, side, depth + 1));
                any(list.collect::<Result<_>>()?)
            }
            Filter::Not(filter) => self.clause(filter, side.other(), depth + 1)?.negate(),
            _ => return Err(unsupported("compile this filter")),
        })
    }

    fn among(&mut self, field: &Field, values: &[Scalar]) -> Result<Clause> {
        self.count(values.len())?;
        Ok(among(field, values))
    }

    fn count(&mut self, clauses: usize) -> Result<()> {
        self.clauses += clauses;
        if self.clauses > MAX_CLAUSES { Err(too_large()) } else { Ok(()) }
    }
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::More => Self::Less,
            Self::Less => Self::More,
        }
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
            Self::Tokens(_) => Self::of(Conditions::must_not(self.condition())),
            Self::When(condition) => Self::negated(*condition),
        }
    }

    /// Two negations are none, so that deep filters stay within the levels of a message.
    fn negated(condition: Condition) -> Self {
        if let Some(ConditionOneOf::Filter(inner)) = &condition.condition_one_of
            && inner.must.is_empty()
            && inner.should.is_empty()
            && inner.min_should.is_none()
            && let [only] = inner.must_not.as_slice()
        {
            return Self::when(only.clone());
        }
        Self::of(Conditions::must_not([condition]))
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

fn too_large() -> Error {
    Error::invalid("the filter is too large for one message")
}

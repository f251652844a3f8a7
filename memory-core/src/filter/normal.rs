//! The normal form of filters, which adapters translate.

use std::cmp::Ordering;
use std::slice;

use super::{Field, Filter, Scalar};
use crate::error::{Error, Result};

/// A filter in normal form. Only leaves are negated, and no part is constant unless the whole is.
#[derive(Clone, Debug, PartialEq)]
pub enum Normal<'f> {
    /// Everything, or nothing.
    Fixed(bool),
    /// A test of one field.
    Leaf {
        /// The field.
        field: &'f Field,
        /// The test, which one of its values must pass.
        test: Test<'f>,
        /// Whether, instead, none of its values may pass.
        is_negated: bool,
    },
    /// All of them, two or more.
    All(Vec<Normal<'f>>),
    /// One of them, two or more.
    Any(Vec<Normal<'f>>),
}

/// The test of a leaf. A field matches if one of its values passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test<'f> {
    /// The value is one of these; there is at least one.
    Among(&'f [Scalar]),
    /// The value is at least the first end, and below the second. At least one end is there, and two ends are of one type.
    Between(Option<&'f Scalar>, Option<&'f Scalar>),
    /// There is a value.
    Exists,
}

/// The bounds of the filters that a server accepts.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most leaves.
    pub leaves: usize,
    /// The most values in all lists together.
    pub values: usize,
    /// The deepest nesting of lists of two or more.
    pub levels: usize,
    /// The deepest nesting of the filter as given, counting negations.
    pub depth: usize,
}

impl Filter {
    /// Returns the normal form of the filter.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a filter beyond the bounds.
    pub fn normal(&self, most: &Bounds) -> Result<Normal<'_>> {
        let mut normaliser = Normaliser { most, leaves: 0, values: 0 };
        normaliser.node(self, false, Position { depth: 0, levels: 0 })
    }

    /// Returns the field and the values, if this only tests whether the field holds one of the values.
    pub fn among(&self) -> Option<(&Field, &[Scalar])> {
        match self {
            Self::Eq(field, value) => Some((field, slice::from_ref(value))),
            Self::In(field, values) => Some((field, values)),
            _ => None,
        }
    }
}

impl Test<'_> {
    /// Returns whether a value passes.
    pub fn passes(&self, found: &Scalar) -> bool {
        match self {
            Self::Exists => true,
            Self::Among(values) => values.contains(found),
            Self::Between(from, until) => {
                from.is_none_or(|from| found.compare(from).is_some_and(Ordering::is_ge))
                    && until.is_none_or(|until| found.compare(until).is_some_and(Ordering::is_lt))
            }
        }
    }

    /// Returns whether no value can pass.
    fn is_empty(&self) -> bool {
        match self {
            Self::Among(values) => values.is_empty(),
            Self::Between(Some(from), Some(until)) => from.compare(until).is_none(),
            Self::Between(..) | Self::Exists => false,
        }
    }
}

struct Normaliser<'b> {
    most: &'b Bounds,
    leaves: usize,
    values: usize,
}

/// The depth of a node in a filter.
#[derive(Clone, Copy)]
struct Position {
    depth: usize,
    levels: usize,
}

impl Normaliser<'_> {
    fn node<'f>(&mut self, filter: &'f Filter, is_negated: bool, place: Position) -> Result<Normal<'f>> {
        let Position { depth, levels } = place;
        if depth > self.most.depth || levels > self.most.levels {
            return Err(too_large());
        }
        match filter {
            Filter::All => Ok(Normal::Fixed(!is_negated)),
            Filter::Eq(field, value) => self.leaf(field, Test::Among(slice::from_ref(value)), is_negated),
            Filter::Ne(field, value) => self.leaf(field, Test::Among(slice::from_ref(value)), !is_negated),
            Filter::In(field, values) => self.leaf(field, Test::Among(values), is_negated),
            Filter::Exists(field) | Filter::Range { field, from: None, until: None } => {
                self.leaf(field, Test::Exists, is_negated)
            }
            Filter::Range { field, from, until } => {
                self.leaf(field, Test::Between(from.as_ref(), until.as_ref()), is_negated)
            }
            Filter::And(list) => self.list(list, true, is_negated, place),
            Filter::Or(list) => self.list(list, false, is_negated, place),
            Filter::Not(filter) => self.node(filter, !is_negated, Position { depth: depth + 1, levels }),
        }
    }

    /// Normalises a list. By De Morgan's laws, a negated `and` becomes an `or` of negations, and the other way round.
    fn list<'f>(&mut self, list: &'f [Filter], is_and: bool, is_negated: bool, place: Position) -> Result<Normal<'f>> {
        let inside = Position { depth: place.depth + 1, levels: place.levels + usize::from(list.len() > 1) };
        let (is_all, mut is_decided, mut nodes) = (is_and != is_negated, false, Vec::with_capacity(list.len()));
        for filter in list {
            match self.node(filter, is_negated, inside)? {
                Normal::Fixed(outcome) => is_decided |= outcome != is_all,
                node => nodes.push(node),
            }
        }
        if is_decided {
            return Ok(Normal::Fixed(!is_all));
        }
        Ok(match nodes.len() {
            0 => Normal::Fixed(is_all),
            1 => nodes.remove(0),
            _ if is_all => Normal::All(nodes),
            _ => Normal::Any(nodes),
        })
    }

    fn leaf<'f>(&mut self, field: &'f Field, test: Test<'f>, is_negated: bool) -> Result<Normal<'f>> {
        self.leaves += 1;
        if let Test::Among(values) = test {
            self.values += values.len();
        }
        if self.leaves > self.most.leaves || self.values > self.most.values {
            return Err(too_large());
        }
        Ok(if test.is_empty() { Normal::Fixed(is_negated) } else { Normal::Leaf { field, test, is_negated } })
    }
}

fn too_large() -> Error {
    Error::invalid("the filter is too large for this store")
}

#[cfg(test)]
mod tests;

//! Checking that a filter keeps the limits.

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::{Filter, Scalar};

impl Filter {
    /// Returns `Ok` if the filter keeps the limits of clauses and depth, and holds no NaN.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        let mut clauses = 0;
        self.count(limits, 1, &mut clauses)
    }

    fn count(&self, limits: &Limits, depth: usize, clauses: &mut usize) -> Result<()> {
        let values = match self {
            Self::Eq(_, value) | Self::Ne(_, value) => std::slice::from_ref(value),
            Self::In(_, values) => values,
            _ => &[],
        };
        *clauses += 1 + values.len();
        if *clauses > limits.filter_clauses || depth > limits.filter_depth {
            return Err(Error::invalid("the filter is too large"));
        }
        let ends = match self {
            Self::Range { from, until, .. } => [from.as_ref(), until.as_ref()],
            _ => [None, None],
        };
        let mut numbers = values.iter().chain(ends.into_iter().flatten());
        if numbers.any(|value| matches!(value, Scalar::Float(number) if number.is_nan())) {
            return Err(Error::invalid("a filter compares with a number that is none"));
        }
        match self {
            Self::And(list) | Self::Or(list) => list.iter().try_for_each(|f| f.count(limits, depth + 1, clauses)),
            Self::Not(filter) => filter.count(limits, depth + 1, clauses),
            _ => Ok(()),
        }
    }
}

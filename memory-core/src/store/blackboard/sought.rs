//! How near an entry is to what a board is searched for: one rule for every backend.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::store::text::Term;
use crate::vector::{Similarity, normalise};

use super::BoardQuery;

/// What a board is searched for, ready to be compared with its entries.
#[derive(Debug)]
pub struct Sought<'q> {
    terms: HashSet<&'q Term>,
    /// The query's vector at unit length.
    direction: Option<Vec<f32>>,
    /// Whether entries at a right angle or more are no hits.
    is_bounded: bool,
}

impl BoardQuery {
    /// Returns what is sought, for the search of a store.
    ///
    /// ```
    /// use std::collections::HashSet;
    ///
    /// use memory_core::store::blackboard::BoardQuery;
    /// use memory_core::store::text::Term;
    ///
    /// # fn example() -> memory_core::Result<()> {
    /// let query = BoardQuery::Either(vec![Term::new("tea")?, Term::new("pot")?], vec![2.0, 0.0]);
    /// let (sought, terms) = (query.sought()?, HashSet::from([Term::new("tea")?]));
    /// assert_eq!(sought.similarity(&terms, None).map(|near| near.value()), Some(0.5));
    /// assert_eq!(sought.similarity(&terms, Some(&[0.8, 0.6])).map(|near| near.value()), Some(0.8));
    /// assert!(sought.similarity(&HashSet::new(), Some(&[-1.0, 0.0])).is_none());
    /// # Ok(())
    /// # }
    /// # example().unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a vector without a direction.
    pub fn sought(&self) -> Result<Sought<'_>> {
        let (terms, vector): (&[Term], _) = match self {
            Self::Terms(terms) => (terms, None),
            Self::Vector(vector) => (&[], Some(vector)),
            Self::Either(terms, vector) => (terms, Some(vector)),
        };
        let direction = vector.map(|vector| direction_of(vector)).transpose()?;
        Ok(Sought { terms: terms.iter().collect(), direction, is_bounded: matches!(self, Self::Either(..)) })
    }
}

impl Sought<'_> {
    /// Returns how near an entry with these terms and this vector, at unit length, is; none if it is no hit.
    pub fn similarity(&self, terms: &HashSet<Term>, direction: Option<&[f32]>) -> Option<Similarity> {
        let shared = self.terms.iter().filter(|term| terms.contains(**term)).count();
        let by_words = (shared > 0).then(|| shared as f32 / self.terms.len() as f32);
        let by_meaning = self.cosine(direction).filter(|cosine| !self.is_bounded || *cosine > 0.0);
        let best = match (by_words, by_meaning) {
            (Some(words), Some(meaning)) => words.max(meaning),
            (words, meaning) => words.or(meaning)?,
        };
        Some(Similarity::new(best))
    }

    fn cosine(&self, direction: Option<&[f32]>) -> Option<f32> {
        let (sought, direction) = (self.direction.as_deref()?, direction?);
        if sought.len() != direction.len() {
            return None;
        }
        let cosine: f32 = direction.iter().zip(sought).map(|(a, b)| a * b).sum();
        // Adding zero makes -0.0 the same as 0.0, which tie.
        Some(cosine + 0.0)
    }
}

/// Returns the unit vector of an entry's or a query's vector.
///
/// # Errors
/// `Invalid` if it has no direction.
pub fn direction_of(vector: &[f32]) -> Result<Vec<f32>> {
    normalise(vector).ok_or_else(|| Error::invalid("a vector without length has no direction"))
}

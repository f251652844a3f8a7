//! What changes the scores of the lexical leg before fusion.

use crate::message::Role;

/// How much what each role says counts in the lexical leg.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RoleWeights {
    /// Of persons. Default 1.3: what they say of themselves is what is asked for later.
    pub user: f32,
    /// Of the model. Default 1.
    pub assistant: f32,
    /// Of everything else, records included. Default 1.
    pub other: f32,
}

impl Default for RoleWeights {
    fn default() -> Self {
        Self { user: 1.3, assistant: 1.0, other: 1.0 }
    }
}

impl RoleWeights {
    /// Returns the weights under which roles count the same.
    pub fn equal() -> Self {
        Self { user: 1.0, assistant: 1.0, other: 1.0 }
    }

    /// Returns the factor for the score of an item whose role is `role`.
    pub fn of(&self, role: Option<Role>) -> f32 {
        match role {
            Some(Role::User) => self.user,
            Some(Role::Assistant) => self.assistant,
            _ => self.other,
        }
    }
}

/// Returns `scores` stretched to 0 to 1, each with `weight` times its value in `more`, stretched to 0 to 1 as well.
///
/// For lending messages the weight of the stretch of conversation that they stand in. Where all values of a list are
/// equal they count as 0; a value that `more` lacks counts as 0 too.
pub fn add_min_max(scores: &[f32], more: &[f32], weight: f32) -> Vec<f32> {
    let more = stretch(more).into_iter().chain(std::iter::repeat(0.0));
    stretch(scores).into_iter().zip(more).map(|(score, more)| score + weight * more).collect()
}

fn stretch(values: &[f32]) -> Vec<f32> {
    let lowest = values.iter().copied().fold(f32::INFINITY, f32::min);
    let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let width = highest - lowest;
    let is_wide = width.is_finite() && width > 0.0;
    values.iter().map(|value| if is_wide && value.is_finite() { (value - lowest) / width } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_weigh_more_than_the_model_and_nobody_is_dropped() {
        let weights = RoleWeights::default();
        assert_eq!(weights.of(Some(Role::User)), 1.3);
        for role in [None, Some(Role::Assistant), Some(Role::Tool), Some(Role::System)] {
            assert_eq!(weights.of(role), 1.0);
            assert_eq!(RoleWeights::equal().of(role), RoleWeights::equal().of(Some(Role::User)));
        }
    }

    #[test]
    fn sessions_lend_their_weight() {
        assert_eq!(add_min_max(&[2.0, 4.0, 3.0], &[1.0, 1.0, 3.0], 0.2), [0.0, 1.0, 0.5 + 0.2]);
        assert_eq!(add_min_max(&[2.0, 2.0], &[], 0.2), [0.0, 0.0]);
        assert_eq!(add_min_max(&[], &[1.0], 0.2), [0.0f32; 0]);
    }
}

//! Assembles a context within the budget that the command line gives.

use memory::Session;
use memory::window::{Budget, ModelProfile, token_limit};
use memory::{Context, ContextRequest};

use crate::cli::Bounds;
use crate::failure::Failure;
use crate::output::say;

/// Returns the context of `query` within the bounds of the command line.
pub(crate) async fn assemble(session: &Session, query: &str, bounds: &Bounds) -> Result<Context, Failure> {
    let budget = Budget::new(limit(bounds)).reserve(bounds.reserve);
    Ok(session.assemble(&ContextRequest::new(query, budget).recall(bounds.recall).asides(bounds.asides)).await?)
}

/// Returns the budget that the command line asks for. Tells if it is that of an unknown model.
pub(crate) fn limit(bounds: &Bounds) -> u64 {
    if let (None, Some(name)) = (bounds.budget, &bounds.model)
        && ModelProfile::of(name).is_none()
    {
        say(&format!("note: nothing is known of the model {name}, so the budget is that of an unknown one"));
    }
    quiet_limit(bounds)
}

/// Returns the budget that the command line asks for, and tells nothing.
pub(crate) fn quiet_limit(bounds: &Bounds) -> u64 {
    let profile = bounds.model.as_deref().and_then(ModelProfile::of);
    bounds.budget.unwrap_or_else(|| token_limit(profile.as_ref(), 0))
}

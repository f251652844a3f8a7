//! Assembles a context within the budget that the command line gives.

use memory::window::{Budget, ModelProfile};
use memory::{Context, Defaults, Session};

use crate::cli::Bounds;
use crate::failure::Failure;
use crate::output::say;

/// Returns the context of `query` within the bounds of the command line.
pub(crate) async fn assemble(session: &Session, query: &str, bounds: &Bounds) -> Result<Context, Failure> {
    let usual = session.scoped().memory().defaults();
    let budget = Budget::new(limit(bounds, usual)).reserve(bounds.reserve.unwrap_or(usual.reserve));
    let mut request = usual.request(query, budget).recall(bounds.recall.unwrap_or(usual.recall)).asides(bounds.asides);
    request.budget = budget;
    session.assemble(&request).await.map_err(|error| {
        let told = error.of_context(budget.limit, budget.reserve, !query.is_empty());
        told.map_or(Failure::Memory(error), Failure::TooLong)
    })
}

/// Returns the budget that the command line asks for, or the usual one. Tells if it is that of an unknown model.
pub(crate) fn limit(bounds: &Bounds, usual: &Defaults) -> u64 {
    if let (None, Some(name)) = (bounds.budget, &bounds.model)
        && ModelProfile::of(name).is_none()
    {
        say(&format!("note: nothing is known of the model {name}, so the budget is that of an unknown one"));
    }
    quiet_limit(bounds, usual)
}

/// Returns the budget that the command line asks for, or the usual one, and tells nothing.
pub(crate) fn quiet_limit(bounds: &Bounds, usual: &Defaults) -> u64 {
    let profile = bounds.model.as_deref().and_then(ModelProfile::of);
    bounds.budget.unwrap_or_else(|| usual.budget(profile.as_ref()).limit)
}

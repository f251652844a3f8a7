//! The owners that stores hold.

use memory_core::{Filter, Result, Scope, Stores};

const PAGE: usize = 500;

/// Returns every owner of conversations or records, in order.
///
/// # Errors
/// What a store fails with; `Unsupported` without conversations.
pub async fn owners(stores: &Stores) -> Result<Vec<Scope>> {
    let records = stores.records.as_ref().map(|records| records.upkeep());
    let mut owners = Vec::new();
    for upkeep in std::iter::once(stores.chat()?.upkeep()).chain(records) {
        let mut after: Option<Scope> = None;
        loop {
            let page = upkeep.owners(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            owners.extend(page);
        }
    }
    owners.sort();
    owners.dedup();
    Ok(owners)
}

/// Returns whether the stores hold records of an owner.
///
/// # Errors
/// What the store fails with.
pub async fn holds_records(stores: &Stores, owner: &Scope) -> Result<bool> {
    let Some(records) = &stores.records else { return Ok(false) };
    Ok(!records.store().scan(owner, &Filter::All, None, 1).await?.is_empty())
}

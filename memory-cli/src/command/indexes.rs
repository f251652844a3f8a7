//! `memory reindex` indexes everything again. `memory retire` removes an index that is no longer used.

use memory::Memory;
use memory::store::upkeep::IndexName;
use serde_json::json;

use super::call::Call;
use crate::cli::{Reindex, Retire};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::upkeep;

/// Has everything put into one index again, or into all that follow the database.
pub(crate) async fn reindex(call: &Call, args: &Reindex, output: &mut Output) -> Result<Outcome, Failure> {
    let memory = call.open_database(&call.database()?, None).await?;
    let indexes = match &args.index {
        Some(index) => vec![known(&memory, index).await?],
        None => memory.indexes().await?,
    };
    for index in &indexes {
        memory.reindex(index).await?;
    }
    let names: Vec<&str> = indexes.iter().map(IndexName::as_str).collect();
    if output.is_json() {
        output.json(&json!({ "reindexed": names }))?;
    } else {
        names.iter().try_for_each(|name| output.line(&format!("{name}: everything is put into it again")))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Drops an index.
pub(crate) async fn retire(call: &Call, args: &Retire, output: &mut Output) -> Result<Outcome, Failure> {
    let memory = call.open_database(&call.database()?, None).await?;
    let index = known(&memory, &args.index).await?;
    let is_emptied = memory.retire(&index).await?;
    if output.is_json() {
        output.json(&json!({ "retired": index.as_str(), "emptied": is_emptied }))?;
    } else if is_emptied {
        output.line(&format!("{} is empty and follows no more; whoever opens it fills it anew", index.as_str()))?;
    } else {
        output.line(&format!("{} follows no more", index.as_str()))?;
        output.line(
            "what it holds stays where it is: it is not open here (MEMORY_TEXT_URL, MEMORY_VECTORS_URL, --embedder)",
        )?;
    }
    output.flush()?;
    Ok(Outcome::Done)
}

/// Returns the index of this name, if it follows.
async fn known(memory: &Memory, name: &str) -> Result<IndexName, Failure> {
    let indexes = memory.indexes().await?;
    let found = indexes.iter().find(|index| index.as_str() == name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = indexes.iter().map(IndexName::as_str).collect();
        Failure::Usage(format!("no index {name} follows the database, but: {}", names.join(", ")))
    })
}

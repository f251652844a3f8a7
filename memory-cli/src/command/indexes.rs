//! `memory reindex` indexes everything again, or changes who embeds. `memory retire` removes an index that is no longer used.

use memory::Memory;
use memory::store::upkeep::IndexName;
use serde_json::json;

use super::call::Call;
use crate::cli::{Reindex, Retire};
use crate::embedding::Embedding;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{embedding, upkeep};

/// Has everything put into one index again, or into all that follow the database.
pub(crate) async fn reindex(call: &Call, args: &Reindex, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(embedding) = call.global.embedder.as_ref().filter(|_| call.named.embedder) {
        return change(call, args, embedding, output).await;
    }
    let memory = call.open_database(&call.database()?, None).await?;
    let indexes = match &args.index {
        Some(index) => vec![known(&memory, index).await?],
        None => memory.indexes().await?,
    };
    for index in &indexes {
        if args.clear {
            memory.rebuild(index).await?;
        } else {
            memory.reindex(index).await?;
        }
    }
    let is_whole = upkeep::after(&memory).await;
    let status = memory.status().await.indexes;
    let lacking = |name: &IndexName| status.iter().find(|index| index.name == *name).map(upkeep::lacking);
    let left: Vec<(&str, Option<u64>)> = indexes.iter().map(|index| (index.as_str(), lacking(index))).collect();
    let pending: u64 = left.iter().filter_map(|(_, lacking)| *lacking).sum();
    let not_open: Vec<&str> = left.iter().filter(|(_, lacking)| lacking.is_none()).map(|(name, _)| *name).collect();
    let outcome = if is_whole && pending == 0 && not_open.is_empty() { Outcome::Done } else { Outcome::Partial };
    if output.is_json() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        output.json(&json!({ "reindexed": names, "pending": pending, "not_open": not_open, "failed": !is_whole }))?;
    } else {
        left.iter().try_for_each(|(name, lacking)| {
            output.line(&format!("{name}: {}", state(*lacking, is_whole, args.clear)))
        })?;
    }
    output.flush()?;
    Ok(outcome)
}

/// Returns what became of an index that lacks so many notes, none if it is not open here, and was to be emptied first or not.
fn state(lacking: Option<u64>, is_whole: bool, clear: bool) -> String {
    match lacking {
        None if clear => "it is not open here, so nothing was emptied; say it again with what opens it".to_owned(),
        None => "it is not open here; the next command that opens it puts everything into it again".to_owned(),
        Some(0) if is_whole => "everything is put into it again".to_owned(),
        Some(0) => {
            "no note of it waits, but upkeep failed; the warnings say why, and the next command tries again".to_owned()
        }
        Some(lacking) => format!("{}; the next command goes on", waiting(lacking)),
    }
}

fn waiting(notes: u64) -> String {
    if notes == 1 { "1 note waits".to_owned() } else { format!("{notes} notes wait") }
}

/// Fills the index of who is to embed from now on, then drops those of others. Until it is full the old one answers.
async fn change(call: &Call, args: &Reindex, to: &Embedding, output: &mut Output) -> Result<Outcome, Failure> {
    if args.index.is_some() || args.clear {
        return Err(Failure::Usage(
            "--embedder changes who embeds, --index and --clear are for the indexes that are there: give one of them"
                .to_owned(),
        ));
    }
    // Whoever embeds at present is open beside, so that its index can be emptied.
    let wished = Some(to).filter(|to| **to != Embedding::None);
    // Who is to embed from now on has to answer, before anything is begun.
    let target = match wished {
        Some(_) => embedding::embedder(wished).await?.map(|embedder| IndexName::of_space(embedder.space())),
        None => None,
    };
    let memory = call.open_embedded(&call.database()?, None, wished).await?;
    upkeep::after(&memory).await;
    let status = memory.status().await;
    let filled = status.indexes.iter().find(|index| Some(&index.name) == target.as_ref());
    let lacking = filled.map_or(0, upkeep::lacking);
    let mut retired = Vec::new();
    if lacking == 0 {
        let follow = memory.indexes().await?.into_iter().filter(|index| Some(index) != target.as_ref());
        for index in follow.filter(IndexName::is_of_meaning) {
            memory.retire(&index).await?;
            retired.push(index);
        }
    }
    if output.is_json() {
        let retired: Vec<&str> = retired.iter().map(IndexName::as_str).collect();
        let index = target.as_ref().map(IndexName::as_str);
        output.json(&json!({ "index": index, "pending": lacking, "retired": retired }))?;
    } else {
        let changed = target.iter().map(|index| match lacking {
            0 => format!("{}: full, it answers from now on", embedding::shown(index)),
            _ => format!("{}: {}; say the same again to go on", embedding::shown(index), waiting(lacking)),
        });
        let dropped = retired.iter().map(|index| format!("{}: dropped", embedding::shown(index)));
        changed.chain(dropped).try_for_each(|line| output.line(&line))?;
        if target.is_none() {
            output
                .line("say --embedder none or set MEMORY_EMBEDDER=none from now on: who says nothing embeds again")?;
        }
    }
    output.flush()?;
    Ok(if lacking == 0 { Outcome::Done } else { Outcome::Partial })
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

//! `memory move`: copies owners from one database into another, with checksums.

mod copy;
mod extra;
mod report;
mod sum;

use std::sync::Arc;

use memory::engine::IndexStatus;
use memory::layer::{CacheLayer, CachePolicy};
use memory::{Memory, Scope, Stores};

use super::Call;
use crate::cli::Move;
use crate::config::Database;
use crate::failure::{Failure, Outcome};
use crate::import::Progress;
use crate::output::Output;
use crate::upkeep;

use copy::Copy;
use report::Total;

const OWNERS: usize = 500;

/// Copies what the command line asks for. Safe to run again, also after a kill: what is there already stays.
pub(crate) async fn run(call: &Call, args: &Move, output: &mut Output) -> Result<Outcome, Failure> {
    let (from, to) = (Database::at(&args.from.0)?, Database::at(&args.to.0)?);
    if from.is(&to) {
        return Err(Failure::Usage("--from and --to name the same database".to_owned()));
    }
    from.must_be_there()?;
    let one = if args.all_owners { None } else { Some(call.owner()?) };
    let source = from.connect().await?;
    let owners = match one {
        Some(owner) => vec![owner],
        None => owners(&source).await?,
    };
    let mut target = to.connect().await?;
    let has_records = target.records.is_some() && !args.conversations;
    if !has_records && !args.conversations {
        refuse_records(&source, &to, &owners).await?;
    }
    let memory = call.hold(Database::build(target.clone(), None).await?).await;
    if let Some(cache) = &target.cache {
        // What a cache holds of the target is taken back by every change.
        let layer = CacheLayer::new(Arc::clone(cache), CachePolicy::default());
        target.chat = target.chat.map(|chat| layer.chat(chat));
        target.records = target.records.map(|records| layer.records(records));
    }
    let progress = Progress::new(args.progress, None);
    let mut copy = Copy::new(&source, &target, has_records, &progress).mirroring(args.mirror);
    let mut total = Total::new(&from, &to, has_records);
    for owner in &owners {
        let moved = copy.owner(owner).await?;
        total.add(&moved);
        output_owner(output, &progress, owner, &moved)?;
    }
    total.indexes = follow(&memory, &progress).await;
    progress.finish();
    source.close().await?;
    total.tell(output)?;
    Ok(if total.is_whole() { Outcome::Done } else { Outcome::Partial })
}

fn output_owner(output: &mut Output, progress: &Progress, owner: &Scope, moved: &report::Moved) -> Result<(), Failure> {
    for problem in &moved.problems {
        progress.say(&format!("warning: {} of {}: {problem}", owner.subject(), owner.tenant()));
    }
    moved.tell(owner, output)
}

/// Returns every owner of the database, those of records among them.
async fn owners(source: &Stores) -> Result<Vec<Scope>, Failure> {
    let records = source.records.as_ref().map(|records| records.upkeep());
    let mut owners = Vec::new();
    for upkeep in std::iter::once(source.chat()?.upkeep()).chain(records) {
        let mut after: Option<Scope> = None;
        loop {
            let page = upkeep.owners(after.as_ref(), OWNERS).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            owners.extend(page);
        }
    }
    owners.sort();
    owners.dedup();
    Ok(owners)
}

/// Refuses, before anything is written, to leave records behind unless that was asked for.
async fn refuse_records(source: &Stores, to: &Database, owners: &[Scope]) -> Result<(), Failure> {
    let Some(records) = &source.records else { return Ok(()) };
    for owner in owners {
        let some = records.store().scan(owner, &memory::Filter::All, None, 1).await?;
        if !some.is_empty() {
            let to = to.shown();
            let what = format!("{to} holds conversations alone: --conversations leaves the records behind");
            return Err(Failure::Usage(what));
        }
    }
    Ok(())
}

/// Lets the target's indexes follow, and returns how each is behind.
async fn follow(memory: &Memory, progress: &Progress) -> Vec<IndexStatus> {
    progress.begin_indexing();
    upkeep::after(memory).await;
    memory.status().await.indexes
}

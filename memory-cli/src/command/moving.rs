//! `memory move`: copies owners from one database into another, with checksums.

mod report;

use memory::receipt::IndexStatus;
use memory::transfer::{self, Moved};
use memory::{Memory, Scope, Stores};

use super::call::Call;
use crate::cli::{DatabaseUrl, Move};
use crate::config::Database;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::upkeep;

use report::Total;

/// Copies what the command line asks for. Safe to run again, also after a kill: what is there already stays.
pub(crate) async fn run(call: &Call, args: &Move, output: &mut Output) -> Result<Outcome, Failure> {
    let (from, to) = (place(call, "--from", &args.from)?, place(call, "--to", &args.to)?);
    if from.is(&to) {
        return Err(Failure::Usage("--from and --to name the same database".to_owned()));
    }
    if to.ends_with_the_command() {
        return Err(Failure::Usage("--to names a database that is gone when the command ends".to_owned()));
    }
    if call.global.session.is_some() {
        let what = "all conversations of an owner move: leave out --session, \
            or take one along by `memory export` and `memory import`";
        return Err(Failure::Usage(what.to_owned()));
    }
    from.must_be_there().map_err(|failure| of_option("--from", failure))?;
    let one = if args.all_owners { None } else { Some(call.owner()?) };
    let source = from.connect().await.map_err(|failure| of_option("--from", failure))?;
    let owners = match one {
        Some(owner) => vec![owner],
        None => transfer::owners(&source).await?,
    };
    let target = to.connect().await.map_err(|failure| of_option("--to", failure))?;
    if target.records.is_none() && !args.conversations {
        refuse_records(&source, &to, &owners).await?;
    }
    let memory = call.hold(to.build(target.clone(), None).await?).await;
    let progress = Progress::new(args.progress, None);
    let committed = |items| progress.committed(items, 0);
    let mut job = transfer::Move::new(&source, target).watched(&committed);
    if args.conversations {
        job = job.conversations_alone();
    }
    if args.mirror {
        job = job.mirroring();
    }
    let mut total = Total::new(&from, &to, job.has_records());
    for owner in &owners {
        let moved = job.owner(owner).await?;
        total.add(&moved);
        output_owner(output, &progress, owner, &moved)?;
    }
    total.indexes = follow(&memory, &progress).await;
    progress.finish();
    source.close().await?;
    total.tell(output)?;
    Ok(if total.is_whole() { Outcome::Done } else { Outcome::Partial })
}

/// Returns the database that an option names.
fn place(call: &Call, option: &str, url: &DatabaseUrl) -> Result<Database, Failure> {
    let named = Database::at(&url.0).map_err(|failure| of_option(option, failure))?;
    Ok(named.by(&call.settings))
}

/// Names the option whose value is wrong.
fn of_option(option: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(what) => Failure::Usage(format!("{option}: {what}")),
        other => other,
    }
}

fn output_owner(output: &mut Output, progress: &Progress, owner: &Scope, moved: &Moved) -> Result<(), Failure> {
    if moved.uses_differ {
        progress.say("warning: some records were used in one database alone; their counts differ");
    }
    for problem in &moved.problems {
        progress.say(&format!("warning: {} of {}: {}", owner.subject(), owner.tenant(), report::problem(problem)));
    }
    report::tell(moved, owner, output)
}

/// Refuses, before anything is written, to leave records behind unless that was asked for.
async fn refuse_records(source: &Stores, to: &Database, owners: &[Scope]) -> Result<(), Failure> {
    for owner in owners {
        if transfer::holds_records(source, owner).await? {
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

//! What a move did, owner by owner and in all.

use memory::Scope;
use memory::receipt::IndexStatus;
use memory::store::upkeep::Backlog;
use memory::transfer::{Moved, Problem};
use serde_json::json;

use crate::config::Database;
use crate::failure::Failure;
use crate::output::Output;
use crate::words::counted;

/// Returns what is not the same, and what to do about it.
pub(super) fn problem(problem: &Problem) -> String {
    let remedy = match problem {
        Problem::EmptySource => ": `memory forget --all` does that",
        Problem::SessionForgotten(_) => ": --mirror copies it again",
        Problem::ExtraSessions(_) | Problem::ExtraRecords(_) => ": --mirror removes them",
        _ => "",
    };
    format!("{problem}{remedy}")
}

/// Writes a line about an owner.
pub(super) fn tell(moved: &Moved, owner: &Scope, output: &mut Output) -> Result<(), Failure> {
    let Moved { sessions, rows, records, left, on_board, removed, problems, .. } = moved;
    let (tenant, subject) = (owner.tenant(), owner.subject());
    if output.is_json() {
        output.json(&json!({ "owner": {
            "tenant": tenant, "subject": subject, "sessions": sessions, "rows": rows.count,
            "rows_sha256": rows.hex(), "records": records.count, "records_sha256": records.hex(),
            "records_left": left, "board_entries_left": on_board, "removed": removed,
            "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        }}))?;
        return Ok(());
    }
    let left = if *left > 0 { format!(", {} left behind", counted(*left, "record")) } else { String::new() };
    let board = match on_board {
        Some(1) => ", 1 entry of the board left behind".to_owned(),
        Some(entries @ 2..) => format!(", {entries} entries of the board left behind"),
        _ => String::new(),
    };
    let removed = if *removed > 0 { format!(", {removed} removed from the target") } else { String::new() };
    let state = if problems.is_empty() { "verified" } else { "NOT the same in both" };
    let (sessions, rows) = (counted(*sessions, "session"), counted(rows.count, "row"));
    let what = format!("{sessions}, {rows}, {}{left}{board}{removed}", counted(records.count, "record"));
    output.line(&format!("{subject} of {tenant}: {what}, {state}"))?;
    Ok(())
}

/// What became of all owners.
#[derive(Debug)]
pub(super) struct Total {
    from: String,
    to: String,
    has_records: bool,
    owners: u64,
    differing: u64,
    moved: Moved,
    /// How the target's indexes are.
    pub(super) indexes: Vec<IndexStatus>,
}

impl Total {
    pub(super) fn new(from: &Database, to: &Database, has_records: bool) -> Self {
        let (from, to) = (from.shown(), to.shown());
        Self { from, to, has_records, owners: 0, differing: 0, moved: Moved::default(), indexes: Vec::new() }
    }

    pub(super) fn add(&mut self, moved: &Moved) {
        self.owners += 1;
        self.differing += u64::from(!moved.problems.is_empty());
        self.moved.sessions += moved.sessions;
        self.moved.rows.add_sum(&moved.rows);
        self.moved.records.add_sum(&moved.records);
        self.moved.left += moved.left;
        self.moved.removed += moved.removed;
    }

    /// Returns whether the target now holds and finds everything that was to be moved.
    pub(super) fn is_whole(&self) -> bool {
        self.differing == 0 && self.behind() == Some(Backlog::default())
    }

    /// Returns the most that any index is behind; none if that of one cannot be told.
    fn behind(&self) -> Option<Backlog> {
        self.indexes.iter().try_fold(Backlog::default(), |most, index| {
            let Backlog { pending, dead } = *index.backlog.as_ref().ok()?;
            Some(Backlog { pending: most.pending.max(pending), dead: most.dead.max(dead) })
        })
    }

    pub(super) fn tell(&self, output: &mut Output) -> Result<(), Failure> {
        let Self { from, to, has_records, owners, differing, moved, .. } = self;
        let behind = self.behind();
        if output.is_json() {
            output.json(&json!({ "moved": {
                "from": from, "to": to, "owners": owners, "differing": differing, "sessions": moved.sessions,
                "rows": moved.rows.count, "rows_sha256": moved.rows.hex(), "has_records": has_records,
                "records": moved.records.count, "records_sha256": moved.records.hex(), "records_left": moved.left,
                "removed": moved.removed,
                "pending": behind.map(|behind| behind.pending), "dead": behind.map(|behind| behind.dead),
            }}))?;
            return Ok(());
        }
        output.line(&format!("from       {from}"))?;
        output.line(&format!("to         {to}"))?;
        output.line(&format!("owners     {owners}, {differing} of them not the same in both"))?;
        output.line(&format!(
            "sessions   {}, {}, sha256 {}",
            moved.sessions,
            counted(moved.rows.count, "row"),
            moved.rows.hex()
        ))?;
        if *has_records {
            output.line(&format!("records    {}, sha256 {}", moved.records.count, moved.records.hex()))?;
        } else {
            let left = counted(moved.left, "record");
            output.line(&format!("records    conversations alone were copied, {left} left behind"))?;
        }
        if moved.removed > 0 {
            output.line(&format!("removed    {} sessions and records that the source does not hold", moved.removed))?;
        }
        let notes = |pending| counted(pending, "note");
        output.line(&match behind {
            Some(Backlog { pending, dead: 0 }) => format!("indexes    {} to be followed", notes(pending)),
            Some(Backlog { pending, dead }) => format!("indexes    {} to be followed, {dead} given up", notes(pending)),
            None => "indexes    how far they are cannot be told: `memory stats`".to_owned(),
        })?;
        if moved.rows.count + moved.records.count == 0 {
            output.line("There was nothing to move: is the owner's name right?")?;
        } else {
            output.line("The source is as it was: `memory forget --all` on it, once the copy serves.")?;
        }
        Ok(())
    }
}

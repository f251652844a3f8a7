//! `memory records`: the records of the owner, and changes of single ones.

use std::cmp::Reverse;

use memory::{Field, Filter, Record, RecordId, Scoped, StoredRecord, Timestamp, edge};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::{RecordChange, Records, Set};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::words::{list_end, listed};
use crate::{record, upkeep};

/// How many are read at once.
const PAGE: usize = 500;

/// Lists records, or changes one.
pub(crate) async fn run(call: &Call, args: &Records, output: &mut Output) -> Result<Outcome, Failure> {
    match &args.change {
        None => list(call, args, output).await,
        Some(RecordChange::Edit { id, text }) => edit(call, *id, text, output).await,
        Some(RecordChange::Set(wished)) => set(call, wished, output).await,
        Some(RecordChange::Retire { ids }) => retire(call, ids, output).await,
    }
}

async fn list(call: &Call, args: &Records, output: &mut Output) -> Result<Outcome, Failure> {
    let wished = wished(args)?;
    let (memory, scoped) = call.open().await?;
    let filter = of_time(args, memory.now()).and(wished);
    let (found, total) = newest(&scoped, &filter, listed(args.number, output)).await?;
    let now = memory.now();
    if output.is_json() {
        let list: Vec<Value> = found.iter().map(|stored| edge::record(stored, now)).collect();
        output.json(&json!({ "records": list, "total": total }))?;
    } else {
        found.iter().try_for_each(|stored| record::write(stored, now, output))?;
        output.line(&list_end(found.len(), total, "record"))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Returns what of the current records is wished for.
fn wished(args: &Records) -> Result<Filter, Failure> {
    let mut filter = args.filter.as_deref().map_or(Ok(Filter::All), str::parse::<Filter>)?;
    if let Some(kind) = &args.kind {
        filter = filter.and(Filter::eq(Field::Kind, kind.as_str()));
    }
    Ok(args.tags.iter().fold(filter, |filter, tag| filter.and(Filter::eq(Field::Tag, tag.as_str()))))
}

/// Returns the filter for what is listed whatever is wished for.
fn of_time(args: &Records, now: Timestamp) -> Filter {
    match args.as_of {
        Some(at) => Filter::as_of(at, now),
        None if args.all => Filter::unexpired(now),
        None => Filter::current(now),
    }
}

/// Returns the newest records that match, and how many match.
async fn newest(scoped: &Scoped, filter: &Filter, limit: usize) -> Result<(Vec<StoredRecord>, usize), Failure> {
    let (mut found, mut after, mut total): (Vec<StoredRecord>, Option<RecordId>, usize) = (Vec::new(), None, 0);
    loop {
        let page = scoped.records(filter, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok((found, total)) };
        (after, total) = (Some(last.record.id), total + page.len());
        found.extend(page);
        found.sort_by_cached_key(|stored| (Reverse(stored.record.created_at()), stored.record.id));
        found.truncate(limit);
    }
}

/// Puts another text in the place of a record's, and keeps everything else that it was told with but how long it was to be true.
async fn edit(call: &Call, id: RecordId, text: &str, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let Some(stored) = scoped.get(&[id]).await?.pop() else { return Err(unknown(&id)) };
    let now = memory.now();
    if stored.record.validity().1.is_some_and(|until| until <= now) {
        return Err(Failure::Usage(format!("the record {id} is retired already: `memory remember` stores a new one")));
    }
    let receipt = scoped.supersede(id, edge::edited(&stored.record, text, now).with_origin("cli")).await?;
    if output.is_json() {
        output.json(&edge::with(json!(receipt), json!({ "supersedes": id })))?;
    } else {
        output.told(&receipt)?;
        output.line(&format!("supersedes {id}, which stays in the history"))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Changes what is known of a record, and shows it.
async fn set(call: &Call, wished: &Set, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    if scoped.get(&[wished.id]).await?.is_empty() {
        return Err(unknown(&wished.id));
    }
    let stored = scoped.update(wished.id, |record| apply(wished, record)).await?;
    record::write_one(&stored, memory.now(), output)?;
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Changes a record as wished.
fn apply(wished: &Set, record: &mut Record) {
    record.hold = wished.hold.unwrap_or(record.hold);
    for telling in record.tellings_mut() {
        telling.tags.retain(|tag| !wished.untags.contains(tag));
        let new = wished.tags.iter().filter(|tag| !telling.tags.contains(tag));
        telling.tags.extend(new.cloned().collect::<Vec<_>>());
        telling.importance = wished.importance.or(telling.importance);
        telling.pinned = wished.pinned.unwrap_or(telling.pinned);
    }
}

async fn retire(call: &Call, ids: &[RecordId], output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let stored = scoped.get(ids).await?;
    let is_there = |id: &RecordId| stored.iter().any(|stored| stored.record.id == *id);
    let (known, unknown): (Vec<&RecordId>, Vec<&RecordId>) = ids.iter().partition(|id| is_there(id));
    if let ([], Some(first)) = (known.as_slice(), unknown.first()) {
        return Err(self::unknown(first));
    }
    for id in &known {
        let is_changed = scoped.retire(**id).await?;
        if output.is_json() {
            output.json(&json!({ "id": id, "outcome": if is_changed { "retired" } else { "already" } }))?;
        } else if is_changed {
            output.line(&format!("retired: {id}; it stays in the history"))?;
        } else {
            output.line(&format!("not current already: {id}"))?;
        }
    }
    unknown.iter().for_each(|id| say(&format!("warning: there is no record {id}")));
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(if unknown.is_empty() { Outcome::Done } else { Outcome::Partial })
}

fn unknown(id: &RecordId) -> Failure {
    Failure::Usage(format!("there is no record {id}"))
}

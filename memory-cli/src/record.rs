//! A record as people read it.

use memory::{Record, StoredRecord, Timestamp, edge};

use crate::failure::Failure;
use crate::line::{Line, Paint};
use crate::output::Output;

/// Writes a record as a list does.
pub(crate) fn write(stored: &StoredRecord, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    let record = &stored.record;
    output.said(0, &record.text)?;
    let tags = if record.tags().is_empty() { String::new() } else { format!(" [{}]", record.tags().join(", ")) };
    let mut about = format!("{}, {}{tags}", record.created_at().to_minute(), record.kind);
    for fact in facts(record, now) {
        about = format!("{about}, {fact}");
    }
    output.painted(&Line::of("  ").painted(Paint::Faint, &about), 2)?;
    Ok(output.painted(&Line::of("  ").painted(Paint::Faint, &record.id.to_string()), 2)?)
}

/// Shows one record, with what is known of it.
pub(crate) fn write_one(stored: &StoredRecord, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(output.json(&edge::record(stored, now))?);
    }
    write(stored, now, output)?;
    let record = &stored.record;
    output.line("")?;
    let origin = record.origin().map(|origin| format!(", from {origin}")).unwrap_or_default();
    output.line(&format!("trust     {}{origin}", record.trust().name()))?;
    for session in record.sessions() {
        output.line(&format!("session   {}", session.name()))?;
    }
    for source in record.sources() {
        output.line(&format!("source    {}", source.id()))?;
    }
    let told = record.tellings().count();
    Ok(output.line(&format!(
        "version   {}, told {told} {}",
        stored.version,
        if told == 1 { "time" } else { "times" }
    ))?)
}

/// Returns what is special about a record, in words.
fn facts(record: &Record, now: Timestamp) -> Vec<String> {
    let (from, until) = record.validity();
    let mut facts = Vec::new();
    facts.extend(record.agent.as_ref().map(|agent| format!("of {agent}")));
    facts.extend(record.importance().map(|importance| format!("importance {importance}")));
    facts.extend(record.is_pinned().then(|| "pinned".to_owned()));
    facts.extend(record.hold.then(|| "on hold".to_owned()));
    facts.extend(from.filter(|from| *from > now).map(|from| format!("true from {}", from.to_minute())));
    facts.extend(until.map(|until| {
        let word = if until <= now { "retired" } else { "true until" };
        format!("{word} {}", until.to_minute())
    }));
    facts.extend(record.expires_at().map(|at| format!("expires {}", at.to_minute())));
    facts.extend(record.superseded.map(|by| format!("superseded {} by {}", by.at.to_minute(), by.by)));
    facts
}

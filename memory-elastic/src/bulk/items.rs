//! The lines of a bulk request, and what the answer says of each.

#[cfg(test)]
mod tests;

use std::iter::successors;

use memory_core::error::{Error, Result};
use serde_json::{Value, json};

use crate::error::{BACKEND, Fault, classify, kind_of};

/// A write of one document.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) act: Act,
}

/// What is done to a document.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Stored, unless one of a higher version is there.
    Put { version: i64, source: String },
    /// Stored in the place of one that is still as it was read.
    Replace { seq_no: i64, primary_term: i64, source: String },
    /// Stored, if there is none.
    Create { source: String },
    /// Deleted, if it is still as it was read.
    DeleteIf { seq_no: i64, primary_term: i64 },
}

impl Operation {
    pub(super) fn size(&self) -> usize {
        match &self.act {
            Act::Put { source, .. } | Act::Replace { source, .. } | Act::Create { source } => source.len() + 200,
            Act::DeleteIf { .. } => 200,
        }
    }

    pub(super) fn write(&self, routing: &str, lines: &mut String) {
        let id = &self.id;
        let (head, source) = match &self.act {
            Act::Put { version, source } => {
                let version =
                    json!({ "_id": id, "routing": routing, "version": version, "version_type": "external_gte" });
                (json!({ "index": version }), Some(source))
            }
            Act::Replace { seq_no, primary_term, source } => {
                let head =
                    json!({ "_id": id, "routing": routing, "if_seq_no": seq_no, "if_primary_term": primary_term });
                (json!({ "index": head }), Some(source))
            }
            Act::Create { source } => (json!({ "create": { "_id": id, "routing": routing } }), Some(source)),
            Act::DeleteIf { seq_no, primary_term } => {
                let head =
                    json!({ "_id": id, "routing": routing, "if_seq_no": seq_no, "if_primary_term": primary_term });
                (json!({ "delete": head }), None)
            }
        };
        lines.push_str(&head.to_string());
        lines.push('\n');
        if let Some(source) = source {
            lines.push_str(source);
            lines.push('\n');
        }
    }
}

/// Adds an update of nothing, whose answer shows the document.
pub(super) fn write_guard(id: &str, routing: &str, lines: &mut String) {
    lines.push_str(&json!({ "update": { "_id": id, "routing": routing, "_source": true } }).to_string());
    lines.push_str("\n{\"doc\":{}}\n");
}

/// The error of a document with a term that is too long, whatever the mapping.
const TOO_LONG: &str = "max_bytes_length_exceeded_exception";

/// The errors of a document that cannot be read with the mapping.
const UNREADABLE: [&str; 3] = ["document_parsing_exception", "mapper_parsing_exception", "x_content_parse_exception"];

/// The error of an index whose mapping has not all fields.
const STRICT: &str = "strict_dynamic_mapping_exception";

/// How the reasons begin of an index that takes no more, in small letters.
const LIMITS: [&str; 2] = ["limit of ", "number of documents in the "];

/// Whose fault it is that an operation failed, as far as its own answer tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Blame {
    /// The index's or the server's.
    #[default]
    Index,
    /// The document's.
    Document,
    /// The document's, unless the index takes none: then a field of the mapping may have another type.
    LikelyDocument,
    /// The index's, unless it takes others.
    LikelyIndex,
}

/// What became of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: u16,
    /// The name of the error, empty without one.
    pub(crate) kind: String,
    pub(crate) version: i64,
    pub(crate) seq_no: i64,
    pub(crate) primary_term: i64,
    blame: Blame,
}

impl Outcome {
    pub(super) fn too_large() -> Self {
        Self { status: 413, blame: Blame::Document, ..Self::default() }
    }

    /// Returns whether the operation was carried out.
    pub(crate) fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns whether a document was not as it had to be: another write came first.
    pub(crate) fn is_conflict(&self) -> bool {
        self.status == 409
    }

    /// Returns whether the document to be deleted was not there.
    pub(crate) fn is_absent(&self) -> bool {
        self.status == 404 && self.kind.is_empty()
    }

    /// Returns whether the server may carry it out if it is asked again.
    pub(super) fn is_busy(&self) -> bool {
        self.status == 429 || self.status >= 500
    }

    /// Returns the error of an operation that was not carried out: the inner one is about this document alone. `takes_others` tells
    /// whether the index took other documents at the same time; none if it was given no others.
    pub(crate) fn error(&self, doing: &'static str, takes_others: Option<bool>) -> Result<Error> {
        let is_refused = match self.blame {
            Blame::Index => false,
            Blame::Document => true,
            Blame::LikelyDocument => takes_others != Some(false),
            Blame::LikelyIndex => takes_others == Some(true),
        };
        if is_refused {
            let what = format!("{BACKEND} refused the entry: {}", self.fault());
            return Ok(Error::invalid(what));
        }
        Err(classify(self.fault(), doing))
    }

    fn fault(&self) -> Fault {
        Fault::Answer { status: self.status, kind: self.kind.clone(), after: None }
    }
}

/// Reads the answer to a request of `count` operations, perhaps with a guard behind them; none for what the guard says
/// if the server was too busy to say it.
pub(super) fn read(
    answer: &Value,
    count: usize,
    has_guard: bool,
) -> std::result::Result<(Vec<Outcome>, Option<u64>), Fault> {
    let items = answer.get("items").and_then(Value::as_array).ok_or(Fault::Cut)?;
    if items.len() != count + usize::from(has_guard) {
        return Err(Fault::Cut);
    }
    let outcomes = items.iter().take(count).map(outcome).collect::<Option<Vec<_>>>().ok_or(Fault::Cut)?;
    let below = if has_guard { items.last().map(guarded).ok_or(Fault::Cut)?? } else { Some(0) };
    Ok((outcomes, below))
}

fn outcome(item: &Value) -> Option<Outcome> {
    let item = item.as_object()?.values().next()?;
    let number = |name: &str| item.get(name).and_then(Value::as_i64).unwrap_or_default();
    let status = u16::try_from(number("status")).ok().filter(|status| *status >= 100)?;
    let kind = item.get("error").map(kind_of).unwrap_or_default();
    // An error without a name must not pass for the absence of a document.
    let kind = if item.get("error").is_some() && kind.is_empty() { "unnamed".to_owned() } else { kind };
    let (version, seq_no, primary_term) = (number("_version"), number("_seq_no"), number("_primary_term"));
    let blame = match (status, item.get("error")) {
        (413, _) => Blame::Document,
        (400, Some(error)) => blame(error),
        _ => Blame::Index,
    };
    Some(Outcome { status, kind, version, seq_no, primary_term, blame })
}

/// Returns whose fault an error is that the server answers to what it was sent.
///
/// A mapping that somebody changed, a limit and a full shard are answered like a document that cannot be stored. A document that was
/// refused for such a one would be left out for good; one that failed is put again until the index is mended, and what stands
/// behind it waits. So where the name of the error does not tell, it counts whether the index takes other documents.
fn blame(error: &Value) -> Blame {
    let chain: Vec<&Value> = successors(Some(error), |error| error.get("caused_by")).collect();
    let kinds: Vec<String> = chain.iter().copied().map(kind_of).collect();
    let has = |names: &[&str]| kinds.iter().any(|kind| names.contains(&kind.as_str()));
    // A limit of the mapping is the index's, although the server meets it while it reads a document.
    let mut reasons = chain.iter().filter_map(|error| error.get("reason")?.as_str());
    let is_limit = reasons.any(|reason| LIMITS.iter().any(|limit| reason.to_lowercase().starts_with(limit)));
    if has(&[STRICT]) || is_limit {
        return Blame::Index;
    }
    if has(&[TOO_LONG]) {
        return Blame::Document;
    }
    if has(&UNREADABLE) { Blame::LikelyDocument } else { Blame::LikelyIndex }
}

/// Returns the epoch that the guard says: 0 if there is no such document, none if the server was too busy.
fn guarded(item: &Value) -> std::result::Result<Option<u64>, Fault> {
    let outcome = outcome(item).ok_or(Fault::Cut)?;
    if outcome.status == 404 && outcome.kind == "document_missing_exception" {
        return Ok(Some(0));
    }
    // Somebody stores it at this moment: what he stores counts.
    if outcome.is_busy() || outcome.is_conflict() {
        return Ok(None);
    }
    if !outcome.is_done() {
        return Err(outcome.fault());
    }
    item.pointer("/update/get/_source/below").and_then(Value::as_u64).map(Some).ok_or(Fault::Cut)
}

//! Traces of summaries that are being removed.
//!
//! A message names the summary that covers it only as long as that stands. A record may be derived from the summary at the last
//! moment, after it was looked for what was derived; and if the removal is cut off then, nothing leads from the message to that
//! record any more. So a record that names the summaries is put before they are removed, and deleted when nothing derived from
//! them is left. Whoever forgets messages or a session of the owner first deletes what was derived from the summaries of traces that other
//! calls left (`removals.rs`).

use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, MessageId, RecordId};
use crate::record::{Record, Superseded};
use crate::store::records::{Expect, Put, RecordBatch};
use crate::time::Timestamp;

use super::bounds::{ATTEMPTS, BATCH};
use super::receipt::Draft;

/// The kind of the records that are traces.
const KIND: &str = "removal";
/// The text of these records.
const TEXT: &str = "summaries that are being removed";

/// A trace as it is stored: its record, and the version of that.
pub(crate) type Trace = (RecordId, u64);

/// Returns the item that all traces of an owner name first, by which they are found. No record has this id.
fn mark() -> ItemId {
    ItemId::Record(RecordId::of_content(b"the summaries that are being removed"))
}

/// Returns the filter for the traces of an owner.
pub(super) fn traces() -> Filter {
    Filter::eq(Field::Source, Scalar::Text(mark().key()))
}

/// Returns the summaries that a trace names.
pub(super) fn traced(trace: &Record) -> Vec<MessageId> {
    trace.first.sources.iter().filter_map(ItemId::as_message).collect()
}

/// Returns whether a record is a trace.
pub(crate) fn is_trace(record: &Record) -> bool {
    record.kind == KIND && record.first.sources.first() == Some(&mark())
}

/// Returns the trace of these summaries. Nothing can be derived from it, and it is not current, so that no search finds it.
fn trace_of(summaries: &[MessageId], now: Timestamp) -> Record {
    let bytes: Vec<u8> = summaries.iter().flat_map(|summary| *summary.0.as_bytes()).collect();
    let id = RecordId::of_content(&bytes);
    let mut record = Record::new(KIND, TEXT, now);
    record.first.sources = [mark()].into_iter().chain(summaries.iter().copied().map(ItemId::Message)).collect();
    let superseded = Some(Superseded { by: id, at: Timestamp(0) });
    Record { id, superseded, doomed: true, ..record }
}

impl Scoped {
    /// Leaves traces of summaries that are about to be removed. Where an erasure comes in between, or no records can be held, none is
    /// needed.
    pub(crate) async fn trace(&self, summaries: &[MessageId]) -> Result<Vec<Trace>> {
        let mut traces = Vec::new();
        for batch in summaries.chunks(BATCH) {
            traces.extend(self.trace_together(batch).await?);
        }
        Ok(traces)
    }

    async fn trace_together(&self, summaries: &[MessageId]) -> Result<Option<Trace>> {
        let records = self.inner().records.store();
        let record = Arc::new(trace_of(summaries, self.inner().clock.now()));
        for _ in 0..ATTEMPTS {
            let fence = Some(records.fence(self.scope()).await?);
            let puts = vec![Put { record: Arc::clone(&record), expect: Expect::Anything }];
            match records.put(self.scope(), &RecordBatch { fence, puts }).await {
                // Another record was deleted meanwhile.
                Err(Error::Conflict) => {}
                Err(Error::Fenced | Error::Unsupported { .. }) => return Ok(None),
                versions => return Ok(versions?.first().map(|version| (record.id, *version))),
            }
        }
        Err(Error::Conflict)
    }

    /// Deletes traces, unless something is left that was derived from their summaries. If that fails, the receipt says that something
    /// is left, and the next forget ends it.
    pub(super) async fn untrace_settled(&self, traces: &[Trace], draft: &mut Draft) {
        draft.is_unsettled = draft.is_unsettled || self.untrace(traces).await.is_err();
    }

    /// Deletes traces: nothing is left that was derived from their summaries. One that another call has left anew stays.
    pub(crate) async fn untrace(&self, traces: &[Trace]) -> Result<()> {
        for trace in traces {
            match self.inner().records.store().delete(self.scope(), &[*trace]).await {
                Ok(_) | Err(Error::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

//! The figures that a memory tells through the facade [`metrics`]: which there are, and what they are called.
//!
//! A program that installs a recorder of that facade hears them; without one they go nowhere. No label holds an owner, a
//! conversation or an id: each label has a few values, which this code names.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, histogram};

use crate::time::Stopwatch;

/// A figure: its name, what it is, its labels, and what it tells in one clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, which is never changed.
    pub name: &'static str,
    /// How it behaves.
    pub kind: FigureKind,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub what: &'static str,
}

/// How a figure behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// It only rises, until the process ends.
    Counter,
    /// It rises and falls.
    Gauge,
    /// Times in seconds, by how many were at most so long.
    Histogram,
}

const CALLS: &str = "memory_store_calls_total";
const CALL_SECONDS: &str = "memory_store_call_seconds";
const RETRIES: &str = "memory_store_retries_total";
const EVENTS: &str = "memory_events_total";
const EVENT_ITEMS: &str = "memory_event_items_total";
const EVENT_SECONDS: &str = "memory_event_seconds";

/// The labels of a call of a store.
const PLACE: &[&str] = &["backend", "part", "operation", "outcome"];

/// The figures of a memory. `docs/operations.md` has them with the values of their labels.
pub const FIGURES: &[Figure] = &[
    Figure { name: CALLS, kind: FigureKind::Counter, labels: PLACE, what: "calls of stores that ended" },
    Figure { name: CALL_SECONDS, kind: FigureKind::Histogram, labels: PLACE, what: "how long these calls took" },
    Figure {
        name: RETRIES,
        kind: FigureKind::Counter,
        labels: &["backend"],
        what: "attempts that a guard made after a failed one",
    },
    Figure { name: EVENTS, kind: FigureKind::Counter, labels: &["event"], what: "events of the memory" },
    Figure {
        name: EVENT_ITEMS,
        kind: FigureKind::Counter,
        labels: &["event"],
        what: "messages, records, hits and other items that these events were about",
    },
    Figure {
        name: EVENT_SECONDS,
        kind: FigureKind::Histogram,
        labels: &["event"],
        what: "how long answers and embeddings took",
    },
];

impl Figure {
    /// Tells the recorder of this process what the figure is, for exporters that show it.
    ///
    /// ```
    /// memory_core::figures::FIGURES.iter().for_each(memory_core::figures::Figure::describe);
    /// ```
    pub fn describe(&self) {
        match self.kind {
            FigureKind::Counter => describe_counter!(self.name, self.what),
            FigureKind::Gauge => describe_gauge!(self.name, self.what),
            FigureKind::Histogram => describe_histogram!(self.name, Unit::Seconds, self.what),
        }
    }
}

/// Counts a call of a store.
pub(crate) fn call(
    backend: &'static str,
    part: &'static str,
    operation: &'static str,
    outcome: &'static str,
    watch: &Stopwatch,
) {
    let labels = [("backend", backend), ("part", part), ("operation", operation), ("outcome", outcome)];
    counter!(CALLS, &labels).increment(1);
    histogram!(CALL_SECONDS, &labels).record(watch.elapsed());
}

/// Counts another attempt of a guard.
pub(crate) fn retry(backend: &'static str) {
    counter!(RETRIES, "backend" => backend).increment(1);
}

/// Counts an event that was about so many items, and took so long if that is known.
pub(crate) fn event(name: &'static str, items: u64, took_micros: Option<u64>) {
    counter!(EVENTS, "event" => name).increment(1);
    counter!(EVENT_ITEMS, "event" => name).increment(items);
    if let Some(took) = took_micros {
        histogram!(EVENT_SECONDS, "event" => name).record(std::time::Duration::from_micros(took));
    }
}

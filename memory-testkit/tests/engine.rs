//! The engine over the in-process stores: both paths, their receipts, and their faults.

#[cfg(test)]
#[path = "engine/anew.rs"]
mod anew;
#[cfg(test)]
#[path = "engine/arranging.rs"]
mod arranging;
#[cfg(test)]
#[path = "engine/bench.rs"]
mod bench;
#[cfg(test)]
#[path = "engine/board_erasures.rs"]
mod board_erasures;
#[cfg(test)]
#[path = "engine/boards.rs"]
mod boards;
#[cfg(test)]
#[path = "engine/buffers.rs"]
mod buffers;
#[cfg(test)]
#[path = "engine/cache.rs"]
mod cache;
#[cfg(test)]
#[path = "engine/context.rs"]
mod context;
#[cfg(test)]
#[path = "engine/costs.rs"]
mod costs;
#[cfg(test)]
#[path = "engine/counters.rs"]
mod counters;
#[cfg(test)]
#[path = "engine/counting.rs"]
mod counting;
#[cfg(test)]
#[path = "engine/crowding.rs"]
mod crowding;
#[cfg(test)]
#[path = "engine/defaults.rs"]
mod defaults;
#[cfg(test)]
#[path = "engine/dropped_writes.rs"]
mod dropped_writes;
#[cfg(test)]
#[path = "engine/edits.rs"]
mod edits;
#[cfg(test)]
#[path = "engine/embedding.rs"]
mod embedding;
#[cfg(test)]
#[path = "engine/enlisting.rs"]
mod enlisting;
#[cfg(test)]
#[path = "engine/events.rs"]
mod events;
#[cfg(test)]
#[path = "engine/fact_notes.rs"]
mod fact_notes;
#[cfg(test)]
#[path = "engine/fact_turns.rs"]
mod fact_turns;
#[cfg(test)]
#[path = "engine/figures.rs"]
mod figures;
#[cfg(test)]
#[path = "engine/fixture.rs"]
mod fixture;
#[cfg(test)]
#[path = "engine/forget.rs"]
mod forget;
#[cfg(test)]
#[path = "engine/forking.rs"]
mod forking;
#[cfg(test)]
#[path = "engine/gate.rs"]
mod gate;
#[cfg(test)]
#[path = "engine/given_up.rs"]
mod given_up;
#[cfg(test)]
#[path = "engine/going_on.rs"]
mod going_on;
#[cfg(test)]
#[path = "engine/jumps.rs"]
mod jumps;
#[cfg(test)]
#[path = "engine/lapsing.rs"]
mod lapsing;
#[cfg(test)]
#[path = "engine/late.rs"]
mod late;
#[cfg(test)]
#[path = "engine/late_summaries.rs"]
mod late_summaries;
#[cfg(test)]
#[path = "engine/likeness.rs"]
mod likeness;
#[cfg(test)]
#[path = "engine/limits.rs"]
mod limits;
#[cfg(test)]
#[path = "engine/links.rs"]
mod links;
#[cfg(test)]
#[path = "engine/long.rs"]
mod long;
#[cfg(test)]
#[path = "engine/models.rs"]
mod models;
#[cfg(test)]
#[path = "engine/neighbours.rs"]
mod neighbours;
#[cfg(test)]
#[path = "engine/newest.rs"]
mod newest;
#[cfg(test)]
#[path = "engine/notes.rs"]
mod notes;
#[cfg(test)]
#[path = "engine/partial.rs"]
mod partial;
#[cfg(test)]
#[path = "engine/partly_put.rs"]
mod partly_put;
#[cfg(test)]
#[path = "engine/passes.rs"]
mod passes;
#[cfg(test)]
#[path = "engine/persons.rs"]
mod persons;
#[cfg(test)]
#[path = "engine/pinned.rs"]
mod pinned;
#[cfg(test)]
#[path = "engine/protected.rs"]
mod protected;
#[cfg(test)]
#[path = "engine/remember.rs"]
mod remember;
#[cfg(test)]
#[path = "engine/reusing.rs"]
mod reusing;
#[cfg(test)]
#[path = "engine/screen.rs"]
mod screen;
#[cfg(test)]
#[path = "engine/search.rs"]
mod search;
#[cfg(test)]
#[path = "engine/shares.rs"]
mod shares;
#[cfg(test)]
#[path = "engine/slow.rs"]
mod slow;
#[cfg(test)]
#[path = "engine/snapshot.rs"]
mod snapshot;
#[cfg(test)]
#[path = "engine/spaces.rs"]
mod spaces;
#[cfg(test)]
#[path = "engine/stacks.rs"]
mod stacks;
#[cfg(test)]
#[path = "engine/summaries.rs"]
mod summaries;
#[cfg(test)]
#[path = "engine/synopses.rs"]
mod synopses;
#[cfg(test)]
#[path = "engine/taken_back.rs"]
mod taken_back;
#[cfg(test)]
#[path = "engine/tellings.rs"]
mod tellings;
#[cfg(test)]
#[path = "engine/times.rs"]
mod times;
#[cfg(test)]
#[path = "engine/titles.rs"]
mod titles;
#[cfg(test)]
#[path = "engine/unindexed.rs"]
mod unindexed;
#[cfg(test)]
#[path = "engine/unnamed_calls.rs"]
mod unnamed_calls;
#[cfg(test)]
#[path = "engine/upkeep.rs"]
mod upkeep;
#[cfg(test)]
#[path = "engine/useless_summaries.rs"]
mod useless_summaries;
#[cfg(test)]
#[path = "engine/verifying.rs"]
mod verifying;
#[cfg(test)]
#[path = "engine/waves.rs"]
mod waves;

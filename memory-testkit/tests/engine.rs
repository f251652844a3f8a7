//! The engine over the in-process stores: both paths, their receipts, and their faults.

#[path = "engine/bench.rs"]
mod bench;
#[path = "engine/context.rs"]
mod context;
#[path = "engine/forget.rs"]
mod forget;
#[path = "engine/remember.rs"]
mod remember;
#[path = "engine/search.rs"]
mod search;
#[path = "engine/upkeep.rs"]
mod upkeep;

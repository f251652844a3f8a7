//! The kit is itself tested: each store here breaks one promise, and the scenario of that promise catches it.

mod bounds;
mod chat;
mod chat_stores;
mod embedders;
mod enlisting;
mod fences;
mod forgetting;
mod frame;
mod leads;
mod memory;
mod records;
mod records_stores;
mod search;
mod simulation;
mod tellings;
mod upkeep;

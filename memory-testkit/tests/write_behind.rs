//! Write-behind over a primary that is away, loses answers, or refuses messages.

#[cfg(test)]
#[path = "write_behind/derived.rs"]
mod derived;
#[cfg(test)]
#[path = "write_behind/doubts.rs"]
mod doubts;
#[cfg(test)]
#[path = "write_behind/erased.rs"]
mod erased;
#[cfg(test)]
#[path = "write_behind/fixture.rs"]
mod fixture;
#[cfg(test)]
#[path = "write_behind/lists.rs"]
mod lists;
#[cfg(test)]
#[path = "write_behind/outage.rs"]
mod outage;
#[cfg(test)]
#[path = "write_behind/refused.rs"]
mod refused;
#[cfg(test)]
#[path = "write_behind/retried.rs"]
mod retried;
#[cfg(test)]
#[path = "write_behind/triggers.rs"]
mod triggers;

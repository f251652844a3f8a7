//! The write path of records: storing, reinforcing, superseding and retiring.

mod batch;
mod likeness;
mod links;
mod places;
mod put;
mod remember;
mod retire;
mod screened;
mod sources;
mod tell;
mod update;
mod words;

pub(super) use links::Links;
pub use remember::{Addition, NotTaken, Remember, RememberReceipt, Remembered, Why};

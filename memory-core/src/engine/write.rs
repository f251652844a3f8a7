//! The write path of records: storing, reinforcing and superseding.

mod links;
mod remember;
mod sources;
mod tell;
mod words;

pub use remember::{Addition, NotTaken, Remember, RememberReceipt, Remembered, Why};

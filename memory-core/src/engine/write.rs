//! Write: how a record is stored, reinforced or superseded.

mod links;
mod remember;
mod sources;
mod tell;
mod words;

pub use remember::{Addition, NotTaken, Remember, RememberReceipt, Remembered, Why};

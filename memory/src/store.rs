//! For who writes a backend, or puts stores together by hand: the traits of stores, and what they are made of.
//!
//! [`mod@reference`] has the shortest stores that keep every promise, [`plan`] and [`posting`] what stores in tables decide.
//! The conformance kit, memory-testkit, tells when a store is right.

pub use memory_core::store::*;
pub use memory_core::{
    Analysis, Away, CounterId, Digest, Epoch, Fields, Limits, StoreStatus, Stores, Truth, Version, error, figures,
    filter, hashing, id, index, number, outlive, plan, posting, recent, record, reference, scope, secrets, time,
    vector,
};

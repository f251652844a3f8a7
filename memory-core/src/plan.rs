//! Decisions of stores that keep truth in tables: what a write does, from what is there.
//!
//! Plans are pure: values in, decisions out. An adapter encodes what it is given, reads what a plan asks for, and writes what
//! it says, all in one transaction. Numbers are signed here, as databases keep them.

pub mod chat;
pub mod records;
pub mod statement;

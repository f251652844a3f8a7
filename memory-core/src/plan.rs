//! Plans for truth stores that use tables: what a write does, given what is stored.
//!
//! Plans are pure: values in, decisions out. An adapter encodes its input, reads what a plan asks for, and writes what it
//! says, all in one transaction. Numbers are signed here, as in databases.

pub mod chat;
pub mod records;
pub mod statement;

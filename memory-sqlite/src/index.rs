//! The common parts of text and vector indexes: owners, items with their filter fields, and choosing the best candidates
//! that match.

pub(crate) mod cache;
pub(crate) mod erase;
pub(crate) mod items;
pub(crate) mod key;
pub(crate) mod now;
pub(crate) mod owner;
pub(crate) mod place;
#[cfg(test)]
pub(crate) mod raw;
#[cfg(test)]
pub(crate) mod restored;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod stamp;

pub(crate) use items::Incoming;
pub(crate) use key::corrupt;
pub(crate) use owner::Owner;
pub(crate) use select::{Choice, Chosen, Shelf, best};

//! Broken conversation stores.

mod changes;
mod pages;
mod writes;

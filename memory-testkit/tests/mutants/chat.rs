//! Broken conversation stores.

mod changes;
mod counters;
mod pages;
mod writes;

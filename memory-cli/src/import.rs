//! Reading conversations from files: a stream of items, whatever the format and the size, and writing them in batches.

mod batch;
mod chatgpt;
mod detect;
mod export;
mod item;
mod locomo;
mod longmemeval;
mod openai;
mod patience;
mod progress;
mod stream;
#[cfg(test)]
mod tests;
mod time;

pub(crate) use batch::{Importer, Tally};
pub(crate) use detect::{Format, Source, read};
pub(crate) use item::{Item, Meter, Sink, message_id};
pub(crate) use progress::{Progress, Style};
pub(crate) use stream::Reading;
pub(crate) use time::of_longmemeval;

//! Reading conversations from files: a stream of items, whatever the format and the size, and writing them in batches.

mod batch;
mod bounded;
mod chatgpt;
mod detect;
mod export;
mod item;
mod locomo;
mod longmemeval;
mod openai;
mod patience;
mod progress;
mod queue;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod time;
mod weight;

pub(crate) use batch::Importer;
pub(crate) use detect::{Format, Source, read};
pub(crate) use item::{Item, Meter, message_id};
pub(crate) use progress::{Progress, Style};
pub(crate) use queue::{Items, queue};
pub(crate) use stream::Reading;
pub(crate) use tally::{Tally, counts};
pub(crate) use time::of_longmemeval;

//! Test doubles for clocks, models and stores.

mod broken;
mod clock;
mod models;
mod reranker;
mod taps;

pub use clock::ManualClock;
pub use models::{EmbedderMode, FakeEmbedder, StillSummarizer};
pub use reranker::{FakeReranker, RerankerMode};
pub use taps::{Counting, Cut, Ending, Faulty, Tap, Tapped, When};

//! Stand-ins for clocks, models and stores, for scenarios and for tests of the engine.

mod broken;
mod clock;
mod models;
mod taps;

pub use clock::ManualClock;
pub use models::{EmbedderMode, FakeEmbedder, StillSummarizer};
pub use taps::{Counting, Cut, Ending, Faulty, Tap, Tapped, When};

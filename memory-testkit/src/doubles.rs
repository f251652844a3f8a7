//! Stand-ins for clocks, models and stores, for scenarios and for tests of the engine.

mod clock;

pub use clock::ManualClock;

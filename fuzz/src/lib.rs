//! What the fuzz targets share. Each target is a program in `src/bin`; `scripts/fuzz.sh` builds and runs them.

mod items;
mod parts;
mod place;
mod reading;
mod shelf;

pub use parts::{number, texts};
pub use place::{NOW, ada, import, memory, run};
pub use reading::{analysis, read};
pub use shelf::Shelf;

//! Counts the rows in the answer of a store.

use memory_core::methods::*;

/// An answer of a store whose rows can be counted.
pub(super) trait Answer {
    /// Returns how many rows were found.
    fn rows(&self) -> usize;
}

impl<T> Answer for Vec<T> {
    fn rows(&self) -> usize {
        self.len()
    }
}

impl<T> Answer for Option<T> {
    fn rows(&self) -> usize {
        usize::from(self.is_some())
    }
}

impl Answer for Slice {
    fn rows(&self) -> usize {
        self.messages.len()
    }
}

impl Answer for FoundMessages {
    fn rows(&self) -> usize {
        self.messages.len()
    }
}

impl Answer for TextHits {
    fn rows(&self) -> usize {
        self.hits.len()
    }
}

macro_rules! without_rows {
    ($($answer:ty)*) => {$(
        impl Answer for $answer {
            fn rows(&self) -> usize {
                0
            }
        }
    )*};
}

without_rows! { () bool u64 usize Appended Backlog BlackboardStats Epoch Erased Fence Health Incarnation SessionState }

//! Faults that a server makes on purpose.

/// What goes wrong how often, in percent.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) item: usize,
    pub(crate) request: usize,
}

impl Fault {
    pub(crate) fn never() -> Self {
        Self { item: 0, request: 0 }
    }

    pub(crate) fn often() -> Self {
        Self { item: 25, request: 15 }
    }

    pub(crate) fn always_busy() -> Self {
        Self { item: 100, request: 0 }
    }
}

//! What a step of retention may look at and forget.

/// How many rows are read in one page.
pub(super) const ROWS: usize = 256;

/// What is left of the bounds of a step.
pub(super) struct Room {
    pub(super) sessions: usize,
    pub(super) rows: usize,
    pub(super) items: usize,
    /// How many records may be counted. An owner's count that is begun is carried out.
    pub(super) counted: usize,
}

impl Room {
    /// Returns the bounds of a whole step.
    pub(super) fn of_step() -> Self {
        Self { sessions: 256, rows: 4_096, items: 1_000, counted: 65_536 }
    }

    pub(super) fn is_out(&self) -> bool {
        self.sessions == 0 || self.rows == 0 || self.items == 0
    }
}

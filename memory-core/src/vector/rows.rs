//! A table of rows of one width, contiguous in memory.

/// A table below this many elements keeps its capacity when rows leave.
const SMALL: usize = 1 << 12;

/// The least capacity to allocate, in elements.
const LEAST: usize = 16;

/// A table of rows. Adding and removing a row has the same amortised cost for every size of the table.
#[derive(Clone, Debug)]
pub(super) struct Rows<L> {
    width: usize,
    lanes: Vec<L>,
}

impl<L: Copy> Rows<L> {
    /// Returns a table for rows of `width` elements, at least 1.
    pub(super) fn new(width: usize) -> Self {
        Self { width: width.max(1), lanes: Vec::new() }
    }

    /// Returns how many rows there are.
    pub(super) fn len(&self) -> usize {
        self.lanes.len() / self.width
    }

    /// Returns how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.lanes.capacity() * size_of::<L>()
    }

    /// Makes room for `rows` more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.lanes.reserve_exact(rows * self.width);
    }

    /// Adds a row at the end. A row of another width is cut or left out.
    pub(super) fn push(&mut self, row: &[L]) {
        make_room(&mut self.lanes, self.width);
        self.lanes.extend(row.chunks_exact(self.width).take(1).flatten());
    }

    /// Removes a row; the last one takes its place.
    pub(super) fn swap_remove(&mut self, row: usize) {
        let Some(last) = self.len().checked_sub(1).filter(|last| row <= *last) else { return };
        self.lanes.copy_within(last * self.width.., row * self.width);
        self.lanes.truncate(last * self.width);
        if self.lanes.capacity() > SMALL && self.lanes.len() < self.lanes.capacity() / 4 {
            self.lanes.shrink_to(self.lanes.len() * 2);
        }
    }

    /// Returns `count` rows from `row` on; an empty slice if there are fewer.
    pub(super) fn stretch(&self, row: usize, count: usize) -> &[L] {
        self.lanes.get(row * self.width..(row + count) * self.width).unwrap_or_default()
    }
}

/// Reserves room for `more` elements, and for an eighth of those there. Doubling, as `Vec` does, could take up to twice the
/// memory of an owner's data.
pub(super) fn make_room<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8).max(LEAST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_takes_the_place_of_a_removed_one() {
        let mut rows = Rows::new(2);
        for row in [[1, 2], [3, 4], [5, 6]] {
            rows.push(&row);
        }
        rows.swap_remove(0);
        assert_eq!(rows.stretch(0, 2), [5, 6, 3, 4]);
        rows.swap_remove(1);
        rows.swap_remove(1);
        assert_eq!((rows.len(), rows.stretch(0, 1), rows.stretch(0, 2)), (1, [5, 6].as_slice(), [].as_slice()));
    }

    #[test]
    fn what_stands_empty_is_no_more_than_an_eighth() {
        let mut rows = Rows::new(16);
        for count in 1..5_000 {
            rows.push(&[1.0f32; 16]);
            assert!(rows.bytes() <= (count * 16 * 9 / 8 + LEAST) * 4, "{count}: {}", rows.bytes());
        }
    }

    #[test]
    fn room_is_given_back_when_most_rows_have_left() {
        let mut rows = Rows::new(16);
        (0..10_000).for_each(|_| rows.push(&[1.0f32; 16]));
        (0..9_900).for_each(|row| rows.swap_remove(9_999 - row));
        assert!(rows.len() == 100 && rows.bytes() < 1 << 16, "{}", rows.bytes());
    }
}

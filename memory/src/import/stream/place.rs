//! Where a reader stands in an array of JSON, told byte by byte: so that an element may be passed over that is not held.

/// How deep a reader is, and whether it stands in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// The last byte was a comma between two elements.
    is_behind_comma: bool,
}

impl Place {
    /// Passes a byte.
    pub(super) fn pass(&mut self, byte: u8) {
        self.is_behind_comma = byte == b',' && self.depth == 1 && !self.is_text;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_text => self.is_escaped = true,
            b'"' => self.is_text = !self.is_text,
            _ if self.is_text => {}
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Returns whether the last byte ended an element of the array, or the array.
    pub(super) fn is_behind_element(self) -> bool {
        self.is_behind_comma || self.is_behind_array()
    }

    /// Returns whether the array has ended.
    pub(super) fn is_behind_array(self) -> bool {
        self.depth == 0
    }
}

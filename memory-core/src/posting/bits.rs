//! Numbers of few bits each, side by side.

use super::bytes::Damaged;

/// The most bits that are put or taken at once.
const MOST: u32 = 32;

/// Writes bits, the lowest of each byte first.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    out: Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the low bits of a number that has no others.
    pub(super) fn put(&mut self, number: u32, bits: u32) {
        self.held |= u64::from(number) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Writes a number as so many zeros and a one.
    pub(super) fn unary(&mut self, number: u32) {
        (0..number / MOST).for_each(|_| self.put(0, MOST));
        let rest = number % MOST;
        self.put(1 << rest, rest + 1);
    }

    /// Writes a number of at least 1: how many bits follow the first, and these.
    pub(super) fn gamma(&mut self, number: u32) {
        let bits = number.max(1).ilog2();
        self.unary(bits);
        self.put(number ^ 1 << bits, bits);
    }

    /// Returns the bytes, the last one filled with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
        self.out
    }
}

/// Reads what a [`BitWriter`] wrote.
pub(super) struct BitReader<'b> {
    rest: &'b [u8],
    held: u64,
    count: u32,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, held: 0, count: 0 }
    }

    /// Holds at least 32 bits, if there are so many.
    #[inline(always)]
    fn fill(&mut self) {
        if self.count >= MOST {
            return;
        }
        if let Some((four, rest)) = self.rest.split_first_chunk() {
            self.held |= u64::from(u32::from_le_bytes(*four)) << self.count;
            self.count += 32;
            self.rest = rest;
            return;
        }
        while let Some((byte, rest)) = self.rest.split_first() {
            self.held |= u64::from(*byte) << self.count;
            self.count += 8;
            self.rest = rest;
        }
    }

    #[inline(always)]
    fn skip(&mut self, bits: u32) {
        self.held >>= bits;
        self.count -= bits;
    }

    /// Takes up to 32 bits.
    #[inline(always)]
    pub(super) fn take(&mut self, bits: u32) -> Result<u32, Damaged> {
        self.fill();
        if bits > self.count.min(MOST) {
            return Err(Damaged);
        }
        let number = (self.held & ((1 << bits) - 1)) as u32;
        self.skip(bits);
        Ok(number)
    }

    /// Takes a number of [`BitWriter::unary`].
    #[inline(always)]
    pub(super) fn unary(&mut self) -> Result<u32, Damaged> {
        let mut number = 0_u32;
        loop {
            self.fill();
            let zeros = self.held.trailing_zeros();
            if zeros < self.count {
                self.skip(zeros + 1);
                return number.checked_add(zeros).ok_or(Damaged);
            }
            if self.count == 0 {
                return Err(Damaged);
            }
            number = number.checked_add(self.count).ok_or(Damaged)?;
            (self.held, self.count) = (0, 0);
        }
    }

    /// Takes a number of [`BitWriter::gamma`].
    #[inline(always)]
    pub(super) fn gamma(&mut self) -> Result<u32, Damaged> {
        let bits = self.unary()?;
        if bits >= u32::BITS {
            return Err(Damaged);
        }
        Ok(1 << bits | self.take(bits)?)
    }

    /// Returns whether nothing is left but the zeros that fill the last byte.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty() && self.count < 8 && self.held == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_back(numbers in prop::collection::vec((any::<u32>(), 0..=32u32, 0..300u32), 0..40)) {
            let mut writer = BitWriter::default();
            let low = |number: u32, bits: u32| (u64::from(number) & ((1 << bits) - 1)) as u32;
            for (number, bits, small) in &numbers {
                writer.put(low(*number, *bits), *bits);
                writer.unary(*small);
                writer.gamma((*number).max(1));
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            for (number, bits, small) in numbers {
                prop_assert_eq!(reader.take(bits), Ok(low(number, bits)));
                prop_assert_eq!(reader.unary(), Ok(small));
                prop_assert_eq!(reader.gamma(), Ok(number.max(1)));
            }
            prop_assert!(reader.is_at_end());
            prop_assert_eq!((reader.take(8), reader.unary()), (Err(Damaged), Err(Damaged)));
        }
    }
}

//! Varints, and a reader that never reads past the end.

/// The error for bytes that our writers cannot have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Appends `number`, 7 bits a byte, low bits first.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Maps numbers near 0 of either sign to small numbers.
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Undoes [`zigzag`].
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Bytes that are read from front to back.
pub(super) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a number of [`put_number`]. One that is longer than necessary is damage too.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Damaged> {
        // Most are small.
        if let Some((byte @ ..0x80, rest)) = self.rest.split_first() {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        self.long_number()
    }

    fn long_number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Damaged)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (shift > 0 && *byte == 0) {
                return Err(Damaged);
            }
            number |= bits << shift;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    /// Takes a number that fits 32 bits.
    pub(super) fn small(&mut self) -> Result<u32, Damaged> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*taken)
    }
}

//! The width and height of an image, from the header of its file.

/// The most base64 characters that are read: a JPEG may have a preview and a description before its sizes.
const LOOKED_AT: usize = 256 << 10;

/// Returns width and height in pixels of a PNG, JPEG, GIF or WebP in base64; none for anything else.
pub(super) fn dimensions(base64: &str) -> Option<(u64, u64)> {
    let bytes = decode(base64.as_bytes().get(..LOOKED_AT).unwrap_or(base64.as_bytes()));
    let found = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => (big(&bytes, 16, 4)?, big(&bytes, 20, 4)?),
        [b'G', b'I', b'F', b'8', ..] => (little(&bytes, 6, 2)?, little(&bytes, 8, 2)?),
        [b'R', b'I', b'F', b'F', ..] if bytes.get(8..12)? == b"WEBP" => webp(&bytes)?,
        [0xFF, 0xD8, ..] => jpeg(&bytes)?,
        _ => return None,
    };
    Some(found).filter(|(width, height)| *width > 0 && *height > 0)
}

/// RFC 9649, sections 2.5 to 2.7.
fn webp(bytes: &[u8]) -> Option<(u64, u64)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

/// Walks the markers to the frame header (ITU T.81, B.2.2).
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let [0xFF, marker] = bytes.get(at..at + 2)? else { return None };
        match *marker {
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            kind @ 0xC0..=0xCF if !matches!(kind, 0xC4 | 0xC8 | 0xCC) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?,
        }
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    Some(bytes.get(at..at + count)?.iter().fold(0, |number, byte| (number << 8) + u64::from(*byte)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    Some(bytes.get(at..at + count)?.iter().rev().fold(0, |number, byte| (number << 8) + u64::from(*byte)))
}

/// Decodes up to the first character that is not base64.
fn decode(base64: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for value in base64.iter().map_while(digit) {
        (bits, count) = ((bits << 6) + u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    bytes
}

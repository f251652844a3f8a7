//! The tokens of images, sounds and files.

mod header;
#[cfg(test)]
mod tests;

use serde_json::Value;

use header::dimensions;

/// Bytes of a file that count as one token, as of plain text. No provider publishes a figure by size.
const FILE_BYTES: u64 = 4;
/// Bytes of a second of sound: 16,000 samples of 16 bits in a WAV, and an MP3 of 32 kbit/s.
const WAV_SECOND: u64 = 32_000;
const MP3_SECOND: u64 = 4_000;
/// The assumed length, in seconds, of a sound of unknown size.
const SECONDS: u64 = 120;

/// The rule for the tokens of an image: by its width and height, or a fixed number if these are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageCost {
    /// `base`, and `tile` for each square of 512 pixels, after scaling the image into 2,048 × 2,048 pixels and its shorter side
    /// to 768 (OpenAI's guide to images, "calculating costs"). Only `base` in low detail; 8 tiles if the size is unknown.
    Tiles {
        /// Tokens of any image.
        base: u64,
        /// Tokens of a square.
        tile: u64,
    },
    /// A number of hundredths of a token for each square of 32 pixels, at most 1,536 squares (same page, for the small models);
    /// 1,536 if the size is unknown.
    Patches {
        /// Hundredths of a token.
        hundredths: u64,
    },
    /// One token for each 750 pixels, after scaling the longer side to 1,568, at most 1,600 (Anthropic's guide to vision,
    /// "evaluate image size"); 1,600 if the size is unknown.
    Area,
    /// 258 for each tile, whose side is two thirds of the shorter side and at most 768 pixels; 258 for an image of up to
    /// 384 × 384 (Gemini's guide to images, "token calculation"). 6 tiles if the size is unknown, as for a wide photograph.
    Crops,
}

impl ImageCost {
    /// Returns the tokens of an image of this width and height; `is_low` for low detail.
    pub fn tokens(self, pixels: Option<(u64, u64)>, is_low: bool) -> u64 {
        match (self, pixels) {
            (Self::Tiles { base, .. }, _) if is_low => base,
            (Self::Tiles { base, tile }, None) => base + 8 * tile,
            (Self::Tiles { base, tile }, Some((width, height))) => {
                let (width, height) = scaled(width, height, width.max(height), 2_048);
                let (width, height) = scaled(width, height, width.min(height), 768);
                base + tile * width.div_ceil(512) * height.div_ceil(512)
            }
            (Self::Patches { hundredths }, pixels) => {
                let patches = pixels.map_or(u64::MAX, |(width, height)| width.div_ceil(32) * height.div_ceil(32));
                (patches.min(1_536) * hundredths).div_ceil(100)
            }
            (Self::Area, None) => 1_600,
            (Self::Area, Some((width, height))) => {
                let (width, height) = scaled(width, height, width.max(height), 1_568);
                (width * height).div_ceil(750).min(1_600)
            }
            (Self::Crops, None) => 6 * 258,
            (Self::Crops, Some((width, height))) if width.max(height) <= 384 => 258,
            (Self::Crops, Some((width, height))) => {
                let side = (width.min(height) * 2 / 3).clamp(1, 768);
                width.div_ceil(side).saturating_mul(height.div_ceil(side)).saturating_mul(258)
            }
        }
    }
}

/// Returns the sides of an image, scaled down so that `side`, which is one of them, has at most `most` pixels.
fn scaled(width: u64, height: u64, side: u64, most: u64) -> (u64, u64) {
    if side <= most {
        return (width, height);
    }
    ((width * most).div_ceil(side), (height * most).div_ceil(side))
}

/// The tokens of media, by a model's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaCosts {
    /// A name that is part of the counter's name; other rules have another one.
    pub name: &'static str,
    /// The rules for images; the one with the most tokens counts.
    pub images: &'static [ImageCost],
    /// The fewest tokens of a file: those of a page.
    pub page: u64,
    /// Tokens of a second of sound.
    pub second: u64,
}

impl MediaCosts {
    /// The rules for an unknown model: the larger count of OpenAI's and Anthropic's for images, the largest of all for others.
    pub const USUAL: Self = Self {
        name: "usual",
        images: &[ImageCost::Tiles { base: 85, tile: 170 }, ImageCost::Area],
        page: 4_600,
        second: 32,
    };

    /// Returns the tokens of a piece of media. An image counts by its pixels if its header tells them, a sound or a file by its
    /// size, and a document of texts and images by these, its title and its context. Media stored elsewhere count by a usual size.
    pub(super) fn tokens(&self, value: &Value, words: &dyn Fn(&str) -> u64) -> u64 {
        let source = |name: &str| value.get("source").and_then(|source| source.get(name));
        let written = match source("type").and_then(Value::as_str) {
            Some("text") => source("data").filter(|data| data.is_string()),
            Some("content") => source("content"),
            _ => None,
        };
        if let Some(written) = written {
            let about = |name: &str| value.get(name).and_then(Value::as_str).map_or(0, words);
            let tokens = self.written(written, words).saturating_add(about("title")).saturating_add(about("context"));
            return tokens.max(self.page);
        }
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let inner = value.get(kind);
        let member = |name: &str| inner.and_then(|inner| inner.get(name)).and_then(Value::as_str);
        let data = data(value);
        match kind {
            "image_url" | "image" | "input_image" => {
                let (pixels, is_low) = (data.and_then(dimensions), member("detail") == Some("low"));
                self.images.iter().map(|cost| cost.tokens(pixels, is_low)).max().unwrap_or_default()
            }
            "input_audio" => {
                let rate = if member("format") == Some("wav") { WAV_SECOND } else { MP3_SECOND };
                data.map_or(SECONDS, |data| size(data).div_ceil(rate)).saturating_mul(self.second)
            }
            _ => data.map_or(0, |data| size(data) / FILE_BYTES).max(self.page),
        }
    }

    /// Returns the tokens of what a document holds: a text, or a list of texts and images. Anything else counts as its JSON.
    fn written(&self, content: &Value, words: &dyn Fn(&str) -> u64) -> u64 {
        let piece = |piece: &Value| {
            let member = |name: &str| piece.get(name).and_then(Value::as_str);
            match (member("type"), member("text")) {
                (Some("text"), Some(text)) => words(text),
                (Some("image"), _) => self.tokens(piece, words),
                _ => words(&piece.to_string()),
            }
        };
        match content {
            Value::String(text) => words(text),
            Value::Array(pieces) => pieces.iter().map(piece).fold(0, u64::saturating_add),
            other => words(&other.to_string()),
        }
    }
}

/// Returns how many bytes a text in base64 stands for.
fn size(data: &str) -> u64 {
    data.len() as u64 / 4 * 3
}

/// Returns the base64 data in a piece: the longest text in it, unless that is an address or a name.
fn data(value: &Value) -> Option<&str> {
    let text = longest(value);
    match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(',').map(|(_, data)| data),
        None => Some(text).filter(|text| text.len() > 100 && !text.contains("://")),
    }
}

fn longest(value: &Value) -> &str {
    let longer = |one: &str, other: &str| one.len().cmp(&other.len());
    match value {
        Value::String(text) => text,
        Value::Array(list) => list.iter().map(longest).max_by(|one, other| longer(one, other)).unwrap_or_default(),
        Value::Object(map) => map.values().map(longest).max_by(|one, other| longer(one, other)).unwrap_or_default(),
        _ => "",
    }
}

use serde_json::json;

use super::*;

fn tiles(pixels: (u64, u64)) -> u64 {
    ImageCost::Tiles { base: 85, tile: 170 }.tokens(Some(pixels), false)
}

#[test]
fn images_cost_what_the_providers_examples_say() {
    // OpenAI: 1,024 x 1,024 is 765, 2,048 x 4,096 is 1,105, low detail 85.
    assert_eq!([tiles((1_024, 1_024)), tiles((2_048, 4_096)), tiles((100, 50))], [765, 1_105, 255]);
    assert_eq!(ImageCost::Tiles { base: 85, tile: 170 }.tokens(Some((4_096, 8_192)), true), 85);
    // OpenAI: 1,024 x 1,024 is 1,024 patches; no image has more than 1,536.
    let patches = |hundredths, pixels| ImageCost::Patches { hundredths }.tokens(pixels, false);
    assert_eq!([patches(100, Some((1_024, 1_024))), patches(162, Some((2_400, 1_800)))], [1_024, 2_489]);
    // Anthropic: 200 x 200 is about 54, 1,000 x 1,000 about 1,334, 1,092 x 1,092 about 1,590.
    let area = |pixels| ImageCost::Area.tokens(Some(pixels), false);
    assert_eq!(
        [area((200, 200)), area((1_000, 1_000)), area((1_092, 1_092)), area((9_000, 9_000))],
        [54, 1_334, 1_590, 1_600]
    );
    // Gemini: up to 384 x 384 is 258, 960 x 540 is 6 tiles.
    let crops = |pixels| ImageCost::Crops.tokens(Some(pixels), false);
    assert_eq!([crops((384, 384)), crops((960, 540))], [258, 6 * 258]);
}

#[test]
fn no_size_overflows_or_costs_nothing() {
    let costs = [
        ImageCost::Tiles { base: 85, tile: 170 },
        ImageCost::Patches { hundredths: 246 },
        ImageCost::Area,
        ImageCost::Crops,
    ];
    for side in [1, 2, 511, 1_569, 65_535, u64::from(u32::MAX)] {
        for pixels in [(side, 1), (1, side), (side, side)] {
            assert!(costs.iter().all(|cost| cost.tokens(Some(pixels), false) > 0), "{pixels:?}");
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let triple = |triple: &[u8]| {
        let bits = triple.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - triple.len()));
        (0..=triple.len())
            .map(|place| char::from(alphabet[(bits >> (18 - 6 * place) & 63) as usize]))
            .collect::<String>()
    };
    bytes.chunks(3).map(triple).collect()
}

/// The beginnings of files of 640 x 480 pixels.
fn headers() -> Vec<Vec<u8>> {
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &640_u32.to_be_bytes(), &480_u32.to_be_bytes()].concat();
    let gif = [b"GIF89a".as_slice(), &640_u16.to_le_bytes(), &480_u16.to_le_bytes()].concat();
    let sides = [&640_u16.to_be_bytes()[..], &480_u16.to_be_bytes()];
    let preview = [&[0xFF, 0xE1, 0, 12][..], &[0xFF; 10]].concat();
    let jpeg = [&[0xFF, 0xD8][..], &preview, &[0xFF, 0xFF, 0xC2, 0, 17, 8], sides[1], sides[0], &[3]].concat();
    let riff = |kind: &[u8], rest: &[u8]| [b"RIFF\0\0\0\0WEBP", kind, &[0; 4], rest].concat();
    let lossy = riff(b"VP8 ", &[&[0; 6][..], &640_u16.to_le_bytes(), &480_u16.to_le_bytes()].concat());
    let lossless = riff(b"VP8L", &[&[0x2F][..], &(639_u32 | 479 << 14).to_le_bytes()].concat());
    let extended = riff(b"VP8X", &[&[0; 4][..], &639_u32.to_le_bytes()[..3], &479_u32.to_le_bytes()[..3]].concat());
    vec![png, gif, jpeg, lossy, lossless, extended]
}

#[test]
fn sizes_are_read_from_the_header_of_each_format() {
    for header in headers() {
        assert_eq!(dimensions(&base64(&header)), Some((640, 480)), "{header:02x?}");
        // A file that is cut off, or whose bytes are any others, is no image, and no panic.
        for end in 0..header.len() {
            assert!(dimensions(&base64(&header[..end])).is_none_or(|size| end + 4 > header.len() && size.0 > 0));
        }
        for place in 0..header.len() {
            for byte in [0, 1, 0x7F, 0xFF] {
                let mut damaged = header.clone();
                damaged[place] = byte;
                dimensions(&base64(&damaged));
            }
        }
    }
    assert_eq!(dimensions(""), None);
    assert_eq!(dimensions("not base64 at all!"), None);
}

fn count(value: &Value) -> u64 {
    MediaCosts::USUAL.tokens(value, &|text| text.len() as u64)
}

#[test]
fn an_image_costs_by_its_pixels_and_a_file_by_its_size() {
    let image =
        |url: &str, detail: &str| count(&json!({ "type": "image_url", "image_url": { "url": url, "detail": detail } }));
    let png = format!("data:image/png;base64,{}", base64(&[headers().remove(0), vec![0; 100_000]].concat()));
    assert_eq!(image(&png, "high"), tiles((640, 480)).max(640 * 480 / 750 + 1));
    assert_eq!(image("https://example.org/a.png", "auto"), 1_600);
    let pdf = |bytes: usize| {
        count(
            &json!({ "type": "file", "file": { "file_data": format!("data:application/pdf;base64,{}", base64(&vec![7; bytes])) } }),
        )
    };
    assert_eq!([pdf(300), pdf(120_000)], [4_600, 30_000]);
    assert_eq!(count(&json!({ "type": "file", "file": { "file_id": "file-abc" } })), 4_600);
    let sound = |bytes: usize, format: &str| {
        count(&json!({ "type": "input_audio", "input_audio": { "data": base64(&vec![7; bytes]), "format": format } }))
    };
    assert_eq!([sound(320_000 * 3, "wav"), sound(40_000 * 3, "mp3")], [30 * 32, 30 * 32]);
    assert_eq!(count(&json!({ "type": "input_audio", "input_audio": {} })), 120 * 32);
}

#[test]
fn pieces_of_the_other_dialect_cost_the_same() {
    let source = |kind: &str, data: &str| json!({ "type": kind, "source": { "type": "base64", "media_type": "x", "data": data } });
    let png = base64(&[headers().remove(0), vec![0; 100]].concat());
    assert_eq!(count(&source("image", &png)), tiles((640, 480)).max(640 * 480 / 750 + 1));
    assert_eq!(count(&source("document", &base64(&vec![7; 120_000]))), 30_000);
    let text = json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "a".repeat(9_000) } });
    assert_eq!(count(&text), 9_000);
}

#[test]
fn a_document_of_texts_and_images_costs_what_it_holds() {
    let document = |content: Value| json!({ "type": "document", "source": { "type": "content", "content": content } });
    let text = |length: usize| json!({ "type": "text", "text": "a".repeat(length) });
    let data = base64(&[headers().remove(0), vec![0; 100]].concat());
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let pixels = tiles((640, 480)).max(640 * 480 / 750 + 1);
    assert_eq!(count(&document(json!([text(600_000), text(400_000), image]))), 1_000_000 + pixels);
    assert_eq!(count(&document(json!("a".repeat(9_000)))), 9_000);
    let other = json!({ "type": "table", "cells": "a".repeat(9_000) });
    assert_eq!(count(&document(json!([other]))), other.to_string().len() as u64);
    assert_eq!([count(&document(json!([text(10)]))), count(&document(json!([])))], [4_600; 2]);
}

#[test]
fn the_title_and_the_context_of_a_document_of_words_are_counted_too() {
    let content = json!({ "type": "content", "content": [{ "type": "text", "text": "x" }] });
    for source in [content, json!({ "type": "text", "media_type": "text/plain", "data": "x" })] {
        let (title, context) = ("t".repeat(2_000), "c".repeat(750_000));
        let document = json!({ "type": "document", "title": title, "context": context, "source": source });
        assert_eq!(count(&document), 752_001, "{source}");
    }
}

fn png(width: u32, height: u32) -> String {
    base64(&[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes()].concat())
}

#[test]
fn an_image_without_a_width_or_a_height_has_no_size() {
    assert_eq!(dimensions(&png(1, 1)), Some((1, 1)));
    assert_eq!([dimensions(&png(0, 1)), dimensions(&png(1, 0)), dimensions(&png(0, 0))], [None; 3]);
}

#[test]
fn both_alphabets_of_base64_are_read() {
    let plain = png(992, 4_032);
    assert!(plain.contains('+') && plain.contains('/'), "{plain}");
    for text in [plain.replace('+', "-").replace('/', "_"), plain] {
        assert_eq!(dimensions(&text), Some((992, 4_032)));
    }
}

#[test]
fn sizes_are_found_behind_other_segments_of_a_jpeg() {
    // A preview, a mark without a length, and the tables of the coding come before the frame.
    let preview = [&[0xFF, 0xE1, 0, 12][..], &[7; 10]].concat();
    let tables = [&[0xFF, 0xC4, 0, 9][..], &[3; 7]].concat();
    let frame = [0xFF, 0xC0, 0, 17, 8, 1, 0xE0, 2, 0x80, 3];
    let file = [&[0xFF, 0xD8][..], &preview, &[0xFF, 0x01, 0xFF, 0xD0], &tables, &frame].concat();
    assert_eq!(dimensions(&base64(&file)), Some((640, 480)));
}

#[test]
fn a_container_of_something_else_is_no_image() {
    let webp = headers().remove(3);
    let other = [&webp[..8], b"AVI ", &webp[12..]].concat();
    assert_eq!([dimensions(&base64(&webp)), dimensions(&base64(&other))], [Some((640, 480)), None]);
}

#[test]
fn data_is_found_in_lists_and_a_short_text_is_a_name() {
    let sound = |value: Value| count(&json!({ "type": "input_audio", "input_audio": value }));
    // 12,000 bytes are three seconds of MP3, and a sound of unknown length counts as two minutes.
    assert_eq!(sound(json!({ "data": "a".repeat(16_000) })), 3 * 32);
    assert_eq!(sound(json!({ "parts": ["x", "a".repeat(16_000)] })), 3 * 32);
    assert_eq!([100, 101].map(|length| sound(json!({ "data": "a".repeat(length) }))), [120 * 32, 32]);
}

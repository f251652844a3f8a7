use std::sync::Arc;

use memory_core::engine::Memory;
use memory_core::model::{Embedder, Purpose};
use memory_core::reference::{MemChat, MemRecords, MemVectors};
use memory_core::{SessionId, Truth};
use memory_testkit::fixture::Fixture;

use super::file::Table;
use super::{StaticEmbedder, one};

fn table() -> &'static Table {
    Table::built_in().unwrap()
}

/// Returns the pieces of a text, as BERT writes them. What is unknown has its mark.
fn pieces(text: &str) -> Vec<&'static str> {
    let mut cut = Vec::new();
    table().vocabulary.cut(text, |word| {
        cut.extend(word.iter().map(|piece| table().names[*piece as usize]));
        cut.extend(word.is_empty().then_some("[UNK]"));
    });
    cut
}

#[test]
fn words_are_cut_into_the_longest_pieces() {
    let cut = |text: &str| pieces(text).join(" ");
    assert_eq!(cut("Unaffable tokenization, naïvely!"), "una ##ffa ##ble token ##ization , naive ##ly !");
    assert_eq!(cut("what's 1.250?\u{0}\u{200b} ok"), "what ' s 1 . 250 ? ok");
    assert_eq!(cut("中文 \u{1f600}"), "中 文 [UNK]");
    assert_eq!(cut(&"x".repeat(101)), "[UNK]");
    assert_eq!(cut(" \n"), "");
}

/// The ranges of letters, odd characters and words of `scripts/static_table/reference.py`: 20 scripts, and what is mixed in.
const RANGES: [(u32, u64); 26] = [
    (0x61, 26),
    (0x391, 0x39),
    (0x410, 0x50),
    (0x531, 0x26),
    (0x5D0, 27),
    (0x621, 26),
    (0x905, 0x35),
    (0x995, 0x14),
    (0xB95, 6),
    (0xC05, 8),
    (0xD05, 8),
    (0xE01, 0x3A),
    (0xF40, 8),
    (0x10D0, 0x21),
    (0x1200, 0x49),
    (0x1780, 0x34),
    (0x3041, 0x56),
    (0x30A1, 0x5A),
    (0x4E00, 0x5000),
    (0xAC00, 0x2BA4),
    (0xC0, 0x170),
    (0xF900, 0x16E),
    (0x20000, 0xA000),
    (0x2010, 0x20),
    (0x1F600, 0x40),
    (0xE000, 0x10),
];
const SCRIPTS: usize = 20;
const ODD: [u32; 24] = [
    0x20, 0x2E, 0x27, 0x2D, 0x24, 0x5F, 0x41, 0x5A, 0x130, 0x301, 0x308, 0x327, 0xA0, 0x3000, 0x2028, 0x200B, 0xAD,
    0x7F, 0xFFFD, 0x3001, 0x302E, 0x1D16D, 0x1D165, 0x85,
];
const WORDS: [&str; 18] = [
    "the",
    "dentist",
    "Vertriebsmitarbeiter",
    "naïve",
    "unaffordable",
    "don't",
    "café",
    "MEMORY",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "tokenization",
    "Здравствуйте",
    "περισσότερα",
    "İstanbul",
    "الكتاب",
    "日本語テスト",
    "ประเทศไทย",
    "한국어",
    "שלום",
];

/// Makes the text that the script makes from a number.
fn made_up(number: usize) -> String {
    let mut seed = number as u64;
    let mut pick = |count: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % count
    };
    let letter = |code: u64| char::from_u32(code as u32).unwrap();
    let words = (0..2 + pick(8)).map(|_| match pick(10) {
        0..3 => WORDS[pick(18) as usize].to_owned(),
        3 => pick(10_000).to_string(),
        kind => {
            let (first, count) = RANGES[if kind == 4 { pick(26) as usize } else { number % SCRIPTS }];
            let odd_or_not = (0..1 + pick(9)).map(|_| match pick(9) {
                0 => letter(u64::from(ODD[pick(24) as usize])),
                _ => letter(u64::from(first) + pick(count)),
            });
            odd_or_not.collect()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn ten_thousand_texts_in_twenty_scripts_are_cut_as_bert_cuts_them() {
    let reference: Vec<&str> = include_str!("reference.txt").lines().collect();
    assert_eq!(reference.len(), 500);
    for (group, promised) in reference.iter().enumerate() {
        let texts = group * 20..group * 20 + 20;
        let digest = texts.clone().flat_map(|number| pieces(&made_up(number))).fold(
            0xCBF2_9CE4_8422_2325_u64,
            |value, piece| {
                piece
                    .bytes()
                    .chain([b' '])
                    .fold(value, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
            },
        );
        assert_eq!(format!("{digest:016x}"), **promised, "one of the texts {texts:?}: {}", made_up(texts.start));
    }
}

#[test]
fn a_text_of_unlearnt_pieces_has_no_vector() {
    for text in ["👍", "ขอบคุณครับ", "спасибо большое"] {
        assert_eq!(one(table(), text), None, "{text}");
    }
    assert!(one(table(), "thanks 👍").is_some());
}

#[tokio::test]
async fn many_texts_at_once_have_the_vectors_that_each_has_alone() {
    let embedder = StaticEmbedder::new();
    let texts: Vec<String> =
        (0..400).map(|number| format!("the dentist of room {number} {}", "and on ".repeat(9))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embedder.embed(&texts, Purpose::Document).await.unwrap();
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(embedder.embed(&[text], Purpose::Query).await.unwrap(), [vector]);
    }
}

#[tokio::test]
async fn blank_and_huge_texts_are_refused() {
    let embedder = StaticEmbedder::new();
    for text in [" \n", &"x ".repeat(40_000)] {
        assert!(embedder.embed(&[text], Purpose::Query).await.is_err());
    }
}

/// A greeting recalls nothing, though in this space a few lines of small talk are near to something that was said.
#[tokio::test]
async fn small_talk_recalls_hardly_anything_by_meaning() {
    let embedder = Arc::new(StaticEmbedder::new());
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    let memory = Memory::builder(chat, records).vectors(vectors, embedder).build().await.unwrap();
    let owner = Fixture::load().unwrap().append(&memory).await.unwrap();
    let session = owner.session(&SessionId::new("new").unwrap());
    let mut recalled = Vec::new();
    for line in Fixture::small_talk().unwrap() {
        if session.context(line.as_str(), 40_000).await.unwrap().receipt.tokens.recalled > 0 {
            recalled.push(line);
        }
    }
    assert!(recalled.len() <= 2, "{recalled:?}");
}

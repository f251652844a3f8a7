#![cfg(feature = "tiktoken")]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::window::tokens::TiktokenCounter;

const PROSE: &str = "When the rain stopped, nobody in the village of Harrow's End believed it at first. Mrs. Okonkwo, who \
    had kept the post office since 1974, opened her window and listened. \"It's over,\" she said, half to herself; \
    then she put the kettle on, because that is what one does. Her nephew — a tall, unreasonably cheerful boy named \
    Tobias — asked whether the bridge would hold. \"It held in '53,\" she answered, \"and it'll hold now.\" \
    Nevertheless, by a quarter past nine the council had closed the road, rerouted the No. 14 bus, and telephoned \
    everyone within three miles. I'm not sure we'd have done it differently! Dr. Patel's estimate (£12,500, plus VAT) \
    looked optimistic. Internationalisation, incidentally, was never on the agenda.\n\nThe next morning we walked to \
    the quarry.\n- bread\n- two apples\n- a map, folded the wrong way\n";

const GERMAN: &str = "Am nächsten Morgen gingen wir über die Brücke, obwohl die Straßenverkehrsordnung es verbot. \
    Niemand hielt uns auf; der Bürgermeister schlief noch. Später, gegen halb zehn, läutete die Glocke dreimal.\n";

const CJK: [&str; 4] = [
    "今天天气很好，我们去公园散步吧。机器学习模型需要大量的数据，才能得到可靠的结果。\n",
    "今朝は早く起きて、駅まで歩きました。カタカナとひらがなが混ざった文章です。\n",
    "오늘은 날씨가 매우 좋습니다. 우리는 학교에 가서 친구를 만났습니다.\n",
    "鬱龘齉爨麤籲钃鱻",
];

const EMOJI: [&str; 8] = ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "🧑‍💻", "🎉", "🥲"];

/// Fails if the estimate lies below one of the true counts.
fn check(text: &str) {
    let estimate = HeuristicCounter.count_text(text);
    for counter in [TiktokenCounter::cl100k(), TiktokenCounter::o200k()] {
        let count = counter.count_text(text);
        assert!(estimate >= count, "{estimate} for {count} of {}: {text:?}", counter.name());
    }
    assert!(estimate <= text.len() as u64);
}

/// Checks a text whole, and every stretch of it that has one of these numbers of words.
fn check_stretches(text: &str, words: &[usize]) {
    check(text);
    let parts: Vec<_> = text.split_inclusive(char::is_whitespace).collect();
    for words in words {
        parts.windows(*words).for_each(|window| check(&window.concat()));
    }
}

#[test]
fn s4_15_prose_is_never_under_estimated() {
    check_stretches(PROSE, &[1, 3, 10, 40]);
    check_stretches(GERMAN, &[1, 3, 10, 20]);
}

/// How many times the larger true count the estimate is.
fn multiple(text: &str) -> f64 {
    let counts = [TiktokenCounter::cl100k(), TiktokenCounter::o200k()].map(|counter| counter.count_text(text));
    HeuristicCounter.count_text(text) as f64 / counts[0].max(counts[1]) as f64
}

#[test]
fn s4_15_prose_and_code_are_not_grossly_over_estimated() {
    for (text, most) in [(PROSE, 1.9), (GERMAN, 2.1), (CJK[0], 2.8), (include_str!("../../../message.rs"), 2.0)] {
        assert!(multiple(text) < most, "{} for {text}", multiple(text));
    }
}

#[test]
fn every_pair_triple_and_word_is_one_token_in_both_vocabularies() {
    let is_one = |text: &str| {
        [TiktokenCounter::cl100k(), TiktokenCounter::o200k()].iter().all(|counter| counter.count_text(text) == 1)
    };
    let grams = include_str!("grams.txt").split_ascii_whitespace().map(|gram| gram.replace('_', " "));
    let words = include_str!("words.txt").split_ascii_whitespace().map(|word| format!(" {word}"));
    let letters = (b'!'..=b'~').filter(|byte| !byte.is_ascii_digit()).map(|byte| format!(" {}", char::from(byte)));
    let blanks = (1..=20).flat_map(|count| [" ", "\t"].map(|blank| blank.repeat(count)));
    let wrong: Vec<_> = grams.chain(words).chain(letters).chain(blanks).filter(|text| !is_one(text)).collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn words_of_languages_that_the_vocabularies_hardly_know_are_never_under_estimated() {
    for text in [
        "juoksentelisinkohan ep\u{e4}j\u{e4}rjestelm\u{e4}llistytt\u{e4}m\u{e4}tt\u{f6}myydell\u{e4}ns\u{e4} hyv\u{e4}\u{e4} huomenta mit\u{e4} kuuluu",
        "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch mae hi yn bwrw glaw heddiw",
        "wszczynac chrzaszcz brzmi w trzcinie szczebrzeszyn bezwzgledny przeciwdzialanie zolty zrobic",
        "megszentsegtelenithetetlensegeskedeseitekert egeszsegedre koszonom szepen hogyan tudok segiteni",
        "ninakushukuru sana kwa msaada wako tutaonana kesho asubuhi shuleni pamoja na wanafunzi wengine",
        "ngiyabonga kakhulu ngosizo lwakho sizobonana kusasa ekuseni esikoleni",
        "wo xiang qu beijing chi zhajiangmian ranhou mai yixie dongxi gei wo de pengyou",
        "qgqkzjxg qfjwqyjzgj xqzgqjvzjgqf qjxqjvqjzrjgkqjg jfjyqg vjwzj aqgj oqf yk",
        "O'Donnell's and 'tyou'll've I'D they'Re 'llama 'sxq'zj",
    ] {
        check_stretches(text, &[1, 2, 5]);
    }
}

/// Draws words of the letters of each alphabet in turn, and whatever stands between them.
fn any_words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,24}",
        "[bcdfghjklmnpqrstvwxz]{1,16}",
        "[acgt]{1,40}",
        "[jqxzvkwy]{1,16}",
        "[A-Z]{1,16}",
        "[aAbBqQjJxX]{1,24}",
        "[a-z0-9]{1,24}",
        "[A-Za-z0-9+/]{1,40}",
        "['sdmtlrve]{1,12}",
        "[a-z\u{e4}\u{f6}\u{fc}\u{df}\u{e9}\u{142}]{1,20}",
        "[\u{430}-\u{44f}]{1,12}",
        "[\u{4e00}-\u{4fff}]{1,8}",
        "[0-9\u{7c0}-\u{7c9}\u{660}-\u{669}\u{1d7d8}\u{b2}]{1,12}",
        "[!-/:-@\\[-`{-~]{1,8}",
        "[ -~]{1,40}",
        ".{1,20}",
    ];
    let between =
        prop::sample::select(&[" ", " ", " ", "  ", "\n", "\t", "'", "", "-", "\u{a0}", " \t ", "    ", "\r\n"][..]);
    vec((word, between), 1..12).prop_map(|parts| parts.into_iter().map(|(word, between)| word + between).collect())
}

#[test]
fn s4_15_code_is_never_under_estimated() {
    for code in [include_str!("../heuristic.rs"), include_str!("tests.rs"), include_str!("../../../message.rs")] {
        check(code);
        code.split_inclusive('\n').for_each(check);
    }
    check_stretches(
        "SELECT a.id, b.name FROM accounts a JOIN users b ON a.uid = b.id WHERE a.ts >= 1700000000;\n",
        &[1, 3, 9],
    );
    check_stretches(
        "def getHTTPResponse(self, xmlParser=None):\n    return [x**2 for x in range(10) if x % 3 == 0]\n",
        &[1, 3, 9],
    );
}

#[test]
fn s4_15_cjk_and_emoji_are_never_under_estimated() {
    for text in CJK.into_iter().chain(EMOJI) {
        check(text);
        check(&text.repeat(50));
        text.char_indices().for_each(|(at, _)| check(&text[at..]));
    }
}

#[test]
fn s4_15_digits_of_several_scripts_side_by_side_are_never_under_estimated() {
    for other in ["\u{7c0}", "\u{661}", "\u{b2}", "\u{1d7d8}", "\u{2167}"] {
        for (before, behind) in (0_usize..4).flat_map(|before| (0_usize..12).map(move |behind| (before, behind))) {
            let (before, behind) = (&"123"[..before], &"12345678901"[..behind]);
            check(&format!("{before}{other}{behind}"));
            check(&format!("{before}{other}{other}{behind}{other}{behind}"));
        }
    }
}

#[test]
fn s4_15_blanks_are_never_under_estimated() {
    for blank in [" ", "\t", "\n", "\r\n", " \n", "\u{a0}", "\u{3000}"] {
        for count in [1, 2, 3, 5, 17, 100, 1_000, 70_000] {
            check(&blank.repeat(count));
            check(&format!("a{}b", blank.repeat(count)));
            check(&format!("1{}2", blank.repeat(count)));
        }
    }
    check(&" ".repeat(1_000_000));
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(PROSE.split_whitespace().collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u16>().prop_map(Value::from),
        (-1e3..1e3).prop_map(|number: f64| json!(number)),
        vec(word(), 0..9).prop_map(|words| Value::from(words.join(" "))),
    ];
    let key = prop::sample::select(&["id", "user_name", "createdAt", "items", "x", "http_status", "isActive"][..]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let members = vec((key.clone(), inner.clone()), 0..6);
        let object =
            members.prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        prop_oneof![vec(inner, 0..6).prop_map(Value::from), object]
    })
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: &u8| char::from(*alphabet.iter().cycle().nth(usize::from(*byte)).unwrap());
    bytes.iter().map(digit).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn s4_15_json_is_never_under_estimated(value in any_json()) {
        check(&value.to_string());
        check(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn s4_15_hex_is_never_under_estimated(bytes in vec(any::<u8>(), 16..600)) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        check(&hex);
        check(&hex.to_uppercase());
    }

    #[test]
    fn s4_15_base64_is_never_under_estimated(bytes in vec(any::<u8>(), 64..3_000)) {
        check(&base64(&bytes));
    }

    #[test]
    fn s4_15_digits_and_signs_are_never_under_estimated(digits in "[0-9 .,:-]{0,80}", signs in "[!-/:-@\\[-`{-~]{0,80}") {
        check(&digits);
        check(&signs);
    }

    #[test]
    fn words_of_any_alphabet_are_never_under_estimated(text in any_words()) {
        check(&text);
    }

    #[test]
    fn the_estimate_never_exceeds_the_bytes(text in ".{0,200}") {
        prop_assert!(HeuristicCounter.count_text(&text) <= text.len() as u64);
    }
}

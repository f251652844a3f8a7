use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::analysis::{Analysis, Language};
use crate::hashing::HashEmbedder;
use crate::vector::Similarity;

const FACT: [&str; 8] = ["Caroline", "adopted", "two", "black", "cats", "from", "shelter", "Tuesday"];

/// Draws numbers below a bound, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Returns another wording of the fact: other case, punctuation, stop words, plural. Another order of the words is another
/// statement, and so is one that begins with `is`.
fn variant(dice: &mut Dice) -> String {
    let mut text = String::new();
    for word in FACT.map(str::to_owned) {
        let word = match dice.below(3) {
            0 if !word.ends_with('s') && word != "from" && word != "adopted" => format!("{word}s"),
            1 if word.ends_with('s') => word.trim_end_matches('s').to_owned(),
            _ => word,
        };
        let word = match dice.below(4) {
            0 => word.to_uppercase(),
            1 => word.to_lowercase(),
            2 => word.chars().enumerate().map(|(n, c)| if n % 2 == 0 { c.to_ascii_uppercase() } else { c }).collect(),
            _ => word,
        };
        let fillers = ["", "the ", "a ", "The ", "of ", "in the ", "is "];
        text.push_str(fillers[dice.below(if text.is_empty() { 6 } else { 7 })]);
        text.push_str(&word);
        text.push_str([" ", ", ", "; ", "! ", "... ", " - ", "\n", ") ", "\" ", "’s "][dice.below(10)]);
    }
    text
}

/// Pairs of facts that share most words: another number, another name, a negation.
fn pairs() -> Vec<(String, String)> {
    let names = ["Anna", "Bob", "Chloé", "Dmitri", "Emeka", "Fatima", "Goro", "Hana", "Ivan", "José"];
    let mut pairs = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let other = names[(index + 1) % names.len()];
        for (a, b) in [
            ("NAME has two cats and 3 dogs", "NAME has two cats and 4 dogs"),
            ("NAME pays $500 of rent", "NAME pays €500 of rent"),
            ("it was -5 degrees where NAME lives", "it was 5 degrees where NAME lives"),
            ("the code of NAME's door is E-4471-B", "the code of NAME's door is E-4417-B"),
            ("NAME runs version 1.2.3", "NAME runs version 12.3"),
            ("NAME likes peanuts", "NAME does not like peanuts"),
            ("NAME eats meat", "NAME never eats meat"),
            ("NAME can swim", "NAME can't swim"),
            ("NAME travels with a dog", "NAME travels without a dog"),
            ("there is sugar in NAME's tea", "there is no sugar in NAME's tea"),
            ("NAME lives in Rome", "OTHER lives in Rome"),
            ("NAME flew to Oslo in May", "NAME flew to Lima in May"),
            ("NAME was born in 1990", "NAME was born in 1991"),
            ("NAME met Karim on Friday", "NAME met Karim on Monday"),
            ("the sister of NAME is a nurse", "the sister of OTHER is a nurse"),
            ("NAME takes 50 mg a day", "NAME takes 50 mg on 2 days"),
            ("NAME prefers C++", "NAME prefers C#"),
            ("NAME earned 20% more", "NAME earned 20 more"),
            ("NAME's flight is at 10:30", "NAME's flight is at 10:45"),
            ("nobody told NAME about Lisbon", "Somebody told NAME about Lisbon"),
        ] {
            let fill = |text: &str| text.replace("NAME", name).replace("OTHER", other);
            pairs.push((fill(a), fill(b)));
        }
    }
    pairs
}

#[test]
fn row_1_668_variants_of_one_fact_are_one() {
    let (analysis, mut dice) = (Analysis::english(), Dice(7));
    let mut variants = BTreeSet::new();
    while variants.len() < 668 {
        variants.insert(variant(&mut dice));
    }
    let one = fingerprint(&analysis, "fact", &FACT.join(" "));
    for variant in variants {
        assert_eq!(fingerprint(&analysis, "fact", &variant), one, "{variant}");
    }
}

#[test]
fn row_1_200_pairs_of_facts_that_share_most_words_stay_two() {
    let analysis = Analysis::english();
    let pairs = pairs();
    assert_eq!(pairs.len(), 200);
    for (a, b) in &pairs {
        assert_ne!(fingerprint(&analysis, "fact", a), fingerprint(&analysis, "fact", b), "{a} | {b}");
        assert!(differ_in_particulars(&analysis, a, b), "{a} | {b}");
    }
}

/// Returns what a gate decides about `b` where `a` is known.
fn decide(gate: Gate, a: &str, b: &str) -> Verdict {
    let (analysis, embedder) = (Analysis::english(), HashEmbedder::new(384));
    let cosine: f32 = embedder.vector(a).iter().zip(embedder.vector(b)).map(|(a, b)| a * b).sum();
    let id = fingerprint(&analysis, "fact", a);
    let differs = differ_in_particulars(&analysis, a, b);
    gate.decide(None, Some(Nearest { id, similarity: Similarity::new(cosine), differs }))
}

#[test]
fn row_1_the_gate_keeps_both_of_a_pair() {
    for (a, b) in pairs() {
        assert_eq!(decide(Gate::default(), &a, &b), Verdict::Stored, "{a} | {b}");
        assert_eq!(decide(Gate::hashing(), &a, &b), Verdict::Stored, "{a} | {b}");
    }
}

#[test]
fn without_a_model_another_word_is_news_and_a_slip_of_the_pen_is_not() {
    let long = "signed up for a class last week because making pots out of clay with both hands helps to calm down";
    for (a, b) in [
        ("likes tea", "likes coffee"),
        ("anna lives in rome", "bob lives in rome"),
        ("prefers dark mode in the editor", "prefers light mode in the editor"),
        (long, &long.replace("clay", "sand")),
        (long, &long.replace("week", "year")),
    ] {
        assert_eq!(decide(Gate::hashing(), a, b), Verdict::Stored, "{a} | {b}");
    }
    let longer = [
        long,
        "after a day full of meetings in the office downtown where nobody ever opens a window",
        "and then walks home along the river every evening listening to old records on huge headphones that were a gift",
        "of two aunts who run some bakery near our harbour",
    ]
    .join(" ");
    let slip = longer.replace("meetings", "meettings");
    assert!(matches!(decide(Gate::hashing(), &longer, &slip), Verdict::Reinforced(_)));
}

#[test]
fn tenses_relations_and_pictures_are_not_lost() {
    for (analysis, a, b) in [
        (Analysis::english(), "Anna is chief", "Anna was chief"),
        (Analysis::english(), "Anna works at Acme", "Anna worked at Acme"),
        (Analysis::english(), "I quit", "I'll quit"),
        (Analysis::english(), "the train from Rome", "the train to Rome"),
        (Analysis::english(), "tea or coffee", "tea and coffee"),
        (Analysis::english(), "feels 😀", "feels 😢"),
        (Analysis::english(), "😀", "😢"),
        (Analysis::english(), "university", "universe"),
        (Analysis::english(), "it is", "the"),
        (Analysis::english(), "the dog bit the man", "the man bit the dog"),
        (Analysis::english(), "prefers tea to coffee", "prefers coffee to tea"),
        (Analysis::english(), "from 3 to 5", "from 5 to 3"),
        (Analysis::english(), "paid 20 for 3", "paid 3 for 20"),
        (Analysis::english(), "is he coming", "he is coming"),
        (Analysis::english(), "not only a", "only a not"),
        (Analysis::english(), "it is safe, not dangerous", "it is dangerous, not safe"),
        (Analysis::english(), "likes dogs, hates cats", "likes cats, hates dogs"),
        (Analysis::english(), "yes to meat, no to fish", "no to meat, yes to fish"),
        (Analysis::of(Language::German), "Anna mag Tee", "Anna mag keinen Tee"),
        (Analysis::plain(), "我喜欢猫", "我不喜欢猫"),
    ] {
        assert_ne!(fingerprint(&analysis, "fact", a), fingerprint(&analysis, "fact", b), "{a} | {b}");
    }
}

#[test]
fn signs_that_carry_meaning_count() {
    let analysis = Analysis::english();
    for (a, b) in [
        ("likes 🍎", "likes 🍌"),
        ("price > 5", "price < 5"),
        ("uses c++", "uses c"),
        ("uses c#", "uses c"),
        ("rated 4.5", "rated 45"),
        ("meets at 5:30", "meets at 530"),
        ("x = -1", "x = 1"),
        ("10^5", "105"),
        ("a/b test", "ab test"),
        ("file.txt", "file txt"),
        ("5'10 tall", "510 tall"),
        ("version 1.2", "version 2.1"),
        ("born 03.04.1990", "born 04.03.1990"),
        ("born 3 4 1990", "born 4 3 1990"),
        ("a*b", "a b"),
        ("a * b", "a b"),
        ("5 - 3", "5 3"),
        ("~5", "5"),
        ("#1", "1"),
        ("√2", "2"),
        ("½ cup", "1 2 cup"),
        ("²", "2"),
        ("10²", "102"),
        ("①", "1"),
        ("18+", "+18"),
    ] {
        assert_ne!(fingerprint(&analysis, "fact", a), fingerprint(&analysis, "fact", b), "{a} | {b}");
    }
}

#[test]
fn a_wording_with_other_punctuation_has_the_same_fingerprint() {
    let analysis = Analysis::english();
    for (a, b) in [
        ("Anna's dog, the black one, barks.", "annas dog the black one barks"),
        ("“Tea!” – she said", "tea she said"),
        ("（５ cats）", "5 cats"),
        ("* likes tea", "likes tea"),
    ] {
        assert_eq!(fingerprint(&analysis, "fact", a), fingerprint(&analysis, "fact", b), "{a} | {b}");
    }
}

#[test]
fn s1_10_the_kind_is_part_of_the_identity() {
    let analysis = Analysis::english();
    assert_ne!(fingerprint(&analysis, "fact", "red"), fingerprint(&analysis, "preference", "red"));
    assert_ne!(fingerprint(&analysis, "fact", ""), fingerprint(&analysis, "", "fact"));
}

#[test]
fn other_wordings_without_other_particulars_do_not_differ() {
    let analysis = Analysis::english();
    for (a, b) in [
        ("Caroline likes to paint sunsets", "Caroline likes painting sunsets"),
        ("Caroline likes red cars.", "caroline LIKES red car"),
        ("Caroline has 3 cats", "Caroline owns 3 cats"),
    ] {
        assert!(!differ_in_particulars(&analysis, a, b), "{a} | {b}");
    }
}

proptest! {
    #[test]
    fn every_text_has_one_fingerprint_whatever_its_case_and_blanks(text in any::<String>()) {
        let analysis = Analysis::english();
        let id = fingerprint(&analysis, "fact", &text);
        prop_assert_eq!(id, fingerprint(&analysis, "fact", &format!("  {text}\n")));
        prop_assert!(!differ_in_particulars(&analysis, &text, &text));
    }

    #[test]
    fn another_number_is_another_fact(a in any::<u32>(), b in any::<u32>()) {
        let id = |number: u32| fingerprint(&Analysis::english(), "fact", &format!("Caroline owes Bob {number} euros"));
        prop_assert_eq!(id(a) == id(b), a == b);
    }
}

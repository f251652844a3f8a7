use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Returns the query's terms as text.
fn query(analysis: &Analysis, text: &str) -> Vec<String> {
    analysis.query(text).iter().map(|term| term.as_str().to_owned()).collect()
}

/// Returns the document's terms as text, without counts.
fn document(analysis: &Analysis, text: &str) -> BTreeSet<String> {
    analysis.document(text).iter().map(|(term, _)| term.as_str().to_owned()).collect()
}

/// Asserts that each term of `question` is a term of `text`.
fn assert_meets(analysis: &Analysis, question: &str, text: &str) {
    let document = document(analysis, text);
    for term in query(analysis, question) {
        assert!(document.contains(&term), "{analysis:?}: {term} of {question:?} is not in {document:?}");
    }
}

#[test]
fn words_are_folded_stemmed_and_counted_once_each() {
    let terms = Analysis::english().document("The Painter painted; PAINTERS paint. Caroline's paintings!");
    let terms: Vec<_> = terms.iter().map(|(term, count)| (term.as_str(), *count)).collect();
    assert_eq!(terms, [("carolin", 1), ("paint", 3), ("painter", 2)]);
}

#[test]
fn queries_lose_question_words_and_keep_the_order() {
    let english = Analysis::english();
    assert_eq!(
        query(&english, "When did Caroline go to the LGBTQ support group?"),
        ["carolin", "go", "lgbtq", "support", "group"]
    );
    assert_eq!(query(&english, "support the support"), ["support"]);
    assert_eq!(query(&english, "What's she doing?"), ["do"]);
}

#[test]
fn a_query_left_empty_keeps_its_words() {
    let english = Analysis::english();
    assert_eq!(query(&english, "Who are you?"), ["who", "you"]);
    assert_eq!(query(&english, "to be or not to be"), ["to", "be", "or", "not"]);
    assert_eq!(query(&english, " ?! "), Vec::<String>::new());
    assert_meets(&english, "The Who", "I saw The Who in Leeds");
}

#[test]
fn identifiers_are_found_whole_and_in_parts() {
    let english = Analysis::english();
    for (text, wholes, parts) in [
        ("error E-4471-B again", "E-4471-B", "e 4471 b"),
        ("call session_id() now", "session_id", "session id"),
        ("the getUserName method", "getUserName getusername", "get user name"),
        ("an HTTPServer2 here", "HTTPServer2", "http server 2"),
        ("see src/rank/bm25.rs.", "src/rank/bm25.rs bm25.rs", "src rank bm 25 rs"),
        (r"in C:\Data\new.txt", r"C:\Data\new.txt new.txt", "c data new txt"),
        ("at https://example.org/a/b?q=1&r=x_y#top", "x_y example.org", "https example org q r top"),
        ("ask anna.meier+x@example.org", "anna.meier+x@example.org anna.meier", "anna meier example org"),
        ("runs 1.2.3-beta now", "1.2.3-beta", "1 2 3 beta"),
        ("a std::sync::Arc is", "std::sync::Arc", "std sync arc"),
        ("on 2024-05-17 at 10:30", "2024-05-17 10:30", "2024 05 17 10 30"),
        ("write C++ or C# here", "C++ C#", "c"),
        ("at AT&T and R&D", "AT&T R&D", "t r d"),
        ("pays 1,000,000 euros", "1000000 1,000,000", "1 000"),
        ("a follow-up e-mail", "followup follow-up email", "follow up mail"),
        ("the U.S.A. and GPT4", "USA U.S.A. gpt4", "u s gpt 4"),
        ("Mr O'Brien's", "OBrien O'Brien o’brien", "brien"),
    ] {
        for sought in wholes.split(' ').chain(parts.split(' ')) {
            assert_meets(&english, sought, text);
        }
    }
    assert!(!document(&english, "E44-71B").contains(&query(&english, "E-4471-B")[3]));
    assert!(!document(&english, "12.3 123").contains(&query(&english, "1.2.3")[3]));
}

#[test]
fn marks_on_latin_letters_do_not_hide_a_word() {
    for analysis in [Analysis::english(), Analysis::plain(), Analysis::of(Language::French)] {
        for word in ["café", "résumé", "préférée", "naïve", "Ångström", "İzmir", "łódź", "straße", "cafe\u{301}"]
        {
            let bare: String = fold::fold_owned(&word.to_lowercase());
            assert_meets(&analysis, &bare, word);
            assert_meets(&analysis, word, word);
        }
    }
    assert_meets(&Analysis::of(Language::French), "les résumés", "un résumé");
    assert_meets(&Analysis::of(Language::Turkish), "ısırdı", "ISIRDI");
}

#[test]
fn o20_queries_meet_their_records_in_six_languages() {
    let default = Analysis::english;
    for (analysis, question, record) in [
        (default(), "Which allergies does Caroline have?", "Caroline has an allergy to peanuts"),
        (Analysis::of(Language::German), "Welche Katzen hat Müller?", "Herr MUELLER? Nein, Müller hat eine Katze."),
        (default(), "Wo wohnt Müller?", "Müller wohnt wo der Pfeffer wächst"),
        (Analysis::of(Language::French), "Quels chevaux l'élève préfère ?", "L’élève préfère les chevaux blancs"),
        (Analysis::of(Language::Spanish), "¿Dónde están las canciones de José?", "La canción de José está aquí"),
        (default(), "东京塔", "我们去了东京塔看夜景"),
        (default(), "猫", "我家的黑猫很懒"),
        (default(), "東京タワー", "週末に東京タワーへ行きました"),
        (default(), "ﾀﾜｰ", "東京タワー"),
        (default(), "고양이", "고양이는 세 살입니다"),
        (default(), "책", "어제 책을 샀어요"),
        (default(), "โรงเรียน", "ฉันไปโรงเรียนทุกวัน"),
        (Analysis::of(Language::Russian), "Где живёт ежа?", "Еж живет где-то в лесах"),
    ] {
        assert!(!analysis.query(question).is_empty());
        assert_meets(&analysis, question, record);
    }
}

#[test]
fn names_are_those_of_the_languages_and_differ() {
    assert_eq!(Analysis::default().name(), "english-3");
    assert_eq!(Analysis::plain().name(), "plain-3");
    let names: BTreeSet<_> = Language::ALL.iter().map(|language| Analysis::of(*language).name().to_owned()).collect();
    assert_eq!(names.len(), Language::ALL.len());
    for language in Language::ALL {
        assert_eq!(Language::from_name(language.name()), Some(*language));
    }
    assert_eq!(Language::from_name("klingon"), None);
}

#[test]
fn huge_texts_of_one_kind_are_analysed() {
    let (million, many) = (1_000_000, 60_000);
    for text in [
        "\u{301}".repeat(million),
        format!("e{}", "\u{301}\u{323}".repeat(million / 2)),
        format!("漢{}", "\u{3099}".repeat(many)),
        "a".repeat(million),
        "ä".repeat(many),
        "漢".repeat(many),
        "a'".repeat(many),
        "'s".repeat(many),
        "aB".repeat(many),
        "a1".repeat(many),
        "a-".repeat(many),
        "a/".repeat(many),
        "1,".repeat(many),
        "--..__::".repeat(many),
        "\u{fdfa}".repeat(many),
        "\u{200b}".repeat(many),
    ] {
        let analysis = Analysis::of(Language::French);
        assert!(analysis.document(&text).len() < 100);
        assert!(analysis.query(&text).len() < 100);
    }
}

/// Strings in which words, signs, cases and scripts mix.
fn text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "the",
        "Cats",
        "running",
        "WHAT",
        "don't",
        "it's",
        "'",
        "-",
        ".",
        "_",
        ",",
        "/",
        "://",
        "@",
        "++",
        "#",
        " ",
        "\n",
        "1",
        "42",
        "x",
        "É",
        "é",
        "\u{301}",
        "ß",
        "İ",
        "ς",
        "ё",
        "漢",
        "字",
        "か",
        "ー",
        "한",
        "글",
        "ไ",
        "ที่",
        "ﬁ",
        "Ⅷ",
        "½",
        "\u{200d}",
        "😀",
        "\u{1f1e9}",
        "ع",
        "த",
        "ி",
        "\u{0}",
        "\u{feff}",
        "\u{fdfa}",
    ]);
    prop_oneof![
        prop::collection::vec(bits, 0..40).prop_map(|bits| bits.concat()),
        any::<String>(),
        "[a-zA-Z0-9'._/ -]{0,60}",
    ]
}

fn analyses() -> impl Strategy<Value = Analysis> {
    let all: Vec<_> = Language::ALL.iter().map(|language| Analysis::of(*language)).chain([Analysis::plain()]).collect();
    prop::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn documents_give_each_term_once_and_sorted(analysis in analyses(), text in text()) {
        let terms = analysis.document(&text);
        prop_assert!(terms.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert!(terms.iter().all(|(_, count)| *count > 0));
        prop_assert_eq!(&terms, &analysis.document(&text));
    }

    #[test]
    fn a_question_made_of_a_record_meets_it(analysis in analyses(), text in text()) {
        let document = document(&analysis, &text);
        let query = query(&analysis, &text);
        let distinct: BTreeSet<_> = query.iter().cloned().collect();
        prop_assert_eq!(distinct.len(), query.len());
        if !document.is_empty() && query.iter().any(|term| document.contains(term)) {
            prop_assert!(distinct.is_subset(&document), "{:?} {:?}", query, document);
        }
    }

    #[test]
    fn case_and_compatibility_forms_change_no_word(words in prop::collection::vec("[a-z]{2,9}", 1..9)) {
        let english = Analysis::english();
        let text = words.join(" ");
        let wide: String = text.chars().map(|c| if c == ' ' { c } else {
            char::from_u32(u32::from(c) - u32::from('a') + u32::from('ａ')).unwrap()
        }).collect();
        prop_assert_eq!(english.document(&text), english.document(&text.to_uppercase()));
        prop_assert_eq!(english.document(&text), english.document(&wide));
    }
}

/// Words over each alphabet that a stemmer is given: no stemmer may panic on any of them.
#[test]
fn no_stemmer_panics_on_words_of_its_script() {
    let letters: Vec<char> =
        ('a'..='\u{1fff}').filter(|c| c.is_alphanumeric() || ('\u{600}'..'\u{c00}').contains(c)).collect();
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for language in Language::ALL {
        let own: Vec<char> = letters.iter().copied().filter(|c| language.writes(*c)).collect();
        let analysis = Analysis::of(*language);
        for _ in 0..400 {
            let text: Vec<String> =
                (0..50).map(|_| (0..=random(14)).map(|_| own[random(own.len())]).collect()).collect();
            assert!(analysis.document(&text.join(" ")).len() > 1);
        }
    }
}

#[test]
fn a_question_in_a_script_without_spaces_loses_the_phrases_of_questions() {
    let english = Analysis::english();
    assert_eq!(query(&english, "歯医者の予約はいつ?"), query(&english, "歯医者の予約は"));
    assert_eq!(query(&english, "いつ").len(), 1);
}

#[test]
fn words_of_another_language_meet_their_forms_and_compounds() {
    let english = Analysis::english();
    let meets = |question: &str, text: &str| {
        let document = document(&english, text);
        query(&english, question).iter().any(|term| document.contains(term))
    };
    assert!(meets("wann ist der Zahnarzt?", "zahnarzttermin bei der frau ebeling"));
    assert!(meets("wo ist der Umzug?", "die laternenumzug ist am feuerwehrhaus"));
    assert!(meets("doktordaki randevum ne zaman?", "bir randevu aldım"));
    assert!(meets("Где живёт учительница?", "учительницу зовут Анна"));
    assert!(meets("أي أسنان؟", "موعد الأسنان"));
    assert!(!document(&english, "The dentistry is closed").iter().any(|term| term.contains("X2a")));
}

#[test]
fn numbers_are_found_however_their_digits_are_grouped() {
    let english = Analysis::english();
    for (question, text) in [
        ("1250", "it was 1.250 euros"),
        ("1250", "it was 1,250 euros"),
        ("1000000", "1 000 000 people"),
        ("01715551234", "call 0171 555 1234"),
        ("5551234567", "call 555-123-4567."),
    ] {
        assert_meets(&english, question, text);
    }
}

#[test]
fn thai_words_of_one_cluster_are_found() {
    assert_meets(&Analysis::english(), "ปู", "ฉันแพ้ปูนะ");
}

#[test]
fn small_talk_informs_of_nothing() {
    let english = Analysis::english();
    for text in
        ["hello there", "go on", "What do you think?", "thanks!", "👍", "guten Morgen", "ありがとう", "ok, sounds good"]
    {
        assert!(english.informative(text).is_empty(), "{text}");
    }
    assert_eq!(english.informative("thanks, and where is my order?"), english.query("order"));
}

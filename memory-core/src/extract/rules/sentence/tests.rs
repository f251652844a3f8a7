use super::*;

fn facts(sentence: &str) -> Option<(&str, &str, Option<String>)> {
    said(sentence).map(|said| (said.clause, said.value, said.slot))
}

fn slot(name: &str) -> Option<String> {
    Some(name.to_owned())
}

#[test]
fn s2_14f_facts_are_found_in_five_languages() {
    for (sentence, clause, value, of) in [
        ("I live in Lisbon.", "I live in Lisbon", "Lisbon", slot("home")),
        (
            "Oh, by the way, I’ve moved to New York last week!",
            "I’ve moved to New York last week",
            "New York",
            slot("home"),
        ),
        ("My name is Ada de la Cruz, nice to meet you.", "My name is Ada de la Cruz", "Ada de la Cruz", slot("name")),
        (
            "My email is ada@example.org and I read it daily.",
            "My email is ada@example.org",
            "ada@example.org",
            slot("email"),
        ),
        ("My birthday is on 3 May.", "My birthday is on 3 May", "3 May", slot("birthday")),
        ("My birthday is in maio", "My birthday is in maio", "in maio", slot("birthday")),
        ("My birthday is in novembro", "My birthday is in novembro", "in novembro", slot("birthday")),
        ("My birthday is in June.", "My birthday is in June", "in June", slot("birthday")),
        ("My birthday is in May, of course.", "My birthday is in May", "in May", slot("birthday")),
        ("my dog's name is Rex", "my dog's name is Rex", "Rex", slot("dog")),
        ("My sister is called Grace.", "My sister is called Grace", "Grace", slot("sister")),
        ("I'm allergic to peanuts.", "I'm allergic to peanuts", "peanuts", None),
        ("Well, I love green tea but not in the evening", "I love green tea", "green tea", None),
        ("I like films that never end.", "I like films that never end", "films that never end", None),
        ("I love Never Let Me Go.", "I love Never Let Me Go", "Never Let Me Go", None),
        ("Ich wohne in Berlin, seit Mai.", "Ich wohne in Berlin", "Berlin", slot("home")),
        ("Hola, me llamo Inés.", "me llamo Inés", "Inés", slot("name")),
        ("J’habite à Lyon.", "J’habite à Lyon", "Lyon", slot("home")),
        ("Sou alérgica a amendoim.", "Sou alérgica a amendoim", "amendoim", None),
    ] {
        assert_eq!(facts(sentence), Some((clause, value, of)), "{sentence}");
        assert!(sentence.contains(clause));
    }
    let names = |sentence: &str| said(sentence).map(|said| said.entities).unwrap_or_default();
    assert_eq!(names("I work at Acme Corp in New York."), ["Acme Corp", "New York"]);
}

#[test]
fn what_may_mean_something_else_is_no_fact() {
    for sentence in [
        "Do I live in Lisbon?",
        "If I live in Lisbon, what do I pay?",
        "I don't live in Lisbon.",
        "I live in hope.",
        "Please call me Monday.",
        "Please call me tomorrow.",
        "She said: \"I live in Rome\".",
        "\"I live in Rome\", she said.",
        "I like that.",
        "I like the second one.",
        "I love it!",
        "I prefer not to say.",
        "I LIKE TEA NOT ANYMORE.",
        "I like films not that much.",
        "My sister lives in Rome.",
        "My brother lives in Porto.",
        "I live in Porto no longer.",
        "I don't like tea anymore.",
        "I like tea no more.",
        "Ich wohne in Berlin nicht mehr.",
        "J'aime le thé pas du tout.",
        "I work at Acme if they hire me.",
        "I live in Porto, unless the house is sold.",
        "Ich wohne in Berlin, wenn es klappt.",
        "I live in Porto, he said.",
        "I live in Porto, says my brother.",
        "My email is broken.",
        "My birthday is soon.",
        "I live in",
        "I",
        "",
        "I like very long sentences with one word behind another over many lines of text like this one here",
    ] {
        assert_eq!(facts(sentence), None, "{sentence}");
    }
}

#[test]
fn what_one_says_oneself_and_what_may_be_many_is_told_apart() {
    let known = |sentence: &str| said(sentence).map(|said| (said.is_single, said.turn));
    assert_eq!(known("I live in Porto, as I said."), Some((true, Turn::Steady)));
    assert_eq!(known("I've moved to Porto."), Some((true, Turn::News)));
    for over in ["I no longer live in Porto.", "Ich wohne nicht mehr in Porto.", "Je n’habite plus à Porto."] {
        assert_eq!(known(over), Some((true, Turn::Over)), "{over}");
    }
    assert_eq!(known("My wife is called Grace."), Some((true, Turn::Steady)));
    assert_eq!(known("My dog is called Rex."), Some((false, Turn::Steady)));
    assert_eq!(known("I like tea more than coffee."), Some((false, Turn::Steady)));
}

#[test]
fn any_text_is_read_without_a_panic() {
    let alphabet = [
        "I live in ",
        "İ",
        "ß",
        "’",
        "'",
        " ",
        ",",
        "É",
        "my dog",
        "'s name is ",
        "é",
        "\u{301}",
        "@",
        ".",
        "A",
        "1",
        "和",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(alphabet[(state >> 33) as usize % alphabet.len()]);
        }
        if let Some(said) = said(&text) {
            assert!(
                text.contains(said.clause) && said.clause.ends_with(said.value) || said.clause.contains(said.value)
            );
        }
    }
}

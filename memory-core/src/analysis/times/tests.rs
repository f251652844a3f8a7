use super::*;

/// Wednesday, 14 June 2023.
const NOW: &str = "2023-06-14T21:30:00Z";

fn times(question: &str) -> Vec<String> {
    let periods = Analysis::english().times(question, NOW.parse().unwrap());
    periods.iter().map(|period| format!("{period}{}", if period.is_counted() { "" } else { ", named" })).collect()
}

fn time(question: &str) -> Period {
    Analysis::english().times(question, NOW.parse().unwrap()).remove(0)
}

#[test]
fn times_are_counted_back_from_the_moment_of_asking() {
    for (question, promised) in [
        ("What did I cook yesterday?", "2023-06-12 to 2023-06-14"),
        ("And the day before yesterday?", "2023-06-11 to 2023-06-13"),
        ("What appliance did I buy 10 days ago?", "2023-06-03 to 2023-06-05"),
        ("a couple of days ago", "2023-06-11 to 2023-06-13"),
        ("Which book did I finish a week ago?", "2023-06-04 to 2023-06-10"),
        ("What event was it, two weeks ago?", "2023-05-28 to 2023-06-03"),
        ("What charity did I help a month ago?", "2023-04-29 to 2023-05-29"),
        ("Where did we live 2 years ago?", "2020-12-14 to 2021-12-13"),
        ("Who was at lunch last Tuesday?", "2023-06-12 to 2023-06-14"),
        ("And last Wednesday?", "2023-06-06 to 2023-06-08"),
        ("What did I fix the past weekend?", "2023-06-09 to 2023-06-12"),
        ("Who came last week?", "2023-06-05 to 2023-06-14"),
        ("What did I read last month?", "2023-05-01 to 2023-06-14"),
        ("Where did I travel last year?", "2022-01-01 to 2022-12-31"),
        ("How often did I bake in the past two weeks?", "2023-05-31 to 2023-06-14"),
        ("and over the last couple of months", "2023-04-14 to 2023-06-14"),
        ("What did I earn this week?", "2023-06-12 to 2023-06-14"),
        ("this month", "2023-06-01 to 2023-06-14"),
        ("this year", "2023-01-01 to 2023-06-14"),
        ("What did I eat today?", "2023-06-13 to 2023-06-15"),
        ("Who called this morning?", "2023-06-13 to 2023-06-15"),
        ("What did we decide on Friday?", "2023-06-08 to 2023-06-10"),
        ("What broke two days before last Friday?", "2023-06-06 to 2023-06-08"),
        ("What have I read since March?", "2023-03-01 to 2023-06-14"),
        ("What have I read since August?", "2022-08-01 to 2023-06-14"),
        ("since May 2021", "2021-05-01 to 2023-06-14"),
        ("Where have we lived since 2021?", "2021-01-01 to 2023-06-14"),
    ] {
        assert_eq!(times(question), [promised], "{question}");
    }
}

#[test]
fn dates_are_read_in_words_and_digits() {
    for (question, promised) in [
        ("What happened on 8 May 2023?", "2023-05-07 to 2023-05-09"),
        ("What happened on May 8th, 2023?", "2023-05-07 to 2023-05-09"),
        ("What happened on the 8th of May?", "*-05-08"),
        ("What happened on 2023-05-08?", "2023-05-07 to 2023-05-09"),
        ("Where was she in February 2024?", "2024-02-01 to 2024-02-29"),
        ("What did I order in MAY?", "*-05"),
        ("How many runs did I miss in March?", "*-03"),
        ("Where did he work in 2019?", "2019-01-01 to 2019-12-31"),
        ("Where did he work from 2019 to 2021?", "2019-01-01 to 2021-12-31"),
        ("Where did he work between 2019 and 2021?", "2019-01-01 to 2021-12-31"),
    ] {
        assert_eq!(times(question), [format!("{promised}, named")], "{question}");
    }
    assert_eq!(
        times("between January and March, or two days ago"),
        ["*-01, named", "*-03, named", "2023-06-11 to 2023-06-13"]
    );
}

#[test]
fn what_names_no_time_is_about_none() {
    for question in [
        "",
        "What have I bought recently?",
        "How many days ago did I meet Emma?",
        "May I march with the band?",
        "How did the march go, and who may come?",
        "What was my last name?",
        "Which 2023 model is it?",
        "Who won on 31 February 2023?",
        "What happened 99999999999999999999 days ago or 9000000000000000000 weeks ago or 32000 years ago?",
    ] {
        assert_eq!(times(question), [""; 0], "{question}");
    }
}

#[test]
fn languages_without_a_table_and_times_beyond_the_calendar_are_about_none() {
    let now = NOW.parse().unwrap();
    for analysis in [Analysis::plain(), Analysis::of(Language::German)] {
        assert_eq!(analysis.times("yesterday in May 2023", now), []);
    }
    for now in [i64::MIN, i64::MAX] {
        assert_eq!(Analysis::english().times("two weeks ago", Timestamp(now)), []);
    }
    let least = "-009999-01-03T12:00:00Z".parse().unwrap();
    assert_eq!(Analysis::english().times("two weeks ago, last month, last year", least), []);
}

#[test]
fn a_period_covers_its_days_and_those_on_which_they_are_told_of() {
    let covers = |question: &str, at: &str| time(question).covers(at.parse().unwrap());
    assert!(covers("in May 2023", "2023-05-01T00:00:00Z"));
    assert!(covers("in May 2023", "2023-06-03T23:59:59Z"));
    assert!(!covers("in May 2023", "2023-06-04T00:00:00Z"));
    assert!(!covers("in May 2023", "2023-04-30T23:59:59Z"));
    assert!(covers("in December", "2021-12-01") && covers("in December", "2022-01-03"));
    assert!(!covers("in December", "2022-01-04"));
    assert!(covers("on 29 February", "2024-03-01") && !covers("on 29 February", "2023-03-01"));
    assert!(!time("in May").covers(Timestamp(i64::MAX)));
}

use super::*;

#[test]
fn times_are_of_rfc_3339_and_no_others() {
    let day = 86_400_000_000;
    for (text, micros) in [
        ("1970-01-02T00:00:00Z", day),
        ("1970-01-02T01:00:00+01:00", day),
        ("1970-01-01T20:30:00.25-03:30", day + 250_000),
    ] {
        assert_eq!(time(text).unwrap(), Timestamp(micros), "{text}");
    }
    for text in [
        "",
        "T",
        "@5",
        "yesterday",
        "1970-01-02",
        "1970-01-02T00:00:00",
        "1970-01-02 00:00:00Z",
        "1970-01-02T00:00Z",
        "1970-01-02T00:00:00.Z",
        "1970-01-02T00:00:00+01",
        "1970-01-02T00:00:00+01:00[Europe/Berlin]",
        "1970-13-02T00:00:00Z",
        "1970-01-02T25:00:00Z",
        "+001970-01-02T00:00:00Z",
        "1970-01-02T00:00:00ü",
    ] {
        assert!(time(text).is_err(), "{text}");
    }
}

#[test]
fn one_fence_may_stand_around_an_answer() {
    for text in ["[]", " []\n", "```json\n[]\n```", "```\n[]\n```", "\n```json\r\n[]```\n"] {
        assert_eq!(unfenced(text), "[]", "{text}");
    }
    for text in ["Sure: ```json\n[]\n```", "```json\n[]\n``` Done.", "```json []```", "```\n```json\n[]\n```\n```"] {
        assert_ne!(unfenced(text), "[]", "{text}");
    }
}

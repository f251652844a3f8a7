//! Passwords, keys and tokens: they are cut out of what is shown.

use std::borrow::Cow;

/// What a colon and an at sign may be written as in a place: as they are, or encoded once or twice.
const COLON: [&str; 3] = [":", "%3a", "%253a"];
const AT: [&str; 3] = ["@", "%40", "%2540"];
/// What the name of a secret setting holds.
const NAMES: [&str; 7] = ["pass", "pwd", "key", "token", "secret", "auth", "credential"];
/// What stands before the path of a file: nothing secret, and no user.
const FILE: &str = "sqlite:";

/// Returns a place, such as a URL, as it may be shown: without passwords, keys and tokens.
///
/// Of `scheme://user:secret@host` the user and the host are left, of `?password=secret` the name, however the place is
/// written: in any case, encoded, or as no URL at all. What cannot be told from a secret is cut out with it.
///
/// ```
/// # use memory_core::secrets::without_secrets;
/// assert_eq!(without_secrets("POSTGRES://ada:p@ss/w@db:5432/memory"), "POSTGRES://ada@db:5432/memory");
/// assert_eq!(without_secrets("qdrant://db?api_key=k-17&prefix=a"), "qdrant://db?api_key&prefix=a");
/// ```
pub fn without_secrets(place: &str) -> String {
    let (file, rest) = match place.get(..FILE.len()) {
        Some(head) if head.eq_ignore_ascii_case(FILE) => place.split_at(FILE.len()),
        _ => ("", place),
    };
    let rest = without_login(rest);
    format!("{file}{}", without_settings(&rest))
}

/// Returns a text, such as that of an error, without the secrets of the places in it: [`without_secrets`] of each word.
pub fn text_without_secrets(text: &str) -> Cow<'_, str> {
    // Nothing without one of these is cut.
    if !text.contains(['@', '%', '=']) && !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let end = word.trim_end().len();
        let (word, blank) = word.split_at(end);
        shown.push_str(&without_secrets(word));
        shown.push_str(blank);
    }
    Cow::Owned(shown)
}

/// Cuts out what stands between the user and the host. The last at sign ends the login: a password may hold others.
fn without_login(place: &str) -> Cow<'_, str> {
    let lower = place.to_ascii_lowercase();
    let begin = lower.find("://").filter(|at| is_kind(lower.get(..*at).unwrap_or_default())).map_or(0, |at| at + 3);
    let from = |text: &str, marks: [&str; 3]| marks.iter().filter_map(|mark| text.find(mark)).min();
    let authority = lower.get(begin..).unwrap_or_default();
    let last_at = AT.iter().filter_map(|mark| authority.rfind(mark)).max();
    let cut = match last_at {
        Some(at) => from(authority.get(..at).unwrap_or_default(), COLON).map(|colon| (colon, at)),
        // Without a host, what stands where a port does may be a password.
        None if begin > 0 => strange_port(authority).map(|colon| (colon, authority.len())),
        None => None,
    };
    let Some((colon, at)) = cut else { return Cow::Borrowed(place) };
    let part = |from: usize, until: usize| place.get(from..until).unwrap_or_default();
    Cow::Owned(format!("{}{}", part(0, begin + colon), part(begin + at, place.len())))
}

/// Returns whether `text`, but for what may open a quotation, is the kind of a URL.
fn is_kind(text: &str) -> bool {
    let kind = text.trim_start_matches(['\'', '"', '`', '(', '<', '[']);
    !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns where a port stands that is no number.
fn strange_port(authority: &str) -> Option<usize> {
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let mut place = 0;
    for host in authority.get(..end)?.split(',') {
        let name = host.find(']').map_or(0, |bracket| bracket + 1);
        let port = host.get(name..)?.find(':').map(|colon| name + colon);
        if let Some(colon) = port {
            // A word that ends a clause may have a colon of the clause, or a quotation mark, behind it.
            let port = host.get(colon + 1..)?.trim_end_matches(['\'', '"', '`', ')', '>', ']', '}', ':', ';', '.']);
            if !port.bytes().all(|byte| byte.is_ascii_digit()) {
                return Some(place + colon);
            }
        }
        place += host.len() + 1;
    }
    None
}

/// Cuts out the values of settings whose name says that they are secret, up to the next setting.
fn without_settings(place: &str) -> Cow<'_, str> {
    if !place.contains('=') {
        return Cow::Borrowed(place);
    }
    let mut shown = String::with_capacity(place.len());
    for part in place.split_inclusive('&') {
        match part.match_indices('=').find(|(at, _)| is_secret(part.get(..*at).unwrap_or_default())) {
            Some((at, _)) => {
                shown.push_str(part.get(..at).unwrap_or_default());
                shown.push_str(if part.ends_with('&') { "&" } else { "" });
            }
            None => shown.push_str(part),
        }
    }
    Cow::Owned(shown)
}

/// Returns whether the name at the end of `text` is that of a secret.
fn is_secret(text: &str) -> bool {
    let begin = text.rfind(|c: char| !c.is_alphanumeric() && !"_-.%".contains(c)).map_or(0, |at| at + 1);
    let name = decoded(text.get(begin..).unwrap_or(text)).to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

/// Returns a name with its encoded letters as they are.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letter = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.extend(letter.map(char::from));
        plain.push_str(letter.map_or(part, |_| part.get(2..).unwrap_or_default()));
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let table = [
            ("postgres://ada:p@ss:w/r?d@h:5432/d", "postgres://ada@h:5432/d"),
            ("postgres://ada:secret@h:5432/d", "postgres://ada@h:5432/d"),
            ("POSTGRES://ada:secret@h:5432/d", "POSTGRES://ada@h:5432/d"),
            ("postgres://ada:se@cret@h/d?sslmode=require", "postgres://ada@h/d?sslmode=require"),
            ("postgres://h/d?user=ada&password=secret&x=1", "postgres://h/d?user=ada&password&x=1"),
            ("postgres://h/d?PassWord=secret", "postgres://h/d?PassWord"),
            ("postgres://h/d?p%61ssword=secret", "postgres://h/d?p%61ssword"),
            ("host=h user=ada password=secret", "host=h user=ada password"),
            ("redis://:secret@h/0", "redis://@h/0"),
            ("qdrant://h?api_key=secret", "qdrant://h?api_key"),
            ("postgres%3A%2F%2Fada%3Asecret%40h", "postgres%40h"),
            ("postgres://ada%3Asecret@h", "postgres://ada@h"),
            ("postgres:/ada:secret@h", "postgres@h"),
            ("ada:secret@h/d", "ada@h/d"),
            ("postgres://ada:secret", "postgres://ada"),
            ("postgres://ada:secret/d", "postgres://ada"),
            ("postgres://ada:a://secret@h", "postgres://ada@h"),
        ];
        for (place, shown) in table {
            assert_eq!(without_secrets(place), shown, "{place}");
        }
    }

    #[test]
    fn a_place_without_secrets_is_shown_as_it_is() {
        for place in [
            "a/b.sqlite",
            "sqlite:/home/ada@work/m.sqlite",
            "SQLITE:/home/ada@work/m.sqlite",
            "C:\\memory.sqlite",
            "redis+cluster://a:1,b:2/0?protocol=resp3",
            "elastic://[::1]:9200",
            "qdrant:",
            "postgres://ada@h:5432/d",
        ] {
            assert_eq!(without_secrets(place), place);
        }
    }

    #[test]
    fn a_text_keeps_its_words() {
        let text = "error: \"postgres://ada:x1@h/d\" and 'redis://:x2@k': a = 1,\n ask ada@example.org";
        let shown = "error: \"postgres://ada@h/d\" and 'redis://@k': a = 1,\n ask ada@example.org";
        assert_eq!(text_without_secrets(text), shown);
        for text in ["", "no place", "elastic://h:9200: connection refused", "at 10:30, says a@b"] {
            assert_eq!(text_without_secrets(text), text);
        }
    }

    fn cased(text: &str, bits: u16) -> String {
        let case = |(place, c): (usize, char)| if bits >> place & 1 == 1 { c.to_ascii_uppercase() } else { c };
        text.chars().enumerate().map(case).collect()
    }

    fn encoded(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    const MARK: &str = "Zq7x";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_form_of_a_place_shows_its_secret(
            before in "\\PC{0,6}",
            after in "\\PC{0,6}",
            user in "[a-z]{0,5}",
            kind in prop::sample::select(vec!["postgres", "redis", "rediss+cluster", "mysql", "elastic+https", "x"]),
            way in prop::sample::select(vec!["://", ":/", ":", "//", ":///", "%3A%2F%2F", " ://"]),
            tail in prop::sample::select(vec!["", "/d", ":5432/d?x=1", "?a=b@c", "#@", "\n", ",h:1"]),
            bits in any::<u16>(),
        ) {
            // `a://b@h` is a URL with a user, and not a user with a secret.
            prop_assume!(!before.starts_with("//"));
            let kind = cased(kind, bits);
            let secret = format!("{before}{MARK}{after}");
            for place in [
                format!("{kind}{way}{user}:{secret}@h{tail}"),
                format!("{kind}{way}{user}:{}@h{tail}", encoded(&before) + MARK + &encoded(&after)),
                format!("{kind}{way}{user}%3A{MARK}%40h{tail}"),
                format!("{user}:{secret}@h{tail}"),
                format!("{kind}{way}h?x=1&{}={MARK}", cased("password", bits)),
                format!("{kind}{way}{user}:{secret}@h?token={MARK}"),
            ] {
                let shown = without_secrets(&place);
                prop_assert!(!shown.contains(MARK), "{place:?} is shown as {shown:?}");
                prop_assert_eq!(without_secrets(&shown), shown.clone());
            }
        }

        #[test]
        fn several_places_in_one_text_show_none_of_their_secrets(
            secrets in prop::collection::vec("[!-~&&[^&]]{0,6}Zq7x[!-~&&[^&]]{0,6}", 1..4),
            words in "[ a-z,.:'\"]{0,20}",
        ) {
            let places = secrets.iter().map(|secret| format!("'redis://u:{secret}@h' {words} k?api-key={secret}"));
            let text = places.collect::<Vec<_>>().join("\n");
            prop_assert!(!text_without_secrets(&text).contains(MARK), "{text} is shown as {}", text_without_secrets(&text));
        }
    }
}

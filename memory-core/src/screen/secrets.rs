//! Passwords, keys and numbers of cards in a text: they are cut out.

use serde::Serialize;

use crate::secrets::without_secrets as without_login;

/// A kind of secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Secret {
    /// A private key between its two lines.
    PrivateKey,
    /// A key or token of a service, known by how it begins.
    Token,
    /// What stands behind a word such as *password*.
    Password,
    /// The login in a URL.
    Login,
    /// The number of a card: 13 to 19 digits whose check digit is right.
    Card,
}

/// How the keys and tokens of services begin.
const TOKENS: [&str; 22] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "eyJ",
];
/// How many letters a key has at least behind its beginning.
const TOKEN_LETTERS: usize = 12;
/// The words that name a secret.
const NAMES: [&str; 10] =
    ["password", "passwort", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key"];
/// What may stand between such a word and the secret.
const LINKS: [&str; 4] = ["is", "was", "ist", "="];
/// What is written in place of a secret.
const CUT: &str = "[cut out]";
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "PRIVATE KEY-----";

/// Returns a text without its secrets, and which kinds were cut out, each once.
///
/// ```
/// use memory_core::screen::{Secret, without_secrets};
///
/// let (text, found) = without_secrets("The Wi-Fi password is tulip-42, the router is in the hall");
/// assert_eq!((text.as_str(), found), ("The Wi-Fi password is [cut out], the router is in the hall", vec![Secret::Password]));
/// ```
pub fn without_secrets(text: &str) -> (String, Vec<Secret>) {
    let mut found = Vec::new();
    let text = without_keys(text, &mut found);
    let text = without_words(&text, &mut found);
    let text = without_cards(&text, &mut found);
    found.sort_unstable();
    found.dedup();
    (text, found)
}

/// Cuts out private keys. One whose end is missing goes to the end of the text.
fn without_keys(text: &str, found: &mut Vec<Secret>) -> String {
    let (mut left, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once(KEY_BEGINS) {
        left.push_str(before);
        let head = behind.split("-----").next().unwrap_or_default();
        if !head.ends_with("PRIVATE KEY") {
            left.push_str(KEY_BEGINS);
            rest = behind;
            continue;
        }
        found.push(Secret::PrivateKey);
        left.push_str(CUT);
        // The first mark ends the line that begins the key, the second one the key.
        rest = behind.splitn(3, KEY_ENDS).nth(2).unwrap_or_default();
    }
    left.push_str(rest);
    left
}

/// Cuts out tokens, logins and what stands behind the name of a secret.
fn without_words(text: &str, found: &mut Vec<Secret>) -> String {
    let mut left = String::with_capacity(text.len());
    // Whether a secret was named, and whether a sign said that it follows.
    let (mut is_named, mut is_told) = (false, false);
    for part in text.split_inclusive(char::is_whitespace) {
        let end = part.trim_end().len();
        let (word, blank) = part.split_at(end);
        let (before, core, behind) = bare(word);
        let lower = core.to_lowercase();
        let named = NAMES.iter().find_map(|name| Some(lower.strip_prefix(name)?.trim_start_matches('s')));
        if is_token(core) {
            found.push(Secret::Token);
            left.extend([before, CUT, behind]);
        } else if core.contains("://") {
            let shown = without_login(core);
            found.extend((shown != core).then_some(Secret::Login));
            left.extend([before, shown.as_str(), behind]);
        } else if let Some(mark) = core.find(['=', ':']).filter(|mark| named.is_some() && mark + 1 < core.len()) {
            found.push(Secret::Password);
            left.extend([before, core.get(..=mark).unwrap_or_default(), CUT, behind]);
        } else if is_named && (is_told || looks_secret(core)) && !core.is_empty() && !LINKS.contains(&lower.as_str()) {
            found.push(Secret::Password);
            left.extend([before, CUT, behind]);
        } else {
            left.push_str(word);
            let is_link = is_named && LINKS.contains(&lower.as_str());
            is_named = is_link || named.is_some_and(str::is_empty);
            is_told = is_named && (behind.starts_with([':', '=']) || core == "=");
            left.push_str(blank);
            continue;
        }
        (is_named, is_told) = (false, false);
        left.push_str(blank);
    }
    left
}

/// Parts a word from the marks around it.
fn bare(word: &str) -> (&str, &str, &str) {
    let marks = |letter: char| "\"'`()[]{}<>,;.:!?=".contains(letter);
    let behind = word.trim_start_matches(|letter| "\"'`([{<".contains(letter));
    let core = behind.trim_end_matches(marks);
    if core.is_empty() && word == "=" {
        return ("", word, "");
    }
    let (before, rest) = word.split_at(word.len() - behind.len());
    let (core, behind) = rest.split_at(core.len());
    (before, core, behind)
}

fn is_token(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    TOKENS.iter().filter_map(|begin| word.strip_prefix(begin)).any(|rest| {
        rest.len() >= TOKEN_LETTERS && rest.chars().all(is_letter) && rest.chars().any(|letter| letter.is_ascii_digit())
    })
}

/// Returns whether a word behind the name of a secret is one: no word of a language holds a digit or a sign.
fn looks_secret(word: &str) -> bool {
    word.chars().count() >= 4 && word.chars().any(|letter| letter.is_ascii_digit() || "!@#$%^&*_+".contains(letter))
}

/// Cuts out the numbers of cards, whatever blanks or dashes stand between their digits.
fn without_cards(text: &str, found: &mut Vec<Secret>) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, run) = rest.split_at(begin);
        left.push_str(before);
        let mut end = 0;
        for (at, letter) in run.char_indices() {
            match letter {
                '0'..='9' => end = at + 1,
                ' ' | '-' if at == end => {}
                _ => break,
            }
        }
        let (number, behind) = run.split_at(end);
        if is_card(number) {
            found.push(Secret::Card);
            left.push_str(CUT);
        } else {
            left.push_str(number);
        }
        rest = behind;
    }
    left.push_str(rest);
    left
}

/// Returns whether the check digit of a number is right, as Luhn defines it, and whether a card may begin so.
fn is_card(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, twice) if twice > 9 => twice - 9,
            (_, twice) => twice,
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10) && matches!(digits.first(), Some(3..=6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (String, Vec<Secret>) {
        without_secrets(text)
    }

    #[test]
    fn o16_secrets_are_cut_out_and_the_rest_stays() {
        for (text, left, secret) in [
            ("my key is sk-proj-abc123def456ghi789, keep it", "my key is [cut out], keep it", Secret::Token),
            ("use ghp_0123456789abcdefABCDEF for git", "use [cut out] for git", Secret::Token),
            ("password: hunter2", "password: [cut out]", Secret::Password),
            ("The password is hunter2!", "The password is [cut out]!", Secret::Password),
            ("DB_URL postgres://ada:geheim@db/x here", "DB_URL postgres://ada@db/x here", Secret::Login),
            ("token=abc", "token=[cut out]", Secret::Password),
            ("pay by 4111 1111 1111 1111 please", "pay by [cut out] please", Secret::Card),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[cut out]\nb",
                Secret::PrivateKey,
            ),
        ] {
            assert_eq!(cut(text), (left.to_owned(), vec![secret]), "{text}");
        }
    }

    #[test]
    fn o16_what_is_no_secret_is_left_as_it_is() {
        for text in [
            "Ada's password is safe with her",
            "The token ring of 1985 had 4 machines",
            "Order 4111 1111 1111 1112 was shipped",
            "Call +49 30 901820 between 9 and 17",
            "https://example.org/a?page=2 tells more",
            "Ada's mail is ada@example.org",
            "-----BEGIN CERTIFICATE----- MIIB -----END CERTIFICATE-----",
            "a  b\n\nc\t d",
            "",
        ] {
            assert_eq!(cut(text), (text.to_owned(), vec![]), "{text}");
        }
    }
}

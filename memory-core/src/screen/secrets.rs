//! Passwords, keys and numbers of cards in a text: they are cut out.

use std::sync::LazyLock;

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

/// How the keys and tokens of services begin. They are written separated by blanks.
static TOKENS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    const WORDS: &str = "sk- sk_live_ sk_test_ rk_live_ pk_live_ whsec_ ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- \
        xoxa- xoxb- xoxp- xoxr- xoxs- xapp- AKIA ASIA AIza ya29. hf_ npm_ pypi- dop_v1_ eyJ gsk_ pplx- SG. shpat_ \
        tskey- dckr_pat_ lin_api_ figd_ sntrys_ ATATT AGE-SECRET-KEY- mem_";
    WORDS.split_whitespace().collect()
});
/// How many groups of digits the number of a card is written in at most: pairs of them.
const GROUPS: usize = 10;
/// How many letters a key has at least behind its beginning.
const TOKEN_LETTERS: usize = 12;
/// The words that name a secret. They are written separated by blanks.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    const WORDS: &str = "password passwort passwd passphrase passcode pwd secret token api_key apikey api-key \
        access_key secret_key private_key kennwort contraseña senha parola пароль mdp";
    WORDS.split_whitespace().collect()
});
/// The words that a token of a request stands behind.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// What may stand between such a word and the secret.
const LINKS: [&str; 12] = ["is", "was", "ist", "war", "es", "é", "è", "est", "=", "-", "–", "→"];
/// What is written in place of a secret.
const CUT: &str = "[cut out]";
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";
const LINE_ENDS: &str = "-----";

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
        let (head, body) = behind.split_once(LINE_ENDS).unwrap_or((behind, ""));
        if !head.contains("PRIVATE KEY") {
            left.push_str(KEY_BEGINS);
            rest = behind;
            continue;
        }
        found.push(Secret::PrivateKey);
        left.push_str(CUT);
        let end = body.split_once(KEY_ENDS).and_then(|(_, end)| end.split_once(LINE_ENDS));
        rest = end.map_or("", |(_, rest)| rest);
    }
    left.push_str(rest);
    left
}

/// Cuts out tokens, logins and what stands behind the name of a secret.
fn without_words(text: &str, found: &mut Vec<Secret>) -> String {
    let mut left = String::with_capacity(text.len());
    // Whether a secret was named, whether a sign said that it follows, and whether it is a token.
    let (mut is_named, mut is_told, mut is_scheme) = (false, false, false);
    for part in text.split_inclusive(char::is_whitespace) {
        let end = part.trim_end().len();
        let (word, blank) = part.split_at(end);
        let (before, core, behind) = bare(word);
        let lower = core.to_lowercase();
        let named = NAMES.iter().find_map(|name| Some(lower.strip_prefix(name)?.trim_start_matches('s')));
        if is_token(core) || is_scheme && is_opaque(core) {
            found.push(Secret::Token);
            left.extend([before, CUT, behind]);
        } else if core.contains("://") {
            let shown = without_login(core);
            found.extend((shown != core).then_some(Secret::Login));
            left.extend([before, shown.as_str(), behind]);
        } else if let Some((shown, kind)) = without_pairs(core) {
            found.push(kind);
            left.extend([before, shown.as_str(), behind]);
        } else if is_named && (is_told || looks_secret(core)) && !core.is_empty() && !LINKS.contains(&lower.as_str()) {
            found.push(Secret::Password);
            left.extend([before, CUT, behind]);
        } else {
            left.push_str(word);
            let is_link = is_named && LINKS.contains(&lower.as_str());
            is_named = is_link || named.is_some_and(str::is_empty) || is_name(&lower);
            is_told = is_named && (behind.starts_with([':', '=']) || core == "=");
            is_scheme = SCHEMES.contains(&lower.as_str());
            left.push_str(blank);
            continue;
        }
        (is_named, is_told, is_scheme) = (false, false, false);
        left.push_str(blank);
    }
    left
}

/// Cuts secrets out of `name=value` and `name:value`, several of them with semicolons or ampersands between; none if there are none.
fn without_pairs(core: &str) -> Option<(String, Secret)> {
    let (mut left, mut kind) = (String::new(), None);
    for pair in core.split_inclusive([';', '&']) {
        let (pair, end) = pair.split_at(pair.trim_end_matches([';', '&']).len());
        let marked = pair.find(['=', ':']).filter(|mark| mark + 1 < pair.len()).map(|mark| pair.split_at(mark + 1));
        let secret = marked.and_then(|(name, value)| match is_token(bare(value).1) {
            true => Some(Secret::Token),
            false => is_name(&name.to_lowercase()).then_some(Secret::Password),
        });
        match marked.filter(|_| secret.is_some()) {
            Some((name, _)) => left.extend([name, CUT, end]),
            None => left.extend([pair, end]),
        }
        kind = kind.or(secret);
    }
    kind.map(|kind| (left, kind))
}

/// Returns whether a word in lower case names a secret: `password`, `db_password`, `passwords`.
fn is_name(lower: &str) -> bool {
    let name = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let is_whole =
        |name: &str, known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest == "s");
    NAMES.iter().any(|known| {
        let before = name.strip_suffix(known).and_then(|before| before.chars().next_back());
        is_whole(name, known) || before.is_some_and(|letter| "_-.\"'".contains(letter))
    })
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
    TOKENS.iter().filter_map(|begin| word.strip_prefix(begin)).any(is_opaque)
}

/// Returns whether a word is one of a key: long, with a digit, and of no other letters than keys have.
fn is_opaque(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.+/=".contains(letter);
    word.len() >= TOKEN_LETTERS && word.chars().all(is_letter) && word.chars().any(|letter| letter.is_ascii_digit())
}

/// Returns whether a word behind the name of a secret is one: no word of a language holds a digit or a sign.
fn looks_secret(word: &str) -> bool {
    word.chars().count() >= 4 && word.chars().any(|letter| letter.is_ascii_digit() || "!@#$%^&*_+".contains(letter))
}

/// Cuts out the numbers of cards, whatever blanks, dots or dashes stand between their digits.
fn without_cards(text: &str, found: &mut Vec<Secret>) -> String {
    let groups = groups(text);
    let (mut left, mut from, mut first) = (String::with_capacity(text.len()), 0, 0);
    while first < groups.len() {
        let card = (first..groups.len().min(first + GROUPS)).rev().find_map(|last| {
            let run = groups.get(first..=last)?;
            let mut between = run.iter().zip(run.iter().skip(1)).map(|(one, next)| text.get(one.end..next.start));
            let is_joined = between.all(|between| between.is_some_and(is_joint));
            let number = text.get(run.first()?.start..run.last()?.end)?;
            (is_joined && is_card(number)).then_some((last, number.len()))
        });
        let start = groups.get(first).map_or(text.len(), |group| group.start);
        match card {
            Some((last, length)) => {
                found.push(Secret::Card);
                left.push_str(text.get(from..start).unwrap_or_default());
                left.push_str(CUT);
                (from, first) = (start + length, last + 1);
            }
            None => first += 1,
        }
    }
    left.push_str(text.get(from..).unwrap_or_default());
    left
}

/// Returns where digits stand together.
fn groups(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, letter)| letter.is_ascii_digit()) {
        match groups.last_mut().filter(|group| group.end == at) {
            Some(group) => group.end = at + 1,
            None => groups.push(at..at + 1),
        }
    }
    groups
}

/// Returns whether digits before and behind it may be those of one number.
fn is_joint(between: &str) -> bool {
    let mut letters = between.chars();
    letters.next().is_some_and(|letter| letter.is_whitespace() || ".-\u{2010}\u{2011}\u{2013}".contains(letter))
        && letters.next().is_none()
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
    let begins = digits.iter().take(4).fold(0, |begin, digit| begin * 10 + digit);
    let is_begun = matches!(digits.first(), Some(3..=6)) || (2_221..=2_720).contains(&begins);
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10) && is_begun
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (String, Vec<Secret>) {
        without_secrets(text)
    }

    #[test]
    fn the_lists_are_split_into_their_words() {
        assert_eq!((TOKENS.len(), NAMES.len()), (40, 20));
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
            ("DB_PASSWORD=hunter2", "DB_PASSWORD=[cut out]", Secret::Password),
            (
                "Server=db;User Id=sa;Password=x1;Pool=4",
                "Server=db;User Id=sa;Password=[cut out];Pool=4",
                Secret::Password,
            ),
            ("the key=sk-proj-abc123def456ghi789 works", "the key=[cut out] works", Secret::Token),
            ("Authorization: Bearer 0123456789abcdef/+==", "Authorization: Bearer [cut out]==", Secret::Token),
            ("{\"db_password\":\"hunter2\"}", "{\"db_password\":[cut out]\"}", Secret::Password),
            ("password - tulip-42", "password - [cut out]", Secret::Password),
            ("Das Kennwort ist tulpe42.", "Das Kennwort ist [cut out].", Secret::Password),
            ("room 12 4111 1111 1111 1111 and 7", "room 12 [cut out] and 7", Secret::Card),
            ("4111.1111.1111.1111", "[cut out]", Secret::Card),
            ("2223 0031 2200 3222", "[cut out]", Secret::Card),
            ("3782 822463 10005", "[cut out]", Secret::Card),
            (
                "a\n-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----\nb",
                "a\n[cut out]\nb",
                Secret::PrivateKey,
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIE", "[cut out]", Secret::PrivateKey),
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
            "The bearer of good news came at noon",
            "max_tokens=1500 and token_count=3",
            "Ada - a gardener - lives in Porto",
            "In 2024 1 200 people came, in 2025 1 300",
            "a  b\n\nc\t d",
            "",
        ] {
            assert_eq!(cut(text), (text.to_owned(), vec![]), "{text}");
        }
    }
}

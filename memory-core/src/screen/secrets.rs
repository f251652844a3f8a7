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
/// The names of a password in JSON: what stands in quotes behind one of them is cut out whatever it looks like.
const MEMBERS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
/// The words that a token stands behind, and what they stand behind in compact JSON.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
const HEADER: &str = "authorization\":\"";
/// What may stand between such a word and the secret.
const LINKS: [&str; 12] = ["is", "was", "ist", "war", "es", "é", "è", "est", "=", "-", "–", "→"];
/// What is written in place of a secret.
const CUT: &str = "[cut out]";
/// How many letters a line of a private key has, but for the last one.
const KEY_LINE: usize = 40;
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
    let text = without_ends(&text, &mut found);
    let text = without_members(&text, &mut found);
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

/// Cuts out what is left of private keys whose beginning is missing: the lines before their end.
fn without_ends(text: &str, found: &mut Vec<Secret>) -> String {
    let (mut left, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once(KEY_ENDS) {
        left.push_str(before);
        let lines = key_lines(&left);
        let has_lines = lines < left.len();
        match behind.split_once(LINE_ENDS).filter(|(head, _)| has_lines && head.contains("PRIVATE KEY")) {
            Some((_, behind)) => {
                found.push(Secret::PrivateKey);
                left.truncate(lines);
                left.push_str(CUT);
                rest = behind;
            }
            None => {
                left.push_str(KEY_ENDS);
                rest = behind;
            }
        }
    }
    left.push_str(rest);
    left
}

/// Returns where the lines of a key begin that a text ends with; the end of the text if there are none. The last line may be short, and
/// behind it the check sum of PGP.
fn key_lines(text: &str) -> usize {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/=\\".contains(letter);
    let (mut begin, mut at, mut may_be_short) = (text.len(), text.len(), true);
    loop {
        let before = text.get(..at).unwrap_or_default().trim_end();
        at = before.trim_end_matches(is_letter).len();
        let line = before.get(at..).unwrap_or_default();
        match line.len() {
            KEY_LINE.. => begin = at,
            1.. if may_be_short => {}
            _ => return begin,
        }
        may_be_short &= line.len() == 5 && line.starts_with('=');
    }
}

/// Cuts out of JSON the passwords and keys in quotes that its names tell, and the secrets among the words around them.
fn without_members(text: &str, found: &mut Vec<Secret>) -> String {
    let (mut left, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices("\":") {
        let Some((begin, value)) = member(text, from, at) else { continue };
        let kind = if is_token(value) { Secret::Token } else { Secret::Password };
        found.extend((value != CUT).then_some(kind));
        left.push_str(&without_words(text.get(from..begin).unwrap_or_default(), found));
        left.push_str(CUT);
        from = begin + value.len();
    }
    left.push_str(&without_words(text.get(from..).unwrap_or_default(), found));
    left
}

/// Returns the secret of a member of JSON, and where it begins; none if it is no secret. Its name begins behind `from`, and ends at `at`.
fn member(text: &str, from: usize, at: usize) -> Option<(usize, &str)> {
    let (_, name) = text.get(from..at)?.rsplit_once('"')?;
    let name = name.to_lowercase();
    let is_password = MEMBERS.contains(&name.as_str());
    if !is_password && !is_name(&name) {
        return None;
    }
    let rest = text.get(at..)?.strip_prefix("\":")?.trim_start().strip_prefix('"')?;
    let value = rest.get(..closing(rest)?)?;
    let is_secret = if is_password { !value.is_empty() } else { is_opaque(value) };
    is_secret.then_some((text.len() - rest.len(), value))
}

/// Returns where the quote stands in this line that ends what began before it.
fn closing(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return None,
            b'"' if !is_escaped => return Some(at),
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    None
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
        // In compact JSON the next member stands behind it.
        let (token, more) = core.split_at(core.find('"').unwrap_or(core.len()));
        if is_token(token) || is_scheme && is_opaque(token) {
            found.push(Secret::Token);
            left.extend([before, CUT, more, behind]);
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
            is_scheme = SCHEMES.contains(&lower.rsplit_once(HEADER).map_or(lower.as_str(), |(_, scheme)| scheme));
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
mod tests;

//! Names that have broken other libraries.

use memory_core::{Result, Scope};

use super::Random;

/// The letters that hostile names are made of: separators, wildcards, quotes, NUL, combining marks, both directions of
/// writing.
pub const LETTERS: &[&str] = &[
    "a", "b", "A", ":", "*", "?", "[", "]", "%", "_", "\\", ".", "/", "{", "}", "'", "\"", "\0", "\n", "-", " ", "|",
    "$", "#", "é", "e\u{301}", "\u{301}", "\u{202e}", "\u{200f}", "ש", "用", "😀", "_2e", "_3a", "ß", "İ",
];

/// Whole names that have broken other software: paths, wildcards, queries, keys of prototypes, one name in two
/// normal forms, and names that begin others.
pub const HOSTILE_NAMES: &[&str] = &[
    "a",
    "ab",
    "abc",
    "a.b",
    "a:b",
    "a-b",
    "a_b",
    "a%",
    "a*",
    "al?ce",
    "alice",
    "alice2",
    "ALICE",
    "*",
    "?",
    "[a]",
    "[a-z]",
    "%",
    "_",
    "\\",
    ".",
    "..",
    "/",
    "../a",
    "\0",
    "a\0",
    "a\0b",
    "\n",
    "a\nb",
    " ",
    "a ",
    " a",
    "\u{202e}a",
    "é",
    "e\u{301}",
    "\u{212b}",
    "\u{c5}",
    "A\u{30a}",
    "__proto__",
    "$where",
    "_id",
    "'",
    "''",
    "' OR '1'='1",
    "\"",
    "{a}",
    "{{a}}",
    "}{",
    "null",
    "None",
    "0",
    "00",
    "-1",
    "_2e",
    "a_2eb",
    "\u{feff}a",
    "用户",
    "😀",
    "\u{1f468}\u{200d}\u{1f469}",
];

/// Returns a name of one to six hostile letters, or one of the known hostile names.
pub fn name(random: &mut Random) -> String {
    if random.chance(1, 3) {
        return random.pick(HOSTILE_NAMES).to_owned();
    }
    let length = 1 + random.below(6);
    (0..length).map(|_| random.pick(LETTERS)).collect()
}

/// Returns `count` different owners whose names invite confusion, all of tenants that begin with `tenant`.
///
/// The first ones are pairs that naive keys mix up: `a:b` and `c` against `a` and `b:c`, a name that begins
/// another, one name in two normal forms, one subject in two tenants.
///
/// # Errors
/// `Invalid` if `tenant` is too long to be lengthened by a few letters.
pub fn owners(random: &mut Random, tenant: &str, count: usize) -> Result<Vec<Scope>> {
    let pairs: &[(&str, &str)] = &[
        ("", "a"),
        ("", "ab"),
        ("", "a.b"),
        ("", "a:b"),
        ("", "b:c"),
        (":b", "c"),
        ("", "b.c"),
        (".b", "c"),
        ("", "a%"),
        ("", "a_"),
        ("", "a*"),
        ("", "*"),
        ("", "é"),
        ("", "e\u{301}"),
        ("", "A"),
        ("a", "b"),
        ("", "\0"),
        ("\0", "a"),
        ("_2eb", "c"),
        ("", "_"),
        ("", "%"),
        ("", "?"),
        ("", "[a]"),
        ("/", "a"),
        ("", "/a"),
        ("{", "a}"),
        ("", "'"),
    ];
    let mut owners = Vec::with_capacity(count);
    for (suffix, subject) in pairs.iter().take(count) {
        owners.push(Scope::new(&format!("{tenant}{suffix}"), subject)?);
    }
    while owners.len() < count {
        let suffix = if random.chance(1, 2) { String::new() } else { name(random) };
        let scope = Scope::new(&format!("{tenant}{suffix}"), &name(random))?;
        if !owners.contains(&scope) {
            owners.push(scope);
        }
    }
    Ok(owners)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn owners_are_different_and_the_same_for_the_same_seed() {
        let draw = || owners(&mut Random::new(3), "tenant", 200).unwrap();
        assert_eq!(draw(), draw());
        assert_eq!(draw().into_iter().collect::<BTreeSet<_>>().len(), 200);
    }

    #[test]
    fn names_use_every_hostile_letter_and_can_all_be_names_of_owners() {
        let mut random = Random::new(5);
        let names: Vec<String> = (0..5_000).map(|_| name(&mut random)).collect();
        assert!(names.iter().all(|name| Scope::new("t", name).is_ok()));
        for letter in LETTERS {
            assert!(names.iter().any(|name| name.contains(letter)), "{letter:?}");
        }
    }
}

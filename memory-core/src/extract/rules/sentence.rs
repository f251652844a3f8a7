//! What a sentence says of its speaker. A pure function.

use crate::extract::denial::{DENIALS, is_denial, is_title};

use super::table::{
    CONDITIONS, DAYS, DOUBTS, ENDS, FILLERS, Follows, KIN, MANY, RELATIVES, REPORTS, RULES, SELF, Turn, is_month,
};

/// The most words of a clause: longer ones say more than one thing.
const WORDS: usize = 14;
/// The most names of a clause.
const NAMES: usize = 8;
/// The most fillers before an opening.
const BEFORE: usize = 3;

/// What a sentence says of its speaker.
#[derive(Debug, PartialEq)]
pub(super) struct Said<'a> {
    /// The words that say it, as they stand.
    pub(super) clause: &'a str,
    /// What follows the opening.
    pub(super) value: &'a str,
    /// What it is about.
    pub(super) slot: Option<String>,
    /// Whether that has one value at a time.
    pub(super) is_single: bool,
    pub(super) turn: Turn,
    pub(super) kind: &'static str,
    /// The names in the clause.
    pub(super) entities: Vec<String>,
}

/// Returns what a sentence says of its speaker; none if that may be mistaken.
pub(super) fn said(sentence: &str) -> Option<Said<'_>> {
    if sentence.contains(['?', '"', '“', '„', '«']) {
        return None;
    }
    let sentence = without_fillers(sentence.trim());
    let of_kin = || named_kin(sentence).map(|(rest, slot)| (rest, Some(slot), "fact", Follows::Name, Turn::Steady));
    let by_rule = || {
        RULES.iter().find_map(|rule| {
            let rest = behind(sentence, rule.opening)?;
            let rest = fits(rest, rule.follows).then_some(rest)?;
            Some((rest, rule.slot.map(str::to_owned), rule.kind, rule.follows, rule.turn))
        })
    };
    let (rest, slot, kind, follows, turn) = by_rule().or_else(of_kin)?;
    let rest = clause_of(rest);
    if !fits(rest, follows) || is_denied(rest) {
        return None;
    }
    let value = if follows == Follows::Name { name_at(rest) } else { rest };
    let (clause, others) = sentence.split_at_checked(sentence.len() - after(sentence, rest)?)?;
    if is_doubtful(others) || clause.split_whitespace().count() > WORDS {
        return None;
    }
    let is_single = slot.as_deref().is_some_and(|slot| !MANY.contains(&slot));
    Some(Said { clause, value, slot, is_single, turn, kind, entities: names(clause) })
}

/// Returns whether the words that follow an opening deny it, as in "I live in Lisbon no longer", and not a part of what follows, as
/// in "I like films that never end".
fn is_denied(rest: &str) -> bool {
    let mut before = String::new();
    for raw in rest.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = raw.to_lowercase();
        if RELATIVES.contains(&word.as_str()) {
            return false;
        }
        if is_denial(&before, raw) {
            return true;
        }
        before = word;
    }
    false
}

/// Returns whether what stands behind a clause makes it a condition, or the words of somebody else: "..., if I get the job",
/// "..., he said".
fn is_doubtful(others: &str) -> bool {
    let first: Vec<String> = words(others).take(3).collect();
    let holds = |list: &[&str]| first.iter().any(|word| list.contains(&word.as_str()));
    let is_condition = first.first().is_some_and(|word| CONDITIONS.contains(&word.as_str()));
    is_condition || others.starts_with(',') && holds(REPORTS) && !holds(SELF)
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns how many bytes of `sentence` stand behind its part `rest`.
fn after(sentence: &str, rest: &str) -> Option<usize> {
    let end = (rest.as_ptr() as usize).checked_add(rest.len())?.checked_sub(sentence.as_ptr() as usize)?;
    sentence.len().checked_sub(end)
}

/// Returns what stands behind `opening`, with which the sentence begins.
fn behind<'a>(sentence: &'a str, opening: &str) -> Option<&'a str> {
    let mut characters = sentence.char_indices();
    for expected in opening.chars() {
        let (_, found) = characters.next()?;
        let found = if found == '’' { '\'' } else { found };
        if !found.to_lowercase().eq(std::iter::once(expected)) {
            return None;
        }
    }
    let rest = sentence.get(characters.next()?.0..)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

fn without_fillers(mut sentence: &str) -> &str {
    for _ in 0..BEFORE {
        let rest = FILLERS.split(", ").find_map(|filler| {
            let end = sentence.char_indices().nth(filler.chars().count())?.0;
            let (head, rest) = sentence.split_at(end);
            let is_filler = head.to_lowercase() == filler && rest.starts_with([' ', ',', '!', '.', ':']);
            is_filler.then(|| rest.trim_start_matches([' ', ',', '!', '.', ':']))
        });
        match rest {
            Some(rest) => sentence = rest,
            None => break,
        }
    }
    sentence
}

/// Returns what follows "my sister's name is" or "my sister is called", and the slot of that.
fn named_kin(sentence: &str) -> Option<(&str, String)> {
    let rest = behind(sentence, "my")?;
    let lower = rest.to_lowercase();
    let kin = KIN.split_whitespace().find(|kin| lower.starts_with(kin))?;
    let rest = rest.get(kin.len()..)?;
    let named = ["'s name is", " is called", " is named"].iter().find_map(|opening| behind(rest, opening))?;
    Some((named, kin.to_owned()))
}

/// Returns the clause that `rest` begins with, up to a comma or to a word that begins another thought.
fn clause_of(rest: &str) -> &str {
    let stop = rest.find([',', ';', '(', '!', '…', ':', '–', '—']).unwrap_or(rest.len());
    let mut end = 0;
    for word in rest.get(..stop).unwrap_or_default().split_inclusive(char::is_whitespace) {
        if end > 0 && ENDS.contains(&word.trim().to_lowercase().as_str()) {
            break;
        }
        end += word.len();
    }
    rest.get(..end).unwrap_or_default().trim_end().trim_end_matches(['.', ' '])
}

/// Returns whether what follows an opening is what its rule says.
fn fits(rest: &str, follows: Follows) -> bool {
    let Some(first) = rest.split_whitespace().next() else { return false };
    let bare = |word: &str| word.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
    let word = bare(first);
    let is_named = DENIALS.contains(&word.as_str()) && is_title(first);
    if DOUBTS.contains(&word.as_str()) && !is_named {
        return false;
    }
    let has_digit = |word: &str| word.chars().any(|character| character.is_ascii_digit());
    match follows {
        Follows::Name => first.starts_with(char::is_uppercase) && !DAYS.contains(&word.as_str()),
        Follows::Mail => first.contains('@') && first.contains('.'),
        Follows::Number => rest.split_whitespace().any(|word| has_digit(word) || is_month(&bare(word))),
        Follows::Words => word.chars().count() > 1,
    }
}

/// Returns the name that a text begins with: its words with capital letters, and small ones between two of them.
fn name_at(text: &str) -> &str {
    let (mut end, mut at) = (0, 0);
    let mut small = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        at += word.len();
        if word.starts_with(|character: char| character.is_uppercase() || character.is_ascii_digit()) {
            (end, small) = (at, 0);
        } else {
            small += 1;
        }
        if small > 2 || word.trim_end().len() > 3 && small > 0 {
            break;
        }
    }
    text.get(..end).unwrap_or(text).trim_end().trim_end_matches('.')
}

/// Returns the names in a clause: words with capital letters that stand together, but for the first word and "I".
fn names(clause: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut is_going_on = false;
    for (place, raw) in clause.split_whitespace().enumerate() {
        let word = raw.trim_matches(|character: char| !character.is_alphanumeric());
        let is_name = place > 0 && word.chars().count() > 1 && word.starts_with(char::is_uppercase);
        let is_pronoun = ["I'm", "I’m", "I've", "I’ve"].contains(&word);
        match (is_name && !is_pronoun, is_going_on, names.last_mut()) {
            (true, true, Some(last)) => *last = format!("{last} {word}"),
            (true, ..) => names.push(word.to_owned()),
            _ => {}
        }
        is_going_on = is_name && !is_pronoun && raw.ends_with(char::is_alphanumeric);
    }
    names.truncate(NAMES);
    names
}

#[cfg(test)]
mod tests;

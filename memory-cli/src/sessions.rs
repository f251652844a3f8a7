//! The conversations of an owner: all of them, the one that a name means, and how it is named where room is scarce.

use memory::store::chat::{Page, SessionState};
use memory::{Scoped, Seq, SessionId};

use crate::failure::Failure;
use crate::output::say;

const PAGE: usize = 1_000;

/// How many names are told where a beginning means several.
const NAMED: usize = 5;

/// Returns all conversations of the owner, in the order of their ids.
pub(crate) async fn all(scoped: &Scoped) -> Result<Vec<SessionState>, Failure> {
    let mut sessions: Vec<SessionState> = Vec::new();
    loop {
        let after: Option<SessionId> = sessions.last().map(|state| state.session.clone());
        let page = scoped.sessions(after.as_ref(), PAGE).await?;
        if page.is_empty() {
            return Ok(sessions);
        }
        sessions.extend(page);
    }
}

/// Returns whether the conversation holds messages.
pub(crate) async fn exists(scoped: &Scoped, session: &SessionId) -> Result<bool, Failure> {
    let state = scoped.session(session).read(&Page::newest(0)).await?.state;
    Ok(state.head > Seq(0))
}

/// Returns the conversation of this name, or the only one whose name begins so; none if there is no such.
///
/// For commands that only read: what is forgotten is named in full.
pub(crate) async fn meant(scoped: &Scoped, session: &SessionId) -> Result<Option<SessionId>, Failure> {
    if exists(scoped, session).await? {
        return Ok(Some(session.clone()));
    }
    let names: Vec<SessionId> = all(scoped).await?.into_iter().map(|state| state.session).collect();
    let begun: Vec<&SessionId> = names.iter().filter(|one| one.name().starts_with(session.name())).collect();
    match begun.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        several => {
            let named: Vec<&str> = several.iter().take(NAMED).map(|one| one.name()).collect();
            let more = if several.len() > NAMED { ", …" } else { "" };
            let (name, count, named) = (session.name(), several.len(), named.join(", "));
            Err(Failure::Usage(format!("{name} begins the names of {count} sessions: {named}{more}")))
        }
    }
}

/// Returns a name as it is shown where room is scarce: of a UUID the beginning, by which it is found too.
pub(crate) fn short(session: &SessionId) -> &str {
    let name = session.name();
    let is_uuid = name.parse::<memory::MessageId>().is_ok();
    name.get(..8).filter(|_| is_uuid).unwrap_or(name)
}

/// Says that there is no such conversation, with the name that was meant, if it has no messages.
pub(crate) async fn note_if_empty(scoped: &Scoped, session: &SessionId) -> Result<(), Failure> {
    if !exists(scoped, session).await? {
        say(&format!("note: {}", no_such(scoped, session).await?));
    }
    Ok(())
}

/// Returns the clause that there is no such conversation, with the nearest name if there is a near one.
pub(crate) async fn no_such(scoped: &Scoped, session: &SessionId) -> Result<String, Failure> {
    let sessions = all(scoped).await?;
    let names: Vec<&str> = sessions.iter().map(|state| state.session.name()).collect();
    let hint = nearest(session.name(), &names).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    Ok(format!("there is no session {}{hint}", session.name()))
}

/// Returns the name that was perhaps meant: the shortest that begins so, else the one that differs least, if by few letters.
fn nearest<'a>(named: &str, names: &[&'a str]) -> Option<&'a str> {
    let begun = names.iter().copied().filter(|name| name.starts_with(named));
    let few = 1 + named.chars().count() / 3;
    let near = names.iter().map(|name| (distance(name, named), *name)).filter(|(distance, _)| *distance <= few);
    begun.min_by_key(|name| (name.len(), *name)).or_else(|| near.min().map(|(_, name)| name))
}

/// Returns how many letters have to be added, left out or replaced to make one name the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut next = vec![line + 1];
        for ((replaced, left_out), there) in row.iter().zip(row.iter().skip(1)).zip(&other) {
            let added = next.last().map_or(0, |added| added + 1);
            next.push(added.min(left_out + 1).min(replaced + usize::from(letter != *there)));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_begins_so_or_differs_least_is_the_nearest() {
        let names = ["parcel-talk", "parcel-talk-2", "marvel", "garden"];
        let table = [
            ("parcel", Some("parcel-talk")),
            ("gardn", Some("garden")),
            ("marcel", Some("marvel")),
            ("something else", None),
        ];
        for (named, near) in table {
            assert_eq!(nearest(named, &names), near, "{named}");
        }
    }

    #[test]
    fn names_are_as_far_apart_as_letters_differ() {
        let table =
            [("", "", 0), ("garden", "garden", 0), ("garden", "graden", 2), ("garden", "gard", 2), ("", "日本", 2)];
        for (one, other, letters) in table {
            assert_eq!((distance(one, other), distance(other, one)), (letters, letters), "{one} {other}");
        }
    }
}

//! Lists the conversations of an owner, and finds the one whose name is nearest to a mistyped one.

use memory::store::chat::{Page, SessionState};
use memory::{Scoped, Seq, SessionId};

use crate::failure::Failure;
use crate::output::say;

const PAGE: usize = 1_000;

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
    let names = sessions.iter().map(|state| (distance(state.session.name(), session.name()), state.session.name()));
    let near = names.min().filter(|(distance, _)| *distance <= 1 + session.name().chars().count() / 3);
    let hint = near.map(|(_, name)| format!("; did you mean {name}?")).unwrap_or_default();
    Ok(format!("there is no session {}{hint}", session.name()))
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
    fn names_are_as_far_apart_as_letters_differ() {
        let table =
            [("", "", 0), ("garden", "garden", 0), ("garden", "graden", 2), ("garden", "gard", 2), ("", "日本", 2)];
        for (one, other, letters) in table {
            assert_eq!((distance(one, other), distance(other, one)), (letters, letters), "{one} {other}");
        }
    }
}

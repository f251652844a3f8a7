//! What the list of sessions promises.

use memory_core::SessionId;

use super::talk::{MANY, Talk, new};
use crate::check::{Scene, equal};
use crate::generate::HOSTILE_NAMES;
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    lists_sessions_in_the_order_of_their_ids,
    pages_through_sessions,
    tells_the_state_of_every_session,
    lists_no_session_without_messages,
    lists_the_sessions_of_one_owner,
]);

/// Begins a session under every hostile name, in no particular order, and returns them as they must be listed.
async fn begin_many(talk: &Talk) -> memory_core::Result<Vec<SessionId>> {
    let mut promised = Vec::new();
    for name in HOSTILE_NAMES.iter().rev() {
        let session = talk.beside(name)?;
        session.append(&[new(name)]).await?;
        promised.push(session.session);
    }
    promised.sort();
    promised.dedup();
    Ok(promised)
}

async fn listed(talk: &Talk, after: Option<&SessionId>, limit: usize) -> memory_core::Result<Vec<SessionId>> {
    let states = talk.chat.store().sessions(&talk.scope, after, limit).await?;
    Ok(states.into_iter().map(|state| state.session).collect())
}

async fn lists_sessions_in_the_order_of_their_ids(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let promised = begin_many(&talk).await?;
    equal(listed(&talk, None, MANY).await?, promised)
}

async fn pages_through_sessions(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let promised = begin_many(&talk).await?;
    let mut found: Vec<SessionId> = Vec::new();
    loop {
        let page = listed(&talk, found.last(), 7).await?;
        if page.is_empty() {
            break;
        }
        check!(page.len() <= 7, "a page of {} sessions where 7 were asked for", page.len());
        found.extend(page);
        check!(found.len() <= promised.len(), "pages go on for ever");
    }
    equal(&found, &promised)?;
    equal(listed(&talk, None, 0).await?, [])?;
    // The place to go on from need not be a session itself.
    let between = SessionId::new("no such session")?;
    let behind: Vec<_> = promised.into_iter().filter(|session| *session > between).collect();
    equal(listed(&talk, Some(&between), MANY).await?, behind)
}

async fn tells_the_state_of_every_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    talk.fold(1, 2, "summary").await?;
    let other = talk.beside("t")?;
    other.say(&["begun"]).await?;
    other.delete().await?;
    other.say(&["begun again"]).await?;
    let states = talk.chat.store().sessions(&talk.scope, None, 10).await?;
    equal(states, [talk.state().await?, other.state().await?])
}

async fn lists_no_session_without_messages(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    let other = talk.beside("t")?;
    other.say(&["two"]).await?;
    talk.beside("only read")?.state().await?;
    talk.delete().await?;
    equal(listed(&talk, None, 10).await?, [other.session.clone()])?;
    talk.say(&["begun again"]).await?;
    equal(listed(&talk, None, 10).await?, [talk.session.clone(), other.session])
}

async fn lists_the_sessions_of_one_owner(bed: Bed<Chat>) -> Scene {
    let (ada, bob) = (Talk::plain(&bed)?, Talk::new(&bed, "bob", "t")?);
    ada.say(&["one"]).await?;
    bob.say(&["two"]).await?;
    equal(listed(&ada, None, 10).await?, [ada.session.clone()])?;
    equal(listed(&bob, None, 10).await?, [bob.session.clone()])?;
    equal(listed(&Talk::new(&bed, "ad", "s")?, None, 10).await?, [])
}

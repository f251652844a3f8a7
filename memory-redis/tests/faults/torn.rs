//! A script of which the server carried out the beginning alone.
//!
//! It was killed while it wrote the script's effects to its file. When it starts, it cuts off the half of a command and leaves the
//! commands before it, which it carries out when it starts once more: in front of what was acknowledged in between.

use std::slice::from_ref;
use std::sync::Arc;

use memory_core::store::chat::{Append, ChatStore as _, Compaction, NewMessage, Page, Placement, View};
use memory_core::store::upkeep::{Backlog, IndexName, Outcome, Upkeep as _};
use memory_core::{Seq, SeqRange, SessionId, StoredMessage, Timestamp};
use memory_redis::redis;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};

use super::half::Half;
use super::pair::{Pair, instruction, said, texts};
use super::support::{chat, holds, message, persist, scope, tell};

pub(crate) async fn append(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, ada, session) = (chat(server.url()).await?, scope("ada")?, SessionId::new("s")?);
    let [first, begun, other] = ["first", "begun", "other"].map(|text| message(text.to_owned()));
    for one in [&first, &begun] {
        persist(&chat, &ada, &session, std::slice::from_ref(one)).await?;
    }
    // A session's counters are written last. As they were before, the rest is what such a server has of the second append.
    let key = format!("mem:{{{}}}:{:020}:s:{}", ada.key(), 0, session.key());
    tell(server.url(), &format!("HSET {key} head 1 count 1 held 1 tokens 1")).await?;

    let window = chat.read(&ada, &session, &Page::newest(10)).await?.messages;
    equal(window.iter().map(|row| row.id).collect::<Vec<_>>(), [first.message.id])?;
    equal(chat.get(&ada, &[begun.message.id]).await?.messages.len(), 0)?;
    persist(&chat, &ada, &session, std::slice::from_ref(&other)).await?;
    // Its id leads to where the other stands by now.
    equal(chat.redact(&ada, &[begun.message.id]).await?.len(), 0)?;
    let again = chat.append(&ada, &session, &Append::new(vec![begun.clone()])).await?;
    equal((again.placements, again.state.active_tokens), (vec![Placement::Added(Seq(3))], 3))?;
    holds(&chat, &ada, &session, &[first, other, begun]).await?;
    server.remove().await?;
    Ok(())
}

/// An entry of the queue without its note is none, and holds up no other.
pub(crate) async fn note(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, ada, index) = (chat(server.url()).await?, scope("ada")?, IndexName::new("text/test-1")?);
    chat.enlist(&index, None, usize::MAX).await?;
    for name in ["s", "t"] {
        persist(&chat, &ada, &SessionId::new(name)?, &[message("one".to_owned())]).await?;
    }
    let keys = tell(server.url(), &format!("KEYS *{}*:n:*", ada.key())).await?;
    let keys: Vec<String> = redis::from_redis_value(keys).map_err(|error| Failure::new(error.to_string()))?;
    check!(keys.len() == 1, "{keys:?}");
    for key in &keys {
        tell(server.url(), &format!("HDEL {key} ss")).await?;
    }
    equal(chat.backlog(&index).await?.pending, 2)?;
    equal(chat.pending(&index, Timestamp(0), 10).await?.len(), 1)?;
    equal(chat.backlog(&index).await?.pending, 1)?;
    persist(&chat, &ada, &SessionId::new("s")?, &[message("two".to_owned())]).await?;
    equal(chat.pending(&index, Timestamp(0), 10).await?.len(), 2)?;
    server.remove().await?;
    Ok(())
}

/// Another message took the place of the first one.
pub(crate) async fn beside(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let (first, begun, other) = (said("first"), [instruction("rules"), said("begun")], said("other"));
    let ids: Vec<_> = begun.iter().map(|new| new.message.id).collect();
    let before = async {
        pair.begin(from_ref(&first)).await?;
        pair.settle().await
    };
    let (appending, since) = (pair.say(&pair.session, &begun), pair.say(&pair.session, from_ref(&other)));
    let half = Half::record(pair.server.url(), before, appending, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            equal(pair.window().await?, ["first", "other"])?;
            equal(texts(&pair.view(View::Pinned).await?), [""; 0])?;
            equal(pair.found(&ids).await?, 0)?;
            let again = pair.chat.append(&pair.ada, &pair.session, &Append::new(begun.to_vec())).await?;
            equal(again.placements, [Placement::Added(Seq(3)), Placement::Added(Seq(4))])?;
            equal(pair.window().await?, ["first", "other", "rules", "begun"])?;
            equal(texts(&pair.view(View::Pinned).await?), ["rules"])?;
            let noted: Vec<_> = pair.notes().await?.iter().map(|note| (note.from, note.upto)).collect();
            equal(noted, [(Seq(2), Seq(4))])?;
            pair.settle().await?;
            equal(pair.chat.backlog(&pair.index).await?, Backlog { pending: 1, dead: 0 })
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A session of which the server kept the name, without a message.
pub(crate) async fn first(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let (begun, other, second) = (said("begun"), said("other"), IndexName::new("text/second-1")?);
    let (appending, since) = (pair.say(&pair.session, from_ref(&begun)), pair.say(&pair.keep, from_ref(&other)));
    let half = Half::record(pair.server.url(), pair.begin(&[]), appending, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            let is_whole = kept == half.commands();
            equal(pair.listed(1).await?, [if is_whole { "a" } else { "keep" }])?;
            equal(pair.listed(10).await?.len(), 1 + usize::from(is_whole))?;
            check!(pair.chat.enlist(&second, None, usize::MAX).await?, "not all is noted");
            pair.say(&pair.session, from_ref(&begun)).await?;
            equal(pair.window().await?, ["begun"])?;
            equal(pair.listed(10).await?, ["a", "keep"])?;
            half.leave(kept).await?;
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// Rows are restored where the beginning of an append or of the same restore stands, or messages where that of a restore does.
pub(crate) async fn restored(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let (first, other, late) = (said("first"), said("other"), said("late"));
    let begun = [said("begun"), instruction("rules")];
    let row = |new: &NewMessage, seq: u64| StoredMessage {
        id: new.message.id,
        session: pair.session.clone(),
        seq: Seq(seq),
        tokens: new.tokens,
        counter: new.counter,
        covers: None,
        archived_by: None,
        message: Some(Arc::clone(&new.message)),
    };
    let covers = Some(SeqRange { first: Seq(2), last: Seq(2) });
    let summary = StoredMessage { covers, ..row(&said("summary"), 2) };
    let id = summary.id;
    let two = StoredMessage { archived_by: Some(id), ..row(&said("two"), 2) };
    let rows = [two, summary, row(&instruction("three"), 3)];
    for is_restored in [false, true] {
        let begins =
            async { if is_restored { pair.restore(&rows).await } else { pair.say(&pair.session, &begun).await } };
        let (before, since) = (pair.begin(from_ref(&first)), pair.say(&pair.keep, from_ref(&other)));
        let half = Half::record(pair.server.url(), before, begins, since).await?;
        for kept in 0..half.commands() {
            half.leave(kept).await?;
            let checked = async {
                pair.restore(&rows).await?;
                equal(pair.window().await?, ["first", "summary", "three"])?;
                let all = pair.view(View::All).await?;
                let marks: Vec<_> = all.iter().map(|row| row.archived_by).collect();
                equal(marks, [None, Some(id), None, None])?;
                equal(texts(&pair.view(View::Pinned).await?), ["summary", "three"])?;
                pair.compact(&Compaction::Unfold { summary: id }).await?;
                equal(pair.window().await?, ["first", "two", "three"])?;
                pair.forget(&all.iter().map(|row| row.id).collect::<Vec<_>>()).await?;
                equal(pair.window().await?, [""; 0])?;
                half.leave(kept).await?;
                pair.say(&pair.session, from_ref(&late)).await?;
                let all = pair.view(View::All).await?;
                equal(texts(&all), ["first", "late"])?;
                check!(all.iter().all(|row| row.archived_by.is_none()), "a new message is archived");
                equal(pair.window().await?, ["first", "late"])
            };
            half.told(kept, checked.await)?;
        }
    }
    pair.server.remove().await?;
    Ok(())
}

/// A note that the server kept twice is given up once, and comes back once.
pub(crate) async fn dead(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, begun, other] = ["first", "begun", "other"].map(said);
    let before = async {
        pair.begin(from_ref(&first)).await?;
        pair.settle().await
    };
    let (appending, since) = (pair.say(&pair.session, from_ref(&begun)), pair.say(&pair.session, from_ref(&other)));
    let half = Half::record(pair.server.url(), before, appending, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            let notes = pair.notes().await?;
            equal(notes.len(), 1)?;
            let dead: Vec<_> = notes.into_iter().map(|note| (note, Outcome::Dead { why: "test".to_owned() })).collect();
            pair.chat.settle(&pair.index, &dead).await?;
            equal(pair.notes().await?, [])?;
            equal(pair.chat.backlog(&pair.index).await?, Backlog { pending: 1, dead: 1 })?;
            equal(pair.chat.revive(&pair.index).await?, 1)?;
            equal(pair.notes().await?.len(), 1)
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A note that was to be tried later is due with what was said since, once.
pub(crate) async fn retried(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, second] = ["first", "second"].map(said);
    let later = Timestamp(1);
    let settling = pair.settle_as(|_| Outcome::Retry { at: later, why: "test".to_owned() });
    let (before, since) = (pair.begin(from_ref(&first)), pair.say(&pair.session, from_ref(&second)));
    let half = Half::record(pair.server.url(), before, settling, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            let notes = pair.notes_of(&pair.index, later).await?;
            equal(notes.iter().map(|note| note.upto).collect::<Vec<_>>(), [Seq(2)])?;
            pair.settle().await?;
            equal(pair.notes_of(&pair.index, later).await?, [])?;
            equal(pair.chat.backlog(&pair.index).await?, Backlog { pending: 1, dead: 0 })
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A note that was given up is due with what was said since, once.
pub(crate) async fn revived(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, second] = ["first", "second"].map(said);
    let before = async {
        pair.begin(from_ref(&first)).await?;
        pair.settle_as(|_| Outcome::Dead { why: "test".to_owned() }).await
    };
    let reviving = async { pair.chat.revive(&pair.index).await.map(|_| ()).map_err(Failure::from) };
    let since = pair.say(&pair.session, from_ref(&second));
    let half = Half::record(pair.server.url(), before, reviving, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            let notes = pair.notes().await?;
            equal(notes.iter().map(|note| note.upto).collect::<Vec<_>>(), [Seq(2)])?;
            pair.settle().await?;
            equal(pair.notes().await?, [])?;
            equal(pair.chat.backlog(&pair.index).await?, Backlog { pending: 1, dead: 0 })
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// An index hears of what was said before and since, if it is enlisted again.
pub(crate) async fn enlisted(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([first, second], other) = (["first", "second"].map(said), IndexName::new("text/second-1")?);
    let enlisting = async { pair.chat.enlist(&other, None, usize::MAX).await.map(|_| ()).map_err(Failure::from) };
    let (before, since) = (pair.begin(from_ref(&first)), pair.say(&pair.session, from_ref(&second)));
    // It writes down the index first, which is answered.
    let half = Half::record_behind(pair.server.url(), 1, before, enlisting, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            check!(pair.chat.enlist(&other, None, usize::MAX).await?, "not all is noted");
            for index in [&pair.index, &other] {
                let notes = pair.notes_of(index, Timestamp(0)).await?;
                equal(notes.iter().map(|note| (note.from, note.upto)).collect::<Vec<_>>(), [(Seq(1), Seq(2))])?;
            }
            Ok(())
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

//! Deletions, clearings, burials and erasures of which the server carried out the beginning alone, as in `torn`.

use std::slice::from_ref;

use memory_core::store::Store as _;
use memory_core::store::chat::{ChatStore as _, View};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, Seq};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};

use super::half::Half;
use super::pair::{Pair, said, texts};
use super::support::holds;

/// What was said since is there, with what was to be deleted.
pub(crate) async fn deleted(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, second, third, fourth] = ["1", "2", "3", "4"].map(said);
    let before = [first.clone(), second.clone()];
    let (deleting, since) = (pair.delete(&pair.session), pair.say(&pair.session, from_ref(&third)));
    let half = Half::record(pair.server.url(), pair.begin(&before), deleting, since).await?;
    let promised = [first, second, third];
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            holds(&pair.chat, &pair.ada, &pair.session, &promised).await?;
            equal(pair.listed(10).await?, ["a", "keep"])?;
            // It takes away the rows of all that was deleted.
            pair.delete(&pair.keep).await?;
            holds(&pair.chat, &pair.ada, &pair.session, &promised).await?;
            equal(pair.listed(10).await?, ["a"])?;
            // An index hears of it without another word.
            let noted: Vec<_> = pair.notes().await?.iter().map(|note| note.upto).collect();
            equal(noted, [Seq(3)])?;
            pair.say(&pair.session, from_ref(&fourth)).await?;
            equal(pair.window().await?, ["1", "2", "3", "4"])?;
            equal(pair.listed(10).await?, ["a"])?;
            let noted: Vec<_> = pair.notes().await?.iter().map(|note| note.upto).collect();
            equal(noted, [Seq(4)])?;
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A repeated deletion deletes all, and leaves no key.
pub(crate) async fn deleted_again(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let (before, other) = ([said("first"), said("second")], said("other"));
    let (deleting, since) = (pair.delete(&pair.session), pair.say(&pair.keep, from_ref(&other)));
    let half = Half::record(pair.server.url(), pair.begin(&before), deleting, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.delete(&pair.session).await?;
            equal(texts(&pair.view(View::Log).await?), [""; 0])?;
            equal(pair.listed(10).await?, ["keep"])?;
            pair.say(&pair.session, &before).await?;
            equal(pair.window().await?, ["first", "second"])?;
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A settlement that knew nothing of a deletion was acknowledged since: a repetition tells the index again.
pub(crate) async fn deleted_and_settled(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let before = [said("first"), said("second")];
    let (deleting, since) = (pair.delete(&pair.session), pair.settle());
    let half = Half::record(pair.server.url(), pair.begin(&before), deleting, since).await?;
    half.leave(0).await?;
    let seen = pair.seen().await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.chat.delete(&pair.ada, &seen).await?;
            let noted: Vec<_> = pair.notes().await?.iter().map(|note| (note.from, note.upto, note.gone)).collect();
            equal(noted, [(Seq(1), Seq(0), true)])?;
            pair.settle().await?;
            equal(pair.notes().await?, [])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// The rows of a deleted session are taken away: one that was begun anew since is listed and spared.
pub(crate) async fn cleared(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([first, third, fourth], other) = (["1", "3", "4"].map(said), said("other"));
    for is_begun_anew in [false, true] {
        let (said_in, new) = if is_begun_anew { (&pair.session, &third) } else { (&pair.keep, &other) };
        let (deleting, since) = (pair.delete(&pair.session), pair.say(said_in, from_ref(new)));
        let begun = pair.begin(from_ref(&first));
        let half = Half::record_behind(pair.server.url(), 1, begun, deleting, since).await?;
        for kept in 0..=half.commands() {
            half.leave(kept).await?;
            let checked = async {
                let listed: &[&str] = if is_begun_anew { &["a", "keep"] } else { &["keep"] };
                equal(pair.listed(10).await?, listed)?;
                pair.delete(&pair.keep).await?;
                let listed: &[&str] = if is_begun_anew { &["a"] } else { &[] };
                equal(pair.listed(10).await?, listed)?;
                pair.say(&pair.session, from_ref(&fourth)).await?;
                let window: &[&str] = if is_begun_anew { &["3", "4"] } else { &["4"] };
                equal(pair.window().await?, window)?;
                pair.erase().await?;
                half.leave(kept).await?;
                pair.erase().await
            };
            half.told(kept, checked.await)?;
        }
    }
    pair.server.remove().await?;
    Ok(())
}

/// Another session was deleted since, whose rows nobody has taken away yet.
pub(crate) async fn cleared_beside(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, second] = ["first", "second"].map(said);
    let before = async {
        pair.begin(from_ref(&first)).await?;
        // What is of its first generation, an erasure finds by its name.
        pair.delete(&pair.keep).await?;
        pair.say(&pair.keep, from_ref(&second)).await
    };
    let (deleting, since) = (pair.delete(&pair.session), pair.delete(&pair.keep));
    let half = Half::record_behind(pair.server.url(), 1, before, deleting, since).await?.without_last();
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.delete(&pair.session).await?;
            equal(pair.listed(10).await?, [""; 0])?;
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// What is said after a burial lives, and no key of what was buried stays.
pub(crate) async fn erased(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([first, second], after) = (["first", "second"].map(said), said("after"));
    let before = async {
        pair.begin(from_ref(&first)).await?;
        pair.delete(&pair.session).await?;
        pair.say(&pair.session, from_ref(&second)).await?;
        pair.bury().await.map(|_| ())
    };
    let erasing = async { pair.chat.erase(&pair.ada, Epoch(1)).await.map(|_| ()).map_err(Failure::from) };
    let since = pair.say(&pair.keep, from_ref(&after));
    let half = Half::record(pair.server.url(), before, erasing, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            equal(pair.chat.erase(&pair.ada, Epoch(1)).await?.remaining, 0)?;
            holds(&pair.chat, &pair.ada, &pair.keep, from_ref(&after)).await?;
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// What an owner said before his burial was carried out lives.
pub(crate) async fn buried(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, other] = ["first", "other"].map(said);
    let burying = async { pair.bury().await.map(|_| ()) };
    let since = pair.say(&pair.keep, from_ref(&other));
    let half = Half::record(pair.server.url(), pair.begin(from_ref(&first)), burying, since).await?;
    let promised = [pair.kept.clone(), other.clone()];
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            let epoch = pair.chat.epoch(&pair.ada).await?;
            equal(pair.chat.erase(&pair.ada, epoch).await?.remaining, 0)?;
            if epoch == Epoch(0) {
                holds(&pair.chat, &pair.ada, &pair.keep, &promised).await?;
                equal(pair.window().await?, ["first"])?;
            } else {
                equal(pair.window().await?, [""; 0])?;
            }
            pair.erase().await
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

//! Changes of the window and forgettings of which the server carried out the beginning alone, as in `torn`.

use std::slice::from_ref;

use memory_core::Seq;
use memory_core::store::chat::{Compaction, View};
use memory_testkit::services::Servers;
use memory_testkit::{Scene, check, equal};

use super::half::Half;
use super::pair::{Pair, fold, said, texts};
use super::support::holds;

/// Nothing is lost by a fold: it can be repeated, and what it covers forgotten with it.
pub(crate) async fn folded(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([one, two, three, four], other) = (["1", "2", "3", "4"].map(said), said("other"));
    let (before, summary) = ([one.clone(), two.clone(), three.clone()], said("one and two"));
    let change = fold(2, &[&one, &two], &summary);
    let since = pair.say(&pair.keep, from_ref(&other));
    let half = Half::record(pair.server.url(), pair.begin(&before), pair.compact(&change), since).await?;
    let promised = [one.clone(), two, three, four.clone()];
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.compact(&change).await?;
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["one and two", "3", "4"])?;
            holds(&pair.chat, &pair.ada, &pair.session, &promised).await?;
            check!(pair.keeps("one and two").await?, "the words are not found where they are");
            pair.forget(&[summary.message.id]).await?;
            check!(!pair.keeps("one and two").await?, "a row that nothing leads to has the words");
            half.leave(kept).await?;
            pair.forget(&[one.message.id]).await?;
            equal(pair.found(&[one.message.id, summary.message.id]).await?, 0)?;
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["2", "3", "4"])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// Another fold of the same was acknowledged since: what is forgotten is in neither summary.
pub(crate) async fn folded_beside(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [one, two, three, four] = ["1", "2", "3", "4"].map(said);
    let (messages, [begun, other]) = ([one.clone(), two.clone(), three], ["one and two", "other"].map(said));
    let [folding, since] = [&begun, &other].map(|summary| fold(2, &[&one, &two], summary));
    let (folding, since) = (pair.compact(&folding), pair.compact(&since));
    let half = Half::record(pair.server.url(), pair.begin(&messages), folding, since).await?;
    let ids = [&one, &begun, &other].map(|new| new.message.id);
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.forget(&[one.message.id]).await?;
            equal(pair.found(&ids).await?, 0)?;
            for words in ["one and two", "other"] {
                check!(!pair.keeps(words).await?, "a row has the words of what is forgotten: {words}");
            }
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["2", "3", "4"])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A fold or a settlement that knew nothing of a forgetting was acknowledged since: a repetition forgets all, and notes it again.
pub(crate) async fn forgotten_beside(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([one, two, three, four], summary) = (["1", "2", "3", "4"].map(said), said("one and two"));
    let (messages, change) = ([one.clone(), two.clone(), three], fold(2, &[&one, &two], &summary));
    let asked = [one.message.id];
    for is_folded in [true, false] {
        let since = async { if is_folded { pair.compact(&change).await } else { pair.settle().await } };
        let (before, forgetting) = (pair.begin(&messages), pair.forget(&asked));
        let half = Half::record(pair.server.url(), before, forgetting, since).await?;
        for kept in 0..=half.commands() {
            half.leave(kept).await?;
            let checked = async {
                pair.forget(&asked).await?;
                equal(pair.found(&[one.message.id, summary.message.id]).await?, 0)?;
                check!(!pair.keeps("one and two").await?, "a row has the words of what is forgotten");
                let noted: Vec<_> = pair.notes().await?.iter().map(|note| note.from).collect();
                equal(noted, [Seq(1)])?;
                pair.say(&pair.session, from_ref(&four)).await?;
                equal(pair.window().await?, ["2", "3", "4"])
            };
            half.told(kept, checked.await)?;
        }
    }
    pair.server.remove().await?;
    Ok(())
}

/// A repetition forgets what is left, also of the summaries around, and indexes are told of all.
pub(crate) async fn forgotten(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([one, two, three, four], other) = (["1", "2", "3", "4"].map(said), said("other"));
    let [inner, outer] = ["inner", "outer"].map(said);
    let messages = [one.clone(), two.clone(), three.clone()];
    let before = async {
        pair.begin(&messages).await?;
        pair.compact(&fold(2, &[&one, &two], &inner)).await?;
        pair.compact(&fold(3, &[&inner, &three], &outer)).await?;
        pair.settle().await
    };
    let ids = [&one, &inner, &outer].map(|new| new.message.id);
    let asked = [one.message.id];
    let (forgetting, since) = (pair.forget(&asked), pair.say(&pair.keep, from_ref(&other)));
    let half = Half::record(pair.server.url(), before, forgetting, since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.forget(&asked).await?;
            equal(pair.found(&ids).await?, 0)?;
            equal(texts(&pair.view(View::Log).await?), ["", "2", "3"])?;
            let noted: Vec<_> = pair.notes().await?.iter().map(|note| note.from).collect();
            equal(noted, [Seq(1)])?;
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["2", "3", "4"])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// A summary is forgotten: what it covered comes back, whatever was kept, and nothing of it stays.
pub(crate) async fn forgotten_summary(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([one, two, three, four], other) = (["1", "2", "3", "4"].map(said), said("other"));
    let (messages, summary) = ([one.clone(), two.clone(), three], said("one and two"));
    let before = async {
        pair.begin(&messages).await?;
        pair.compact(&fold(2, &[&one, &two], &summary)).await
    };
    let (asked, covered) = ([summary.message.id], [one.message.id]);
    let (forgetting, since) = (pair.forget(&asked), pair.say(&pair.keep, from_ref(&other)));
    let half = Half::record(pair.server.url(), before, forgetting, since).await?;
    for kept in 0..=half.commands() {
        for (again, left) in [(asked, ["1", "2", "3", "4"].as_slice()), (covered, ["2", "3", "4"].as_slice())] {
            half.leave(kept).await?;
            let checked = async {
                pair.forget(&again).await?;
                equal(pair.found(&asked).await?, 0)?;
                check!(!pair.keeps("one and two").await?, "a row has the words of what is forgotten");
                let all = pair.view(View::All).await?;
                check!(all.iter().all(|row| row.archived_by.is_none()), "what is back is archived");
                pair.say(&pair.session, from_ref(&four)).await?;
                equal(pair.window().await?, left)
            };
            half.told(kept, checked.await)?;
        }
    }
    pair.server.remove().await?;
    Ok(())
}

/// A repetition brings back what is left.
pub(crate) async fn unfolded(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let ([one, two, three, four], other) = (["1", "2", "3", "4"].map(said), said("other"));
    let (messages, summary) = ([one.clone(), two.clone(), three], said("one and two"));
    let before = async {
        pair.begin(&messages).await?;
        pair.compact(&fold(2, &[&one, &two], &summary)).await
    };
    let change = Compaction::Unfold { summary: summary.message.id };
    let since = pair.say(&pair.keep, from_ref(&other));
    let half = Half::record(pair.server.url(), before, pair.compact(&change), since).await?;
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.compact(&change).await?;
            equal(pair.found(&[summary.message.id]).await?, 0)?;
            let all = pair.view(View::All).await?;
            check!(all.iter().all(|row| row.archived_by.is_none()), "what is back is archived");
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["1", "2", "3", "4"])?;
            // Whatever it left, the summary is forgotten with what it covers.
            half.leave(kept).await?;
            pair.forget(&[one.message.id]).await?;
            equal(pair.found(&[one.message.id, summary.message.id]).await?, 0)?;
            check!(!pair.keeps("one and two").await?, "a row has the words of what is forgotten");
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["2", "3", "4"])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

/// Another fold that took the summary in was acknowledged since: neither has words of what is forgotten.
pub(crate) async fn unfolded_beside(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [one, two, three, four] = ["1", "2", "3", "4"].map(said);
    let (messages, [inner, outer]) = ([one.clone(), two.clone(), three.clone()], ["inner", "outer"].map(said));
    let (first, second) = (fold(2, &[&one, &two], &inner), fold(3, &[&inner, &three], &outer));
    let before = async {
        pair.begin(&messages).await?;
        pair.compact(&first).await
    };
    let change = Compaction::Unfold { summary: inner.message.id };
    let half = Half::record(pair.server.url(), before, pair.compact(&change), pair.compact(&second)).await?;
    let ids = [&one, &inner, &outer].map(|new| new.message.id);
    for kept in 0..=half.commands() {
        half.leave(kept).await?;
        let checked = async {
            pair.forget(&[one.message.id]).await?;
            equal(pair.found(&ids).await?, 0)?;
            for words in ["inner", "outer"] {
                check!(!pair.keeps(words).await?, "a row has the words of what is forgotten: {words}");
            }
            pair.say(&pair.session, from_ref(&four)).await?;
            equal(pair.window().await?, ["2", "3", "4"])
        };
        half.told(kept, checked.await)?;
    }
    pair.server.remove().await?;
    Ok(())
}

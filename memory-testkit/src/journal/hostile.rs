//! Bad input: a typed error or an exact round trip, and a journal that works afterwards.

use memory_core::store::chat::{Append, NewMessage};
use memory_core::{Block, Message, Role, SessionId, Timestamp};

use super::build::{EVER, ids, numbers, push, queued};
use crate::bad_input::{self, PROBES, TIMES, refusal};
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    bad_messages_are_refused_or_come_back_as_they_were,
    bad_reasons_are_refused_or_come_back_as_they_were,
    an_empty_push_changes_nothing,
    limits_beyond_the_queue_give_all_of_it,
]);

async fn bad_messages_are_refused_or_come_back_as_they_were(bed: Bed<Journals>) -> Scene {
    let (ada, session) = (bed.scope("ada")?, SessionId::new("s")?);
    let mut bad: Vec<(String, Message)> = Vec::new();
    for (what, content) in bad_input::contents() {
        bad.push((what, Message::new(Role::User, content, Timestamp(5))));
    }
    for (what, metadata) in bad_input::metadata() {
        let plain = Message::new(Role::User, "text", Timestamp(5));
        bad.push((what, Message { metadata: metadata.clone(), extra: metadata, ..plain }));
    }
    for time in TIMES {
        bad.push((format!("the time {time}"), Message::of_blocks(Role::Tool, Vec::new(), Timestamp(*time))));
    }
    let call = Block::ToolCall { id: "\0".into(), name: "'".into(), arguments: "{".into(), extra: Default::default() };
    bad.push(("a call".to_owned(), Message::of_blocks(Role::Assistant, vec![call], Timestamp(5))));
    for (what, message) in bad {
        let new = NewMessage::sized(message, u64::from(u32::MAX));
        let batch = Append::new(vec![new.clone()]);
        if let Some(number) = refusal(&what, bed.store.push(&ada, &session, &batch).await)? {
            let found: Vec<_> = queued(&bed.store).await?.into_iter().map(|queued| queued.new).collect();
            check!(found == [new], "{what} comes back otherwise");
            bed.store.acknowledge(&[number]).await?;
        }
        equal(queued(&bed.store).await?.len(), 0)?;
    }
    push(&bed.store, &ada, [1]).await?;
    equal(ids(&queued(&bed.store).await?), [1])
}

async fn bad_reasons_are_refused_or_come_back_as_they_were(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    for why in PROBES.iter().map(|probe| (*probe).to_owned()).chain(["w".repeat(1 << 20)]) {
        let number = push(&bed.store, &ada, [1]).await?;
        if refusal("the reason", bed.store.reject(number, &why).await)?.is_some() {
            let rejected = bed.store.rejected(None, 9).await?;
            check!(rejected.len() == 1 && rejected.iter().all(|rejection| rejection.why == why), "another reason");
        }
        equal(bed.store.erase(&ada, None, EVER).await?, 1)?;
    }
    Ok(())
}

async fn an_empty_push_changes_nothing(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, [1]).await?;
    refusal("an empty push", push(&bed.store, &ada, []).await)?;
    equal(ids(&queued(&bed.store).await?), [1])?;
    push(&bed.store, &ada, [2]).await?;
    equal(ids(&queued(&bed.store).await?), [1, 2])
}

async fn limits_beyond_the_queue_give_all_of_it(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..4).await?;
    let first = numbers(&queued(&bed.store).await?).into_iter().take(1).collect::<Vec<_>>();
    for number in first {
        bed.store.reject(number, "no").await?;
    }
    for limit in [usize::MAX, usize::MAX - 1, 1 << 40, 1 << 31] {
        if let Some(found) = refusal("the limit", bed.store.queued(None, None, limit).await)? {
            equal(ids(&found), [1, 2, 3])?;
        }
        if let Some(found) = refusal("the limit", bed.store.rejected(None, limit).await)? {
            equal(found.len(), 1)?;
        }
    }
    Ok(())
}

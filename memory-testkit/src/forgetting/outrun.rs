//! Calls that are under way while others forget: they are refused where they would bring something back, and nothing else is.

use std::sync::Arc;

use memory_core::engine::{Forget, Remember};
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::{Error, Filter, ItemId, Message, Record, RecordId, Timestamp};

use super::late::{Said, fact};
use super::world::{World, left, talk};
use crate::crowd::together;
use crate::doubles::Ending;
use crate::isolation::Stores;
use crate::{Bed, Boxed, Scene, equal};

scenarios!(TABLE: Stores = [
    a_put_that_was_under_way_brings_nothing_back,
    what_is_told_of_something_that_is_forgotten_meanwhile_is_refused,
    what_takes_a_place_while_its_source_is_forgotten_is_refused_too,
    what_is_told_again_before_its_source_is_gone_falls_again,
    what_is_derived_from_what_is_about_to_fall_is_refused,
    what_is_told_from_elsewhere_while_it_falls_stays,
    a_deletion_of_something_else_disturbs_nobody_who_tells,
    a_forget_of_a_session_spares_what_was_begun_anew_under_the_same_ids,
]);

async fn a_put_that_was_under_way_brings_nothing_back(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for subject in ["message", "record", "absent record", "session", "summary"] {
        let scope = bed.scope(subject)?;
        let ada = world.sound.of(&scope);
        let said = Said::by(&world, &ada).await?;
        let late = match subject {
            "record" => ada.get(&[said.record]).await?.first().map(|row| Record::clone(&row.record)),
            _ => None,
        };
        let late = late.unwrap_or_else(|| Record::new("fact", "the pin was 4711", Timestamp(1)));
        if matches!(subject, "message" | "session") {
            // Nothing else is to fall with it, whose deletion would refuse the put too. No summary covers the message either.
            ada.forget(&Forget::Records(vec![said.record])).await?;
        }
        let put = Put { record: Arc::new(late.clone()), expect: Expect::Absent };
        let batch = RecordBatch { fence: Some(world.records.store().fence(&scope).await?), puts: vec![put] };
        if subject == "summary" {
            ada.session(&talk()?).unfold(said.summary).await?;
        } else {
            let what = match subject {
                "message" => Forget::Messages(vec![said.other]),
                "session" => Forget::Session(talk()?),
                _ => Forget::Records(vec![late.id]),
            };
            check!(ada.forget(&what).await?.complete, "something is left of the {subject}");
        }
        // Its caller has gone long since.
        let answer = world.records.store().put(&scope, &batch).await;
        check!(matches!(answer, Err(Error::Conflict)), "the put is {answer:?} though the {subject} was forgotten");
        equal(ada.get(&[late.id]).await?, [])?;
    }
    Ok(())
}

async fn what_is_told_of_something_that_is_forgotten_meanwhile_is_refused(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    let mut tellers = Vec::new();
    for (place, source) in said.items().into_iter().enumerate() {
        // It has looked at its source and is about to store the record.
        world.cut.arm_at("put", Ending::IsDroppedBefore);
        let unlucky = unlucky.clone();
        tellers.push(tokio::spawn(async move {
            fails!(
                unlucky.remember(fact(&format!("4711 was told {place} times"), source)).await,
                Error::Invalid { .. }
            );
            Ok(())
        }));
        world.cut.reached().await;
    }
    check!(ada.forget(&Forget::Messages(vec![said.message])).await?.complete, "something is left");
    said.items().iter().for_each(|_| world.cut.resume());
    let ends = tellers.into_iter().map(|teller| async move {
        let ended: Scene = teller.await.map_err(|stopped| crate::Failure::new(stopped.to_string()))?;
        ended
    });
    together(ends.map(|end| Box::pin(end) as Boxed<'static, Scene>)).await?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 0)?;
    equal(left(&ada, &said.items()).await?.len(), 0)
}

async fn what_takes_a_place_while_its_source_is_forgotten_is_refused_too(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    // Nothing else is to fall with it, whose deletion would refuse the put too. No summary covers the message either.
    ada.forget(&Forget::Records(vec![said.record])).await?;
    let old = ada.remember(Remember::fact("the pin is secret")).await?.id;
    let new = fact("the pin is 4711", ItemId::Message(said.other));
    world.cut.arm_at("put", Ending::IsDroppedBefore);
    let (told, forgotten) = tokio::join!(unlucky.supersede(old, new), async {
        // The put waits until the source is forgotten.
        world.cut.reached().await;
        let forgotten = ada.forget(&Forget::Messages(vec![said.other])).await;
        world.cut.resume();
        forgotten
    });
    check!(forgotten?.complete, "something is left");
    fails!(told, Error::Invalid { .. });
    let rows = ada.records(&Filter::current(world.sound.now()), None, 10).await?;
    equal(rows.iter().map(|row| row.record.id).collect::<Vec<_>>(), [old])
}

async fn what_is_told_again_before_its_source_is_gone_falls_again(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for (subject, held) in [("message", "redact"), ("record", "delete"), ("session", "redact")] {
        let scope = bed.scope(subject)?;
        let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
        let said = Said::by(&world, &ada).await?;
        let (what, source) = match subject {
            "message" => (Forget::Messages(vec![said.message]), ItemId::Message(said.message)),
            "record" => (Forget::Records(vec![said.record]), ItemId::Record(said.record)),
            _ => (Forget::Session(talk()?), ItemId::Message(said.message)),
        };
        let derived = fact("ada has a pin", source);
        let id = ada.remember(derived.clone()).await?.id;
        // Once what was derived is deleted, and the source is not yet.
        let nth = if held == "redact" { 1 } else { 2 };
        world.cut.arm_at_nth(nth, held, Ending::IsDroppedBefore);
        let again = async {
            world.cut.reached().await;
            equal(ada.get(&[id]).await?, [])?;
            let told = ada.remember(derived).await;
            if subject == "record" {
                fails!(told, Error::Invalid { .. });
            } else {
                told?;
            }
            world.cut.resume();
            Ok::<_, crate::Failure>(())
        };
        let (receipt, again) = tokio::join!(unlucky.forget(&what), again);
        again?;
        check!(receipt?.complete, "something is left of the {subject}");
        equal(ada.records(&Filter::All, None, 10).await?, [])?;
    }
    Ok(())
}

async fn what_is_derived_from_what_is_about_to_fall_is_refused(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for subject in ["message", "record", "session"] {
        let scope = bed.scope(subject)?;
        let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
        let said = Said::by(&world, &ada).await?;
        let what = match subject {
            "message" => Forget::Messages(vec![said.message]),
            "record" => Forget::Records(vec![said.record]),
            _ => Forget::Session(talk()?),
        };
        // It has been looked for what was derived, and the record is about to be deleted.
        world.cut.arm_at("delete", Ending::IsDroppedBefore);
        let cut_off = tokio::spawn(async move { unlucky.forget(&what).await });
        world.cut.reached().await;
        let told = ada.remember(fact("4711 is secret", ItemId::Record(said.record))).await;
        world.cut.arm_at("delete", Ending::IsDroppedAfter);
        world.cut.resume();
        world.cut.reached().await;
        cut_off.abort();
        // Nothing of the record is left that would lead from the message to what was derived from it.
        equal(ada.get(&[said.record]).await?, [])?;
        check!(ada.forget(&Forget::Messages(vec![said.message])).await?.complete, "something is left of the {subject}");
        equal(ada.records(&Filter::All, None, 10).await?, [])?;
        fails!(told, Error::Invalid { .. });
    }
    Ok(())
}

async fn what_is_told_from_elsewhere_while_it_falls_stays(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    // It has been looked for and is about to be deleted.
    world.cut.arm_at("delete", Ending::IsDroppedBefore);
    let elsewhere = async {
        world.cut.reached().await;
        let told = ada.remember(Remember::fact("the pin of ada is 4711")).await;
        world.cut.resume();
        told
    };
    let what = Forget::Messages(vec![said.message]);
    let (receipt, told) = tokio::join!(unlucky.forget(&what), elsewhere);
    equal(told?.id, said.record)?;
    check!(receipt?.complete, "something is left");
    let rows = ada.get(&[said.record]).await?;
    equal(rows.iter().map(|row| row.record.tellings().count()).collect::<Vec<_>>(), [1])?;
    equal(left(&ada, &[ItemId::Message(said.message), ItemId::Message(said.summary)]).await?, [])
}

async fn a_deletion_of_something_else_disturbs_nobody_who_tells(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    let old = ada.remember(Remember::fact("the pin is secret")).await?.id;
    for place in 0..3 {
        let new = fact(&format!("the pin was told {place} times"), ItemId::Message(said.message));
        let other = ada.remember(Remember::fact("ada drinks tea")).await?.id;
        world.cut.arm_at("put", Ending::IsDroppedBefore);
        let telling = async {
            let told = match place {
                0 => unlucky.remember(new).await,
                1 => unlucky.remember(new.with_id(RecordId::fresh())).await,
                _ => unlucky.supersede(old, new).await,
            };
            told.map(|told| told.id)
        };
        let (told, forgotten) = tokio::join!(telling, async {
            world.cut.reached().await;
            let forgotten = ada.forget(&Forget::Records(vec![other])).await;
            world.cut.resume();
            forgotten
        });
        check!(forgotten?.complete, "something is left");
        equal(ada.get(&[told?, other]).await?.len(), 1)?;
    }
    let retired = ada.get(&[old]).await?.first().and_then(|row| row.record.superseded);
    check!(retired.is_some(), "the old record is current");
    Ok(())
}

async fn a_forget_of_a_session_spares_what_was_begun_anew_under_the_same_ids(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    let rows = ada.messages(&[said.message]).await?;
    let message = rows.into_iter().find_map(|row| row.message).ok_or("the message is not there")?;
    let session = Forget::Session(talk()?);
    // Its state and its rows have been read; what follows them is about to be.
    world.cut.arm_at_nth(3, "read", Ending::IsDroppedBefore);
    let anew = async {
        world.cut.reached().await;
        ada.forget(&session).await?;
        let begun = ada.session(&talk()?).append(vec![Message::clone(&message)]).await;
        world.cut.resume();
        begun
    };
    let (receipt, begun) = tokio::join!(unlucky.forget(&session), anew);
    begun?;
    check!(receipt?.complete, "something is left");
    equal(ada.messages(&[said.message]).await?.iter().filter(|row| row.message.is_some()).count(), 1)
}

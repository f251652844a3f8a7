//! Records that are told while their source is forgotten, or afterwards: they fall with it, or are refused.

use memory_core::engine::{Forget, Remember, Scoped};
use memory_core::{Error, Filter, ItemId, MessageId, RecordId, Role};

use super::plot::{fold, said};
use super::world::{World, talk};
use crate::crowd::together;
use crate::doubles::Ending;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    nothing_is_derived_from_what_is_not_stored,
    what_takes_a_place_is_refused_too_and_the_old_record_stays_current,
    what_is_told_after_the_first_look_falls_too,
    what_is_told_while_its_source_is_forgotten_falls_or_is_refused,
    what_was_derived_from_a_summary_falls_when_it_is_unfolded,
    no_receipt_is_complete_beside_an_erasure_that_was_cut_off,
]);

/// Owners of whom something is forgotten while others tell records derived from it.
const OWNERS: usize = 16;

/// Something said, a summary that covers it, and a record derived from the first.
pub(super) struct Said {
    pub(super) message: MessageId,
    /// Something else that was said, which no summary covers.
    pub(super) other: MessageId,
    pub(super) summary: MessageId,
    pub(super) record: RecordId,
}

impl Said {
    pub(super) async fn by(world: &World, scoped: &Scoped) -> Result<Self, Failure> {
        let messages: Vec<_> = ["my pin is 4711", "two", "three"].map(|text| said(Role::User, text)).to_vec();
        let message = messages.first().map(|message| message.id).ok_or("nothing was said")?;
        let other = messages.last().map(|message| message.id).ok_or("nothing was said")?;
        scoped.session(&talk()?).append(messages).await?;
        let summary = fold(world, scoped, &talk()?, 2, "the pin is 4711").await?;
        let record = scoped.remember(fact("the pin of ada is 4711", ItemId::Message(message))).await?.id;
        Ok(Self { message, other, summary, record })
    }

    pub(super) fn items(&self) -> [ItemId; 3] {
        [ItemId::Message(self.message), ItemId::Message(self.summary), ItemId::Record(self.record)]
    }
}

pub(super) fn fact(text: &str, source: ItemId) -> Remember {
    Remember::fact(text).with_source(source)
}

async fn nothing_is_derived_from_what_is_not_stored(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, bob) = (world.sound.of(&bed.scope("ada")?), world.sound.of(&bed.scope("bob")?));
    let said = Said::by(&world, &ada).await?;
    // Neither from what another owner has.
    for source in said.items() {
        fails!(bob.remember(fact("ada has a pin", source)).await, Error::Invalid { .. });
    }
    check!(ada.forget(&Forget::Messages(vec![said.message])).await?.complete, "something is left");
    let [message, summary, record] = said.items();
    let never = [ItemId::Message(MessageId::fresh()), ItemId::Record(RecordId::fresh()), ItemId::Span(talk()?, 0)];
    for source in [message, summary, record].into_iter().chain(never) {
        fails!(ada.remember(fact("the pin was 4711", source)).await, Error::Invalid { .. });
    }
    for owner in [&ada, &bob] {
        equal(owner.records(&Filter::All, None, 10).await?.len(), 0)?;
    }
    Ok(())
}

async fn what_takes_a_place_is_refused_too_and_the_old_record_stays_current(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.sound.of(&bed.scope("ada")?);
    let said = Said::by(&world, &ada).await?;
    let old = ada.remember(Remember::fact("the pin is secret")).await?.id;
    check!(ada.forget(&Forget::Messages(vec![said.message])).await?.complete, "something is left");
    fails!(ada.supersede(old, fact("the pin is 4711", ItemId::Message(said.message))).await, Error::Invalid { .. });
    let rows = ada.records(&Filter::current(world.sound.now()), None, 10).await?;
    equal(rows.iter().map(|row| row.record.id).collect::<Vec<_>>(), [old])
}

async fn what_is_told_after_the_first_look_falls_too(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for (subject, held) in [("message", "redact"), ("record", "delete"), ("session", "delete")] {
        let scope = bed.scope(subject)?;
        let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
        let said = Said::by(&world, &ada).await?;
        let (what, source) = match subject {
            "message" => (Forget::Messages(vec![said.message]), ItemId::Message(said.summary)),
            "record" => (Forget::Records(vec![said.record]), ItemId::Record(said.record)),
            _ => (Forget::Session(talk()?), ItemId::Message(said.summary)),
        };
        world.cut.arm_at(held, Ending::IsDroppedBefore);
        let late = async {
            world.cut.reached().await;
            let told = ada.remember(fact("ada has a pin", source)).await;
            let told = match told {
                Ok(told) => ada.remember(fact("ada is careless", ItemId::Record(told.id))).await,
                refused => refused,
            };
            world.cut.resume();
            told
        };
        let (receipt, late) = tokio::join!(unlucky.forget(&what), late);
        // A record is doomed before that look.
        check!(
            matches!(late, Err(Error::Invalid { .. })) == (subject == "record"),
            "it is told of the {subject}: {late:?}"
        );
        check!(receipt?.complete, "something is left of the {subject}");
        equal(ada.records(&Filter::All, None, 10).await?.len(), 0)?;
    }
    Ok(())
}

async fn what_is_told_while_its_source_is_forgotten_falls_or_is_refused(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for number in 0..OWNERS {
        let scope = bed.scope(&format!("owner{number}"))?;
        let ada = world.sound.of(&scope);
        let said = Said::by(&world, &ada).await?;
        let tellers = said.items().into_iter().enumerate().map(|(place, source)| {
            let ada = ada.clone();
            async move {
                let told = ada.remember(fact(&format!("4711 was told {place} times"), source)).await;
                let told = match told {
                    Ok(told) => told,
                    Err(Error::Invalid { .. }) => return Ok(()),
                    Err(other) => return Err(other.into()),
                };
                // And one more, derived from that.
                match ada.remember(fact(&format!("change 4711 in {place} days"), ItemId::Record(told.id))).await {
                    Ok(_) | Err(Error::Invalid { .. }) => Ok(()),
                    Err(other) => Err(other.into()),
                }
            }
        });
        let forgetting = {
            let (ada, message) = (ada.clone(), said.message);
            async move {
                let receipt = ada.forget(&Forget::Messages(vec![message])).await?;
                check!(receipt.complete, "something is left: {receipt:?}");
                Ok(())
            }
        };
        let tasks = tellers.map(|teller| Box::pin(teller) as crate::Boxed<'static, Scene>);
        together(tasks.chain([Box::pin(forgetting) as crate::Boxed<'static, Scene>])).await?;
        equal(ada.records(&Filter::All, None, 10).await?.len(), 0)?;
    }
    Ok(())
}

async fn what_was_derived_from_a_summary_falls_when_it_is_unfolded(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.sound.of(&bed.scope("ada")?);
    let said = Said::by(&world, &ada).await?;
    let derived = ada.remember(fact("change 4711", ItemId::Message(said.summary))).await?.id;
    ada.remember(fact("ada is careless", ItemId::Record(derived))).await?;
    let talk = ada.session(&talk()?);
    // A message stands for nothing, and what was derived from it stays.
    talk.unfold(said.message).await?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 3)?;
    talk.unfold(said.summary).await?;
    let rows = ada.records(&Filter::All, None, 10).await?;
    equal(rows.iter().map(|row| row.record.id).collect::<Vec<_>>(), [said.record])?;
    check!(ada.forget(&Forget::Messages(vec![said.message])).await?.complete, "something is left");
    equal(ada.records(&Filter::All, None, 10).await?.len(), 0)
}

async fn no_receipt_is_complete_beside_an_erasure_that_was_cut_off(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let said = Said::by(&world, &world.sound.of(&scope)).await?;
    // What the first step of an erasure does: the conversations are gone, the records are not.
    let chat = world.chat.upkeep();
    chat.bury(&scope, chat.epoch(&scope).await?).await?;
    let ada = world.sound.of(&scope);
    check!(!ada.forget(&Forget::Session(talk()?)).await?.complete, "the receipt is complete");
    check!(!ada.get(&[said.record]).await?.is_empty(), "there is nothing that the receipt could have missed");
    check!(ada.forget(&Forget::Everything).await?.complete, "something is left");
    let ada = world.sound.of(&scope);
    equal(ada.get(&[said.record]).await?, [])?;
    check!(ada.forget(&Forget::Session(talk()?)).await?.complete, "the erasure was gone on with");
    Ok(())
}

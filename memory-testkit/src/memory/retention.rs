//! Retention: what is too old or too much is forgotten by upkeep, with all that was derived from it, and nothing else is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::engine::{
    ContextRequest, Event, Forget, HistoryEdge, Lapse, Observer, Remember, Retained, Retention, Search, Session,
};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Block, Error, Filter, ItemId, Message, MessageId, Role, Scope, Seq, StoredMessage};

use super::world::{World, session, texts};
use crate::doubles::Counting;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    a_message_is_forgotten_when_it_is_too_old_and_what_was_derived_falls_with_it,
    the_newest_messages_of_each_conversation_are_kept,
    as_many_of_the_newest_messages_are_kept_as_have_the_bytes,
    the_narrowest_retention_holds_and_no_other_owner_is_touched,
    a_call_stays_as_long_as_its_result,
    instructions_go_with_the_last_message_and_a_branch_keeps_its_past,
    records_are_forgotten_by_age_unless_they_are_pinned_on_hold_or_told_again,
    s1_11_a_record_that_matters_is_kept_longer,
    what_a_pinned_record_was_derived_from_stays,
    what_a_pinned_record_was_derived_from_stays_under_summaries_of_summaries,
    what_is_folded_lapses_too,
    a_long_conversation_lapses_in_bounded_steps,
    another_process_goes_on_behind_what_is_forgotten,
    what_has_not_lapsed_is_not_read_again,
    a_retention_of_nothing_is_refused,
]);

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Takes note of what lapses.
#[derive(Debug, Default)]
struct Lapsed(Mutex<Vec<(Option<Scope>, u64, u64)>>);

impl Observer for Lapsed {
    fn observe(&self, owner: Option<&Scope>, event: &Event) {
        if let Event::Lapsed { removed, derived, .. } = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((owner.cloned(), *removed, *derived));
        }
    }
}

/// Opens a memory that keeps so much of everything.
async fn keeping(bed: &Bed<Stores>, retention: Retention) -> Result<World, Failure> {
    World::with(bed, |_, builder| builder.retention(Retained::Everything, retention)).await
}

/// Lets so much time go by, and tends the memory until nothing is left to do. Returns what lapsed.
async fn wait(world: &World, time: Duration) -> Result<Vec<Lapse>, Failure> {
    world.ground.clock.advance(time);
    let mut lapses = Vec::new();
    for _ in 0..100 {
        let report = world.memory.upkeep_once().await?;
        equal(report.failures, [""; 0])?;
        let lapsed: u64 = report.lapses.iter().map(|lapse| lapse.removed).sum();
        equal(report.lapsed, lapsed)?;
        if report.lapses.is_empty() {
            return Ok(lapses);
        }
        lapses.extend(report.lapses);
        // The next step.
        world.ground.clock.advance(Duration::from_secs(10));
    }
    Err(Failure::new("there is always more to forget"))
}

/// Returns what is left of a conversation.
async fn left(talk: &Session) -> Result<Vec<String>, Failure> {
    let rows = talk.history(HistoryEdge::Oldest, 10_000).await?.messages;
    Ok(rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect())
}

async fn say(world: &World, talk: &Session, said: &[&str]) -> Result<Vec<MessageId>, Failure> {
    let messages: Vec<Message> = said.iter().map(|text| world.user(text)).collect();
    let ids = messages.iter().map(|message| message.id).collect();
    talk.append(messages).await?;
    Ok(ids)
}

async fn a_message_is_forgotten_when_it_is_too_old_and_what_was_derived_falls_with_it(bed: Bed<Stores>) -> Scene {
    let lapsed = Arc::<Lapsed>::default();
    let retention = Retention::default().with_age(30 * DAY);
    let observer = Arc::clone(&lapsed);
    let world =
        World::with(&bed, |_, builder| builder.retention(Retained::Everything, retention).observer(observer)).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, &["My rose is called Aurora."]).await?;
    let source = ids.first().map(|id| ItemId::Message(*id)).ok_or("nothing was said")?;
    talk.scoped().remember(Remember::fact("The rose is called Aurora").with_source(source)).await?;
    talk.scoped().remember(Remember::fact("Ada likes tea")).await?;
    equal(wait(&world, 20 * DAY).await?, vec![])?;
    say(&world, &talk, &["Where is my rose?"]).await?;
    equal(wait(&world, 9 * DAY).await?, vec![])?;
    equal(left(&talk).await?.len(), 2)?;
    let lapses = wait(&world, DAY).await?;
    equal(
        lapses.iter().map(|lapse| (lapse.removed, lapse.derived, lapse.complete)).collect::<Vec<_>>(),
        [(2, 1, true)],
    )?;
    equal(lapses.first().and_then(|lapse| lapse.session.clone()), Some(talk.id().clone()))?;
    equal(left(&talk).await?, ["Where is my rose?"])?;
    let told = lapsed.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    equal(told, vec![(Some(talk.scoped().scope().clone()), 2, 1)])?;
    let found = world.ground.reader("ada").await?.search(&Search::new("Aurora tea").limit(10)).await?;
    let found = texts(&found);
    check!(found.iter().all(|text| !text.contains("Aurora")), "{found:?}");
    check!(found.iter().any(|text| text == "Ada likes tea"), "{found:?}");
    Ok(())
}

async fn the_newest_messages_of_each_conversation_are_kept(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_messages(3)).await?;
    let talk = world.talk("ada")?;
    let other = talk.scoped().session(&session("other")?);
    say(&world, &talk, &["1", "2", "3"]).await?;
    say(&world, &other, &["1"]).await?;
    equal(wait(&world, DAY).await?, vec![])?;
    say(&world, &talk, &["4", "5"]).await?;
    equal(wait(&world, DAY).await?.iter().map(|lapse| lapse.removed).collect::<Vec<_>>(), [2])?;
    equal(
        (left(&talk).await?, left(&other).await?),
        (vec!["3".to_owned(), "4".into(), "5".into()], vec!["1".to_owned()]),
    )
}

async fn as_many_of_the_newest_messages_are_kept_as_have_the_bytes(bed: Bed<Stores>) -> Scene {
    let size = Message::new(Role::User, "words", memory_core::Timestamp(1_767_225_600_000_000)).encoded_len() as u64;
    let world = keeping(&bed, Retention::default().with_bytes(3 * size + size / 2)).await?;
    let talk = world.talk("ada")?;
    say(&world, &talk, &["word1", "word2", "word3", "word4", "word5"]).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?, ["word3", "word4", "word5"])?;
    // One that is too large alone leaves nothing.
    say(&world, &talk, &[&"long ".repeat(1_000)]).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?, [""; 0])
}

async fn the_narrowest_retention_holds_and_no_other_owner_is_touched(bed: Bed<Stores>) -> Scene {
    let keep = |messages| Retention::default().with_messages(messages);
    let world = World::with(&bed, |ground, builder| {
        let [ada, bob] = ["ada", "bob"].map(|subject| ground.scope(subject));
        let (Ok(ada), Ok(bob), Ok(talk)) = (ada, bob, session("talk")) else { return builder };
        builder
            .retention(Retained::Tenant(ada.tenant()), keep(3))
            .retention(Retained::Owner(bob.clone()), keep(2))
            .retention(Retained::Session(bob, talk), Retention::default())
            .retention(Retained::Tenant("another".to_owned()), keep(1))
    })
    .await?;
    let (ada, bob) = (world.talk("ada")?, world.talk("bob")?);
    let of_bob = bob.scoped().session(&session("other")?);
    let cy = world.memory.of(&Scope::new(&format!("{}-other", ada.scoped().scope().tenant()), "cy")?);
    let cy = cy.session(&session("talk")?);
    for talk in [&ada, &bob, &of_bob, &cy] {
        say(&world, talk, &["1", "2", "3", "4"]).await?;
    }
    wait(&world, DAY).await?;
    let mut counts = Vec::new();
    for talk in [&ada, &bob, &of_bob, &cy] {
        counts.push(left(talk).await?.len());
    }
    equal(counts, [3, 4, 2, 4])?;
    // Another tenant's data is this suite's too.
    cy.scoped().forget(&Forget::Everything).await?;
    Ok(())
}

async fn a_call_stays_as_long_as_its_result(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_messages(2)).await?;
    let talk = world.talk("ada")?;
    let call = Block::ToolCall {
        id: "c1".to_owned(),
        name: "weather".to_owned(),
        arguments: "{}".to_owned(),
        extra: serde_json::Map::new(),
    };
    let called = Message::of_blocks(Role::Assistant, vec![call], world.memory.now());
    let result = Block::tool_result("c1", vec![Block::text("Rain.")]);
    let answered = Message::of_blocks(Role::Tool, vec![result], world.memory.now());
    talk.append(vec![world.user("Will it rain?"), called, answered, world.say(Role::Assistant, "It will.")]).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?, ["weather {}", "Rain.", "It will."])?;
    say(&world, &talk, &["Thank you."]).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?, ["It will.", "Thank you."])
}

async fn instructions_go_with_the_last_message_and_a_branch_keeps_its_past(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_age(10 * DAY)).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.say(Role::System, "You are a gardener."), world.user("Hello.")]).await?;
    world.ground.clock.advance(8 * DAY);
    let ids = say(&world, &talk, &["My rose is called Aurora."]).await?;
    let at = *ids.first().ok_or("nothing was said")?;
    let branch = talk.fork(at, &session("b")?).await?;
    say(&world, &branch, &["And my tulip?"]).await?;
    wait(&world, 3 * DAY).await?;
    equal(left(&talk).await?, ["You are a gardener.", "My rose is called Aurora."])?;
    equal(left(&branch).await?, ["You are a gardener.", "My rose is called Aurora.", "And my tulip?"])?;
    wait(&world, 8 * DAY).await?;
    equal(left(&talk).await?, [""; 0])?;
    // The branch still knows where it left.
    let context = branch.assemble(&ContextRequest::new("", 1_000).recall(0)).await?;
    equal(context.receipt.search.degraded, vec![])
}

async fn records_are_forgotten_by_age_unless_they_are_pinned_on_hold_or_told_again(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_record_age(30 * DAY)).await?;
    let ada = world.owner("ada")?;
    ada.remember(Remember::fact("Ada likes tea")).await?;
    ada.remember(Remember::fact("Ada is allergic to nuts").pinned()).await?;
    ada.remember(Remember::fact("Ada lives in Kyiv")).await?;
    let (mut held, mut record) = (Vec::new(), memory_core::Record::new("fact", "Ada is sued", world.memory.now()));
    record.hold = true;
    held.push(memory_core::StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 });
    ada.restore(&held).await?;
    world.ground.clock.advance(20 * DAY);
    ada.remember(Remember::fact("Ada lives in Kyiv").with_session(session("talk")?)).await?;
    let lapses = wait(&world, 15 * DAY).await?;
    equal(lapses.iter().map(|lapse| (lapse.session.clone(), lapse.removed)).collect::<Vec<_>>(), [(None, 1)])?;
    let mut left: Vec<String> =
        ada.records(&Filter::All, None, 10).await?.iter().map(|stored| stored.record.text.clone()).collect();
    left.sort();
    equal(left, ["Ada is allergic to nuts", "Ada is sued", "Ada lives in Kyiv"])
}

async fn s1_11_a_record_that_matters_is_kept_longer(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_record_age(30 * DAY).with_importance(0.39)).await?;
    let ada = world.owner("ada")?;
    ada.remember(Remember::fact("Ada is allergic to nuts").with_importance(1.0)).await?;
    ada.remember(Remember::fact("Ada wore a red hat").with_importance(0.0)).await?;
    ada.remember(Remember::fact("Ada saw a blue bird")).await?;
    ada.remember(Remember::fact("Ada drives an old tractor")).await?;
    for _ in 0..15 {
        world.ground.clock.advance(Duration::from_secs(1));
        equal(ada.recall(&Search::new("tractor").limit(1)).await?.hits.len(), 1)?;
    }
    let left = async || -> Result<Vec<String>, Failure> {
        let rows = ada.records(&Filter::All, None, 10).await?;
        let mut left: Vec<String> = rows.iter().map(|stored| stored.record.text.clone()).collect();
        left.sort();
        Ok(left)
    };
    wait(&world, 20 * DAY).await?;
    equal(left().await?.len(), 4)?;
    // 0.07 is left of newness. What was said of importance, or use, adds enough.
    wait(&world, 11 * DAY).await?;
    equal(left().await?, ["Ada drives an old tractor", "Ada is allergic to nuts"])?;
    // Nothing of newness, and use alone is too little.
    let lapses = wait(&world, 700 * DAY).await?;
    equal(lapses.iter().map(|lapse| lapse.removed).sum::<u64>(), 1)?;
    equal(left().await?, ["Ada is allergic to nuts"])
}

async fn what_a_pinned_record_was_derived_from_stays(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_age(DAY).with_record_age(DAY)).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, &["I am allergic to nuts.", "I like tea."]).await?;
    let [nuts, tea] = ids.as_slice() else { return Err(Failure::new("two messages")) };
    let ada = talk.scoped();
    let told = ada.remember(Remember::fact("Ada is allergic").with_source(ItemId::Message(*nuts))).await?;
    let pinned = Remember::fact("Ada carries an injector").with_source(ItemId::Record(told.id)).pinned();
    let pinned = ada.remember(pinned).await?;
    ada.remember(Remember::fact("Ada likes tea").with_source(ItemId::Message(*tea))).await?;
    wait(&world, 2 * DAY).await?;
    equal(left(&talk).await?, ["I am allergic to nuts."])?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 2)?;
    // When it is gone, they go too.
    ada.forget(&Forget::Records(vec![pinned.id])).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?, [""; 0])?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 0)
}

async fn what_a_pinned_record_was_derived_from_stays_under_summaries_of_summaries(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_limit(600).with_max_summaries(1, 2).with_folding(Folding::Summaries);
    let retention = Retention::default().with_age(DAY);
    let world = World::with(&bed, |_, b| b.buffer(window).retention(Retained::Everything, retention)).await?;
    let talk = world.talk("ada")?;
    say(&world, &talk, &["My rose is called Aurora."]).await?;
    for _ in 0..4 {
        talk.append(world.chatter(30)).await?;
        wait(&world, Duration::from_secs(60)).await?;
    }
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::All)).await?.messages;
    let above = |id: MessageId| rows.iter().find(|row| row.id == id).and_then(|row| row.archived_by);
    let first = rows.first().ok_or("nothing was said")?;
    let top = above(first.id).and_then(above).ok_or("no summary was summarised")?;
    let pinned = Remember::fact("Ada grows roses").with_source(ItemId::Message(top)).pinned();
    talk.scoped().remember(pinned).await?;
    wait(&world, 2 * DAY).await?;
    check!(left(&talk).await?.contains(&first_said(first)), "the first message is forgotten");
    equal(talk.scoped().records(&Filter::All, None, 10).await?.len(), 1)
}

fn first_said(row: &StoredMessage) -> String {
    row.message.as_deref().map(Message::text).unwrap_or_default()
}

async fn what_is_folded_lapses_too(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_limit(600).with_folding(Folding::Summaries);
    let retention = Retention::default().with_messages(10);
    let world = World::with(&bed, |_, b| b.buffer(window).retention(Retained::Everything, retention)).await?;
    let talk = world.talk("ada")?;
    say(&world, &talk, &["My rose is called Aurora."]).await?;
    talk.append(world.chatter(30)).await?;
    wait(&world, DAY).await?;
    equal(left(&talk).await?.len(), 10)?;
    let context = talk.assemble(&ContextRequest::new("", 10_000).recall(0)).await?;
    check!(context.messages().all(|message| !message.text().contains("Aurora")), "{context:#?}");
    Ok(())
}

async fn a_long_conversation_lapses_in_bounded_steps(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, Retention::default().with_messages(10)).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(1_500)).await?;
    let first = world.memory.upkeep_once().await?;
    check!((1..=1_300).contains(&first.lapsed), "{} lapsed in one step", first.lapsed);
    // Without a pause, as there is more.
    let second = world.memory.upkeep_once().await?;
    check!((1..=1_300).contains(&second.lapsed), "{} lapsed in the second step", second.lapsed);
    wait(&world, DAY).await?;
    equal(left(&talk).await?.len(), 10)
}

async fn another_process_goes_on_behind_what_is_forgotten(bed: Bed<Stores>) -> Scene {
    let retention = Retention::default().with_age(30 * DAY);
    let world = keeping(&bed, retention).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(300)).await?;
    world.ground.clock.advance(20 * DAY);
    say(&world, &talk, &["My rose is called Aurora."]).await?;
    wait(&world, 15 * DAY).await?;
    equal(left(&talk).await?, ["My rose is called Aurora."])?;
    let memory = world.ground.open(|_, builder| builder.retention(Retained::Everything, retention)).await?;
    let other = World { memory, ground: world.ground };
    wait(&other, 20 * DAY).await?;
    equal(left(&talk).await?, [""; 0])
}

async fn what_has_not_lapsed_is_not_read_again(bed: Bed<Stores>) -> Scene {
    let counting = Arc::<Counting>::default();
    let retention = Retention::default().with_age(30 * DAY).with_bytes(1 << 20);
    let world = keeping(&bed, retention).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(50)).await?;
    world.tend().await?;
    let tending =
        |_: &_, builder: memory_core::engine::MemoryBuilder| builder.retention(Retained::Everything, retention);
    let memory = world.ground.open_counted(&counting, tending).await?;
    memory.upkeep_once().await?;
    check!(counting.rows("read") >= 50, "{} rows", counting.rows("read"));
    for _ in 0..3 {
        counting.reset();
        world.ground.clock.advance(Duration::from_secs(60));
        memory.upkeep_once().await?;
        // The walk that compares indexes with truth reads some rows.
        let (listed, read) = (counting.calls("sessions"), counting.rows("read"));
        check!(listed == 1 && read < 10, "{listed} listings, {read} rows");
    }
    Ok(())
}

async fn a_retention_of_nothing_is_refused(bed: Bed<Stores>) -> Scene {
    let none = Retention::default();
    for zero in
        [none.with_age(Duration::ZERO), none.with_messages(0), none.with_bytes(0), none.with_record_age(Duration::ZERO)]
    {
        let world = keeping(&bed, zero).await;
        check!(world.is_err(), "{zero:?} is taken");
        check!(matches!(zero.check(), Err(Error::Invalid { .. })), "{zero:?} is kept");
    }
    Ok(())
}

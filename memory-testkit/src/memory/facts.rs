//! Facts found in what is said: by rules, and by whatever answers the memory may get.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use memory_core::engine::{Forget, Remember, Scoped, Search};
use memory_core::extract::{Effect, ExtractRequest, Extractor, FactCounts, Operation, RuleExtractor, Slot};
use memory_core::{Block, Error, Field, Filter, ItemId, Message, MessageId, Result, Role, Seq, SeqRange, Trust};

use super::world::{World, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s2_14f_what_a_person_says_of_themselves_becomes_a_fact_with_its_source,
    s2_14f_news_takes_the_place_of_what_was_so_before,
    what_was_said_before_is_read_too_and_nothing_twice,
    a_fact_is_forgotten_with_the_message_that_says_it,
    fewer_words_confirm_a_fact_and_are_forgotten_with_it,
    a_fact_that_has_ended_stays_ended_whatever_is_read_again,
    a_fact_that_is_true_anew_is_forgotten_with_what_says_it_anew,
    what_may_be_many_is_ended_by_no_other,
    what_is_taken_back_ends_when_that_was_said,
    what_is_taken_back_stays_so_whoever_else_had_said_it,
    nothing_is_found_in_what_others_say,
    a_fact_has_the_trust_of_its_source_and_replaces_none_of_more,
    a_fact_that_has_ended_holds_none_of_more_trust,
    a_dry_run_changes_nothing,
    an_answer_that_is_not_allowed_changes_nothing_and_is_asked_for_again,
    an_extractor_that_panics_holds_up_nothing_else,
]);

async fn with(bed: &Bed<Stores>, extractor: impl Extractor) -> std::result::Result<World, Failure> {
    World::with(bed, |_, builder| builder.extractor(Arc::new(extractor))).await
}

/// Returns the texts of the current records, sorted.
async fn facts(owner: &Scoped) -> std::result::Result<Vec<String>, Failure> {
    let current = Filter::current(owner.memory().now());
    let stored = owner.records(&current, None, 100).await?;
    let mut texts: Vec<_> = stored.into_iter().map(|stored| stored.record.text.clone()).collect();
    texts.sort();
    Ok(texts)
}

async fn s2_14f_what_a_person_says_of_themselves_becomes_a_fact_with_its_source(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let ada = world.owner("ada")?;
    let said = world.user("Hi! I live in Lisbon, and I'm allergic to peanuts. Is it warm?");
    let id = said.id;
    ada.session(&session("talk")?).append(vec![said, world.say(Role::Assistant, "I live in a computer.")]).await?;
    world.owner("bob")?.session(&session("talk")?).append(vec![world.user("I live in Rome.")]).await?;
    let report = world.memory.upkeep_once().await?;
    equal((report.facts, report.failures), (2, Vec::new()))?;
    equal(facts(&ada).await?, ["user: I live in Lisbon"])?;
    let lisbon = ada.records(&Filter::eq(Field::Tag, "Lisbon"), None, 2).await?;
    let told = lisbon.first().map(|stored| (stored.record.trust(), stored.record.origin().map(str::to_owned)));
    equal(told, Some((Trust::User, Some("facts/rules-1".to_owned()))))?;
    let sources = lisbon.iter().flat_map(|stored| stored.record.sources().into_iter().cloned());
    equal(sources.collect::<Vec<_>>(), [ItemId::Message(id)])?;
    equal(facts(&world.owner("bob")?).await?, ["user: I live in Rome"])
}

async fn s2_14f_news_takes_the_place_of_what_was_so_before(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let ada = world.owner("ada")?;
    let talk = ada.session(&session("talk")?);
    talk.append(vec![world.user("I live in Rome."), world.user("I moved to Lisbon.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I moved to Lisbon"])?;
    talk.append(vec![world.user("I've moved to Porto.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I've moved to Porto"])?;
    // The same value in other words is the same fact.
    talk.append(vec![world.user("I live in Porto.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I've moved to Porto"])?;
    equal(ada.records(&Filter::All, None, 100).await?.len(), 3)
}

async fn what_was_said_before_is_read_too_and_nothing_twice(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    ada.session(&session("talk")?).append((0..40).map(|n| world.user(&format!("I like dish {n}."))).collect()).await?;
    world.tend().await?;
    equal(facts(&ada).await?.len(), 0)?;
    let process = || world.ground.open(|_, builder| builder.extractor(Arc::new(RuleExtractor)));
    let memory = process().await?;
    let first = memory.upkeep_once().await?;
    equal((first.facts, first.failures), (40, Vec::new()))?;
    equal(memory.upkeep_once().await?.facts, 0)?;
    equal((first.fact_counts.added, facts(&ada).await?.len()), (40, 40))?;
    // Another process reads nothing again; but all is read for it that is noted anew.
    let other = process().await?;
    equal(other.upkeep_once().await?.facts, 0)?;
    let name = memory_core::store::upkeep::IndexName::new("facts/rules-1")?;
    other.reindex(&name).await?;
    let again = other.upkeep_once().await?;
    equal((again.facts, again.fact_counts.added, again.fact_counts.confirmed), (40, 0, 40))?;
    equal(facts(&ada).await?.len(), 40)
}

async fn a_fact_is_forgotten_with_the_message_that_says_it(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let ada = world.owner("ada")?;
    let said = world.user("I live in Lisbon.");
    let id = said.id;
    ada.session(&session("talk")?).append(vec![said]).await?;
    world.tend().await?;
    equal(facts(&ada).await?.len(), 1)?;
    ada.forget(&Forget::Messages(vec![id])).await?;
    equal(facts(&ada).await?.len(), 0)?;
    world.tend().await?;
    equal(facts(&ada).await?.len(), 0)
}

async fn fewer_words_confirm_a_fact_and_are_forgotten_with_it(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    let said = world.user("I live in Porto in Portugal.");
    let id = said.id;
    talk.append(vec![said]).await?;
    world.tend().await?;
    talk.append(vec![world.user("I live in Porto.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I live in Porto in Portugal"])?;
    let stored = ada.records(&Filter::All, None, 9).await?;
    equal(stored.iter().map(|stored| stored.record.sources().len()).collect::<Vec<_>>(), [2])?;
    // Nobody else has said where Porto is.
    ada.forget(&Forget::Messages(vec![id])).await?;
    equal(ada.records(&Filter::All, None, 9).await?.len(), 0)
}

async fn a_fact_that_has_ended_stays_ended_whatever_is_read_again(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    let rome = world.user("I live in Rome.");
    let early = rome.at;
    for said in [rome, world.user("I moved to Lisbon."), world.user("I like tea.")] {
        talk.append(vec![said]).await?;
        world.tend().await?;
    }
    for stored in ada.records(&Filter::eq(Field::Kind, "preference"), None, 9).await? {
        ada.retire(stored.record.id).await?;
    }
    // Once more what was said before it ended, as from an import.
    let copy = Message::new(Role::User, "I live in Rome.", early);
    ada.session(&session("copy")?).append(vec![copy]).await?;
    let name = memory_core::store::upkeep::IndexName::new("facts/rules-1")?;
    for _ in 0..2 {
        world.memory.reindex(&name).await?;
        world.tend().await?;
        equal(facts(&ada).await?, ["user: I moved to Lisbon"])?;
        equal(ada.records(&Filter::All, None, 99).await?.len(), 3)?;
    }
    // What is said anew is true anew, and once.
    talk.append(vec![world.user("I like tea.")]).await?;
    for _ in 0..2 {
        world.tend().await?;
        equal(facts(&ada).await?, ["user: I like tea", "user: I moved to Lisbon"])?;
        equal(ada.records(&Filter::All, None, 99).await?.len(), 4)?;
        world.memory.reindex(&name).await?;
    }
    Ok(())
}

async fn a_fact_that_is_true_anew_is_forgotten_with_what_says_it_anew(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    let [first, other, last] = ["I live in Porto.", "I live in Rome.", "I live in Porto."].map(|text| world.user(text));
    let id = last.id;
    for said in [first, other, last] {
        talk.append(vec![said]).await?;
        world.tend().await?;
    }
    world.memory.reindex(&memory_core::store::upkeep::IndexName::new("facts/rules-1")?).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I live in Porto"])?;
    // The first message tells of the time before Rome, and of no other.
    ada.forget(&Forget::Messages(vec![id])).await?;
    equal(facts(&ada).await?.contains(&"user: I live in Porto".to_owned()), false)
}

async fn what_may_be_many_is_ended_by_no_other(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    talk.append(vec![world.user("My dog is called Rex.")]).await?;
    world.tend().await?;
    let said = "My email is ada@example.org. My email is work@example.org. My dog is called Luna.";
    talk.append(vec![world.user(said)]).await?;
    world.tend().await?;
    let two = ["user: My dog is called Luna", "user: My dog is called Rex"];
    let mails = ["user: My email is ada@example.org", "user: My email is work@example.org"];
    equal(facts(&ada).await?, [two, mails].concat())?;
    talk.append(vec![world.user("My email is new@example.org.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, [two.as_slice(), &["user: My email is new@example.org"]].concat())
}

async fn what_is_taken_back_ends_when_that_was_said(bed: Bed<Stores>) -> Scene {
    let scripted = Scripted::new(|_, request| {
        let Some(row) = request.messages.last() else { return Vec::new() };
        let tea = add("the cat drinks tea", vec![row.id], "drinks");
        let slot = Some(Slot { name: "drink".to_owned(), value: "tea".to_owned() });
        match request.known.first() {
            Some(known) => vec![Operation { effect: Effect::Retract(known.record.id), ..tea }],
            None => vec![Operation { slot, ..tea }],
        }
    });
    let world = with(&bed, scripted).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    talk.append(vec![world.user("my cat drinks tea")]).await?;
    world.tend().await?;
    let over = world.user("my cat drinks no more");
    let end = over.at;
    talk.append(vec![over]).await?;
    world.tend_later().await?;
    equal(facts(&ada).await?.len(), 0)?;
    let ends = ada.records(&Filter::All, None, 9).await?.into_iter().map(|stored| stored.record.validity().1);
    equal(ends.collect::<Vec<_>>(), [Some(end)])
}

async fn what_is_taken_back_stays_so_whoever_else_had_said_it(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    talk.append(vec![world.user("I live in Porto.")]).await?;
    world.tend().await?;
    let again = world.user("I live in Porto.");
    let id = again.id;
    talk.append(vec![again, world.user("I no longer live in Porto.")]).await?;
    world.tend().await?;
    equal(facts(&ada).await?.len(), 0)?;
    ada.forget(&Forget::Messages(vec![id])).await?;
    equal(facts(&ada).await?.len(), 0)
}

async fn nothing_is_found_in_what_others_say(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let others = [Role::Assistant, Role::Tool, Role::System].map(|role| world.say(role, "I live in Rome."));
    world.talk("ada")?.append(others.to_vec()).await?;
    // Some vendors send the answers of tools in messages of the person.
    let mut answered = world.user("");
    answered.blocks = vec![Block::tool_result("call", vec![Block::text("I live in Rome.")])];
    world.talk("bob")?.append(vec![answered]).await?;
    equal(world.memory.upkeep_once().await?.facts, 0)
}

async fn a_fact_has_the_trust_of_its_source_and_replaces_none_of_more(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let talk = world.talk("ada")?;
    let mut read = world.user("I moved to Rome.");
    read.trust = Trust::Untrusted;
    talk.append(vec![world.user("I live in Lisbon."), read]).await?;
    let lisbon = ("user: I live in Lisbon".to_owned(), Trust::User);
    let rome = ("user: I moved to Rome".to_owned(), Trust::Untrusted);
    for promised in [vec![lisbon.clone(), rome], vec![lisbon]] {
        world.tend().await?;
        let stored = world.owner("ada")?.records(&Filter::current(world.memory.now()), None, 9).await?;
        let mut known: Vec<_> =
            stored.iter().map(|stored| (stored.record.text.clone(), stored.record.trust())).collect();
        known.sort();
        equal(known, promised)?;
        // Who is trusted more has the last word.
        talk.append(vec![world.user("I live in Lisbon.")]).await?;
    }
    Ok(())
}

async fn a_fact_that_has_ended_holds_none_of_more_trust(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    let mut read = world.user("I live in Rome.");
    read.trust = Trust::Untrusted;
    let early = read.at;
    for said in [read, world.user("I moved to Lisbon.")] {
        talk.append(vec![said]).await?;
        world.tend().await?;
    }
    // The person's own word of the same time, as from an import.
    ada.session(&session("copy")?).append(vec![Message::new(Role::User, "I live in Rome.", early)]).await?;
    world.tend().await?;
    equal(facts(&ada).await?, ["user: I moved to Lisbon"])?;
    let stored = ada.records(&Filter::eq(Field::Tag, "Rome"), None, 9).await?;
    let mut trusts: Vec<Trust> = stored.iter().map(|stored| stored.record.trust()).collect();
    trusts.sort();
    equal(trusts, [Trust::Untrusted, Trust::User])
}

async fn a_dry_run_changes_nothing(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, RuleExtractor).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("I live in Lisbon."), world.user("I like tea.")]).await?;
    let found = talk.facts(SeqRange { first: Seq(1), last: Seq(2) }).await?;
    equal(found.iter().map(|found| found.quote.as_str()).collect::<Vec<_>>(), ["I live in Lisbon", "I like tea"])?;
    equal(facts(&world.owner("ada")?).await?.len(), 0)?;
    let bare = World::open(&bed).await?;
    fails!(bare.talk("ada")?.facts(SeqRange { first: Seq(1), last: Seq(2) }).await, Error::Unsupported { .. });
    Ok(())
}

/// Answers by a function, and counts how often it was asked.
#[derive(Clone)]
struct Scripted {
    asked: Arc<AtomicUsize>,
    answer: fn(usize, &ExtractRequest) -> Vec<Operation>,
}

impl Scripted {
    fn new(answer: fn(usize, &ExtractRequest) -> Vec<Operation>) -> Self {
        Self { asked: Arc::default(), answer }
    }
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

#[async_trait]
impl Extractor for Scripted {
    fn name(&self) -> &str {
        "scripted-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        Ok((self.answer)(self.asked.fetch_add(1, Ordering::Relaxed), request))
    }
}

fn add(text: &str, sources: Vec<MessageId>, quote: &str) -> Operation {
    Operation {
        effect: Effect::Add,
        kind: "fact".to_owned(),
        text: text.to_owned(),
        slot: None,
        entities: Vec::new(),
        valid_from: None,
        valid_to: None,
        sources,
        quote: quote.to_owned(),
    }
}

async fn an_answer_that_is_not_allowed_changes_nothing_and_is_asked_for_again(bed: Bed<Stores>) -> Scene {
    let scripted = Scripted::new(|asked, request| {
        let sources: Vec<_> = request.messages.iter().map(|row| row.id).collect();
        let honest = add("the cat is old", sources.clone(), "my cat is old");
        // At first a fact that nobody said stands beside it.
        if asked == 0 { vec![honest, add("Ada owes Mallory 100", sources, "my cat is old")] } else { vec![honest] }
    });
    let world = with(&bed, scripted).await?;
    let ada = world.owner("ada")?;
    ada.remember(Remember::fact("Ada has a cat")).await?;
    ada.session(&session("talk")?).append(vec![world.user("You know, my cat is old")]).await?;
    let report = world.memory.upkeep_once().await?;
    equal((report.facts, report.failures.len(), report.retried), (0, 1, 1))?;
    equal(report.fact_counts, FactCounts { refused: 1, ..FactCounts::default() })?;
    equal(facts(&ada).await?, ["Ada has a cat"])?;
    world.tend_later().await?;
    equal(facts(&ada).await?, ["Ada has a cat", "the cat is old"])
}

#[expect(clippy::panic, reason = "this is what is tried")]
fn broken() -> Vec<Operation> {
    panic!("an extractor that is broken")
}

async fn an_extractor_that_panics_holds_up_nothing_else(bed: Bed<Stores>) -> Scene {
    let world = with(&bed, Scripted::new(|_, _| broken())).await?;
    let ada = world.owner("ada")?;
    ada.session(&session("talk")?).append(vec![world.user("my cat is old")]).await?;
    for _ in 0..8 {
        world.memory.upkeep_once().await?;
        world.ground.clock.advance(std::time::Duration::from_secs(4_096));
    }
    let hits = ada.search(&Search::new("cat")).await?.hits;
    equal(hits.len(), 1)?;
    let status = world.memory.status().await;
    let facts = status.indexes.into_iter().find(|index| index.name.as_str() == "facts/scripted-1");
    let dead = facts.and_then(|index| index.backlog.ok()).map(|backlog| (backlog.pending, backlog.dead));
    equal(dead, Some((0, 1)))
}

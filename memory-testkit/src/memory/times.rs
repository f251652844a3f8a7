//! Times: the newest items without words, and what was true at any time.

use std::time::Duration;

use memory_core::engine::{Remember, Remembered, Scoped, Search};
use memory_core::{Error, Field, Filter, RecordId, Role, Timestamp, Unit};

use super::world::{World, found, session, texts};
use crate::generate::Random;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_18_without_words_the_newest_items_are_found,
    o12_a_superseded_fact_is_found_only_as_of_its_time,
    o12_the_state_at_any_time_is_that_of_a_model_after_random_changes,
]);

/// Six messages in three sessions and two records, told one second after the other.
async fn told(world: &World) -> Scene {
    let ada = world.owner("ada")?;
    for (name, text) in [("a", "1"), ("b", "2"), ("c", "3"), ("a", "4"), ("b", "5")] {
        ada.session(&session(name)?).append(vec![world.user(text)]).await?;
    }
    world.ground.clock.advance(Duration::from_secs(1));
    ada.remember(Remember::fact("6")).await?;
    ada.session(&session("a")?).append(vec![world.say(Role::Assistant, "7")]).await?;
    world.ground.clock.advance(Duration::from_secs(1));
    ada.remember(Remember::preference("8").with_ttl(Duration::from_secs(60))).await?;
    world.owner("bob")?.session(&session("a")?).append(vec![world.user("of another")]).await?;
    Ok(())
}

async fn s0_18_without_words_the_newest_items_are_found(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    told(&world).await?;
    let ada = world.owner("ada")?;
    let then = Timestamp(world.memory.now().0 - 4_000_000);
    let newest = || Search::new("");
    for (search, promised) in [
        (newest(), vec!["8", "7", "6", "5", "4", "3", "2", "1"]),
        (Search::new(" \n").limit(3), vec!["8", "7", "6"]),
        (newest().only(Unit::Message).limit(2), vec!["7", "5"]),
        (newest().only(Unit::Record), vec!["8", "6"]),
        (newest().matching(Filter::eq(Field::Session, "b")), vec!["5", "2"]),
        (newest().matching(Filter::eq(Field::Role, "assistant")), vec!["7"]),
        (newest().as_of(then).limit(2), vec!["5", "4"]),
    ] {
        equal(texts(&ada.search(&search).await?), promised)?;
    }
    world.ground.clock.advance(Duration::from_secs(60));
    equal(texts(&ada.search(&newest().limit(1)).await?), ["7"])?;
    fails!(ada.search(&newest().limit(0)).await, Error::Invalid { .. });
    Ok(())
}

async fn o12_a_superseded_fact_is_found_only_as_of_its_time(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let rome = ada.remember(Remember::fact("Ada lives in Rome")).await?;
    let then = world.memory.now();
    world.ground.clock.advance(DAY);
    let oslo = ada.supersede(rome.id, Remember::fact("Ada lives in Oslo")).await?;
    let repeated = ada.supersede(rome.id, Remember::fact("Ada lives in Oslo")).await?;
    equal((repeated.id, repeated.outcome), (oslo.id, Remembered::Reinforced))?;
    fails!(ada.supersede(rome.id, Remember::fact("Ada lives in Bern")).await, Error::Invalid { .. });
    let (bob, id) = (world.owner("bob")?, RecordId::fresh());
    let tea = bob.remember(Remember::fact("Bob drinks tea")).await?;
    let milk = Remember::fact("Bob drinks milk").with_id(id);
    bob.supersede(tea.id, milk.clone()).await?;
    equal(bob.supersede(tea.id, milk).await?.outcome, Remembered::Reinforced)?;
    let wine = Remember::fact("Bob drinks wine").with_id(id);
    fails!(bob.supersede(tea.id, wine).await, Error::IdConflict { .. });
    for _ in 0..2 {
        let where_now = Search::new("where Ada lives");
        equal(found(&ada, &where_now).await?, ["Ada lives in Oslo"])?;
        equal(found(&ada, &where_now.as_of(then)).await?, ["Ada lives in Rome"])?;
        world.tend().await?;
    }
    // She moves back.
    let again = ada.remember(Remember::fact("Ada lives in Rome")).await?;
    equal(again.outcome, Remembered::Stored)?;
    check!(again.id != rome.id && again.id != oslo.id, "the retired record was told again");
    Ok(())
}

const DAY: Duration = Duration::from_secs(86_400);
/// Changes of a history, and times that are asked about.
const CHANGES: usize = 60;

/// A fact as the model has it: told at a time, true within a span, and over from a time on.
struct Fact {
    id: RecordId,
    text: String,
    told: Timestamp,
    valid: (Option<Timestamp>, Option<Timestamp>),
    over: Option<Timestamp>,
}

impl Fact {
    fn holds(&self, at: Timestamp) -> bool {
        let (from, to) = self.valid;
        let begun = self.told <= at && from.is_none_or(|from| from <= at);
        begun && to.is_none_or(|to| to > at) && self.over.is_none_or(|over| over > at)
    }
}

/// A history that chance makes, in a memory and in a model.
struct History<'a> {
    world: &'a World,
    ada: Scoped,
    random: Random,
    facts: Vec<Fact>,
}

impl History<'_> {
    /// Tells a new fact, supersedes or retires one that still stands, a while after the last change.
    async fn change(&mut self) -> Scene {
        self.world.ground.clock.advance(Duration::from_secs(1 + self.random.below(86_400) as u64));
        let now = self.world.memory.now();
        let standing: Vec<usize> =
            self.facts.iter().enumerate().filter(|(_, fact)| fact.holds(now)).map(|(place, _)| place).collect();
        let chosen = standing.get(self.random.below(standing.len())).copied();
        let old = chosen.and_then(|place| self.facts.get_mut(place));
        let way = self.random.below(4);
        let Some(old) = old.filter(|_| way < 2) else { return self.tell(now, None).await };
        old.over = Some(now);
        let id = old.id;
        if way == 0 {
            check!(self.ada.retire(id).await?, "the fact was over");
            return Ok(());
        }
        self.tell(now, Some(id)).await
    }

    async fn tell(&mut self, now: Timestamp, old: Option<RecordId>) -> Scene {
        let text = format!("Ada knows city number {}", self.facts.len());
        let bound = |random: &mut Random| {
            let days = random.below(20) as i64 - 10;
            random.chance(1, 3).then(|| Timestamp(now.0 + days * 86_400_000_000))
        };
        let (from, to) = (bound(&mut self.random), bound(&mut self.random));
        let valid = match (from, to) {
            (Some(from), Some(to)) if to <= from => (None, Some(to)),
            other => other,
        };
        let fact = Remember::fact(text.as_str()).valid(valid.0, valid.1);
        let told = match old {
            Some(old) => self.ada.supersede(old, fact).await?,
            None => self.ada.remember(fact).await?,
        };
        self.facts.push(Fact { id: told.id, text, told: now, valid, over: None });
        Ok(())
    }

    /// Compares what is found as of a time with the model.
    async fn compare(&self, at: Timestamp) -> Result<usize, Failure> {
        let mut promised: Vec<&str> =
            self.facts.iter().filter(|fact| fact.holds(at)).map(|fact| fact.text.as_str()).collect();
        promised.sort_unstable();
        for words in ["which city", ""] {
            equal(found(&self.ada, &Search::new(words).as_of(at).limit(2 * CHANGES)).await?, promised.clone())?;
        }
        Ok(promised.len())
    }
}

async fn o12_the_state_at_any_time_is_that_of_a_model_after_random_changes(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (begin, ada) = (world.memory.now(), world.owner("ada")?);
    let mut history = History { world: &world, ada, random: Random::new(bed.seed), facts: Vec::new() };
    for _ in 0..CHANGES {
        history.change().await?;
    }
    let now = world.memory.now();
    for _ in 0..2 {
        let mut seen = 0;
        for _ in 0..CHANGES / 4 {
            let since = history.random.below(usize::try_from(now.0 - begin.0).unwrap_or(usize::MAX));
            seen += history.compare(Timestamp(begin.0 + since as i64)).await?;
        }
        check!(seen > CHANGES / 4, "nearly nothing was true at those times: {seen}");
        // What is current is what is true now.
        history.compare(now).await?;
        let mut current = found(&history.ada, &Search::new("which city").limit(2 * CHANGES)).await?;
        current.retain(|text| history.facts.iter().any(|fact| fact.text == *text && !fact.holds(now)));
        equal(current, [""; 0])?;
        world.tend().await?;
    }
    Ok(())
}

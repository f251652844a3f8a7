//! Notes of the working tier: found at once beside what truth holds, never written down, gone with what they came from.

use std::time::Duration;

use memory_core::engine::{ContextRequest, Forget, PartKind, Remember, Scoped, Search, WorkingNote};
use memory_core::store::Durability;
use memory_core::working::WorkingConfig;
use memory_core::{Error, Field, Filter, ItemId, RecordId, Trust};

use super::world::{World, found, holds, session, texts};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s1_5_a_note_is_found_at_once_and_never_written_down,
    s1_5_a_note_carries_its_time_its_place_and_its_trust,
    s1_5_a_context_recalls_five_notes_beside_five_other_items,
    s1_5_owners_with_equal_notes_never_see_each_other,
    s1_5_a_note_falls_with_its_source_whichever_process_forgets_it,
    s1_5_nothing_is_noted_from_what_is_not_there,
    s1_5_everything_forgotten_is_the_notes_too_whichever_process_forgets,
    s1_5_a_note_expires_and_upkeep_sweeps_it,
    s1_6_the_oldest_notes_make_room_within_the_bound,
]);

const TRAINS: &str = "Trains to Porto leave at 8:15 and 9:45.";

fn trains() -> WorkingNote {
    WorkingNote::new(TRAINS, "timetable")
}

async fn s1_5_a_note_is_found_at_once_and_never_written_down(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let noted = ada.note(trains()).await?;
    check!(noted.is_new && noted.is_embedded && noted.degraded.is_empty(), "{noted:?}");
    equal(noted.durability, Durability::Volatile)?;
    for search in [
        Search::new("porto trains"),
        Search::new(""),
        Search::new("porto").matching(Filter::eq(Field::Kind, WorkingNote::KIND)),
    ] {
        equal(found(&ada, &search).await?, [TRAINS])?;
    }
    let hit = ada.recall(&Search::new("porto trains")).await?;
    check!(hit.hits.iter().all(|hit| hit.signals.text.is_some() && hit.signals.cosine.is_some()), "{hit:?}");
    equal(hit.receipt.notes, 1)?;
    // The same call again changes nothing.
    let again = ada.note(trains()).await?;
    equal((again.id, again.is_new), (noted.id, false))?;
    world.tend().await?;
    equal(found(&ada, &Search::new("porto trains")).await?, [TRAINS])?;
    // Another process sees nothing of it, before and after upkeep.
    let elsewhere = world.ground.reader("ada").await?;
    equal(found(&elsewhere, &Search::new("porto trains")).await?, [""; 0])?;
    equal(ada.records(&Filter::All, None, 10).await?, [])?;
    world.memory.close().await?;
    // A closed index may be told as degraded.
    equal(ada.search(&Search::new("porto trains")).await?.hits, [])
}

async fn s1_5_a_note_carries_its_time_its_place_and_its_trust(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    world.ground.clock.advance(Duration::from_secs(7));
    ada.note(trains().with_trust(Trust::Untrusted)).await?;
    let found = ada.search(&Search::new("porto trains")).await?;
    let fields = found.hits.first().and_then(|hit| hit.content.fields());
    let told = fields.map(|fields| (fields.kind, fields.at, fields.trust));
    equal(told, Some((Some(WorkingNote::KIND.to_owned()), world.memory.now(), Trust::Untrusted)))?;
    let context = world.talk("ada")?.context("When do trains to Porto leave?", 1_000).await?;
    holds(&context, "kind=\"note\" origin=\"timetable\"")?;
    holds(&context, "trust=\"untrusted\"")
}

async fn s1_5_a_context_recalls_five_notes_beside_five_other_items(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for number in 0..7 {
        ada.note(WorkingNote::new(format!("Train {number} to Porto is on time."), "timetable")).await?;
        ada.remember(Remember::fact(format!("Train {number} to Porto has a dining car."))).await?;
    }
    world.tend().await?;
    let asked = ContextRequest::new("Which train to Porto shall I take?", 4_000);
    for (request, notes, others) in
        [(asked.clone(), 5, 5), (asked.clone().notes(2), 2, 5), (asked.notes(0).recall(3), 0, 3)]
    {
        let context = world.talk("ada")?.assemble(&request).await?;
        let recalled: Vec<String> = context.parts.iter().map(|part| part.message.text()).collect();
        let count = |words: &str| recalled.iter().map(|text| text.matches(words).count()).sum::<usize>();
        equal((count("on time"), count("dining car")), (notes, others))?;
        let included = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled).count();
        equal(included, notes + others)?;
    }
    Ok(())
}

async fn s1_5_owners_with_equal_notes_never_see_each_other(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [ada, bob] = [world.owner("ada")?, world.owner("bob")?];
    let [one, other] = [ada.note(trains()).await?, bob.note(trains()).await?];
    equal((one.id, one.is_new), (other.id, other.is_new))?;
    bob.forget(&Forget::Records(vec![other.id])).await?;
    equal(found(&bob, &Search::new("porto")).await?, [""; 0])?;
    equal(found(&ada, &Search::new("porto")).await?, [TRAINS])
}

/// Returns what an owner finds by words, by meaning and without words.
async fn seen(owner: &Scoped) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for words in ["porto trains", ""] {
        all.extend(texts(
            &owner.search(&Search::new(words).matching(Filter::eq(Field::Kind, WorkingNote::KIND))).await?,
        ));
    }
    Ok(all)
}

async fn s1_5_a_note_falls_with_its_source_whichever_process_forgets_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let elsewhere = world.ground.open(|_, builder| builder).await?;
    for (place, process) in [&world.memory, &elsewhere].into_iter().enumerate() {
        let name = format!("ada-{place}");
        let (ada, forgetting) = (world.owner(&name)?, process.of(&world.ground.scope(&name)?));
        let said = world.user("When does a train to Porto leave?");
        let told = ada.remember(Remember::fact("Ada goes to Porto")).await?.id;
        let message = ItemId::Message(said.id);
        ada.session(&session("talk")?).append(vec![said.clone()]).await?;
        let forgets =
            [(message.clone(), Forget::Messages(vec![said.id])), (ItemId::Record(told), Forget::Records(vec![told]))];
        for (source, forget) in forgets {
            ada.note(trains().with_source(source)).await?;
            equal(seen(&ada).await?, [TRAINS; 2])?;
            let receipt = forgetting.forget(&forget).await?;
            equal((receipt.complete, receipt.derived), (true, u64::from(place == 0)))?;
            equal(seen(&ada).await?, [""; 0])?;
        }
        let said = world.user("And back?");
        let message = ItemId::Message(said.id);
        ada.session(&session("back")?).append(vec![said]).await?;
        ada.note(trains().with_source(message)).await?;
        forgetting.forget(&Forget::Session(session("back")?)).await?;
        let context = ada.session(&session("talk")?).context("Which trains to Porto?", 1_000).await?;
        check!(!context.messages().any(|message| message.text().contains(TRAINS)), "{context:?}");
        equal(seen(&ada).await?, [""; 0])?;
    }
    Ok(())
}

async fn s1_5_nothing_is_noted_from_what_is_not_there(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let never = ItemId::Record(RecordId::fresh());
    check!(
        matches!(ada.note(trains().with_source(never)).await, Err(Error::Invalid { .. })),
        "a source that is not there"
    );
    equal(seen(&ada).await?, [""; 0])
}

async fn s1_5_everything_forgotten_is_the_notes_too_whichever_process_forgets(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let elsewhere = world.ground.open(|_, builder| builder).await?;
    for (place, process) in [&world.memory, &elsewhere].into_iter().enumerate() {
        let name = format!("ada-{place}");
        let [old, bob] = [world.owner(&name)?, world.owner(&format!("bob-{place}"))?];
        for owner in [&old, &bob] {
            owner.note(trains()).await?;
        }
        let receipt = process.of(&world.ground.scope(&name)?).forget(&Forget::Everything).await?;
        check!(receipt.complete, "{receipt}");
        let removed = receipt.stores.iter().find(|store| store.part == "working").map(|store| store.removed);
        equal(removed, Some(u64::from(place == 0)))?;
        let new = world.owner(&name)?;
        equal(seen(&new).await?, [""; 0])?;
        check!(matches!(old.note(trains()).await, Err(Error::Fenced)), "an old handle notes");
        equal(seen(&bob).await?, [TRAINS; 2])?;
        new.note(trains()).await?;
        equal(seen(&new).await?, [TRAINS; 2])?;
    }
    Ok(())
}

async fn s1_5_a_note_expires_and_upkeep_sweeps_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    world.tend().await?;
    ada.note(trains().with_ttl(Duration::from_secs(60))).await?;
    world.ground.clock.advance(Duration::from_secs(59));
    equal(seen(&ada).await?, [TRAINS; 2])?;
    world.ground.clock.advance(Duration::from_secs(1));
    equal(seen(&ada).await?, [""; 0])?;
    // Five minutes lie between two sweeps.
    equal(world.memory.upkeep_once().await?.expired, 0)?;
    world.ground.clock.advance(Duration::from_secs(240));
    equal(world.memory.upkeep_once().await?.expired, 1)
}

async fn s1_6_the_oldest_notes_make_room_within_the_bound(bed: Bed<Stores>) -> Scene {
    let small = WorkingConfig::default().with_max_bytes(40_000);
    let world = World::with(&bed, |_, builder| builder.working(small)).await?;
    let [ada, bob] = [world.owner("ada")?, world.owner("bob")?];
    bob.note(trains()).await?;
    let note = |number: usize| WorkingNote::new(format!("Train {number} to Porto is late."), "timetable");
    let mut evicted = 0;
    for number in 0..100 {
        evicted += ada.note(note(number)).await?.evicted;
    }
    let left = found(&ada, &Search::new("").limit(200)).await?;
    check!(evicted > 0 && left.len() == 100 - evicted, "{evicted} evicted, {} left", left.len());
    let newest: Vec<String> = (evicted..100).map(|number| format!("Train {number} to Porto is late.")).collect();
    let mut sorted = newest;
    sorted.sort();
    equal(left, sorted)?;
    // Who takes little loses nothing to who takes much.
    equal(seen(&bob).await?, [TRAINS; 2])?;
    let large = WorkingNote::new("long ".repeat(10_000), "timetable");
    check!(matches!(ada.note(large).await, Err(Error::Invalid { .. })), "a note larger than the tier");
    Ok(())
}

//! What several owners share: a person's context holds what their team knows, each named in the call and in the receipt.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{
    ContextRequest, Degraded, Forget, Included, PartKind, Remember, Scoped, Search, SearchResults, Sharing, Stage,
    WorkingNote,
};
use memory_core::rank::{Ranking, Weights};
use memory_core::{Error, Field, Filter, Limits, Message, MessageId, RecordId, Scope, Unit};

use super::world::{World, holds, session, texts};
use crate::doubles::{FakeReranker, Faulty, RerankerMode, Tapped, When};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    what_a_team_shares_is_found_and_says_whose_it_is,
    o2_what_is_not_named_is_not_found_however_alike_the_names_are,
    o13_a_context_recalls_what_a_team_shares_and_the_receipt_names_it,
    what_two_owners_have_under_one_id_are_two_hits,
    a_message_of_the_window_hides_no_shared_message_of_the_same_id,
    the_newest_items_are_those_of_all_who_are_named,
    o2_an_owner_who_was_erased_shares_nothing,
    an_access_counts_for_the_owner_whose_record_it_is,
    what_a_team_noted_is_found_and_counted_with_it,
    an_index_that_fails_is_told_once_and_with_each_owner,
    a_reranker_judges_the_words_of_each_owner,
    near_duplicates_of_several_owners_stand_behind_what_adds_something,
    what_matters_counts_with_the_owner_to_whom_it_matters,
    o2_only_other_owners_of_the_tenant_share_each_named_once,
]);

const MINE: &str = "Ada keeps her kiln in the shed";
const TEAMS: &str = "The team fires its kiln on Friday";
const QUESTION: &str = "When is the kiln fired?";

/// Has Ada and her team remember what they know of a kiln, and others what nobody asked them for.
async fn told(world: &World) -> Result<(Scoped, Scope), Failure> {
    let (ada, team) = (world.owner("ada")?, world.owner("team")?);
    ada.remember(Remember::fact(MINE)).await?;
    team.remember(Remember::fact(TEAMS)).await?;
    for stranger in ["team:x", "teams", "tea", "TEAM", "team "] {
        world.owner(stranger)?.remember(Remember::fact(format!("The kiln of {stranger:?} is fired never"))).await?;
    }
    world.tend_later().await?;
    Ok((ada, team.scope().clone()))
}

/// Returns the texts of the hits and whose they are, in the order of the alphabet.
fn whose(found: &SearchResults) -> Vec<(String, Option<Scope>)> {
    let hits = found.hits.iter().map(|hit| (hit.content.text(), hit.shared_by.clone()));
    let mut whose: Vec<_> = hits.collect();
    whose.sort();
    whose
}

/// Returns what a context recalled, and whose it is.
fn recalled(included: &[Included]) -> Vec<Option<Scope>> {
    let recalled = included.iter().filter(|included| included.part == PartKind::Recalled);
    let mut recalled: Vec<_> = recalled.map(|included| included.shared_by.clone()).collect();
    recalled.sort();
    recalled
}

async fn what_a_team_shares_is_found_and_says_whose_it_is(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = told(&world).await?;
    let talk = world.talk("team")?;
    talk.append(vec![world.user("The glaze of the kiln was delivered.")]).await?;
    let promised = [
        (MINE.to_owned(), None),
        ("The glaze of the kiln was delivered.".to_owned(), Some(team.clone())),
        (TEAMS.to_owned(), Some(team.clone())),
    ];
    let search = Search::new(QUESTION).sharing([team.clone()]);
    // In the process that wrote it, and in another one by the indexes alone.
    equal(whose(&ada.search(&search).await?), promised.as_slice())?;
    world.tend_later().await?;
    for process in [ada, world.ground.reader("ada").await?] {
        let found = process.search(&search).await?;
        equal(whose(&found), promised.as_slice())?;
        equal(&found.receipt.degraded, &vec![])?;
        let sharing = found.receipt.sharing.as_slice();
        equal(sharing.iter().map(|asked| &asked.owner).collect::<Vec<_>>(), [&team])?;
        let by_words = sharing.iter().map(|asked| asked.text_candidates).sum::<usize>();
        equal((by_words, found.receipt.text_candidates), (2, 3))?;
    }
    Ok(())
}

async fn o2_what_is_not_named_is_not_found_however_alike_the_names_are(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = told(&world).await?;
    let alone = ada.search(&Search::new(QUESTION)).await?;
    equal((texts(&alone), alone.receipt.sharing), (vec![MINE.to_owned()], vec![]))?;
    let context = world.talk("ada")?.context(QUESTION, 2_000).await?;
    equal((recalled(&context.receipt.included), context.receipt.search.sharing), (vec![None], vec![]))?;
    let both = [(MINE.to_owned(), None), (TEAMS.to_owned(), Some(team.clone()))];
    equal(whose(&ada.search(&Search::new(QUESTION).sharing([team.clone()])).await?), both.as_slice())?;
    // Who shares with Ada sees nothing of hers.
    let theirs = world.memory.of(&team).search(&Search::new(QUESTION)).await?;
    equal(texts(&theirs), [TEAMS])
}

async fn o13_a_context_recalls_what_a_team_shares_and_the_receipt_names_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = told(&world).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(20)).await?;
    let request = ContextRequest::new(QUESTION, 2_000).sharing([team.clone()]);
    for context in [talk.assemble(&request).await?, ada.assemble(&request).await?] {
        holds(&context, MINE)?;
        holds(&context, TEAMS)?;
        equal(recalled(&context.receipt.included), [None, Some(team.clone())])?;
        let asked = |sharing: &[Sharing]| sharing.iter().map(|asked| asked.owner.clone()).collect::<Vec<_>>();
        equal(asked(&context.receipt.search.sharing), from_ref(&team))?;
        let block: String = context.messages().map(Message::text).filter(|text| text.contains(TEAMS)).collect();
        let line = |words: &str| block.lines().find(|line| line.contains(words)).unwrap_or_default().to_owned();
        check!(line(TEAMS).contains("owner=\"team\""), "does not say whose it is: {block}");
        check!(!line(MINE).contains("owner="), "what is Ada's own is said to be another's: {block}");
        check!(line(TEAMS).contains("trust=\"assistant\""), "the team's words are said to be Ada's: {block}");
        check!(line(MINE).contains("trust=\"user\""), "Ada's words are said not to be hers: {block}");
        let told = context.receipt.to_string();
        check!(told.contains("shared by team: "), "the receipt does not name the team: {told}");
    }
    // The number of items is that of all together.
    let one = ada.assemble(&request.clone().recall(1)).await?;
    equal(recalled(&one.receipt.included).len(), 1)?;
    equal(one.receipt.search.left_out.len(), 1)?;
    let left = one.receipt.search.left_out.iter().map(|left| left.shared_by.clone());
    let mut both: Vec<_> = left.chain(recalled(&one.receipt.included)).collect();
    both.sort();
    equal(both, [None, Some(team)])
}

async fn what_two_owners_have_under_one_id_are_two_hits(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = (world.owner("ada")?, world.owner("team")?);
    // The same fact told twice is one record, but only of one owner.
    let mine = ada.remember(Remember::fact(TEAMS)).await?.id;
    equal(team.remember(Remember::fact(TEAMS)).await?.id, mine)?;
    world.tend_later().await?;
    let search = Search::new(QUESTION).sharing([team.scope().clone()]);
    let found = ada.search(&search).await?;
    equal(whose(&found), [(TEAMS.to_owned(), None), (TEAMS.to_owned(), Some(team.scope().clone()))])?;
    // Messages of one id may say different things: each is read with the owner whose it is.
    let (talk, theirs, id) = (world.talk("ada")?, world.talk("team")?, MessageId::fresh());
    talk.append(vec![Message { id, ..world.user(MINE) }]).await?;
    theirs.append(vec![Message { id, ..world.user(TEAMS) }]).await?;
    world.tend_later().await?;
    let promised = [(MINE.to_owned(), None), (TEAMS.to_owned(), Some(team.scope().clone()))];
    for process in [ada, world.ground.reader("ada").await?] {
        equal(whose(&process.search(&search.clone().only(Unit::Message)).await?), promised.as_slice())?;
        let messages = Filter::eq(Field::Unit, Unit::Message.name());
        let request = ContextRequest::new(QUESTION, 2_000).matching(messages).sharing([team.scope().clone()]);
        let context = process.assemble(&request).await?;
        holds(&context, MINE)?;
        holds(&context, TEAMS)?;
    }
    Ok(())
}

async fn a_message_of_the_window_hides_no_shared_message_of_the_same_id(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (talk, theirs, id) = (world.talk("ada")?, world.talk("team")?, MessageId::fresh());
    talk.append(vec![Message { id, ..world.user("Good morning.") }]).await?;
    theirs.append(vec![Message { id, ..world.user(TEAMS) }]).await?;
    world.tend_later().await?;
    let team = theirs.scoped().scope();
    let context = talk.assemble(&ContextRequest::new(QUESTION, 2_000).sharing([team.clone()])).await?;
    holds(&context, "Good morning.")?;
    holds(&context, TEAMS)?;
    equal(recalled(&context.receipt.included), [Some(team.clone())])
}

async fn the_newest_items_are_those_of_all_who_are_named(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let owners = ["ada", "team", "ada", "handbook", "teams"];
    for (number, owner) in owners.iter().enumerate() {
        let talk = world.owner(owner)?.session(&session("talk")?);
        talk.append(vec![world.user(&format!("{number} of {owner}"))]).await?;
    }
    let sharing = [world.ground.scope("team")?, world.ground.scope("handbook")?];
    let ada = world.owner("ada")?;
    let all = ada.search(&Search::new("").sharing(sharing.clone())).await?;
    equal(texts(&all), ["3 of handbook", "2 of ada", "1 of team", "0 of ada"])?;
    equal(all.receipt.sharing.iter().map(|asked| asked.owner.clone()).collect::<Vec<_>>(), sharing.clone())?;
    let two = ada.search(&Search::new("").limit(2).sharing(sharing.clone())).await?;
    let [team, handbook] = sharing;
    equal(two.hits.iter().map(|hit| hit.shared_by.clone()).collect::<Vec<_>>(), [Some(handbook), None])?;
    equal(whose(&ada.search(&Search::new("").limit(10).sharing([team])).await?).len(), 3)
}

async fn o2_an_owner_who_was_erased_shares_nothing(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = told(&world).await?;
    let search = Search::new(QUESTION).sharing([team.clone()]);
    let reader = world.ground.reader("ada").await?;
    equal(reader.search(&search).await?.hits.len(), 2)?;
    check!(world.memory.of(&team).forget(&Forget::Everything).await?.complete, "something of the team is left");
    for process in [ada, reader] {
        equal(whose(&process.search(&search).await?), [(MINE.to_owned(), None)])?;
        equal(whose(&process.search(&Search::new("").sharing([team.clone()])).await?), [(MINE.to_owned(), None)])?;
        let context = process.assemble(&ContextRequest::new(QUESTION, 2_000).sharing([team.clone()])).await?;
        equal(recalled(&context.receipt.included), [None])?;
    }
    // Who begins anew shares what is new.
    let again = world.memory.of(&team);
    again.remember(Remember::fact("The team has no kiln any more")).await?;
    world.tend_later().await?;
    let new = ("The team has no kiln any more".to_owned(), Some(team));
    equal(whose(&world.owner("ada")?.search(&search).await?), [(MINE.to_owned(), None), new])
}

async fn an_access_counts_for_the_owner_whose_record_it_is(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = (world.owner("ada")?, world.owner("team")?);
    // One id, two records.
    let id = team.remember(Remember::fact(TEAMS)).await?.id;
    ada.remember(Remember::fact(TEAMS)).await?;
    world.tend_later().await?;
    let search = Search::new(QUESTION).sharing([team.scope().clone()]);
    world.ground.clock.advance(Duration::from_secs(1));
    ada.search(&search).await?;
    ada.recall(&Search::new(QUESTION)).await?;
    world.tend().await?;
    equal([accesses(&ada, id).await?, accesses(&team, id).await?], [1, 0])?;
    world.ground.clock.advance(Duration::from_secs(1));
    ada.recall(&search).await?;
    world.ground.clock.advance(Duration::from_secs(1));
    ada.assemble(&ContextRequest::new(QUESTION, 2_000).sharing([team.scope().clone()])).await?;
    world.tend().await?;
    equal([accesses(&ada, id).await?, accesses(&team, id).await?], [3, 2])
}

/// Returns how often a record of an owner was accessed.
async fn accesses(owner: &Scoped, id: RecordId) -> Result<u64, Failure> {
    Ok(owner.get(&[id]).await?.first().ok_or("the record is gone")?.access_count)
}

async fn what_a_team_noted_is_found_and_counted_with_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = (world.owner("ada")?, world.owner("team")?);
    let noted = "The kiln is cooling until noon";
    // One id, two notes.
    let id = ada.note(WorkingNote::new(noted, "sensor")).await?.id;
    equal(team.note(WorkingNote::new(noted, "sensor")).await?.id, id)?;
    let scope = team.scope().clone();
    for words in ["cooling kiln", ""] {
        let found = ada.search(&Search::new(words).sharing([scope.clone()])).await?;
        equal(whose(&found), [(noted.to_owned(), None), (noted.to_owned(), Some(scope.clone()))])?;
        let theirs: Vec<usize> = found.receipt.sharing.iter().map(|asked| asked.notes).collect();
        equal((found.receipt.notes, theirs), (2, vec![1]))?;
        equal(found.receipt.degraded, [])?;
        equal(ada.search(&Search::new(words)).await?.receipt.notes, 1)?;
    }
    // The number of notes is that of all together.
    let request = ContextRequest::new("Is the kiln cooling?", 2_000).sharing([scope.clone()]);
    equal(recalled(&ada.assemble(&request).await?.receipt.included), [None, Some(scope.clone())])?;
    equal(recalled(&ada.assemble(&request.notes(1)).await?.receipt.included).len(), 1)?;
    // What the team forgets, Ada keeps.
    team.forget(&Forget::Records(vec![id])).await?;
    let left = ada.search(&Search::new("cooling kiln").sharing([scope])).await?;
    equal(whose(&left), [(noted.to_owned(), None)])
}

async fn an_index_that_fails_is_told_once_and_with_each_owner(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (_, team) = told(&world).await?;
    let fails = || Arc::new(Faulty::at(1, When::Before).of("search").lasting());
    let without_words =
        world.ground.open(|ground, builder| builder.text(Arc::new(Tapped::new(ground.text.clone(), fails()))));
    let without_meaning = world.ground.open(|ground, builder| {
        builder.vectors(Arc::new(Tapped::new(ground.vectors.clone(), fails())), ground.embedder.clone())
    });
    let stages = |degraded: &[Degraded]| degraded.iter().map(|degraded| degraded.stage).collect::<Vec<_>>();
    let search = Search::new(QUESTION).sharing([team.clone()]);
    for (memory, stage) in [(without_words.await?, Stage::Text), (without_meaning.await?, Stage::Vector)] {
        let found = memory.of(&world.ground.scope("ada")?).search(&search).await?;
        // The other index answers for both.
        equal(whose(&found), [(MINE.to_owned(), None), (TEAMS.to_owned(), Some(team.clone()))])?;
        equal(stages(&found.receipt.degraded), [stage])?;
        let theirs: Vec<Vec<Stage>> = found.receipt.sharing.iter().map(|asked| stages(&asked.degraded)).collect();
        equal(theirs, [vec![stage]])?;
    }
    Ok(())
}

async fn a_reranker_judges_the_words_of_each_owner(bed: Bed<Stores>) -> Scene {
    let reranker = Arc::new(FakeReranker::new(RerankerMode::Well));
    let world = World::with(&bed, |_, builder| builder.reranker(reranker.clone())).await?;
    let (ada, team) = told(&world).await?;
    world.memory.of(&team).remember(Remember::fact("Our kiln")).await?;
    world.tend_later().await?;
    let search = Search::new(QUESTION).sharing([team.clone()]);
    // It likes short texts.
    let found = ada.search(&search).await?;
    equal(texts(&found), ["Our kiln", MINE, TEAMS])?;
    let judged = |text: &str| Some(-(text.len() as f32));
    let scores: Vec<Option<f32>> = found.hits.iter().map(|hit| hit.signals.reranked).collect();
    equal(scores, [judged("Our kiln"), judged(MINE), judged(TEAMS)])?;
    let owners: Vec<Option<Scope>> = found.hits.iter().map(|hit| hit.shared_by.clone()).collect();
    equal(owners, [Some(team.clone()), None, Some(team)])?;
    // It fails for all owners together.
    reranker.set(RerankerMode::Fails);
    let found = ada.search(&search).await?;
    equal((found.hits.len(), found.receipt.degraded.len()), (3, 1))
}

async fn near_duplicates_of_several_owners_stand_behind_what_adds_something(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = (world.owner("ada")?, world.owner("team")?);
    ada.remember(Remember::fact("Kiln temperature is 900 degrees")).await?;
    team.remember(Remember::fact("Kiln temperature is 901 degrees")).await?;
    team.remember(Remember::fact("A blue kiln stands outside")).await?;
    world.tend_later().await?;
    let by_words = Ranking::ZScore(Weights { text: 1.0, vector: 0.0 });
    let search = Search::new("kiln temperature").ranking(by_words).limit(2).sharing([team.scope().clone()]);
    let alike = texts(&ada.search(&search).await?);
    check!(alike.iter().all(|text| text.contains("temperature")), "found {alike:?}");
    let various = texts(&ada.search(&search.mmr(0.3)).await?);
    equal(various, alike.into_iter().take(1).chain(["A blue kiln stands outside".to_owned()]).collect::<Vec<_>>())
}

async fn what_matters_counts_with_the_owner_to_whom_it_matters(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team, id) = (world.owner("ada")?, world.owner("team")?, RecordId::fresh());
    ada.remember(Remember::fact(TEAMS).with_id(id).with_importance(0.0)).await?;
    team.remember(Remember::fact(TEAMS).with_id(id).with_importance(1.0)).await?;
    world.tend_later().await?;
    let Ranking::Weighted { recency_weight, recency, importance_weight, .. } = Ranking::weighted() else {
        return Err("the ranking is another".into());
    };
    let weights = Weights { text: 1.0, vector: 0.0 };
    let weighted = Ranking::Weighted { weights, recency_weight, recency, importance_weight };
    let theirs = Some(team.scope().clone());
    // Of equals the own one stands first.
    for (ranking, promised) in [(weighted, [theirs.clone(), None]), (Ranking::MinMax(weights), [None, theirs])] {
        let search = Search::new(QUESTION).ranking(ranking).sharing([team.scope().clone()]);
        let found = ada.search(&search).await?;
        equal(found.hits.iter().map(|hit| hit.shared_by.clone()).collect::<Vec<_>>(), promised)?;
    }
    Ok(())
}

async fn o2_only_other_owners_of_the_tenant_share_each_named_once(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, team) = told(&world).await?;
    let talk = world.talk("ada")?;
    let elsewhere = Scope::new(&format!("{}x", bed.tenant), "team")?;
    let most = Limits::default().sharing;
    let many =
        |count: usize| (0..count).map(|n| world.ground.scope(&format!("team {n}"))).collect::<Result<Vec<_>, _>>();
    let bad = [
        vec![ada.scope().clone()],
        vec![team.clone(), ada.scope().clone()],
        vec![team.clone(), world.ground.scope("handbook")?, team.clone()],
        vec![elsewhere.clone()],
        vec![team.clone(), elsewhere],
        many(most + 1)?,
    ];
    for sharing in bad {
        for words in [QUESTION, ""] {
            fails!(ada.search(&Search::new(words).sharing(sharing.clone())).await, Error::Invalid { .. });
            let request = ContextRequest::new(words, 2_000).sharing(sharing.clone());
            fails!(talk.assemble(&request).await, Error::Invalid { .. });
            fails!(ada.assemble(&request.recall(0)).await, Error::Invalid { .. });
        }
    }
    // A conversation has one owner.
    fails!(talk.search(&Search::new(QUESTION).sharing([team])).await, Error::Invalid { .. });
    let found = ada.search(&Search::new(QUESTION).sharing(many(most)?)).await?;
    equal((texts(&found), found.receipt.sharing.len()), (vec![MINE.to_owned()], most))
}

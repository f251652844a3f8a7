//! One session is a buffer of tokens, a vector memory, a summary buffer, all of them together, and backed by a store.

use memory_core::engine::{ContextRequest, FoldShown, PartKind, Search};
use memory_core::rank::{Ranking, Weights};
use memory_core::window::BufferConfig;
use memory_core::{Message, Role};

use super::world::{World, kinds};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [s2_2_one_session_is_every_kind_of_memory_by_its_settings]);

async fn s2_2_one_session_is_every_kind_of_memory_by_its_settings(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_limit(1_500);
    let world = World::with(&bed, |_, builder| builder.buffer(window)).await?;
    let talk = world.talk("ada")?;
    let head = [world.say(Role::System, "You are a gardener."), world.user("My rose is called Aurora.")];
    talk.append([head.to_vec(), world.chatter(50)].concat()).await?;
    let question = "What is the name of my rose?";

    // A buffer of tokens: the newest messages within a budget, and nothing else.
    let buffer = talk.assemble(&ContextRequest::new("", 500).recall(0)).await?;
    equal(kinds(&buffer), [PartKind::Instruction, PartKind::History])?;
    let newest = buffer.messages().last().map(Message::text);
    equal(newest.as_deref(), Some("Plant 49 has had its water."))?;
    check!(buffer.tokens() <= 500, "{} tokens", buffer.tokens());

    let report = world.memory.upkeep_once().await?;
    check!(report.summarised > 0 && report.failures.is_empty(), "{report:?}");

    // A vector memory: what is nearest in meaning, however long ago it was said.
    let by_meaning = Search::new("My rose is called").ranking(Ranking::ZScore(Weights { text: 0.0, vector: 1.0 }));
    let found = talk.search(&by_meaning.limit(1)).await?;
    let near: Vec<_> = found.hits.iter().map(|hit| (hit.content.text(), hit.signals.vector_rank)).collect();
    equal(near, [("My rose is called Aurora.".to_owned(), Some(1))])?;

    // A summary buffer: a summary in place of what is older.
    let summary = talk.assemble(&ContextRequest::new("", 1_000).recall(0)).await?;
    equal(kinds(&summary), [PartKind::Instruction, PartKind::Summary, PartKind::History])?;
    check!(summary.receipt.folds.iter().all(|fold| fold.shown != FoldShown::Messages), "{:?}", summary.receipt.folds);

    // All of them together.
    let whole = talk.context(question, 1_300).await?;
    let all = [PartKind::Instruction, PartKind::Summary, PartKind::History, PartKind::Recalled, PartKind::Query];
    equal(kinds(&whole), all)?;

    // Backed by a store: another process sees the same.
    let elsewhere = world.ground.open(|_, builder| builder.buffer(window)).await?;
    let again = elsewhere.of(&world.ground.scope("ada")?).session(talk.id()).context(question, 1_300).await?;
    equal(again.to_openai(), whole.to_openai())
}

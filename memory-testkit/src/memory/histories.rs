//! Generated histories of conversations: appends, drafts, edits, folds, branches and forgets, beside a model that copies everything.

use memory_core::engine::{ContextRequest, Forget, HistoryEdge, PartKind, Scoped, Session};
use memory_core::store::Durability;
use memory_core::window::{BufferConfig, Folding, Oversize};
use memory_core::{Block, Error, Message, MessageId, Role};
use serde_json::Map;

use super::world::{World, session};
use crate::generate::Random;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, environment, equal};

scenarios!(TABLE: Stores = [
    histories_of_edits_folds_branches_and_forgets_read_as_the_model_does,
    contexts_of_branches_are_those_of_copies,
]);

/// How many histories are played, in this process and on other stores, and of how many steps.
const IN_PROCESS: usize = 1_000;
const HISTORIES: usize = 20;
const STEPS: usize = 25;
/// How many conversations of one history are made at most.
const TALKS: usize = 6;

/// A message as the model has it.
#[derive(Clone, Debug)]
struct Said {
    id: MessageId,
    text: String,
    /// Whether the model said it: no context begins with it.
    is_answer: bool,
    /// The conversation that stores it, and how many were said there before.
    home: usize,
    place: usize,
    /// How many were said there when it was taken back, if it was, as the conversation sees it.
    replaced_at: Option<usize>,
}

/// What should be in a conversation: a branch has copies of what it inherits.
#[derive(Clone, Debug, Default)]
struct Talk {
    said: Vec<Said>,
    /// How many messages were said here, forgotten ones too.
    count: usize,
    is_deleted: bool,
}

impl Talk {
    fn shown(&self) -> Vec<String> {
        let shown = self.said.iter().filter(|said| said.replaced_at.is_none());
        shown.skip_while(|said| said.is_answer).map(|said| said.text.clone()).collect()
    }

    fn all(&self) -> Vec<String> {
        self.said.iter().map(|said| said.text.clone()).collect()
    }

    /// Returns it as it was when the message at this place was the newest.
    fn until(&self, place: usize) -> Vec<Said> {
        let shared = self.said.iter().take(place + 1);
        let Some(last) = shared.clone().next_back() else { return Vec::new() };
        let is_before = |said: &Said, at: &usize| said.home != last.home || *at <= last.place;
        let as_of =
            |said: &Said| Said { replaced_at: said.replaced_at.filter(|at| is_before(said, at)), ..said.clone() };
        shared.map(as_of).collect()
    }
}

/// A history that is played.
struct Play<'a> {
    world: &'a World,
    owner: Scoped,
    random: Random,
    talks: Vec<Talk>,
    steps: usize,
    /// How many branches were made of branches, and how many folds and edits there were.
    branches: usize,
    folds: usize,
    edits: usize,
    /// How many drafts were finished.
    drafts: usize,
}

impl Play<'_> {
    fn session(&self, talk: usize) -> Result<Session, Failure> {
        Ok(self.owner.session(&session(&format!("talk {talk}"))?))
    }

    fn talk(&self, home: usize) -> Result<&Talk, Failure> {
        Ok(self.talks.get(home).ok_or("there is no such conversation")?)
    }

    fn talk_mut(&mut self, home: usize) -> Result<&mut Talk, Failure> {
        Ok(self.talks.get_mut(home).ok_or("there is no such conversation")?)
    }

    /// Returns messages, all of them a person's, so that a context shows each.
    fn messages(&mut self) -> Vec<Message> {
        self.steps += 1;
        let count = 1 + self.random.below(3);
        let text = |part: usize| format!("{} {part} roses, tulips and herbs stand behind the house", self.steps);
        (0..count).map(|part| self.world.user(&text(part))).collect()
    }

    fn append(&mut self, home: usize, messages: &[Message]) {
        let Some(talk) = self.talks.get_mut(home) else { return };
        for message in messages {
            let (id, text, place) = (message.id, message.text(), talk.count);
            let is_answer = message.role == Role::Assistant;
            talk.said.push(Said { id, text, is_answer, home, place, replaced_at: None });
            talk.count += 1;
        }
    }

    async fn step(&mut self) -> Scene {
        let alive = self.talks.iter().enumerate().filter(|(_, talk)| !talk.is_deleted);
        let alive: Vec<usize> = alive.map(|(place, _)| place).collect();
        let home = self.random.pick(&alive);
        let (talk, new) = (self.session(home)?, self.messages());
        let known = self.talk(home)?.said.clone();
        let place = self.random.below(known.len());
        match (self.random.below(12), known.get(place)) {
            (0 | 1, Some(from)) => self.replace(home, place, from, new).await?,
            (2, Some(said)) => {
                self.owner.forget(&Forget::Messages(vec![said.id])).await?;
                let id = said.id;
                self.talks.iter_mut().for_each(|talk| talk.said.retain(|said| said.id != id));
            }
            (3 | 4, Some(at)) if self.talks.len() < TALKS => {
                let branch = session(&format!("talk {}", self.talks.len()))?;
                let calls = 1 + usize::from(self.random.chance(1, 3));
                for _ in 0..calls {
                    talk.fork(at.id, &branch).await?;
                }
                self.branches += usize::from(at.home != home);
                let said = self.talk(home)?.until(place);
                self.talks.push(Talk { said, ..Talk::default() });
            }
            (5, _) => self.folds += self.world.memory.upkeep_once().await?.summarised,
            (6, _) if alive.len() > 1 && self.random.chance(1, 3) => {
                self.owner.forget(&Forget::Session(talk.id().clone())).await?;
                *self.talk_mut(home)? = Talk { is_deleted: true, ..Talk::default() };
                self.talks.iter_mut().for_each(|talk| talk.said.retain(|said| said.home != home));
            }
            (7, _) => {
                let mut draft = talk.draft();
                draft.push("never finished");
            }
            (8, _) => {
                talk.append(new.clone()).await?;
                self.append(home, &new);
                self.finish_draft(home).await?;
            }
            _ => {
                talk.append(new.clone()).await?;
                self.append(home, &new);
            }
        }
        let other = self.random.below(self.talks.len());
        self.look(home).await?;
        self.look(other).await
    }

    /// Answers by a draft that grows piece by piece.
    async fn finish_draft(&mut self, home: usize) -> Scene {
        let mut draft = self.session(home)?.draft();
        for piece in ["All of ", "them, ", &format!("at step {}", self.steps)] {
            draft.push(piece);
        }
        draft.finish().await?;
        // A repeat of it changes nothing.
        draft.finish().await?;
        let said = self.session(home)?.history(HistoryEdge::Newest, 1).await?.messages;
        let answer = said.first().and_then(|row| row.message.as_deref()).ok_or("the draft is not there")?;
        equal((answer.role, answer.text()), (Role::Assistant, draft.text().to_owned()))?;
        self.drafts += 1;
        self.append(home, std::slice::from_ref(answer));
        Ok(())
    }

    async fn replace(&mut self, home: usize, place: usize, from: &Said, new: Vec<Message>) -> Scene {
        let new = if self.random.chance(1, 4) { Vec::new() } else { new };
        let talk = self.session(home)?;
        let answer = talk.replace(from.id, new.clone()).await;
        if from.home == home && from.replaced_at.is_some() && new.is_empty() {
            // It was taken back before.
            answer?;
            return Ok(());
        }
        let is_own = from.home == home && from.replaced_at.is_none();
        if !is_own || matches!(answer, Err(Error::Invalid { .. })) {
            // It is inherited, replaced before, or folded.
            check!(matches!(answer, Err(Error::Invalid { .. })), "{from:?} was replaced in {home}: {answer:?}");
            let row = self.owner.messages(&[from.id]).await?.pop();
            let is_archived = row.as_ref().is_some_and(|row| row.archived_by.is_some());
            check!(!is_own || is_archived, "{from:?} was refused and is no part of a fold: {answer:?}, {row:?}");
            return Ok(());
        }
        answer?;
        if self.random.chance(1, 3) {
            talk.replace(from.id, new.clone()).await?;
        }
        self.edits += 1;
        let talk = self.talk_mut(home)?;
        let count = talk.count;
        let behind = talk.said.iter_mut().skip(place).filter(|said| said.replaced_at.is_none());
        behind.for_each(|said| said.replaced_at = Some(count));
        self.append(home, &new);
        Ok(())
    }

    /// Compares a conversation with its model.
    async fn look(&self, home: usize) -> Scene {
        let talk = self.session(home)?;
        let expected = self.talk(home)?;
        let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await?;
        equal(context.messages().map(Message::text).collect::<Vec<_>>(), expected.shown())?;
        let rows = talk.history(HistoryEdge::Newest, 1_000).await?.messages;
        let said = rows.iter().filter_map(|row| Some(row.message.as_ref()?.text()));
        equal(said.collect::<Vec<_>>(), expected.all())
    }
}

async fn histories_of_edits_folds_branches_and_forgets_read_as_the_model_does(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_limit(300).with_folding(Folding::Summaries);
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let mut random = Random::new(bed.seed);
    let mut seen = [0; 4];
    let usual = if bed.durability == Durability::Volatile { IN_PROCESS } else { HISTORIES };
    for history in 0..environment::histories(usual) {
        let owner = world.owner(&format!("ada {history}"))?;
        let (random, talks) = (Random::new(random.number()), vec![Talk::default()]);
        let mut play =
            Play { world: &world, owner, random, talks, steps: 0, branches: 0, folds: 0, edits: 0, drafts: 0 };
        for _ in 0..STEPS {
            play.step().await.map_err(|failure| Failure::new(format!("history {history}: {failure}")))?;
        }
        for talk in 0..play.talks.len() {
            play.look(talk).await?;
        }
        let played = [play.branches, play.folds, play.edits, play.drafts];
        seen.iter_mut().zip(played).for_each(|(seen, played)| *seen += played);
        play.owner.forget(&Forget::Everything).await?;
    }
    check!(seen.iter().all(|count| *count > 0), "nothing to see: {seen:?}");
    Ok(())
}

/// Returns a turn as an agent has it: what a person says, perhaps a call with its result, perhaps an instruction, and an answer.
fn turn(world: &World, random: &mut Random) -> Vec<Message> {
    let words = |random: &mut Random| "words about roses ".repeat(1 + random.below(12));
    let mut turn = vec![world.user(&words(random))];
    if random.chance(1, 4) {
        let (id, arguments) = (format!("call {}", random.number()), words(random));
        let call = Block::ToolCall { id: id.clone(), name: "look".to_owned(), arguments, extra: Map::new() };
        turn.push(Message::of_blocks(Role::Assistant, vec![call], world.memory.now()));
        let result = Block::tool_result(id, vec![Block::text(words(random))]);
        turn.push(Message::of_blocks(Role::Tool, vec![result], world.memory.now()));
    }
    if random.chance(1, 6) {
        turn.push(world.say(Role::System, &words(random)));
    }
    turn.push(world.say(Role::Assistant, &words(random)));
    turn
}

async fn contexts_of_branches_are_those_of_copies(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let mut random = Random::new(bed.seed);
    let mut cut = 0;
    for history in 0..environment::histories(HISTORIES) {
        let owner = world.owner(&format!("ada {history}"))?;
        // Of another owner, so that the copies have the same ids.
        let copy = world.owner(&format!("copy {history}"))?.session(&session("copy")?);
        let (mut talk, mut all) = (owner.session(&session("talk 0")?), Vec::<Message>::new());
        for part in 1..=1 + random.below(4) {
            let mut said: Vec<Message> = (0..1 + random.below(6)).flat_map(|_| turn(&world, &mut random)).collect();
            talk.append(said.clone()).await?;
            said.truncate(1 + random.below(said.len()));
            let at = said.last().map(|message| message.id).ok_or("nothing was said")?;
            all.extend(said);
            talk = talk.fork(at, &session(&format!("talk {part}"))?).await?;
        }
        let last: Vec<Message> = (0..random.below(3)).flat_map(|_| turn(&world, &mut random)).collect();
        let skipped = random.below(2).min(last.len());
        let last = last.get(skipped..).unwrap_or_default();
        talk.append(last.to_vec()).await?;
        all.extend(last.iter().cloned());
        copy.append(all).await?;
        for budget in [40, 100, 200, 400, 700, 1_000, 1_500, 3_000, 100_000] {
            let config = match random.below(3) {
                0 => BufferConfig::default().with_window_messages(1 + random.below(12) as u64),
                _ => BufferConfig::default().with_folding(Folding::Off),
            };
            let oversize = if random.chance(1, 2) { Oversize::Error } else { Oversize::Keep };
            let request = ContextRequest::new("", budget).recall(0).oversize(oversize);
            let (branch, copied) = (talk.clone().with(config)?, copy.clone().with(config)?);
            match (branch.assemble(&request).await, copied.assemble(&request).await) {
                (Ok(branch), Ok(copied)) => {
                    let parts = |context: &memory_core::engine::Context| -> Vec<(PartKind, MessageId)> {
                        context.parts.iter().map(|part| (part.kind, part.message.id)).collect()
                    };
                    let at = format!("history {history}, {budget} tokens, {config:?}");
                    check!(parts(&branch) == parts(&copied), "{at}: {branch:#?}\ninstead of {copied:#?}");
                    let left = |context: &memory_core::engine::Context| {
                        let history = context.receipt.history;
                        // Why what was not read would have been left out, nobody knows.
                        history.no_room
                            + history.outside
                            + history.no_start
                            + history.unpaired
                            + history.unfinished
                            + history.untrusted
                    };
                    equal(left(&branch), left(&copied))?;
                    equal(branch.receipt.history.window_messages, copied.receipt.history.window_messages)?;
                    cut += usize::from(branch.receipt.history.no_room > 0);
                }
                (Err(Error::OverBudget { .. }), Err(Error::OverBudget { .. })) => {}
                (branch, copied) => return Err(Failure::new(format!("{branch:?} instead of {copied:?}"))),
            }
        }
    }
    check!(cut > 0, "nothing was cut");
    Ok(())
}

//! Runs a set: conversations go in, questions are searched, places of the evidence come out.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use indicatif::ProgressBar;
use memory::rank::{Ranking, Weights};
use memory::receipt::PartKind;
use memory::{Content, ContextRequest, Forget, ItemId, Memory, MessageId, Scope, Scoped, Search, SessionId};

use super::metrics::{Ranks, Scores};
use super::set::{Haystack, Question, Section, Set, SetKind};
use crate::failure::Failure;

/// Hits of a question that are looked at.
const DEPTH: usize = 100;
/// Tokens of a context.
const BUDGET: u64 = 3_000;
/// Messages of one append.
const BATCH: usize = 500;

/// What is searched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Leg {
    /// Words alone
    Text,
    /// Vectors alone
    Vector,
    /// Both, by the default ranking
    Both,
}

impl Leg {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Vector => "vector",
            Self::Both => "text + vector",
        }
    }

    fn ranking(self) -> Ranking {
        match self {
            Self::Text => Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }),
            Self::Vector => Ranking::ZScore(Weights { text: 0.0, vector: 1.0 }),
            Self::Both => Ranking::default(),
        }
    }
}

/// The rows of one table: a group of questions each.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// What is searched with what.
    pub(crate) title: String,
    /// The unit that is found: `turns` or `sessions`; or `recalled`, the turns that a context recalls, in their order.
    pub(crate) unit: &'static str,
    /// What it was searched with.
    pub(crate) leg: Leg,
    /// The rows.
    pub(crate) rows: Vec<(String, Scores)>,
}

/// A question whose evidence is not in the first place.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    /// Its words.
    pub(crate) question: String,
    /// What it was searched with.
    pub(crate) leg: Leg,
    /// The place of its first evidence; none if it was not found.
    pub(crate) place: Option<usize>,
    /// What stood in the first place.
    pub(crate) first: String,
}

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// The figures.
    pub(crate) tables: Vec<Table>,
    /// The questions whose evidence was not first.
    pub(crate) misses: Vec<Miss>,
}

/// Ranks of one question by unit.
struct QuestionRanks {
    groups: Vec<String>,
    miss: Option<Miss>,
    turns: Ranks,
    sessions: Ranks,
    /// What a context of a new conversation recalls, if that was asked.
    recalled: Option<Ranks>,
}

/// Measures all sections of a set with each leg, under owners of `tenant` who are forgotten again.
pub(crate) async fn run(memory: &Memory, tenant: &str, set: &Set, legs: &[Leg]) -> Result<Measured, Failure> {
    let mut measured = Measured::default();
    for part in &set.sections {
        let questions: usize = part.haystacks.iter().map(|haystack| haystack.questions.len()).sum();
        let bar = ProgressBar::new(questions as u64);
        let mut answers: Vec<Vec<QuestionRanks>> = legs.iter().map(|_| Vec::new()).collect();
        for haystack in &part.haystacks {
            let scoped = memory.of(&Scope::new(tenant, haystack.name.as_str())?);
            let outcome = measure(memory, &scoped, (haystack, set.kind), legs, &mut answers, &bar).await;
            scoped.forget(&Forget::Everything).await?;
            outcome?;
        }
        bar.finish_and_clear();
        for (leg, answers) in legs.iter().zip(&answers) {
            measured.tables.push(table(part, "turns", *leg, answers, |answer| Some(&answer.turns)));
            measured.tables.push(table(part, "sessions", *leg, answers, |answer| Some(&answer.sessions)));
            if answers.iter().any(|answer| answer.recalled.is_some()) {
                measured.tables.push(table(part, "recalled", *leg, answers, |answer| answer.recalled.as_ref()));
            }
        }
        measured.misses.extend(answers.into_iter().flatten().filter_map(|answer| answer.miss));
    }
    Ok(measured)
}

async fn measure(
    memory: &Memory,
    scoped: &Scoped,
    (haystack, kind): (&Haystack, SetKind),
    legs: &[Leg],
    answers: &mut [Vec<QuestionRanks>],
    bar: &ProgressBar,
) -> Result<(), Failure> {
    for (name, messages) in &haystack.sessions {
        let session = scoped.session(&SessionId::new(name.as_str())?);
        for batch in messages.chunks(BATCH) {
            session.append(batch.to_vec()).await?;
        }
    }
    let report = memory.upkeep_once().await?;
    if let Some(failure) = report.failures.first() {
        return Err(Failure::Inner(format!("the index is not complete: {failure}")));
    }
    for question in &haystack.questions {
        for (leg, answers) in legs.iter().zip(answers.iter_mut()) {
            let Found { turns, sessions, first } = ask(scoped, question, *leg).await?;
            let turns = ranks(&turns, &question.turns);
            let sessions = ranks(&sessions, &question.sessions);
            let place = turns.found.first().copied();
            let miss = || Miss { question: question.text.clone(), leg: *leg, place, first };
            let miss = (place != Some(1)).then(miss);
            let recalled = if kind == SetKind::Chat && *leg == Leg::Both {
                Some(ranks(&recalled(scoped, question).await?, &question.turns))
            } else {
                None
            };
            answers.push(QuestionRanks { groups: question.groups.clone(), miss, turns, sessions, recalled });
        }
        bar.inc(1);
    }
    Ok(())
}

/// The messages found, the sessions by the place of their best message, and the text of the first message.
struct Found {
    turns: Vec<MessageId>,
    sessions: Vec<String>,
    first: String,
}

async fn ask(scoped: &Scoped, question: &Question, leg: Leg) -> Result<Found, Failure> {
    let search = Search::new(question.text.as_str()).limit(DEPTH).ranking(leg.ranking());
    let search = if let Some(at) = question.at { search.asked_at(at) } else { search };
    let found = scoped.search(&search).await?;
    if let Some(degraded) = found.receipt.degraded.first() {
        return Err(Failure::Inner(format!("a search was degraded: {}", degraded.why)));
    }
    let mut turns = Vec::new();
    let mut sessions: Vec<String> = Vec::new();
    let first = found.hits.first().map(|hit| hit.content.text()).unwrap_or_default();
    for hit in found.hits {
        if let Content::Message(row) = hit.content {
            turns.push(row.id);
            if !sessions.iter().any(|session| session == row.session.name()) {
                sessions.push(row.session.name().to_owned());
            }
        }
    }
    Ok(Found { turns, sessions, first })
}

/// Returns the messages that a context of a new conversation recalls for a question, in their order.
async fn recalled(scoped: &Scoped, question: &Question) -> Result<Vec<MessageId>, Failure> {
    let session = scoped.session(&SessionId::new("a new conversation")?);
    let context = session.assemble(&ContextRequest::new(question.text.as_str(), BUDGET)).await?;
    let recalled = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled);
    let message = |item: &ItemId| match item {
        ItemId::Message(id) => Some(*id),
        _ => None,
    };
    Ok(recalled.filter_map(|included| message(&included.item)).collect())
}

fn ranks<T: Ord>(found: &[T], gold: &BTreeSet<T>) -> Ranks {
    let places = (1..).zip(found).filter(|(_, item)| gold.contains(item)).map(|(place, _)| place);
    Ranks { found: places.collect(), gold: gold.len() }
}

fn table(
    part: &Section,
    unit: &'static str,
    leg: Leg,
    answers: &[QuestionRanks],
    of: fn(&QuestionRanks) -> Option<&Ranks>,
) -> Table {
    let mut groups: BTreeMap<&str, Vec<&Ranks>> = BTreeMap::new();
    for answer in answers {
        for group in &answer.groups {
            groups.entry(group).or_default().extend(of(answer));
        }
    }
    let row = |group: &String| (group.clone(), Scores::of(groups.get(group.as_str()).map_or(&[][..], Vec::as_slice)));
    Table { title: part.title.clone(), unit, leg, rows: part.groups.iter().map(row).collect() }
}

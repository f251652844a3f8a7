//! `memory demo`: imports a sample conversation, asks it questions and shows contexts.

use std::io::Cursor;

use memory::import::{Format, Import, Source};
use memory::{Content, Hit, Memory, Scope, Scoped, Search, SessionId, edge};
use serde_json::{Value, json};

use super::call::Call;
use crate::config::Database;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, brief};
use crate::sample::{self, Questions, Situation};
use crate::{upkeep, words};

const TENANT: &str = "demo";
const SUBJECT: &str = "ines";
/// Questions that are asked in words of the answer; one more has none of them.
const ASKED: usize = 6;
/// Hits that are shown of each.
const HITS: usize = 3;

/// Shows it.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let database = match &call.global.db {
        Some(place) if call.named.database => Database::at(&place.0)?,
        _ => Database::in_data_folder("demo.sqlite")?,
    };
    let database = database.by(&call.settings);
    let questions = sample::questions()?;
    let memory = call.open_database(&database, None).await?;
    let scoped = memory.of(&Scope::new(TENANT, SUBJECT)?);
    let loaded = load(&memory, &scoped).await?;
    let asked = ask(&scoped, &questions, output).await?;
    let contexts = show(&scoped, &questions, output).await?;
    let next = next(&database);
    if output.is_json() {
        output.json(&json!({
            "url": database.shown(), "file": database.file.as_ref().map(|_| database.shown_file()), "tenant": TENANT, "subject": SUBJECT,
            "added": loaded.0, "already": loaded.1, "questions": asked, "contexts": contexts, "next": next,
        }))?;
    } else {
        say_next(&database, &next, output)?;
    }
    Ok(Outcome::Done)
}

/// Loads the sample, and returns how many messages were added and how many were there.
async fn load(memory: &Memory, scoped: &Scoped) -> Result<(u64, u64), Failure> {
    let source = Source::new(scoped.scope(), "sample", memory.now()).with_format(Format::Openai).trusting_roles();
    let input = Cursor::new(sample::MESSAGES);
    let mut import = Import::begin(scoped.clone(), input, source).map_err(|error| Failure::no_thread(&error))?;
    while import.step().await?.is_some() {}
    let tally = import.finish();
    if tally.rejected > 0 {
        return Err(Failure::Inner("the sample is damaged".to_owned()));
    }
    upkeep::after(memory).await;
    Ok((tally.added, tally.already))
}

/// Asks the questions, and shows what is found.
async fn ask(scoped: &Scoped, questions: &Questions, output: &mut Output) -> Result<Vec<Value>, Failure> {
    let messages = sample::MESSAGES.lines().count();
    if !output.is_json() {
        let heading = "Ines has talked with her assistant for eight months";
        output.line(&format!("{heading}: {messages} messages. What does the memory find?"))?;
    }
    let mut asked = Vec::new();
    for question in questions.recall.iter().take(ASKED).chain(questions.in_other_words.first()) {
        let found = scoped.search(&Search::new(&question.question).limit(HITS)).await?;
        let holds = |hit: &Hit| place(hit).is_some_and(|place| question.evidence.contains(&place));
        if output.is_json() {
            let hits: Vec<Value> = found.hits.iter().map(Hit::to_json).collect();
            let answered = found.hits.iter().position(holds).map(|index| index + 1);
            asked.push(json!({ "question": question, "hits": hits, "answered_at": answered }));
            continue;
        }
        output.line("")?;
        output.line(&format!("? {}", question.question))?;
        for (place, hit) in (1..).zip(&found.hits) {
            let mark = if holds(hit) { "  <- holds the answer" } else { "" };
            let text = brief(&hit.content.text(), 160);
            output.line(&format!("  {place}. {}{mark}", hit.content))?;
            output.line(&format!("     {text}"))?;
        }
    }
    Ok(asked)
}

/// Returns where a message stands, as `session#number`.
fn place(hit: &Hit) -> Option<String> {
    match &hit.content {
        Content::Message(row) => Some(format!("{}#{}", row.session.name(), row.seq.0)),
        Content::Record(_) => None,
    }
}

/// Shows what a model would be sent in each situation, and why.
async fn show(scoped: &Scoped, questions: &Questions, output: &mut Output) -> Result<Vec<Value>, Failure> {
    let mut contexts = Vec::new();
    for Situation { session, query, budget } in &questions.context {
        let found = scoped.session(&SessionId::new(session)?).context(query, *budget).await?;
        if output.is_json() {
            let asked = json!({ "session": session, "query": query, "budget": budget });
            contexts.push(edge::with(words::context_json(&found, None), asked));
            continue;
        }
        output.line("")?;
        output.line(&format!("== What a model is sent in {session} for {budget} tokens"))?;
        words::write_context(&found, query, scoped, output).await?;
    }
    Ok(contexts)
}

/// Returns three commands that go on from here; none where nothing is kept.
fn next(database: &Database) -> Vec<String> {
    if database.ends_with_the_command() {
        return Vec::new();
    }
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(quote));
    let program = program.unwrap_or_else(|| "memory".to_owned());
    let owner = format!("--db {} --tenant {TENANT} --subject {SUBJECT}", quote(&database.shown()));
    [
        "search 'what did the vet say about chocolate' -k 3 --explain",
        "context --session autumn-list 'Is the cake safe for me?' --budget 900",
        "sessions",
    ]
    .map(|command| format!("{program} {owner} {command}"))
    .to_vec()
}

fn say_next(database: &Database, next: &[String], output: &mut Output) -> Result<(), Failure> {
    output.line("")?;
    if database.ends_with_the_command() {
        output.line("Nothing of it was kept: the database was in this process.")?;
        return Ok(());
    }
    match &database.file {
        Some(_) => output.line(&format!("All of it is in one file: {}", database.shown_file()))?,
        None => output.line(&format!("All of it is in {}", database.shown()))?,
    }
    output.line("Try next:")?;
    for command in next {
        output.line(&format!("  {command}"))?;
    }
    Ok(())
}

/// Quotes a word for the shell, if it needs that.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quote("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quote("a b'c"), "'a b'\\''c'");
        assert_eq!(quote(""), "''");
    }
}

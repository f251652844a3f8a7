//! What chat programs do with the end of a conversation.

use memory_core::engine::{ContextRequest, Forget, PartKind, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Error, Message, MessageId, Role, Seq};

use crate::bench::{Bench, Taps};

async fn shown(talk: &Session) -> Vec<String> {
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await.unwrap();
    context.messages().map(Message::text).collect()
}

async fn log(talk: &Session) -> Vec<String> {
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::Log)).await.unwrap().messages;
    rows.iter().map(|row| row.message.as_ref().unwrap().text()).collect()
}

#[tokio::test]
async fn a_question_that_is_edited_takes_what_followed_it_out_of_the_window() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(3)).await.unwrap();
    let edited = bench.user("What about tulips?");
    let from = edited.id;
    talk.append(vec![edited, bench.say(Role::Assistant, "Tulips are fine.")]).await.unwrap();
    talk.append(bench.chatter(1)).await.unwrap();
    talk.replace(from, vec![bench.user("What about daisies?")]).await.unwrap();
    let now = shown(&talk).await;
    assert_eq!((now.len(), now[6].as_str()), (7, "What about daisies?"));
    // And again, and with nothing in its place.
    let newest = talk.recent().await.unwrap().pop().unwrap().id;
    talk.replace(newest, vec![bench.user("What about lilies?")]).await.unwrap();
    assert_eq!(shown(&talk).await[6], "What about lilies?");
    let newest = talk.recent().await.unwrap().pop().unwrap().id;
    talk.replace(newest, Vec::new()).await.unwrap();
    assert_eq!(shown(&talk).await.len(), 6);
    assert_eq!(log(&talk).await.len(), 12);
}

#[tokio::test]
async fn a_conversation_with_variants_is_folded_as_any_other_and_shows_none_of_them() {
    for folding in [Folding::Summaries, Folding::Archive] {
        let config = BufferConfig::default().with_capacity_messages(12).with_folding(folding).with_keep_turns(1);
        let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
        let talk = bench.session("ada");
        for turn in 0..20 {
            let first = bench
                .say(Role::Assistant, &format!("A wrong answer about bed {turn}, which nobody wants to see again."));
            let replaced = first.id;
            talk.append(vec![bench.user(&format!("How is bed {turn} of the garden doing today?")), first])
                .await
                .unwrap();
            let right = bench.say(Role::Assistant, &format!("A right answer about bed {turn}: it is doing very well."));
            talk.replace(replaced, vec![right]).await.unwrap();
        }
        while bench.memory.upkeep_once().await.unwrap().archived > 0 {}
        let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
        let messages = rows.iter().filter(|row| row.covers.is_none()).count();
        assert!(
            messages <= 12 && rows.iter().filter(|row| row.is_archive()).count() <= 40,
            "{folding:?}: {messages} of {}",
            rows.len()
        );
        // Not even where there is room for all that was said.
        let now = shown(&talk).await;
        assert!(now.iter().all(|text| !text.contains("A wrong answer")), "{folding:?}: {now:#?}");
        assert_eq!(log(&talk).await.len(), 60);
    }
}

#[tokio::test]
async fn what_is_in_the_window_no_more_cannot_be_replaced() {
    let config = BufferConfig::default().with_capacity_messages(2).with_folding(Folding::Archive);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    let (old, lost) = (bench.user("One."), bench.user("Two."));
    let (archived, forgotten) = (old.id, lost.id);
    talk.append(vec![old, lost]).await.unwrap();
    talk.append(bench.chatter(2)).await.unwrap();
    bench.owner("ada").forget(&Forget::Messages(vec![forgotten])).await.unwrap();
    bench.memory.upkeep_once().await.unwrap();
    let elsewhere = bench.owner("ada").session(&crate::bench::session("other"));
    let foreign = bench.user("Three.");
    let foreign_id = foreign.id;
    elsewhere.append(vec![foreign]).await.unwrap();
    for id in [archived, forgotten, foreign_id, MessageId::fresh()] {
        let refused = talk.replace(id, vec![bench.user("Four.")]).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    let own = talk.recent().await.unwrap().pop().unwrap();
    let itself = talk.replace(own.id, vec![own.message.unwrap().as_ref().clone()]).await;
    assert!(matches!(itself, Err(Error::Invalid { .. })), "{itself:?}");
    assert_eq!(log(&elsewhere).await, ["Three."]);
}

#[tokio::test]
async fn an_answer_that_streams_is_one_message_in_the_end_and_nothing_before() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("Tell me of roses.")]).await.unwrap();
    let mut draft = talk.draft();
    ["Roses ", "want ", "sun."].into_iter().for_each(|piece| draft.push(piece));
    assert_eq!((draft.text(), log(&talk).await.len()), ("Roses want sun.", 1));
    draft.finish().await.unwrap();
    draft.finish().await.unwrap();
    let context = talk.context("", 1_000).await.unwrap();
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [PartKind::History, PartKind::History]);
    assert_eq!(log(&talk).await, ["Tell me of roses.", "Roses want sun."]);
    // One that is dropped leaves nothing behind.
    talk.draft().push("Never");
    assert_eq!(log(&talk).await.len(), 2);
}

#[tokio::test]
async fn an_answer_that_ended_early_is_told_from_a_whole_one() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("Tell me of roses.")]).await.unwrap();
    for (piece, why) in [("Roses want sun.", None), ("Roses also", Some("length"))] {
        let mut draft = talk.draft();
        draft.push(piece);
        match why {
            None => draft.finish().await.unwrap(),
            Some(why) => draft.finish_early(why).await.unwrap(),
        };
    }
    let slice = talk.read(&Page::after(Seq(1), 9, View::Log)).await.unwrap();
    let stop = |message: &Message| message.metadata.get("stop").map(ToString::to_string);
    let stops: Vec<Option<String>> = slice.messages.iter().map(|row| stop(row.message.as_ref().unwrap())).collect();
    assert_eq!(stops, [None, Some("\"length\"".to_owned())]);
}

#[tokio::test]
async fn an_answer_that_is_made_anew_takes_no_summary_out_of_the_context() {
    let config = BufferConfig::conversational().with_keep_turns(1);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(30)).await.unwrap();
    bench.tend().await;
    talk.append(bench.chatter(15)).await.unwrap();
    let answer = bench.say(Role::Assistant, "A first answer.");
    let first = answer.id;
    talk.append(vec![bench.user("And now?"), answer]).await.unwrap();
    let has_summary = async || {
        let context = talk.assemble(&ContextRequest::new("", 4_000).recall(0)).await.unwrap();
        context.parts.iter().any(|part| part.kind == PartKind::Summary)
    };
    assert!(has_summary().await);
    talk.replace(first, vec![bench.say(Role::Assistant, "A second answer.")]).await.unwrap();
    assert!(has_summary().await);
}

#[tokio::test]
async fn a_regenerated_answer_makes_no_context_read_the_whole_window() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(1_500)).await.unwrap();
    let newest = talk.recent().await.unwrap().pop().unwrap().id;
    talk.replace(newest, vec![bench.say(Role::Assistant, "A second answer.")]).await.unwrap();
    bench.chat.reset();
    let context = talk.assemble(&ContextRequest::new("", 1_000).recall(0)).await.unwrap();
    assert!(context.messages().any(|message| message.text() == "A second answer."));
    assert!(bench.chat.rows("read") < 400, "{} rows", bench.chat.rows("read"));
}

#[tokio::test]
async fn a_forgotten_message_lets_no_context_read_more_than_a_few_of_its_size_for_a_summary() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let said = |n: usize| bench.user(&format!("Plant {n}: {}", "water it well, ".repeat(60)));
    let said: Vec<Message> = (0..1_000).map(said).collect();
    let ids: Vec<MessageId> = said.iter().map(|message| message.id).collect();
    let answer = bench.say(Role::Assistant, "A first answer.");
    let newest = answer.id;
    talk.append([said, vec![answer]].concat()).await.unwrap();
    talk.replace(newest, vec![bench.say(Role::Assistant, "A second answer.")]).await.unwrap();
    // Of what is forgotten among the rows that are read anyway, it shows that it was no summary.
    for (forgotten, most) in [(ids[998], 60), (ids[0], 250)] {
        bench.owner("ada").forget(&Forget::Messages(vec![forgotten])).await.unwrap();
        bench.chat.reset();
        let context = talk.assemble(&ContextRequest::new("", 2_000).recall(0)).await.unwrap();
        assert!(context.messages().any(|message| message.text() == "A second answer."));
        assert!(bench.chat.rows("read") < most, "{} rows", bench.chat.rows("read"));
    }
}

#[tokio::test]
async fn a_long_turn_that_is_replaced_stays_away_whatever_was_folded_in_it() {
    let config = BufferConfig::default().with_limit(1_500);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(3)).await.unwrap();
    let question = bench.user("Look at all the beds.");
    let from = question.id;
    talk.append(vec![question]).await.unwrap();
    let steps: Vec<Message> = (0..80)
        .map(|step| bench.say(Role::Assistant, &format!("Bed {step} has roses, and none of them is in flower yet.")))
        .collect();
    let ids: Vec<MessageId> = steps.iter().map(|step| step.id).collect();
    talk.append(steps).await.unwrap();
    bench.tend().await;
    assert!(talk.stats().await.unwrap().summarization_count > 0, "the turn is folded inside");
    talk.replace(from, vec![bench.user("Never mind.")]).await.unwrap();
    let expected = shown(&talk).await;
    assert_eq!((expected.len(), expected[6].as_str()), (7, "Never mind."));
    let recent = talk.recent().await.unwrap();
    assert_eq!(recent.len(), 7);
    bench.owner("ada").forget(&Forget::Messages(vec![ids[2]])).await.unwrap();
    assert_eq!(shown(&talk).await, expected);
    talk.append(bench.chatter(20)).await.unwrap();
    bench.tend().await;
    assert!(shown(&talk).await.iter().all(|text| !text.contains("none of them is in flower")));
    let context = talk.context("Is any bed of roses in flower?", 4_000).await.unwrap();
    assert!(context.messages().all(|message| !message.text().contains("none of them is in flower")));
}

//! What pages promise, sentence by sentence; `histories` compares them with a model.

use memory_core::store::chat::{Edge, NewMessage, Page, View};
use memory_core::{Epoch, Field, Filter, Message, Role, Seq, Timestamp};

use super::talk::{NOON, Talk, ids, new, numbers, sized, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    reads_oldest_first_from_every_edge,
    a_limit_of_zero_gives_the_state_alone,
    the_largest_limit_is_no_limit,
    an_unknown_session_reads_as_empty,
    stops_behind_the_row_that_crosses_the_tokens,
    edges_beyond_the_ends_give_nothing_or_all,
    pages_from_either_end_give_every_row_once,
    views_show_the_window_the_log_or_everything,
    a_pinned_page_has_every_active_instruction_and_the_newest_summary,
    a_pinned_page_follows_folds_and_what_is_forgotten,
    never_splits_rows_that_stand_at_one_number,
    filters_before_it_limits,
    a_filter_matches_no_marker,
    says_that_the_answer_is_complete,
]);

async fn five(bed: &Bed<Chat>) -> memory_core::Result<Talk> {
    let talk = Talk::plain(bed)?;
    talk.say(&["one", "two", "three", "four", "five"]).await?;
    Ok(talk)
}

async fn reads_oldest_first_from_every_edge(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    equal(texts(&talk.read(&Page::newest(2)).await?), ["four", "five"])?;
    for view in [View::Active, View::Log, View::All] {
        equal(texts(&talk.read(&Page::before(Seq(4), 2, view)).await?), ["two", "three"])?;
        equal(texts(&talk.read(&Page::after(Seq(2), 2, view)).await?), ["three", "four"])?;
    }
    Ok(())
}

async fn a_limit_of_zero_gives_the_state_alone(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let pages = [Page::newest(0), Page::after(Seq(1), 0, View::All), Page::before(Seq(3), 0, View::Log).within(0)];
    for page in pages {
        let slice = talk.chat.store().read(&talk.scope, &talk.session, &page).await?;
        equal(slice.messages, [])?;
        equal((slice.state.head, slice.state.active_messages), (Seq(5), 5))?;
    }
    Ok(())
}

async fn the_largest_limit_is_no_limit(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    equal(talk.read(&Page::newest(usize::MAX)).await?.len(), 5)?;
    equal(talk.read(&Page::after(Seq(0), usize::MAX, View::All).within(u64::MAX)).await?.len(), 5)
}

async fn an_unknown_session_reads_as_empty(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?.beside("unknown")?;
    let slice = talk.chat.store().read(&talk.scope, &talk.session, &Page::newest(10)).await?;
    equal(slice.messages, [])?;
    let state = slice.state;
    equal(&state.session, &talk.session)?;
    equal((state.fence.epoch, state.fence.generation, state.revision), (Epoch(0), 0, 0))?;
    equal((state.head, state.active_messages, state.active_tokens, state.last_at), (Seq(0), 0, 0, Timestamp(0)))?;
    equal(talk.chat.store().sessions(&talk.scope, None, 10).await?.len(), 1)
}

async fn stops_behind_the_row_that_crosses_the_tokens(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let rows = [("a", 10), ("b", 20), ("c", 0), ("d", 5), ("e", 10)];
    talk.append(&rows.map(|(text, tokens)| sized(text, tokens))).await?;
    let newest: [(u64, &[&str]); 6] = [
        (0, &["e"]),
        (9, &["e"]),
        (10, &["d", "e"]),
        (15, &["b", "c", "d", "e"]),
        (34, &["b", "c", "d", "e"]),
        (35, &["a", "b", "c", "d", "e"]),
    ];
    for (tokens, promised) in newest {
        equal(texts(&talk.read(&Page::newest(10).within(tokens)).await?), promised)?;
        let before = Page::before(Seq(6), 10, View::Log).within(tokens);
        equal(texts(&talk.read(&before).await?), promised)?;
    }
    for (tokens, promised) in [(9, &["a"] as &[&str]), (10, &["a", "b"]), (30, &["a", "b", "c", "d"])] {
        equal(texts(&talk.read(&Page::after(Seq(0), 10, View::Active).within(tokens)).await?), promised)?;
    }
    equal(texts(&talk.read(&Page::newest(2).within(1_000)).await?), ["d", "e"])
}

async fn edges_beyond_the_ends_give_nothing_or_all(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    for view in [View::Active, View::Log, View::All] {
        for (edge, promised) in [
            (Edge::Before(Seq(0)), 0),
            (Edge::Before(Seq(1)), 0),
            (Edge::Before(Seq(u64::MAX)), 5),
            (Edge::After(Seq(0)), 5),
            (Edge::After(Seq(5)), 0),
            (Edge::After(Seq(u64::MAX)), 0),
        ] {
            let page = Page { edge, limit: 10, tokens: None, view, filter: None };
            equal((edge, talk.read(&page).await?.len()), (edge, promised))?;
        }
    }
    Ok(())
}

async fn pages_from_either_end_give_every_row_once(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let words: Vec<_> = (0..23).map(|number| format!("message {number}")).collect();
    talk.append(&words.iter().map(|text| new(text)).collect::<Vec<_>>()).await?;
    let mut forwards = Vec::new();
    while let page @ [.., last] = &*talk.read(&Page::after(Seq(forwards.len() as u64), 4, View::Log)).await? {
        equal(last.seq.0 as usize, forwards.len() + page.len())?;
        forwards.extend(texts(page));
    }
    equal(&forwards, &words)?;
    let (mut backwards, mut edge) = (Vec::new(), Seq(u64::MAX));
    while let page @ [first, ..] = &*talk.read(&Page::before(edge, 4, View::Active)).await? {
        edge = first.seq;
        backwards.splice(0..0, texts(page));
    }
    equal(&backwards, &words)
}

async fn views_show_the_window_the_log_or_everything(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    talk.fold(2, 3, "two and three").await?;
    equal(talk.window().await?, ["one", "two and three", "four", "five"])?;
    equal(talk.log().await?, ["one", "two", "three", "four", "five"])?;
    let all = talk.rows(View::All).await?;
    equal(texts(&all), ["one", "two", "three", "two and three", "four", "five"])?;
    equal(numbers(&all), [1, 2, 3, 3, 4, 5])
}

async fn a_pinned_page_has_every_active_instruction_and_the_newest_summary(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let said = |role: Role, text: &str| {
        let message = Message::new(role, text, NOON);
        NewMessage::sized(message, text.len() as u64)
    };
    let mut batch = vec![said(Role::System, "be kind"), said(Role::User, "one"), said(Role::Developer, "be brief")];
    // More between them than a store looks at in one step.
    batch.extend((0..700).map(|number| new(&format!("message {number}"))));
    batch.extend([said(Role::System, "be quick"), said(Role::Assistant, "system"), said(Role::Tool, "developer")]);
    talk.append(&batch).await?;
    talk.fold(4, 5, "older").await?;
    talk.fold(6, 7, "newer").await?;
    let page = Page { view: View::Pinned, ..Page::newest(10) };
    equal(texts(&talk.read(&page).await?), ["be kind", "be brief", "newer", "be quick"])?;
    equal(texts(&talk.read(&Page { limit: 2, ..page.clone() }).await?), ["newer", "be quick"])?;
    equal(texts(&talk.read(&page.clone().within(8)).await?), ["newer", "be quick"])?;
    equal(texts(&talk.read(&Page::before(Seq(704), 2, View::Pinned)).await?), ["be brief", "newer"])?;
    equal(texts(&talk.read(&Page::after(Seq(1), 2, View::Pinned)).await?), ["be brief", "newer"])?;
    let developers = page.matching(Filter::eq(Field::Role, "developer"));
    equal(texts(&talk.read(&developers).await?), ["be brief"])
}

async fn a_pinned_page_follows_folds_and_what_is_forgotten(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let said = |role: Role, text: &str| NewMessage::sized(Message::new(role, text, NOON), 1);
    let batch =
        [said(Role::System, "a"), new("b"), said(Role::System, "c"), new("d"), said(Role::System, "e"), new("f")];
    talk.append(&batch).await?;
    let pinned = || async { Ok::<_, memory_core::Error>(texts(&talk.rows(View::Pinned).await?)) };
    equal(pinned().await?, ["a", "c", "e"])?;
    let inner = talk.fold(2, 3, "inner").await?;
    equal(pinned().await?, ["a", "inner", "e"])?;
    // One of summaries that stands for another one, and is made of an instruction's words.
    let outer = said(Role::System, "outer");
    talk.compact(&talk.plan(2, 4, &outer).await?).await?;
    equal(pinned().await?, ["a", "outer", "e"])?;
    talk.unfold(&outer).await?;
    talk.unfold(&inner).await?;
    equal(pinned().await?, ["a", "c", "e"])?;
    talk.chat.store().redact(&talk.scope, &ids(&batch[4..5])).await?;
    equal(pinned().await?, ["a", "c"])?;
    talk.delete().await?;
    equal(pinned().await?, [""; 0])?;
    talk.append(&[said(Role::Developer, "g")]).await?;
    equal(pinned().await?, ["g"])
}

async fn never_splits_rows_that_stand_at_one_number(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    talk.fold(2, 3, "inner").await?;
    talk.fold(1, 3, "outer").await?;
    let promised = ["three", "inner", "outer"];
    equal(texts(&talk.read(&Page::after(Seq(2), 1, View::All)).await?), promised)?;
    equal(texts(&talk.read(&Page::after(Seq(2), 2, View::All)).await?), promised)?;
    equal(texts(&talk.read(&Page::before(Seq(4), 1, View::All)).await?), promised)?;
    equal(texts(&talk.read(&Page::after(Seq(2), 10, View::All).within(0)).await?), promised)?;
    equal(texts(&talk.read(&Page::before(Seq(4), 4, View::All)).await?), ["two", "three", "inner", "outer"])?;
    equal(texts(&talk.read(&Page::after(Seq(2), 4, View::All)).await?), ["three", "inner", "outer", "four"])
}

async fn filters_before_it_limits(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut batch = Vec::new();
    for number in 0..50_i64 {
        let mut new = new(&format!("message {number}"));
        let message = (*new.message).clone().with_metadata("n", number).with_metadata("is_rare", number % 20 == 0);
        new.message = message.into();
        batch.push(new);
    }
    talk.append(&batch).await?;
    let rare = || Filter::eq(Field::Metadata("is_rare".to_owned()), true);
    equal(texts(&talk.read(&Page::newest(2).matching(rare())).await?), ["message 20", "message 40"])?;
    let page = Page::after(Seq(1), 2, View::Log).matching(rare());
    equal(texts(&talk.read(&page).await?), ["message 20", "message 40"])?;
    let within = Page::newest(10).matching(rare()).within(10);
    equal(texts(&talk.read(&within).await?), ["message 20", "message 40"])?;
    let low = Filter::range(Field::Metadata("n".to_owned()), None, Some(3.into()));
    equal(texts(&talk.read(&Page::newest(10).matching(low)).await?), ["message 0", "message 1", "message 2"])
}

async fn a_filter_matches_no_marker(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let rows = talk.rows(View::Log).await?;
    let forgotten: Vec<_> = rows.iter().skip(2).take(1).map(|row| row.id).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    let page = Page::after(Seq(0), 10, View::Log);
    equal(talk.read(&page).await?.len(), 5)?;
    let no_tool = Filter::Ne(Field::Role, "tool".into());
    equal(texts(&talk.read(&page.matching(no_tool)).await?), ["one", "two", "four", "five"])
}

async fn says_that_the_answer_is_complete(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one"]).await?;
    check!(talk.chat.store().read(&talk.scope, &talk.session, &Page::newest(1)).await?.complete, "the page is not");
    check!(talk.chat.store().get(&talk.scope, &ids(&stored)).await?.complete, "the found messages are not");
    Ok(())
}

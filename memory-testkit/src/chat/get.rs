//! What reading by id promises.

use memory_core::MessageId;
use memory_core::store::chat::View;

use super::talk::{Talk, ids, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    gets_in_the_order_of_the_ids,
    gets_rows_as_a_page_shows_them,
    gets_from_all_sessions_of_the_owner,
    skips_absent_forgotten_and_foreign_ids_alike,
    tells_which_ids_were_forgotten,
    an_empty_list_gets_nothing,
]);

async fn gets_in_the_order_of_the_ids(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut wanted = ids(&talk.say(&["one", "two", "three"]).await?);
    wanted.swap(0, 2);
    equal(texts(&talk.get(&wanted).await?), ["three", "two", "one"])?;
    wanted.swap(0, 1);
    equal(texts(&talk.get(&wanted).await?), ["two", "three", "one"])
}

async fn gets_rows_as_a_page_shows_them(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    talk.fold(1, 2, "summary").await?;
    let all = talk.rows(View::All).await?;
    let wanted: Vec<_> = all.iter().map(|row| row.id).collect();
    equal(talk.get(&wanted).await?, all)
}

async fn gets_from_all_sessions_of_the_owner(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut wanted = ids(&talk.say(&["one", "two"]).await?);
    let other = talk.beside("other")?;
    wanted.extend(ids(&other.say(&["three"]).await?));
    wanted.reverse();
    let rows = talk.get(&wanted).await?;
    equal(texts(&rows), ["three", "two", "one"])?;
    let sessions: Vec<_> = rows.iter().map(|row| row.session.name()).collect();
    equal(sessions, ["other", "s", "s"])
}

async fn skips_absent_forgotten_and_foreign_ids_alike(bed: Bed<Chat>) -> Scene {
    let (ada, bob) = (Talk::plain(&bed)?, Talk::new(&bed, "bob", "s")?);
    let mine = ids(&ada.say(&["one", "two", "three"]).await?);
    let foreign = ids(&bob.say(&["secret"]).await?);
    let forgotten: Vec<_> = mine.iter().copied().skip(1).take(1).collect();
    ada.chat.store().redact(&ada.scope, &forgotten).await?;
    let mut wanted = vec![MessageId::fresh()];
    wanted.extend(mine);
    wanted.extend(foreign);
    equal(texts(&ada.get(&wanted).await?), ["one", "three"])
}

async fn tells_which_ids_were_forgotten(bed: Bed<Chat>) -> Scene {
    let (ada, bob) = (Talk::plain(&bed)?, Talk::new(&bed, "bob", "s")?);
    let mut wanted = ids(&ada.say(&["one", "two"]).await?);
    let foreign = ids(&bob.say(&["secret"]).await?);
    let forgotten: Vec<_> = wanted.iter().copied().take(1).collect();
    ada.chat.store().redact(&ada.scope, &forgotten).await?;
    bob.chat.store().redact(&bob.scope, &foreign).await?;
    wanted.extend(foreign);
    wanted.push(MessageId::fresh());
    let found = ada.chat.store().get(&ada.scope, &wanted).await?;
    equal((texts(&found.messages), found.forgotten), (vec!["two".to_owned()], forgotten))
}

async fn an_empty_list_gets_nothing(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    equal(talk.get(&[]).await?, [])
}

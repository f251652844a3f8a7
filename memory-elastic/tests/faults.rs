//! Real faults of real servers, and races against an erasure.

#[path = "faults/limits.rs"]
mod limits;
mod probe;
#[path = "faults/server.rs"]
mod server;
#[path = "faults/upkeep.rs"]
mod upkeep;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::{Epoch, Error, Fields, Filter, ItemId, MessageId, Scope, Seq, SessionId, Timestamp, Unit, Version};
use memory_elastic::ElasticText;
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, equal};
use serde_json::json;
use uuid::Uuid;

use probe::probe;
use server::{Admin, open, open_within};

fn entry(number: u64, epoch: u64) -> memory_core::Result<TextEntry> {
    let mut fields = Fields::of_span(&SessionId::new("s")?, Seq(1), Timestamp(0));
    fields.unit = Unit::Message;
    Ok(TextEntry {
        item: ItemId::Message(MessageId(Uuid::from_u64_pair(0, number))),
        version: Version { epoch: Epoch(epoch), revision: 1 },
        own: vec![(Term::new("river")?, 1)],
        near: Vec::new(),
        fields,
    })
}

async fn count(text: &ElasticText, scope: &Scope) -> memory_core::Result<usize> {
    let query = TextQuery { terms: vec![Term::new("river")?], unit: Unit::Message, filter: Filter::All, limit: 10_000 };
    Ok(text.search(scope, &query).await?.hits.len())
}

/// Passes if the call failed, and trying again can help or not, as said.
fn fails<T>(what: &str, answer: memory_core::Result<T>, can_pass: bool) -> Scene {
    let Err(error) = answer else { return Err(Failure::new(format!("{what}: no error"))) };
    check!(error.is_retryable() == can_pass, "{what}: {error:?}");
    Ok(())
}

/// Each fault that an operator or a full disk brings about, one after the other on one server.
async fn faults_of_an_index_are_typed_and_pass_when_they_are_mended(servers: Servers) -> Scene {
    let server = servers.own("elastic")?.start().await?;
    let (text, scope) = (open(server.url(), "faults").await?, Scope::new("f", "ada")?);
    let admin = Admin::of(server.url(), "faults");
    let put = async |number| text.put(&scope, &[entry(number, 0)?], Visibility::OnReturn).await;
    equal(put(1).await?.len(), 0)?;

    let blocks = ["blocks.read_only_allow_delete", "blocks.write", "blocks.read_only"];
    for (number, block) in (2..).zip(blocks) {
        admin.set_index(&json!({ block: true })).await?;
        fails(block, put(number).await, true)?;
        equal(count(&text, &scope).await?, usize::try_from(number).unwrap_or(0) - 1)?;
        admin.set_index(&json!({ block: null })).await?;
        equal(put(number).await?.len(), 0)?;
    }

    admin.set_cluster(&json!({ "network.breaker.inflight_requests.limit": "2kb" })).await?;
    let many = (100..150).map(|number| entry(number, 0)).collect::<memory_core::Result<Vec<_>>>()?;
    // Servers read a bulk piece by piece, and so do not run out of room for it; a search they read as a whole.
    let terms = (0..200).map(|number| Term::new(&format!("word{number}"))).collect::<memory_core::Result<Vec<_>>>()?;
    let wide = TextQuery { terms, unit: Unit::Message, filter: Filter::All, limit: 10 };
    fails("the breaker", text.search(&scope, &wide).await, true)?;
    admin.set_cluster(&json!({ "network.breaker.inflight_requests.limit": null })).await?;
    equal(text.put(&scope, &many, Visibility::OnReturn).await?.len(), 0)?;
    equal(count(&text, &scope).await?, 54)?;

    admin.post("_close").await?;
    fails("a closed index", put(1).await, false)?;
    admin.post("_open").await?;
    admin.wait().await?;
    equal(count(&text, &scope).await?, 54)?;

    admin.delete().await?;
    for found in [count(&text, &scope).await.map(|_| ()), put(1).await.map(|_| ())] {
        check!(matches!(found, Err(Error::Corrupt { .. })), "a missing index: {found:?}");
    }
    let anew = open(server.url(), "faults").await?;
    equal(count(&anew, &scope).await?, 0)?;
    equal(put(1).await?.len(), 0)?;
    equal(count(&text, &scope).await?, 1)
}

async fn s3_8_a_frozen_server_is_told_in_time_and_a_killed_one_keeps_what_it_acknowledged(servers: Servers) -> Scene {
    let mut server = servers.own("elastic")?.start().await?;
    let (text, scope) = (open_within(server.url(), "kill", Duration::from_secs(10)).await?, Scope::new("f", "ada")?);
    for number in 0..20 {
        let entries: memory_core::Result<Vec<_>> = (0..10).map(|next| entry(10 * number + next, 0)).collect();
        equal(text.put(&scope, &entries?, Visibility::AfterFlush).await?.len(), 0)?;
    }
    server.stop().await?;
    let frozen = tokio::time::timeout(Duration::from_secs(60), text.ping()).await;
    fails("a frozen server", frozen.map_err(|_| Failure::new("no answer in a minute"))?, true)?;
    server.cont().await?;
    text.flush().await?;
    equal(count(&text, &scope).await?, 200)?;
    server.kill().await?;
    fails("a killed server", text.put(&scope, &[entry(1_000, 0)?], Visibility::OnReturn).await, true)?;
    fails("a killed server", count(&text, &scope).await, true)?;
    server.restart().await?;
    let admin = Admin::of(server.url(), "kill");
    admin.wait().await?;
    equal(count(&text, &scope).await?, 200)?;
    equal(text.put(&scope, &[entry(1_000, 0)?], Visibility::OnReturn).await?.len(), 0)?;
    equal(count(&text, &scope).await?, 201)
}

/// Writers of the old epoch go on while the owner is erased: nothing of theirs is left, findable or not.
async fn erasing_under_fire_leaves_nothing_behind(servers: Servers) -> Scene {
    let url = servers.url("elastic")?;
    let prefix = format!("fire{}", Uuid::now_v7().simple());
    let (text, scope) = (Arc::new(open(&url, &prefix).await?), Scope::new("f", "ada")?);
    let admin = Admin::of(&url, &prefix);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8u64 {
        let (text, scope) = (Arc::clone(&text), scope.clone());
        writers.spawn(async move {
            for step in 0..25 {
                let old = entry(1_000 * writer + step, 0)?;
                text.put(&scope, &[old, entry(10_000, 1)?], Visibility::AfterFlush).await?;
            }
            Ok::<_, Error>(())
        });
    }
    let mut removed = 0;
    for _ in 0..3 {
        let erased = text.erase(&scope, Epoch(1)).await?;
        equal(erased.remaining, 0)?;
        removed += erased.removed;
        equal(admin.older_than(1).await?, 0)?;
    }
    while let Some(ended) = writers.join_next().await {
        ended.map_err(|stopped| Failure::new(stopped.to_string()))??;
    }
    text.flush().await?;
    equal(admin.older_than(1).await?, 0)?;
    check!(removed <= 200, "{removed} removed");
    // The entry of the new epoch stays.
    equal(count(&text, &scope).await?, 1)?;
    admin.delete().await
}

/// The server is told to forget deleted documents at once, as it does after a minute by itself.
async fn an_erasure_outlives_the_servers_memory_of_what_was_deleted(servers: Servers) -> Scene {
    let url = servers.url("elastic")?;
    let prefix = format!("forget{}", Uuid::now_v7().simple());
    let (text, scope) = (open(&url, &prefix).await?, Scope::new("f", "ada")?);
    let admin = Admin::of(&url, &prefix);
    admin.set_index(&json!({ "gc_deletes": "0ms" })).await?;
    equal(text.put(&scope, &[entry(1, 0)?], Visibility::OnReturn).await?.len(), 0)?;
    equal(text.erase(&scope, Epoch(1)).await?.removed, 1)?;
    admin.forgets(&text, &entry(2, 1)?, &scope).await?;
    text.put(&scope, &[entry(1, 0)?], Visibility::OnReturn).await?;
    let again = open(&url, &prefix).await?;
    again.put(&scope, &[entry(1, 0)?], Visibility::OnReturn).await?;
    equal(admin.older_than(1).await?, 0)?;
    equal(count(&again, &scope).await?, 0)?;
    admin.delete().await
}

/// An index that was deleted or emptied tells another incarnation, and takes entries again.
async fn an_index_that_was_deleted_or_emptied_tells_another_incarnation(servers: Servers) -> Scene {
    let url = servers.url("elastic")?;
    let prefix = format!("lost{}", Uuid::now_v7().simple());
    let (text, scope) = (open(&url, &prefix).await?, Scope::new("f", "ada")?);
    let admin = Admin::of(&url, &prefix);
    let whole = text.incarnation().await?;
    equal(open(&url, &prefix).await?.incarnation().await?, whole)?;
    admin.delete().await?;
    let deleted = text.incarnation().await?;
    equal(text.put(&scope, &[entry(1, 0)?], Visibility::OnReturn).await?.len(), 0)?;
    equal((count(&text, &scope).await?, text.incarnation().await?), (1, deleted))?;
    admin.forget_incarnation().await?;
    let emptied = text.incarnation().await?;
    check!(whole != deleted && deleted != emptied && whole != emptied, "{whole:?}, {deleted:?}, {emptied:?}");
    equal(open(&url, &prefix).await?.incarnation().await?, emptied)?;
    admin.delete().await
}

fn main() -> ExitCode {
    Suite::new("elastic-faults")
        .service(Service::elastic(), probe)
        .alone(
            "faults_of_an_index_are_typed_and_pass_when_they_are_mended",
            faults_of_an_index_are_typed_and_pass_when_they_are_mended,
        )
        .alone(
            "s3_8_a_frozen_server_is_told_in_time_and_a_killed_one_keeps_what_it_acknowledged",
            s3_8_a_frozen_server_is_told_in_time_and_a_killed_one_keeps_what_it_acknowledged,
        )
        .alone("s3_8_a_memory_goes_on_without_its_index_of_words_and_it_follows", upkeep::follows)
        .test(
            "an_index_that_was_deleted_or_emptied_tells_another_incarnation",
            an_index_that_was_deleted_or_emptied_tells_another_incarnation,
        )
        .test("an_index_that_was_deleted_is_full_again_without_a_command", upkeep::fills_again)
        .test("erasing_under_fire_leaves_nothing_behind", erasing_under_fire_leaves_nothing_behind)
        .test(
            "an_erasure_outlives_the_servers_memory_of_what_was_deleted",
            an_erasure_outlives_the_servers_memory_of_what_was_deleted,
        )
        .test("what_is_put_or_deleted_waits_for_no_interval", limits::what_is_put_or_deleted_waits_for_no_interval)
        .test(
            "hits_that_are_too_long_for_one_answer_are_read_in_parts",
            limits::hits_that_are_too_long_for_one_answer_are_read_in_parts,
        )
        .run()
}

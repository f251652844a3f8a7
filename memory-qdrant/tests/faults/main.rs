//! What callers see when a server fails, and what it keeps: on servers that are killed, frozen and told to fail.

mod collections;
mod erasures;
mod headers;
mod kills;
mod neighbours;
mod upkeep;

use std::process::ExitCode;
use std::time::Duration;

use ::qdrant_client::Qdrant as Driver;
use memory_core::store::Health;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Fields, Filter, ItemId, RecordId, Result, Scope, Seq, SessionId, Timestamp, Unit, Version};
use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory_testkit::services::Service;
use memory_testkit::{Failure, Scene, Suite, check};
use uuid::Uuid;

/// The patience of a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The dimension of every vector here.
const DIMENSION: usize = 8;

/// What an owner without entries has.
const NOTHING: [i64; 0] = [];

fn main() -> ExitCode {
    Suite::new("qdrant-faults")
        .service(Service::qdrant(), probe)
        .test("an_opened_collection_is_whole_whoever_made_it", collections::whole)
        .test("vectors_of_another_space_are_a_mismatch_and_stay", collections::mismatch)
        .test("a_collection_of_another_application_is_left_alone", collections::foreign)
        .test("a_collection_that_was_deleted_is_made_again_when_opened_again", collections::deleted)
        .test("a_collection_that_was_dropped_or_emptied_tells_another_incarnation", collections::lost)
        .test("the_largest_filters_that_core_lets_pass_are_answered", collections::filters)
        .test("a_put_that_races_an_erasure_is_never_found", erasures::race)
        .test("what_a_dead_writer_left_behind_an_erasure_is_hidden_and_erased", erasures::left_behind)
        .test("a_put_that_is_repeated_clears_away_what_it_left_behind_an_erasure", erasures::repeated)
        .test("of_erasures_at_once_the_highest_stays", erasures::at_once)
        .test("faults_that_may_pass_are_told_from_those_that_do_not", headers::codes)
        .test("a_write_that_was_only_taken_is_not_done", headers::acknowledged)
        .test("a_put_that_was_stored_in_part_is_repeated_whole", headers::partial)
        .test("an_owner_beside_a_thousand_others_is_answered_as_if_alone", neighbours::thousand)
        .test("a_collection_that_was_emptied_is_full_again_without_a_command", upkeep::fills_again)
        .alone("nothing_acknowledged_is_missing_after_kills", kills::acknowledged)
        .alone("a_frozen_server_costs_no_more_than_the_time_limit", kills::frozen)
        .alone("another_key_is_refused_for_good_and_shown_nowhere", kills::key)
        .alone("a_memory_goes_on_without_its_vectors_and_they_follow", upkeep::follows)
        .run()
}

async fn probe(url: String) -> Result<Health> {
    Qdrant::connect(QdrantConfig::new(url).with_timeout(PATIENCE)).await?.ping().await
}

/// Returns the way to a server with room for a busy machine, under a prefix of its own.
fn config(url: impl Into<String>) -> QdrantConfig {
    QdrantConfig::new(url).with_prefix(prefix()).with_timeout(PATIENCE).with_write_timeout(PATIENCE)
}

fn prefix() -> String {
    format!("faults-{}", Uuid::now_v7().simple())
}

fn space() -> EmbeddingSpace {
    let (model, recipe) = ("test".to_owned(), "plain-1".to_owned());
    EmbeddingSpace { model, dimension: DIMENSION, normalised: false, recipe }
}

async fn open(config: QdrantConfig) -> Result<QdrantVectors> {
    QdrantVectors::open(&Qdrant::connect(config).await?, space()).await
}

/// Returns the client itself, to look at the server and to change it behind the adapter.
fn driver(url: &str) -> std::result::Result<Driver, Failure> {
    let built = Driver::from_url(url).skip_compatibility_check().timeout(PATIENCE).build();
    built.map_err(|error| Failure::new(error.to_string()))
}

/// Gives the client's answers to a scenario.
fn told<T>(answer: std::result::Result<T, ::qdrant_client::QdrantError>) -> std::result::Result<T, Failure> {
    answer.map_err(|error| Failure::new(error.to_string()))
}

fn owner(name: &str) -> Result<Scope> {
    Scope::new(&Uuid::now_v7().to_string(), name)
}

fn item(number: u64) -> ItemId {
    ItemId::Record(RecordId::of_content(&number.to_le_bytes()))
}

/// Returns an entry of the first epoch: its number is its time, and turns its vector.
fn entry(number: u64) -> Result<VectorEntry> {
    let mut fields = Fields::of_span(&SessionId::new("s")?, Seq(1), Timestamp(i64::try_from(number).unwrap_or(0)));
    fields.unit = Unit::Record;
    let mut piece = vec![0.1; DIMENSION];
    piece.iter_mut().take(2).for_each(|part| *part = 1.0 + number as f32);
    let version = Version { epoch: Epoch(0), revision: 1 };
    Ok(VectorEntry { item: item(number), version, pieces: vec![piece], fields })
}

async fn put(store: &QdrantVectors, scope: &Scope, entries: &[VectorEntry]) -> Scene {
    let rejected = store.put(scope, entries, Visibility::OnReturn).await?;
    check!(rejected.is_empty(), "{rejected:?}");
    Ok(())
}

fn query(limit: usize) -> VectorQuery {
    let vector = vec![1.0; DIMENSION];
    VectorQuery { space: space(), vector, filter: Filter::All, limit, floor: None, with_vectors: false }
}

/// Returns the numbers of everything that an owner has, in order.
async fn found(store: &QdrantVectors, scope: &Scope) -> Result<Vec<i64>> {
    let hits = store.search(scope, &query(50_000)).await?;
    let mut found: Vec<i64> = hits.iter().map(|hit: &VectorHit| hit.fields.at.0).collect();
    found.sort_unstable();
    Ok(found)
}

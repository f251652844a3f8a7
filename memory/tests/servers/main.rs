//! What only several servers together can show: the truth in Postgres, vectors in Qdrant, words in Elasticsearch, a cache
//! in Redis; what is moved there; what is reached by URLs alone, and by how many connections; sieges of each backend by two
//! processes; and a journal before Postgres.

mod bytes;
mod cluster;
mod dump;
mod erasure;
mod journal;
mod moved;
mod places;
mod pools;
mod process;
mod siege;
mod waits;

use std::process::ExitCode;

use memory_testkit::Suite;
use memory_testkit::services::Service;

fn main() -> ExitCode {
    if let Some(ended) = siege::process().or_else(journal::process).or_else(erasure::killed::process) {
        return ended;
    }
    Suite::new("memory")
        .service(Service::postgres(), places::truth)
        .service(Service::redis(), places::cache)
        .service(Service::elastic(), places::words)
        .service(Service::qdrant(), places::meanings)
        .test("s3_8_a_context_waits_twice_for_four_servers", waits::twice)
        .test("a_cache_adds_one_wait_before_the_two_and_saves_the_embedding", waits::with_a_cache)
        .test("o17_what_was_moved_is_indexed_by_servers_item_by_item", moved::indexed_alike)
        .test("conversations_and_records_share_the_connections_that_a_url_allows", pools::hold)
        .test("sqlite_agrees_with_itself_after_a_siege", siege::sqlite)
        .test("postgres_agrees_with_itself_after_a_siege", siege::postgres)
        .test("redis_and_its_indexes_agree_after_a_siege", siege::redis)
        .test("truth_and_qdrant_agree_after_a_siege", siege::qdrant)
        .test("truth_and_elasticsearch_agree_after_a_siege", siege::elastic)
        .test("a_siege_finds_what_was_acknowledged_and_is_lost", siege::forgetful)
        .test("an_erasure_that_ends_with_its_process_at_any_moment_is_completed", erasure::killed::completed)
        .alone("an_erasure_outlives_each_server_stopping_midway", erasure::outlives)
        .alone("o8_no_server_tells_a_byte_of_an_erased_owner", erasure::leaves_no_byte)
        .alone("s3_6_what_a_journal_acknowledged_survives_kills_of_process_and_server", journal::survives_kills)
        .alone("s3_6_a_journal_outlasts_an_outage_under_load", journal::outlasts_an_outage)
        .alone("s3_6_a_memory_begins_without_its_server_and_drains_later", journal::begins_without_its_server)
        .alone("s3_6_whatever_a_server_answers_that_takes_nothing_messages_are_queued", journal::answers::queue)
        .alone("s3_6_a_crowd_before_few_connections_is_queued", journal::answers::crowded)
        .alone("s3_6_a_server_whose_disk_is_full_loses_nothing_that_was_queued", journal::full::is_outlasted)
        .alone("s3_6_appends_go_on_while_a_server_stands_still_and_no_call_is_stuck", journal::away::stands_still)
        .alone("s3_6_a_shutdown_under_load_while_its_server_is_away_loses_nothing", journal::away::is_shut_down)
        .alone("s3_6_while_every_server_is_away_messages_are_queued_up_to_the_bound", journal::away::fills_the_journal)
        .alone("a_cluster_is_opened_by_its_url", cluster::opened)
        .run()
}

//! What only several servers together can show: the truth in Postgres, vectors in Qdrant, words in Elasticsearch, a cache
//! in Redis; and what is reached by URLs alone.

mod cluster;
mod dump;
mod erasure;
mod places;
mod waits;

use std::process::ExitCode;

use memory_testkit::Suite;
use memory_testkit::services::Service;

fn main() -> ExitCode {
    Suite::new("memory")
        .service(Service::postgres(), places::truth)
        .service(Service::redis(), places::cache)
        .service(Service::elastic(), places::words)
        .service(Service::qdrant(), places::meanings)
        .test("a_context_waits_twice_for_four_servers", waits::twice)
        .test("a_cache_adds_one_wait_before_the_two_and_saves_the_embedding", waits::with_a_cache)
        .alone("an_erasure_outlives_each_server_stopping_midway", erasure::outlives)
        .alone("a_cluster_is_opened_by_its_url", cluster::opened)
        .run()
}

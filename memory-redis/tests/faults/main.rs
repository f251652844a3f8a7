//! Servers that are killed, stopped, restarted, full or set up wrongly: what was acknowledged is there, once and in order.

mod board;
mod cache;
mod cached;
mod erase;
mod kill;
mod large;
mod lists;
mod notes;
mod outage;
mod protocol;
mod purge;
mod settings;
mod support;

use std::process::ExitCode;

use memory_testkit::Suite;
use memory_testkit::services::Service;

fn main() -> ExitCode {
    Suite::new("redis-faults")
        .service(Service::redis(), support::probe)
        .alone("kills_lose_duplicate_and_reorder_nothing_acknowledged", kill::kills)
        .alone("answers_cut_off_at_any_byte_lead_to_each_message_once", kill::cut_answers)
        .alone("the_newer_protocol_serves_conversations_upkeep_cache_and_board", protocol::newer)
        .alone("large_messages_are_read_in_steps", large::in_steps)
        .alone("a_restart_of_the_server_heals_the_connection", outage::restart)
        .alone("a_stopped_server_delays_no_call_beyond_its_timeout", outage::stopped)
        .alone("a_connection_that_leads_nowhere_is_made_anew", outage::silent)
        .alone("servers_that_evict_messages_are_refused_as_truth", settings::evicting)
        .alone("durability_is_what_the_server_is_set_up_for", settings::durability)
        .alone("a_full_memory_refuses_messages_and_loses_none", settings::full)
        .alone("a_full_disk_refuses_messages_and_loses_none", settings::full_disk)
        .alone("a_cache_that_evicts_gives_misses_only", cache::evicting)
        .alone("a_flushed_cache_gives_misses_only_and_goes_on", cache::flushed)
        .alone("a_cache_that_is_killed_gives_errors_and_misses_only", cache::killed)
        .alone("a_cache_is_erased_while_other_entries_go", cache::erased)
        .alone("a_killed_cache_before_truth_fails_no_read_and_serves_nothing_stale", cached::killed)
        .alone("a_stopped_cache_before_truth_delays_no_call_for_long_and_serves_nothing_stale", cached::stopped)
        .alone("a_board_of_which_a_part_was_evicted_takes_every_put_and_shows_nothing_expired", board::evicted)
        .alone("notes_that_cannot_be_read_hold_up_no_other_owner", notes::damaged)
        .alone("owners_that_a_failover_took_off_the_lists_are_found_again", lists::lost)
        .alone("an_owner_that_is_found_again_is_told_which_indexes_there_are", lists::missed)
        .alone("a_first_write_learns_of_an_index_that_is_enlisted_meanwhile", lists::first_write)
        .alone("an_erasure_leaves_no_key_of_a_session_that_was_deleted_and_begun_anew", erase::begun_anew)
        .alone("a_purge_leaves_no_byte_of_what_was_erased", purge::purge)
        .run()
}

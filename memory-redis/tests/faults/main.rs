//! Servers that are killed, stopped, restarted, full or set up wrongly: what was acknowledged is there, once and in order.

mod access;
mod board;
mod cache;
mod cached;
mod changed;
mod deleted;
mod erase;
mod half;
mod kill;
mod large;
mod lists;
mod notes;
mod outage;
mod pair;
mod protocol;
mod purge;
mod settings;
mod support;
mod torn;

use std::process::ExitCode;

use memory_testkit::Suite;
use memory_testkit::services::Service;

fn main() -> ExitCode {
    Suite::new("redis-faults")
        .service(Service::redis(), support::probe)
        .alone("kills_lose_duplicate_and_reorder_nothing_acknowledged", kill::kills)
        .alone("an_append_of_which_the_server_kept_the_beginning_is_stored_whole", torn::append)
        .alone("a_note_of_which_the_server_kept_the_beginning_is_none", torn::note)
        .alone("any_beginning_of_an_append_whose_place_was_taken_counts_for_nothing", torn::beside)
        .alone("any_beginning_of_a_first_append_is_no_session", torn::first)
        .alone("any_beginning_of_what_stands_where_rows_are_restored_counts_for_nothing", torn::restored)
        .alone("any_beginning_of_a_note_is_given_up_and_revived_once", torn::dead)
        .alone("any_beginning_of_a_settlement_that_puts_a_note_off_leaves_it_due_once", torn::retried)
        .alone("any_beginning_of_a_revival_leaves_a_note_due_once", torn::revived)
        .alone("any_beginning_of_an_enlistment_is_completed_by_another", torn::enlisted)
        .alone("any_beginning_of_a_deletion_spares_what_was_said_since", deleted::deleted)
        .alone("any_beginning_of_a_deletion_is_completed_by_another", deleted::deleted_again)
        .alone("any_beginning_of_a_deletion_in_front_of_a_settlement_is_noted_again", deleted::deleted_and_settled)
        .alone("any_part_of_a_clearing_spares_a_session_that_was_begun_anew", deleted::cleared)
        .alone("any_part_of_a_clearing_leaves_no_row_of_another_session", deleted::cleared_beside)
        .alone("any_beginning_of_an_erasure_spares_what_was_said_since_and_leaves_no_key", deleted::erased)
        .alone("any_beginning_of_a_burial_buries_nothing_that_lives", deleted::buried)
        .alone("any_beginning_of_a_fold_loses_nothing_and_is_forgotten_with_what_it_covers", changed::folded)
        .alone("any_beginning_of_a_fold_in_front_of_another_is_forgotten_with_what_it_covers", changed::folded_beside)
        .alone("any_beginning_of_a_forgetting_in_front_of_other_writes_is_completed", changed::forgotten_beside)
        .alone("any_beginning_of_a_forgetting_is_completed_by_another", changed::forgotten)
        .alone("any_beginning_of_the_forgetting_of_a_summary_is_completed_by_another", changed::forgotten_summary)
        .alone("any_beginning_of_an_unfolding_is_completed_by_another", changed::unfolded)
        .alone("any_beginning_of_an_unfolding_in_front_of_a_fold_keeps_nothing_forgotten", changed::unfolded_beside)
        .alone("answers_cut_off_at_any_byte_lead_to_each_message_once", kill::cut_answers)
        .alone("the_newer_protocol_serves_conversations_upkeep_cache_and_board", protocol::newer)
        .alone("large_messages_are_read_in_steps", large::in_steps)
        .alone("a_restart_of_the_server_heals_the_connection", outage::restart)
        .alone("a_stopped_server_delays_no_call_beyond_its_timeout", outage::stopped)
        .alone("a_connection_that_leads_nowhere_is_made_anew", outage::silent)
        .alone("servers_that_evict_messages_are_refused_as_truth", settings::evicting)
        .alone("durability_is_what_the_server_is_set_up_for", settings::durability)
        .alone("a_full_memory_refuses_messages_and_loses_none", settings::full)
        .alone("a_full_memory_refuses_no_forgetting_and_no_erasure", settings::full_and_forgetting)
        .alone("a_full_disk_refuses_messages_and_loses_none", settings::full_disk)
        .alone("a_cache_that_evicts_gives_misses_only", cache::evicting)
        .alone("a_flushed_cache_gives_misses_only_and_goes_on", cache::flushed)
        .alone("a_cache_that_is_killed_gives_errors_and_misses_only", cache::killed)
        .alone("a_cache_is_erased_while_other_entries_go", cache::erased)
        .alone("a_killed_cache_before_truth_fails_no_read_and_serves_nothing_stale", cached::killed)
        .alone("a_stopped_cache_before_truth_delays_no_call_for_long_and_serves_nothing_stale", cached::stopped)
        .alone("a_board_of_which_a_part_was_evicted_takes_every_put_and_shows_nothing_expired", board::evicted)
        .alone("a_board_is_read_while_the_server_takes_no_writes", board::full)
        .alone("the_rights_that_the_manual_names_are_enough_for_everything", access::rights)
        .alone("notes_that_cannot_be_read_hold_up_no_other_owner", notes::damaged)
        .alone("notes_that_cannot_be_read_take_no_room_from_others", notes::damaged_in_part)
        .alone("owners_that_a_failover_took_off_the_lists_are_found_again", lists::lost)
        .alone("what_others_put_on_the_lists_holds_up_no_owner", lists::strangers)
        .alone("an_owner_that_is_found_again_is_told_which_indexes_there_are", lists::missed)
        .alone("a_first_write_learns_of_an_index_that_is_enlisted_meanwhile", lists::first_write)
        .alone("a_first_write_follows_no_index_that_is_retired_meanwhile", lists::first_write_beside_retirement)
        .alone("an_index_whose_retirement_was_cut_off_follows_nobody_for_ever", lists::half_retired)
        .alone("an_index_that_cannot_be_read_holds_up_no_other", lists::illegible)
        .alone("an_erasure_leaves_no_key_of_a_session_that_was_deleted_and_begun_anew", erase::begun_anew)
        .alone("an_owner_erased_while_an_index_is_enlisted_leaves_no_name_of_a_session", erase::half_enlisted)
        .alone("an_owner_erased_between_two_steps_of_an_enlistment_leaves_no_name_either", erase::enlisted_meanwhile)
        .alone("a_purge_leaves_no_byte_of_what_was_erased", purge::purge)
        .run()
}

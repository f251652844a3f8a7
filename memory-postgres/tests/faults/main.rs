//! What faults of a PostgreSQL server do to writers, and that the second wall stands.

#[path = "../support.rs"]
mod support;

mod front;
mod kills;
mod limits;
mod pooler;
mod settings;
mod starting;
mod states;
mod storm;
mod versions;
mod walls;
mod writers;

use std::process::ExitCode;

use memory_testkit::Suite;
use memory_testkit::services::Service;

fn main() -> ExitCode {
    Suite::new("faults")
        .service(Service::postgres(), support::probe)
        .test("a_query_that_forgets_its_where_sees_one_owner", walls::forgotten)
        .test("nobody_writes_a_row_of_another_owner", walls::foreign)
        .test("a_superuser_is_told_of_the_wall", walls::told)
        .test("a_schema_that_strangers_may_change_is_refused", walls::strangers)
        .test("nothing_is_made_in_a_schema_that_others_may_change", walls::open_schemas)
        .test("a_migration_that_others_overtook_is_done", versions::overtaken)
        .test("a_migration_with_an_earlier_number_than_others_is_done", versions::unnamed)
        .test("a_schema_of_a_version_that_kept_no_counters_is_opened", versions::counting)
        .test("rows_that_erasures_at_once_left_are_deleted", versions::lost)
        .test("rights_on_the_tables_of_an_earlier_version_are_enough", versions::earlier_rights)
        .test("eight_may_create_one_schema_at_once", writers::create)
        .test("two_pools_write_one_session_without_gaps", writers::together)
        .alone("no_session_keeps_what_a_connection_has_set_or_locked", pooler::sessions)
        .alone("a_build_whose_connection_was_dropped_without_a_word_ends", pooler::dropped)
        .alone("a_call_of_many_rows_may_take_as_long_as_the_deadline", limits::bulk)
        .alone("bytes_in_statements_are_read_alike_whatever_a_role_has_set", settings::strings)
        .alone("what_was_acknowledged_survives_kills", kills::killed)
        .alone("calls_end_in_time_while_the_server_stands_still", kills::stopped)
        .alone("no_transaction_is_left_open_by_dropped_calls", storm::dropped)
        .alone("more_tasks_than_connections_wait_their_turn", writers::crowded)
        .alone("what_others_were_in_the_way_of_is_tried_again", states::repeated)
        .alone("deadlocks_are_not_seen", states::deadlocked)
        .alone("an_id_that_is_taken_meanwhile_is_a_conflict", states::taken)
        .alone("faults_that_pass_are_told_as_such", states::passing)
        .alone("a_durability_class_is_no_older_than_a_minute", settings::durability)
        .alone("a_server_that_starts_is_told_as_such_and_waited_for", starting::starting)
        .alone("a_server_that_shuts_down_is_told_as_such_and_tried_again", starting::shutting_down)
        .run()
}

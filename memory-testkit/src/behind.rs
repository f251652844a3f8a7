//! Conversations behind a journal, to be played as any conversation store.

use std::sync::Arc;
use std::time::Duration;

use memory_core::layer::{WriteBehind, WriteBehindPolicy};
use memory_core::methods::*;

use crate::{Chat, Journals};

/// How long the notes of what waits are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a scenario is not kept behind a journal.
const QUEUED: &str = "an append answers Queued: the primary numbers it later";
const REPEATS: &str = "whether an append repeats an earlier one is known once it is sent, so until then it counts";
const LATER: &str = "whether an id is taken by other content is known once it is sent: then it is set aside";
const OTHERS: &str = "what waits is in the journal of one process, and no other sees it";

/// The scenarios of conversation stores that one behind a journal does not keep, and why.
pub(crate) const GAPS: &[(&str, &str)] = &[
    ("chat::numbers_messages_in_order_without_gaps", QUEUED),
    ("chat::answers_already_to_a_repeat", QUEUED),
    ("chat::a_repeat_with_another_token_count_changes_nothing", QUEUED),
    ("chat::tells_new_from_old_in_a_mixed_batch", QUEUED),
    ("chat::takes_an_id_twice_in_a_batch_as_two_appends", QUEUED),
    ("chat::takes_one_id_of_two_owners_for_two_messages", QUEUED),
    ("chat::takes_the_largest_batches", QUEUED),
    ("chat::knows_odd_messages_again", QUEUED),
    ("chat::a_repeat_of_another_counter_changes_no_count", QUEUED),
    ("chat::numbers_restart_and_the_generation_goes_on", QUEUED),
    ("chat::ids_of_a_deleted_session_are_free_again", QUEUED),
    ("chat::ids_of_an_erased_owner_are_free_again", QUEUED),
    ("chat::a_read_gives_the_fence_that_an_append_needs", QUEUED),
    ("chat::ids_and_numbers_of_forgotten_messages_stay_taken", QUEUED),
    ("chat::append_is_repeated_after_a_lost_answer", QUEUED),
    ("chat::restores_under_another_name", QUEUED),
    ("chat::a_restored_marker_keeps_its_id_taken", QUEUED),
    ("chat::appends_go_on_behind_restored_rows", QUEUED),
    ("chat::thirty_two_identical_appends_store_one", QUEUED),
    ("chat::s2_9_reads_any_history_as_the_model_does", REPEATS),
    ("chat::moves_any_history_to_another_owner", REPEATS),
    ("chat::a_failed_append_notes_nothing", LATER),
    ("memory::s0_21_what_was_said_is_in_the_next_context", OTHERS),
    ("memory::s0_5_summaries_that_are_switched_off_fold_nothing", OTHERS),
    ("memory::a_replacement_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call", OTHERS),
    ("memory::a_fork_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call", OTHERS),
    ("chat::what_one_opening_writes_another_reads", OTHERS),
    ("chat::a_burial_fences_handles_of_other_openings", OTHERS),
    ("chat::a_write_notes_itself_in_the_same_step", OTHERS),
    ("chat::an_enlisting_in_steps_notes_everything_once", OTHERS),
];

/// Puts a journal before conversations. Notes are the primary's, so whoever asks for notes has what waits sent first.
///
/// # Errors
/// That of the journal.
pub(crate) async fn behind(primary: Chat, journal: Journals) -> Result<Chat> {
    let layer = WriteBehind::open(primary, journal, WriteBehindPolicy::default()).await?;
    Ok(layer.chat().layered_upkeep(|inner| Arc::new(Drained { inner, layer: Arc::clone(&layer) })))
}

/// An upkeep that is asked once nothing waits.
#[derive(Debug)]
struct Drained {
    inner: Arc<dyn Upkeep>,
    layer: Arc<WriteBehind>,
}

/// Hands calls on; those of an owner's epoch at once, the others once nothing waits.
macro_rules! drained {
    ({} Store { $($plain:ident() -> $given:ty;)* } calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    } Upkeep {} calls {
        $($upkeep_kind:ident $upkeep_doing:literal $upkeep:ident($($given_to:ident: $of:ty),*) -> $back:ty;)*
    }) => {
        #[async_trait]
        impl Store for Drained {
            $(fn $plain(&self) -> $given {
                self.inner.$plain()
            })*
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                self.inner.$method($($argument),*).await
            })*
        }
        #[async_trait]
        impl Upkeep for Drained {
            $(async fn $upkeep(&self, $($given_to: $of),*) -> Result<$back> {
                drained!(@ self $upkeep);
                self.inner.$upkeep($($given_to),*).await
            })*
        }
    };
    (@ $self:ident bury) => {};
    (@ $self:ident epoch) => {};
    (@ $self:ident $other:ident) => {
        $self.layer.drain(PATIENCE).await;
    };
}

memory_core::store_methods!(Store, Upkeep => drained {});

//! The settings of the tiers behind the buffer, of contexts over them, and of how long things are kept.

use super::{Key, keys};
use crate::settings::key::Kind::{Flag, Place, Share, Time, Whole, Word};
use crate::settings::key::Part;

keys! { TIERS;
    MAX_MEMORY "working.max_memory_mb" [] []
        Whole(1), "64",
        "The most MiB that the notes of all owners take together.";
    FIFO_INTERVAL "working.fifo_interval_min" [] []
        Time, "5",
        "How often expired notes are swept, in minutes.";
    NOTE_HALF_LIFE "working.half_life_hours" [] []
        Time, "24",
        "The age at which the newness of a note counts half, in hours, where a ranking goes by age.";
    DIMENSION "working.vector_dimension" [] []
        Whole(1), "the embedder's",
        "How many numbers a vector has; refused if the embedder has another number.";
    PERSISTENT "persistent.enabled" [] []
        Flag, "true",
        "Whether anything outlives the process. Without it the truth is in this process, gone when it ends.";
    PROVIDER "persistent.provider" [] []
        Word(&["sqlite", "postgres", "postgresql", "redis"]), "sqlite",
        "The kind of place; `connection_string` has to be of it.";
    TRUTH "persistent.connection_string" ["url"] ["MEMORY_URL"]
        Place(Part::Truth), "none",
        "Where the truth is: `sqlite:PATH` or a path, `postgres://…`, `redis://…`, `memory:`.";
    ISOLATION "persistent.user_isolation" [] []
        Flag, "true",
        "Isolation of owners. It cannot be switched off.";
    MOST_RECORDS "persistent.max_records" [] []
        Whole(1), "all",
        "How many records of each owner are kept: those that matter most.";
    SYNOPSIS "synopsis.enabled" [] []
        Flag, "true where this section says anything",
        "Whether a synopsis is kept of every owner.";
    IDENTITY_TTL "synopsis.identity_ttl" [] []
        Time, "604800",
        "How long what tells who the owner is stays good, in seconds.";
    CONTEXT_TTL "synopsis.context_ttl" [] []
        Time, "3600",
        "How long what tells what the owner is about stays good, in seconds.";
    REFRESH "synopsis.refresh_on_access" [] []
        Flag, "true",
        "Whether each use lets a half be good for its time anew.";
    IDENTITY_AGE "synopsis.identity_max_age" [] []
        Time, "2592000",
        "The age at which who the owner is is told anew in any case, in seconds.";
    CONTEXT_AGE "synopsis.context_max_age" [] []
        Time, "86400",
        "The age at which what the owner is about is told anew in any case, in seconds.";
    SYNOPSIS_TOKENS "synopsis.max_tokens" [] []
        Whole(100), "1000",
        "The most tokens that a synopsis takes in a context.";
    CONTEXT_RECALL "context.recall" [] []
        Whole(0), "5",
        "How many items of conversations and records it recalls.";
    CONTEXT_NOTES "context.notes" [] []
        Whole(0), "5",
        "How many notes it recalls.";
    CONTEXT_RECALL_TOKENS "context.recall_tokens" [] []
        Whole(0), "4000",
        "The most tokens that recalled items take; they never take more than a third.";
    CONTEXT_RESERVE "context.reserve" ["initial_token_count"] []
        Whole(0), "0",
        "The tokens that are kept free of a budget that keeps none free itself.";
    CONTEXT_SHARE "context.model_share" [] []
        Share, "0.75",
        "The share of what a model reads that a context for it may have.";
    CONTEXT_UNKNOWN "context.unknown_model_tokens" [] []
        Whole(1), "3000",
        "The tokens of a context for a model that nobody knows or names.";
    GATE "gate.enabled" [] []
        Flag, "true where this section says anything",
        "Whether what is remembered passes a gate, unless it brings one of its own.";
    NOVELTY "gate.novelty" ["threshold"] []
        Share, "0.18",
        "What is less new than this repeats a record.";
    REPEAT "gate.repeat" [] []
        Word(&["reinforce", "skip"]), "reinforce",
        "What becomes of a repetition: one more telling of the record, or nothing.";
    AGENT_TOKENS "agents.capacity_tokens" ["token_cap"] []
        Whole(1), "1000",
        "How many tokens it holds.";
    AGENT_THRESHOLD "agents.threshold" [] []
        Share, "0.8",
        "The share of these at which its oldest entries are to be summarised.";
    KEEP_DAYS "retention.max_age_days" [] []
        Time, "for ever",
        "The age from which messages are forgotten, in days.";
    KEEP_MESSAGES "retention.max_messages" [] []
        Whole(1), "all",
        "How many of the newest messages of each conversation are kept.";
    KEEP_BYTES "retention.max_bytes" [] []
        Whole(1), "all",
        "How many bytes of each conversation are kept.";
    KEEP_RECORD_DAYS "retention.max_record_age_days" [] []
        Time, "for ever",
        "The age from which records are forgotten, in days.";
}

//! The settings of a conversation's buffer.

use super::{Key, keys};
use crate::settings::key::Kind::{Flag, Model, Share, Time, Weight, Whole, Word};

keys! { BUFFER;
    PRESET "buffer.preset" [] []
        Word(&["none", "balanced", "high_recall", "conversational"]), "none",
        "Sizes and ranking of MUXI's presets; what else is said here replaces theirs.";
    WINDOW "buffer.window_messages" ["max_size"] []
        Whole(1), "the budget decides",
        "The most messages that a context shows word for word, and that are read as recent (10 unless said).";
    CAPACITY "buffer.capacity_messages" [] []
        Whole(1), "no bound",
        "How many of its newest messages a search of a conversation looks at.";
    BUFFER_MULTIPLIER "buffer.buffer_multiplier" [] []
        Whole(1), "none",
        "Says `capacity_messages` as a multiple of `window_messages`.";
    SUMMARIZE_AFTER "buffer.summarize_after" ["size"] []
        Whole(1), "as `capacity_messages`",
        "The number of messages above which the oldest leave the window.";
    MAX_SUMMARIES "buffer.max_summaries" [] []
        Whole(1), "500",
        "The number of summaries above which the oldest are merged.";
    MULTIPLIER "buffer.multiplier" [] []
        Whole(1), "none",
        "Says `max_summaries` as a multiple of `summarize_after`.";
    MERGE "buffer.merge_summaries" [] []
        Whole(2), "10",
        "How many summaries are merged into one.";
    SUMMARY_TOKENS "buffer.summary_tokens" [] []
        Whole(32), "512",
        "The most tokens of one summary.";
    SUMMARY_SHARE "buffer.summary_share" [] []
        Share, "0.25",
        "The share of the limit that summaries may take.";
    LIMIT "buffer.limit_tokens" ["token_limit"] []
        Whole(1), "30,000, or the largest budget asked for",
        "The tokens that the window should stay below.";
    FOLDING "buffer.folding" [] []
        Word(&["summaries", "archive", "off"]), "summaries",
        "What becomes of the oldest messages of a full window: a summary, nothing in their place, or they stay.";
    FOLD_AT "buffer.fold_at" ["threshold"] []
        Share, "0.8",
        "The share of the limit at which folding begins.";
    FOLD_TO "buffer.fold_to" [] []
        Share, "0.5",
        "The share of the limit at which folding ends.";
    ADAPTIVE "buffer.adaptive_threshold" [] []
        Flag, "false",
        "Whether folding begins where a turn as large as the largest still fits.";
    KEEP_TURNS "buffer.keep_turns" [] []
        Whole(1), "4",
        "How many of the newest turns stay word for word.";
    OVERSIZE "buffer.oversize" [] []
        Word(&["error", "truncate_middle", "keep"]), "error",
        "What happens if the last turn alone does not fit. The program cuts out its middle unless this says otherwise.";
    STABLE "buffer.stable_prefix" [] []
        Flag, "false",
        "Whether contexts begin alike for many turns, for prompt caches.";
    RANKING "buffer.ranking" [] []
        Word(&["zscore", "rrf", "min_max", "muxi", "kari", "weighted"]), "zscore",
        "How the answers of the indexes are fused.";
    RECENCY_WEIGHT "buffer.recency_weight" ["recency_bias"] []
        Share, "0.3 with muxi, 0.35 with kari, 0.1 with weighted",
        "How much newness counts, with a preset or one of these rankings.";
    TEXT_WEIGHT "buffer.text_weight" [] []
        Weight, "1, or 0.4 with min_max and weighted",
        "How much the index of words counts in the ranking.";
    VECTOR_WEIGHT "buffer.vector_weight" [] []
        Weight, "0.95, 1 with rrf, or 0.6 with min_max and weighted",
        "How much the index of meaning counts in the ranking.";
    IMPORTANCE_WEIGHT "buffer.importance_weight" [] []
        Weight, "0.1",
        "How much importance counts, with the ranking weighted.";
    RRF_K "buffer.rrf_k" [] []
        Weight, "10",
        "The constant `k` of the ranking rrf: a larger one makes the first ranks stand out less.";
    HALF_LIFE "buffer.half_life_seconds" [] []
        Time, "2495.33 with kari, 1197758.328 with weighted",
        "The age at which newness counts half, in seconds. Presets and muxi go by the order in time where it is not said.";
    CANDIDATES "buffer.candidates" [] []
        Whole(1), "100, or 24 with kari",
        "The fewest candidates that each index is asked for, with a preset, muxi or kari.";
    VECTOR_SEARCH "buffer.vector_search" [] []
        Flag, "true",
        "Whether search is by meaning too.";
    EMBEDDING_MODEL "buffer.embedding_model" [] []
        Model(&["openai", "ollama", "azure"], &["static", "ollama"]), "static",
        "Who embeds: a table inside the program, or a model over HTTP, such as `openai/text-embedding-3-small`.";
}

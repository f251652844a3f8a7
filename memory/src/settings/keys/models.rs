//! The settings of models over HTTP. A key is sent to the server named beside it, or to its vendor, and to nobody else.

use super::{Key, keys};
use crate::settings::key::Kind::{Model, Secret, Text, Time, Whole};

keys! { MODELS;
    EMBEDDING_URL "embedding.base_url" [] []
        Text, "the vendor's",
        "Where the model is asked, if that is another server than the vendor's.";
    EMBEDDING_KEY "embedding.api_key" [] []
        Secret, "none",
        "The key.";
    EMBEDDING_DEADLINE "embedding.deadline_seconds" [] []
        Time, "120",
        "How long a call may take, over all attempts, in seconds. For the vector of a question a search waits no longer than for an \
         index, and upkeep waits 30 seconds and one more for each text.";
    EMBEDDING_RETRIES "embedding.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that may help.";
    EMBEDDING_CONCURRENCY "embedding.concurrency" [] []
        Whole(1), "8",
        "How many requests are under way at once, at most 1024.";
    EMBEDDING_RATE "embedding.requests_per_minute" [] []
        Whole(1), "as the server allows",
        "How many requests are made in a minute at most, evenly spread.";
    SUMMARIZER_MODEL "summarizer.model" [] []
        Model(&["openai", "azure", "anthropic", "ollama"], &["extractive"]), "extractive",
        "Who summarises: first and last sentences without a model, or a model over HTTP.";
    SUMMARIZER_URL "summarizer.base_url" [] []
        Text, "the vendor's",
        "Where the model is asked, if that is another server than the vendor's.";
    SUMMARIZER_KEY "summarizer.api_key" [] []
        Secret, "none",
        "The key.";
    SUMMARIZER_DEADLINE "summarizer.deadline_seconds" [] []
        Time, "60",
        "How long a summary may take, over all attempts, in seconds, at most 60.";
    SUMMARIZER_RETRIES "summarizer.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that may help.";
    SUMMARIZER_CONCURRENCY "summarizer.concurrency" [] []
        Whole(1), "8",
        "How many requests are under way at once, at most 1024.";
    SUMMARIZER_RATE "summarizer.requests_per_minute" [] []
        Whole(1), "as the server allows",
        "How many requests are made in a minute at most, evenly spread.";
    SUMMARIZER_WINDOW "summarizer.window_tokens" [] []
        Whole(4096), "32768",
        "How many tokens a model of Ollama may hold at once; it is asked for as many as it needs.";
    RERANKER_MODEL "reranker.model" [] []
        Model(&["cohere", "jina", "tei"], &["none"]), "none",
        "Who judges; other servers of the same shape by `cohere/MODEL` with a `base_url`.";
    RERANKER_URL "reranker.base_url" [] []
        Text, "the vendor's",
        "Where the model is asked, if that is another server than the vendor's.";
    RERANKER_KEY "reranker.api_key" [] []
        Secret, "none",
        "The key.";
    RERANKER_DEADLINE "reranker.deadline_seconds" [] []
        Time, "10",
        "How long judging may take, over all attempts, in seconds: at most, and where nothing is said, `search.patience_seconds`.";
    RERANKER_RETRIES "reranker.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that may help.";
    RERANKER_CONCURRENCY "reranker.concurrency" [] []
        Whole(1), "8",
        "How many requests are under way at once, at most 1024.";
    RERANKER_RATE "reranker.requests_per_minute" [] []
        Whole(1), "as the server allows",
        "How many requests are made in a minute at most, evenly spread.";
    EXTRACTOR_MODEL "extractor.model" [] []
        Model(&["openai", "azure", "anthropic", "ollama"], &["none", "rules"]), "none",
        "Who finds facts: nobody, rules for a few sentences in five languages, or a model over HTTP.";
    EXTRACTOR_URL "extractor.base_url" [] []
        Text, "the vendor's",
        "Where the model is asked, if that is another server than the vendor's.";
    EXTRACTOR_KEY "extractor.api_key" [] []
        Secret, "none",
        "The key.";
    EXTRACTOR_DEADLINE "extractor.deadline_seconds" [] []
        Time, "50",
        "How long finding the facts of 16 messages may take, in seconds, at most 60.";
    EXTRACTOR_RETRIES "extractor.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that may help.";
    EXTRACTOR_CONCURRENCY "extractor.concurrency" [] []
        Whole(1), "8",
        "How many requests are under way at once, at most 1024.";
    EXTRACTOR_RATE "extractor.requests_per_minute" [] []
        Whole(1), "as the server allows",
        "How many requests are made in a minute at most, evenly spread.";
    EXTRACTOR_WINDOW "extractor.window_tokens" [] []
        Whole(4096), "32768",
        "How many tokens a model of Ollama may hold at once; it is asked for as many as it needs.";
    EXTRACTOR_PROMPT "extractor.prompt_tokens" [] []
        Whole(1000), "8000",
        "How many tokens of messages and known records a request has at most; long messages are cut.";
    CHAT_MODEL "chat.model" [] []
        Model(&["openai", "azure", "anthropic", "ollama"], &["none"]), "none",
        "Who answers in `memory chat`: nobody, or a model over HTTP. The options of the command count more.";
    CHAT_URL "chat.base_url" [] []
        Text, "the vendor's",
        "Where the model is asked, if that is another server than the vendor's.";
    CHAT_KEY "chat.api_key" [] []
        Secret, "none",
        "The key.";
    CHAT_DEADLINE "chat.deadline_seconds" [] []
        Time, "600",
        "How long an answer may take, over all attempts, in seconds.";
    CHAT_RETRIES "chat.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that may help.";
    CHAT_CONCURRENCY "chat.concurrency" [] []
        Whole(1), "8",
        "How many requests are under way at once, at most 1024.";
    CHAT_RATE "chat.requests_per_minute" [] []
        Whole(1), "as the server allows",
        "How many requests are made in a minute at most, evenly spread.";
}

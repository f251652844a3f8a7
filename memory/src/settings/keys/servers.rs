//! The settings of places: indexes, cache, boards, the journal, and the servers behind them.

use super::{Key, keys};
use crate::settings::key::Kind::{Flag, Place, Secret, Text, Time, Whole};
use crate::settings::key::Part;

keys! { SERVERS;
    TEXT "search.text_url" [] ["MEMORY_TEXT_URL"]
        Place(Part::Text), "beside the truth",
        "Where the index of words is; `elastic:` for the server of section `elastic`.";
    VECTORS "search.vectors_url" [] ["MEMORY_VECTORS_URL"]
        Place(Part::Vectors), "beside the truth",
        "Where the index of meaning is; `qdrant:` and `elastic:` for the servers of these sections.";
    PATIENCE "search.patience_seconds" [] []
        Time, "10",
        "How long a search waits for an index before it answers without it, in seconds.";
    KEPT_VECTORS "search.kept_vectors" [] []
        Whole(0), "1000",
        "How many vectors of texts stay in this process, so that nothing is embedded twice.";
    SHARE_VECTORS "search.share_vectors" [] []
        Flag, "false",
        "Whether owners share these vectors. An answer that comes sooner then tells that somebody asked the same.";
    HITS "search.limit" ["top_k"] []
        Whole(1), "10",
        "How many hits a search returns where nobody says how many.";
    TOUCH "search.count_access" [] []
        Flag, "true",
        "Whether recalled records count as accessed.";
    CACHE "cache.url" [] ["MEMORY_CACHE_URL"]
        Place(Part::Cache), "none",
        "Where the cache is: `redis://…` or `memory:`.";
    CACHE_TTL "cache.ttl_seconds" [] []
        Time, "60",
        "How long messages and records are cached, in seconds.";
    CACHE_VECTORS_TTL "cache.vectors_ttl_seconds" [] []
        Time, "3600",
        "How long vectors of questions are cached, in seconds.";
    BOARD "blackboard.url" [] ["MEMORY_BOARD_URL"]
        Place(Part::Board), "beside a truth in Redis, else in this process",
        "Where boards are: `redis://…` or `memory:`.";
    BOARD_ENTRIES "blackboard.capacity" [] []
        Whole(1), "100",
        "How many entries a board holds.";
    BOARD_REFRESH "blackboard.refresh_on_access" [] []
        Flag, "true",
        "Whether a get or a hit keeps an entry on a full board. All processes that share a board should say the same.";
    JOURNAL "journal.path" ["buffer_path"] ["SESSION_BUFFER_PATH"]
        Text, "no journal",
        "The file of the journal.";
    FLUSH_BATCH "journal.flush_batch" ["buffer_size"] ["SESSION_FLUSH_BATCH", "SESSION_BUFFER_SIZE"]
        Whole(1), "20",
        "How many messages of a conversation may wait in it.";
    FLUSH_BYTES "journal.flush_bytes" [] []
        Whole(1), "1048576",
        "How many bytes of a conversation may wait in it.";
    FLUSH_SECONDS "journal.flush_seconds" [] ["SESSION_FLUSH_SECONDS"]
        Time, "5",
        "How long a message may wait in it, in seconds.";
    JOURNAL_MESSAGES "journal.max_messages" [] []
        Whole(1), "100000",
        "How many messages it takes at most, of all conversations.";
    JOURNAL_BYTES "journal.max_bytes" [] []
        Whole(1), "67108864",
        "How many bytes of messages it takes at most, of all conversations.";
    DEADLINE "guard.deadline_seconds" [] []
        Time, "6",
        "The deadline of a call, over all attempts, in seconds.";
    BULK_DEADLINE "guard.bulk_deadline_seconds" [] []
        Time, "60",
        "The deadline of a large call, such as an erasure, in seconds.";
    RETRIES "guard.retries" [] []
        Whole(0), "2",
        "How often a call is tried again where that is safe.";
    FAILURES "guard.failures" [] []
        Whole(1), "5",
        "How many failures in a row make the guard refuse calls for a while.";
    CONCURRENCY "guard.concurrency" [] []
        Whole(1), "32",
        "How many calls run at once.";
    QUEUE "guard.queue" [] []
        Whole(0), "256",
        "How many more calls may wait.";
    ELASTIC_HOST "elastic.host" [] ["ELASTIC_HOST"]
        Text, "none: switched off",
        "The host, perhaps with `http://` or `https://` before it.";
    ELASTIC_PORT "elastic.port" [] ["ELASTIC_PORT"]
        Whole(1), "9200",
        "The port.";
    ELASTIC_USER "elastic.user" [] ["ELASTIC_USER"]
        Text, "none",
        "The user.";
    ELASTIC_PASSWORD "elastic.password" [] ["ELASTIC_PASSWORD"]
        Secret, "none",
        "The user's password.";
    ELASTIC_INDEX "elastic.index" [] ["ELASTIC_INDEX"]
        Text, "kari_memory",
        "What the names of indexes begin with.";
    QDRANT_URL "qdrant.url" [] ["QDRANT_URL"]
        Text, "none: switched off",
        "The address of the gRPC port, such as `http://localhost:6334`.";
    QDRANT_KEY "qdrant.api_key" [] ["QDRANT_API_KEY"]
        Secret, "none",
        "The key, where the server asks for one.";
    QDRANT_PREFIX "qdrant.prefix" [] ["QDRANT_PREFIX"]
        Text, "memory",
        "What the names of collections begin with.";
}

//! What settings must not say together.

use memory_core::rank::Ranking;

use super::key::Key;
use super::keys::{
    BUFFER_MULTIPLIER, BULK_DEADLINE, CANDIDATES, CAPACITY, CHAT_KEY, CHAT_MODEL, CHAT_URL, CONTEXT_AGE, CONTEXT_TTL,
    DIMENSION, ELASTIC_HOST, ELASTIC_INDEX, ELASTIC_PASSWORD, ELASTIC_PORT, ELASTIC_USER, EMBEDDING_KEY,
    EMBEDDING_MODEL, EMBEDDING_URL, EXTRACTOR_DEADLINE, EXTRACTOR_KEY, EXTRACTOR_MODEL, EXTRACTOR_URL,
    EXTRACTOR_WINDOW, FOLD_AT, FOLD_TO, HALF_LIFE, IDENTITY_AGE, IDENTITY_TTL, IMPORTANCE_WEIGHT, ISOLATION,
    MAX_SUMMARIES, MULTIPLIER, PATIENCE, PERSISTENT, PROVIDER, QDRANT_KEY, QDRANT_PREFIX, QDRANT_URL, RANKING,
    RECENCY_WEIGHT, RERANKER_DEADLINE, RERANKER_KEY, RERANKER_MODEL, RERANKER_URL, RRF_K, STABLE, SUMMARIZE_AFTER,
    SUMMARIZER_DEADLINE, SUMMARIZER_KEY, SUMMARIZER_MODEL, SUMMARIZER_URL, SUMMARIZER_WINDOW, TEXT, TEXT_WEIGHT, TRUTH,
    VECTOR_SEARCH, VECTOR_WEIGHT, VECTORS, WINDOW,
};
use super::values::Values;
use super::{addresses, build, keys};
use crate::backend::{Backend, is_collection, is_index};

/// What bounds the requests to a model, by its name in the section of that model's server.
const BOUNDS: [&str; 5] = ["deadline_seconds", "prompt_tokens", "retries", "concurrency", "requests_per_minute"];

/// What is wrong with a key, beside others, and how it is put right.
pub(super) struct Wrong {
    pub(super) key: &'static Key,
    pub(super) what: String,
    pub(super) remedy: String,
}

fn wrong_key(key: &'static Key, what: impl Into<String>, remedy: impl Into<String>) -> Option<Wrong> {
    Some(Wrong { key, what: what.into(), remedy: remedy.into() })
}

/// Returns all that is wrong.
pub(super) fn wrong(values: &Values) -> Vec<Wrong> {
    let checks = [
        isolation, place, window, capacity, summaries, folding, recency, ranked, weights, stable, deadlines, ages,
        vectors, elastic, port, held, awaited, qdrant, names, dimension, passwords,
    ];
    let found = checks.iter().filter_map(|check| check(values));
    found.chain(models(values)).collect()
}

fn isolation(values: &Values) -> Option<Wrong> {
    let is_off = values.flag(&ISOLATION) == Some(false);
    is_off.then(|| wrong_key(&ISOLATION, "owners are always kept apart", "leave it out, or say true"))?
}

fn place(values: &Values) -> Option<Wrong> {
    if values.flag(&PERSISTENT) == Some(false) && values.has(&TRUTH) && !values.is_ambient(&TRUTH) {
        return wrong_key(&PERSISTENT, "nothing persists, but a place is named", "leave one of them out");
    }
    let provider = values.text(&PROVIDER)?;
    let Some(place) = values.text(&TRUTH) else {
        let remedy = format!("say where: `connection_string: {}`", example(provider));
        return (provider != "sqlite").then(|| wrong_key(&PROVIDER, "no place of it is named", remedy))?;
    };
    let (kind, named) = (Backend::of(place).ok()?.name(), provider.trim_end_matches("ql"));
    (kind != named).then(|| {
        let remedy = format!("say `provider: {kind}`, or name a place such as {}", example(provider));
        wrong_key(&PROVIDER, format!("the place is one of {kind}"), remedy)
    })?
}

fn example(provider: &str) -> &'static str {
    match provider {
        "postgres" | "postgresql" => "postgres://app@db/memory",
        "redis" => "redis://db",
        _ => "sqlite:memory.sqlite",
    }
}

fn window(values: &Values) -> Option<Wrong> {
    let buffer = build::buffer(values);
    let window = buffer.window_messages?;
    if let Some(capacity) = buffer.capacity_messages.filter(|capacity| window > *capacity) {
        let key = if values.has(&WINDOW) { &WINDOW } else { &CAPACITY };
        let what = format!("a window of {window} messages is above the capacity of {capacity}");
        return wrong_key(key, what, "make `capacity_messages` larger, or the window smaller");
    }
    let after = buffer.summarize_after.filter(|after| window > *after)?;
    let what = format!("a window of {window} messages is above {after}, from which on the oldest leave it");
    wrong_key(&SUMMARIZE_AFTER, what, "make `summarize_after` larger, or the window smaller")
}

fn capacity(values: &Values) -> Option<Wrong> {
    values.whole(&BUFFER_MULTIPLIER)?;
    if values.has(&CAPACITY) {
        return wrong_key(&BUFFER_MULTIPLIER, "`capacity_messages` says this already", "leave one of them out");
    }
    (!values.has(&WINDOW)).then(|| wrong_key(&BUFFER_MULTIPLIER, "of what?", "say `window_messages` too"))?
}

fn summaries(values: &Values) -> Option<Wrong> {
    values.whole(&MULTIPLIER)?;
    if values.has(&MAX_SUMMARIES) {
        return wrong_key(&MULTIPLIER, "`max_summaries` says this already", "leave one of them out");
    }
    let has_number = [&SUMMARIZE_AFTER, &CAPACITY, &BUFFER_MULTIPLIER].into_iter().any(|key| values.has(key));
    (!has_number).then(|| wrong_key(&MULTIPLIER, "of what?", "say `summarize_after` too"))?
}

fn folding(values: &Values) -> Option<Wrong> {
    let (at, to) = (values.number(&FOLD_AT), values.number(&FOLD_TO));
    let (key, other) = if to.is_some() { (&FOLD_TO, "fold_at") } else { (&FOLD_AT, "fold_to") };
    let (at, to) = (at.unwrap_or(0.8), to.unwrap_or(0.5));
    (to >= at)
        .then(|| wrong_key(key, "folding would end above where it begins", format!("see `{other}`: {at} to {to}")))?
}

fn recency(values: &Values) -> Option<Wrong> {
    values.number(&RECENCY_WEIGHT)?;
    let has_preset = values.text(&super::keys::PRESET).is_some_and(|preset| preset != "none");
    let counts = match values.text(&RANKING) {
        Some(ranking) => matches!(ranking, "muxi" | "kari" | "weighted"),
        None => has_preset,
    };
    let remedy = "say `ranking: muxi` too, or a preset";
    (!counts).then(|| wrong_key(&RECENCY_WEIGHT, "this ranking does not weigh newness", remedy))?
}

/// Numbers of rankings that the one chosen does not go by.
fn ranked(values: &Values) -> Option<Wrong> {
    let ranking = build::buffer(values).ranking;
    let is_blend = matches!(ranking, Ranking::Blend { .. });
    let is_weighted = matches!(ranking, Ranking::Weighted { .. });
    let adds = "say a `ranking` that adds up what the indexes say, such as zscore";
    let numbers = [
        (&TEXT_WEIGHT, !is_blend, adds),
        (&VECTOR_WEIGHT, !is_blend, adds),
        (&IMPORTANCE_WEIGHT, is_weighted, "say `ranking: weighted` too"),
        (&RRF_K, matches!(ranking, Ranking::Rrf { .. }), "say `ranking: rrf` too"),
        (&HALF_LIFE, is_blend || is_weighted, "say `ranking: kari` too, or muxi or weighted"),
        (&CANDIDATES, is_blend, "say `ranking: kari` too, or muxi"),
    ];
    let (key, _, remedy) = numbers.into_iter().find(|(key, counts, _)| values.has(key) && !counts)?;
    wrong_key(key, "this ranking does not go by it", remedy)
}

fn weights(values: &Values) -> Option<Wrong> {
    let has_meaning = values.flag(&VECTOR_SEARCH) != Some(false) && values.number(&VECTOR_WEIGHT) != Some(0.0);
    let is_mute = values.number(&TEXT_WEIGHT) == Some(0.0) && !has_meaning;
    let remedy = "let one of the indexes weigh something";
    is_mute.then(|| wrong_key(&TEXT_WEIGHT, "nothing would be found", remedy))?
}

fn stable(values: &Values) -> Option<Wrong> {
    let both = values.flag(&STABLE) == Some(true) && build::buffer(values).window_messages.is_some();
    let remedy = "leave out `window_messages`, and a preset, which says it too";
    both.then(|| wrong_key(&STABLE, "a window of so many messages moves with each message", remedy))?
}

fn deadlines(values: &Values) -> Option<Wrong> {
    let bulk = values.number(&BULK_DEADLINE)?;
    let is_less = bulk < build::guards(values).deadline.as_secs_f64();
    let remedy = "make it larger, or `deadline_seconds` smaller";
    is_less.then(|| wrong_key(&BULK_DEADLINE, "a large call would have less time than a small one", remedy))?
}

fn ages(values: &Values) -> Option<Wrong> {
    let halves =
        [(&IDENTITY_TTL, 604_800.0, &IDENTITY_AGE, 2_592_000.0), (&CONTEXT_TTL, 3_600.0, &CONTEXT_AGE, 86_400.0)];
    halves.into_iter().find_map(|(ttl, usual, age, oldest)| {
        let (good, most) = (values.number(ttl).unwrap_or(usual), values.number(age).unwrap_or(oldest));
        let key = if values.has(ttl) { ttl } else { age };
        let remedy = format!("make `{}` larger, or `{}` smaller", age.name(), ttl.name());
        (good > most).then(|| wrong_key(key, "a half would be good for longer than it may be old", remedy))?
    })
}

fn vectors(values: &Values) -> Option<Wrong> {
    let is_off = values.flag(&VECTOR_SEARCH) == Some(false);
    let key = [&EMBEDDING_MODEL, &VECTORS].into_iter().find(|key| values.has(key) && !values.is_ambient(key))?;
    is_off.then(|| wrong_key(key, "search by meaning is off", "leave this out, or `vector_search: false`"))?
}

fn elastic(values: &Values) -> Option<Wrong> {
    let is_named = values.has(&ELASTIC_USER) || values.text(&ELASTIC_HOST).is_some_and(|host| host.contains('@'));
    let is_bare = values.has(&ELASTIC_PASSWORD) && !is_named;
    is_bare.then(|| wrong_key(&ELASTIC_PASSWORD, "whose password?", "say `user` too"))?
}

fn port(values: &Values) -> Option<Wrong> {
    let is_none = values.whole(&ELASTIC_PORT)? > u64::from(u16::MAX);
    let key = if values.has(&ELASTIC_PORT) { &ELASTIC_PORT } else { &ELASTIC_HOST };
    is_none.then(|| wrong_key(key, "there is no such port", "a port is at most 65535"))?
}

fn qdrant(values: &Values) -> Option<Wrong> {
    let url = values.text(&QDRANT_URL)?;
    if let Some((what, remedy)) = addresses::of_qdrant(url) {
        return wrong_key(&QDRANT_URL, what, remedy);
    }
    let is_told = values.has(&QDRANT_KEY) && addresses::is_open(url);
    is_told.then(|| wrong_key(&QDRANT_KEY, "this key would go over the network in clear", "name a `url` of https"))?
}

/// Names that the servers refuse.
fn names(values: &Values) -> Option<Wrong> {
    if values.text(&ELASTIC_INDEX).is_some_and(|name| !is_index(name)) {
        let remedy = "small ASCII letters, digits, - and _, at most 128, the first a letter or a digit";
        return wrong_key(&ELASTIC_INDEX, "no index has such a name", remedy);
    }
    let is_other = values.text(&QDRANT_PREFIX).is_some_and(|name| !is_collection(name));
    let remedy = "ASCII letters, digits, - and _, at most 200";
    is_other.then(|| wrong_key(&QDRANT_PREFIX, "no collection has such a name", remedy))?
}

fn dimension(values: &Values) -> Option<Wrong> {
    let is_beyond = values.whole(&DIMENSION)? > 65_536;
    is_beyond.then(|| wrong_key(&DIMENSION, "no vector has so many numbers", "a vector has at most 65536"))?
}

/// Passwords of Elasticsearch that would go over the network in clear.
fn passwords(values: &Values) -> Option<Wrong> {
    let what = "a password would go over the network in clear";
    let has_user = values.has(&ELASTIC_USER) || values.text(&ELASTIC_HOST).is_some_and(|host| host.contains('@'));
    if has_user && values.text(&ELASTIC_HOST).is_some_and(addresses::is_open) {
        return wrong_key(&ELASTIC_HOST, what, "begin with `https://`, or with the name alone");
    }
    let key = [&TEXT, &VECTORS].into_iter().find(|key| values.text(key).is_some_and(addresses::tells_password))?;
    wrong_key(key, what, "write `elastic+https://`")
}

fn held(values: &Values) -> Option<Wrong> {
    let parts = [(&SUMMARIZER_MODEL, &SUMMARIZER_WINDOW), (&EXTRACTOR_MODEL, &EXTRACTOR_WINDOW)];
    let is_told = |model: &Key| values.text(model).is_some_and(|model| model.starts_with("ollama/"));
    let (_, idle) = parts.into_iter().find(|(model, window)| values.has(window) && !is_told(model))?;
    let what = "only a model of Ollama is told how much it may hold";
    wrong_key(idle, what, "leave it out, or say `model: ollama/MODEL`")
}

fn awaited(values: &Values) -> Option<Wrong> {
    let patience = values.number(&PATIENCE).unwrap_or(10.0);
    let minute = "say 60 or less";
    let waits = [
        (&EXTRACTOR_DEADLINE, 60.0, "a memory waits for an extractor one minute", minute),
        (&SUMMARIZER_DEADLINE, 60.0, "a memory waits for a summary one minute", minute),
        (&RERANKER_DEADLINE, patience, "a search does not wait that long", "make `search.patience_seconds` larger"),
    ];
    let is_beyond = |key, most| values.number(key).is_some_and(|said| said > most);
    let (key, _, what, remedy) = waits.into_iter().find(|(key, most, ..)| is_beyond(key, *most))?;
    wrong_key(key, what, remedy)
}

/// Servers and keys of models that nobody asks, and models of servers that nobody named.
fn models(values: &Values) -> Vec<Wrong> {
    let parts = [
        (&EMBEDDING_MODEL, &EMBEDDING_URL, &EMBEDDING_KEY),
        (&SUMMARIZER_MODEL, &SUMMARIZER_URL, &SUMMARIZER_KEY),
        (&RERANKER_MODEL, &RERANKER_URL, &RERANKER_KEY),
        (&EXTRACTOR_MODEL, &EXTRACTOR_URL, &EXTRACTOR_KEY),
        (&CHAT_MODEL, &CHAT_URL, &CHAT_KEY),
    ];
    let mut found = Vec::new();
    for (model, url, key) in parts {
        let provider = values.text(model).map(|model| model.split_once('/').map_or(model, |(provider, _)| provider));
        let is_asked = !matches!(provider, None | Some("static" | "extractive" | "none" | "rules"));
        let bounds = keys::all().filter(|one| one.section() == url.section() && BOUNDS.contains(&one.name()));
        if let Some(unused) = [url, key].into_iter().chain(bounds).find(|unused| !is_asked && values.has(unused)) {
            found.extend(wrong_key(unused, "no model is asked there", format!("say `{}` too", model.path)));
        }
        let flaw = values.text(url).filter(|_| is_asked).and_then(|text| addresses::of_model(text, url.name()));
        if let Some((what, remedy)) = flaw {
            found.extend(wrong_key(url, what, remedy));
        }
        if values.text(key).is_some_and(|text| is_asked && !addresses::is_key(text)) {
            let remedy = "it holds a line break, or a character that is not ASCII";
            found.extend(wrong_key(key, "this key cannot be sent", remedy));
        }
        if matches!(provider, Some("azure" | "tei")) && !values.has(url) {
            let remedy = format!("say where: `{}`", url.path);
            found.extend(wrong_key(model, "this provider is asked at an address of your own", remedy));
        }
    }
    found
}

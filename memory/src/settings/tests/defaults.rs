//! The defaults that the table names are those of the code.

use memory_core::rank::{Ranking, Recency, Weights};

use super::table::made;
use super::*;
use crate::settings::key::Kind;
use crate::settings::keys::{CANDIDATES, HALF_LIFE, RECENCY_WEIGHT, TEXT_WEIGHT, VECTOR_WEIGHT};

/// Returns what is said beside a key so that it counts.
fn beside(path: &str) -> &'static str {
    match path {
        "buffer.importance_weight" => "ranking: weighted",
        "buffer.rrf_k" => "ranking: rrf",
        _ if path.starts_with("synopsis.") || path.starts_with("gate.") => "enabled: true",
        _ => "",
    }
}

#[test]
fn s1_19_a_file_that_says_a_default_makes_what_one_makes_that_does_not() {
    // What servers and models go by where nothing is said, they know themselves.
    let others = [keys::sections_of_models(), vec!["elastic", "qdrant"]].concat();
    let mut compared = 0;
    for key in keys::all() {
        let is_value = !matches!(key.kind, Kind::Text | Kind::Secret | Kind::Place(_) | Kind::Model(..));
        let is_ours = !others.contains(&key.section());
        if !is_value || !is_ours || key.kind.read(key.default).is_err() {
            continue;
        }
        let read = |line: &str| {
            let lines: Vec<&str> = [beside(key.path), line].into_iter().filter(|line| !line.is_empty()).collect();
            let yaml = format!("memory: {{ {}: {{ {} }} }}", key.section(), lines.join(", "));
            Settings::from_yaml(&yaml, |_| None).unwrap()
        };
        let (said, unsaid) = (read(&format!("{}: {}", key.name(), key.default)), read(""));
        assert!(said.values.has(key), "{}", key.path);
        match key.section() {
            "blackboard" => assert_eq!(build::boards(&said.values), build::boards(&unsaid.values), "{}", key.path),
            _ => assert_eq!(made(&said), made(&unsaid), "{}", key.path),
        }
        assert_eq!(said.truth(), unsaid.truth(), "{}", key.path);
        compared += 1;
    }
    assert!(compared > 55, "{compared}");
}

#[test]
fn s1_19_the_defaults_of_rankings_are_those_that_the_table_names() {
    let ranking = |name: &str| {
        let yaml = format!("memory: {{ buffer: {{ ranking: {name} }} }}");
        Settings::from_yaml(&yaml, |_| None).unwrap().buffer().ranking
    };
    let weights = |name: &str| match ranking(name) {
        Ranking::ZScore(weights) | Ranking::MinMax(weights) => weights,
        Ranking::Rrf { weights, .. } | Ranking::Weighted { weights, .. } => weights,
        other => panic!("{other:?} has no weights"),
    };
    let [zscore, rrf, min_max, weighted] = ["zscore", "rrf", "min_max", "weighted"].map(weights);
    assert_eq!((zscore.text, min_max), (rrf.text, weighted));
    let Weights { text, vector } = min_max;
    assert_eq!(TEXT_WEIGHT.default, format!("{}, or {text} with min_max and weighted", zscore.text));
    let (first, second) = (zscore.vector, rrf.vector);
    assert_eq!(VECTOR_WEIGHT.default, format!("{first}, {second} with rrf, or {vector} with min_max and weighted"));
    let newness = |name: &str| match ranking(name) {
        Ranking::Blend { recency_weight, recency, .. } | Ranking::Weighted { recency_weight, recency, .. } => {
            (recency_weight, recency)
        }
        other => panic!("{other:?} does not weigh newness"),
    };
    let [muxi, kari, weighted] = ["muxi", "kari", "weighted"].map(newness);
    let weighs = format!("{} with muxi, {} with kari, {} with weighted", muxi.0, kari.0, weighted.0);
    assert_eq!(RECENCY_WEIGHT.default, weighs);
    let (Recency::Rank, Recency::Age(kari), Recency::Age(weighted)) = (muxi.1, kari.1, weighted.1) else {
        panic!("another recency");
    };
    let halves = [kari, weighted].map(|decay| decay.half_life.as_secs_f64());
    assert_eq!(HALF_LIFE.default, format!("{:.2} with kari, {} with weighted", halves[0], halves[1]));
    let candidates = |name: &str| match ranking(name) {
        Ranking::Blend { candidates, .. } => candidates,
        other => panic!("{other:?} has no number of candidates"),
    };
    let [muxi, kari] = ["muxi", "kari"].map(candidates);
    assert_eq!(CANDIDATES.default, format!("{muxi}, or {kari} with kari"));
}

#[cfg(feature = "http-models")]
#[test]
fn s1_19_the_window_of_a_summariser_is_the_one_that_the_table_names() {
    let shown = |more: &str| {
        let yaml = format!("memory: {{ summarizer: {{ model: ollama/m{more} }} }}");
        let settings = Settings::from_yaml(&yaml, |_| None).unwrap();
        format!("{:?}", models::summarizer(&settings.values).unwrap().unwrap())
    };
    let key = &crate::settings::keys::SUMMARIZER_WINDOW;
    assert_eq!(shown(&format!(", {}: {}", key.name(), key.default)), shown(""));
}

#[cfg(feature = "http-models")]
#[test]
fn s1_19_the_tokens_of_an_extractor_are_those_that_the_table_names() {
    use crate::settings::keys::{EXTRACTOR_PROMPT, EXTRACTOR_WINDOW};

    let shown = |more: &str| {
        let yaml = format!("memory: {{ extractor: {{ model: ollama/m{more} }} }}");
        let settings = Settings::from_yaml(&yaml, |_| None).unwrap();
        format!("{:?}", models::extractor(&settings.values).unwrap().unwrap())
    };
    for key in [&EXTRACTOR_WINDOW, &EXTRACTOR_PROMPT] {
        assert_eq!(shown(&format!(", {}: {}", key.name(), key.default)), shown(""), "{}", key.path);
        assert_ne!(shown(&format!(", {}: 7777", key.name())), shown(""), "{}", key.path);
    }
}

#[cfg(feature = "http-models")]
#[test]
fn s1_19_the_deadline_of_an_extractor_is_the_one_that_the_table_names() {
    // Its own stands behind those of the server that it asks.
    let limit = |more: &str| {
        let yaml = format!("memory: {{ extractor: {{ model: ollama/m{more} }} }}");
        let settings = Settings::from_yaml(&yaml, |_| None).unwrap();
        let shown = format!("{:?}", models::extractor(&settings.values).unwrap().unwrap());
        shown.rsplit_once("deadline: ").unwrap().1.to_owned()
    };
    let key = &crate::settings::keys::EXTRACTOR_DEADLINE;
    assert_eq!(limit(&format!(", {}: {}", key.name(), key.default)), limit(""));
    assert_eq!(limit(&format!(", {}: 7", key.name())), "7s }");
}

#[cfg(feature = "elastic")]
#[test]
fn s3_15_the_port_and_the_index_are_those_that_the_table_names() {
    use crate::settings::keys::{ELASTIC_INDEX, ELASTIC_PORT};

    let shown = |more: &str| {
        let yaml = format!("memory: {{ elastic: {{ host: search.example{more} }} }}");
        let named = Settings::from_yaml(&yaml, |_| None).unwrap().values.named().0;
        let server = memory_elastic::Configured::from_values(|name| named.get(name).cloned());
        format!("{:?}", server.unwrap())
    };
    for key in [&ELASTIC_PORT, &ELASTIC_INDEX] {
        assert_eq!(shown(&format!(", {}: {}", key.name(), key.default)), shown(""), "{}", key.path);
        assert_ne!(shown(&format!(", {}: 77", key.name())), shown(""), "{}", key.path);
    }
}

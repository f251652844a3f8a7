//! The numbers of a ranking, and what keeps an entry on a board.

use memory_core::Scope;
use memory_core::engine::BoardEntry;
use memory_core::rank::{Decay, Ranking, Recency, Weights};

use super::*;

fn ranking(buffer: &str) -> Ranking {
    Settings::from_yaml(&format!("memory: {{ buffer: {{ {buffer} }} }}"), |_| None).unwrap().buffer().ranking
}

#[test]
fn s1_19_a_file_sets_every_number_of_a_ranking() {
    let weights = Weights { text: 0.5, vector: 0.25 };
    let said = "text_weight: 0.5, vector_weight: 0.25";
    assert_eq!(ranking(said), Ranking::ZScore(weights));
    assert_eq!(ranking(&format!("ranking: min_max, {said}")), Ranking::MinMax(weights));
    assert_eq!(ranking(&format!("ranking: rrf, rrf_k: 60, {said}")), Ranking::Rrf { k: 60.0, weights });
    let recency = Recency::Age(Decay { half_life: Duration::from_secs(3_600) });
    let (recency_weight, importance_weight) = (0.5, 0.75);
    assert_eq!(
        ranking(&format!(
            "ranking: weighted, {said}, recency_weight: 0.5, importance_weight: 0.75, half_life_seconds: 3600"
        )),
        Ranking::Weighted { weights, recency_weight, recency, importance_weight }
    );
    let blend = |clips, candidates| Ranking::Blend { recency_weight, recency, clips, candidates };
    let said = "recency_weight: 0.5, half_life_seconds: 3600";
    assert_eq!(ranking(&format!("ranking: kari, candidates: 50, {said}")), blend(false, 50));
    assert_eq!(ranking(&format!("preset: balanced, candidates: 250, {said}")), blend(true, 250));
}

#[test]
fn s1_19_a_number_that_the_ranking_does_not_go_by_is_refused() {
    for (buffer, remedy) in [
        ("rrf_k: 60", "`ranking: rrf`"),
        ("importance_weight: 0.5", "`ranking: weighted`"),
        ("half_life_seconds: 60", "`ranking: kari`"),
        ("candidates: 50", "`ranking: kari`"),
        ("ranking: muxi, text_weight: 0.5", "such as zscore"),
        ("preset: balanced, vector_weight: 0.5", "such as zscore"),
        ("text_weight: 0, vector_weight: 0", "weigh something"),
        ("text_weight: 0, vector_search: false", "weigh something"),
    ] {
        let error = Settings::from_yaml(&format!("memory: {{ buffer: {{ {buffer} }} }}"), |_| None).unwrap_err();
        assert!(error.to_string().contains(remedy), "{buffer}: {error}");
    }
}

#[tokio::test]
async fn s4_8_a_file_says_whether_a_use_keeps_an_entry_on_a_full_board() {
    for (refresh, url, evicted) in [("true", "", "b"), ("false", "", "a"), ("false", ", url: 'memory:'", "a")] {
        let yaml = format!(
            "memory: {{ persistent: {{ enabled: false }}, blackboard: {{ capacity: 2, refresh_on_access: {refresh}{url} }} }}"
        );
        let memory = Settings::from_yaml(&yaml, |_| None).unwrap().open().await.unwrap().build().await.unwrap();
        let team = memory.of(&Scope::new("acme", "team").unwrap()).blackboard();
        for key in ["a", "b"] {
            team.put(&BoardEntry::new(key, key)).await.unwrap();
        }
        team.get("a").await.unwrap();
        assert_eq!(team.put(&BoardEntry::new("c", "c")).await.unwrap().evicted, [evicted], "{refresh}{url}");
        memory.close().await.unwrap();
    }
}

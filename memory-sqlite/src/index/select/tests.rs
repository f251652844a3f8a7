use memory_core::{Field, SessionId, Timestamp};

use super::*;
use crate::index::items::tests::{database, insert};

/// Stores items with these times, and makes each a candidate with the score beside it.
async fn items(list: &[(f32, i64)]) -> (SqliteConnection, Vec<Candidate>) {
    let mut connection = database().await;
    let session = SessionId::new("s").unwrap();
    let mut candidates = Vec::new();
    for (place, (score, at)) in list.iter().enumerate() {
        let item = place as i64 + 1;
        let fields = Fields::of_span(&session, memory_core::Seq(item as u64), Timestamp(*at));
        insert(&mut connection, item, &fields).await;
        candidates.push(Candidate { score: *score, at: Timestamp(*at), item, place });
    }
    (connection, candidates)
}

#[tokio::test]
async fn ties_of_score_go_to_the_newer_and_then_to_the_smaller_item_also_at_the_cut() {
    let list: Vec<_> = (0..500).map(|number| (1.0, i64::from(number % 2))).chain([(2.0, 0)]).collect();
    let (mut connection, candidates) = items(&list).await;
    let shelf = Shelf::default();
    let everything = best(&mut connection, 1, &shelf, &Filter::All, 501, candidates.clone()).await.unwrap();
    let mut expected = everything.clone();
    expected.sort_by(|a, b| {
        let newer = b.candidate.score.total_cmp(&a.candidate.score).then(b.item.fields.at.cmp(&a.item.fields.at));
        newer.then_with(|| a.item.item.cmp(&b.item.item))
    });
    let order = |list: &[Chosen]| list.iter().map(|chosen| chosen.item.clone()).collect::<Vec<_>>();
    assert_eq!(order(&everything), order(&expected));
    let few = Filter::range(Field::Seq, Some(memory_core::Scalar::Int(480)), None);
    for limit in [1, 2, 33, 250, 251, 400] {
        let cut = best(&mut connection, 1, &shelf, &Filter::All, limit, candidates.clone()).await.unwrap();
        assert_eq!(order(&cut), order(&expected[..limit]));
        let matching = best(&mut connection, 1, &Shelf::default(), &few, limit, candidates.clone()).await.unwrap();
        let expected: Vec<_> = expected.iter().filter(|chosen| few.matches(&chosen.item.fields)).cloned().collect();
        assert_eq!(order(&matching), order(&expected[..limit.min(expected.len())]));
    }
}

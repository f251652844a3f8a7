use super::*;
use crate::filter::Filter;
use crate::id::{RecordId, Seq};
use crate::store::Store;
use crate::time::Timestamp;

fn space() -> EmbeddingSpace {
    EmbeddingSpace { model: "test".into(), dimension: 3, normalised: false, recipe: String::new() }
}

fn item(n: u8) -> ItemId {
    ItemId::Record(RecordId::of_content(&[n]))
}

fn query(vector: Vec<f32>, limit: usize) -> VectorQuery {
    VectorQuery { space: space(), vector, filter: Filter::All, limit, floor: None, with_vectors: true }
}

#[tokio::test]
async fn nothing_of_an_earlier_epoch_is_put_after_an_erasure() {
    let store = MemVectors::new(space());
    let scope = Scope::new("acme", "ada").unwrap();
    let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
    let entry = |n, epoch| {
        let version = Version { epoch: Epoch(epoch), revision: 0 };
        VectorEntry { item: item(n), version, pieces: vec![vec![1.0, 0.0, 0.0]], fields: fields.clone() }
    };
    store.put(&scope, &[entry(0, 0), entry(1, 1)], Visibility::OnReturn).await.unwrap();
    assert_eq!(store.erase(&scope, Epoch(1)).await.unwrap().removed, 1);
    store.put(&scope, &[entry(2, 0)], Visibility::OnReturn).await.unwrap();
    let hits = store.search(&scope, &query(vec![1.0, 0.0, 0.0], 9)).await.unwrap();
    assert_eq!(hits.iter().map(|hit| &hit.item).collect::<Vec<_>>(), [&item(1)]);
}

//! Every statement of a search looks things up by the owner.

use super::*;

#[tokio::test]
async fn s1_9_a_search_scans_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let text = open(&folder, SMALL).await;
    for sql in [super::bucket::READ, super::search::SEGMENTS, super::tail::LOAD, super::statistics::LOAD] {
        let plan = text.file.snapshot("explain", move |connection| {
            Box::pin(async move {
                let mut explain = sqlx::QueryBuilder::<sqlx::Sqlite>::new("EXPLAIN QUERY PLAN ");
                explain.push(sql);
                let rows: Vec<(i64, i64, i64, String)> = explain.build_query_as().fetch_all(connection).await.unwrap();
                Ok(rows.into_iter().map(|row| row.3).collect::<Vec<_>>())
            })
        });
        for step in plan.await.unwrap() {
            let is_search = step.starts_with("SEARCH") && step.contains("owner=?");
            let is_list = ["wanted", "json_each"]
                .iter()
                .any(|list| step == format!("SCAN {list}") || step.starts_with(&format!("SCAN {list} VIRTUAL TABLE")));
            let steps = ["LIST SUBQUERY", "REUSE LIST SUBQUERY", "CREATE BLOOM FILTER"];
            let is_step = steps.iter().any(|own| step.starts_with(own));
            assert!(is_search || is_list || is_step, "{step}");
        }
    }
}

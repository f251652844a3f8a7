//! Tables of figures, for people and as JSON.

use serde_json::{Value, json};

use super::run::Table;
use crate::output::Output;

/// Writes tables for people. Two runs over the same input write the same bytes.
pub(crate) fn in_words(tables: &[Table], notes: &[String], output: &mut Output) -> std::io::Result<()> {
    for table in tables {
        output.line(&format!("{}, {}, {}", table.title, table.unit, table.leg.name()))?;
        output.line(&format!(
            "  {:<26} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
            "", "n", "R@5", "R@10", "R@20", "hit@5", "hit@20", "all@5", "nDCG10", "MRR"
        ))?;
        for (group, scores) in &table.rows {
            output.line(&format!(
                "  {group:<26} {:>5} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1}",
                scores.questions,
                scores.recall_at_5,
                scores.recall_at_10,
                scores.recall_at_20,
                scores.hit_at_5,
                scores.hit_at_20,
                scores.all_at_5,
                scores.ndcg_at_10,
                scores.mrr
            ))?;
        }
        output.line("")?;
    }
    for note in notes {
        output.line(&format!("note: {note}"))?;
    }
    Ok(())
}

/// Returns tables as JSON.
pub(crate) fn to_json(tables: &[Table], notes: &[String]) -> Value {
    let tables: Vec<Value> = tables
        .iter()
        .map(|table| {
            let rows = table.rows.iter().map(|(group, scores)| json!({ "group": group, "scores": scores }));
            let rows: Vec<Value> = rows.collect();
            json!({ "set": table.title, "unit": table.unit, "legs": table.leg.name(), "rows": rows })
        })
        .collect();
    json!({ "tables": tables, "notes": notes })
}

//! Tables of figures, for people and as JSON.

use serde_json::{Value, json};

use super::run::Measured;
use crate::output::{Output, brief};

/// Writes tables for people. Two runs over the same input write the same bytes.
pub(crate) fn in_words(measured: &Measured, notes: &[String], output: &mut Output) -> std::io::Result<()> {
    for table in &measured.tables {
        output.line(&format!("{}, {}, {}", table.title, table.unit, table.leg.name()))?;
        output.line(&format!(
            "  {:<26} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
            "", "n", "R@5", "R@10", "R@20", "hit@1", "hit@5", "hit@20", "all@5", "nDCG10", "MRR"
        ))?;
        for (group, scores) in &table.rows {
            output.line(&format!(
                "  {group:<26} {:>5} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1} {:>6.1}",
                scores.questions,
                scores.recall_at_5,
                scores.recall_at_10,
                scores.recall_at_20,
                scores.hit_at_1,
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

/// Writes the questions whose evidence was not first, with what was.
pub(crate) fn misses(measured: &Measured, output: &mut Output) -> std::io::Result<()> {
    for miss in &measured.misses {
        let place = miss.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
        output.line(&format!("{place:>4}  {}: {}", miss.leg.name(), brief(&miss.question, 100)))?;
        output.line(&format!("      first: {}", brief(&miss.first, 100)))?;
    }
    Ok(())
}

/// Returns tables as JSON.
pub(crate) fn to_json(measured: &Measured, notes: &[String]) -> Value {
    let tables: Vec<Value> = measured
        .tables
        .iter()
        .map(|table| {
            let rows = table.rows.iter().map(|(group, scores)| json!({ "group": group, "scores": scores }));
            let rows: Vec<Value> = rows.collect();
            json!({ "set": table.title, "unit": table.unit, "legs": table.leg.name(), "rows": rows })
        })
        .collect();
    json!({ "tables": tables, "notes": notes })
}

//! The cancel storm: calls are dropped at random moments, and what they wrote is there fully or not at all.

use futures_util::future::join_all;
use memory_core::record::Record;
use memory_core::store::records::Expect;

use super::shelf::{Shelf, fact, reworded};
use crate::check::{Failure, Scene, equal};
use crate::dropped::give_up;
use crate::environment;
use crate::generate::Random;
use crate::{Bed, Records};

scenarios!(TABLE: Records = [dropped_puts_happen_fully_or_not_at_all]);

const TASKS: usize = 8;

async fn dropped_puts_happen_fully_or_not_at_all(bed: Bed<Records>) -> Scene {
    let calls = environment::storm(2_000) / TASKS;
    let mut tasks = Vec::new();
    for number in 0..TASKS {
        let shelf = Shelf::new(&bed, &format!("owner {number}"))?;
        tasks.push(tokio::spawn(rage(shelf, Random::new(bed.seed ^ number as u64), calls)));
    }
    for task in join_all(tasks).await {
        task.map_err(|error| Failure::new(error.to_string()))??;
    }
    Ok(())
}

/// Puts pairs of records that always say the same, gives most calls up, and looks whether they still do.
async fn rage(shelf: Shelf, mut random: Random, calls: usize) -> Scene {
    let mut pairs: Vec<(Record, Record)> = Vec::new();
    for call in 0..calls {
        let words = format!("{} {call}", shelf.scope.subject());
        let (one, other) = match pairs.get(random.below(pairs.len() * 2)) {
            Some((one, other)) => (reworded(one, &words), reworded(other, &words)),
            None => (fact(&words), fact(&words)),
        };
        let puts = [(&one, Expect::Anything), (&other, Expect::Anything)];
        if let Some(answer) = give_up(&mut random, shelf.put_with(None, &puts)).await {
            equal(answer?.len(), 2)?;
        }
        if let Some(rows) = give_up(&mut random, shelf.get(&[one.id, other.id])).await {
            alike(&shelf, &rows?)?;
        }
        pairs.push((one, other));
    }
    for (one, other) in &pairs {
        alike(&shelf, &shelf.get(&[one.id, other.id]).await?)?;
    }
    Ok(())
}

/// Checks that both records of a pair are there and say the same, or neither is, and that they are the owner's.
fn alike(shelf: &Shelf, rows: &[memory_core::StoredRecord]) -> Scene {
    let said: Vec<_> = rows.iter().map(|row| (row.record.text.as_str(), row.version)).collect();
    let is_pair = match said.as_slice() {
        [] => true,
        [one, other] => one == other && one.0.starts_with(&shelf.scope.subject()),
        _ => false,
    };
    check!(is_pair, "half a batch, or another's: {said:?}");
    Ok(())
}

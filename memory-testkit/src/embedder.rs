//! What embedders promise.

mod batches;
mod hostile;
mod meaning;

use memory_core::model::Purpose;

use crate::{Embedders, Scenario};

/// What a text may be embedded for.
const PURPOSES: [Purpose; 2] = [Purpose::Query, Purpose::Document];

/// Texts of which the first two share words and meaning.
const TEXTS: [&str; 5] = [
    "My sister plays the violin in an orchestra",
    "Which orchestra does my sister play the violin in?",
    "The price of copper fell by 4 percent",
    "Bake at 180 °C for 35 minutes",
    "ok",
];

/// Returns the scenarios of embedders.
pub fn table() -> Vec<Scenario<Embedders>> {
    [batches::TABLE, hostile::TABLE, meaning::TABLE].concat()
}

/// Returns the vectors of `texts`.
async fn embed(store: &Embedders, texts: &[&str], purpose: Purpose) -> memory_core::Result<Vec<Vec<f32>>> {
    store.embed(texts, purpose).await
}

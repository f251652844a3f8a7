//! What vectors say: they fit their space, and what is alike is near.

use memory_core::model::Purpose;
use memory_core::vector::normalise;

use super::{PURPOSES, TEXTS, embed};
use crate::{Bed, Embedders, Failure, Scene};

scenarios!(TABLE: Embedders = [
    vectors_fit_the_space,
    a_question_is_nearest_to_the_text_that_answers_it,
    other_texts_have_other_vectors,
]);

async fn vectors_fit_the_space(bed: Bed<Embedders>) -> Scene {
    let space = bed.store.space();
    check!(!space.model.is_empty() && !space.recipe.is_empty(), "a space without a name: {space:?}");
    for purpose in PURPOSES {
        for (text, vector) in TEXTS.iter().zip(embed(&bed.store, &TEXTS, purpose).await?) {
            space.check_vector(&vector)?;
            let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
            let keeps = !space.normalised || (length - 1.0).abs() < 1e-3;
            check!(keeps, "the vector of {text:?} has the length {length} in a space of unit vectors");
        }
    }
    Ok(())
}

async fn a_question_is_nearest_to_the_text_that_answers_it(bed: Bed<Embedders>) -> Scene {
    let [answer, question, ..] = TEXTS;
    let others = TEXTS.iter().filter(|text| **text != question && **text != answer);
    let documents: Vec<&str> = [answer].into_iter().chain(others.copied()).collect();
    let sought = embed(&bed.store, &[question], Purpose::Query).await?;
    let found = embed(&bed.store, &documents, Purpose::Document).await?;
    let sought = sought.first().and_then(|vector| normalise(vector)).ok_or_else(|| Failure::new("no vector"))?;
    let near = |vector: &Vec<f32>| {
        let unit = normalise(vector).unwrap_or_default();
        unit.iter().zip(&sought).map(|(a, b)| a * b).sum::<f32>()
    };
    let near: Vec<f32> = found.iter().map(near).collect();
    let is_first = near.iter().skip(1).all(|other| near.first().is_some_and(|first| first > other));
    check!(is_first, "another text is as near: {near:?}");
    Ok(())
}

async fn other_texts_have_other_vectors(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        let vectors = embed(&bed.store, &TEXTS, purpose).await?;
        for (place, vector) in vectors.iter().enumerate() {
            check!(!vectors.iter().skip(place + 1).any(|other| other == vector), "text {place} is not told apart");
        }
    }
    Ok(())
}

//! Bad input: a typed error, a vector that every store takes, or one without numbers; and an embedder that works afterwards.

use memory_core::Error;
use memory_core::model::Purpose;

use super::{PURPOSES, TEXTS, embed};
use crate::{Bed, Embedders, Failure, Scene, equal, odd};

scenarios!(TABLE: Embedders = [
    odd_texts_are_refused_or_have_vectors_that_fit,
    a_query_of_64_kib_has_a_vector,
    a_refused_text_spoils_no_later_call,
]);

async fn odd_texts_are_refused_or_have_vectors_that_fit(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        for text in odd::texts() {
            let shown: String = text.chars().take(20).collect();
            match embed(&bed.store, &[&text], purpose).await {
                Ok(vectors) => {
                    equal(vectors.len(), 1)?;
                    let mut known = vectors.iter().filter(|vector| !vector.is_empty());
                    let fits = known.try_for_each(|vector| bed.store.space().check_vector(vector));
                    fits.map_err(|error| Failure::new(format!("{shown:?}: {error}")))?;
                }
                Err(Error::Invalid { what }) => {
                    let is_payload = shown.trim().len() > 8 && what.contains(&shown);
                    check!(!is_payload, "the error repeats the text {shown:?}");
                }
                Err(other) => return Err(Failure::new(format!("{shown:?} is answered by {other:?}"))),
            }
        }
    }
    Ok(())
}

async fn a_query_of_64_kib_has_a_vector(bed: Bed<Embedders>) -> Scene {
    let text = "what was it that you said about the garden? ".repeat(1_490);
    let text: String = text.chars().take(64 << 10).collect();
    let vectors = embed(&bed.store, &[text.trim_end()], Purpose::Query).await?;
    equal(vectors.len(), 1)?;
    Ok(vectors.iter().try_for_each(|vector| bed.store.space().check_vector(vector))?)
}

async fn a_refused_text_spoils_no_later_call(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        let promised = embed(&bed.store, &TEXTS, purpose).await?;
        for text in odd::texts() {
            if embed(&bed.store, &["good", &text], purpose).await.is_err() {
                equal(&embed(&bed.store, &TEXTS, purpose).await?, &promised)?;
            }
        }
    }
    Ok(())
}

//! Batches: a vector per text, in order, the same alone and together, by whatever task.

use super::{PURPOSES, TEXTS, embed};
use crate::crowd::together;
use crate::dropped::give_up;
use crate::generate::Random;
use crate::{Bed, Embedders, Scene, equal};

scenarios!(TABLE: Embedders = [
    gives_a_vector_per_text_in_order,
    a_text_has_the_same_vector_alone_and_in_a_batch,
    a_batch_of_nothing_gives_nothing,
    equal_texts_of_one_batch_have_equal_vectors,
    another_instance_has_the_same_space_and_vectors,
    tasks_at_once_get_their_own_vectors,
    dropped_calls_disturb_no_other,
]);

async fn gives_a_vector_per_text_in_order(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        let forth = embed(&bed.store, &TEXTS, purpose).await?;
        equal(forth.len(), TEXTS.len())?;
        let mut turned = TEXTS;
        turned.reverse();
        let mut back = embed(&bed.store, &turned, purpose).await?;
        back.reverse();
        equal(back, forth)?;
    }
    Ok(())
}

async fn a_text_has_the_same_vector_alone_and_in_a_batch(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        let many: Vec<&str> = TEXTS.iter().copied().cycle().take(64).collect();
        let together = embed(&bed.store, &many, purpose).await?;
        equal(together.len(), many.len())?;
        for (text, vector) in many.iter().zip(&together).take(TEXTS.len()) {
            equal(embed(&bed.store, &[text], purpose).await?.first(), Some(vector))?;
        }
    }
    Ok(())
}

async fn a_batch_of_nothing_gives_nothing(bed: Bed<Embedders>) -> Scene {
    for purpose in PURPOSES {
        equal(embed(&bed.store, &[], purpose).await?.len(), 0)?;
    }
    Ok(())
}

async fn equal_texts_of_one_batch_have_equal_vectors(bed: Bed<Embedders>) -> Scene {
    let texts = ["the same", "another", "the same"];
    for purpose in PURPOSES {
        let vectors = embed(&bed.store, &texts, purpose).await?;
        equal(vectors.len(), texts.len())?;
        equal(vectors.first(), vectors.last())?;
    }
    Ok(())
}

async fn another_instance_has_the_same_space_and_vectors(bed: Bed<Embedders>) -> Scene {
    let other = bed.reopen().await?;
    equal(other.space(), bed.store.space())?;
    equal(other.space().fingerprint(), bed.store.space().fingerprint())?;
    for purpose in PURPOSES {
        equal(embed(&other, &TEXTS, purpose).await?, embed(&bed.store, &TEXTS, purpose).await?)?;
    }
    Ok(())
}

async fn tasks_at_once_get_their_own_vectors(bed: Bed<Embedders>) -> Scene {
    let [query, document] = PURPOSES;
    let promised = [embed(&bed.store, &TEXTS, query).await?, embed(&bed.store, &TEXTS, document).await?];
    together((0..16).map(|task| {
        let (store, promised) = (bed.store.clone(), promised.clone());
        async move {
            let is_document = task % 2;
            let first = task % TEXTS.len();
            for place in (0..TEXTS.len()).cycle().skip(first).take(TEXTS.len()) {
                let texts: Vec<&str> = TEXTS.iter().copied().skip(place).collect();
                let purpose = if is_document == 1 { document } else { query };
                let vectors = embed(&store, &texts, purpose).await?;
                let own = promised.iter().skip(is_document).take(1).flatten().skip(place);
                check!(vectors.iter().eq(own), "task {task} got other vectors at {place}");
            }
            Ok(())
        }
    }))
    .await
}

async fn dropped_calls_disturb_no_other(bed: Bed<Embedders>) -> Scene {
    let [query, _] = PURPOSES;
    let promised = embed(&bed.store, &TEXTS, query).await?;
    let mut random = Random::new(bed.seed);
    for _ in 0..100 {
        give_up(&mut random, embed(&bed.store, &TEXTS, query)).await;
    }
    equal(embed(&bed.store, &TEXTS, query).await?, promised)
}

//! The frozen fixture: real words, exact ranks.

use std::ops::Range;

use memory_core::{Analysis, Clock as _, Result};

use crate::fixture::{Fixture, OTHERS, Ranks};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    ranks_the_fixture_as_frozen_beside_fifty_other_owners,
    fifty_other_owners_change_no_score_of_the_fixture,
]);

/// Opens a store of English terms, for the terms of the fixture are.
async fn english(bed: &Bed<Texts>) -> Result<(Bed<Texts>, Fixture, Analysis)> {
    let analysis = Analysis::english();
    let bed = bed.another(|setting| analysis.name().clone_into(&mut setting.analysis)).await?;
    Ok((bed, Fixture::load()?, analysis))
}

/// Puts what the other owners `numbers` have said.
async fn put_others(bed: &Bed<Texts>, fixture: &Fixture, analysis: &Analysis, numbers: Range<usize>) -> Scene {
    for number in numbers {
        fixture.put_other(&bed.store, &bed.scope(&format!("ada{number}"))?, analysis, number).await?;
    }
    Ok(bed.store.flush().await?)
}

async fn ranks_the_fixture_as_frozen_beside_fifty_other_owners(bed: Bed<Texts>) -> Scene {
    let (bed, fixture, analysis) = english(&bed).await?;
    let ada = bed.scope("ada")?;
    put_others(&bed, &fixture, &analysis, 0..OTHERS / 2).await?;
    fixture.put(&bed.store, &ada, &analysis).await?;
    put_others(&bed, &fixture, &analysis, OTHERS / 2..OTHERS).await?;
    let ranks = Ranks::of_store(&bed.store, &ada, &fixture, &analysis, bed.clock.now()).await?;
    let differences = ranks.differences(&Ranks::frozen()?);
    check!(differences.is_empty(), "{}", differences.join("\n    "));
    Ok(())
}

async fn fifty_other_owners_change_no_score_of_the_fixture(bed: Bed<Texts>) -> Scene {
    let (bed, fixture, analysis) = english(&bed).await?;
    let ada = bed.scope("ada")?;
    fixture.put(&bed.store, &ada, &analysis).await?;
    let alone = Ranks::of_store(&bed.store, &ada, &fixture, &analysis, bed.clock.now()).await?;
    put_others(&bed, &fixture, &analysis, 0..OTHERS).await?;
    let among_others = Ranks::of_store(&bed.store, &ada, &fixture, &analysis, bed.clock.now()).await?;
    equal(among_others, alone)
}

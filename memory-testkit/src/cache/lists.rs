//! Lists of recent events: in order, no longer than asked.

use memory_core::{Epoch, Error};

use super::HOUR;
use crate::crowd::together;
use crate::{Bed, Caches, Scene, equal};

scenarios!(TABLE: Caches = [
    a_list_gives_its_newest_values_oldest_first,
    s3_4_a_list_keeps_its_newest_values_up_to_the_cap,
    a_smaller_cap_cuts_the_list,
    an_unknown_list_is_empty,
    a_cap_of_zero_is_invalid,
    equal_values_are_kept_each,
    values_pushed_at_once_are_all_kept,
]);

const NOW: Epoch = Epoch(0);

async fn a_list_gives_its_newest_values_oldest_first(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for value in 0..10u8 {
        bed.store.push(&ada, NOW, "list", &[value, 0], 100, HOUR).await?;
    }
    for count in [0, 1, 3, 10, 11, 1_000] {
        let promised: Vec<Vec<u8>> =
            (0..10u8).skip(10usize.saturating_sub(count)).map(|value| vec![value, 0]).collect();
        equal(bed.store.tail(&ada, NOW, "list", count).await?, promised)?;
    }
    Ok(())
}

async fn s3_4_a_list_keeps_its_newest_values_up_to_the_cap(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for value in 0..20u8 {
        bed.store.push(&ada, NOW, "list", &[value], 5, HOUR).await?;
        let promised: Vec<Vec<u8>> =
            (0..=value).skip(usize::from(value).saturating_sub(4)).map(|value| vec![value]).collect();
        equal(bed.store.tail(&ada, NOW, "list", 100).await?, promised)?;
    }
    Ok(())
}

async fn a_smaller_cap_cuts_the_list(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for value in 0..6u8 {
        bed.store.push(&ada, NOW, "list", &[value], 6, HOUR).await?;
    }
    bed.store.push(&ada, NOW, "list", &[6], 2, HOUR).await?;
    equal(bed.store.tail(&ada, NOW, "list", 100).await?, [[5], [6]])?;
    bed.store.push(&ada, NOW, "list", &[7], 1, HOUR).await?;
    equal(bed.store.tail(&ada, NOW, "list", 100).await?, [[7]])
}

async fn an_unknown_list_is_empty(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.push(&ada, NOW, "list", b"v", 9, HOUR).await?;
    for other in ["lis", "lists", "List", "*"] {
        equal(bed.store.tail(&ada, NOW, other, 9).await?.len(), 0)?;
    }
    Ok(())
}

async fn a_cap_of_zero_is_invalid(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.push(&ada, NOW, "list", b"v", 9, HOUR).await?;
    fails!(bed.store.push(&ada, NOW, "list", b"w", 0, HOUR).await, Error::Invalid { .. });
    equal(bed.store.tail(&ada, NOW, "list", 9).await?, [b"v"])
}

async fn equal_values_are_kept_each(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for value in [&b"a"[..], b"", b"a", b"\0", b"a"] {
        bed.store.push(&ada, NOW, "list", value, 9, HOUR).await?;
    }
    equal(bed.store.tail(&ada, NOW, "list", 9).await?, [&b"a"[..], b"", b"a", b"\0", b"a"])
}

async fn values_pushed_at_once_are_all_kept(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    together((0..8u8).map(|task| {
        let (store, ada) = (bed.store.clone(), ada.clone());
        async move {
            for step in 0..10 {
                store.push(&ada, NOW, "list", &[task, step], 100, HOUR).await?;
            }
            Ok(())
        }
    }))
    .await?;
    let found = bed.store.tail(&ada, NOW, "list", 100).await?;
    equal(found.len(), 80)?;
    for task in 0..8u8 {
        let of_task: Vec<_> = found.iter().filter(|value| value.first() == Some(&task)).cloned().collect();
        equal(of_task, (0..10).map(|step| vec![task, step]).collect::<Vec<_>>())?;
    }
    Ok(())
}

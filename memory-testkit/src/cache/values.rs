//! Values: kept, replaced, deleted.

use memory_core::Epoch;

use super::HOUR;
use crate::crowd::together;
use crate::{Bed, Caches, Scene, equal};

scenarios!(TABLE: Caches = [
    a_value_put_is_got_back,
    a_key_never_put_is_a_miss,
    a_put_replaces_the_value,
    a_repeated_put_changes_nothing,
    deletes_the_keys_named_and_no_others,
    an_empty_deletion_deletes_nothing,
    a_deletion_may_be_repeated,
    tasks_at_once_get_their_own_values,
]);

const NOW: Epoch = Epoch(0);

async fn a_value_put_is_got_back(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    let every_byte: Vec<u8> = (0..=255).collect();
    for value in [&b"v"[..], b"", b"\0", b"\0a\0", &every_byte, &[0xff; 1 << 20]] {
        bed.store.put(&ada, NOW, "key", value, HOUR).await?;
        let found = bed.store.get(&ada, NOW, "key").await?;
        check!(found.as_deref() == Some(value), "{} bytes come back otherwise", value.len());
    }
    Ok(())
}

async fn a_key_never_put_is_a_miss(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    equal(bed.store.get(&ada, NOW, "key").await?, None)?;
    bed.store.put(&ada, NOW, "key", b"v", HOUR).await?;
    for other in ["Key", "key ", "ke", "keys", "key*", "*"] {
        equal(bed.store.get(&ada, NOW, other).await?, None)?;
    }
    Ok(())
}

async fn a_put_replaces_the_value(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"a longer value", HOUR).await?;
    bed.store.put(&ada, NOW, "other", b"other", HOUR).await?;
    bed.store.put(&ada, NOW, "key", b"new", HOUR).await?;
    equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"new"[..]))?;
    equal(bed.store.get(&ada, NOW, "other").await?.as_deref(), Some(&b"other"[..]))
}

async fn a_repeated_put_changes_nothing(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for _ in 0..3 {
        bed.store.put(&ada, NOW, "key", b"v", HOUR).await?;
        equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    }
    Ok(())
}

async fn deletes_the_keys_named_and_no_others(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    let keys = ["a", "ab", "a*", "*", "a?", "?", "[a]", "b"];
    for key in keys {
        bed.store.put(&ada, NOW, key, key.as_bytes(), HOUR).await?;
    }
    bed.store.push(&ada, NOW, "list", b"v", 9, HOUR).await?;
    bed.store.push(&ada, NOW, "list*", b"v", 9, HOUR).await?;
    bed.store.delete(&ada, NOW, &["a*", "?", "absent", "list*"]).await?;
    for key in keys {
        let promised = (key != "a*" && key != "?").then_some(key.as_bytes());
        equal(bed.store.get(&ada, NOW, key).await?.as_deref(), promised)?;
    }
    equal(bed.store.tail(&ada, NOW, "list*", 9).await?.len(), 0)?;
    equal(bed.store.tail(&ada, NOW, "list", 9).await?.len(), 1)
}

async fn an_empty_deletion_deletes_nothing(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"v", HOUR).await?;
    bed.store.push(&ada, NOW, "list", b"v", 9, HOUR).await?;
    bed.store.delete(&ada, NOW, &[]).await?;
    equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    equal(bed.store.tail(&ada, NOW, "list", 9).await?.len(), 1)
}

async fn a_deletion_may_be_repeated(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"v", HOUR).await?;
    for _ in 0..2 {
        bed.store.delete(&ada, NOW, &["key", "key"]).await?;
        equal(bed.store.get(&ada, NOW, "key").await?, None)?;
    }
    bed.store.put(&ada, NOW, "key", b"again", HOUR).await?;
    equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"again"[..]))
}

async fn tasks_at_once_get_their_own_values(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    together((0..32).map(|task| {
        let (store, ada) = (bed.store.clone(), ada.clone());
        async move {
            let key = format!("key{task}");
            for step in 0..20 {
                let value = format!("{task} at {step}");
                store.put(&ada, NOW, &key, value.as_bytes(), HOUR).await?;
                equal(store.get(&ada, NOW, &key).await?.as_deref(), Some(value.as_bytes()))?;
            }
            Ok(())
        }
    }))
    .await
}

//! Files of other programs, and exports: whatever their bytes are, they are read to their end, a second import adds nothing, and
//! what was read is exported and read again whole.

#![no_main]

use std::io::Write as _;

use libfuzzer_sys::fuzz_target;
use memory::import::{Import, Source, Tally};
use memory::{Scoped, transfer};
use memory_fuzz::{NOW, ada, import, memory, run};

fuzz_target!(|data: &[u8]| {
    run(async {
        let trusts_roles = data.ends_with(b"\n");
        let place = memory().await;
        let ada = ada(&place);
        let first = read(&ada, data, trusts_roles).await;
        let again = read(&ada, data, trusts_roles).await;
        assert_eq!(again.added, 0, "{first:?}, then {again:?}");
        assert_eq!(again.committed(), first.committed(), "{first:?}, then {again:?}");
        assert_eq!(again.rejected, first.rejected, "{first:?}, then {again:?}");
        if first.added > 0 {
            export(&ada, first.added).await;
        }
    });
});

async fn read(ada: &Scoped, data: &[u8], trusts_roles: bool) -> Tally {
    if data.starts_with(b"PK") { archive(ada, data).await } else { import(ada, data, trusts_roles).await }
}

/// Imports an archive from a file, because the names in it stand at its end.
async fn archive(ada: &Scoped, data: &[u8]) -> Tally {
    let mut file = tempfile::Builder::new().suffix(".zip").tempfile().expect("a file");
    file.write_all(data).expect("room in memory");
    let source = Source::new(ada.scope(), "chat", NOW);
    let paths = vec![file.path().to_owned()];
    let mut import = Import::begin_files(ada.clone(), paths, source).expect("a thread that reads");
    while import.step().await.expect("a memory in this process fails at nothing").is_some() {}
    import.finish()
}

/// Exports everything, and reads it into another memory of the same owner.
async fn export(owner: &Scoped, items: u64) {
    let mut lines = Vec::new();
    transfer::export(owner, None, &mut lines).await.expect("an export");
    let beside = memory().await;
    let tally = import(&ada(&beside), &lines, false).await;
    assert_eq!(tally.rejected, 0, "{tally:?} of {}", String::from_utf8_lossy(&lines));
    assert_eq!(tally.added, items, "{tally:?} of {}", String::from_utf8_lossy(&lines));
}

//! Files that are the server's: the graph of the reference memory server, and the file of tokens. The graph is read twice, and
//! adds nothing the second time.

#![no_main]

use std::io::Write as _;

use libfuzzer_sys::fuzz_target;
use memory_fuzz::{ada, memory, run};
use memory_server::{TokenFile, import_graph};

fuzz_target!(|data: &[u8]| {
    tokens(data);
    run(async {
        let place = memory().await;
        let ada = ada(&place);
        let Ok(first) = import_graph(&ada, data).await else { return };
        let again = import_graph(&ada, data).await.expect("what was read before");
        assert_eq!((again.entities, again.relations, again.observations), (0, 0, 0), "{first:?}, then {again:?}");
        assert_eq!(again.rejected, first.rejected, "{first:?}, then {again:?}");
    });
});

fn tokens(data: &[u8]) {
    // Such a file is its user's alone.
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(data).expect("room in memory");
    if let Ok(grants) = TokenFile::at(file.path()).grants() {
        let shown = format!("{grants:?}");
        assert!(grants.iter().all(|grant| shown.contains(grant.id())));
    }
}

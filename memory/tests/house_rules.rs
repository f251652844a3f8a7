//! The layout's rules, asked of cargo itself.

use std::error::Error;
use std::process::Command;

const OURS: [&str; 9] = [
    "memory",
    "memory-cli",
    "memory-core",
    "memory-elastic",
    "memory-postgres",
    "memory-qdrant",
    "memory-redis",
    "memory-sqlite",
    "memory-testkit",
];
/// The backends, which depend on memory-core alone.
const BACKENDS: [&str; 5] = ["memory-elastic", "memory-postgres", "memory-qdrant", "memory-redis", "memory-sqlite"];

/// Returns the names of the crates that `package` depends on in the built program or library, itself included.
fn dependencies(package: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(["tree", "--package", package, "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(["--all-features", "--offline"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout)?;
    Ok(tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

fn ours(package: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut ours: Vec<String> = dependencies(package)?.into_iter().filter(|name| OURS.contains(&&**name)).collect();
    ours.sort();
    ours.dedup();
    ours.retain(|name| name != package);
    Ok(ours)
}

#[test]
fn each_crate_depends_on_the_layers_below_it_only() {
    assert_eq!(ours("memory-core").unwrap(), [""; 0]);
    assert_eq!(ours("memory-testkit").unwrap(), ["memory-core"]);
    for backend in BACKENDS {
        assert_eq!(ours(backend).unwrap(), ["memory-core"], "{backend}");
    }
    let facade: Vec<&str> = ["memory-core"].into_iter().chain(BACKENDS).collect();
    assert_eq!(ours("memory").unwrap(), facade);
    let program: Vec<&str> = ["memory"].into_iter().chain(facade).collect();
    assert_eq!(ours("memory-cli").unwrap(), program);
}

#[test]
fn memory_core_knows_no_driver_and_no_http() {
    let banned = ["sqlx", "redis", "qdrant-client", "elasticsearch", "reqwest", "hyper", "libsqlite3-sys", "rustls"];
    let found: Vec<String> =
        dependencies("memory-core").unwrap().into_iter().filter(|name| banned.contains(&&**name)).collect();
    assert_eq!(found, [""; 0]);
}

//! The layout's rules, asked of cargo itself.

use std::process::Command;

const OURS: [&str; 5] = ["memory", "memory-cli", "memory-core", "memory-sqlite", "memory-testkit"];

/// Returns the names of the crates that `package` depends on in the built program or library, itself included.
fn dependencies(package: &str) -> Vec<String> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(["tree", "--package", package, "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(["--all-features", "--offline"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn ours(package: &str) -> Vec<String> {
    let mut ours: Vec<String> = dependencies(package).into_iter().filter(|name| OURS.contains(&&**name)).collect();
    ours.sort();
    ours.dedup();
    ours.retain(|name| name != package);
    ours
}

#[test]
fn each_crate_depends_on_the_layers_below_it_only() {
    assert_eq!(ours("memory-core"), [""; 0]);
    assert_eq!(ours("memory-testkit"), ["memory-core"]);
    assert_eq!(ours("memory-sqlite"), ["memory-core"]);
    assert_eq!(ours("memory"), ["memory-core", "memory-sqlite"]);
    assert_eq!(ours("memory-cli"), ["memory", "memory-core", "memory-sqlite"]);
}

#[test]
fn memory_core_knows_no_driver_and_no_http() {
    let banned = ["sqlx", "redis", "qdrant-client", "elasticsearch", "reqwest", "hyper", "libsqlite3-sys", "rustls"];
    let found: Vec<String> = dependencies("memory-core").into_iter().filter(|name| banned.contains(&&**name)).collect();
    assert_eq!(found, [""; 0]);
}

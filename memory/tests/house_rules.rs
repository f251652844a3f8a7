//! The layout's rules, asked of cargo itself.

use std::error::Error;
use std::fs;
use std::process::Command;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the adapters, in the order of their names: all crates but those that every memory has.
fn adapters() -> Result<Vec<String>, Box<dyn Error>> {
    let folders: Vec<_> = fs::read_dir(WORKSPACE)?.collect::<Result<_, _>>()?;
    let names = folders.into_iter().filter_map(|folder| folder.file_name().into_string().ok());
    let common = ["memory-cli", "memory-core", "memory-server", "memory-testkit"];
    let mut adapters: Vec<String> =
        names.filter(|name| name.starts_with("memory-") && !common.contains(&name.as_str())).collect();
    adapters.sort();
    Ok(adapters)
}

/// Returns the names of the crates that `package` depends on in the built program or library, itself included, with all
/// features.
fn dependencies(package: &str) -> Result<Vec<String>, Box<dyn Error>> {
    tree(package, &["--all-features", "--format", "{p}"])
}

/// Returns the first word of each line of the tree of `package`.
fn tree(package: &str, arguments: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let lines = lines(package, arguments)?;
    Ok(lines.iter().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

/// Returns the lines of the tree of `package`.
fn lines(package: &str, arguments: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(["tree", "--package", package, "--edges", "normal,build", "--prefix", "none", "--offline"])
        .args(arguments)
        .current_dir(WORKSPACE)
        .output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

fn ours(package: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut ours = dependencies(package)?;
    ours.retain(|name| (name == "memory" || name.starts_with("memory-")) && name != package);
    ours.sort();
    ours.dedup();
    Ok(ours)
}

#[test]
fn s2_13e_s2_14g_nothing_is_deprecated() {
    let list = Command::new("git").args(["ls-files", "memory*/src/**.rs"]).current_dir(WORKSPACE).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.lines().count() > 100);
    for file in list.lines() {
        let text = fs::read_to_string(format!("{WORKSPACE}/{file}")).unwrap();
        assert!(!text.contains("#[deprecated"), "{file}");
    }
}

#[test]
fn each_crate_depends_on_the_layers_below_it_only() {
    assert_eq!(ours("memory-core").unwrap(), [""; 0]);
    assert_eq!(ours("memory-testkit").unwrap(), ["memory-core"]);
    for adapter in adapters().unwrap() {
        assert_eq!(ours(&adapter).unwrap(), ["memory-core"], "{adapter}");
    }
    let mut facade = [vec!["memory-core".to_owned()], adapters().unwrap()].concat();
    facade.sort();
    assert_eq!(ours("memory").unwrap(), facade);
    assert_eq!(ours("memory-server").unwrap(), ["memory", "memory-core"]);
    let mut program = [vec!["memory".to_owned(), "memory-server".to_owned()], facade].concat();
    program.sort();
    assert_eq!(ours("memory-cli").unwrap(), program);
}

#[test]
fn memory_core_knows_no_driver_and_no_http() {
    let banned = ["sqlx", "redis", "qdrant-client", "elasticsearch", "reqwest", "hyper", "libsqlite3-sys", "rustls"];
    let found: Vec<String> =
        dependencies("memory-core").unwrap().into_iter().filter(|name| banned.contains(&&**name)).collect();
    assert_eq!(found, [""; 0]);
}

#[test]
fn row_9_a_memory_in_a_file_brings_no_client_of_another_machine() {
    let clients = ["elasticsearch", "hyper", "qdrant-client", "redis", "reqwest", "rustls", "sqlx-postgres", "tonic"];
    let brought = tree("memory", &["--format", "{p}"]).unwrap();
    assert!(brought.iter().any(|name| name == "memory-sqlite"));
    let found: Vec<&String> = brought.iter().filter(|name| clients.contains(&name.as_str())).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn full_brings_every_backend_its_feature_that_one_and_the_default_none_but_sqlite() {
    let all: Vec<String> = adapters().unwrap().into_iter().filter(|name| *name != "memory-models").collect();
    let backends = |package: &str, arguments: &[&str]| {
        let mut found = tree(package, &[arguments, &["--format", "{p}"]].concat()).unwrap();
        found.retain(|name| all.contains(name));
        found.sort();
        found.dedup();
        found
    };
    for package in ["memory", "memory-cli"] {
        assert_eq!(backends(package, &["--no-default-features", "--features", "full"]), all, "{package}");
        assert_eq!(backends(package, &[]), ["memory-sqlite"], "{package}");
        assert_eq!(backends(package, &["--no-default-features"]), [""; 0], "{package}");
        for adapter in &all {
            let feature = adapter.trim_start_matches("memory-");
            assert_eq!(backends(package, &["--no-default-features", "--features", feature]), [adapter.as_str()]);
        }
    }
}

#[test]
fn full_brings_redis_cluster_and_tls() {
    for package in ["memory", "memory-cli"] {
        let arguments = ["--no-default-features", "--features", "full", "--format", "{p}|{f}|"];
        // A line such as `memory-redis v0.1.0 (PATH)|cluster,tls|`.
        let lines = lines(package, &arguments).unwrap();
        let redis = lines.iter().find(|line| line.starts_with("memory-redis ")).unwrap();
        assert!(redis.ends_with("|cluster,tls|"), "{package}: {redis}");
    }
}

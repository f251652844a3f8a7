use super::*;

#[test]
fn urls_name_backends() {
    let table = [
        ("a/b.sqlite", Backend::Sqlite),
        ("./a:b", Backend::Sqlite),
        ("C:\\memory.sqlite", Backend::Sqlite),
        ("sqlite:a", Backend::Sqlite),
        ("sqlite:///a", Backend::Sqlite),
        ("memory:", Backend::Process),
        ("postgres://u:p@h/d", Backend::Postgres),
        ("postgresql://h/d", Backend::Postgres),
        ("redis://h", Backend::Redis),
        ("rediss://h", Backend::Redis),
        ("redis+cluster://h:1,i:2", Backend::Redis),
        ("rediss+cluster://h", Backend::Redis),
        ("qdrant://h:6334", Backend::Qdrant),
        ("qdrant+https://h", Backend::Qdrant),
        ("elastic:", Backend::Elastic),
        ("elastic+http://h:9200", Backend::Elastic),
        ("POSTGRES://u:p@h/d", Backend::Postgres),
        ("Redis+Cluster://h", Backend::Redis),
        ("SQLITE:a", Backend::Sqlite),
        (" qdrant:\n", Backend::Qdrant),
    ];
    for (url, backend) in table {
        assert_eq!(Backend::of(url).unwrap(), backend, "{url}");
    }
    for url in ["", "sqlite:", "memory:x", "mysql://h", "http://h", "p ostgres://h", "://h"] {
        assert!(Backend::of(url).is_err(), "{url}");
    }
}

#[test]
fn files_are_found_in_urls() {
    let table = [
        ("a/b.sqlite", Some("a/b.sqlite")),
        ("sqlite:///a", Some("/a")),
        ("SQLite:a", Some("a")),
        ("memory:", None),
        ("redis://h", None),
        ("sqlite:", None),
    ];
    for (url, file) in table {
        assert_eq!(Backend::file(url), file, "{url}");
    }
}

#[tokio::test]
async fn a_backend_says_what_it_cannot_hold_and_which_feature_is_off() {
    let nothing = || Wanted { truth: false, analysis: None, space: None, cache: false };
    let (truth, cache) = (Wanted { truth: true, ..nothing() }, Wanted { cache: true, ..nothing() });
    for (url, wanted, what) in [
        ("qdrant://h", &truth, "qdrant cannot hold conversations"),
        ("elastic://h", &truth, "elastic cannot hold conversations"),
        ("postgres://h/d", &cache, "postgres cannot be a cache"),
        ("a.sqlite", &cache, "sqlite cannot be a cache"),
    ] {
        assert_eq!(open(url, wanted).await.err().unwrap().to_string(), what);
    }
    for (url, wanted) in [("postgres://h/d", &truth), ("redis://h", &cache)] {
        let backend = Backend::of(url).unwrap();
        if !backend.is_built_in() {
            let error = open(url, wanted).await.err().unwrap().to_string();
            assert!(error.ends_with(&format!("the feature {} is off", backend.name())), "{error}");
        }
    }
}

#[cfg(all(feature = "redis", not(feature = "redis-cluster")))]
#[tokio::test]
async fn a_cluster_needs_its_feature() {
    let wanted = Wanted { truth: true, analysis: None, space: None, cache: false };
    let error = open("redis+cluster://h", &wanted).await.err().unwrap().to_string();
    assert_eq!(error, "redis cannot be opened as a cluster: the feature redis-cluster is off");
}

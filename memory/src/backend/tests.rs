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
        ("qdrant://h:6334", Backend::Qdrant),
        ("qdrant+https://h", Backend::Qdrant),
        ("elastic:", Backend::Elastic),
        ("elastic+http://h:9200", Backend::Elastic),
    ];
    for (url, backend) in table {
        assert_eq!(Backend::of(url).unwrap(), backend, "{url}");
    }
    for url in ["", "sqlite:", "memory:x", "mysql://h", "http://h"] {
        assert!(Backend::of(url).is_err(), "{url}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let table = [
        ("postgres://ada:p@ss:w/r?d@h:5432/d", "postgres://ada@h:5432/d"),
        ("postgres://ada:secret@h:5432/d", "postgres://ada@h:5432/d"),
        ("postgres://ada:se@cret@h/d?sslmode=require", "postgres://ada@h/d?sslmode=require"),
        ("postgres://h/d?user=ada&password=secret&x=1", "postgres://h/d?user=ada&password&x=1"),
        ("redis://:secret@h/0", "redis://@h/0"),
        ("qdrant://h?api_key=secret", "qdrant://h?api_key"),
        ("a/b.sqlite", "a/b.sqlite"),
    ];
    for (url, shown) in table {
        assert_eq!(without_secrets(url), shown);
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

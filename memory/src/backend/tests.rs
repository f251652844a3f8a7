use memory_core::layer::GuardPolicy;
use memory_core::store::blackboard::Keep;

use super::kind::Holds;
use super::*;

/// A place that turns out to hold no vectors once it is opened, as a Postgres server without pgvector does.
pub(super) const WORDS: Kind = Kind {
    name: "words",
    schemes: &["words"],
    holds: Holds::TRUTH_AND_INDEXES,
    parameters: &[],
    names: &[],
    is_server: false,
    open: Some(|_, wanted| {
        Box::pin(async {
            if !wanted.embedders.is_empty() {
                return Err(WORDS.cannot("search by meaning without its extension"));
            }
            process::KIND.connect("memory:", wanted).await
        })
    }),
};

#[test]
fn urls_name_backends() {
    let table = [
        ("a/b.sqlite", "sqlite"),
        ("./a:b", "sqlite"),
        ("C:\\memory.sqlite", "sqlite"),
        ("sqlite:a", "sqlite"),
        ("sqlite:///a", "sqlite"),
        ("memory:", "memory"),
        ("postgres://u:p@h/d", "postgres"),
        ("postgresql://h/d", "postgres"),
        ("redis://h", "redis"),
        ("rediss://h", "redis"),
        ("redis+cluster://h:1,i:2", "redis"),
        ("rediss+cluster://h", "redis"),
        ("qdrant://h:6334", "qdrant"),
        ("qdrant+https://h", "qdrant"),
        ("elastic:", "elastic"),
        ("elastic+http://h:9200", "elastic"),
        ("POSTGRES://u:p@h/d", "postgres"),
        ("Redis+Cluster://h", "redis"),
        ("SQLITE:a", "sqlite"),
        (" qdrant:\n", "qdrant"),
    ];
    for (url, backend) in table {
        assert_eq!(Backend::of(url).unwrap().name(), backend, "{url}");
    }
    for url in ["", "sqlite:", "memory:x", "mysql://h", "http://h", "p ostgres://h", "://h"] {
        assert!(Backend::of(url).is_err(), "{url}");
    }
}

#[test]
fn what_a_url_says_and_its_backend_does_not_know_is_refused_and_not_quoted() {
    for url in [
        "a.sqlite?mode=ro",
        "sqlite:a?pool=2&deadline=1s",
        "postgres://h/d?pool=4&deadline=2s&schema=a&sslmode=require",
        "redis://h?prefix=a&deadline=100ms&protocol=resp3",
        "qdrant://h?pool=3",
        "elastic:?prefix=a&deadline=10s",
        "qdrant:?",
    ] {
        assert!(Backend::of(url).is_ok(), "{url}");
    }
    for url in [
        "sqlite:a?canary=1",
        "a.sqlite?mode=ro&schema=canary",
        "postgres://h/d?pol=canary",
        "postgres://h/d?prefix=canary",
        "redis://h?schema=canary",
        "redis+cluster://h:1,i:2?canary",
        "qdrant://h?api_key=canary",
        "elastic://h?pool=3&canary=",
    ] {
        let error = Backend::of(url).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("canary") && error.to_string().contains("deadline="), "{url}: {error}");
    }
}

#[test]
fn names_that_no_server_takes_are_refused_and_not_quoted() {
    let long = "x".repeat(201);
    for (url, is_legal) in [
        ("sqlite:a?mode=ro".to_owned(), true),
        ("sqlite:a?mode=canary".to_owned(), false),
        ("postgres://h/d?schema=memory_2&pool=2".to_owned(), true),
        ("postgres://h/d?schema=Canary&pool=2".to_owned(), false),
        ("postgres://h/d?schema=pg_canary".to_owned(), false),
        (format!("postgres://h/d?schema={}", &long[..64]), false),
        ("redis://h?prefix=app:1.mem_x-y".to_owned(), true),
        ("redis+cluster://h:1,i:2?prefix={canary}".to_owned(), false),
        (format!("redis://h?prefix={}", &long[..65]), false),
        ("qdrant:?prefix=A-b_1".to_owned(), true),
        (format!("qdrant://h?prefix={long}"), false),
        ("qdrant://h?prefix=".to_owned(), false),
        ("elastic://h?prefix=a-b_1".to_owned(), true),
        ("elastic://h?prefix=Canary".to_owned(), false),
        (format!("elastic://h?deadline=2s&prefix={}", &long[..129]), false),
    ] {
        match check_query(&url) {
            Ok(()) => assert!(is_legal, "{url}"),
            Err(error @ Error::Invalid { .. }) => {
                assert!(!is_legal && !error.to_string().to_lowercase().contains("canary"), "{url}: {error}");
            }
            Err(error) => panic!("{url}: {error}"),
        }
    }
}

#[cfg(all(feature = "elastic", feature = "postgres"))]
#[test]
fn names_are_judged_as_the_adapters_judge_them() {
    let long = "x".repeat(129);
    for name in
        ["", "a", "a_1", "a-1", "_a", "1a", "A", "ü", "pg_a", "pga", &long[..63], &long[..64], &long[..128], &long]
    {
        let schema = memory_postgres::PostgresConfig::new("postgres://h/d").unwrap().with_schema(name);
        assert_eq!(check_query(&format!("postgres://h/d?schema={name}")).is_ok(), schema.is_ok(), "{name}");
        let index = memory_elastic::ElasticConfig::new("https://h").unwrap().with_prefix(name);
        assert_eq!(check_query(&format!("elastic://h?prefix={name}")).is_ok(), index.is_ok(), "{name}");
    }
}

#[cfg(all(feature = "qdrant", feature = "redis"))]
#[tokio::test]
async fn prefixes_are_judged_as_the_adapters_judge_them() {
    let long = "x".repeat(201);
    let names = ["", "a", "A", "-a", "_a", "a.b", "a:b", "a{b", "ü", &long[..64], &long[..65], &long[..200], &long];
    for name in names {
        // Neither connects: one has no time for it, the other would send a key in clear. The prefix is judged before.
        let config = memory_redis::RedisConfig::new("redis://h").with_timeout(std::time::Duration::ZERO);
        let error = memory_redis::Redis::connect(config.with_prefix(name)).await.err().unwrap().to_string();
        let is_refused = check_query(&format!("redis://h?prefix={name}")).is_err();
        assert_eq!(is_refused, error.contains("prefix"), "{name}: {error}");
        let config = memory_qdrant::QdrantConfig::new("http://h").with_api_key("key");
        let error = memory_qdrant::Qdrant::connect(config.with_prefix(name)).await.err().unwrap().to_string();
        let is_refused = check_query(&format!("qdrant://h?prefix={name}")).is_err();
        assert_eq!(is_refused, error.contains("prefix"), "{name}: {error}");
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
        ("sqlite:/a?mode=ro&pool=2", Some("/a")),
        ("what? is it.sqlite", Some("what? is it.sqlite")),
    ];
    for (url, file) in table {
        assert_eq!(Backend::file(url), file, "{url}");
    }
}

fn nothing<'a>(named: &'a Named, policy: &'a GuardPolicy) -> Wanted<'a> {
    Wanted { truth: false, analysis: None, embedders: &[], cache: false, board: None, named, policy }
}

#[tokio::test]
async fn a_backend_says_what_it_cannot_hold_and_which_feature_is_off() {
    let (named, policy) = (Named::default(), GuardPolicy::default());
    let nothing = nothing(&named, &policy);
    let (truth, cache) = (Wanted { truth: true, ..nothing }, Wanted { cache: true, ..nothing });
    let board = Wanted { board: Some((100, Keep::Used)), ..nothing };
    for (url, wanted, what) in [
        ("qdrant://h", &truth, "qdrant cannot hold conversations"),
        ("elastic://h", &truth, "elastic cannot hold conversations"),
        ("postgres://h/d", &cache, "postgres cannot be a cache"),
        ("a.sqlite", &cache, "sqlite cannot be a cache"),
        ("a.sqlite", &board, "sqlite cannot hold boards"),
        ("elastic://h", &board, "elastic cannot hold boards"),
    ] {
        assert_eq!(open(url, wanted, false).await.err().unwrap().to_string(), what);
    }
    for (url, wanted) in [("postgres://h/d", &truth), ("redis://h", &cache), ("redis://h", &board)] {
        let backend = Backend::of(url).unwrap();
        if !backend.is_built_in() {
            let error = open(url, wanted, false).await.err().unwrap().to_string();
            assert!(error.ends_with(&format!("the feature {} is off", backend.name())), "{error}");
        }
    }
}

#[cfg(all(feature = "redis", not(feature = "redis-cluster")))]
#[tokio::test]
async fn a_cluster_needs_its_feature() {
    let (named, policy) = (Named::default(), GuardPolicy::default());
    let wanted = Wanted { truth: true, ..nothing(&named, &policy) };
    let error = open("redis+cluster://h", &wanted, false).await.err().unwrap().to_string();
    assert_eq!(error, "redis cannot be opened as a cluster: the feature redis-cluster is off");
}

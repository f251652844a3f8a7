//! Answers that a real server gives only in trouble: each has its remedy, the next call is served, and no error tells what
//! was said.

#[cfg(test)]
mod stub {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::store::chat::{Append, Appended, ChatStore, NewMessage, Page, View};
    use memory_core::store::{Durability, Store};
    use memory_core::{Epoch, Error, Message, Result, Role, Scope, Seq, SessionId, Timestamp, Transience};
    use memory_redis::{Redis, RedisCache, RedisChat, RedisConfig};
    use memory_testkit::doubles::ManualClock;
    use memory_testkit::faults::{Proxy, RedisStub, reply};

    /// How long a call waits that is answered too late.
    const SHORT: Duration = Duration::from_millis(200);

    /// Something that no error may show.
    const CANARY: &str = "canary4711";

    /// What the script answers once it has appended a message.
    fn appended() -> String {
        let state = ["00000000000000000000", "0", "0", "1", "1", "1", "0", ""].map(reply::bulk);
        let none: [&str; 0] = [];
        reply::array(&[reply::bulk("ok"), reply::array(&state), reply::array(&none)])
    }

    /// Returns the way to a stub, which answers at once, with the patience of a machine that may stop for many seconds.
    fn patient(url: impl Into<String>) -> RedisConfig {
        RedisConfig::new(url).with_timeout(Duration::from_secs(60)).with_connect_timeout(Duration::from_secs(60))
    }

    async fn open(stub: &RedisStub) -> Result<RedisChat> {
        let url = stub.url().replace("redis://", &format!("redis://:{CANARY}@"));
        RedisChat::new(&Redis::connect(patient(url)).await?)
    }

    async fn append(chat: &RedisChat) -> Result<Appended> {
        let message = Arc::new(Message::new(Role::User, CANARY, Timestamp(0)));
        let batch = Append::new(vec![NewMessage::sized(message, 1)]);
        chat.append(&Scope::new("stub", "ada")?, &SessionId::new("s")?, &batch).await
    }

    fn shown(error: &Error) -> String {
        let mut text = format!("{error} {error:?}");
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            text.push_str(&format!("{cause} {cause:?}"));
            source = cause.source();
        }
        text
    }

    #[tokio::test]
    async fn a_server_in_trouble_is_asked_again() {
        for trouble in [reply::OOM, reply::MISCONF, reply::READONLY, reply::LOADING, reply::BUSY, reply::MOVED] {
            let stub = RedisStub::start().await.unwrap();
            let chat = open(&stub).await.unwrap();
            stub.once("EVALSHA", trouble);
            stub.always("EVALSHA", appended());
            let error = append(&chat).await.unwrap_err();
            assert!(error.is_retryable(), "{trouble}: {error}");
            assert!(!shown(&error).contains(CANARY), "{}", shown(&error));
            assert_eq!(append(&chat).await.unwrap().state.head.0, 1, "{trouble}");
        }
    }

    #[tokio::test]
    async fn a_server_that_became_a_replica_is_looked_for_anew() {
        let stub = RedisStub::start().await.unwrap();
        let chat = open(&stub).await.unwrap();
        let greetings = || stub.commands().iter().filter(|command| command[0] == "AUTH").count();
        assert_eq!(greetings(), 1);
        stub.once("EVALSHA", reply::READONLY);
        stub.always("EVALSHA", appended());
        append(&chat).await.unwrap_err();
        append(&chat).await.unwrap();
        assert_eq!(greetings(), 2);
    }

    #[tokio::test]
    async fn a_cut_connection_is_made_anew() {
        let stub = RedisStub::start().await.unwrap();
        let chat = open(&stub).await.unwrap();
        stub.once("EVALSHA", "");
        stub.always("EVALSHA", appended());
        let error = append(&chat).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        append(&chat).await.unwrap();
    }

    #[tokio::test]
    async fn a_script_that_the_server_forgot_is_sent_with_its_text() {
        let stub = RedisStub::start().await.unwrap();
        let chat = open(&stub).await.unwrap();
        stub.once("EVALSHA", "-NOSCRIPT No matching script. Please use EVAL.\r\n");
        stub.always("EVAL", appended());
        append(&chat).await.unwrap();
        let sent = stub.commands();
        let text = sent.iter().find(|command| command[0] == "EVAL").map(|command| command[1].clone()).unwrap();
        assert!(text.contains("-- Appends messages."));
    }

    #[tokio::test]
    async fn what_waiting_does_not_mend_is_final() {
        let final_answers = [
            reply::NOAUTH,
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
            "-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
            "-ERR unknown command 'EVALSHA'\r\n",
        ];
        for answer in final_answers {
            let stub = RedisStub::start().await.unwrap();
            let chat = open(&stub).await.unwrap();
            stub.always("EVALSHA", answer);
            let error = append(&chat).await.unwrap_err();
            assert!(matches!(error, Error::Backend { .. }) && !error.is_retryable(), "{answer}: {error}");
            assert!(!shown(&error).contains(CANARY), "{}", shown(&error));
        }
    }

    #[tokio::test]
    async fn odd_answers_are_damage_and_no_panic() {
        let none: [&str; 0] = [];
        let odd = [
            reply::OK.to_owned(),
            reply::NIL.to_owned(),
            reply::integer(7),
            reply::array(&none),
            reply::array(&[reply::bulk("ok")]),
            reply::array(&[reply::bulk("never")]),
            reply::array(&[reply::bulk("ok"), reply::array(&[reply::bulk("x")])]),
            reply::array(&[reply::bulk("taken"), reply::bulk("short")]),
        ];
        for answer in odd {
            let stub = RedisStub::start().await.unwrap();
            let chat = open(&stub).await.unwrap();
            stub.always("EVALSHA", answer.clone());
            let error = append(&chat).await.unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{answer}: {error}");
        }
    }

    #[tokio::test]
    async fn a_server_that_tells_no_settings_is_volatile() {
        let stub = RedisStub::start().await.unwrap();
        stub.always("CONFIG", "-ERR unknown command 'CONFIG'\r\n");
        let chat = open(&stub).await.unwrap();
        let health = chat.ping().await.unwrap();
        assert_eq!((health.durability, health.version.as_str()), (Durability::Volatile, "8.0.2"));
        assert!(!format!("{chat:?}").contains(CANARY));
    }

    /// Lets the server tell these settings.
    fn set_up(stub: &RedisStub, sync: &str, policy: &str) {
        let settings = ["appendonly", "yes", "appendfsync", sync, "maxmemory-policy", policy];
        let mut words = settings.map(reply::bulk).to_vec();
        words.extend(["no-appendfsync-on-rewrite", "no"].map(reply::bulk));
        stub.always("CONFIG GET", reply::array(&words));
    }

    fn count(stub: &RedisStub, name: &str) -> usize {
        stub.commands().iter().filter(|command| command[0] == name).count()
    }

    #[tokio::test]
    async fn a_durability_class_is_read_again_each_minute_and_not_with_each_append() {
        let (stub, clock) = (RedisStub::start().await.unwrap(), Arc::new(ManualClock::default()));
        set_up(&stub, "always", "noeviction");
        stub.always("EVALSHA", appended());
        let config = patient(stub.url()).with_clock(clock.clone());
        let chat = RedisChat::new(&Redis::connect(config).await.unwrap()).unwrap();
        set_up(&stub, "everysec", "noeviction");
        let asked = count(&stub, "CONFIG");
        clock.advance(Duration::from_micros(59_999_999));
        for _ in 0..3 {
            assert_eq!(append(&chat).await.unwrap().durability, Durability::Committed);
        }
        assert_eq!(count(&stub, "CONFIG"), asked);
        clock.advance(Duration::from_micros(1));
        assert_eq!(append(&chat).await.unwrap().durability, Durability::Volatile);
        assert_eq!(count(&stub, "CONFIG"), 2 * asked);
    }

    #[tokio::test]
    async fn a_server_that_begins_to_evict_is_written_to_no_more() {
        for allows in [false, true] {
            let (stub, clock) = (RedisStub::start().await.unwrap(), Arc::new(ManualClock::default()));
            set_up(&stub, "always", "volatile-lru");
            stub.always("EVALSHA", appended());
            let config = patient(stub.url()).with_clock(clock.clone()).with_allow_lossy(allows);
            let chat = RedisChat::new(&Redis::connect(config).await.unwrap()).unwrap();
            append(&chat).await.unwrap();
            set_up(&stub, "always", "allkeys-lru");
            clock.advance(Duration::from_secs(60));
            let answer = append(&chat).await.map(|appended| appended.durability);
            match allows {
                true => assert_eq!(answer.unwrap(), Durability::Volatile),
                false => assert!(matches!(answer, Err(Error::Unsupported { .. })), "{answer:?}"),
            }
            assert_eq!(count(&stub, "EVALSHA"), 1 + usize::from(allows));
        }
    }

    #[tokio::test]
    async fn settings_are_read_again_after_a_connection_was_cut() {
        let (stub, clock) = (RedisStub::start().await.unwrap(), Arc::new(ManualClock::default()));
        set_up(&stub, "always", "noeviction");
        let config = patient(stub.url()).with_clock(clock.clone());
        let chat = RedisChat::new(&Redis::connect(config).await.unwrap()).unwrap();
        stub.once("EVALSHA", "");
        stub.always("EVALSHA", appended());
        append(&chat).await.unwrap_err();
        set_up(&stub, "no", "noeviction");
        assert_eq!(append(&chat).await.unwrap().durability, Durability::Volatile);
    }

    /// What the script of a page answers of a session of that revision: no row, but that there may be more.
    fn part(revision: usize, has_more: bool) -> String {
        let state = ["00000000000000000000", "0", &revision.to_string(), "9", "9", "9", "0", ""].map(reply::bulk);
        let none: [&str; 0] = [];
        let more = if has_more { ":1\r\n" } else { ":0\r\n" };
        reply::array(&[&reply::bulk("ok"), &reply::array(&state), more, &reply::array(&none), &reply::array(&none)])
    }

    #[tokio::test]
    async fn a_page_of_a_session_that_changes_all_the_while_says_that_it_is_torn() {
        for (changes, is_complete) in [(1, true), (7, true), (8, false)] {
            let stub = RedisStub::start().await.unwrap();
            let chat = open(&stub).await.unwrap();
            for change in 0..changes {
                stub.once("EVALSHA", part(2 * change, true));
                stub.once("EVALSHA", part(2 * change + 1, false));
            }
            stub.once("EVALSHA", part(99, true));
            stub.once("EVALSHA", part(99, false));
            let (scope, session) = (Scope::new("stub", "ada").unwrap(), SessionId::new("s").unwrap());
            let slice = chat.read(&scope, &session, &Page::after(Seq(0), 9, View::All)).await.unwrap();
            assert_eq!(slice.complete, is_complete, "{changes} changes");
        }
    }

    #[tokio::test]
    async fn a_cache_is_erased_anew_until_a_whole_scan_finds_nothing() {
        let stub = RedisStub::start().await.unwrap();
        let cache = RedisCache::new(&Redis::connect(patient(stub.url())).await.unwrap());
        // How many values went, how many entries the index held of them, and where to go on.
        for (removed, listed, next) in [(2, 3, "7"), (0, 0, "0"), (0, 1, "0"), (1, 1, "7"), (0, 0, "0"), (0, 0, "0")] {
            let [removed, listed] = [removed, listed].map(reply::integer);
            stub.once("EVALSHA", reply::array(&[reply::bulk("ok"), removed, listed, reply::bulk(next)]));
        }
        let erased = cache.erase(&Scope::new("stub", "ada").unwrap(), Epoch(1)).await.unwrap();
        assert_eq!((erased.removed, erased.remaining), (3, 0));
        let steps = stub.commands().into_iter().filter(|command| command[0] == "EVALSHA");
        assert_eq!(steps.map(|step| step[5].clone()).collect::<Vec<_>>(), ["0", "7", "0", "0", "7", "0"]);
    }

    /// Returns the conversations of a stub behind a proxy, and the way to them: no call waits for long.
    async fn hasty(stub: &RedisStub, proxy: &Proxy) -> (RedisChat, RedisConfig) {
        let config = patient(proxy.in_place_of(&stub.url())).with_timeout(SHORT).with_connect_timeout(SHORT);
        // A busy machine may take longer than that to connect.
        let redis = loop {
            match Redis::connect(config.clone()).await {
                Ok(redis) => break redis,
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
        };
        (RedisChat::new(&redis).unwrap(), config)
    }

    fn is_late(error: &Error) -> bool {
        matches!(error, Error::Backend { transience: Transience::Late, .. })
    }

    #[tokio::test]
    async fn a_call_whose_time_was_up_is_late() {
        let stub = RedisStub::start().await.unwrap();
        let proxy = Proxy::start(stub.url().replace("redis://", "")).await.unwrap();
        let (chat, _) = hasty(&stub, &proxy).await;
        proxy.stall();
        let error = append(&chat).await.unwrap_err();
        assert!(is_late(&error), "{error:?}");
        let error = chat.ping().await.unwrap_err();
        assert!(is_late(&error), "{error:?}");
    }

    #[tokio::test]
    async fn a_call_that_waited_for_a_connection_in_vain_is_not_late() {
        let stub = RedisStub::start().await.unwrap();
        let proxy = Proxy::start(stub.url().replace("redis://", "")).await.unwrap();
        let (chat, config) = hasty(&stub, &proxy).await;
        proxy.refuse();
        append(&chat).await.unwrap_err();
        proxy.stall();
        let (scope, session) = (Scope::new("stub", "ada").unwrap(), SessionId::new("s").unwrap());
        let unread = chat.read(&scope, &session, &Page::newest(1)).await.unwrap_err();
        let unconnected = Redis::connect(config).await.map(drop).unwrap_err();
        for error in [unread, append(&chat).await.unwrap_err(), unconnected] {
            assert!(error.is_retryable() && !is_late(&error), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_let_nobody_in_for_a_while_is_served_again() {
        let stub = RedisStub::start().await.unwrap();
        let chat = open(&stub).await.unwrap();
        stub.always("AUTH", "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
        stub.once("EVALSHA", "");
        stub.always("EVALSHA", appended());
        append(&chat).await.unwrap_err();
        let error = append(&chat).await.unwrap_err();
        assert!(matches!(error, Error::Backend { .. }) && !error.is_retryable(), "{error}");
        stub.always("AUTH", reply::OK);
        append(&chat).await.unwrap();
    }

    #[tokio::test]
    async fn nobody_there_is_told_within_the_timeouts() {
        let refused = Redis::connect(RedisConfig::new("redis://127.0.0.1:1")).await.map(drop);
        assert!(matches!(&refused, Err(error @ Error::Backend { .. }) if error.is_retryable()), "{refused:?}");
        for url in ["", "http://127.0.0.1", "redis://"] {
            let wrong = Redis::connect(RedisConfig::new(url)).await.map(drop);
            assert!(wrong.is_err(), "{url}: {wrong:?}");
        }
    }
}

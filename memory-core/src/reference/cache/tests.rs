use super::*;

#[derive(Debug)]
struct Frozen(std::sync::atomic::AtomicI64);

impl Clock for Frozen {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
}

#[tokio::test]
async fn entries_that_nobody_asks_for_do_not_pile_up() {
    let clock = Arc::new(Frozen(0.into()));
    let cache = MemCache::new(clock.clone());
    for n in 0..20 * FIRST_SWEEP {
        let scope = Scope::new("acme", &format!("{}", n % 7)).unwrap();
        clock.0.store(n as i64, std::sync::atomic::Ordering::SeqCst);
        cache.put(&scope, Epoch(0), &n.to_string(), b"x", Duration::from_micros(10)).await.unwrap();
        let state = cache.state.lock();
        let entries: usize = state.owners.values().flat_map(|owner| owner.epochs.values()).map(HashMap::len).sum();
        assert!(entries <= FIRST_SWEEP + 10, "{entries} entries");
    }
}

#[tokio::test]
async fn entries_that_live_are_not_swept() {
    let cache = MemCache::new(Arc::new(Frozen(0.into())));
    let scope = Scope::new("acme", "ada").unwrap();
    for n in 0..3 * FIRST_SWEEP {
        cache.put(&scope, Epoch(0), &n.to_string(), b"x", Duration::from_secs(1)).await.unwrap();
    }
    for n in 0..3 * FIRST_SWEEP {
        assert!(cache.get(&scope, Epoch(0), &n.to_string()).await.unwrap().is_some());
    }
}

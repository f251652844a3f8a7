//! Messages that were set aside and are sent again, over a journal that takes its time or can remove nothing: whatever happens
//! meanwhile, none is lost from sight, doubled or brought back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::Error;
use memory_core::engine::{Forget, Memory, Scoped};
use memory_core::methods::*;
use memory_core::reference::MemJournal;
use memory_testkit::broken_store;
use tokio::time::{Instant, sleep, timeout};

use crate::fixture::{Bed, ada, message, numbered, say, session, talk};

memory_core::store_methods!(Journal => broken_store { Arc<MemJournal> {} });

/// How long the journal takes before it does what it is asked, and afterwards.
const CALL: Duration = Duration::from_millis(20);

/// More quarters of a call than a retry takes.
const QUARTERS: u32 = 24;

/// A slow journal.
#[derive(Debug, Default)]
struct Slow {
    /// Its answers to who reads what waits are lost.
    loses_answers: AtomicBool,
    /// It can remove nothing for good.
    is_full: AtomicBool,
    /// It takes its time also before it has what is pushed.
    is_late: AtomicBool,
}

#[async_trait]
impl Break for Arc<Slow> {
    async fn push(&self, inner: &Arc<MemJournal>, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        if self.is_late.load(Ordering::SeqCst) {
            sleep(2 * CALL).await;
        }
        let last = inner.push(scope, session, batch).await;
        sleep(3 * CALL).await;
        last
    }

    async fn queued(
        &self,
        inner: &Arc<MemJournal>,
        owner: Option<&Scope>,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Queued>> {
        sleep(CALL).await;
        let queued = inner.queued(owner, session, limit).await;
        sleep(CALL).await;
        if self.loses_answers.load(Ordering::SeqCst) { Err(Error::QueueFull) } else { queued }
    }

    async fn acknowledge(&self, inner: &Arc<MemJournal>, numbers: &[u64]) -> Result<()> {
        sleep(2 * CALL).await;
        inner.acknowledge(numbers).await
    }

    async fn forget(&self, inner: &Arc<MemJournal>, scope: &Scope, ids: &[MessageId]) -> Result<u64> {
        if self.is_full.load(Ordering::SeqCst) { Err(Error::QueueFull) } else { inner.forget(scope, ids).await }
    }

    async fn discard(&self, inner: &Arc<MemJournal>, numbers: &[u64]) -> Result<u64> {
        if self.is_full.load(Ordering::SeqCst) && !numbers.is_empty() {
            return Err(Error::QueueFull);
        }
        inner.discard(numbers).await
    }

    async fn revive(&self, inner: &Arc<MemJournal>, revived: &[(u64, Option<Fence>)]) -> Result<()> {
        sleep(CALL).await;
        let done = inner.revive(revived).await;
        sleep(CALL).await;
        done
    }
}

/// A memory over a slow journal, in which a message was set aside that the primary takes now.
struct Aside {
    bed: Bed,
    slow: Arc<Slow>,
    memory: Memory,
    owner: Scoped,
    poison: MessageId,
}

impl Aside {
    async fn new() -> Self {
        let (bed, slow) = (Bed::new(), Arc::new(Slow::default()));
        let journal = Mutant { inner: bed.journal.clone(), broken: slow.clone() };
        let memory = bed.open_with(Arc::new(journal)).await;
        let (owner, talk) = (memory.of(&ada()), session(&memory));
        *bed.faults.refuses.lock().unwrap() = Some("poison");
        let poison = message("poison");
        let id = poison.id;
        talk.append(vec![poison]).await.unwrap();
        say(&talk, numbered(0..3)).await;
        sleep(Duration::from_secs(60)).await;
        assert_eq!(bed.held().await, (0, 1));
        *bed.faults.refuses.lock().unwrap() = None;
        Self { bed, slow, memory, owner, poison: id }
    }

    /// Lets every append of the primary take so long.
    fn delay(&self, delay: Duration) {
        *self.bed.faults.delay.lock().unwrap() = delay;
    }

    /// Returns how many messages wait in the journal, and how many in the memory.
    async fn waiting(&self) -> (usize, usize) {
        let (held, _) = self.bed.held().await;
        (held, self.memory.status().await.journal.unwrap().waiting)
    }

    /// Sends all that waits, and returns the words that the primary has then.
    async fn sent(&self) -> Vec<String> {
        assert_eq!(self.memory.flush(Duration::from_secs(300)).await, 0);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(self.bed.held().await, (0, 0));
        self.bed.stored().await
    }
}

fn holds(texts: &[String], words: &str) -> bool {
    texts.iter().any(|text| text == words)
}

#[tokio::test(start_paused = true)]
async fn a_retry_given_up_at_any_moment_goes_on_or_did_not_begin() {
    for quarter in 0..QUARTERS {
        let aside = Aside::new().await;
        let _ = timeout(CALL / 4 * quarter, aside.owner.retry(&[aside.poison])).await;
        sleep(Duration::from_secs(10)).await;
        let is_refused = !aside.owner.refused(9).await.unwrap().is_empty();
        assert_ne!(is_refused, holds(&aside.bed.stored().await, "poison"), "after {quarter} quarters of a call");
        aside.owner.retry(&[aside.poison]).await.unwrap();
        assert!(holds(&aside.sent().await, "poison"), "after {quarter} quarters of a call");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_failed_half_way_is_completed_by_its_repeat() {
    let aside = Aside::new().await;
    aside.slow.loses_answers.store(true, Ordering::SeqCst);
    assert!(aside.owner.retry(&[aside.poison]).await.is_err());
    aside.slow.loses_answers.store(false, Ordering::SeqCst);
    assert_eq!((aside.bed.held().await, aside.waiting().await), ((1, 0), (1, 0)));
    assert_eq!(aside.owner.retry(&[aside.poison]).await.unwrap(), 1);
    assert_eq!(aside.owner.retry(&[aside.poison]).await.unwrap(), 0);
    assert!(holds(&aside.sent().await, "poison"));
}

#[tokio::test(start_paused = true)]
async fn what_is_said_during_a_retry_is_queued_once() {
    for quarter in 0..QUARTERS {
        let aside = Aside::new().await;
        aside.delay(Duration::from_secs(5));
        let beside = message("beside");
        let id = beside.id;
        let talk = session(&aside.memory);
        let said = async {
            sleep(CALL / 4 * quarter).await;
            talk.append(vec![beside]).await.unwrap();
        };
        let ids = [aside.poison, id];
        let ((), retried) = tokio::join!(said, aside.owner.retry(&ids));
        assert_eq!(retried.unwrap(), 1);
        assert_eq!(aside.waiting().await, (2, 2), "after {quarter} quarters of a call");
        let sent = aside.sent().await;
        assert!(holds(&sent, "poison") && holds(&sent, "beside"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_holds_up_no_other_owner() {
    let aside = Aside::new().await;
    let bob = aside.memory.of(&Scope::new("acme", "bob").unwrap()).session(&talk());
    let said = async {
        // Meanwhile the retry is in the midst of its first call.
        sleep(CALL / 2).await;
        let begun = Instant::now();
        say(&bob, numbered(0..1)).await;
        begun.elapsed()
    };
    let ids = [aside.poison];
    let (took, retried) = tokio::join!(said, aside.owner.retry(&ids));
    assert_eq!(retried.unwrap(), 1);
    assert!(took < 4 * CALL, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_during_a_retry_does_not_wait_again() {
    for quarter in 0..QUARTERS {
        let aside = Aside::new().await;
        aside.delay(5 * CALL);
        let beside = message("beside");
        let ids = [aside.poison, beside.id];
        let talk = session(&aside.memory);
        talk.append(vec![beside]).await.unwrap();
        let retried = async {
            sleep(CALL / 4 * quarter).await;
            aside.owner.retry(&ids).await.unwrap();
            sleep(3 * CALL).await;
            let (held, waiting) = aside.waiting().await;
            assert!(waiting <= held, "{waiting} of {held} after {quarter} quarters of a call");
        };
        let (flushed, ()) = tokio::join!(talk.flush(), retried);
        flushed.unwrap();
        let sent = aside.sent().await;
        assert!(holds(&sent, "poison") && holds(&sent, "beside"));
    }
}

#[tokio::test(start_paused = true)]
async fn o8_what_is_forgotten_during_a_retry_is_not_brought_back() {
    for quarter in 0..QUARTERS {
        let aside = Aside::new().await;
        let forgotten = async {
            sleep(CALL / 4 * quarter).await;
            aside.owner.forget(&Forget::Messages(vec![aside.poison])).await.unwrap()
        };
        let ids = [aside.poison];
        let (_, retried) = tokio::join!(forgotten, aside.owner.retry(&ids));
        retried.unwrap();
        assert!(!holds(&aside.sent().await, "poison"), "after {quarter} quarters of a call");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_loses_nothing_after_the_primary_has_gone_back_to_an_older_fence() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let owner = memory.of(&ada());
    say(&session(&memory), numbered(0..1)).await;
    assert!(owner.forget(&Forget::Session(talk())).await.unwrap().complete);
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    let (talk, poison) = (session(&memory), message("poison"));
    let ids = [poison.id];
    talk.append(vec![poison]).await.unwrap();
    say(&talk, numbered(1..4)).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(1..4), (0, 1)));
    *bed.faults.refuses.lock().unwrap() = None;
    // The backup is from before the conversation was deleted.
    *bed.faults.restored.lock().unwrap() = Some(Arc::default());
    assert_eq!(owner.retry(&ids).await.unwrap(), 1);
    assert_eq!(memory.flush(Duration::from_secs(300)).await, 0);
    assert_eq!((bed.stored().await, bed.held().await), (vec!["poison".to_owned()], (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_can_remove_nothing_keeps_no_forgotten_text_readable() {
    let aside = Aside::new().await;
    let (talk, said) = (session(&aside.memory), message("my pin is 4711"));
    let what = Forget::Messages(vec![said.id]);
    talk.append(vec![said]).await.unwrap();
    talk.flush().await.unwrap();
    assert!(holds(&aside.bed.stored().await, "my pin is 4711"));
    aside.slow.is_full.store(true, Ordering::SeqCst);
    assert!(aside.owner.forget(&what).await.is_err());
    assert!(!holds(&aside.bed.stored().await, "my pin is 4711"));
    aside.slow.is_full.store(false, Ordering::SeqCst);
    assert!(aside.owner.forget(&what).await.unwrap().complete);
}

#[tokio::test(start_paused = true)]
async fn o8_a_message_that_an_erasure_overtakes_on_its_way_into_the_journal_is_refused_and_shown_to_nobody() {
    for is_late in [false, true] {
        let (bed, slow) = (Bed::new(), Arc::new(Slow::default()));
        let journal = Mutant { inner: bed.journal.clone(), broken: slow.clone() };
        let memory = bed.open_with(Arc::new(journal)).await;
        let talk = session(&memory);
        say(&talk, numbered(0..1)).await;
        talk.flush().await.unwrap();
        slow.is_late.store(is_late, Ordering::SeqCst);
        let forget = async {
            // The journal has the message and has not answered yet, or has it only after the erasure.
            sleep(CALL).await;
            let receipt = memory.of(&ada()).forget(&Forget::Everything).await.unwrap();
            assert_eq!(bed.held().await, (0, 0));
            receipt
        };
        let (late, receipt) = tokio::join!(talk.append(vec![message("a secret")]), forget);
        assert!(matches!(late, Err(Error::Fenced)) && receipt.complete, "{late:?}");
        assert_eq!(memory.status().await.journal.unwrap().waiting, 0);
        assert_eq!((bed.held().await, bed.stored().await.len()), ((0, 0), 0), "{is_late}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_append_that_an_erasure_overtakes_tells_when_the_journal_cannot_remove_it() {
    let (bed, slow) = (Bed::new(), Arc::new(Slow::default()));
    let journal = Mutant { inner: bed.journal.clone(), broken: slow.clone() };
    let memory = bed.open_with(Arc::new(journal)).await;
    let (owner, talk) = (memory.of(&ada()), session(&memory));
    say(&talk, numbered(0..1)).await;
    talk.flush().await.unwrap();
    slow.is_late.store(true, Ordering::SeqCst);
    slow.is_full.store(true, Ordering::SeqCst);
    let forget = async {
        sleep(CALL).await;
        owner.forget(&Forget::Everything).await.unwrap()
    };
    let (late, _) = tokio::join!(talk.append(vec![message("a secret")]), forget);
    assert!(matches!(late, Err(Error::QueueFull)), "{late:?}");
    assert_eq!((bed.held().await, bed.stored().await.len()), ((0, 1), 0));
    slow.is_full.store(false, Ordering::SeqCst);
    assert!(owner.refused(9).await.unwrap().is_empty());
    assert_eq!(bed.held().await, (0, 0));
}

use super::admit::Look;
use super::*;
use crate::error::Error;
use crate::message::{Message, Role};
use crate::store::chat::{Append, NewMessage, Placement, Redacted};

fn place() -> (Scope, SessionId) {
    (Scope::new("acme", "ada").unwrap(), SessionId::new("s").unwrap())
}

fn queued(number: u64, fence: Option<Fence>) -> Queued {
    let (scope, session) = place();
    let new = NewMessage::sized(Message::new(Role::User, format!("message {number}"), Timestamp(0)), 1);
    Queued { number, scope, session, fence, asked: 0, new }
}

fn numbers(rows: &[Queued]) -> Vec<u64> {
    rows.iter().map(|queued| queued.number).collect()
}

fn filled(numbers: impl IntoIterator<Item = u64>, now: Instant) -> Queue {
    let mut queue = Queue::new(WriteBehindPolicy::default());
    queue.insert(numbers.into_iter().map(|number| queued(number, None)).collect(), now);
    queue
}

#[tokio::test]
async fn pushes_that_end_in_any_order_stand_in_that_of_their_numbers() {
    let now = Instant::now();
    let mut queue = filled([3, 4, 1], now);
    queue.insert(vec![queued(2, None)], now);
    let (scope, session) = place();
    let sending = queue.send(&scope, &session).unwrap();
    assert_eq!(numbers(&sending.rows), [1, 2, 3, 4]);
    // What comes late stands behind what is under way.
    queue.insert(vec![queued(9, None), queued(0, None)], now);
    assert!(queue.send(&scope, &session).is_none());
    queue.remove(&scope, &session, Reach::All, |queued| (1..=4).contains(&queued.number));
    queue.landed(&sending, now, false, 0);
    assert_eq!(numbers(&queue.send(&scope, &session).unwrap().rows), [0, 9]);
}

#[tokio::test]
async fn messages_of_two_fences_go_apart() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = filled([1, 2], now);
    let fence = Some(Fence { epoch: Epoch(1), generation: 0 });
    queue.insert(vec![queued(3, fence)], now);
    let sending = queue.send(&scope, &session).unwrap();
    assert_eq!((sending.fence, numbers(&sending.rows)), (None, vec![1, 2]));
    queue.remove(&scope, &session, Reach::All, |queued| queued.number < 3);
    queue.landed(&sending, now, false, 0);
    let sending = queue.send(&scope, &session).unwrap();
    assert_eq!((sending.fence, numbers(&sending.rows)), (fence, vec![3]));
}

#[tokio::test]
async fn a_flight_of_what_was_erased_ends_no_other() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = filled([1], now);
    let erased = queue.send(&scope, &session).unwrap();
    queue.remove(&scope, &session, Reach::All, |_| true);
    queue.insert(vec![queued(2, None)], now);
    let later = queue.send(&scope, &session).unwrap();
    queue.landed(&erased, now, true, 0);
    assert!(queue.send(&scope, &session).is_none(), "it is under way");
    assert_eq!(queue.flights(), 1);
    queue.landed(&later, now, false, 0);
    assert_eq!(numbers(&queue.send(&scope, &session).unwrap().rows), [2]);
}

#[tokio::test]
async fn a_wait_without_end_ends_no_process() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = Queue::new(WriteBehindPolicy::default().with_age(Duration::MAX));
    queue.insert(vec![queued(1, None)], now);
    assert!(queue.next(now).is_err());
    assert!(queue.went_away(now, |_| Duration::MAX) > now);
    let sending = queue.send(&scope, &session).unwrap();
    queue.landed(&sending, now, false, 0);
    queue.taken(&sending, now);
    assert!(queue.next(now).is_err());
}

#[tokio::test]
async fn a_message_goes_when_it_is_due_and_the_primary_is_not_away() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = filled([1], now);
    let due = now + queue.policy.age;
    assert_eq!(queue.next(now).unwrap_err(), Some(due));
    queue.hasten(&scope, &session, now);
    let sending = queue.next(now).unwrap();
    assert_eq!(numbers(&sending.rows), [1]);
    assert!(queue.next(now).is_err());
    let until = queue.went_away(now, |failures| Duration::from_secs(u64::from(failures)));
    queue.landed(&sending, until, true, 0);
    assert_eq!(queue.next(now).unwrap_err(), Some(until));
    // One looks whether it is back, and the others wait for that one.
    let mut other = queued(2, None);
    other.session = SessionId::new("t").unwrap();
    queue.insert(vec![other], now - queue.policy.age);
    assert!(queue.next(until).is_ok());
    assert_eq!(queue.next(until).unwrap_err(), None);
    let later = queue.went_away(until, |failures| Duration::from_secs(u64::from(failures)));
    assert_eq!(later, until + Duration::from_secs(2));
}

#[tokio::test]
async fn handles_of_an_erased_owner_are_fenced_and_what_they_queued_leaves() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = filled([1, 2], now);
    let batch = |fence| Append { fence, ..Append::new(vec![queued(7, None).new]) };
    queue.bury(&scope, Epoch(1));
    assert_eq!((queue.count(), queue.take_stale().into_iter().flat_map(|stale| stale.numbers).count()), (0, 2));
    let old = Some(Fence::default());
    assert!(matches!(queue.admit(&scope, &session, &batch(old), Look::Away), Err(Error::Fenced)));
    let new = Some(Fence { epoch: Epoch(1), generation: 0 });
    assert_eq!(queue.admit(&scope, &session, &batch(new), Look::Away).unwrap().unwrap().new.fence, new);
    assert!(queue.admit(&scope, &session, &batch(new), Look::NotYet).unwrap().is_none());
    // Nor does an answer from before the erasure tell what is queued now.
    queue.know(&scope, &unknown(&session));
    for look in [Look::NotYet, Look::Answered] {
        assert!(queue.admit(&scope, &session, &batch(None), look).unwrap().is_none());
    }
}

#[tokio::test]
async fn what_is_known_is_bounded_and_empty_owners_leave_no_trace() {
    let (now, mut queue) = (Instant::now(), Queue::new(WriteBehindPolicy::default()));
    for number in 0..2 * KNOWN as u64 {
        let scope = Scope::new("acme", &number.to_string()).unwrap();
        let session = SessionId::new("s").unwrap();
        queue.insert(vec![Queued { scope: scope.clone(), ..queued(number, None) }], now);
        queue.know(&scope, &unknown(&session));
        queue.bury(&scope, Epoch(1));
        queue.take_stale();
    }
    assert!(queue.known.len() <= KNOWN && queue.floors.len() <= KNOWN);
    assert!(queue.owners.is_empty() && queue.schedule.is_empty() && queue.count == 0);
}

#[tokio::test]
async fn what_waits_adds_up_and_leaves_nothing_behind() {
    let (now, (scope, session)) = (Instant::now(), place());
    let mut queue = filled(1..=10, now);
    let state = queue.state(&scope, &session);
    assert_eq!((state.head, state.active_messages, state.active_tokens), (Seq(10), 10, 10));
    assert_eq!(queue.bounds(&scope, &session), Some((1, 10)));
    // The same message twice waits until both are gone.
    let twice = Queued { number: 11, ..queued(1, None) };
    let id = twice.new.message.id;
    queue.insert(vec![Queued { number: 12, ..twice.clone() }, twice], now);
    let sending = queue.send(&scope, &session).unwrap();
    assert_eq!(queue.remove(&scope, &session, Reach::Sent, |queued| queued.number <= 11).len(), 11);
    assert_eq!(queue.sessions_of(&scope, &[id]), std::slice::from_ref(&session));
    queue.landed(&sending, now, false, 0);
    assert_eq!(queue.remove(&scope, &session, Reach::All, |_| true), [12]);
    assert!(queue.owners.is_empty() && queue.schedule.is_empty() && queue.count == 0 && queue.flights == 0);
}

#[tokio::test]
async fn the_bytes_that_wait_are_those_of_the_messages_that_do() {
    let (now, (scope, session)) = (Instant::now(), place());
    let bytes = |number| queued(number, None).new.message.encoded_len() as u64;
    let mut queue = filled([1, 2, 10], now);
    assert_eq!(queue.bytes(), bytes(1) + bytes(2) + bytes(10));
    queue.remove(&scope, &session, Reach::All, |queued| queued.number < 3);
    assert_eq!(queue.bytes(), bytes(10));
    queue.remove(&scope, &session, Reach::All, |_| true);
    assert_eq!((queue.count(), queue.bytes()), (0, 0));
}

#[tokio::test]
async fn looking_again_at_a_known_session_forgets_no_other() {
    let (mut queue, (scope, _)) = (Queue::new(WriteBehindPolicy::default()), place());
    let session = |number: usize| SessionId::new(&number.to_string()).unwrap();
    (0..KNOWN).for_each(|number| queue.know(&scope, &unknown(&session(number))));
    queue.know(&scope, &unknown(&session(0)));
    assert!((0..KNOWN).all(|number| queue.known(&scope, &session(number)).is_some()));
    queue.know(&scope, &unknown(&session(KNOWN)));
    assert!(queue.known.len() <= KNOWN && queue.known(&scope, &session(KNOWN)).is_some());
}

/// Returns the fence of a session that was deleted so often, and its state.
fn deleted(generation: u64) -> (Fence, SessionState) {
    let fence = Fence { epoch: Epoch(0), generation };
    (fence, SessionState { fence, ..unknown(&place().1) })
}

/// Forgets a message that is new, and returns it.
fn forgotten(queue: &mut Queue) -> NewMessage {
    let ((scope, session), new) = (place(), queued(1, None).new);
    queue.forget(&scope, &[Redacted { id: new.message.id, session, seq: Seq(1), summaries: Vec::new() }]);
    new
}

#[tokio::test]
async fn an_answer_from_before_a_deletion_tells_nothing_and_a_primary_that_has_gone_back_is_believed() {
    let (mut queue, (scope, session)) = (Queue::new(WriteBehindPolicy::default()), place());
    let ((old, before), (new, now)) = (deleted(0), deleted(1));
    let batch = |fence| Append { fence, ..Append::new(vec![queued(7, None).new]) };
    let admitted = |queue: &Queue, fence, look| {
        queue.admit(&scope, &session, &batch(fence), look).map(|admitted| admitted.map(|admitted| admitted.new.fence))
    };
    queue.know(&scope, &now);
    queue.know(&scope, &before);
    assert_eq!(admitted(&queue, None, Look::NotYet).unwrap(), Some(Some(new)));
    // Whoever has seen the old state asks the primary. Something newer was learned since in the first case.
    assert_eq!(admitted(&queue, Some(old), Look::NotYet).unwrap(), None);
    queue.learn(&scope, &before, Some(deleted(2).0));
    assert!(matches!(admitted(&queue, Some(old), Look::Answered), Err(Error::Fenced)));
    queue.learn(&scope, &before, Some(new));
    assert_eq!(admitted(&queue, Some(old), Look::Answered).unwrap(), Some(Some(old)));
}

#[tokio::test]
async fn forgotten_ids_are_kept_no_longer_than_their_session_is_known() {
    for is_known in [false, true] {
        let (mut queue, (scope, session)) = (Queue::new(WriteBehindPolicy::default()), place());
        if is_known {
            queue.know(&scope, &deleted(0).1);
        }
        let new = forgotten(&mut queue);
        if is_known {
            let others = (0..KNOWN).map(|number| SessionId::new(&number.to_string()).unwrap());
            others.for_each(|other| queue.know(&scope, &unknown(&other)));
        }
        // Meanwhile another process has deleted it.
        let (fence, state) = deleted(1);
        queue.know(&scope, &state);
        let batch = Append { fence: Some(fence), ..Append::new(vec![new]) };
        let admitted = queue.admit(&scope, &session, &batch, Look::NotYet).unwrap().unwrap();
        assert_eq!(admitted.placements, [Placement::Queued], "{is_known}");
    }
}

#[tokio::test]
async fn the_ids_of_a_session_that_another_process_deleted_are_free_again() {
    let (mut queue, (scope, session)) = (Queue::new(WriteBehindPolicy::default()), place());
    queue.know(&scope, &unknown(&session));
    let new = forgotten(&mut queue);
    for (generation, expected) in [(0, Placement::Forgotten), (1, Placement::Queued)] {
        let (fence, state) = deleted(generation);
        queue.know(&scope, &state);
        let batch = Append { fence: Some(fence), ..Append::new(vec![new.clone()]) };
        let admitted = queue.admit(&scope, &session, &batch, Look::NotYet).unwrap().unwrap();
        assert_eq!(admitted.placements, [expected]);
    }
}

#[tokio::test]
async fn what_was_admitted_is_overtaken_by_an_erasure_since_and_by_no_other() {
    let (mut queue, (scope, session)) = (Queue::new(WriteBehindPolicy::default()), place());
    let (new, state) = deleted(1);
    let both = [None, Some(Fence::default())];
    assert!(both.iter().all(|fence| !queue.is_overtaken(&scope, &session, *fence, Epoch(0))));
    queue.know(&scope, &state);
    assert!(both.iter().all(|fence| queue.is_overtaken(&scope, &session, *fence, Epoch(0))));
    assert!(!queue.is_overtaken(&scope, &session, Some(new), Epoch(0)));
    queue.bury(&scope, Epoch(1));
    assert!([None, Some(new)].iter().all(|fence| queue.is_overtaken(&scope, &session, *fence, Epoch(0))));
    // The primary has gone back since: the erasure was known before these were admitted.
    assert!([None, Some(new)].iter().all(|fence| !queue.is_overtaken(&scope, &session, *fence, Epoch(1))));
}

use super::*;
use crate::id::SessionId;
use crate::message::{Message, Role};
use crate::scope::{Epoch, Scope};
use crate::store::chat::NewMessage;
use crate::time::Timestamp;

fn queued(number: u64, role: Role, fence: Option<Fence>) -> Queued {
    Queued {
        number,
        scope: Scope::new("acme", "ada").unwrap(),
        session: SessionId::new("s").unwrap(),
        fence,
        asked: number * 10,
        new: NewMessage::sized(Message::new(role, format!("message {number}"), Timestamp(number as i64)), 3),
    }
}

fn stored(seq: u64) -> StoredMessage {
    let message = Message::new(Role::User, format!("stored {seq}"), Timestamp(0));
    StoredMessage::of_tests(seq, 5, message)
}

fn state(head: u64) -> SessionState {
    SessionState {
        session: SessionId::new("s").unwrap(),
        fence: Fence::default(),
        revision: 0,
        head: Seq(head),
        active_messages: head,
        active_tokens: head * 5,
        asked: 7,
        last_at: Timestamp(1),
    }
}

fn numbers(rows: &[StoredMessage]) -> Vec<u64> {
    rows.iter().map(|row| row.seq.0).collect()
}

#[test]
fn what_waits_stands_behind_the_newest_message_and_counts() {
    let queue = [queued(1, Role::User, None), queued(2, Role::Assistant, Some(Fence::default()))];
    let all: Vec<&Queued> = queue.iter().collect();
    assert_eq!(numbers(&rows_behind(Seq(4), &all)), [5, 6]);
    let found = state_with(state(4), &all);
    assert_eq!((found.head, found.active_messages, found.active_tokens), (Seq(6), 6, 26));
    assert_eq!((found.asked, found.last_at), (20, Timestamp(2)));
}

#[test]
fn what_is_known_erased_or_there_twice_is_left_out() {
    let old = Fence { epoch: Epoch(1), generation: 0 };
    let queue =
        [queued(1, Role::User, None), queued(2, Role::User, Some(old)), queued(3, Role::User, Some(Fence::default()))];
    let twice: Vec<Queued> = queue.iter().chain(&queue).cloned().collect();
    let found = current(&twice, Fence::default(), &HashSet::new());
    assert_eq!(found.iter().map(|queued| queued.number).collect::<Vec<_>>(), [1, 3]);
    let found = current(&twice, old, &HashSet::new());
    assert_eq!(found.iter().map(|queued| queued.number).collect::<Vec<_>>(), [2]);
    let known = HashSet::from([queue[0].new.message.id]);
    let found = current(&twice, Fence::default(), &known);
    assert_eq!(found.iter().map(|queued| queued.number).collect::<Vec<_>>(), [3]);
}

/// A page of rows 1 to 4 and 5 to 7 behind them equals the page of a session with rows 1 to 7, whatever the page.
#[test]
fn a_page_of_both_is_the_page_of_one_session_that_holds_all() {
    let rows: Vec<StoredMessage> = (1..=7).map(stored).collect();
    let (primary, behind) = rows.split_at(4);
    let of = |rows: &[StoredMessage], page: &Page| -> Vec<StoredMessage> {
        let is_on_page = |row: &&StoredMessage| match page.edge {
            Edge::Newest => true,
            Edge::Before(seq) => row.seq < seq,
            Edge::After(seq) => row.seq > seq,
        };
        let meant: Vec<&StoredMessage> = rows.iter().filter(is_on_page).collect();
        if page.limit == 0 {
            return Vec::new();
        }
        let mut found: Vec<StoredMessage> = match page.edge {
            Edge::After(_) => take(meant.into_iter(), page).into_iter().cloned().collect(),
            _ => take(meant.into_iter().rev(), page).into_iter().cloned().collect(),
        };
        found.sort_by_key(|row| row.seq);
        found
    };
    let edges = (0..=9).flat_map(|seq| [Edge::Before(Seq(seq)), Edge::After(Seq(seq))]).chain([Edge::Newest]);
    for edge in edges {
        for limit in 0..=8 {
            for tokens in [None, Some(0), Some(9), Some(10), Some(24), Some(100)] {
                let page = Page { edge, limit, tokens, view: View::Active, filter: None };
                let both = page_with(&page, of(primary, &page), behind.to_vec());
                assert_eq!(numbers(&both), numbers(&of(&rows, &page)), "{page:?}");
            }
        }
    }
}

#[test]
fn of_what_waits_only_instructions_are_pinned() {
    let queue = [queued(1, Role::User, None), queued(2, Role::System, None)];
    let all: Vec<&Queued> = queue.iter().collect();
    let page = Page { view: View::Pinned, ..Page::newest(9) };
    assert_eq!(numbers(&page_with(&page, Vec::new(), rows_behind(Seq(0), &all))), [2]);
}

#[test]
fn sessions_are_listed_in_order_and_none_behind_a_full_page() {
    let named = |name: &str, head| SessionState { session: SessionId::new(name).unwrap(), ..state(head) };
    let names = |states: Vec<SessionState>| -> Vec<(String, u64)> {
        states.into_iter().map(|state| (state.session.name().to_owned(), state.head.0)).collect()
    };
    let listed = vec![named("b", 1), named("d", 1)];
    let others = vec![named("a", 2), named("d", 5), named("e", 3), named("c", 0)];
    let found = names(sessions_with(listed.clone(), others.clone(), 9));
    let all = [("a", 2), ("b", 1), ("d", 5), ("e", 3)].map(|(name, head)| (name.to_owned(), head));
    assert_eq!(found, all);
    assert_eq!(names(sessions_with(listed, others, 2)), all[..2]);
}

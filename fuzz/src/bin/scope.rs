//! The keys of owners, conversations and items: each key is read back as what it is of, and no two names have one key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::{ItemId, MessageId, Scope, SessionId};
use memory_fuzz::texts;

fuzz_target!(|data: &[u8]| {
    let names: Vec<_> = texts(data).take(8).collect();
    let owners: Vec<_> = names.windows(2).flat_map(|pair| owner(&pair[0], &pair[1])).collect();
    for (name, scope) in &owners {
        for (other, beside) in &owners {
            assert_eq!(scope.key() == beside.key(), name == other, "{name:?} and {other:?}");
            assert_eq!(scope == beside, name == other);
        }
    }
    let sessions: Vec<_> = names.iter().flat_map(|name| session(name)).collect();
    for (name, session) in &sessions {
        for (other, beside) in &sessions {
            assert_eq!(session.key() == beside.key(), name == other, "{name:?} and {other:?}");
        }
    }
    names.iter().for_each(|name| key(name));
});

fn owner(tenant: &str, subject: &str) -> Option<((String, String), Scope)> {
    let scope = Scope::new(tenant, subject).ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    assert!(scope.key().bytes().all(is_plain), "{}", scope.key());
    assert_eq!((scope.tenant(), scope.subject()), (tenant.to_owned(), subject.to_owned()));
    assert_eq!(Scope::from_key(scope.key()).expect("its own key"), scope);
    Some(((tenant.to_owned(), subject.to_owned()), scope))
}

fn session(name: &str) -> Option<(&str, SessionId)> {
    let session = SessionId::new(name).ok()?;
    assert_eq!(session.name(), name);
    assert_eq!(SessionId::from_key(session.key()).expect("its own key"), session);
    let items =
        [ItemId::Span(session.clone(), name.len() as u32), ItemId::Message(MessageId::of_content(name.as_bytes()))];
    for item in items {
        assert_eq!(ItemId::from_key(&item.key()).expect("its own key"), item);
    }
    Some((name, session))
}

/// Reads any text as a key. What is read has this key and no other.
fn key(text: &str) {
    if let Ok(scope) = Scope::from_key(text) {
        assert_eq!(scope.key(), text);
    }
    if let Ok(session) = SessionId::from_key(text) {
        assert_eq!(session.key(), text);
    }
    if let Ok(item) = ItemId::from_key(text) {
        assert_eq!(item.key(), text);
    }
}

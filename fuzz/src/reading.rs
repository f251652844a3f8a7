//! Everything that reads what a person wrote: questions, and texts that answer them.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use memory::analysis::{Analysis, Language};
use memory::extract::{ExtractRequest, Extractor as _, RuleExtractor};
use memory::screen::{Screen, order, without_secrets};
use memory::window::{ExtractiveSummarizer, HeuristicCounter, complete_summary};
use memory::{Message, MessageId, Role, Seq, SessionId, StoredMessage, Trust};
use memory_core::CounterId;
use memory_core::model::{SummaryPurpose, SummaryRequest, TokenCounter as _};
use memory_core::secrets::text_without_secrets;

use crate::place::{NOW, run};

/// Returns the analysis that a byte chooses: of a language, or of none.
pub fn analysis(choice: u8) -> &'static Analysis {
    static ALL: LazyLock<Vec<Analysis>> = LazyLock::new(|| {
        let all = Language::ALL.iter().map(|language| Analysis::of(*language));
        all.chain([Analysis::plain()]).collect()
    });
    &ALL[usize::from(choice) % ALL.len()]
}

/// Reads a question and a text in every way.
pub fn read(analysis: &Analysis, question: &str, text: &str) {
    asked(analysis, question, text);
    screened(question);
    told(analysis, question, text);
    for text in [question, text] {
        summarised(text);
    }
}

/// Reads a question, and finds what answers it in a text.
fn asked(analysis: &Analysis, question: &str, text: &str) {
    let terms = analysis.query(question);
    assert_eq!(terms.iter().collect::<HashSet<_>>().len(), terms.len(), "a term twice");
    let times = analysis.times(question, NOW);
    assert!(times.len() <= 64);
    times.iter().for_each(|period| {
        assert!(!period.to_string().is_empty() && (period.covers(NOW) || !period.covers(memory::Timestamp(i64::MIN))))
    });
    if let Ok(at) = analysis.moment(question, NOW) {
        let _ = (analysis.date(at), at.to_minute());
    }
    let speakers = ["Ada", "Will", "José Niño", text.get(..text.floor_char_boundary(40)).unwrap_or_default()];
    let named = analysis.named(question, speakers);
    assert!(named.is_none_or(|named| speakers.contains(&named)));
    let _ = analysis.in_first_person(question, "Ada");
    let _ = (analysis.addresses_the_asked(question), analysis.names_the_model(question));
    let document = analysis.document(text);
    assert!(document.is_sorted_by(|(one, _), (next, _)| one < next), "terms in order, each once");
    assert!(document.iter().all(|(_, count)| *count > 0));
    for most in [0, 40, 400] {
        let excerpt = analysis.excerpt(question, text, most);
        let mut behind = 0;
        for place in &excerpt.matches {
            assert!(behind <= place.start && place.start < place.end, "{excerpt:?}");
            assert!(excerpt.text.get(place.clone()).is_some(), "{excerpt:?}");
            behind = place.end;
        }
    }
}

/// Looks for secrets and orders.
fn screened(text: &str) {
    let (shown, secrets) = without_secrets(text);
    assert_eq!(secrets.is_empty(), shown == text);
    let _ = order(text);
    let screened = Screen::default().look_at(text, Trust::Tool);
    assert_eq!(screened.is_quarantined(), Screen::default().look_at(text, Trust::Tool).is_quarantined());
    let _ = text_without_secrets(text);
}

/// Compares two statements, and finds facts in them.
fn told(analysis: &Analysis, one: &str, other: &str) {
    use memory_core::novelty::{differ_in_particulars, fingerprint};

    assert!(!differ_in_particulars(analysis, one, one));
    let differs = differ_in_particulars(analysis, one, other);
    assert_eq!(differs, differ_in_particulars(analysis, other, one));
    assert_eq!(fingerprint(analysis, "fact", one), fingerprint(analysis, "fact", one));
    let messages = [one, other].iter().zip(1..).map(|(text, seq)| row(text, seq)).collect();
    let found = run(RuleExtractor.extract(&ExtractRequest { messages, known: Vec::new() }));
    assert!(found.expect("no model is asked").len() <= 32);
}

/// Counts and summarises a text.
fn summarised(text: &str) {
    let counter = HeuristicCounter::default();
    let tokens = counter.count_text(text);
    assert_eq!(tokens == 0, text.is_empty());
    let request = SummaryRequest {
        purpose: SummaryPurpose::Window,
        messages: vec![row(text, 1)],
        records: Vec::new(),
        max_tokens: 60,
        keep: Vec::new(),
    };
    if let Ok(summary) = ExtractiveSummarizer::new(Arc::new(counter)).extract(&request) {
        assert!(HeuristicCounter::default().count_text(&summary.text) <= 60, "{summary:?}");
    }
    let (complete, _) = complete_summary("It is said.", &[text.to_owned()]);
    assert!(complete.contains(text.trim()));
}

fn row(text: &str, seq: u64) -> StoredMessage {
    let message = Message::new(Role::User, text, NOW).with_id(MessageId::of_content(&seq.to_le_bytes()));
    StoredMessage {
        id: message.id,
        session: SessionId::new("talk").expect("a name"),
        seq: Seq(seq),
        tokens: 1,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message: Some(Arc::new(message)),
    }
}

//! Whether a text asks for something, or is a keyword, a quotation or a statement.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::{Analysis, fold, foreign};

/// The marks that end a question.
const MARKS: [char; 4] = ['?', '？', '؟', '՞'];

/// The words that begin a question where people leave its mark out, in the languages that have tables and a few more.
static BEGINNINGS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    const WORDS: &str = "what when where who whom whose which how why was wann wo wer wen wem welche welcher welches wieso warum \
    quoi quand où comment pourquoi qui quel quelle quels quelles combien qué cuál cuándo cuánto dónde quién cómo cosa dove chi \
    quale quanto perché onde quem qual wanneer waar wie welke hoe waarom ne nasıl nerede kim hangi kaç क्या कब कहाँ कौन किस कैसे \
    ماذا ما متى أين كيف لماذا من هل";
    WORDS.split_whitespace().map(|word| fold::normalise(word).into_owned()).collect()
});

impl Analysis {
    /// Returns whether `text` is a question: by its mark, its first word or, in scripts without spaces, a phrase of questions.
    pub(crate) fn asks(&self, text: &str) -> bool {
        let text = fold::normalise(text).to_lowercase();
        let begins = || {
            let first = text
                .split(|letter: char| !letter.is_alphanumeric() && !is_joined(letter))
                .find(|word| !word.is_empty());
            first.is_some_and(|first| BEGINNINGS.contains(first))
        };
        text.contains(MARKS) || begins() || foreign::without_phrases(&text).len() < text.len()
    }
}

/// Returns whether a character belongs to the letter before it, such as a vowel sign of Hindi.
fn is_joined(letter: char) -> bool {
    ('\u{900}'..='\u{97f}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_keywords_and_quotations() {
        let english = Analysis::english();
        for question in [
            "what car do I have",
            "Wo ist mein Auto",
            "My car?",
            "¿dónde está?",
            "谁来我家",
            "何時ですか",
            "कहाँ है मेरी गाड़ी",
            "أين سيارتي",
        ] {
            assert!(english.asks(question), "{question}");
        }
        for other in
            ["car noise", "my car makes a noise", "I know what you did", "", "مرحبا", "我的车有噪音", "whatever works"]
        {
            assert!(!english.asks(other), "{other}");
        }
    }
}

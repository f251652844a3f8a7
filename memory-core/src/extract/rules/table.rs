//! The openings by which people say something of themselves, and what follows them.

use crate::analysis::{Language, months};

/// What may follow an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// A name: a word that begins with a capital letter.
    Name,
    /// An address of mail.
    Mail,
    /// A number or a date: a word with a digit in it, or a month.
    Number,
    /// Any words.
    Words,
}

/// What an opening says of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing.
    Steady,
    /// It has become so.
    News,
    /// It is so no longer.
    Over,
}

/// An opening.
#[derive(Debug)]
pub(super) struct Rule {
    /// How the clause begins, in lower case, without the blank before what follows.
    pub(super) opening: &'static str,
    /// What has one value at a time; none if there may be many.
    pub(super) slot: Option<&'static str>,
    pub(super) kind: &'static str,
    pub(super) follows: Follows,
    pub(super) turn: Turn,
}

const fn slot(opening: &'static str, slot: &'static str, follows: Follows) -> Rule {
    Rule { opening, slot: Some(slot), kind: "fact", follows, turn: Turn::Steady }
}

const fn news(opening: &'static str, slot: &'static str) -> Rule {
    Rule { opening, slot: Some(slot), kind: "fact", follows: Name, turn: Turn::News }
}

const fn over(opening: &'static str, slot: &'static str) -> Rule {
    Rule { opening, slot: Some(slot), kind: "fact", follows: Name, turn: Turn::Over }
}

const fn fact(opening: &'static str) -> Rule {
    Rule { opening, slot: None, kind: "fact", follows: Follows::Words, turn: Turn::Steady }
}

const fn preference(opening: &'static str) -> Rule {
    Rule { opening, slot: None, kind: "preference", follows: Follows::Words, turn: Turn::Steady }
}

use Follows::{Mail, Name, Number};

/// The openings. Longer ones stand before those that they begin with.
pub(super) const RULES: &[Rule] = &[
    slot("my name is", "name", Name),
    slot("please call me", "name", Name),
    slot("you can call me", "name", Name),
    slot("i am called", "name", Name),
    slot("i'm called", "name", Name),
    slot("i live in", "home", Name),
    news("i now live in", "home"),
    slot("i'm living in", "home", Name),
    slot("i am living in", "home", Name),
    news("i moved to", "home"),
    news("i've moved to", "home"),
    news("i have moved to", "home"),
    news("i just moved to", "home"),
    over("i no longer live in", "home"),
    slot("my email is", "email", Mail),
    slot("my e-mail is", "email", Mail),
    slot("my email address is", "email", Mail),
    slot("my phone number is", "phone", Number),
    slot("my birthday is on", "birthday", Number),
    slot("my birthday is", "birthday", Number),
    slot("i was born on", "birthday", Number),
    slot("i work at", "employer", Name),
    slot("i work for", "employer", Name),
    news("i now work at", "employer"),
    news("i now work for", "employer"),
    over("i no longer work at", "employer"),
    over("i no longer work for", "employer"),
    slot("i work as", "job", Follows::Words),
    fact("i'm allergic to"),
    fact("i am allergic to"),
    preference("i like"),
    preference("i really like"),
    preference("i love"),
    preference("i really love"),
    preference("i prefer"),
    preference("i hate"),
    preference("i dislike"),
    preference("i don't like"),
    preference("i can't stand"),
    slot("ich heiße", "name", Name),
    slot("mein name ist", "name", Name),
    slot("ich wohne in", "home", Name),
    slot("ich lebe in", "home", Name),
    over("ich wohne nicht mehr in", "home"),
    over("ich arbeite nicht mehr bei", "employer"),
    slot("meine e-mail ist", "email", Mail),
    slot("meine e-mail-adresse ist", "email", Mail),
    slot("ich arbeite bei", "employer", Name),
    slot("ich arbeite als", "job", Follows::Words),
    fact("ich bin allergisch gegen"),
    preference("ich mag"),
    slot("me llamo", "name", Name),
    slot("mi nombre es", "name", Name),
    slot("vivo en", "home", Name),
    news("me mudé a", "home"),
    over("ya no vivo en", "home"),
    slot("mi correo es", "email", Mail),
    fact("soy alérgico a"),
    fact("soy alérgica a"),
    preference("me gusta"),
    preference("me gustan"),
    slot("je m'appelle", "name", Name),
    slot("mon nom est", "name", Name),
    slot("j'habite à", "home", Name),
    slot("je vis à", "home", Name),
    over("je n'habite plus à", "home"),
    over("je ne travaille plus chez", "employer"),
    slot("mon adresse e-mail est", "email", Mail),
    slot("je travaille chez", "employer", Name),
    fact("je suis allergique"),
    preference("j'aime"),
    slot("meu nome é", "name", Name),
    slot("chamo-me", "name", Name),
    slot("moro em", "home", Name),
    slot("vivo em", "home", Name),
    over("já não moro em", "home"),
    over("não moro mais em", "home"),
    slot("meu email é", "email", Mail),
    fact("sou alérgico a"),
    fact("sou alérgica a"),
    preference("gosto de"),
];

/// What may stand before an opening and says nothing, separated by a comma and a blank.
pub(super) const FILLERS: &str = "by the way, btw, oh, well, so, and, also, yes, yeah, ok, okay, hi, hello, hey, \
    actually, hallo, ja, übrigens, und, hola, sí, y, además, bonjour, oui, et, olá, sim, e";

/// Words that follow an opening where it means something else, or that make a fact doubtful.
pub(super) const DOUBTS: &[&str] = &[
    "not", "no", "never", "it", "that", "this", "these", "those", "how", "when", "what", "the", "your", "you", "him",
    "her", "them", "both", "nicht", "kein", "keine", "das", "es", "nunca", "eso", "esto", "pas", "ça", "cela", "não",
    "isso", "isto",
];

/// Words at which a clause ends: what follows them is another thought.
pub(super) const ENDS: &[&str] = &[
    "and", "but", "because", "so", "though", "although", "when", "if", "since", "while", "until", "unless", "und",
    "aber", "weil", "wenn", "y", "pero", "porque", "cuando", "si", "et", "mais", "parce", "quand", "e", "mas",
    "quando", "se",
];

/// Relatives and pets who are called by a name: "my sister is called", "my dog's name is". Separated by blanks.
pub(super) const KIN: &str = "wife husband partner girlfriend boyfriend son daughter sister brother mother father mum \
    mom dad grandmother grandfather boss dog cat horse rabbit";

/// Those of them of whom there may be several: a second dog takes the place of none.
pub(super) const MANY: &[&str] =
    &["son", "daughter", "sister", "brother", "grandmother", "grandfather", "dog", "cat", "horse", "rabbit"];

/// Words behind which a denial denies something else, as in "films that never end".
pub(super) const RELATIVES: &[&str] = &["that", "which", "who", "whose", "que", "qui", "quien", "quem"];

/// Words behind a clause that make it a condition.
pub(super) const CONDITIONS: &[&str] = &["if", "unless", "wenn", "falls", "sofern", "si", "se"];

/// Words behind a clause by which somebody else says it.
pub(super) const REPORTS: &[&str] = &[
    "said", "says", "wrote", "replied", "answered", "sagte", "sagt", "schrieb", "dijo", "dice", "dit", "disse", "diz",
];

/// Words for who speaks: what they say is not reported of others.
pub(super) const SELF: &[&str] = &["i", "ich", "yo", "je", "eu"];

/// Names of days: who says "please call me Monday" has another name.
pub(super) const DAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The languages of the openings.
const LANGUAGES: [Language; 5] =
    [Language::English, Language::German, Language::Spanish, Language::French, Language::Portuguese];

/// Returns whether `word`, in lower case, is the name of a month in one of the five languages.
pub(super) fn is_month(word: &str) -> bool {
    LANGUAGES.into_iter().any(|language| months(language).any(|month| month == word))
}

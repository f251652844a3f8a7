//! The languages with a stemmer.

use rust_stemmers::Algorithm;

use super::fold::{is_greek, is_latin};

macro_rules! languages {
    ($($(#[doc = $doc:literal])* $language:ident $name:literal,)*) => {
        /// A language whose words can be stemmed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Language {
            $(#[doc = concat!("The language called `", $name, "`.")] $language,)*
        }

        impl Language {
            /// Every language, in the order of their names.
            pub const ALL: &[Self] = &[$(Self::$language),*];

            /// Returns the language's English name in lower case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$language => $name,)*
                }
            }

            pub(super) fn algorithm(self) -> Algorithm {
                match self {
                    $(Self::$language => Algorithm::$language,)*
                }
            }
        }
    };
}

languages! {
    Arabic "arabic",
    Danish "danish",
    Dutch "dutch",
    English "english",
    Finnish "finnish",
    French "french",
    German "german",
    Greek "greek",
    Hungarian "hungarian",
    Italian "italian",
    Norwegian "norwegian",
    Portuguese "portuguese",
    Romanian "romanian",
    Russian "russian",
    Spanish "spanish",
    Swedish "swedish",
    Tamil "tamil",
    Turkish "turkish",
}

impl Language {
    /// Returns the language called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.name() == name)
    }

    /// Returns whether `c` is a letter that the language's stemmer was made for.
    pub(super) fn writes(self, c: char) -> bool {
        match self {
            Self::English => c.is_ascii_alphabetic(),
            Self::Arabic => matches!(c, '\u{620}'..='\u{65f}'),
            Self::Greek => is_greek(c),
            Self::Russian => matches!(c, '\u{430}'..='\u{45f}'),
            Self::Tamil => matches!(c, '\u{b80}'..='\u{bff}'),
            _ => is_latin(c),
        }
    }

    /// Returns whether the language's stemmer uses marks on letters.
    pub(super) fn has_marks(self) -> bool {
        self != Self::English
    }
}

//! An embedder without a model: texts that share words and parts of words lie near each other.

use async_trait::async_trait;

use crate::analysis::Analysis;
use crate::error::Result;
use crate::model::{Embedder, Purpose};
use crate::vector::{EmbeddingSpace, normalise};

/// Counts words, pairs of words and runs of three characters into a vector of fixed size, by their hashes.
///
/// Deterministic in every build and on every machine, without network and without files. It knows no meanings: it is for
/// tests, for examples, and for telling repetitions from news where there is no model.
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    space: EmbeddingSpace,
    analysis: Analysis,
}

/// How much a word, a pair of words and a run of characters count.
const WORD: f32 = 1.0;
const PAIR: f32 = 0.5;
const RUN: f32 = 0.25;

impl HashEmbedder {
    /// Returns the embedder of vectors with `dimension` numbers, at least 1.
    pub fn new(dimension: usize) -> Self {
        let dimension = dimension.max(1);
        let recipe = "ngrams-1".to_owned();
        let space = EmbeddingSpace { model: "hash".to_owned(), dimension, normalised: true, recipe };
        Self { space, analysis: Analysis::plain() }
    }

    /// Returns the vector of `text`, of length 1; that of a text without words points along the first axis.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0f32; self.space.dimension];
        let mut previous = 0;
        self.analysis.words(text, &mut |word| {
            let hash = fnv(FNV_START, word.as_bytes());
            add(&mut vector, hash, WORD);
            if previous != 0 {
                add(&mut vector, fnv(previous, word.as_bytes()), PAIR);
            }
            previous = hash;
            for_each_run(word, |run| add(&mut vector, run, RUN));
        });
        normalise(&vector).unwrap_or_else(|| {
            vector.iter_mut().enumerate().for_each(|(place, number)| *number = if place == 0 { 1.0 } else { 0.0 });
            vector
        })
    }
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the 64-bit FNV-1a hash of `bytes`, going on from `state`.
fn fnv(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Gives `sink` the hash of each run of three characters of `word` with its edges.
fn for_each_run(word: &str, mut sink: impl FnMut(u64)) {
    let (mut first, mut second) = (' ', '^');
    for third in word.chars().chain(['$']) {
        if first != ' ' {
            let run = [first, second, third];
            sink(run.iter().fold(!FNV_START, |hash, c| fnv(hash, &u32::from(*c).to_le_bytes())));
        }
        (first, second) = (second, third);
    }
}

/// Adds `weight`, with the sign that the hash gives it, at the place that the hash gives it.
fn add(vector: &mut [f32], hash: u64, weight: f32) {
    // The finish of splitmix64: the low bits of FNV alone are no good choice of a place.
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let hash = hash ^ hash >> 31;
    let place = usize::try_from((hash >> 1) % vector.len().max(1) as u64).unwrap_or(0);
    if let Some(number) = vector.get_mut(place) {
        *number += if hash & 1 == 0 { weight } else { -weight };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    proptest! {
        #[test]
        fn s3_10_every_text_has_a_vector_of_length_one(text in any::<String>(), dimension in 1usize..400) {
            let embedder = HashEmbedder::new(dimension);
            let vector = embedder.vector(&text);
            prop_assert!(embedder.space().check_vector(&vector).is_ok());
            prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
            prop_assert_eq!(vector, embedder.vector(&text));
        }
    }

    #[test]
    fn s3_10_vectors_are_the_same_in_every_build() {
        let vector = HashEmbedder::new(8).vector("Caroline paints 漢字");
        let bits: Vec<u32> = vector.iter().map(|number| number.to_bits()).collect();
        assert_eq!(bits, FROZEN);
        assert_eq!(HashEmbedder::new(3).vector(""), [1.0, 0.0, 0.0]);
        assert_eq!(HashEmbedder::new(0).vector("a").len(), 1);
    }

    const FROZEN: [u32; 8] = [1041485114, 1049873722, 1063105495, 1041485114, 3188968762, 0, 3197357370, 3188968762];

    #[test]
    fn texts_that_share_words_or_parts_of_words_are_nearer() {
        let embedder = HashEmbedder::new(384);
        let near = |a, b| cosine(&embedder.vector(a), &embedder.vector(b));
        let same_words = near("Caroline went to a support group", "a support group for Caroline");
        let same_stems = near("painting sunsets", "paintings of sunset");
        let nothing = near("Caroline went to a support group", "what is 5 km in miles?");
        assert!(same_words > nothing + 0.3, "{same_words} {nothing}");
        assert!(same_stems > nothing + 0.2, "{same_stems} {nothing}");
        assert!(near("CAFÉ, Rome!", "café rome") > 0.999);
    }
}

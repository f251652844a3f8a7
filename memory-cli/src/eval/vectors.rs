//! Vectors made beforehand, read from a safetensors file: an embedder that looks them up.

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;
use memory::analysis::Analysis;
use memory::model::EmbeddingSpace;
use memory::model::{Embedder, Purpose};
use memory::store::index::{PIECE_WORDS, message_pieces};
use memory::{Error, Role};
use safetensors::{Dtype, SafeTensors};

use super::set::{Set, SetKind};
use crate::failure::Failure;

/// Looks the vectors of a set up by their texts.
#[derive(Debug)]
pub(crate) struct Vectors {
    space: EmbeddingSpace,
    of: HashMap<String, Vec<f32>>,
}

impl Vectors {
    /// Reads the vectors of the texts of `set`.
    pub(crate) fn read(file: &Path, set: &Set) -> Result<Self, Failure> {
        let bytes = std::fs::read(file)
            .map_err(|error| Failure::Usage(format!("the vectors {} cannot be read: {error}", file.display())))?;
        let tensors = SafeTensors::deserialize(&bytes)
            .map_err(|_| Failure::Usage(format!("{} is no safetensors file", file.display())))?;
        let mut of = HashMap::new();
        match set.kind {
            SetKind::Locomo => locomo(set, &tensors, &mut of)?,
            SetKind::Longmemeval => longmemeval(set, &tensors, &mut of)?,
            SetKind::Beam => beam(set, &tensors, &mut of)?,
            SetKind::Chat | SetKind::Sample => {
                return Err(Failure::Usage("there are no prepared vectors of this set".to_owned()));
            }
        }
        let dimension = of.values().next().map_or(1, Vec::len);
        let recipe = String::new();
        Ok(Self { space: EmbeddingSpace { model: "file".to_owned(), dimension, normalised: true, recipe }, of })
    }
}

#[async_trait]
impl Embedder for Vectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _purpose: Purpose) -> memory::Result<Vec<Vec<f32>>> {
        let vector = |text: &&str| self.of.get(*text).cloned();
        let missing = || Error::invalid("the file holds no vector of a text");
        texts.iter().map(|text| vector(text).ok_or_else(missing)).collect()
    }
}

/// Per conversation: turns in the order of the sessions, questions, and questions as the participant named would ask.
fn locomo(set: &Set, tensors: &SafeTensors<'_>, of: &mut HashMap<String, Vec<f32>>) -> Result<(), Failure> {
    let english = Analysis::english();
    for haystack in set.sections.iter().flat_map(|part| &part.haystacks) {
        let name = &haystack.name;
        let mut sessions: Vec<_> = haystack.sessions.iter().collect();
        sessions.sort_by_key(|(session, _)| session.rsplit('_').next().and_then(|number| number.parse::<u32>().ok()));
        let turns: Vec<_> = sessions.iter().flat_map(|(_, messages)| messages.iter()).collect();
        let vectors = rows(tensors, &format!("{name}.turns.sp"), turns.len())?;
        for (message, vector) in turns.iter().zip(vectors) {
            // The file has one vector of the whole text, which stands for each of its pieces.
            of.extend(message_pieces(message, PIECE_WORDS).into_iter().map(|piece| (piece, vector.clone())));
        }
        let count = haystack.questions.len();
        let plain = rows(tensors, &format!("{name}.questions"), count)?;
        let first_person = rows(tensors, &format!("{name}.questions.first_person"), count)?;
        for (question, (plain, first_person)) in haystack.questions.iter().zip(plain.into_iter().zip(first_person)) {
            let speakers = turns.iter().filter_map(|message| message.speaker.as_deref());
            let rewritten = english
                .named(&question.text, speakers)
                .and_then(|speaker| english.in_first_person(&question.text, speaker));
            of.extend(rewritten.map(|rewritten| (rewritten, first_person)));
            of.insert(question.text.clone(), plain);
        }
    }
    Ok(())
}

/// What persons say, in the order of the sessions' names, and all questions in the order of the file.
fn longmemeval(set: &Set, tensors: &SafeTensors<'_>, of: &mut HashMap<String, Vec<f32>>) -> Result<(), Failure> {
    let turns = set.sessions.values().flat_map(|messages| messages.iter());
    let turns: Vec<_> = turns.filter(|message| message.role == Role::User).collect();
    let vectors = rows(tensors, "user_turns", turns.len())?;
    for (message, vector) in turns.iter().zip(vectors) {
        of.extend(message_pieces(message, PIECE_WORDS).into_iter().map(|piece| (piece, vector.clone())));
    }
    let vectors = rows(tensors, "questions", set.asked.len())?;
    of.extend(set.asked.iter().cloned().zip(vectors));
    Ok(())
}

/// Per chat: what persons say in the order of the batches, and the questions in the order of the abilities.
fn beam(set: &Set, tensors: &SafeTensors<'_>, of: &mut HashMap<String, Vec<f32>>) -> Result<(), Failure> {
    for haystack in set.sections.iter().flat_map(|part| &part.haystacks) {
        let number = haystack.name.trim_start_matches("beam-");
        let turns = haystack.sessions.values().flat_map(|messages| messages.iter());
        let turns: Vec<_> = turns.filter(|message| message.role == Role::User).collect();
        let vectors = rows(tensors, &format!("{number}.user_turns"), turns.len())?;
        for (message, vector) in turns.iter().zip(vectors) {
            of.extend(message_pieces(message, PIECE_WORDS).into_iter().map(|piece| (piece, vector.clone())));
        }
        let vectors = rows(tensors, &format!("{number}.questions"), haystack.questions.len())?;
        of.extend(haystack.questions.iter().map(|question| question.text.clone()).zip(vectors));
    }
    Ok(())
}

/// Returns the rows of a tensor, which are to be as many as `count`.
fn rows(tensors: &SafeTensors<'_>, name: &str, count: usize) -> Result<Vec<Vec<f32>>, Failure> {
    let other = || Failure::Usage(format!("the vectors are those of another set: {name} does not fit"));
    let tensor = tensors.tensor(name).map_err(|_| other())?;
    let &[length, dimension] = tensor.shape() else { return Err(other()) };
    if length != count || dimension == 0 {
        return Err(other());
    }
    let numbers: Vec<f32> = match tensor.dtype() {
        Dtype::F16 => tensor.data().chunks_exact(2).filter_map(f16).collect(),
        Dtype::F32 => tensor.data().chunks_exact(4).filter_map(f32_of).collect(),
        _ => return Err(other()),
    };
    Ok(numbers.chunks_exact(dimension).map(<[f32]>::to_vec).collect())
}

fn f16(bytes: &[u8]) -> Option<f32> {
    Some(half::f16::from_le_bytes(bytes.try_into().ok()?).to_f32())
}

fn f32_of(bytes: &[u8]) -> Option<f32> {
    Some(f32::from_le_bytes(bytes.try_into().ok()?))
}

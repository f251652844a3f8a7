//! Questions in six languages, two of which write without spaces, to the default analysis; and words in Korean.

use std::collections::BTreeMap;

use memory_core::analysis::Language;
use memory_core::store::text::{TextEntry, TextQuery, Visibility};
use memory_core::{Analysis, Error, Filter, ItemId, Result, Unit};
use serde::Deserialize;

use super::build::{plain_fields, record, revision};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    o20_questions_in_six_languages_find_their_records_among_all_of_them,
    o20_the_tables_of_a_language_find_the_same_records,
    row_8_words_in_korean_find_their_records,
]);

/// Records of one language, and questions with the place of their record.
#[derive(Deserialize)]
struct Talk {
    language: String,
    records: Vec<String>,
    questions: Vec<(String, usize)>,
}

fn talks() -> Result<Vec<Talk>> {
    serde_json::from_str(include_str!("../../fixtures/languages.json"))
        .map_err(|error| Error::corrupt("languages.json", error.to_string()))
}

fn numbered(talk: usize, place: usize) -> ItemId {
    record((talk * 100 + place) as u64)
}

/// Puts all records of `talks`, and returns what each question found first beside what it should have found.
async fn ask(bed: &Bed<Texts>, analysis: &Analysis, talks: &[Talk]) -> Result<[BTreeMap<String, Option<ItemId>>; 2]> {
    let bed = bed.another(|setting| analysis.name().clone_into(&mut setting.analysis)).await?;
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for (number, talk) in talks.iter().enumerate() {
        for (place, text) in talk.records.iter().enumerate() {
            let (item, own) = (numbered(number, place), analysis.document(text));
            let fields = plain_fields(Unit::Record, entries.len() as i64);
            entries.push(TextEntry { item, version: revision(1), own, near: Vec::new(), fields });
        }
    }
    bed.store.put(&ada, &entries, Visibility::OnReturn).await?;
    let (mut found, mut wanted) = (BTreeMap::new(), BTreeMap::new());
    for (number, talk) in talks.iter().enumerate() {
        for (question, place) in &talk.questions {
            let terms = analysis.query(question);
            let query = TextQuery { terms, unit: Unit::Record, filter: Filter::All, limit: 10 };
            let hits = bed.store.search(&ada, &query).await?;
            let name = format!("{}: {question}", talk.language);
            found.insert(name.clone(), hits.hits.first().map(|hit| hit.item.clone()));
            wanted.insert(name, Some(numbered(number, *place)));
        }
    }
    Ok([found, wanted])
}

async fn o20_questions_in_six_languages_find_their_records_among_all_of_them(bed: Bed<Texts>) -> Scene {
    let [found, wanted] = ask(&bed, &Analysis::english(), &talks()?).await?;
    equal(found, wanted)
}

async fn o20_the_tables_of_a_language_find_the_same_records(bed: Bed<Texts>) -> Scene {
    for talk in talks()? {
        let analysis = Language::from_name(&talk.language).map_or_else(Analysis::plain, Analysis::of);
        let [found, wanted] = ask(&bed, &analysis, &[talk]).await?;
        equal(found, wanted)?;
    }
    Ok(())
}

async fn row_8_words_in_korean_find_their_records(bed: Bed<Texts>) -> Scene {
    let talk = Talk {
        language: "korean".to_owned(),
        records: ["고양이는 세 살입니다", "어제 책을 샀어요"].map(str::to_owned).to_vec(),
        questions: vec![("고양이".to_owned(), 0), ("책".to_owned(), 1)],
    };
    let [found, wanted] = ask(&bed, &Analysis::english(), &[talk]).await?;
    equal(found, wanted)
}

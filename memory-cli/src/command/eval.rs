//! `memory eval`: measures recall on published sets of questions with known evidence.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use memory::model::Embedder;
use memory::store::secrets::without_secrets;
use memory::{BufferConfig, Field, Filter, Folding, Memory, MessageId};

use super::call::Call;
use crate::cli::Eval;
use crate::embedding::{self, Embedding};
use crate::eval::{self, CachingEmbedder, Leg, Set, SetKind, Vectors};
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// The tenant of a database that the command line names.
const TENANT: &str = "memory-eval";

/// Measures a set with the defaults of the library; nothing is tuned for it.
pub(crate) async fn run(call: &Call, args: &Eval, output: &mut Output) -> Result<Outcome, Failure> {
    let (path, kind) = (args.path.clone(), args.set);
    let set = tokio::task::spawn_blocking(move || match (kind, path) {
        (SetKind::Sample, None) => Set::sample(),
        (SetKind::Sample, Some(_)) => Err(Failure::Usage("the sample is in the program: give no file".to_owned())),
        (kind, Some(path)) => match Set::read_folder(kind, Path::new(&path)) {
            Some(set) => set,
            None => Set::read(kind, open(&path)?),
        },
        (_, None) => Err(Failure::Usage("the set is not in the program: give its file".to_owned())),
    });
    let set = set.await.map_err(|_| Failure::Inner("the reader of the set broke down".to_owned()))??;
    let embedder = embedder(call, args, &set).await?;
    let legs = legs(&args.legs, embedder.is_some())?;
    // The prepared vectors of this set are of what users say.
    let users_alone = args.vectors.is_some() && matches!(kind, SetKind::Longmemeval | SetKind::Beam);
    let memory = call.hold(build(call, embedder, users_alone).await?).await;
    let measured = eval::run(&memory, &tenant(call), &set, &legs).await?;
    let mut notes = set.notes;
    if users_alone && legs.iter().any(|leg| *leg != Leg::Text) {
        notes.push("vectors: those of user turns only; what the assistant says is found by words".to_owned());
    }
    if output.is_json() {
        output.json(&eval::to_json(&measured, &notes))?;
    } else {
        eval::in_words(&measured, &notes, output)?;
        if args.misses {
            eval::misses(&measured, output)?;
        }
    }
    Ok(Outcome::Done)
}

/// Returns the tenant whose owners are measured.
///
/// A truth in this process does not know whom the indexes of earlier ones have forgotten: it takes another name each time.
fn tenant(call: &Call) -> String {
    if call.named.database { TENANT.to_owned() } else { format!("{TENANT}-{}", MessageId::fresh()) }
}

/// Returns who embeds: a file of vectors, or who is asked for, as everywhere in the program.
async fn embedder(call: &Call, args: &Eval, set: &Set) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let wished = call.global.embedder.as_ref();
    match &args.vectors {
        Some(_) if wished.is_some_and(|wished| *wished != Embedding::None) => {
            Err(Failure::Usage("give vectors or an embedder, not both".to_owned()))
        }
        Some(file) => Ok(Some(Arc::new(Vectors::read(file, set)?))),
        None => Ok(embedding::embedder(wished).await?.map(|inner| Arc::new(CachingEmbedder::new(inner)) as _)),
    }
}

fn open(path: &str) -> Result<Box<dyn Read>, Failure> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path)
        .map_err(|error| Failure::Usage(format!("the set {} cannot be read: {error}", without_secrets(path))))?;
    Ok(Box::new(io::BufReader::new(file)))
}

/// Returns the legs asked for; without a wish all that there is.
fn legs(wished: &[Leg], is_embedded: bool) -> Result<Vec<Leg>, Failure> {
    if wished.is_empty() {
        return Ok(if is_embedded { vec![Leg::Text, Leg::Vector, Leg::Both] } else { vec![Leg::Text] });
    }
    if !is_embedded && wished.iter().any(|leg| *leg != Leg::Text) {
        return Err(Failure::Usage(
            "nobody embeds: give a file of vectors with --vectors, or --embedder static".to_owned(),
        ));
    }
    Ok(wished.to_vec())
}

/// Builds a memory in this process, or over the database that the command line names: never the person's own by default.
async fn build(call: &Call, embedder: Option<Arc<dyn Embedder>>, users_alone: bool) -> Result<Memory, Failure> {
    let settings = if call.named.database {
        call.database()?.settings()
    } else {
        call.settings.clone().with_truth("memory:").or_env().without_journal()
    };
    let settings = match embedder {
        Some(embedder) => settings.with_embedder(embedder),
        None => settings.without_embedder(),
    };
    let builder = settings.open().await?.buffer(BufferConfig::default().with_folding(Folding::Off));
    let builder = if users_alone { builder.embedded(Filter::eq(Field::Role, "user")) } else { builder };
    Ok(builder.build().await?)
}

//! Whether a server answers, and how much of one it is.

use std::time::Duration;

use memory_core::{Error, Result};
use memory_testkit::services::Answer;
use serde_json::Value;

/// Returns the version, and whether the server has all its modules.
pub(crate) async fn probe(url: String) -> Result<Answer> {
    let asked = format!("{url}/_nodes/_local/plugins?filter_path=nodes.*.version,nodes.*.modules.name");
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build();
    let answer = async { client?.get(asked).send().await?.text().await }.await;
    let answer: Value = answer.ok().and_then(|text| serde_json::from_str(&text).ok()).ok_or(Error::Overloaded)?;
    let node = answer.get("nodes").and_then(|nodes| nodes.as_object()?.values().next()).ok_or(Error::Overloaded)?;
    let version = node.get("version").and_then(Value::as_str).ok_or(Error::Overloaded)?.to_owned();
    let mut modules = node.get("modules").and_then(Value::as_array).into_iter().flatten();
    let has_all = modules.any(|module| module.get("name").and_then(Value::as_str) == Some("reindex"));
    Ok(if has_all { Answer::from(version) } else { Answer::reduced(version) })
}

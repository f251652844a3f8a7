//! `memory mcp`: MCP over the standard streams, and what clients are configured with.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use memory::store::secrets::without_secrets;
use memory_server::{Agents, GraphImport, GraphRejection, import_graph, serve_stdio};
use serde_json::{Value, json};

use super::call::Call;
use super::stopping;
use crate::cli::{AgentOptions, Client, Mcp, McpAction};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::upkeep;

/// Lines of a graph that are told one by one.
const TOLD: usize = 20;

/// Speaks MCP, or prints a configuration.
pub(crate) async fn run(call: &Call, args: &Mcp, output: &mut Output) -> Result<Outcome, Failure> {
    match &args.what {
        Some(McpAction::Config { client }) => config(call, args, *client, output),
        Some(McpAction::Import { file }) => import(call, file, output).await,
        None => speak(call, args).await,
    }
}

/// Returns what agents are offered.
pub(super) fn agents(options: &AgentOptions) -> Result<Agents, Failure> {
    let AgentOptions { profile, max_tokens, allow_forget, descriptions } = options;
    let mut agents =
        Agents { profile: *profile, max_tokens: *max_tokens, allow_forget: *allow_forget, ..Agents::default() };
    if let Some(path) = descriptions {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Usage(format!("the file {shown} cannot be read: {error}")))?;
        agents.descriptions = serde_json::from_str(&text)
            .map_err(|error| Failure::Usage(format!("{shown} is no JSON of names and descriptions: {error}")))?;
    }
    agents.check().map_err(Failure::Memory)?;
    Ok(agents)
}

/// Speaks until the client closes its end, or the program is told to stop.
async fn speak(call: &Call, args: &Mcp) -> Result<Outcome, Failure> {
    let agents = agents(&args.agents)?;
    let stop = stopping::told().map_err(Failure::Output)?;
    let (memory, scoped) = call.open().await?;
    let upkeep = memory.upkeep();
    let served = tokio::select! {
        served = serve_stdio(scoped, agents) => Some(served),
        () = stop => None,
    };
    tokio::select! {
        // First, so that it is listened to before upkeep ends.
        biased;
        Ok(()) = stopping::once_more() => return Ok(Outcome::Abandoned),
        () = upkeep.stop() => {}
    }
    match served {
        Some(Ok(())) => Ok(Outcome::Done),
        Some(Err(error)) => {
            say(&format!("note: the client spoke no MCP, or stopped in the middle: {error}"));
            Ok(Outcome::Done)
        }
        None => {
            say("stopped; what was acknowledged is stored");
            Ok(Outcome::Interrupted)
        }
    }
}

/// Reads a graph from the file of the reference memory server.
async fn import(call: &Call, path: &Path, output: &mut Output) -> Result<Outcome, Failure> {
    let unread = |error: std::io::Error| Failure::Usage(format!("the file {} cannot be read: {error}", path.display()));
    let file = File::open(path).map_err(unread)?;
    let (memory, scoped) = call.open().await?;
    let done = import_graph(&scoped, BufReader::new(file)).await;
    // What the memory refused is no fault of the file.
    let failed = |error: std::io::Error| error.downcast::<memory::Error>().map_or_else(unread, Failure::Memory);
    let done = done.map_err(failed)?;
    let GraphImport { entities, relations, observations, already, rejected, rejections, .. } = done;
    if rejected > 0 && entities + relations + observations + already == 0 {
        return Err(Failure::Usage(format!("no line of {} is an entity or a relation", path.display())));
    }
    for GraphRejection { line, why, .. } in rejections.iter().take(TOLD) {
        say(&format!("rejected: line {line}: {why}"));
    }
    if output.is_json() {
        output.json(&json!({
            "entities": entities, "relations": relations, "observations": observations, "already": already, "rejected": rejected,
            "rejections": rejections,
        }))?;
    } else {
        output.line(&format!("{entities} entities and {relations} relations are new, {already} were known"))?;
        output.line(&format!(
            "{observations} observations were added to known entities, {rejected} lines were rejected"
        ))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(if rejected == 0 { Outcome::Done } else { Outcome::Partial })
}

/// Prints the configuration of a client: the command with this owner, and with what else was said.
fn config(call: &Call, args: &Mcp, client: Client, output: &mut Output) -> Result<Outcome, Failure> {
    let owner = call.owner()?;
    let mut words =
        vec!["mcp".to_owned(), "--tenant".to_owned(), owner.tenant(), "--subject".to_owned(), owner.subject()];
    if let Some(file) = &call.global.config {
        words.extend(["--config".to_owned(), absolute(file)]);
    }
    // Also what a variable says: a client starts the program in an environment of its own.
    if let Some(place) = call.global.db.as_ref().filter(|_| call.named.database || call.settings.truth().is_none()) {
        words.extend(["--db".to_owned(), call.database()?.absolute().shown()]);
        if without_secrets(&place.0) != place.0 {
            say("note: the password of the database is not in it: set MEMORY_URL for the client in place of --db");
        }
    }
    if let Some(embedder) = &call.global.embedder {
        words.extend(["--embedder".to_owned(), embedder.to_string()]);
    }
    if let Some(file) = &args.agents.descriptions {
        words.extend(["--descriptions".to_owned(), absolute(file)]);
    }
    for (option, value) in
        [("--tools", &args.agents.named()), ("--max-tokens", &args.agents.max_tokens.map(|most| most.to_string()))]
    {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    }
    words.extend(args.agents.allow_forget.then(|| "--allow-forget".to_owned()));
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let program = program.unwrap_or_else(|| "memory".to_owned());
    let entry = json!({ "command": program, "args": words });
    let value = match client {
        Client::Codex if !output.is_json() => return toml(&program, &words, output),
        Client::Codex => json!({ "mcp_servers": { "memory": entry } }),
        Client::Vscode => json!({ "servers": { "memory": { "type": "stdio", "command": program, "args": words } } }),
        _ => json!({ "mcpServers": { "memory": entry } }),
    };
    if output.is_json() {
        output.json(&value)?;
    } else {
        output.whole(&pretty(&value))?;
    }
    Ok(Outcome::Done)
}

/// Returns the path as it is found from every folder: a client starts the program in one of its own.
fn absolute(file: &Path) -> String {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).display().to_string()
}

fn toml(program: &str, words: &[String], output: &mut Output) -> Result<Outcome, Failure> {
    // Texts and lists of JSON are texts and lists of TOML.
    output.line("[mcp_servers.memory]")?;
    output.whole(&format!("command = {}", json!(program)))?;
    output.whole(&format!("args = {}", json!(words)))?;
    Ok(Outcome::Done)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

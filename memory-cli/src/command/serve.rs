//! `memory serve`: the memory behind HTTP and MCP, for whoever has a token.

use std::net::{IpAddr, SocketAddr, TcpListener};

#[cfg(feature = "tls")]
use memory_server::Certificate;
use memory_server::{Config, Grant, Rights, Server, Token, TokenFile, Tokens, log_as_json};
use serde_json::json;
use tracing::Level;

use super::call::{Call, EVERY};
use super::mcp::agents;
use super::stopping;
use super::token::{file, unusable};
use crate::cli::Serve;
use crate::failure::{Failure, Outcome};
use crate::log;
use crate::output::{Output, say};

/// Serves until it is told to stop.
pub(crate) async fn run(call: &Call, args: &Serve, output: &mut Output) -> Result<Outcome, Failure> {
    let file = file(&args.file)?;
    let grants = file.grants().map_err(|error| unusable(&file, &error))?;
    if !args.listen.ip().is_loopback() {
        check_open(args, &file, &grants)?;
    }
    let config = Config { agents: agents(&args.agents)?, ..Config::default() };
    let config = args.hosts.iter().fold(config, |config, host| config.with_host(host));
    // Whoever connects to another address of this machine names it.
    let config = if args.listen.ip().is_loopback() { config.with_host(host(args.listen.ip())) } else { config };
    #[cfg(feature = "tls")]
    let certificate = certificate(args).await?;
    let (listener, metrics) = (bind(args.listen)?, args.metrics.map(bind).transpose()?);
    let memory = call.open_database(&call.database()?, None).await?;
    let mut tokens = Tokens::of_file(file.clone()).map_err(|error| unusable(&file, &error))?;
    let mut link = None;
    if args.is_for_this_machine()
        && let Some((tenant, subject)) = linked(call, &grants)?
    {
        let token = Token::fresh().map_err(|error| Failure::Inner(format!("there are no random bytes: {error}")))?;
        tokens = tokens.with(Grant::new(&token, &tenant, &subject, Rights::all(), memory.now())?);
        link = Some(token.reveal());
    }
    let address = listener.local_addr().map_err(Failure::Output)?;
    // Whoever reads where it listens may tell it to stop.
    let stop = stopping::told().map_err(Failure::Output)?;
    let scheme = if args.encrypts() { "https" } else { "http" };
    announce(&format!("{scheme}://{address}/"), address, link.as_deref(), output)?;
    if link.is_none() && args.is_for_this_machine() {
        say("note: the link needs an owner: --tenant NAME --subject NAME; tokens: `memory token new`");
    }
    match log::wanted() {
        Some(wanted) => log_as_json(move |target, level| wanted.would_enable(target, &level)),
        None => log_as_json(|_, level| level <= Level::INFO),
    }
    let mut server = Server::new(memory, tokens, config);
    if let Some(metrics) = metrics {
        server = server.with_metrics(metrics);
    }
    #[cfg(feature = "tls")]
    if let Some(certificate) = certificate {
        server = server.with_certificate(certificate);
    }
    tokio::select! {
        Ok(()) = stopping::twice() => {
            say("stopped before what was under way had ended; what was acknowledged is stored");
            Ok(Outcome::Abandoned)
        }
        served = server.serve(listener, stop) => {
            served.map_err(|error| Failure::Inner(format!("the server failed: {error}")))?;
            Ok(Outcome::Done)
        }
    }
}

/// Refuses to listen beyond this machine without tokens, or without anybody who encrypts.
fn check_open(args: &Serve, file: &TokenFile, grants: &[Grant]) -> Result<(), Failure> {
    let listen = args.listen;
    if grants.is_empty() {
        let path = file.path().display();
        return Err(Failure::Usage(format!(
            "{listen} is open to others, and {path} holds no token: `memory token new`"
        )));
    }
    if !args.behind_proxy && !args.encrypts() {
        let how = "give a certificate by --tls-certificate and --tls-key, or put a proxy before it that encrypts and say --behind-proxy";
        return Err(Failure::Usage(format!(
            "{listen} is open to others, and what is sent there is not encrypted: {how}"
        )));
    }
    if args.hosts.is_empty() {
        return Err(Failure::Usage("say by which name the server is reached: --host NAME".to_owned()));
    }
    Ok(())
}

/// Reads the certificate, if one is given.
#[cfg(feature = "tls")]
async fn certificate(args: &Serve) -> Result<Option<Certificate>, Failure> {
    let Some((certificate, key)) = args.tls_certificate.as_ref().zip(args.tls_key.as_ref()) else { return Ok(None) };
    let read = Certificate::read(certificate, key).await;
    let unusable = |error| {
        let (certificate, key) = (certificate.display(), key.display());
        Failure::Usage(format!("{certificate} and {key} are no certificate and its key: {error}"))
    };
    read.map(Some).map_err(unusable)
}

fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

impl Serve {
    /// Returns whether it is reached from this machine alone, so that it may show a link that opens it. Behind a proxy, others read
    /// what a server prints.
    fn is_for_this_machine(&self) -> bool {
        self.listen.ip().is_loopback() && self.hosts.is_empty() && !self.behind_proxy
    }

    /// Returns whether it encrypts what is sent.
    fn encrypts(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls_certificate.is_some();
        #[cfg(not(feature = "tls"))]
        return false;
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| Failure::Usage(format!("cannot listen on {address}: {error}")))
}

/// Returns whose memory the link opens: the owner that is named, else the only one that has tokens.
fn linked(call: &Call, grants: &[Grant]) -> Result<Option<(String, String)>, Failure> {
    if let Some(owner) = call.owner_if_named()? {
        return Ok(Some((owner.tenant(), owner.subject())));
    }
    let owner = |grant: &Grant| (grant.tenant().to_owned(), grant.subject().to_owned());
    let mut owners: Vec<(String, String)> = grants.iter().map(owner).collect();
    owners.dedup();
    // A token of a whole tenant names no owner.
    Ok(owners.pop().filter(|(_, subject)| owners.is_empty() && subject != EVERY))
}

/// Says where the server listens. The token stands behind `#`, which a browser keeps to itself.
fn announce(url: &str, address: SocketAddr, token: Option<&str>, output: &mut Output) -> Result<(), Failure> {
    let link = token.map(|token| format!("{url}#token={token}"));
    if output.is_json() {
        output.json(&json!({ "listening": address, "link": link }))?;
    } else {
        output.line(&format!("listening on {url} (API {url}v1, MCP {url}mcp)"))?;
        link.iter().try_for_each(|link| output.whole(link))?;
    }
    Ok(output.flush()?)
}

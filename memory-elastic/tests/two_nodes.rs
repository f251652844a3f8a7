//! Two nodes, of which each is killed once: reads go on with what is true or say that they cannot, and nothing is lost.

mod probe;

use std::process::ExitCode;
use std::time::Duration;

use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::time::Stopwatch;
use memory_core::{Error, Fields, Filter, ItemId, MessageId, Scope, Seq, SessionId, Timestamp, Unit, Version};
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::services::{OwnServer, Server, Servers, Service, free_port};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, Suite, check, equal};
use tokio::time::sleep;
use uuid::Uuid;

use probe::probe;

/// How long a cluster may take to notice that a node is gone, or back.
const NOTICE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// The longest that a call may take: the patience of the client, and what the machine adds.
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST: Duration = PATIENCE.saturating_add(SLACK);

/// A store over one of the nodes, and the entries of one owner that it has acknowledged.
struct Node {
    url: String,
    text: ElasticText,
    scope: Scope,
}

impl Node {
    async fn open(server: &Server) -> memory_core::Result<Self> {
        let config = ElasticConfig::new(server.url())?.with_refresh(Duration::from_millis(50));
        let elastic = Elastic::connect(config.with_patience(PATIENCE).with_bulk_patience(PATIENCE)).await?;
        let text = ElasticText::open(&elastic, "test").await?;
        Ok(Self { url: server.url().to_owned(), text, scope: Scope::new("nodes", "ada")? })
    }

    /// Puts one entry, once.
    async fn put(&self, number: u64) -> memory_core::Result<()> {
        let mut fields = Fields::of_span(&SessionId::new("s")?, Seq(1), Timestamp(0));
        fields.unit = Unit::Message;
        let entry = TextEntry {
            item: ItemId::Message(MessageId(Uuid::from_u64_pair(0, number))),
            version: Version { epoch: memory_core::Epoch(0), revision: 1 },
            own: vec![(Term::new("river")?, 1)],
            near: Vec::new(),
            fields,
        };
        let rejected = self.text.put(&self.scope, &[entry], Visibility::OnReturn).await?;
        rejected.is_empty().then_some(()).ok_or(Error::Conflict)
    }

    /// Puts entries until each is acknowledged.
    async fn insist(&self, numbers: std::ops::Range<u64>) -> Scene {
        let watch = Stopwatch::start();
        for number in numbers {
            while let Err(error) = self.put(number).await {
                check!(error.is_retryable() && watch.elapsed() < NOTICE, "a put failed: {error:?}");
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    /// Returns how many entries a search finds, and how many it says that there are.
    async fn count(&self) -> memory_core::Result<(usize, u64)> {
        let (terms, filter) = (vec![Term::new("river")?], Filter::All);
        let query = TextQuery { terms, unit: Unit::Message, filter, limit: 10_000 };
        let found = self.text.search(&self.scope, &query).await?;
        Ok((found.hits.len(), found.documents))
    }

    /// Searches until there were some answers; each has to be whole, and each failure to say that it may pass.
    async fn answers(&self, expected: u64, times: usize) -> Scene {
        let (watch, mut answered) = (Stopwatch::start(), 0);
        while answered < times {
            let call = RunningWatch::start();
            match self.count().await {
                Ok(found) => {
                    equal(found, (usize::try_from(expected).unwrap_or(0), expected))?;
                    answered += 1;
                }
                Err(error) => {
                    check!(error.is_retryable(), "a search failed for good: {error:?}");
                    check!(watch.elapsed() < NOTICE, "no answer: {error:?}");
                    sleep(PAUSE).await;
                }
            }
            check!(call.elapsed() < LONGEST, "a call took {:?}", call.elapsed());
        }
        Ok(())
    }

    /// Waits until the cluster has so many nodes and every shard all its copies.
    async fn whole(&self, nodes: usize) -> Scene {
        let path = format!("{}/_cluster/health?wait_for_nodes={nodes}&wait_for_status=green&timeout=5s", self.url);
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(10)).build();
        let (client, watch) = (client.map_err(|error| Failure::new(error.to_string()))?, Stopwatch::start());
        loop {
            let is_whole = client.get(&path).send().await.is_ok_and(|answer| answer.status().is_success());
            if is_whole {
                return Ok(());
            }
            check!(watch.elapsed() < NOTICE, "the cluster is not whole");
            sleep(PAUSE).await;
        }
    }
}

/// A node of a cluster of its own, on loopback: elsewhere a node asks for more files and maps than a container may give.
struct Place {
    name: &'static str,
    http: u16,
    transport: u16,
}

impl Place {
    fn new(name: &'static str) -> Result<Self, Failure> {
        Ok(Self { name, http: free_port()?, transport: free_port()? })
    }

    /// Returns the node, of a cluster that `first` begins.
    fn node(&self, servers: &Servers, first: &Self) -> Result<OwnServer, Failure> {
        let node = servers.own("elastic")?.with_host_network(self.http);
        let node = node.with_setting("network.host", "127.0.0.1").with_setting("http.port", self.http.to_string());
        let node = node.with_setting("transport.port", self.transport.to_string()).with_setting("node.name", self.name);
        let node = node.with_setting("discovery.type", "multi-node");
        let node = node.with_setting("discovery.seed_hosts", format!("127.0.0.1:{}", first.transport));
        let node = node.with_setting("cluster.name", format!("two-nodes-{}", first.transport));
        // A node that joins must not begin a cluster too.
        Ok(if self.name == first.name { node.with_setting("cluster.initial_master_nodes", self.name) } else { node })
    }
}

async fn each_of_two_nodes_may_be_killed(servers: Servers) -> Scene {
    let (first, second) = (Place::new("one")?, Place::new("two")?);
    let mut one = first.node(&servers, &first)?.start().await?;
    let mut two = second.node(&servers, &first)?.start().await?;
    let here = Node::open(&one).await?;
    here.whole(2).await?;
    let there = Node::open(&two).await?;
    here.insist(0..50).await?;
    here.whole(2).await?;
    for node in [&here, &there] {
        node.answers(50, 20).await?;
    }

    // The node that is not the master: the other one goes on alone, with reads and writes.
    two.kill().await?;
    here.answers(50, 20).await?;
    here.insist(50..60).await?;
    here.answers(60, 20).await?;
    check!(there.count().await.is_err_and(|error| error.is_retryable()), "a node that is gone answers");
    two.restart().await?;
    there.whole(2).await?;
    for node in [&here, &there] {
        node.answers(60, 20).await?;
    }

    // The master: the other one goes on with reads, and refuses writes.
    one.kill().await?;
    there.answers(60, 20).await?;
    let refused = there.put(60).await;
    check!(refused.as_ref().is_err_and(Error::is_retryable), "without a master: {refused:?}");
    there.answers(60, 20).await?;
    one.restart().await?;
    here.whole(2).await?;
    there.insist(60..70).await?;
    for node in [&here, &there] {
        node.answers(70, 20).await?;
    }
    one.remove().await?;
    two.remove().await?;
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("elastic-nodes")
        .service(Service::elastic(), probe)
        .alone("each_of_two_nodes_may_be_killed", each_of_two_nodes_may_be_killed)
        .run()
}

//! The server in process: requests without sockets, but where the socket is what is tried.

#[cfg(test)]
#[path = "server/access.rs"]
mod access;
#[cfg(test)]
#[path = "server/away.rs"]
mod away;
#[cfg(test)]
#[path = "server/bad_input.rs"]
mod bad_input;
#[cfg(test)]
#[path = "server/bed.rs"]
mod bed;
#[cfg(test)]
#[path = "server/bounds.rs"]
mod bounds;
#[cfg(test)]
#[path = "server/chance.rs"]
mod chance;
#[cfg(test)]
#[path = "server/core.rs"]
mod core;
#[cfg(test)]
#[path = "server/document.rs"]
mod document;
#[cfg(test)]
#[path = "server/files.rs"]
mod files;
#[cfg(test)]
#[path = "server/fits.rs"]
mod fits;
#[cfg(test)]
#[path = "server/gathered.rs"]
mod gathered;
#[cfg(test)]
#[path = "server/graph.rs"]
mod graph;
#[cfg(test)]
#[path = "server/isolation.rs"]
mod isolation;
#[cfg(test)]
#[path = "server/lists.rs"]
mod lists;
#[cfg(test)]
#[path = "server/mcp.rs"]
mod mcp;
#[cfg(test)]
#[path = "server/messages.rs"]
mod messages;
#[cfg(test)]
#[path = "server/observed.rs"]
mod observed;
#[cfg(test)]
#[path = "server/page.rs"]
mod page;
#[cfg(test)]
#[path = "server/reaching.rs"]
mod reaching;
#[cfg(test)]
#[path = "server/records.rs"]
mod records;
#[cfg(test)]
#[path = "server/repeats.rs"]
mod repeats;
#[cfg(test)]
#[path = "server/sockets.rs"]
mod sockets;
#[cfg(test)]
#[cfg(feature = "tls")]
#[path = "server/tls.rs"]
mod tls;
#[cfg(test)]
#[path = "server/transfer.rs"]
mod transfer;
#[cfg(test)]
#[path = "server/under_way.rs"]
mod under_way;
#[cfg(test)]
#[path = "server/unsaid.rs"]
mod unsaid;

//! Models over HTTP, against servers that answer in the vendors' shapes: whole, broken, and as an enemy would.

#[cfg(test)]
mod chat;
#[cfg(test)]
mod embeddings;
#[cfg(test)]
mod extraction;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod poison;
#[cfg(test)]
mod real;
#[cfg(test)]
mod rerankers;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod summaries;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trust;

#![doc = include_str!("../README.md")]

mod blackboard;
mod cache;
mod chat;
mod client;
mod config;
mod error;
mod keys;
mod owner;
mod reply;
mod row;
mod script;
mod upkeep;

pub use blackboard::RedisBlackboard;
pub use cache::RedisCache;
pub use chat::RedisChat;
pub use client::Redis;
pub use config::RedisConfig;
/// The client that this crate is built on, for [`Redis::from_manager`].
pub use redis;

//! Coming from another memory: what its names are here, and one example each.
//!
//! Every name on the left finds its counterpart in the search of this documentation, too. The folder `examples/coming-from` of the
//! repository has a program for each, with the old calls beside ours.
//!
//! # MUXI: `BufferMemory`
//!
//! | there | here |
//! |---|---|
//! | `BufferMemory(max_size, buffer_multiplier, recency_bias)` | a [`Session`](crate::Session) with a [`BufferConfig`](crate::BufferConfig): `balanced`, `high_recall`, `conversational` |
//! | `add(text, role, metadata)` | [`Session::append`](crate::Session::append) |
//! | `search(query, limit, filter, recency_bias)` | [`Session::search`](crate::Session::search), [`Scoped::search`](crate::Scoped::search) |
//! | `get_recent_messages(n)` | [`Session::recent`](crate::Session::recent) |
//! | filter by a user id in the metadata | a [`Scope`](crate::Scope): an owner sees nothing of another, whatever is asked |
//!
//! | for | weight of newness | window | capacity |
//! |---|--:|--:|--:|
//! | talk, where the last word counts | 0.5 to 0.7 | 10 | 50 |
//! | between | 0.3 | 10 | 100 |
//! | knowledge, where old is as good as new | 0.1 to 0.3 | 15 | 300 |
//!
//! Related tiers: what is to outlive a conversation is a record ([`Scoped::remember`](crate::Scoped::remember)). Several users are
//! several owners. Knowledge that all users share is records of an owner of its own, such as `Scope::new("acme", "handbook")`,
//! asked beside theirs: [`Search::sharing`](crate::Search::sharing), [`ContextRequest::sharing`](crate::ContextRequest::sharing).
//!
//! ```
//! use memory::{BufferConfig, Message, Role, Scope, Search, SessionId};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let memory = memory::open("memory:").await?.buffer(BufferConfig::balanced()).build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! let buffer = ada.session(&SessionId::new("chat")?);
//! buffer.append(vec![Message::new(Role::User, "My rose is called Aurora.", memory.now())]).await?;
//! assert_eq!(buffer.recent().await?.len(), 1);
//! assert_eq!(buffer.search(&Search::new("What is my rose called?")).await?.hits.len(), 1);
//! # Ok::<(), memory::Error>(())
//! # }).unwrap();
//! ```
//!
//! # MUXI: three tiers
//!
//! | there | here |
//! |---|---|
//! | buffer | a [`Session`](crate::Session) |
//! | `MemoryManager` | [`Memory`](crate::Memory) |
//! | `WorkingMemory.add` | [`Scoped::note`](crate::Scoped::note): volatile, bounded in bytes ([`WorkingConfig`](crate::WorkingConfig)) |
//! | `MilvusClient` | an index of meaning, [`VectorStore`](crate::store::vectors::VectorStore): [`Settings::with_vectors`](crate::Settings::with_vectors) |
//! | `persistent` tier | [`Scoped::remember`](crate::Scoped::remember), into a [`RecordStore`](crate::store::records::RecordStore) |
//! | `rank_and_dedupe` | a [`Ranking`](crate::rank::Ranking); what is told twice is one record |
//! | `fit_to_window` | the budget of a context |
//! | `generate_synopsis` | [`Scoped::synopsis`](crate::Scoped::synopsis) |
//! | query planner, `get_context` | [`Scoped::context`](crate::Scoped::context), [`Session::context`](crate::Session::context) |
//!
//! ```
//! use memory::{Remember, Scope, WorkingNote};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! ada.note(WorkingNote::new("The weather in Lisbon is sunny, 24 degrees.", "weather")).await?;
//! ada.remember(Remember::fact("Ada lives in Lisbon")).await?;
//! let context = ada.context("How is the weather in Lisbon?", 4_000).await?;
//! assert!(context.messages().any(|message| message.text().contains("sunny")));
//! # Ok::<(), memory::Error>(())
//! # }).unwrap();
//! ```
//!
//! # LlamaIndex
//!
//! | there | here |
//! |---|---|
//! | `ChatMemoryBuffer(token_limit)` | [`BufferConfig::with_limit`](crate::BufferConfig::with_limit), or the budget of a context |
//! | `ChatSummaryMemoryBuffer` | the default: a full window is folded behind a summary, and no message is lost |
//! | `VectorMemory` | [`Scoped::search`](crate::Scoped::search); a context recalls by itself |
//! | `SimpleComposableMemory` | one [`Session`](crate::Session): its context holds all of these |
//! | `chat_store`, `chat_store_key` | the place that a memory is opened at; [`Scope`](crate::Scope) and [`SessionId`](crate::SessionId) |
//! | `put`, `get`, `get_all`, `reset` | `append`, `context`, `read`, `forget` of a [`Forget::Session`](crate::Forget::Session) |
//! | `add_message`, `get_messages`, `delete_messages` | `append`, `read`, `forget` of [`Forget::Messages`](crate::Forget::Messages) |
//! | `set_messages` | append to a new session, then delete the old one |
//! | `initial_token_count` | [`Budget::reserve`](crate::window::Budget::reserve) |
//!
//! ```
//! use memory::window::Budget;
//! use memory::{Message, Role, Scope, SessionId};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let memory = memory::open("memory:").await?.build().await?;
//! let chat = memory.of(&Scope::new("acme", "ada")?).session(&SessionId::new("chat_history")?);
//! chat.append(vec![
//!     Message::new(Role::User, "Hello!", memory.now()),
//!     Message::new(Role::Assistant, "Hello! How can I help?", memory.now()),
//! ]).await?;
//! // 3,000 tokens, of which the instructions of the agent take 500.
//! let context = chat.context("", Budget::new(3_000).reserve(500)).await?;
//! assert_eq!(context.messages().count(), 2);
//! # Ok::<(), memory::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Kari
//!
//! | there | here |
//! |---|---|
//! | `ingest` | [`Scoped::remember`](crate::Scoped::remember) with [`Remember::gated`](crate::Remember::gated), `short_term`, `long_term` |
//! | `query`, `recall` | [`Scoped::search`](crate::Scoped::search) with [`Search::kari`](crate::Search::kari) |
//! | surprise gate | [`Gate`](crate::Gate): stored, reinforced or skipped, and the receipt says which |
//! | `prune` | upkeep, by the life of each record |
//! | `purge` | [`Scoped::forget`](crate::Scoped::forget) |
//! | `NeuroVault`, decay | [`Decay`](crate::rank::Decay) |
//! | `SessionBuffer` | a journal before conversations: [`Settings::with_journal`](crate::Settings::with_journal) |
//! | `replay` | by itself when a memory is opened; [`Memory::flush`](crate::Memory::flush) |
//!
//! ```
//! use memory::{Gate, Remember, Scope, Search};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let memory = memory::open("memory:").await?.build().await?;
//! let ada = memory.of(&Scope::new("acme", "ada")?);
//! let told = ada.remember(Remember::fact("Ada is on the train to Porto").short_term().gated(Gate::default())).await?;
//! let found = ada.search(&Search::kari("Where is Ada?")).await?;
//! assert_eq!(found.hits[0].item.id(), told.id.to_string());
//! # Ok::<(), memory::Error>(())
//! # }).unwrap();
//! ```
//!
//! # The agent manager: ring buffers and a blackboard
//!
//! | there | here |
//! |---|---|
//! | `RingBuffer::new(cap).with_threshold(0.75)` | [`RingBuffer`](crate::window::RingBuffer), in process; what is to last is a [`Session`](crate::Session) |
//! | `MemoryEntry::new(content, tokens)` | [`Entry`](crate::window::Entry), counted by a counter or by the caller |
//! | `should_summarize` | [`RingBuffer::needs_summary`](crate::window::RingBuffer::needs_summary) |
//! | `create_agent_buffer`, `add_to_agent` | a session of the owner [`Scope::agent`](crate::Scope::agent), [`Session::append`](crate::Session::append) |
//! | `Blackboard`, `add_to_blackboard`, `recall` | [`Scoped::blackboard`](crate::Scoped::blackboard) of the owner [`Scope::team`](crate::Scope::team): `put`, `get`, `search` |
//! | `BlackboardEntry::new(k, v).with_ttl(secs)` | [`BoardEntry`](crate::BoardEntry) |
//! | `with_embeddings` | [`BoardEntry::embedded`](crate::BoardEntry::embedded), and an embedder of the memory |
//!
//! ```
//! use std::time::Duration;
//!
//! use memory::{BoardEntry, Message, Role, Scope, SessionId};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let memory = memory::open("memory:").await?.build().await?;
//! let planner = memory.of(&Scope::agent("acme", "planner")?);
//! planner.session(&SessionId::new("run-1")?)
//!     .append(vec![Message::new(Role::Assistant, "First I look up the trains.", memory.now())]).await?;
//! let board = memory.of(&Scope::team("acme", "travel")?).blackboard();
//! board.put(&BoardEntry::new("train", "leaves at nine").with_ttl(Duration::from_secs(60))).await?;
//! assert!(board.get("train").await?.is_some());
//! # Ok::<(), memory::Error>(())
//! # }).unwrap();
//! ```

//! The contracts, reference stores, algorithms and engine of the memory layer. No driver, no HTTP.

pub mod analysis;
mod codec;
pub mod engine;
pub mod error;
pub mod extract;
pub mod fields;
pub mod filter;
pub mod hashing;
pub mod id;
pub mod index;
pub mod layer;
pub mod limits;
pub mod message;
#[doc(hidden)]
pub mod methods;
pub mod model;
pub mod novelty;
pub mod number;
pub mod outlive;
pub mod plan;
pub mod posting;
pub mod rank;
pub mod recent;
pub mod record;
pub mod reference;
pub mod scope;
pub mod secrets;
pub mod store;
pub mod stores;
pub mod time;
pub mod vector;
pub mod window;
pub mod working;

pub use analysis::{Analysis, Language};
pub use error::{Cause, Error, Result, Transience};
pub use fields::Fields;
pub use filter::{Field, Filter, Scalar};
pub use id::{Digest, ItemId, MessageId, RecordId, Seq, SeqRange, SessionId, Unit, Version};
pub use limits::Limits;
pub use message::{Block, Message, Role, StoredMessage, Trust};
pub use model::CounterId;
pub use record::{Record, StoredRecord};
pub use scope::{Epoch, Scope};
pub use store::truth::Truth;
pub use stores::{Away, Disabled, StoreStatus, Stores};
pub use time::{Clock, SystemClock, Timestamp};

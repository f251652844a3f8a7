//! The contracts, reference stores, algorithms and engine of the memory layer. No driver, no HTTP.

pub mod analysis;
pub mod blackboard;
pub mod cache;
pub mod chat;
mod codec;
pub mod error;
pub mod fields;
pub mod filter;
pub mod id;
pub mod index;
pub mod journal;
pub mod limits;
pub mod message;
pub mod model;
pub mod rank;
pub mod record;
pub mod reference;
pub mod scope;
pub mod store;
pub mod text;
pub mod time;
pub mod truth;
pub mod upkeep;
pub mod vector;
pub mod window;

pub use analysis::{Analysis, Language};
pub use error::{Cause, Error, Result, Transience};
pub use fields::Fields;
pub use filter::{Field, Filter, Scalar};
pub use id::{Digest, ItemId, MessageId, RecordId, Seq, SeqRange, SessionId, Unit, Version};
pub use limits::Limits;
pub use message::{Block, Message, Role, StoredMessage, Trust};
pub use record::{Record, StoredRecord};
pub use scope::{Epoch, Scope};
pub use time::{Clock, SystemClock, Timestamp};
pub use truth::Truth;

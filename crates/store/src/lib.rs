//! What lies on disk: the journal of a ledger, its key and anchor, and the subjects of steps. Survives a power cut.
//!
//! The rules are in `actum-core`; here is where their bytes go, in which order, and what is made of them when they come
//! back. `docs/formats/ledger.md` has the formats, the opening table and the fault model.

mod accepted;
mod cache;
mod call;
mod clock;
mod disk;
pub mod entries;
mod error;
mod group;
mod journal;
mod keep;
mod places;
mod register;
mod resolve;
mod running;
mod scan;
mod snapshot;
mod store;
pub mod subject;

pub use accepted::{
    AcceptedPolicy, DOCUMENT_MAX, LIVE, PINNED, PolicyMissing, file_digest, in_project,
    program_digest,
};
pub use cache::{CALL_MAX, CONTENT_MAX, Cache, CacheError};
pub use call::{CallTextError, arguments_to_json, call_from_json, call_to_json, waiting_call};
pub use clock::read_clocks;
pub use disk::{Disk, DiskFile, RealDisk, Stat, open_plain};
pub use error::StoreError;
pub use group::{Asker, Group, GroupFailed, QUEUE_MAX};
pub use journal::FileJournal;
pub use keep::{put, random};
pub use places::Places;
pub use register::Register;
pub use resolve::LossReport;
pub use running::{RunningMark, is_running};
pub use scan::verify;
pub use snapshot::Snapshot;
pub use store::{PATIENCE, Store, Writer};

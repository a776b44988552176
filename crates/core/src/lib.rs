//! The rules of Actum: bytes, the keyed chain of events, the views folded from them, policy, and the grounding check.
//!
//! A functional core: `(state, request, now) -> decision`. No I/O, no clock, no randomness, no threads; the same inputs
//! give the same bytes. Everything here is tested without a disk.

mod canon;
mod names;
pub mod policy;

pub use canon::{Digest, Hasher, Mac, hex, unhex};
pub use names::{
    NAME_MAX, NameError, Namespace, SUBJECT_MAX, SessionName, StepName, SubjectKind, SubjectName,
};

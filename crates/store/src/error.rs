//! What can go wrong with a store, as facts: what happened, to which file.

use std::io;
use std::path::{Path, PathBuf};

use actum_core::{CommitError, LedgerId, Reason, Refusal};

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing in it may be believed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no store at this path.
    #[error("there is no ledger in {}", path.display())]
    Missing {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// There is one already.
    #[error("there is a ledger in {} already", path.display())]
    AlreadyThere {
        /// Where.
        path: PathBuf,
    },
    /// A ledger lay at this path, and lies there no more.
    #[error("ledger {ledger} lay in {} before", path.display())]
    KnownHere {
        /// Where.
        path: PathBuf,
        /// Which.
        ledger: LedgerId,
    },
    /// Another writer holds the store.
    #[error("{} is held by {holder}", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// Who has it, as they said.
        holder: String,
    },
    /// The disk said no.
    #[error("cannot {doing} {}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
    /// A file that is not what its name says.
    #[error("{}: {what}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The ledger did not take an event.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl StoreError {
    pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk { doing, path: path.to_owned(), source }
    }

    /// The reason code that a refused answer gives for this error.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Refused(refusal) => refusal.into(),
            Self::Missing { .. } | Self::KnownHere { .. } => Reason::NoLedger,
            Self::AlreadyThere { .. }
            | Self::Locked { .. }
            | Self::Disk { .. }
            | Self::Content { .. }
            | Self::Commit(_) => Reason::StoreUnreadable,
        }
    }
}

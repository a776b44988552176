//! Where the parts of a ledger lie. The store is in the project, in reach of an agent; key and anchor are outside it.

use std::path::{Path, PathBuf};

use actum_core::LedgerId;

/// The folders of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The store: the `.actum` folder, as an absolute path without links.
    pub store: PathBuf,
    /// The user's data folder of Actum: keys.
    pub data: PathBuf,
    /// The user's state folder of Actum: anchors.
    pub state: PathBuf,
}

impl Places {
    /// The project's root: what the store lies in.
    pub fn project(&self) -> &Path {
        self.store.parent().unwrap_or(&self.store)
    }

    /// The segments.
    pub fn segments(&self) -> PathBuf {
        self.store.join("ledger")
    }

    /// The lock of the one writer.
    pub fn lock(&self) -> PathBuf {
        self.store.join("lock")
    }

    /// Bytes that did not verify, moved aside.
    pub fn lost(&self) -> PathBuf {
        self.store.join("lost")
    }

    /// Accepted policies, by digest.
    pub fn policies(&self) -> PathBuf {
        self.store.join("policy")
    }

    /// Manifests of subjects, by digest: they name what changed, and prove nothing.
    pub fn subjects(&self) -> PathBuf {
        self.store.join("subject")
    }

    /// Contents that were put before a model, by digest.
    pub fn cache(&self) -> PathBuf {
        self.store.join("cache")
    }

    /// Calls that wait for approval, by digest.
    pub fn calls(&self) -> PathBuf {
        self.store.join("calls")
    }

    /// Runs that are going on, each a file locked by its process.
    pub fn running(&self) -> PathBuf {
        self.store.join("running")
    }

    /// The folder of all keys.
    pub fn keys(&self) -> PathBuf {
        self.data.join("keys")
    }

    /// The key file of a ledger.
    pub fn key(&self, ledger: LedgerId) -> PathBuf {
        self.keys().join(ledger.to_string())
    }

    /// Where the anchor of a ledger is kept, noted beside its key.
    pub fn anchor_note(&self, ledger: LedgerId) -> PathBuf {
        self.keys().join(format!("{ledger}.anchor"))
    }

    /// The folder of all anchors.
    pub fn anchors(&self) -> PathBuf {
        self.state.join("anchors")
    }

    /// The anchor file of a ledger.
    pub fn anchor(&self, ledger: LedgerId) -> PathBuf {
        self.anchors().join(ledger.to_string())
    }
}

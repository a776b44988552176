//! The register: which ledgers lie, or lay, at a path. It is kept beside the anchors, outside the store, so that a store that
//! is gone, replaced or moved is missed, and a path where a ledger once lay is never taken for a fresh one. It carries no
//! seal: all it can do is refuse.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use actum_core::{Digest, LedgerId, hex};

use crate::disk::Disk;
use crate::error::StoreError;
use crate::journal::path_bytes;
use crate::keep::put;
use crate::places::Places;

/// Bytes in the register of one path.
const REGISTER_MAX: u64 = 256 * 1024;
/// Ledgers that lay at a path and are remembered; the oldest go first.
const GONE_MAX: usize = 16;
const HEAD: &str = "actum-path 1";

/// What is known of a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Register {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    ledger: LedgerId,
    here: bool,
    /// The data folder that holds its key.
    data: PathBuf,
}

impl Register {
    /// The register of the path of this store; empty if nothing ever lay there.
    ///
    /// # Errors
    /// What the disk said; a register that cannot be read is no empty one.
    pub(crate) fn read<D: Disk>(disk: &D, places: &Places) -> Result<Self, StoreError> {
        let path = file(places);
        let bytes = match disk.read(&path, REGISTER_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(StoreError::disk("read", &path)(error)),
        };
        let what = "not the register of a path".to_owned();
        Self::parse(&bytes).ok_or(StoreError::Content { path, what })
    }

    /// Reads the bytes of a register; nothing if they are not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        (lines.next()? == HEAD).then_some(())?;
        lines.next()?.strip_prefix("path ")?;
        let entries = lines.map(Entry::parse).collect::<Option<_>>()?;
        Some(Self { entries })
    }

    /// The ledger that lies at this path, as far as its owner said.
    pub(crate) fn here(&self) -> Option<LedgerId> {
        self.entries.iter().rev().find(|entry| entry.here).map(|entry| entry.ledger)
    }

    /// A ledger that lay at this path and does not any more.
    pub(crate) fn gone(&self) -> Option<LedgerId> {
        self.entries.last().filter(|entry| !entry.here).map(|entry| entry.ledger)
    }

    /// The newest other ledger that this path knows.
    pub(crate) fn before(&self, ledger: LedgerId) -> Option<LedgerId> {
        self.entries.iter().rev().find(|it| it.ledger != ledger).map(|entry| entry.ledger)
    }

    /// The data folder that holds the key of a ledger.
    pub(crate) fn data_of(&self, ledger: LedgerId) -> Option<&Path> {
        self.entries.iter().rev().find(|it| it.ledger == ledger).map(|entry| entry.data.as_path())
    }

    /// Notes that this ledger lies at the path now, and no other.
    ///
    /// # Errors
    /// What the disk said.
    pub(crate) fn enter<D: Disk>(
        mut self,
        disk: &D,
        places: &Places,
        ledger: LedgerId,
    ) -> Result<(), StoreError> {
        if self.here() == Some(ledger) {
            return Ok(());
        }
        self.entries.retain(|entry| entry.ledger != ledger);
        self.leave_all();
        let surplus = self.entries.len().saturating_sub(GONE_MAX);
        self.entries.drain(..surplus);
        self.entries.push(Entry { ledger, here: true, data: places.data.clone() });
        self.write(disk, places)
    }

    /// Notes that no ledger lies at the path any more. What lay there is remembered.
    ///
    /// # Errors
    /// What the disk said.
    pub(crate) fn leave<D: Disk>(mut self, disk: &D, places: &Places) -> Result<(), StoreError> {
        self.leave_all();
        self.write(disk, places)
    }

    fn leave_all(&mut self) {
        for entry in &mut self.entries {
            entry.here = false;
        }
    }

    fn write<D: Disk>(&self, disk: &D, places: &Places) -> Result<(), StoreError> {
        let mut text = format!("{HEAD}\npath {}\n", hex(&path_bytes(&places.store)));
        for Entry { ledger, here, data } in &self.entries {
            let word = if *here { "here" } else { "gone" };
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "{word} {ledger} {}", hex(&path_bytes(data)));
        }
        put(disk, &file(places), text.as_bytes())
    }
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut words = line.split(' ');
        let here = match words.next()? {
            "here" => true,
            "gone" => false,
            _ => return None,
        };
        let ledger = LedgerId::from_hex(words.next()?)?;
        let data = bytes_of(words.next()?)?;
        words.next().is_none().then_some(())?;
        Some(Self { ledger, here, data: std::ffi::OsString::from_vec(data).into() })
    }
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| actum_core::unhex::<1>(core::str::from_utf8(pair).ok()?).map(|[byte]| byte))
        .collect()
}

/// The register's file: named by the digest of the path, so that it is found without looking at any other.
fn file(places: &Places) -> PathBuf {
    let digest = Digest::of("actum/path/v1", &[&path_bytes(&places.store)]);
    places.state.join("paths").join(digest.to_string())
}

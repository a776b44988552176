//! Disks that make the journal on top of them break one promise each. A test of promises that lets one of these pass tests
//! nothing.

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use actum_store::{Disk, DiskFile, Stat};

use crate::disk::{SimDisk, SimFile, SimLock};

/// What is done wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Events are acknowledged before they are kept: their sync says yes and does nothing.
    AcknowledgesFirst,
    /// The head is acknowledged before it is kept.
    HeadInMemory,
    /// The head is durable before the events it speaks of.
    HeadBeforeData,
    /// A sync that failed is tried again, and its second answer believed.
    Retries,
    /// The names in folders are never made durable.
    ForgetsNames,
}

/// A [`SimDisk`] with a saboteur in front of it.
#[derive(Debug, Clone)]
pub struct SpoiltDisk {
    disk: SimDisk,
    how: Sabotage,
    held: Arc<Mutex<Vec<Held>>>,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
}

/// A file of a [`SpoiltDisk`].
#[derive(Debug)]
pub struct SpoiltFile {
    disk: SpoiltDisk,
    file: SimFile,
    path: PathBuf,
}

impl SpoiltDisk {
    /// Puts a saboteur in front of `disk`.
    pub fn new(disk: SimDisk, how: Sabotage) -> Self {
        Self { disk, how, held: Arc::default() }
    }

    fn file(&self, file: SimFile, path: &Path) -> SpoiltFile {
        SpoiltFile { disk: self.clone(), file, path: path.to_owned() }
    }

    fn let_go(&self) -> io::Result<()> {
        let held = core::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        for Held { path, offset, bytes } in held {
            let mut file = self.disk.open(&path)?;
            file.write_at(&bytes, offset)?;
            file.sync()?;
        }
        Ok(())
    }
}

impl Disk for SpoiltDisk {
    type File = SpoiltFile;
    type Lock = SimLock;

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.disk.read(path, limit)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.disk.make_folder(folder)
    }
    fn create(&self, path: &Path) -> io::Result<SpoiltFile> {
        self.disk.create(path).map(|file| self.file(file, path))
    }
    fn open(&self, path: &Path) -> io::Result<SpoiltFile> {
        self.disk.open(path).map(|file| self.file(file, path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if self.how == Sabotage::ForgetsNames { Ok(()) } else { self.disk.sync_folder(folder) }
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.disk.stat(path)
    }
    fn lock(
        &self,
        path: &Path,
        holder: &str,
        patience: Duration,
    ) -> Result<SimLock, Result<String, io::Error>> {
        self.disk.lock(path, holder, patience)
    }
}

impl SpoiltFile {
    fn holds_events(&self) -> bool {
        self.path.extension().is_some_and(|end| end == "seg")
    }

    fn holds_the_head(&self) -> bool {
        self.path.parent().is_some_and(|folder| folder.ends_with("anchors"))
    }
}

impl DiskFile for SpoiltFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.disk.how == Sabotage::HeadBeforeData && self.holds_events() {
            let held = Held { path: self.path.clone(), offset, bytes: bytes.to_vec() };
            self.disk.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
            return Ok(());
        }
        self.file.write_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.disk.how {
            Sabotage::AcknowledgesFirst | Sabotage::HeadBeforeData if self.holds_events() => Ok(()),
            Sabotage::HeadInMemory if self.holds_the_head() => Ok(()),
            Sabotage::HeadBeforeData if self.holds_the_head() => {
                self.file.sync()?;
                self.disk.let_go()
            }
            Sabotage::Retries => self.file.sync().or_else(|_ignored| self.file.sync()),
            Sabotage::AcknowledgesFirst
            | Sabotage::HeadInMemory
            | Sabotage::HeadBeforeData
            | Sabotage::ForgetsNames => self.file.sync(),
        }
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

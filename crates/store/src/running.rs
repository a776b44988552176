//! Marks of runs that are going on: a file that the process of the run keeps locked. They tell *running* from *incomplete*
//! and decide nothing else: neither grounds.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::disk::{Disk as _, RealDisk, open_plain};
use crate::places::Places;

/// This process is carrying out a run. The mark goes when it does, whichever way.
#[derive(Debug)]
pub struct RunningMark {
    path: PathBuf,
    _locked: File,
}

impl RunningMark {
    /// Marks a run.
    ///
    /// # Errors
    /// What the disk said.
    pub fn set(places: &Places, run: u64) -> io::Result<Self> {
        let folder = places.running();
        RealDisk.make_folder(&folder)?;
        let path = folder.join(run.to_string());
        let mut how = OpenOptions::new();
        let file = open_plain(&path, how.write(true).create(true).truncate(false).mode(0o600))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _locked: file }),
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        // A mark that stays is unlocked, so it says nothing.
        let _stays = fs::remove_file(&self.path);
    }
}

/// Whether a process is carrying out this run at the moment.
pub fn is_running(places: &Places, run: u64) -> bool {
    let path = places.running().join(run.to_string());
    let Ok(file) = open_plain(&path, OpenOptions::new().read(true)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

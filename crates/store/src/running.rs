//! Marks of runs that are going on: a file that the process of the run keeps locked. They tell *running* from *incomplete*
//! and decide nothing else: neither grounds.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;

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
        fs::create_dir_all(&folder)?;
        let path = folder.join(run.to_string());
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
        file.lock()?;
        Ok(Self { path, _locked: file })
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
    let Ok(file) = File::open(places.running().join(run.to_string())) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

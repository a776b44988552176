//! Actum's store on a disk, for experiments in which somebody changes its bytes.

use core::time::Duration;
use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use actum_core::{Ledger, Reading};
use actum_store::{FileJournal, Places, RealDisk, Store, StoreError, Writer};
use tempfile::TempDir;

use super::Meddle;
use super::actum::START_MS;

/// A store in a folder of its own, to be meddled with.
#[derive(Debug)]
pub(super) struct OnDisk {
    store: Store,
    pub(super) ledger: Option<Ledger<FileJournal<RealDisk>>>,
    /// Why it may not be believed any more.
    pub(super) refused: Option<String>,
    /// How long the segment was after each commit, and how many events it held.
    lengths: Vec<(u64, u64)>,
    _folder: TempDir,
}

impl OnDisk {
    pub(super) fn create() -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
        let places = Places {
            store: root.join("project/.actum"),
            data: root.join("data"),
            state: root.join("state"),
        };
        fs::create_dir_all(root.join("project")).map_err(|error| error.to_string())?;
        let store = Store::new(places);
        let ledger =
            store.init(&writer(Reading::wall(START_MS))).map_err(|error| error.to_string())?;
        let (ledger, lengths) = (Some(ledger), Vec::new());
        Ok(Self { store, ledger, refused: None, lengths, _folder: folder })
    }

    fn segment(&self) -> Result<PathBuf, String> {
        let folder = self.store.places().segments();
        let all = fs::read_dir(&folder).map_err(|error| error.to_string())?;
        let mut paths: Vec<PathBuf> = all.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        paths.pop().ok_or_else(|| format!("no segment in {}", folder.display()))
    }

    pub(super) fn measure(&mut self) {
        let count = self.ledger.as_ref().map_or(0, |ledger| ledger.views().position().count);
        let length = self.segment().ok().and_then(|path| fs::metadata(path).ok());
        if let Some(length) = length {
            self.lengths.push((count, length.len()));
        }
    }

    pub(super) fn meddle(
        &mut self,
        how: &Meddle,
        forged: Option<&[u8]>,
        now: Reading,
    ) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        // Whoever holds the lock lets go of it: the attacker waits for a restart.
        self.ledger = None;
        let path = self.segment()?;
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(said)?;
        match how {
            Meddle::Forge { .. } => {
                file.seek(SeekFrom::End(0)).map_err(said)?;
                file.write_all(forged.unwrap_or_default()).map_err(said)?;
            }
            Meddle::CutTo(count) => {
                let kept = self.lengths.iter().filter(|(events, _)| events <= count);
                let length = kept.map(|(_, length)| *length).max().unwrap_or_default();
                file.set_len(length).map_err(said)?;
            }
            Meddle::Reframe { step, subject } => {
                let mut bytes = fs::read(&path).map_err(said)?;
                let whole = format!("{step}{subject}");
                let tail = whole.as_bytes();
                // The longest end of the two names together that stands in one field.
                let found = (1..tail.len()).find_map(|from| {
                    let part = tail.get(from..)?;
                    bytes.windows(part.len()).position(|it| it == part).map(|at| (at, part.len()))
                });
                let (at, length) = found.ok_or("the names are not there")?;
                if let Some(place) = bytes.get_mut(at..at + length) {
                    let mut moved = subject.as_bytes().to_vec();
                    moved.resize(length, b' ');
                    place.copy_from_slice(&moved);
                }
                fs::write(&path, bytes).map_err(said)?;
            }
        }
        drop(file);
        match self.store.write(&writer(now)) {
            Ok(ledger) => self.ledger = Some(ledger),
            Err(error @ StoreError::Refused(_)) => self.refused = Some(error.to_string()),
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }
}

fn writer(reading: Reading) -> Writer {
    Writer { holder: "actum-lab".to_owned(), patience: Duration::from_secs(10), reading }
}

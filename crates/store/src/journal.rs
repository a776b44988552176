//! The journal on disk: append-only segments and the anchor, in the order that is the whole proof: write records, sync them,
//! write the head, sync it, acknowledge.

use std::io;
use std::path::{Path, PathBuf};

use actum_core::{
    Batch, Head, Journal, JournalFailed, Position, Refusal, SEGMENT_HEADER_LEN, SEGMENT_MAX,
    SLOT_LEN, segment_header,
};

use crate::disk::{Disk, DiskFile as _, Stat};
use crate::error::StoreError;
use crate::keep::put;
use crate::places::Places;

/// The path of the segment that begins with event `first`.
pub(crate) fn segment_path(places: &Places, first: u64) -> PathBuf {
    places.segments().join(format!("{first:016x}.seg"))
}

/// The journal of the one writer. It holds the store's lock for as long as it lives.
#[derive(Debug)]
pub struct FileJournal<D: Disk> {
    disk: D,
    places: Places,
    segment: Option<Segment<D>>,
    anchor: Anchor<D>,
    _lock: D::Lock,
}

#[derive(Debug)]
struct Segment<D: Disk> {
    file: D::File,
    path: PathBuf,
    length: u64,
}

#[derive(Debug)]
struct Anchor<D: Disk> {
    file: D::File,
    path: PathBuf,
    counter: u64,
    /// The two slots as this writer last left or found them.
    bytes: Vec<u8>,
}

impl<D: Disk> FileJournal<D> {
    /// A journal that goes on at the end of the segment at `segment`, or makes the first one.
    ///
    /// # Errors
    /// What the disk said.
    pub(crate) fn open(
        disk: &D,
        places: &Places,
        ledger: actum_core::LedgerId,
        segment: Option<(&Path, u64)>,
        counter: u64,
        lock: D::Lock,
    ) -> Result<Self, JournalFailed> {
        let path = places.anchor(ledger);
        let anchor = Anchor::open(disk, path, counter)?;
        let segment = segment.map(|(path, end)| Segment::open(disk, path, end)).transpose()?;
        Ok(Self { disk: disk.clone(), places: places.clone(), segment, anchor, _lock: lock })
    }

    fn segment_for(&mut self, batch: &Batch<'_>) -> Result<&mut Segment<D>, JournalFailed> {
        let room = |segment: &Segment<D>| {
            segment.length + batch.records.len() as u64 <= SEGMENT_MAX as u64
        };
        if !self.segment.as_ref().is_some_and(room) {
            self.segment = Some(Segment::create(&self.disk, &self.places, batch)?);
        }
        self.segment.as_mut().ok_or_else(|| failed("find", &self.places.store, None))
    }

    /// Store and anchor are as this writer left them. Anything else means that somebody put older ones in their place.
    fn check_untouched(&self, before: &Position) -> Result<(), JournalFailed> {
        let segment = self.segment.as_ref().is_none_or(|segment| {
            let there = self.disk.stat(&segment.path);
            same_file(segment.file.stat(), there, segment.length)
        });
        let there = self.disk.stat(&self.anchor.path);
        let anchor = same_file(self.anchor.file.stat(), there, 2 * SLOT_LEN as u64)
            && self.disk.read(&self.anchor.path, 2 * SLOT_LEN as u64).ok().as_ref()
                == Some(&self.anchor.bytes);
        if segment && anchor {
            return Ok(());
        }
        let (seen, found) = (before.count, 0);
        let what = "store or anchor were replaced while this process held them".to_owned();
        Err(JournalFailed { what, source: Some(Box::new(Refusal::RolledBack { seen, found })) })
    }

    fn move_head(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        let head = Head {
            counter: self.anchor.counter + 1,
            generation: batch.after.generation,
            incarnation: batch.after.incarnation,
            count: batch.after.count,
            mac: batch.after.mac,
            reading: batch.reading,
            path: path_bytes(&self.places.store),
        };
        self.anchor.write(&head, batch)
    }
}

impl<D: Disk> Journal for FileJournal<D> {
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed> {
        self.move_head(claim)
    }

    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        self.check_untouched(&batch.before)?;
        let segment = self.segment_for(batch)?;
        let wrote = segment.file.write_at(batch.records, segment.length);
        wrote.map_err(|error| failed("write", &segment.path, Some(error)))?;
        segment.length += batch.records.len() as u64;
        segment.file.sync().map_err(|error| failed("sync", &segment.path, Some(error)))?;
        self.move_head(batch)
    }
}

impl<D: Disk> Segment<D> {
    /// Goes on where the newest verified event ends. More than that, and somebody else is writing.
    fn open(disk: &D, path: &Path, end: u64) -> Result<Self, JournalFailed> {
        let file = disk.open(path).map_err(|error| failed("open", path, Some(error)))?;
        let found = file.stat().map_err(|error| failed("look at", path, Some(error)))?.length;
        if found != end {
            let what =
                format!("{} has {found} bytes, not {end}: it is being written to", path.display());
            return Err(JournalFailed { what, source: None });
        }
        Ok(Self { file, path: path.to_owned(), length: end })
    }

    fn create(disk: &D, places: &Places, batch: &Batch<'_>) -> Result<Self, JournalFailed> {
        let path = segment_path(places, batch.before.count);
        let header = segment_header(batch.keys.ledger(), &batch.before);
        // Whole or not at all: half a header would name a ledger that never was.
        put(disk, &path, &header).map_err(not_put)?;
        let file = disk.open(&path).map_err(|error| failed("open", &path, Some(error)))?;
        Ok(Self { file, path, length: SEGMENT_HEADER_LEN as u64 })
    }
}

impl<D: Disk> Anchor<D> {
    fn open(disk: &D, path: PathBuf, counter: u64) -> Result<Self, JournalFailed> {
        let limit = 2 * SLOT_LEN as u64;
        match disk.open(&path) {
            Ok(file) => {
                let bytes = disk.read(&path, limit);
                let bytes = bytes.map_err(|error| failed("read", &path, Some(error)))?;
                let mut anchor = Self { file, path, counter, bytes };
                anchor.settle()?;
                anchor.fill()?;
                Ok(anchor)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&path).to_owned();
                disk.make_folder(&folder)
                    .map_err(|error| failed("make the folder", &folder, Some(error)))?;
                let mut file =
                    disk.create(&path).map_err(|error| failed("create", &path, Some(error)))?;
                let bytes = vec![0; 2 * SLOT_LEN];
                file.write_at(&bytes, 0).map_err(|error| failed("write", &path, Some(error)))?;
                file.sync().map_err(|error| failed("sync", &path, Some(error)))?;
                disk.sync_folder(&folder).map_err(|error| failed("sync", &folder, Some(error)))?;
                Ok(Self { file, path, counter, bytes })
            }
            Err(error) => Err(failed("open", &path, Some(error))),
        }
    }

    /// Writes the newest slot again as it is. Whoever wrote it may have gone before it was durable, and the other slot is
    /// overwritten next: there is always one on the disk that verifies.
    fn settle(&mut self) -> Result<(), JournalFailed> {
        let offset = if self.counter.is_multiple_of(2) { 0 } else { SLOT_LEN };
        let Some(slot) = self.bytes.get(offset..offset + SLOT_LEN) else { return Ok(()) };
        let wrote = self.file.write_at(slot, offset as u64).and_then(|()| self.file.sync());
        wrote.map_err(|error| failed("write the head again to", &self.path, Some(error)))
    }

    /// Makes a file that was cut, or never written whole, as long as two slots.
    fn fill(&mut self) -> Result<(), JournalFailed> {
        if self.bytes.len() == 2 * SLOT_LEN {
            return Ok(());
        }
        self.bytes.resize(2 * SLOT_LEN, 0);
        let filled = self.file.set_length(2 * SLOT_LEN as u64).and_then(|()| self.file.sync());
        filled.map_err(|error| failed("fill", &self.path, Some(error)))
    }

    fn write(&mut self, head: &Head, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        let slot = head.seal(batch.keys);
        let slot = slot.ok_or_else(|| failed("seal the head for", &self.path, None))?;
        let offset = head.slot() * SLOT_LEN;
        let wrote = self.file.write_at(&slot, offset as u64).and_then(|()| self.file.sync());
        wrote.map_err(|error| failed("write the head to", &self.path, Some(error)))?;
        self.counter = head.counter;
        if let Some(place) = self.bytes.get_mut(offset..offset + SLOT_LEN) {
            place.copy_from_slice(&slot);
        }
        Ok(())
    }
}

fn same_file(ours: io::Result<Stat>, there: io::Result<Stat>, length: u64) -> bool {
    match (ours, there) {
        (Ok(ours), Ok(there)) => ours.identity == there.identity && there.length == length,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

fn not_put(error: StoreError) -> JournalFailed {
    match error {
        StoreError::Disk { doing, path, source } => failed(doing, &path, Some(source)),
        StoreError::Refused(_)
        | StoreError::Missing { .. }
        | StoreError::AlreadyThere { .. }
        | StoreError::KnownHere { .. }
        | StoreError::Locked { .. }
        | StoreError::Content { .. }
        | StoreError::Commit(_) => JournalFailed { what: error.to_string(), source: None },
    }
}

pub(crate) fn failed(doing: &str, path: &Path, source: Option<io::Error>) -> JournalFailed {
    let what = format!("cannot {doing} {}", path.display());
    JournalFailed { what, source: source.map(Into::into) }
}

//! A ledger on disk: made, read, written, rotated, and resolved after a loss. Everything that is believed went through
//! [`crate::scan`] first.

use core::time::Duration;

use actum_core::{
    CommitError, Digest, KeyFile, Keyring, Ledger, LedgerId, Leftover, Owner, Position, Reading,
    Refusal, Request, SEGMENT_HEADER_LEN,
};

use crate::disk::{Disk, DiskFile as _, RealDisk};
use crate::error::StoreError;
use crate::journal::FileJournal;
use crate::keep::{make_folder, new_root, put, random, read_key, write_key};
use crate::places::Places;
use crate::register::Register;
use crate::scan::{Tail, claimed_id, read_head, scan_with, segment_paths};
use crate::snapshot::Snapshot;

/// How long a writer waits for another.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A ledger at its places, not open.
#[derive(Debug, Clone)]
pub struct Store<D: Disk = RealDisk> {
    pub(crate) disk: D,
    pub(crate) places: Places,
}

/// Who opens a store for writing, and when: noted in the lock, in the anchor and in events.
#[derive(Debug, Clone)]
pub struct Writer {
    /// What the lock says of the holder.
    pub holder: String,
    /// How long to wait for another writer.
    pub patience: Duration,
    /// The clocks.
    pub reading: Reading,
}

impl Store<RealDisk> {
    /// The store at these places of the machine's disk.
    pub const fn new(places: Places) -> Self {
        Self { disk: RealDisk, places }
    }
}

impl<D: Disk> Store<D> {
    /// The store at these places of another disk.
    pub const fn on(disk: D, places: Places) -> Self {
        Self { disk, places }
    }

    /// Where its parts lie.
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// The disk.
    pub const fn disk(&self) -> &D {
        &self.disk
    }

    /// Makes a new ledger: a key, an anchor, a store with its first event.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`]; [`StoreError::KnownHere`] if an anchor remembers a ledger at this path.
    pub fn init(&self, writer: &Writer) -> Result<Ledger<FileJournal<D>>, StoreError> {
        let path = self.places.store.clone();
        match self.identify() {
            Err(StoreError::Missing { .. }) => {}
            Ok(_) | Err(StoreError::Refused(_)) if self.has_segments()? => {
                return Err(StoreError::AlreadyThere { path });
            }
            Ok(ledger) => return Err(StoreError::KnownHere { path, ledger }),
            Err(error) => return Err(error),
        }
        self.make_folders()?;
        let lock = self.lock(writer)?;
        // Whoever held the lock may have made one; and what was true before the wait decides nothing after it.
        match self.identify() {
            Err(StoreError::Missing { .. }) => {}
            Ok(_) => return Err(StoreError::AlreadyThere { path }),
            Err(error) => return Err(error),
        }
        for path in segment_paths(&self.disk, &self.places)? {
            // What an `init` left that was cut short before there was a ledger: it names none.
            self.move_aside(&path)?;
        }
        let key = self.new_key()?;
        self.register(key.ledger())?;
        self.create(&key, lock, &writer.reading)
    }

    fn has_segments(&self) -> Result<bool, StoreError> {
        Ok(!segment_paths(&self.disk, &self.places)?.is_empty())
    }

    /// Notes outside the store that this ledger lies here.
    pub(crate) fn register(&self, ledger: LedgerId) -> Result<(), StoreError> {
        Register::read(&self.disk, &self.places)?.enter(&self.disk, &self.places, ledger)
    }

    pub(crate) fn make_folders(&self) -> Result<(), StoreError> {
        let store = &self.places.store;
        let places = &self.places;
        for folder in [places.segments(), places.keys(), places.anchors()] {
            make_folder(&self.disk, &folder)?;
        }
        put(
            &self.disk,
            &store.join(".gitignore"),
            b"# Made by actum: evidence belongs to one machine.\n*\n",
        )
    }

    pub(crate) fn new_key(&self) -> Result<KeyFile, StoreError> {
        let ledger = LedgerId::from_bytes(*random::<16>()?);
        let key = KeyFile::new(ledger, new_root()?);
        write_key(&self.disk, &self.places, &key)?;
        Ok(key)
    }

    fn create(
        &self,
        key: &KeyFile,
        lock: D::Lock,
        reading: &Reading,
    ) -> Result<Ledger<FileJournal<D>>, StoreError> {
        let journal = self.journal(key.ledger(), &Tail::default(), 0, lock)?;
        Ok(Ledger::create(Keyring::new(key), journal, reading)?)
    }

    pub(crate) fn lock(&self, writer: &Writer) -> Result<D::Lock, StoreError> {
        let path = self.places.lock();
        self.disk.lock(&path, &writer.holder, writer.patience).map_err(|refused| match refused {
            Ok(holder) => StoreError::Locked { path, holder },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                StoreError::Missing { path: self.places.store.clone() }
            }
            Err(error) => StoreError::disk("lock", &path)(error),
        })
    }

    pub(crate) fn journal(
        &self,
        ledger: LedgerId,
        tail: &Tail,
        counter: u64,
        lock: D::Lock,
    ) -> Result<FileJournal<D>, StoreError> {
        let segment = tail.segment.as_deref().map(|path| (path, tail.good_end as u64));
        FileJournal::open(&self.disk, &self.places, ledger, segment, counter, lock)
            .map_err(|failed| StoreError::Commit(CommitError::Journal(failed)))
    }

    /// Which ledger belongs here: the register says it, whatever lies here now. What the segments say of themselves counts
    /// only where the register knows nothing, and is judged by its anchor then.
    ///
    /// # Errors
    /// [`StoreError::Missing`]; [`Refusal::Swapped`]; [`StoreError::KnownHere`] where a ledger lay and none lies now; a store
    /// that is a link.
    pub fn identify(&self) -> Result<LedgerId, StoreError> {
        let path = self.places.store.clone();
        self.check_folder()?;
        let register = Register::read(&self.disk, &self.places)?;
        let claimed = claimed_id(&self.disk, &self.places)?;
        match (register.here(), register.gone(), claimed) {
            (Some(expected), _, None) => {
                self.check_data(&register, expected)?;
                match (self.was_begun(expected)?, register.before(expected)) {
                    (true, _) => Ok(expected),
                    // One that an `init` left unfinished hides nothing that lay here before it.
                    (false, Some(ledger)) => Err(StoreError::KnownHere { path, ledger }),
                    (false, None) => Err(StoreError::Missing { path }),
                }
            }
            (Some(expected), _, Some(found)) => {
                self.check_data(&register, expected)?;
                // A name that no anchor knows is damage; one that another ledger has is another ledger.
                let other = found != expected && self.disk.stat(&self.places.anchor(found)).is_ok();
                if other { Err(Refusal::Swapped { expected, found }.into()) } else { Ok(expected) }
            }
            // It came back to where it lay before; its anchor says where it belongs.
            (None, Some(gone), Some(found)) if gone == found => Ok(found),
            (None, Some(expected), Some(found)) => Err(Refusal::Swapped { expected, found }.into()),
            (None, Some(ledger), None) => Err(StoreError::KnownHere { path, ledger }),
            (None, None, Some(found)) => Ok(found),
            (None, None, None) => Err(StoreError::Missing { path }),
        }
    }

    fn check_folder(&self) -> Result<(), StoreError> {
        let path = &self.places.store;
        match self.disk.stat(path) {
            Ok(stat) if stat.mode & 0o170_000 != 0o040_000 => {
                let what = "not a folder of its own; a store is not followed through links";
                Err(StoreError::Content { path: path.clone(), what: what.to_owned() })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The key of a ledger is looked for where it was put. A call that looks elsewhere does not find it lost.
    fn check_data(&self, register: &Register, ledger: LedgerId) -> Result<(), StoreError> {
        match register.data_of(ledger) {
            Some(data) if data != self.places.data => {
                let why = format!(
                    "it is kept in {}, but this call looks in {} (is XDG_DATA_HOME set otherwise?)",
                    data.display(),
                    self.places.data.display()
                );
                Err(Refusal::Key { why }.into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Something of this ledger was acknowledged, or may have been. One that an `init` left unfinished never began.
    fn was_begun(&self, ledger: LedgerId) -> Result<bool, StoreError> {
        if self.disk.stat(&self.places.anchor(ledger)).is_err() {
            return Ok(false);
        }
        let Ok(key) = read_key(&self.disk, &self.places, ledger) else { return Ok(true) };
        let head = read_head(&self.disk, &self.places, &Keyring::new(&key))?;
        Ok(head.is_some_and(|head| head.count > 0))
    }

    /// Reads and verifies the ledger. Takes no lock and writes nothing.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if nothing in it may be believed; [`StoreError::Missing`].
    pub fn read(&self) -> Result<Snapshot<D>, StoreError> {
        let key = read_key(&self.disk, &self.places, self.identify()?)?;
        let scan = scan_with(&self.disk, &self.places, &key, 0)?;
        Snapshot::of(self.clone(), key, scan)
    }

    /// Opens the ledger for writing: takes the lock, verifies everything, cleans up after a crash.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Refused`], [`StoreError::Missing`], or what the disk said.
    pub fn write(&self, writer: &Writer) -> Result<Ledger<FileJournal<D>>, StoreError> {
        self.write_after(writer, None)
    }

    /// The same for one who has seen how far the ledger went: store and anchor must reach that, whatever they say together.
    ///
    /// # Errors
    /// As [`Store::write`], and [`Refusal::RolledBack`].
    pub fn write_after(
        &self,
        writer: &Writer,
        seen: Option<&Position>,
    ) -> Result<Ledger<FileJournal<D>>, StoreError> {
        if self.disk.stat(&self.places.store).is_err() {
            // Says whether something is missing here, or was never there.
            self.read()?;
        }
        let lock = self.lock(writer)?;
        let ledger = self.identify()?;
        let key = read_key(&self.disk, &self.places, ledger)?;
        let seen = seen.filter(|seen| seen.count > 0);
        let scan = scan_with(&self.disk, &self.places, &key, seen.map_or(0, |seen| seen.count))?;
        let kept = scan.judged.clone()?;
        if let Some(seen) = seen.filter(|seen| scan.views.mac_of(seen.count) != Some(seen.mac)) {
            let (seen, found) = (seen.count, scan.views.position().count);
            return Err(Refusal::RolledBack { seen, found }.into());
        }
        let head = scan.head.clone().ok_or(Refusal::Unanchored)?;
        let generation = scan.found.position.generation;
        let (dropped, digest) = self.clean_up(&scan.tail)?;
        let first = head.count;
        let leftover = Leftover { first, kept, dropped, digest };
        let leftover = (kept > 0 || dropped > 0).then_some(&leftover);
        let journal = self.journal(ledger, &scan.tail, head.counter, lock)?;
        let (last, now) = (&head.reading, &writer.reading);
        self.register(ledger)?;
        let resumed = Ledger::resume(scan.views, journal, head.incarnation, last, leftover, now)?;
        if generation > key.active() {
            // A rotation was interrupted after its event: finish it, now that a head of its generation is durable.
            self.activate(&key, generation)?;
        }
        Ok(resumed)
    }

    fn activate(&self, key: &KeyFile, generation: u32) -> Result<(), StoreError> {
        let next = key
            .with_active(generation)
            .ok_or_else(|| Refusal::Key { why: format!("no root for generation {generation}") })?;
        write_key(&self.disk, &self.places, &next)
    }

    /// Moves what does not verify to a side file, never just cuts it, and writes genuine bytes beyond the head again: after
    /// a failed sync they may be in memory only. Returns how many bytes were moved, and their digest.
    pub(crate) fn clean_up(&self, tail: &Tail) -> Result<(u64, Digest), StoreError> {
        let lost = &tail.rest;
        let digest = Digest::of("actum/dropped/v1", &[lost]);
        if let Some(path) = tail.segment.as_ref().filter(|_| !lost.is_empty()) {
            let name = format!("{}.bytes", digest.short());
            put(&self.disk, &self.places.lost().join(name), lost)?;
            let mut file = self.disk.open(path).map_err(StoreError::disk("open", path))?;
            let cut = file.set_length(tail.good_end as u64).and_then(|()| file.sync());
            cut.map_err(StoreError::disk("cut", path))?;
        }
        // Given another name, never read: what has a segment's name may be anything.
        for path in &tail.extra {
            self.move_aside(path)?;
        }
        for (path, offset, bytes) in &tail.beyond {
            let mut file = self.disk.open(path).map_err(StoreError::disk("open", path))?;
            let again = file.write_at(bytes, *offset as u64).and_then(|()| file.sync());
            again.map_err(StoreError::disk("write again", path))?;
        }
        // A segment without an event yet may have a name in memory only.
        let unnamed = tail.good_end <= SEGMENT_HEADER_LEN;
        let moved = !lost.is_empty() || !tail.extra.is_empty();
        if unnamed || moved || !tail.beyond.is_empty() {
            let folder = self.places.segments();
            self.disk.sync_folder(&folder).map_err(StoreError::disk("sync the folder", &folder))?;
        }
        Ok((lost.len() as u64, digest))
    }

    pub(crate) fn move_aside(&self, path: &std::path::Path) -> Result<(), StoreError> {
        let folder = self.places.lost();
        make_folder(&self.disk, &folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let salt = actum_core::hex(random::<4>()?.as_slice());
        let to = folder.join(format!("{name}.{salt}"));
        self.disk.rename(path, &to).map_err(StoreError::disk("move aside", path))
    }

    /// Gives the ledger a new key. Old events stay verifiable; a thief of the old key can change neither them nor the head.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn rotate(&self, writer: &Writer, owner: Owner) -> Result<u64, StoreError> {
        let mut ledger = self.write(writer)?;
        let id = ledger.views().keys().ledger();
        let key = read_key(&self.disk, &self.places, id)?;
        let full = || Refusal::Key { why: "its file has no room for another root".to_owned() };
        let next = key.with_next(new_root()?).ok_or_else(full)?;
        // The root is on disk before anything is sealed with it.
        write_key(&self.disk, &self.places, &next)?;
        let keys = Box::new(Keyring::new(&next));
        let event = ledger.record(Request::Rotate { keys, owner }, &writer.reading)?;
        self.activate(&next, ledger.views().position().generation)?;
        Ok(event)
    }
}

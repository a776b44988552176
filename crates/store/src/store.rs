//! A ledger on disk: made, read, written, rotated, and resolved after a loss. Everything that is believed went through
//! [`crate::scan`] first.

use core::time::Duration;

use actum_core::{
    CommitError, Digest, Event, Head, Header, KeyFile, Keyring, Ledger, LedgerId, Leftover, Owner,
    Reading, Refusal, Request, Views,
};

use crate::accepted::{AcceptedPolicy, PolicyMissing};
use crate::disk::{Disk, DiskFile as _, RealDisk};
use crate::error::StoreError;
use crate::journal::FileJournal;
use crate::keep::{new_root, put, random, read_key, write_key};
use crate::places::Places;
use crate::scan::{
    Scan, Tail, anchored_here, claimed_id, read_head, read_segment, scan, scan_with, segment_paths,
    verify,
};

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

/// A ledger as it was read and verified, without the right to write.
#[derive(Debug)]
pub struct Snapshot<D: Disk = RealDisk> {
    store: Store<D>,
    key: KeyFile,
    head: Head,
    views: Views,
    beyond: u64,
    leftover: Option<(u64, String)>,
    bytes: u64,
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

    /// Makes a new ledger: a key, an anchor, a store with its first event.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`]; [`StoreError::KnownHere`] if an anchor remembers a ledger at this path.
    pub fn init(&self, writer: &Writer) -> Result<Ledger<FileJournal<D>>, StoreError> {
        let path = self.places.store.clone();
        let there = self.disk.stat(&self.places.id()).is_ok();
        if there || !segment_paths(&self.disk, &self.places)?.is_empty() {
            return Err(StoreError::AlreadyThere { path });
        }
        let known = anchored_here(&self.disk, &self.places)?;
        if let Some((ledger, head)) = known.into_iter().find(|(_, head)| head.count > 0) {
            return Err(StoreError::KnownHere { path, ledger, count: head.count });
        }
        self.make_folders()?;
        let lock = self.lock(writer)?;
        let key = self.new_key()?;
        let ledger = self.create(&key, lock, &writer.reading)?;
        self.write_id(key.ledger())?;
        Ok(ledger)
    }

    fn make_folders(&self) -> Result<(), StoreError> {
        let store = &self.places.store;
        for folder in [store, &self.places.segments()] {
            self.disk.make_folder(folder).map_err(StoreError::disk("make the folder", folder))?;
        }
        self.disk.sync_folder(store).map_err(StoreError::disk("sync the folder", store))?;
        put(
            &self.disk,
            &store.join(".gitignore"),
            b"# Made by actum: evidence belongs to one machine.\n*\n",
        )
    }

    fn new_key(&self) -> Result<KeyFile, StoreError> {
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

    fn write_id(&self, ledger: LedgerId) -> Result<(), StoreError> {
        put(&self.disk, &self.places.id(), format!("{ledger}\n").as_bytes())
    }

    fn lock(&self, writer: &Writer) -> Result<D::Lock, StoreError> {
        let path = self.places.lock();
        self.disk.lock(&path, &writer.holder, writer.patience).map_err(|refused| match refused {
            Ok(holder) => StoreError::Locked { path, holder },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                StoreError::Missing { path: self.places.store.clone() }
            }
            Err(error) => StoreError::disk("lock", &path)(error),
        })
    }

    fn journal(
        &self,
        ledger: LedgerId,
        tail: &Tail,
        counter: u64,
        lock: D::Lock,
    ) -> Result<FileJournal<D>, StoreError> {
        let segment = tail.segment.as_deref().filter(|_| tail.good_end > 0);
        FileJournal::open(&self.disk, &self.places, ledger, segment, counter, lock)
            .map_err(|failed| StoreError::Commit(CommitError::Journal(failed)))
    }

    /// Which ledger belongs here: what lies here says one id, and the anchors may know better.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`Refusal::Swapped`].
    pub fn identify(&self) -> Result<LedgerId, StoreError> {
        let claimed = match claimed_id(&self.disk, &self.places) {
            Err(StoreError::Missing { path }) => {
                // A store that is gone is a store that was cut to nothing.
                let known = anchored_here(&self.disk, &self.places)?;
                let lost = known.into_iter().find(|(_, head)| head.count > 0);
                return lost.map(|(ledger, _)| ledger).ok_or(StoreError::Missing { path });
            }
            other => other?,
        };
        let known = anchored_here(&self.disk, &self.places)?;
        let other = known.iter().find(|(ledger, head)| *ledger != claimed && head.count > 0);
        match other {
            Some(&(expected, _)) if known.iter().all(|(ledger, _)| *ledger != claimed) => {
                Err(Refusal::Swapped { expected, found: claimed }.into())
            }
            Some(_) | None => Ok(claimed),
        }
    }

    /// Reads and verifies the ledger. Takes no lock and writes nothing.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if nothing in it may be believed; [`StoreError::Missing`].
    pub fn read(&self) -> Result<Snapshot<D>, StoreError> {
        let key = read_key(&self.disk, &self.places, self.identify()?)?;
        let scan = scan_with(&self.disk, &self.places, &key, 0)?;
        self.snapshot(key, scan)
    }

    fn snapshot(&self, key: KeyFile, scan: Scan) -> Result<Snapshot<D>, StoreError> {
        let beyond = scan.judged?;
        let head = scan.head.ok_or(Refusal::Unanchored)?;
        let mut views = scan.views;
        if beyond > 0 {
            views.confirm_before(head.count);
        }
        let leftover = scan.found.flaw.map(|flaw| (scan.tail.rest.len() as u64, flaw.to_string()));
        Ok(Snapshot { store: self.clone(), key, head, views, beyond, leftover, bytes: scan.bytes })
    }

    /// Opens the ledger for writing: takes the lock, verifies everything, cleans up after a crash.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Refused`], [`StoreError::Missing`], or what the disk said.
    pub fn write(&self, writer: &Writer) -> Result<Ledger<FileJournal<D>>, StoreError> {
        if self.disk.stat(&self.places.store).is_err() {
            // Says whether something is missing here, or was never there.
            self.read()?;
        }
        let lock = self.lock(writer)?;
        let ledger = self.identify()?;
        let key = read_key(&self.disk, &self.places, ledger)?;
        let scan = scan_with(&self.disk, &self.places, &key, 0)?;
        let kept = scan.judged.clone()?;
        let head = scan.head.clone().ok_or(Refusal::Unanchored)?;
        let generation = scan.found.position.generation;
        if generation > key.active() {
            // A rotation was interrupted after its event: finish it.
            self.activate(&key, generation)?;
        }
        let (dropped, digest) = self.clean_up(&scan.tail)?;
        let first = head.count;
        let leftover = Leftover { first, kept, dropped, digest };
        let leftover = (kept > 0 || dropped > 0).then_some(&leftover);
        let journal = self.journal(ledger, &scan.tail, head.counter, lock)?;
        let (last, now) = (&head.reading, &writer.reading);
        Ok(Ledger::resume(scan.views, journal, head.incarnation, last, leftover, now)?)
    }

    fn activate(&self, key: &KeyFile, generation: u32) -> Result<(), StoreError> {
        let next = key
            .with_active(generation)
            .ok_or_else(|| Refusal::Key { why: format!("no root for generation {generation}") })?;
        write_key(&self.disk, &self.places, &next)
    }

    /// Moves what does not verify to a side file, never just cuts it, and writes genuine bytes beyond the head again: after
    /// a failed sync they may be in memory only. Returns how many bytes were moved, and their digest.
    fn clean_up(&self, tail: &Tail) -> Result<(u64, Digest), StoreError> {
        let mut lost = tail.rest.clone();
        for path in &tail.extra {
            let bytes = self.disk.read(path, u64::MAX).map_err(StoreError::disk("read", path))?;
            lost.extend(bytes);
        }
        let digest = Digest::of("actum/dropped/v1", &[&lost]);
        if !lost.is_empty() {
            let name = format!("{}.bytes", digest.short());
            put(&self.disk, &self.places.lost().join(name), &lost)?;
        }
        for path in &tail.extra {
            self.move_aside(path)?;
        }
        if let Some(path) = &tail.segment
            && !tail.rest.is_empty()
        {
            if tail.good_end == 0 {
                self.move_aside(path)?;
            } else {
                let mut file = self.disk.open(path).map_err(StoreError::disk("open", path))?;
                let cut = file.set_length(tail.good_end as u64).and_then(|()| file.sync());
                cut.map_err(StoreError::disk("cut", path))?;
            }
        }
        for (path, offset, bytes) in &tail.beyond {
            let mut file = self.disk.open(path).map_err(StoreError::disk("open", path))?;
            let again = file.write_at(bytes, *offset as u64).and_then(|()| file.sync());
            again.map_err(StoreError::disk("write again", path))?;
        }
        if !lost.is_empty() || !tail.beyond.is_empty() {
            let folder = self.places.segments();
            self.disk.sync_folder(&folder).map_err(StoreError::disk("sync the folder", &folder))?;
        }
        Ok((lost.len() as u64, digest))
    }

    fn move_aside(&self, path: &std::path::Path) -> Result<(), StoreError> {
        let folder = self.places.lost();
        self.disk.make_folder(&folder).map_err(StoreError::disk("make the folder", &folder))?;
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

    pub(crate) fn scan_here(&self, ledger: LedgerId) -> Result<Scan, StoreError> {
        scan(&self.disk, &self.places, ledger)
    }

    pub(crate) fn take_lock(&self, writer: &Writer) -> Result<D::Lock, StoreError> {
        self.lock(writer)
    }

    pub(crate) fn put_right(&self, tail: &Tail) -> Result<(), StoreError> {
        self.clean_up(tail).map(|_| ())
    }

    pub(crate) fn prepare(&self) -> Result<(), StoreError> {
        self.make_folders()
    }

    pub(crate) fn journal_at(
        &self,
        ledger: LedgerId,
        tail: &Tail,
        counter: u64,
        lock: D::Lock,
    ) -> Result<FileJournal<D>, StoreError> {
        self.journal(ledger, tail, counter, lock)
    }

    pub(crate) fn set_aside(&self, path: &std::path::Path) -> Result<(), StoreError> {
        self.move_aside(path)
    }

    pub(crate) fn fresh_key(&self) -> Result<KeyFile, StoreError> {
        self.new_key()
    }

    pub(crate) fn name_ledger(&self, ledger: LedgerId) -> Result<(), StoreError> {
        self.write_id(ledger)
    }
}

impl<D: Disk> Snapshot<D> {
    /// The state as of the newest event.
    pub const fn views(&self) -> &Views {
        &self.views
    }

    /// The head the store was judged against.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Genuine events beyond the head: they happened and were not acknowledged.
    pub const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Bytes beyond the newest event that do not verify, and what is wrong with them: a torn write, or somebody's attempt.
    pub const fn leftover(&self) -> Option<&(u64, String)> {
        self.leftover.as_ref()
    }

    /// Bytes of all segments.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the parts lie.
    pub const fn places(&self) -> &Places {
        &self.store.places
    }

    /// The policy in force.
    ///
    /// # Errors
    /// [`PolicyMissing`].
    pub fn policy(&self) -> Result<AcceptedPolicy, PolicyMissing> {
        AcceptedPolicy::in_force(&self.store.disk, &self.store.places, &self.views)
    }

    /// Shows every event of this snapshot from index `from` on. The bytes are verified again: they come from the disk.
    ///
    /// # Errors
    /// [`Refusal::Damaged`] or [`Refusal::Truncated`] if they are not what this snapshot saw.
    pub fn events(
        &self,
        from: u64,
        mut visit: impl FnMut(&Header, &Event<'_>),
    ) -> Result<(), StoreError> {
        let count = self.views.position().count;
        let mut views = Views::new(self.views.keys().clone(), &[]);
        for path in segment_paths(&self.store.disk, &self.store.places)? {
            let bytes = read_segment(&self.store.disk, &path)?;
            let (at, keys) = (*views.position(), views.keys().clone());
            let verified = verify(&bytes, &keys, &at);
            let admitted = views.admit(&verified);
            let good = views.position().count.min(count);
            for record in
                verified.records().filter(|record| (from..good).contains(&record.header.index))
            {
                if let Some(event) = record.event() {
                    visit(&record.header, &event);
                }
            }
            match admitted.flaw {
                Some(flaw) if flaw.event() < count => {
                    return Err(Refusal::Damaged { flaw, count }.into());
                }
                Some(_) => return Ok(()),
                None => {}
            }
        }
        let found = views.position().count;
        if found < count { Err(Refusal::Truncated { found, count }.into()) } else { Ok(()) }
    }

    /// Looks whether the ledger went on, and takes that over. Returns whether it did.
    ///
    /// # Errors
    /// [`Refusal::RolledBack`] if store and anchor do not reach what this snapshot has seen, and whatever
    /// [`Store::read`] finds. The snapshot stays as it was then.
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        let (disk, places) = (&self.store.disk, &self.store.places);
        let seen = self.head.count;
        let rolled_back = |found| StoreError::Refused(Refusal::RolledBack { seen, found });
        let head = read_head(disk, places, self.views.keys())?;
        if head.as_ref() == Some(&self.head) {
            return Ok(false);
        }
        let found = head.as_ref().map_or(0, |head| head.count);
        if head.is_none_or(|head| head.counter <= self.head.counter || head.count < seen) {
            return Err(rolled_back(found));
        }
        let key = read_key(disk, places, self.key.ledger())?;
        let scan = scan_with(disk, places, &key, seen)?;
        if seen > 0 && scan.views.mac_of(seen) != Some(self.head.mac) {
            return Err(rolled_back(found));
        }
        *self = self.store.snapshot(key, scan)?;
        Ok(true)
    }
}

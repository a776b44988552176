//! A disk in memory that fails on purpose. What a process sees (*live*) and what a power cut leaves (*durable*) are kept
//! apart, for the bytes of files and for the names in folders. Knows nothing of ledgers.
//!
//! Stricter than most real disks, where a standard allows it: a name is durable only once its folder was synced, and what a
//! failed sync should have written is never tried again, though every process goes on seeing it.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actum_core::Digest;
use actum_store::{Disk, DiskFile, Stat};

/// What a disk writes whole or not at all.
pub const BLOCK: usize = 512;

/// What goes wrong with one operation. Each but the power cut is an error that the process hears and survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing of it happened.
    Lost,
    /// All of it happened.
    KeptButFailed,
    /// Of a write, so many bytes happened; of anything else, nothing.
    Torn(usize),
    /// The power goes before it happens, and every later operation fails until [`SimDisk::reboot`].
    PowerCut,
}

/// What a power cut makes of everything that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// None of it is there.
    Dropped,
    /// All of it is there.
    Kept,
    /// The names are there, and of each file the first so many bytes, in the order in which they were written.
    Prefix(usize),
    /// Bit `n` says whether the `n`th block is there, and the same for the `n`th folder; blocks that are not there read as
    /// before, or as zeros.
    Blocks(u64),
}

/// An operation that changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A folder is made.
    MakeFolder(PathBuf),
    /// A file is made.
    Create(PathBuf),
    /// Bytes are written: where, and how many.
    Write(PathBuf, u64, usize),
    /// A file is made durable.
    Sync(PathBuf),
    /// A file is cut.
    SetLength(PathBuf, u64),
    /// A file gets another name.
    Rename(PathBuf, PathBuf),
    /// The names in a folder are made durable.
    SyncFolder(PathBuf),
}

/// The disk as it was right before an operation.
#[derive(Debug, Clone)]
pub struct Moment {
    /// How many operations went before.
    pub at: u64,
    /// The operation that came next; none after the last.
    pub next: Option<Operation>,
    /// The disk, independent of the one it was taken from, nothing planned.
    pub disk: SimDisk,
}

/// The disk. Clones are the same disk; [`SimDisk::fork`] makes another.
#[derive(Debug, Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug, Clone)]
struct State {
    files: BTreeMap<u64, Content>,
    live: Names,
    durable: Names,
    /// Renames from one folder into another: durable with whichever folder is synced first, never in neither.
    moves: Vec<(PathBuf, PathBuf)>,
    operations: u64,
    plan: Vec<(u64, Fault)>,
    moments: Option<Vec<Moment>>,
    off: bool,
    /// Bytes by which files may still grow.
    room: Option<u64>,
    locks: BTreeMap<PathBuf, String>,
    next_file: u64,
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Folder,
    File(u64),
}

#[derive(Debug, Clone, Default)]
struct Content {
    mode: u32,
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Written since the last sync, in order: from, to.
    writes: Vec<(usize, usize)>,
    /// The least length since the last sync, if it was cut.
    cut: Option<usize>,
}

impl Default for State {
    fn default() -> Self {
        let names = Names::from([(PathBuf::from("/"), Node::Folder)]);
        Self {
            files: BTreeMap::new(),
            live: names.clone(),
            durable: names,
            moves: Vec::new(),
            operations: 0,
            plan: Vec::new(),
            moments: None,
            off: false,
            room: None,
            locks: BTreeMap::new(),
            next_file: 1,
        }
    }
}

impl SimDisk {
    /// An empty disk with one durable folder, and those above it.
    pub fn with_folder(folder: &Path) -> Self {
        let disk = Self::default();
        let mut state = disk.state();
        for above in folder.ancestors() {
            state.live.insert(above.to_owned(), Node::Folder);
            state.durable.insert(above.to_owned(), Node::Folder);
        }
        drop(state);
        disk
    }

    /// Another disk in the same state, with no lock held and nothing planned.
    pub fn fork(&self) -> Self {
        self.state().fork()
    }

    /// The operation number `at`, counted from 0 since the disk was made, gets `fault`.
    pub fn plan(&self, at: u64, fault: Fault) {
        self.state().plan.push((at, fault));
    }

    /// From now on files may grow by `bytes` in all; then the disk is full.
    pub fn limit(&self, bytes: u64) {
        self.state().room = Some(bytes);
    }

    /// The disk is never full again.
    pub fn unlimit(&self) {
        self.state().room = None;
    }

    /// How many operations there were.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// From now on, keeps the disk as it was before each operation.
    pub fn record(&self) {
        self.state().moments = Some(Vec::new());
    }

    /// What was recorded, and the disk as it is now; nothing is recorded any more.
    pub fn moments(&self) -> Vec<Moment> {
        let mut state = self.state();
        let mut moments = state.moments.take().unwrap_or_default();
        let disk = state.fork();
        moments.push(Moment { at: state.operations, next: None, disk });
        moments
    }

    /// The longest run of bytes in one file that a power cut now could tear.
    pub fn unsynced(&self) -> usize {
        let state = self.state();
        state.files.values().map(Content::unsynced).max().unwrap_or_default()
    }

    /// The most blocks in one file that a power cut now could keep or drop.
    pub fn unsynced_blocks(&self) -> usize {
        let state = self.state();
        state.files.values().map(|file| file.blocks().len()).max().unwrap_or_default()
    }

    /// Names in folders that a power cut now could drop.
    pub fn unsynced_names(&self) -> bool {
        let state = self.state();
        state.live != state.durable
    }

    /// The disk after a power cut now.
    pub fn reboot(&self, fate: Fate) -> Self {
        self.state().rebooted(fate)
    }

    /// What a file holds, as a process sees it.
    pub fn peek(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.file(path).ok().and_then(|file| state.files.get(&file)).map(|file| file.live.clone())
    }

    /// Changes a file behind everybody's back, durably: no operation, no fault. The file is made if it is not there.
    pub fn edit(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let file = state.file(path).unwrap_or_else(|_missing| state.add(path));
        state.durable.insert(path.to_owned(), Node::File(file));
        if let Some(content) = state.files.get_mut(&file) {
            change(&mut content.live);
            content.durable = content.live.clone();
            content.writes.clear();
            content.cut = None;
        }
    }

    /// Takes a name away behind everybody's back.
    pub fn remove(&self, path: &Path) {
        let mut state = self.state();
        state.live.remove(path);
        state.durable.remove(path);
    }

    /// Everything a process sees, as a digest: two disks with the same one are the same to any reader.
    pub fn image(&self) -> Digest {
        let state = self.state();
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for (path, node) in &state.live {
            parts.push(path.as_os_str().as_encoded_bytes().to_vec());
            parts.push(match node {
                Node::Folder => Vec::new(),
                Node::File(file) => {
                    state.files.get(file).map(|content| content.live.clone()).unwrap_or_default()
                }
            });
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        Digest::of("actum/test/image", &parts)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is left to do of an operation once its fault is known.
struct Go {
    /// Of a write, at most so many bytes; of anything else, all or nothing.
    upto: usize,
    /// What the process hears.
    answer: io::Result<()>,
}

impl State {
    fn fork(&self) -> SimDisk {
        let state = Self {
            plan: Vec::new(),
            moments: None,
            locks: BTreeMap::new(),
            files: self.files.clone(),
            live: self.live.clone(),
            durable: self.durable.clone(),
            moves: self.moves.clone(),
            ..*self
        };
        SimDisk(Arc::new(Mutex::new(state)))
    }

    fn step(&mut self, operation: &Operation) -> io::Result<Go> {
        if self.off {
            return Err(io::Error::other("the power is off"));
        }
        if let Some(mut moments) = self.moments.take() {
            let next = Some(operation.clone());
            moments.push(Moment { at: self.operations, next, disk: self.fork() });
            self.moments = Some(moments);
        }
        let fault =
            self.plan.iter().find(|(at, _)| *at == self.operations).map(|(_, fault)| *fault);
        self.operations += 1;
        let failed = || Err(io::Error::other("the disk failed on purpose"));
        Ok(match fault {
            None => Go { upto: usize::MAX, answer: Ok(()) },
            Some(Fault::Lost) => Go { upto: 0, answer: failed() },
            Some(Fault::KeptButFailed) => Go { upto: usize::MAX, answer: failed() },
            Some(Fault::Torn(upto)) => Go { upto, answer: failed() },
            Some(Fault::PowerCut) => {
                self.off = true;
                return Err(io::Error::other("the power went off"));
            }
        })
    }

    fn file(&self, path: &Path) -> io::Result<u64> {
        if self.off {
            return Err(io::Error::other("the power is off"));
        }
        match self.live.get(path) {
            Some(Node::File(file)) => Ok(*file),
            Some(Node::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn folder(&self, path: &Path) -> io::Result<()> {
        match self.live.get(path) {
            _ if self.off => Err(io::Error::other("the power is off")),
            Some(Node::Folder) => Ok(()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn add(&mut self, path: &Path) -> u64 {
        let file = self.next_file;
        self.next_file += 1;
        let content = Content { mode: 0o100_600, ..Content::default() };
        self.files.insert(file, content);
        self.live.insert(path.to_owned(), Node::File(file));
        file
    }

    fn write(&mut self, file: u64, bytes: &[u8], offset: usize) -> io::Result<()> {
        let content = self.files.get_mut(&file).ok_or(io::ErrorKind::NotFound)?;
        let end = offset + bytes.len();
        let growth = end.saturating_sub(content.live.len()) as u64;
        let fits = self.room.is_none_or(|room| growth <= room);
        let written = match self.room {
            Some(room) if !fits => {
                let missing = usize::try_from(growth - room).unwrap_or(usize::MAX);
                bytes.len().saturating_sub(missing)
            }
            Some(_) | None => bytes.len(),
        };
        self.room = self.room.map(|room| room.saturating_sub(growth));
        content.write(bytes.get(..written).unwrap_or_default(), offset);
        if fits { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// The names in `folder` are durable now, and the other half of each rename out of it or into it.
    fn settle_names(&mut self, folder: &Path) {
        let inside = |path: &PathBuf| path.parent() == Some(folder);
        self.durable.retain(|path, _| !inside(path));
        let now: Vec<_> = self.live.iter().filter(|(path, _)| inside(path)).collect();
        self.durable.extend(now.into_iter().map(|(path, node)| (path.clone(), *node)));
        let (settled, open) = core::mem::take(&mut self.moves)
            .into_iter()
            .partition::<Vec<_>, _>(|(from, to)| inside(from) || inside(to));
        self.moves = open;
        for (from, to) in settled {
            if !self.live.contains_key(&from) {
                self.durable.remove(&from);
            }
            if let Some(node) = self.live.get(&to) {
                self.durable.insert(to, *node);
            }
        }
    }

    fn rebooted(&self, fate: Fate) -> SimDisk {
        let mut after = Self {
            off: false,
            room: self.room,
            next_file: self.next_file,
            durable: self.durable.clone(),
            live: self.live.clone(),
            ..Self::default()
        };
        let folders: BTreeSet<PathBuf> =
            self.live.keys().filter_map(|path| path.parent()).map(Path::to_owned).collect();
        for (at, folder) in folders.iter().enumerate() {
            let kept = match fate {
                Fate::Dropped => false,
                Fate::Kept | Fate::Prefix(_) => true,
                Fate::Blocks(bits) => bits >> (at % 64) & 1 == 1,
            };
            if kept {
                after.moves.clone_from(&self.moves);
                after.settle_names(folder);
            }
        }
        after.moves.clear();
        after.live = reachable(&after.durable);
        after.durable = after.live.clone();
        for node in after.live.values() {
            if let Node::File(file) = node
                && let Some(content) = self.files.get(file)
            {
                after.files.insert(*file, content.rebooted(fate));
            }
        }
        SimDisk(Arc::new(Mutex::new(after)))
    }
}

/// The names whose folders are all there.
fn reachable(names: &Names) -> Names {
    let is_there =
        |path: &Path| path.ancestors().skip(1).all(|above| names.get(above) == Some(&Node::Folder));
    names
        .iter()
        .filter(|(path, _)| is_there(path))
        .map(|(path, node)| (path.clone(), *node))
        .collect()
}

impl Content {
    fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if self.live.len() < end {
            self.live.resize(end, 0);
        }
        if let Some(place) = self.live.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
        if !bytes.is_empty() {
            self.writes.push((offset, end));
        }
    }

    fn cut(&mut self, length: usize) {
        let before = self.live.len();
        self.live.resize(length, 0);
        if length > before {
            self.writes.push((before, length));
            return;
        }
        self.cut = Some(self.cut.unwrap_or(length).min(length));
        for (from, to) in &mut self.writes {
            (*from, *to) = ((*from).min(length), (*to).min(length));
        }
    }

    fn unsynced(&self) -> usize {
        self.writes.iter().map(|(from, to)| to - from).sum()
    }

    /// The blocks that a sync would write.
    fn blocks(&self) -> BTreeSet<usize> {
        let written = self.writes.iter().filter(|(from, to)| to > from);
        written.flat_map(|(from, to)| from / BLOCK..to.div_ceil(BLOCK)).collect()
    }

    fn after_cut(&self) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        bytes.truncate(self.cut.unwrap_or(usize::MAX));
        bytes
    }

    fn with_blocks(&self, mut bytes: Vec<u8>, keep: impl Fn(usize) -> bool) -> Vec<u8> {
        let kept = self.blocks().into_iter().enumerate().filter(|(nth, _)| keep(*nth));
        for (_, block) in kept {
            let (from, to) = (block * BLOCK, self.live.len().min((block + 1) * BLOCK));
            overlay(&mut bytes, from, self.live.get(from..to).unwrap_or_default());
        }
        bytes
    }

    fn synced(&mut self) {
        self.durable = self.with_blocks(self.after_cut(), |_| true);
        self.forget();
    }

    /// What was written counts as written, whether it was or not.
    fn forget(&mut self) {
        self.writes.clear();
        self.cut = None;
    }

    fn rebooted(&self, fate: Fate) -> Self {
        let bytes = match fate {
            Fate::Dropped | Fate::Prefix(0) => self.durable.clone(),
            Fate::Kept => self.with_blocks(self.after_cut(), |_| true),
            Fate::Prefix(upto) => self.with_prefix(upto),
            Fate::Blocks(bits) => {
                let base = if bits & 1 == 1 { self.after_cut() } else { self.durable.clone() };
                self.with_blocks(base, |nth| bits >> (nth % 64) & 1 == 1)
            }
        };
        Self { mode: self.mode, live: bytes.clone(), durable: bytes, ..Self::default() }
    }

    fn with_prefix(&self, mut upto: usize) -> Vec<u8> {
        let mut bytes = self.after_cut();
        for &(from, to) in &self.writes {
            let part = upto.min(to - from);
            overlay(&mut bytes, from, self.live.get(from..from + part).unwrap_or_default());
            upto -= part;
        }
        bytes
    }
}

fn overlay(bytes: &mut Vec<u8>, offset: usize, part: &[u8]) {
    let end = offset + part.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(place) = bytes.get_mut(offset..end) {
        place.copy_from_slice(part);
    }
}

/// An open file. It outlives a rename, and fails when the power is off.
#[derive(Debug)]
pub struct SimFile {
    disk: SimDisk,
    file: u64,
    path: PathBuf,
}

/// The lock of a [`SimDisk`]; let go of when dropped.
#[derive(Debug)]
pub struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.state().locks.remove(&self.path);
    }
}

impl Disk for SimDisk {
    type File = SimFile;
    type Lock = SimLock;

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let state = self.state();
        let file = state.file(path)?;
        let bytes = state.files.get(&file).map(|content| content.live.clone());
        let bytes = bytes.ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        state.folder(folder)?;
        let inside = state.live.keys().filter(|path| path.parent() == Some(folder));
        let name =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(inside.filter_map(name).collect())
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.folder(folder).is_ok() {
            return Ok(());
        }
        let go = state.step(&Operation::MakeFolder(folder.to_owned()))?;
        if go.upto == usize::MAX {
            for above in folder.ancestors() {
                state.live.entry(above.to_owned()).or_insert(Node::Folder);
            }
        }
        go.answer
    }

    fn create(&self, path: &Path) -> io::Result<SimFile> {
        let mut state = self.state();
        let go = state.step(&Operation::Create(path.to_owned()))?;
        if state.live.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.folder(path.parent().unwrap_or(path))?;
        if state.room == Some(0) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if go.upto == usize::MAX {
            state.add(path);
        }
        go.answer?;
        let file = state.file(path)?;
        drop(state);
        Ok(SimFile { disk: self.clone(), file, path: path.to_owned() })
    }

    fn open(&self, path: &Path) -> io::Result<SimFile> {
        let file = self.state().file(path)?;
        Ok(SimFile { disk: self.clone(), file, path: path.to_owned() })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let go = state.step(&Operation::Rename(from.to_owned(), to.to_owned()))?;
        let file = state.file(from)?;
        state.folder(to.parent().unwrap_or(to))?;
        if go.upto == usize::MAX {
            state.live.remove(from);
            state.live.insert(to.to_owned(), Node::File(file));
            if from.parent() != to.parent() {
                state.moves.push((from.to_owned(), to.to_owned()));
            }
        }
        go.answer
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.state();
        let go = state.step(&Operation::SyncFolder(folder.to_owned()))?;
        state.folder(folder)?;
        if go.upto == usize::MAX {
            state.settle_names(folder);
        }
        go.answer
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let state = self.state();
        match state.live.get(path) {
            Some(Node::Folder) if !state.off => {
                Ok(Stat { identity: (0, 0), length: 0, mode: 0o040_700, uid: user() })
            }
            Some(Node::Folder | Node::File(_)) | None => state.stat(state.file(path)?),
        }
    }

    fn lock(
        &self,
        path: &Path,
        holder: &str,
        _patience: Duration,
    ) -> Result<SimLock, Result<String, io::Error>> {
        let mut state = self.state();
        state.folder(path.parent().unwrap_or(path)).map_err(Err)?;
        if let Some(holder) = state.locks.get(path) {
            return Err(Ok(holder.clone()));
        }
        state.locks.insert(path.to_owned(), holder.to_owned());
        drop(state);
        Ok(SimLock { disk: self.clone(), path: path.to_owned() })
    }
}

impl State {
    fn stat(&self, file: u64) -> io::Result<Stat> {
        let content = self.files.get(&file).filter(|_| !self.off).ok_or(io::ErrorKind::NotFound)?;
        let length = content.live.len() as u64;
        Ok(Stat { identity: (1, file), length, mode: content.mode, uid: user() })
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl DiskFile for SimFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let go = state.step(&Operation::Write(self.path.clone(), offset, bytes.len()))?;
        let part = bytes.get(..go.upto.min(bytes.len())).unwrap_or_default();
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        state.write(self.file, part, offset)?;
        go.answer
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        let go = state.step(&Operation::Sync(self.path.clone()))?;
        let content = state.files.get_mut(&self.file).ok_or(io::ErrorKind::NotFound)?;
        if go.upto == usize::MAX {
            content.synced();
        } else {
            content.forget();
        }
        go.answer
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let go = state.step(&Operation::SetLength(self.path.clone(), length))?;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let content = state.files.get_mut(&self.file).ok_or(io::ErrorKind::NotFound)?;
        if go.upto == usize::MAX {
            content.cut(length);
        }
        go.answer
    }

    fn stat(&self) -> io::Result<Stat> {
        self.disk.state().stat(self.file)
    }
}

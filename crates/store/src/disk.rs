//! The few things a store asks of a disk, so that the same code runs on a real one and on one that fails on purpose.

use core::fmt::Debug;
use core::time::Duration;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Instant;

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Which file: two opens of one path that differ here are two files.
    pub identity: (u64, u64),
    /// Its bytes.
    pub length: u64,
    /// Permission bits.
    pub mode: u32,
    /// The owner's user id.
    pub uid: u32,
}

/// A disk.
pub trait Disk: Clone + Debug {
    /// An open file.
    type File: DiskFile;
    /// The right to be the one writer, for as long as it lives.
    type Lock: Debug + Send;

    /// A file's bytes, at most `limit` of them; a longer one is `FileTooLarge`.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Makes a folder and those above it, for the owner alone. One that is there already is fine.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes a new file for the owner alone; one that is there already is an error.
    fn create(&self, path: &Path) -> io::Result<Self::File>;
    /// Opens a file for writing that is there already.
    fn open(&self, path: &Path) -> io::Result<Self::File>;
    /// Gives a file another name, replacing what has that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Looks at a path; links are not followed.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// Waits up to `patience` for the lock and notes `holder` in it; `Err(Ok(holder))` names who has it.
    fn lock(
        &self,
        path: &Path,
        holder: &str,
        patience: Duration,
    ) -> Result<Self::Lock, Result<String, io::Error>>;
}

/// An open file of a [`Disk`].
pub trait DiskFile: Debug + Send {
    /// Writes all of `bytes` at `offset`.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file.
    fn set_length(&mut self, length: u64) -> io::Result<()>;
    /// Looks at this very file.
    fn stat(&self) -> io::Result<Stat>;
}

/// The disk of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    type File = File;
    type Lock = File;

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = open_plain(path, OpenOptions::new().read(true))?;
        if file.metadata()?.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        real_folder(folder)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        real_folder(folder)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        real_folder(path.parent().unwrap_or(path))?;
        // A new file: what stands at the name, be it a link, is an error.
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        alone(open_plain(path, OpenOptions::new().read(true).write(true))?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        real_folder(from.parent().unwrap_or(from))?;
        real_folder(to.parent().unwrap_or(to))?;
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::symlink_metadata(path).map(|meta| stat(&meta))
    }

    fn lock(
        &self,
        path: &Path,
        holder: &str,
        patience: Duration,
    ) -> Result<File, Result<String, io::Error>> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = open_plain(path, &mut how).and_then(alone).map_err(Err)?;
        let begun = Instant::now();
        while let Err(error) = file.try_lock() {
            match error {
                TryLockError::Error(error) => return Err(Err(error)),
                TryLockError::WouldBlock if begun.elapsed() >= patience => {
                    return Err(Ok(named_holder(&mut file)));
                }
                TryLockError::WouldBlock => std::thread::sleep(LOCK_POLL),
            }
        }
        note_holder(&mut file, holder).map_err(Err)?;
        Ok(file)
    }
}

/// Opens a plain file in a real folder: no link is followed, and nothing is waited for. The store is in reach of whoever
/// wants us to read or write something else.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for anything but a plain file, or what the system said.
pub fn open_plain(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    real_folder(path.parent().unwrap_or(path))?;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = how.custom_flags(flags).open(path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => not_plain("a link"),
        Some(_) | None => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_plain("not a plain file")) }
}

/// A file that has no other name: what is written to it changes nothing else.
fn alone(file: File) -> io::Result<File> {
    if file.metadata()?.nlink() == 1 { Ok(file) } else { Err(not_plain("a file with two names")) }
}

fn real_folder(folder: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    if meta.is_dir() {
        return Ok(());
    }
    Err(not_plain(if meta.is_symlink() { "in a folder that is a link" } else { "not in a folder" }))
}

fn not_plain(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

const LOCK_POLL: Duration = Duration::from_millis(2);
const HOLDER_MAX: u64 = 4096;

fn note_holder(file: &mut File, holder: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(holder.as_bytes())
}

/// What the holder wrote into the lock; it may be writing it this moment.
fn named_holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| Read::take(&*file, HOLDER_MAX).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        Ok(_) | Err(_) => "an unnamed process".to_owned(),
    }
}

impl DiskFile for File {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.metadata().map(|meta| stat(&meta))
    }
}

fn stat(meta: &fs::Metadata) -> Stat {
    Stat {
        identity: (meta.dev(), meta.ino()),
        length: meta.len(),
        mode: meta.mode(),
        uid: meta.uid(),
    }
}

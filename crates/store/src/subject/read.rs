//! Reads what lies at a path and digests it, many at a time. Opens nothing but regular files, and follows no link.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use actum_core::Digest;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::manifest::{Found, Line};
use super::path::TreePath;
use super::{FILE_BYTES_MAX, SubjectError, gone_or};

/// Threads that read at the same time.
const THREADS_MAX: usize = 8;
/// Files a thread takes from the list at a time.
const BATCH: usize = 32;
/// Bytes read at a time.
const BUFFER_BYTES: usize = 128 << 10;

/// What a path was seen to be, before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Regular,
    Link,
    Fifo,
    Socket,
    BlockDevice,
    CharacterDevice,
}

impl Seen {
    /// `None` for a folder, which is walked and not read.
    pub(super) fn of(kind: FileType) -> Option<Self> {
        if kind.is_dir() {
            None
        } else if kind.is_file() {
            Some(Self::Regular)
        } else if kind.is_symlink() {
            Some(Self::Link)
        } else if kind.is_fifo() {
            Some(Self::Fifo)
        } else if kind.is_socket() {
            Some(Self::Socket)
        } else if kind.is_block_device() {
            Some(Self::BlockDevice)
        } else {
            Some(Self::CharacterDevice)
        }
    }
}

/// Digests every path of the list below `root`. The lines come in the order of the list.
///
/// # Errors
/// One of the paths that could not be read; which one is not promised when several could not.
pub(super) fn digest_all(
    root: &Path,
    list: &[(TreePath, Seen)],
) -> Result<Vec<Line>, SubjectError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let threads = threads.min(list.len().div_ceil(BATCH)).max(1);
    let batches: Vec<_> = list.chunks(BATCH).collect();
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(number) else { break };
            let lines = batch.iter().map(|(path, seen)| line(root, path, *seen, &mut buffer));
            match lines.collect::<Result<Vec<_>, _>>() {
                Ok(lines) => done.push((number, lines)),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = vec![work()];
        for helper in helpers {
            match helper.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results.into_iter().collect::<Result<Vec<_>, _>>()
    })?
    .concat();
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().flat_map(|(_, lines)| lines).collect())
}

fn line(root: &Path, path: &TreePath, seen: Seen, buffer: &mut [u8]) -> Result<Line, SubjectError> {
    let place = path.below(root);
    let found = match seen {
        Seen::Regular => digest_file(&place, buffer)?,
        Seen::Link => Found::Link(digest_link(&place)?),
        Seen::Fifo => Found::Fifo,
        Seen::Socket => Found::Socket,
        Seen::BlockDevice => Found::BlockDevice,
        Seen::CharacterDevice => Found::CharacterDevice,
    };
    Ok(Line { path: path.clone(), found })
}

/// Digests one regular file.
pub(super) fn digest_one(path: &Path) -> Result<Found, SubjectError> {
    digest_file(path, &mut vec![0; BUFFER_BYTES])
}

fn digest_link(path: &Path) -> Result<Digest, SubjectError> {
    let text = std::fs::read_link(path).map_err(|error| {
        // What is no link any more is an invalid argument.
        let changed = error.kind() == io::ErrorKind::InvalidInput;
        if changed { SubjectError::Changed { path: path.into() } } else { gone_or(path, error) }
    })?;
    Ok(Digest::plain(text.as_os_str().as_bytes()))
}

fn digest_file(path: &Path, buffer: &mut [u8]) -> Result<Found, SubjectError> {
    let changed = || SubjectError::Changed { path: path.into() };
    let failed = |source| SubjectError::Read { path: path.into(), source };
    let mut file = open_regular(path)?.ok_or_else(changed)?;
    let before = file.metadata().map_err(failed)?;
    if before.len() > FILE_BYTES_MAX {
        return Err(SubjectError::Limit {
            what: "bytes in one file",
            path: path.into(),
            limit: FILE_BYTES_MAX,
        });
    }
    let mut hasher = Sha256::new();
    let mut length = 0;
    // One byte more than it has is enough to see that it grew; a file that grows for ever ends here as well.
    while length <= before.len() {
        let count = match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(failed(source)),
        };
        hasher.update(buffer.get(..count).unwrap_or_default());
        length += count as u64;
    }
    let after = file.metadata().map_err(failed)?;
    if length != before.len() || stamp(&before) != stamp(&after) {
        return Err(changed());
    }
    let digest = Digest::from_bytes(hasher.finalize().into());
    let executable = before.mode() & 0o111 != 0;
    Ok(if executable { Found::Executable(digest) } else { Found::File(digest) })
}

/// Size, mode and both times, to the nanosecond: whatever writes to a file moves one of them.
fn stamp(of: &Metadata) -> (u64, u32, [i64; 4]) {
    (of.len(), of.mode(), [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()])
}

/// Opens a regular file for reading; `None` if something else, or nothing, lies there now.
fn open_regular(path: &Path) -> Result<Option<File>, SubjectError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => File::from(file),
        // A link, a socket or a device without a driver, nothing at all, or a file where a folder was.
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::NOENT | Errno::NOTDIR) => {
            return Ok(None);
        }
        Err(error) => return Err(SubjectError::Read { path: path.into(), source: error.into() }),
    };
    let metadata = file.metadata();
    let metadata = metadata.map_err(|source| SubjectError::Read { path: path.into(), source })?;
    Ok(metadata.is_file().then_some(file))
}

/// All bytes of a small regular file; `None` if something else, or nothing, lies there.
pub(super) fn read_small(
    path: &Path,
    limit: u64,
    what: &'static str,
) -> Result<Option<Vec<u8>>, SubjectError> {
    let Some(file) = open_regular(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|source| SubjectError::Read { path: path.into(), source })?;
    if bytes.len() as u64 > limit {
        return Err(SubjectError::Limit { what, path: path.into(), limit });
    }
    Ok(Some(bytes))
}

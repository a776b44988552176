//! Reads what lies at a path and digests it, many at a time. Opens nothing but regular files; which link leads where was
//! found out before, and is found out again afterwards.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use actum_core::Digest;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::link::{self, End, Way};
use super::manifest::{Found, Line, LinkEnd};
use super::path::TreePath;
use super::stamp::Stamp;
use super::{FILE_BYTES_MAX, SubjectError};

/// Threads that read at the same time.
const THREADS_MAX: usize = 8;
/// Files a thread takes from the list at a time.
const BATCH: usize = 32;
/// Bytes read at a time.
const BUFFER_BYTES: usize = 128 << 10;

/// What has to be read at a path.
#[derive(Debug, Clone)]
pub(super) enum Task {
    File,
    /// A link, its text, where it leads, and where the files of a folder are listed.
    Link {
        text: Vec<u8>,
        way: Way,
        listed: TreePath,
    },
    /// Nothing: it is known already.
    Known(Found),
}

/// A line and the stamps it was read under.
pub(super) type Stamped = (Line, Box<[Stamp]>);

/// Digests every path of the list below `root`. The lines come in the order of the list.
///
/// # Errors
/// One of the paths that could not be read; which one is not promised when several could not.
pub(super) fn digest_all(
    root: &Path,
    list: &[(TreePath, Task)],
) -> Result<Vec<Stamped>, SubjectError> {
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
            let lines = batch.iter().map(|(path, task)| line(root, path, task, &mut buffer));
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

fn line(
    root: &Path,
    path: &TreePath,
    task: &Task,
    buffer: &mut [u8],
) -> Result<Stamped, SubjectError> {
    let place = path.below(root);
    let (found, stamps) = match task {
        Task::File => {
            let (found, stamp) = digest_file(&place, buffer)?;
            (found.into(), [stamp].into())
        }
        Task::Link { text, way, listed } => digest_link(&place, text, way, listed, buffer)?,
        Task::Known(found) => (*found, Box::default()),
    };
    Ok((Line { path: path.clone(), found }, stamps))
}

/// Digests one regular file.
pub(super) fn digest_one(path: &Path) -> Result<(Found, Stamp), SubjectError> {
    let (content, stamp) = digest_file(path, &mut vec![0; BUFFER_BYTES])?;
    Ok((content.into(), stamp))
}

fn digest_link(
    place: &Path,
    text: &[u8],
    way: &Way,
    listed: &TreePath,
    buffer: &mut [u8],
) -> Result<(Found, Box<[Stamp]>), SubjectError> {
    let mut stamps = way.passed.clone();
    let end = match &way.end {
        End::Closed(end) => *end,
        End::Folder(_) => LinkEnd::Folder(Digest::plain(listed.as_bytes())),
        End::File(target) => {
            let read = digest_file(target, buffer);
            let (content, stamp) = read.map_err(|error| error.behind(place))?;
            stamps.push(stamp);
            if content.is_executable {
                LinkEnd::Executable(content.digest)
            } else {
                LinkEnd::File(content.digest)
            }
        }
    };
    if link::text(place)? != text || follow(place)? != *way {
        return Err(SubjectError::Changed { path: place.into() });
    }
    Ok((Found::Link { text: Digest::plain(text), end }, stamps.into()))
}

/// Where the link at `place` leads.
pub(super) fn follow(place: &Path) -> Result<Way, SubjectError> {
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(SubjectError::Changed { path: place.into() });
    };
    Way::along(folder, name.as_bytes()).map_err(|error| error.behind(place))
}

struct Content {
    digest: Digest,
    is_executable: bool,
}

impl From<Content> for Found {
    fn from(Content { digest, is_executable }: Content) -> Self {
        if is_executable { Self::Executable(digest) } else { Self::File(digest) }
    }
}

fn digest_file(path: &Path, buffer: &mut [u8]) -> Result<(Content, Stamp), SubjectError> {
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
    if length != before.len() || times(&before) != times(&after) {
        return Err(changed());
    }
    let digest = Digest::from_bytes(hasher.finalize().into());
    let is_executable = before.mode() & 0o111 != 0;
    Ok((Content { digest, is_executable }, Stamp::of(&before)))
}

/// Size, mode and both times, to the nanosecond: whatever writes to a file moves one of them.
fn times(of: &Metadata) -> (u64, u32, [i64; 4]) {
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

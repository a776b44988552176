//! Content that is needed again: what was put before a model, and calls that wait for approval. The ledger holds their
//! digests, the text lies here under its digest, and text that has another one is never given out. Nothing here is evidence,
//! so nothing is synced: what a power cut takes is missing, and what is missing is unknown. Which digests are still needed is
//! for the caller to say.
//!
//! The store is in reach of an agent. Folders are opened one inside the other, none through a link, and are ours alone.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use actum_core::{Digest, content_digest, hex};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::places::Places;

/// Bytes of one content.
pub const CONTENT_MAX: usize = 1 << 20;
/// Bytes of one call as JSON, which may take six for one byte of text.
pub const CALL_MAX: usize = 16 << 20;

/// Why something could not be kept, or is not given out.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It has another digest than the one it was kept under, or is no text.
    #[error("{} was changed after it was kept", path.display())]
    Edited {
        /// Which file.
        path: PathBuf,
    },
    /// More than is kept of one thing.
    #[error("{}: over {limit} bytes", path.display())]
    TooLong {
        /// Which file it is, or would have been.
        path: PathBuf,
        /// What is kept.
        limit: usize,
    },
    /// Something stands there that we did not put there: a link, a pipe, a file that is another's.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// The disk said no.
    #[error("cannot {doing} {}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
}

/// The contents and calls that a store keeps.
///
/// ```
/// use actum_core::content_digest;
/// use actum_store::{Cache, Places};
/// # let folder = tempfile::tempdir()?;
/// # let store = folder.path().join(".actum");
/// # std::fs::create_dir(&store)?;
/// # let places = Places { store, data: folder.path().into(), state: folder.path().into() };
/// let cache = Cache::of(&places);
/// let digest = cache.keep("the landlord wrote")?;
/// assert_eq!(digest, content_digest("the landlord wrote"));
/// assert_eq!(cache.read(&digest)?.as_deref(), Some("the landlord wrote"));
/// assert_eq!(cache.read(&content_digest("nobody wrote"))?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    places: Places,
}

impl Cache {
    /// The cache of the store at these places. Nothing is opened or made yet.
    pub fn of(places: &Places) -> Self {
        Self { places: places.clone() }
    }

    /// Keeps a text, before the event that holds its digest is written. What stood in its place is replaced.
    ///
    /// # Errors
    /// [`CacheError::TooLong`] over [`CONTENT_MAX`]; [`CacheError::Foreign`] for a folder that is not ours alone; or what the
    /// disk said.
    pub fn keep(&self, text: &str) -> Result<Digest, CacheError> {
        let digest = content_digest(text);
        self.place(Kind::Contents, &digest).write(text)?;
        Ok(digest)
    }

    /// The text with this digest; nothing if it is not kept.
    ///
    /// # Errors
    /// [`CacheError::Edited`] for a text that has another digest, [`CacheError::TooLong`], [`CacheError::Foreign`], or what
    /// the disk said.
    pub fn read(&self, digest: &Digest) -> Result<Option<String>, CacheError> {
        let place = self.place(Kind::Contents, digest);
        let Some(text) = place.read()? else { return Ok(None) };
        if content_digest(&text) == *digest { Ok(Some(text)) } else { Err(place.edited()) }
    }

    /// Keeps a call as JSON under the digest of the call. What stood in its place is replaced.
    ///
    /// # Errors
    /// As [`Cache::keep`], with [`CALL_MAX`].
    pub fn keep_call(&self, digest: &Digest, json: &str) -> Result<(), CacheError> {
        self.place(Kind::Calls, digest).write(json)
    }

    /// The call with this digest; nothing if it is not kept. Its JSON is read by `parse`, which gives nothing for what it
    /// cannot read, and is given out only if `digest_of` what was read is `digest`.
    ///
    /// # Errors
    /// As [`Cache::read`].
    pub fn read_call<T>(
        &self,
        digest: &Digest,
        parse: impl FnOnce(&str) -> Option<T>,
        digest_of: impl FnOnce(&T) -> Digest,
    ) -> Result<Option<T>, CacheError> {
        let place = self.place(Kind::Calls, digest);
        let Some(json) = place.read()? else { return Ok(None) };
        let call = parse(&json).ok_or_else(|| place.edited())?;
        if digest_of(&call) == *digest { Ok(Some(call)) } else { Err(place.edited()) }
    }

    /// Removes the contents and calls whose digests are not in `keep`, and drafts of writers that died. What changed at
    /// `before` or later stays as well, for the event that names it may be on its way. Returns how many files went.
    ///
    /// # Errors
    /// [`CacheError::Foreign`] for a folder that is not ours alone, or what the disk said; some may be gone by then.
    pub fn prune(&self, keep: &BTreeSet<Digest>, before: SystemTime) -> Result<u64, CacheError> {
        let before_s = before.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut removed = 0;
        for kind in [Kind::Contents, Kind::Calls] {
            for byte in 0..=u8::MAX {
                let mut first = [0; 32];
                first[0] = byte;
                let place = self.place(kind, &Digest::from_bytes(first));
                removed += place.prune_folder(keep, before_s)?;
            }
        }
        Ok(removed)
    }

    fn place(&self, kind: Kind, digest: &Digest) -> Place {
        let name = digest.to_string();
        let (whole, limit) = match kind {
            Kind::Contents => (self.places.cache(), CONTENT_MAX),
            Kind::Calls => (self.places.calls(), CALL_MAX),
        };
        let part = whole.join(name.get(..2).unwrap_or_default());
        Place { store: self.places.store.clone(), whole, part, name, limit }
    }
}

/// What is kept apart from what.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Contents,
    Calls,
}

/// Where a digest's file lies: the folder of its kind, one of 256 in it, its name there.
#[derive(Debug)]
struct Place {
    store: PathBuf,
    whole: PathBuf,
    part: PathBuf,
    name: String,
    limit: usize,
}

impl Place {
    fn read(&self) -> Result<Option<String>, CacheError> {
        let Some(folder) = found(self.open_folder())? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = open_in(&folder, &self.name, flags, Mode::empty());
        let opened = opened.map_err(|error| refused("read", &self.path(), error));
        let Some(file) = found(opened)? else { return Ok(None) };
        plain(&file, &self.path())?;
        ours_alone(&file, &self.path())?;
        let mut bytes = Vec::new();
        let limit = self.limit as u64;
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(self.disk("read"))?;
        if bytes.len() > self.limit {
            return Err(self.too_long());
        }
        // Only text was kept.
        String::from_utf8(bytes).map(Some).map_err(|_not_text| self.edited())
    }

    fn write(&self, text: &str) -> Result<(), CacheError> {
        if text.len() > self.limit {
            return Err(self.too_long());
        }
        let folder = self.make_folder()?;
        let draft = format!("{}{DRAFT}{}", self.name, self.salt()?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open_in(&folder, &draft, flags, Mode::RUSR | Mode::WUSR);
        let mut file = file.map_err(|error| refused("create", &self.part.join(&draft), error))?;
        let written = file.write_all(text.as_bytes()).map_err(self.disk("write"));
        let renamed = written.and_then(|()| {
            let renamed = rustix::fs::renameat(&folder, &draft, &folder, &self.name);
            renamed.map_err(|error| self.disk("replace")(error.into()))
        });
        if renamed.is_err() {
            // The failure is what is reported; a draft that stays is pruned.
            let _stays = rustix::fs::unlinkat(&folder, &draft, AtFlags::empty());
        }
        renamed
    }

    fn prune_folder(&self, keep: &BTreeSet<Digest>, before_s: u64) -> Result<u64, CacheError> {
        let Some(folder) = found(self.open_folder())? else { return Ok(0) };
        let failed = |error: Errno| refused("list", &self.part, error);
        let mut removed = 0;
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !is_spare(name, keep) {
                continue;
            }
            // Whoever else removes it has done what was asked.
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            // A time before 1970 is an old one.
            if is_folder || u64::try_from(stat.st_mtime).unwrap_or_default() >= before_s {
                continue;
            }
            match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) => removed += 1,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(refused("remove", &self.part.join(name), error)),
            }
        }
        Ok(removed)
    }

    /// The folder of the file, from the store down, as it is.
    fn open_folder(&self) -> Result<File, CacheError> {
        self.descend(|_above, _path| Ok(()))
    }

    /// The same, with what is missing below the store made.
    fn make_folder(&self) -> Result<File, CacheError> {
        self.descend(|above, path| {
            let made = rustix::fs::mkdirat(above, file_name(path), Mode::RWXU);
            match made {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(refused("make the folder", path, error)),
            }
        })
    }

    fn descend(
        &self,
        enter: impl Fn(&File, &Path) -> Result<(), CacheError>,
    ) -> Result<File, CacheError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |above: &File, path: &Path| {
            let folder = open_in(above, file_name(path), flags, Mode::empty());
            folder.map_err(|error| refused("open", path, error))
        };
        let store = rustix::fs::openat(CWD, &self.store, flags, Mode::empty());
        let store = store.map_err(|error| refused("open", &self.store, error))?;
        let mut folder = File::from(store);
        for path in [&self.whole, &self.part] {
            enter(&folder, path)?;
            folder = open(&folder, path)?;
            ours_alone(&folder, path)?;
        }
        Ok(folder)
    }

    fn salt(&self) -> Result<String, CacheError> {
        let mut bytes = [0; 6];
        let filled = getrandom::fill(&mut bytes);
        filled.map_err(|error| self.disk("get random bytes for")(io::Error::other(error)))?;
        Ok(hex(&bytes))
    }

    fn path(&self) -> PathBuf {
        self.part.join(&self.name)
    }

    fn edited(&self) -> CacheError {
        CacheError::Edited { path: self.path() }
    }

    fn too_long(&self) -> CacheError {
        CacheError::TooLong { path: self.path(), limit: self.limit }
    }

    fn disk(&self, doing: &'static str) -> impl FnOnce(io::Error) -> CacheError {
        let path = self.path();
        move |source| CacheError::Disk { doing, path, source }
    }
}

/// Stands between the name of a file and what makes its draft's name its own.
const DRAFT: &str = ".new-";

/// Whether the name is one of ours, and nobody asked to keep it.
fn is_spare(name: &str, keep: &BTreeSet<Digest>) -> bool {
    match name.split_once(DRAFT) {
        Some((name, _salt)) => Digest::from_hex(name).is_some(),
        None => Digest::from_hex(name).is_some_and(|digest| !keep.contains(&digest)),
    }
}

fn file_name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

fn open_in(
    folder: &File,
    name: impl rustix::path::Arg,
    flags: OFlags,
    mode: Mode,
) -> Result<File, Errno> {
    rustix::fs::openat(folder, name, flags, mode).map(|opened: OwnedFd| File::from(opened))
}

/// What an open that did not succeed says of the path.
fn refused(doing: &'static str, path: &Path, error: Errno) -> CacheError {
    match error {
        Errno::LOOP => foreign(path, "a link".to_owned()),
        // A link where a folder should be is this one or the other, as systems differ.
        Errno::NOTDIR => foreign(path, "not a folder of its own".to_owned()),
        other => CacheError::Disk { doing, path: path.to_owned(), source: other.into() },
    }
}

/// A path that is not there is no error here.
fn found(opened: Result<File, CacheError>) -> Result<Option<File>, CacheError> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(CacheError::Disk { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// This user's, and open to nobody else.
fn ours_alone(opened: &File, path: &Path) -> Result<(), CacheError> {
    let meta = look_at(opened, path)?;
    let (user, uid) = (rustix::process::geteuid().as_raw(), meta.uid());
    if uid != user {
        return Err(foreign(path, format!("it belongs to user {uid}, not to user {user}")));
    }
    let mode = meta.mode() & 0o777;
    if mode & 0o077 != 0 {
        let what = format!("it has mode {mode:04o}; it must be open to its owner alone");
        return Err(foreign(path, what));
    }
    Ok(())
}

fn plain(opened: &File, path: &Path) -> Result<(), CacheError> {
    let is_plain = look_at(opened, path)?.is_file();
    if is_plain { Ok(()) } else { Err(foreign(path, "not a plain file".to_owned())) }
}

fn look_at(opened: &File, path: &Path) -> Result<Metadata, CacheError> {
    let doing = "look at";
    opened.metadata().map_err(|source| CacheError::Disk { doing, path: path.to_owned(), source })
}

fn foreign(path: &Path, what: String) -> CacheError {
    CacheError::Foreign { path: path.to_owned(), what }
}

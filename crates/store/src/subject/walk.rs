//! Lists what lies below a folder. Reads no file but `.gitignore`. Links are followed when the tree is listed, and what they
//! lead to outside of it is walked as a tree of its own.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, FileType};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::git::is_repository;
use super::ignored::Ignored;
use super::manifest::FILES_MAX;
use super::path::{PATH_BYTES_MAX, TreePath};
use super::stamp::FolderStamp;
use super::{SubjectError, gone, gone_or};

/// Whether `.gitignore` files decide what is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    Gitignore,
    None,
}

/// Where the store lies, which no subject holds.
#[derive(Debug)]
pub(super) struct StorePlace {
    /// Canonical.
    pub(super) real: PathBuf,
    /// As it was given, which may be a link to it.
    pub(super) given: PathBuf,
}

/// What a path was seen to be, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Regular,
    Link,
    Fifo,
    Socket,
    BlockDevice,
    CharacterDevice,
    /// A folder whose files are listed there.
    Listed(TreePath),
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

/// What was found below one folder, in no order.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<(TreePath, Seen)>,
    /// Every folder that was entered, also the first one.
    pub(super) folders: Vec<(TreePath, FolderStamp)>,
}

/// Folders that were entered, with no link in their path, and the path that their files are listed below.
pub(super) type Listed = BTreeMap<PathBuf, TreePath>;

/// A walk below one root.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    /// Has no link in its path.
    pub(super) root: &'a Path,
    pub(super) store: &'a StorePlace,
    pub(super) rules: Rules,
    /// What is not entered again.
    pub(super) listed: &'a Listed,
}

struct Folder {
    path: TreePath,
    ignored: Option<Rc<Ignored>>,
}

impl Listing {
    pub(super) fn check(&self, root: &Path) -> Result<(), SubjectError> {
        if self.files.len() > FILES_MAX || self.folders.len() > FILES_MAX {
            return Err(too_many(root));
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// Every path below the root that counts.
    pub(super) fn all(&self) -> Result<Listing, SubjectError> {
        let mut listing = Listing::default();
        self.below(Folder { path: TreePath::empty(), ignored: None }, &mut listing)?;
        Ok(listing)
    }

    /// Adds the same for the folder at `start`, even if a rule ignores that folder itself.
    pub(super) fn forced(
        &self,
        start: &TreePath,
        listing: &mut Listing,
    ) -> Result<(), SubjectError> {
        let mut ignored = None;
        for folder in [b"".as_slice()].into_iter().chain(start.folders()) {
            ignored = self.load(folder, ignored.as_ref())?;
        }
        self.below(Folder { path: start.clone(), ignored }, listing)
    }

    fn below(&self, start: Folder, listing: &mut Listing) -> Result<(), SubjectError> {
        let mut folders = vec![start];
        while let Some(folder) = folders.pop() {
            let place = folder.path.below(self.root);
            let stamp = fs::symlink_metadata(&place).map_err(|error| gone_or(&place, error))?;
            listing.folders.push((folder.path.clone(), FolderStamp::of(&stamp)));
            listing.check(self.root)?;
            let mut entries = Vec::new();
            for entry in fs::read_dir(&place).map_err(|error| gone_or(&place, error))? {
                entries.push(entry.map_err(|error| gone_or(&place, error))?);
            }
            let has_rules = entries.iter().any(|entry| entry.file_name() == ".gitignore");
            let ignored = if has_rules && self.rules == Rules::Gitignore {
                self.load(folder.path.as_bytes(), folder.ignored.as_ref())?
            } else {
                folder.ignored
            };
            for entry in entries {
                let path = folder.path.as_bytes();
                self.enter(path, &entry, ignored.as_ref(), &mut listing.files, &mut folders)?;
            }
        }
        Ok(())
    }

    fn enter(
        &self,
        folder: &[u8],
        entry: &DirEntry,
        ignored: Option<&Rc<Ignored>>,
        found: &mut Vec<(TreePath, Seen)>,
        folders: &mut Vec<Folder>,
    ) -> Result<(), SubjectError> {
        let name = entry.file_name();
        let place = entry.path();
        if place == self.store.real || place == self.store.given {
            return Ok(());
        }
        let is_own = folder.is_empty() && self.rules == Rules::Gitignore;
        if name == ".git" && (is_own || is_repository(&place)) {
            return Ok(());
        }
        let mut path = folder.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        let Some(checked) = TreePath::new(&path) else {
            return Err(SubjectError::Limit {
                what: "bytes in one path",
                path: place,
                limit: PATH_BYTES_MAX as u64,
            });
        };
        let kind = entry.file_type().map_err(|error| gone_or(&place, error))?;
        // INVARIANT(rules-count): a `.gitignore` that decides here is counted, even one that ignores itself. Otherwise a new
        // one with `*` in it would hide itself and whatever else is new beside it.
        let decides = name == ".gitignore";
        if !decides && ignored.is_some_and(|rules| rules.matches(&path, kind.is_dir())) {
            return Ok(());
        }
        match Seen::of(kind) {
            None => match self.listed.get(&place) {
                Some(at) => found.push((checked, Seen::Listed(at.clone()))),
                None => folders.push(Folder { path: checked, ignored: ignored.cloned() }),
            },
            Some(seen) => found.push((checked, seen)),
        }
        Ok(())
    }

    fn load(
        &self,
        folder: &[u8],
        above: Option<&Rc<Ignored>>,
    ) -> Result<Option<Rc<Ignored>>, SubjectError> {
        Ignored::load(&self.place(folder).join(".gitignore"), folder, above)
    }

    fn place(&self, folder: &[u8]) -> PathBuf {
        self.root.join(std::ffi::OsStr::from_bytes(folder))
    }

    /// What lies at `path`, reached through real folders only; `None` if nothing does.
    pub(super) fn look(&self, path: &TreePath) -> Result<Option<FileType>, SubjectError> {
        for folder in path.folders() {
            match kind_at(&self.place(folder))? {
                Some(kind) if kind.is_dir() => {}
                Some(_) | None => return Ok(None),
            }
        }
        kind_at(&path.below(self.root))
    }
}

pub(super) fn too_many(root: &Path) -> SubjectError {
    let limit = FILES_MAX as u64;
    SubjectError::Limit { what: "files or folders in one subject", path: root.into(), limit }
}

fn kind_at(place: &Path) -> Result<Option<FileType>, SubjectError> {
    match fs::symlink_metadata(place) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if gone(&error) => Ok(None),
        Err(source) => Err(SubjectError::Read { path: place.into(), source }),
    }
}

//! Lists what lies below a folder. Reads no file but `.gitignore`; follows no link.

use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ignored::Ignored;
use super::manifest::FILES_MAX;
use super::path::{PATH_BYTES_MAX, TreePath};
use super::read::Seen;
use super::{SubjectError, gone, gone_or};

/// Whether `.gitignore` files decide what is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    Gitignore,
    None,
}

/// A walk below one root. `.git` and the store are left out, at every depth.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    /// Canonical; need not lie below the root.
    pub(super) store: &'a Path,
    pub(super) rules: Rules,
}

struct Folder {
    path: Vec<u8>,
    ignored: Option<Rc<Ignored>>,
}

impl Walk<'_> {
    /// Every path below the root that counts and is no folder, in no order.
    pub(super) fn all(&self) -> Result<Vec<(TreePath, Seen)>, SubjectError> {
        self.below(Folder { path: Vec::new(), ignored: None })
    }

    /// The same for the folder at `start`, even if a rule ignores that folder itself.
    pub(super) fn forced(&self, start: &TreePath) -> Result<Vec<(TreePath, Seen)>, SubjectError> {
        let mut ignored = None;
        for folder in [b"".as_slice()].into_iter().chain(start.folders()) {
            ignored = self.load(folder, ignored.as_ref())?;
        }
        self.below(Folder { path: start.as_bytes().to_vec(), ignored })
    }

    fn below(&self, start: Folder) -> Result<Vec<(TreePath, Seen)>, SubjectError> {
        let mut found = Vec::new();
        let mut folders = vec![start];
        let mut folder_count = 0;
        while let Some(folder) = folders.pop() {
            folder_count += 1;
            if found.len() > FILES_MAX || folder_count > FILES_MAX {
                return Err(SubjectError::Limit {
                    what: "files or folders in one subject",
                    path: self.root.into(),
                    limit: FILES_MAX as u64,
                });
            }
            let place = self.place(&folder.path);
            let mut entries = Vec::new();
            for entry in fs::read_dir(&place).map_err(|error| gone_or(&place, error))? {
                entries.push(entry.map_err(|error| gone_or(&place, error))?);
            }
            let has_rules = entries.iter().any(|entry| entry.file_name() == ".gitignore");
            let ignored = if has_rules && self.rules == Rules::Gitignore {
                self.load(&folder.path, folder.ignored.as_ref())?
            } else {
                folder.ignored
            };
            for entry in entries {
                self.enter(&folder.path, &entry, ignored.as_ref(), &mut found, &mut folders)?;
            }
        }
        Ok(found)
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
        if name == ".git" || place == self.store {
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
            None => folders.push(Folder { path, ignored: ignored.cloned() }),
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
    pub(super) fn look(&self, path: &TreePath) -> Result<Option<fs::FileType>, SubjectError> {
        for folder in path.folders() {
            match kind_at(&self.place(folder))? {
                Some(kind) if kind.is_dir() => {}
                Some(_) | None => return Ok(None),
            }
        }
        kind_at(&path.below(self.root))
    }
}

fn kind_at(place: &Path) -> Result<Option<fs::FileType>, SubjectError> {
    match fs::symlink_metadata(place) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if gone(&error) => Ok(None),
        Err(source) => Err(SubjectError::Read { path: place.into(), source }),
    }
}

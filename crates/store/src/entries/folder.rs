//! Opens what lies below a root, one part of the path at a time: no link is followed, whatever is replaced meanwhile, and
//! nothing is waited for.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::{FILES_MAX, LOOKED_MAX, Wrong};
use crate::StoreError;
use crate::subject::TreePath;

/// Folders that hold what others wrote and no memory.
const LEFT_OUT: &[&str] = &[".git", "node_modules"];

/// The folder that nothing is read outside of.
#[derive(Debug)]
pub(super) struct Root {
    real: PathBuf,
    folder: OwnedFd,
}

/// What lies at a path.
#[derive(Debug)]
pub(super) enum Found {
    File(Plain),
    Folder,
}

/// A plain file, open for reading.
#[derive(Debug)]
pub(super) struct Plain(File);

/// What a folder holds, however deep.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Sorted.
    pub(super) files: Vec<TreePath>,
    pub(super) flaws: Vec<(TreePath, Wrong)>,
}

enum Opened {
    File(File),
    Folder(OwnedFd),
}

impl Root {
    pub(super) fn open(root: &Path) -> Result<Self, StoreError> {
        let real = root.canonicalize().map_err(StoreError::disk("open", root))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&real, flags, Mode::empty());
        let folder = folder.map_err(|error| StoreError::disk("open", root)(error.into()))?;
        Ok(Self { real, folder })
    }

    /// The root without links in its path.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    pub(super) fn find(&self, path: &TreePath) -> Result<Found, Wrong> {
        Ok(match self.walk(path)? {
            Opened::File(file) => Found::File(Plain(file)),
            Opened::Folder(_) => Found::Folder,
        })
    }

    fn walk(&self, path: &TreePath) -> Result<Opened, Wrong> {
        let mut here = Opened::Folder(self.folder.try_clone().map_err(|error| unreadable(&error))?);
        let mut passed = Vec::new();
        for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let Opened::Folder(folder) = &here else { return Err(Wrong::NotAFolder) };
            passed.push(name);
            here = step(folder, name, &passed)?;
        }
        Ok(here)
    }

    /// Every file below a folder that `reads` takes, and what could hold one and is not entered.
    pub(super) fn list(&self, start: &TreePath, reads: impl Fn(&TreePath) -> bool) -> Listed {
        let mut listed = Listed::default();
        let (mut folders, mut looked) = (vec![start.clone()], 0);
        while let Some(path) = folders.pop() {
            let entries = match self.walk(&path) {
                Ok(Opened::Folder(folder)) => names(&folder).map(|names| (folder, names)),
                Ok(Opened::File(_)) => Err(Wrong::NotAFolder),
                Err(what) => Err(what),
            };
            let (folder, names) = match entries {
                Ok(entries) => entries,
                Err(what) => {
                    listed.flaws.push((path, what));
                    continue;
                }
            };
            looked += names.len();
            if looked > LOOKED_MAX {
                listed.flaws.push((path, Wrong::Looked));
                break;
            }
            for name in names {
                listed.see(&folder, &path, &name, &reads, &mut folders);
            }
        }
        listed.files.sort_unstable();
        listed.flaws.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        // One more is enough to say that there are more.
        listed.files.truncate(FILES_MAX + 1);
        listed
    }
}

impl Listed {
    fn see(
        &mut self,
        folder: &OwnedFd,
        path: &TreePath,
        name: &[u8],
        reads: &impl Fn(&TreePath) -> bool,
        folders: &mut Vec<TreePath>,
    ) {
        let Some(below) = below(path, name) else {
            let why = "a path below it is too long".to_owned();
            return self.flaws.push((path.clone(), Wrong::Unreadable { why }));
        };
        let kind = match kind(folder, name) {
            Ok(kind) => kind,
            // It was there a moment ago.
            Err(Errno::NOENT) => return,
            Err(error) => return self.flaws.push((below, unreadable(&error.into()))),
        };
        if kind == FileType::Directory {
            if !LEFT_OUT.iter().any(|left_out| left_out.as_bytes() == name) {
                folders.push(below);
            }
        } else if kind == FileType::Symlink {
            if reads(&below) || leads_to_a_folder(folder, name) {
                let what = link(folder, name, below.to_string());
                self.flaws.push((below, what));
            }
        } else if reads(&below) {
            if kind == FileType::RegularFile {
                self.files.push(below);
            } else {
                self.flaws.push((below, Wrong::NotPlain));
            }
        }
    }
}

impl Plain {
    /// All its bytes.
    pub(super) fn read(self, limit: u64) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        let read = self.0.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&error))?;
        if bytes.len() as u64 > limit { Err(Wrong::FileBytes) } else { Ok(bytes) }
    }
}

/// Opens what has this name in a folder.
fn step(folder: &OwnedFd, name: &[u8], passed: &[&[u8]]) -> Result<Opened, Wrong> {
    let said = |error: Errno| match error {
        Errno::NOENT => Wrong::Missing,
        Errno::NOTDIR => Wrong::NotAFolder,
        _ => unreadable(&error.into()),
    };
    let flags = match kind(folder, name).map_err(said)? {
        FileType::Directory => OFlags::DIRECTORY,
        FileType::RegularFile => OFlags::NONBLOCK | OFlags::NOCTTY,
        FileType::Symlink => {
            let path = TreePath::new(&passed.join(&b'/')).map(|path| path.to_string());
            return Err(link(folder, name, path.unwrap_or_default()));
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Err(Wrong::NotPlain),
    };
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty()).map_err(said)?;
    if flags.contains(OFlags::DIRECTORY) {
        return Ok(Opened::Folder(opened));
    }
    let file = File::from(opened);
    // Something else may lie there by now.
    let is_plain = file.metadata().map_err(|error| unreadable(&error))?.is_file();
    if is_plain { Ok(Opened::File(file)) } else { Err(Wrong::NotPlain) }
}

fn kind(folder: impl AsFd, name: &[u8]) -> Result<FileType, Errno> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map(|stat| FileType::from_raw_mode(stat.st_mode))
}

fn leads_to_a_folder(folder: impl AsFd, name: &[u8]) -> bool {
    let stat = statat(folder, name, AtFlags::empty());
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

fn link(folder: impl AsFd, name: &[u8], link: String) -> Wrong {
    match readlinkat(folder, name, Vec::new()) {
        Ok(to) => Wrong::Link { link, to: String::from_utf8_lossy(to.as_bytes()).into_owned() },
        Err(error) => unreadable(&error.into()),
    }
}

fn names(folder: &OwnedFd) -> Result<Vec<Vec<u8>>, Wrong> {
    let failed = |error: Errno| unreadable(&error.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

fn below(folder: &TreePath, name: &[u8]) -> Option<TreePath> {
    match folder.as_bytes() {
        b"" => TreePath::new(name),
        folder => TreePath::new(&[folder, b"/", name].concat()),
    }
}

fn unreadable(error: &std::io::Error) -> Wrong {
    Wrong::Unreadable { why: error.to_string() }
}

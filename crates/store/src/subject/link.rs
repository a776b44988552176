//! Follows symbolic links, one part of the path at a time, and remembers what was passed. Reads no file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::manifest::LinkEnd;
use super::stamp::Stamp;
use super::{SubjectError, gone};

/// Links that are passed on the way to one end, as in the kernel.
const LINKS_MAX: usize = 40;

/// A way through links. Two of them are equal if nothing on it was replaced meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) end: End,
    /// Of every link that was passed.
    pub(super) passed: Vec<Stamp>,
}

/// Where a way ends. The paths have no link in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    File(PathBuf),
    Folder(PathBuf),
    /// Something that is not opened: nothing, a circle or a special file.
    Closed(LinkEnd),
}

impl Way {
    /// Follows `path` from `folder`, in whose own path no link may be.
    ///
    /// # Errors
    /// A part that exists and cannot be looked at.
    pub(super) fn along(folder: &Path, path: &[u8]) -> Result<Self, SubjectError> {
        let mut here = folder.to_path_buf();
        let mut kind = look(&here)?;
        let mut passed = Vec::new();
        let mut parts = VecDeque::new();
        push_front(&mut parts, &mut here, path);
        while let Some(part) = parts.pop_front() {
            if !kind.as_ref().is_some_and(fs::Metadata::is_dir) {
                return Ok(Self { end: End::Closed(LinkEnd::Nothing), passed });
            }
            match part.as_slice() {
                b"" | b"." => continue,
                b".." => drop(here.pop()),
                name => here.push(OsString::from_vec(name.to_vec())),
            }
            kind = look(&here)?;
            let Some(link) = kind.as_ref().filter(|kind| kind.is_symlink()) else { continue };
            if passed.len() == LINKS_MAX {
                return Ok(Self { end: End::Closed(LinkEnd::Circle), passed });
            }
            passed.push(Stamp::of(link));
            let text = text(&here)?;
            here.pop();
            push_front(&mut parts, &mut here, &text);
            kind = look(&here)?;
        }
        Ok(Self { end: End::of(here, kind.as_ref()), passed })
    }
}

impl End {
    fn of(place: PathBuf, kind: Option<&fs::Metadata>) -> Self {
        use std::os::unix::fs::FileTypeExt as _;
        let Some(kind) = kind.map(fs::Metadata::file_type) else {
            return Self::Closed(LinkEnd::Nothing);
        };
        if kind.is_dir() {
            Self::Folder(place)
        } else if kind.is_file() {
            Self::File(place)
        } else if kind.is_fifo() {
            Self::Closed(LinkEnd::Fifo)
        } else if kind.is_socket() {
            Self::Closed(LinkEnd::Socket)
        } else if kind.is_block_device() {
            Self::Closed(LinkEnd::BlockDevice)
        } else {
            Self::Closed(LinkEnd::CharacterDevice)
        }
    }
}

/// Puts the parts of a link's text before what is left of the path. An empty part, as at the end of `a/`, says that what is
/// before it has to be a folder.
fn push_front(parts: &mut VecDeque<Vec<u8>>, here: &mut PathBuf, text: &[u8]) {
    if text.starts_with(b"/") {
        *here = PathBuf::from("/");
    }
    for part in text.rsplit(|&byte| byte == b'/') {
        parts.push_front(part.to_vec());
    }
}

fn look(place: &Path) -> Result<Option<fs::Metadata>, SubjectError> {
    match fs::symlink_metadata(place) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if gone(&error) => Ok(None),
        Err(source) => Err(SubjectError::Read { path: place.into(), source }),
    }
}

/// The text of the link at `place`.
pub(super) fn text(place: &Path) -> Result<Vec<u8>, SubjectError> {
    let text = fs::read_link(place).map_err(|source| {
        // What is no link any more is an invalid argument.
        if gone(&source) || source.kind() == io::ErrorKind::InvalidInput {
            return SubjectError::Changed { path: place.into() };
        }
        SubjectError::Read { path: place.into(), source }
    })?;
    Ok(text.as_os_str().as_bytes().to_vec())
}

//! A path inside a subject: bytes as the file system has them, relative, with `/`. Knows nothing of the disk.

use core::fmt::{self, Write as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes in a path, counted from the root of the subject.
pub const PATH_BYTES_MAX: usize = 4096;

/// A relative path of bytes. Never absolute, never with an empty, `.` or `..` part, so it cannot leave its root.
///
/// Shown with everything escaped that is not plain text, so two different paths never look the same.
///
/// ```
/// use actum_store::subject::TreePath;
/// let path = TreePath::new(b"caf\xe9\n.txt").unwrap();
/// assert_eq!(path.to_string(), r"caf\xe9\n.txt");
/// assert!(TreePath::new(b"../outside").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Box<[u8]>);

impl TreePath {
    /// Takes the bytes of a path; `None` if it could leave its root, holds a NUL, or has more than [`PATH_BYTES_MAX`]
    /// bytes.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.contains(&0);
        let inside = bytes.len() <= PATH_BYTES_MAX && bytes.split(|&b| b == b'/').all(plain);
        inside.then(|| Self(bytes.into()))
    }

    /// The path of a text, which has none, and of the root itself.
    pub(crate) fn empty() -> Self {
        Self(Box::default())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// This path, seen from what has `prefix` in it; `None` if that is too long.
    pub(super) fn after(&self, prefix: &Self) -> Option<Self> {
        match (prefix.as_bytes(), self.as_bytes()) {
            (b"", _) => Some(self.clone()),
            (_, b"") => Some(prefix.clone()),
            (prefix, path) => Self::new(&[prefix, b"/", path].concat()),
        }
    }

    pub(super) fn below(&self, root: &Path) -> PathBuf {
        root.join(OsStr::from_bytes(&self.0))
    }

    /// The folders above, nearest to the root first, without the root.
    pub(super) fn folders(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        ends.filter_map(|(end, _)| self.0.get(..end))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the text");
        }
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '\'' | '"' => f.write_char(character)?,
                    _ => write!(f, "{}", character.escape_debug())?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

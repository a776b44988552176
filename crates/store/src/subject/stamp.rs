//! What the file system says about a file beside its content: enough to see that it was written or replaced meanwhile.
//! Never on disk and in no digest: stamps are compared within one run of a program, and only with each other.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

use super::path::TreePath;

/// A file or a link. Its change time moves with every write, rename, link and change of mode, and nobody can set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Stamp {
    pub(super) fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            changed_s: found.ctime(),
            changed_ns: found.ctime_nsec(),
        }
    }
}

/// A folder that was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderStamp {
    place: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FolderStamp {
    pub(super) fn of(found: &Metadata) -> Self {
        Self {
            place: (found.dev(), found.ino()),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Whether it is another folder, or was moved or given another mode. Both times move when an entry comes or goes, as
    /// a command may well cause, so that alone says nothing.
    fn touched(self, after: Self) -> bool {
        let renamed = self.modified == after.modified && self.changed != after.changed;
        self.place != after.place || renamed
    }
}

/// The stamps of everything in a subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Stamps {
    /// One list for each line of the manifest: of the file, of a link and all that was passed behind it.
    pub(super) lines: Vec<Box<[Stamp]>>,
    /// Sorted.
    pub(super) folders: Vec<(TreePath, FolderStamp)>,
    /// The links in the name of the subject itself.
    pub(super) name: Option<(TreePath, Vec<Stamp>)>,
}

impl Stamps {
    /// Folders, and the path in the name, that were touched. Lines are compared where their content is known.
    pub(super) fn touched_around(&self, after: &Self) -> Vec<TreePath> {
        let mut touched = Vec::new();
        let mut later = after.folders.iter().peekable();
        for (path, stamp) in &self.folders {
            while later.next_if(|(other, _)| other < path).is_some() {}
            if later.peek().is_some_and(|(p, after)| p == path && stamp.touched(*after)) {
                touched.push(path.clone());
            }
        }
        if let (Some((path, before)), Some((_, after))) = (&self.name, &after.name)
            && before != after
        {
            touched.push(path.clone());
        }
        touched
    }
}

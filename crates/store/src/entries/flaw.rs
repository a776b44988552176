//! What could not be read, where, and why. Texts are safe to show: what is quoted in them is escaped.

use core::fmt;

use super::name::shown;
use super::{
    ENTRIES_MAX, ENTRY_BYTES_MAX, FILE_BYTES_MAX, FILES_MAX, IMPORT_DEPTH_MAX, IMPORTS_MAX,
    INVENTORY_BYTES_MAX, LOOKED_MAX,
};

/// Something in a file, or a whole file, that is in no entry. An agent may read it nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The file, seen from the root; or the path as it was given, if it lies outside.
    pub file: String,
    /// The line, counted from 1; nothing if it is about the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: Wrong,
}

impl Flaw {
    pub(super) fn of_file(file: String, what: Wrong) -> Self {
        Self { file, line: None, what }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// What is wrong with a file or a place in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Nothing lies there.
    #[error("is not there")]
    Missing,
    /// The path leads out of the root.
    #[error("lies outside {}; name something inside it", shown(root))]
    Outside {
        /// The root.
        root: String,
    },
    /// A link, or behind one.
    #[error(
        "is reached by the link {} to {}, and no link is followed; name what it leads to",
        shown(link),
        shown(to)
    )]
    Link {
        /// The link, seen from the root.
        link: String,
        /// Its text.
        to: String,
    },
    /// A pipe, a socket or a device.
    #[error("is not a plain file")]
    NotPlain,
    /// A file where the path has a folder.
    #[error("a part of its path is not a folder")]
    NotAFolder,
    /// The system said no.
    #[error("cannot be read: {why}")]
    Unreadable {
        /// What it said.
        why: String,
    },
    /// No format reads a file of this name.
    #[error(
        "is of no known format; memory files are *.md, *.txt and *.jsonl, task files jobs.json and scheduled_tasks.json"
    )]
    Unknown,
    /// Over [`FILE_BYTES_MAX`].
    #[error("has more than {FILE_BYTES_MAX} bytes; nothing in it was read")]
    FileBytes,
    /// Over [`ENTRY_BYTES_MAX`].
    #[error("the entry that begins here has more than {ENTRY_BYTES_MAX} bytes; split it")]
    EntryBytes,
    /// Over [`ENTRIES_MAX`].
    #[error("more than {ENTRIES_MAX} entries; from here on nothing was read")]
    Entries,
    /// Over [`FILES_MAX`].
    #[error("more than {FILES_MAX} files; from this one on nothing was read")]
    Files,
    /// Over [`INVENTORY_BYTES_MAX`].
    #[error(
        "more than {INVENTORY_BYTES_MAX} bytes in all files; from this one on nothing was read"
    )]
    InventoryBytes,
    /// Over [`LOOKED_MAX`].
    #[error("more than {LOOKED_MAX} names below it; name the folders that hold memory")]
    Looked,
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8; the entry with these bytes was left out")]
    NotText,
    /// Front matter without an end.
    #[error("front matter begins here and does not end; a line `---` is missing")]
    FrontMatter,
    /// Not JSON.
    #[error("is not JSON from column {column} on")]
    NotJson {
        /// Where it stops being JSON, in bytes from 1.
        column: usize,
    },
    /// JSON that was cut.
    #[error("ends in the middle of its JSON")]
    Cut,
    /// JSON of another kind.
    #[error("is JSON, but no object")]
    NoObject,
    /// A key that stands twice in one object, so that two readers could read two things.
    #[error("has the key `{}` twice in one object", shown(key))]
    Doubled {
        /// The key.
        key: String,
    },
    /// No list of jobs.
    #[error(
        "holds no list of jobs: neither a list, nor an object with a list named `jobs`, `tasks` or `automations`"
    )]
    NoJobs,
    /// An import that leads out of the root.
    #[error("imports {}, which lies outside and was not read", shown(target))]
    ImportOutside {
        /// As it is written.
        target: String,
    },
    /// An import that was found and could not be read.
    #[error("imports {}, which was not read: it {what}", shown(target))]
    Import {
        /// As it is written.
        target: String,
        /// Why.
        what: Box<Self>,
    },
    /// An import behind too many others.
    #[error("imports {} behind {IMPORT_DEPTH_MAX} other imports; it was not read", shown(target))]
    ImportDepth {
        /// As it is written.
        target: String,
    },
    /// Over [`IMPORTS_MAX`].
    #[error("more than {IMPORTS_MAX} imports; those from here on were not read")]
    Imports,
}

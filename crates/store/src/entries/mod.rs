//! What an agent remembers and will do, read from the files of its host into entries. Believes nothing of it: whose an entry
//! is, the ledger says.
//!
//! Whatever a model would read is in an entry or named by a flaw; nothing is left out quietly, and one bad line takes no other
//! with it. `docs/formats/entries.md` says what is an entry and how it is named. A further format is a file of its own here and
//! a line in `FORMATS`.

mod compare;
mod flaw;
mod folder;
mod imports;
mod inventory;
mod jobs;
mod json;
mod jsonl;
mod lines;
mod markdown;
mod name;
mod prompt;

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use actum_core::{Digest, EntryKind};

pub use compare::{Compared, Known, State, compare};
pub use flaw::{Flaw, Wrong};
pub use inventory::{Inventory, ReadFile, inventory};
pub use name::{file_of, named_file, path_of};

use lines::Lines;
use name::Namer;

/// Bytes in one file.
pub const FILE_BYTES_MAX: u64 = 4 << 20;
/// Bytes in one entry.
pub const ENTRY_BYTES_MAX: usize = 64 << 10;
/// Entries and flaws in one file.
pub const ENTRIES_MAX: usize = 100_000;
/// Files in one inventory.
pub const FILES_MAX: usize = 10_000;
/// Bytes in all files of one inventory together.
pub const INVENTORY_BYTES_MAX: u64 = 256 << 20;
/// Names that are looked at in the folders of one inventory.
pub const LOOKED_MAX: usize = 1_000_000;
/// Imports behind one another, from a file that was asked for to the last one that is read.
pub const IMPORT_DEPTH_MAX: usize = 5;
/// Imports in one file.
pub const IMPORTS_MAX: usize = 1_000;

const CONTENT_DOMAIN: &str = "actum/content/v1";

/// One thing an agent remembers or will do, as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file, seen from the root, with `/`; what is not plain text in its path is escaped.
    pub file: String,
    /// Where it lies and which one it is there, in at most [`actum_core::ENTRY_NAME_MAX`] bytes; no two entries of a file
    /// share one.
    pub name: String,
    /// Its first line, counted from 1.
    pub line: usize,
    /// What it says: whole lines of the file, character for character. Of a job, the members that are not kept by the
    /// scheduler.
    pub text: String,
    /// Something remembered, or something that will be done.
    pub kind: EntryKind,
}

impl Entry {
    /// The digest of its text, as a record holds it.
    pub fn content(&self) -> Digest {
        Digest::of(CONTENT_DOMAIN, &[self.text.as_bytes()])
    }
}

/// Reads the bytes of one file whose path is `file`, seen from the root. Looks at no disk, so imports are not followed.
///
/// ```
/// let read = actum_store::entries::read("MEMORY.md", b"# Build\n- use nextest\n- ask first\n");
/// let said: Vec<_> = read.entries.iter().map(|entry| entry.text.as_str()).collect();
/// assert_eq!(said, ["# Build", "- use nextest", "- ask first"]);
/// assert!(read.entries[1].name.starts_with("MEMORY.md#Build:use nextest~"));
/// ```
pub fn read(file: &str, bytes: &[u8]) -> Inventory {
    let mut inventory = Inventory::default();
    let found = if bytes.len() as u64 > FILE_BYTES_MAX {
        Err(Wrong::FileBytes)
    } else {
        format_of(Path::new(file)).ok_or(Wrong::Unknown)
    };
    match found {
        Ok(format) => read_as(format, file, &Text::of(bytes), &mut inventory),
        Err(what) => inventory.flaws.push(Flaw::of_file(file.to_owned(), what)),
    }
    inventory
}

/// A way in which entries stand in a file.
trait Format: Sync {
    /// What it is called in a report.
    fn name(&self) -> &'static str;
    /// Whether the file at this path is one.
    fn reads(&self, file: &Path) -> bool;
    /// What its entries are.
    fn kind(&self) -> EntryKind;
    /// Takes the text apart.
    fn parts(&self, text: &str, parts: &mut Parts);
}

/// The first that reads a file has it.
const FORMATS: &[&dyn Format] =
    &[&prompt::Prompt, &jobs::Jobs, &jsonl::JsonLines, &markdown::Markdown];

fn format_of(file: &Path) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.reads(file))
}

/// An entry, before it has its name.
#[derive(Debug)]
struct Part {
    /// Where it stands.
    range: Range<usize>,
    /// The headings it stands under, as they are written in a name.
    headings: Rc<str>,
    key: Key,
    /// What it says, where that is not simply what stands there.
    text: Option<String>,
}

/// What tells an entry from the others under the same headings.
#[derive(Debug)]
enum Key {
    /// Its own id, which stays when the rest is edited.
    Id(String),
    /// Its first words and its content.
    Words,
    /// Its content.
    Content,
}

/// What a format found, up to the limit.
#[derive(Debug, Default)]
struct Parts {
    found: Vec<Result<Part, (usize, Wrong)>>,
    /// Where the first one stands that is over the limit.
    over: Option<usize>,
}

impl Parts {
    fn part(&mut self, part: Part) {
        self.push(part.range.start, Ok(part));
    }

    fn flaw(&mut self, at: usize, what: Wrong) {
        self.push(at, Err((at, what)));
    }

    fn push(&mut self, at: usize, found: Result<Part, (usize, Wrong)>) {
        if self.found.len() < ENTRIES_MAX {
            self.found.push(found);
        } else {
            self.over.get_or_insert(at);
        }
    }

    fn is_full(&self) -> bool {
        self.over.is_some()
    }
}

/// The text of a file, and where its bytes were none.
struct Text {
    /// With a replacement character for every byte that is not text.
    text: String,
    /// Where those stand, rising.
    replaced: Vec<usize>,
}

impl Text {
    fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let (mut text, mut replaced) = (String::with_capacity(bytes.len()), Vec::new());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                replaced.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Self { text, replaced }
    }

    fn first_replaced(&self, range: &Range<usize>) -> Option<usize> {
        let from = self.replaced.partition_point(|at| *at < range.start);
        self.replaced.get(from).copied().filter(|at| *at < range.end)
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn read_as(format: &dyn Format, file: &str, text: &Text, inventory: &mut Inventory) {
    let lines = Lines::of(&text.text);
    let mut parts = Parts::default();
    format.parts(&text.text, &mut parts);
    let mut namer = Namer::new(file);
    let mut flaw = |at, what| {
        inventory.flaws.push(Flaw { file: file.to_owned(), line: Some(lines.number(at)), what });
    };
    let mut outside = text.replaced.iter().copied().peekable();
    for found in parts.found {
        let part = match found {
            Ok(part) => part,
            Err((at, what)) => {
                flaw(at, what);
                continue;
            }
        };
        if let Some(at) = outside.next_if(|at| *at < part.range.start) {
            flaw(at, Wrong::NotText);
        }
        while outside.next_if(|at| *at < part.range.end).is_some() {}
        let said = text.text.get(part.range.clone()).unwrap_or_default();
        if let Some(at) = text.first_replaced(&part.range) {
            flaw(at, Wrong::NotText);
        } else if said.len().max(part.text.as_ref().map_or(0, String::len)) > ENTRY_BYTES_MAX {
            flaw(part.range.start, Wrong::EntryBytes);
        } else {
            let text = part.text.unwrap_or_else(|| said.to_owned());
            let content = Digest::of(CONTENT_DOMAIN, &[text.as_bytes()]);
            inventory.entries.push(Entry {
                file: file.to_owned(),
                name: namer.name(&part.headings, &part.key, &text, &content),
                line: lines.number(part.range.start),
                text,
                kind: format.kind(),
            });
        }
    }
    if let Some(at) = outside.next().filter(|_| parts.over.is_none()) {
        flaw(at, Wrong::NotText);
    }
    if let Some(at) = parts.over {
        flaw(at, Wrong::Entries);
    }
    inventory.files.push(ReadFile { file: file.to_owned(), format: format.name() });
}

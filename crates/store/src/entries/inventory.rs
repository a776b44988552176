//! Reads many files below one root: those that are named, those in the folders that are named, and what they import.

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::folder::{Found, Root};
use super::imports::{Import, are_followed_in, imports, readings};
use super::lines::Lines;
use super::name::shown;
use super::{
    Entry, FILE_BYTES_MAX, FILES_MAX, Flaw, Format, IMPORT_DEPTH_MAX, IMPORTS_MAX,
    INVENTORY_BYTES_MAX, Text, Wrong, format_of, markdown, read_as,
};
use crate::StoreError;
use crate::subject::TreePath;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The files that were read, in the order in which they were.
    pub files: Vec<ReadFile>,
    /// Their entries, in their order.
    pub entries: Vec<Entry>,
    /// What could not be read, in files and of files.
    pub flaws: Vec<Flaw>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Seen from the root, with `/`.
    pub file: String,
    /// As what it was read.
    pub format: &'static str,
}

/// Reads the files and folders at `paths`, which lie in the folder `root`; one that is not absolute is seen from there. Imports
/// of instruction files are followed, each file is read once, and no link is followed below the root.
///
/// A folder gives every file in it, however deep, that a format reads; `.git` and `node_modules` are left out.
///
/// # Errors
/// The root cannot be opened. All else is a flaw, and the rest is read.
///
/// ```
/// let home = tempfile::tempdir()?;
/// std::fs::write(home.path().join("CLAUDE.md"), "- see @notes.md\n")?;
/// std::fs::write(home.path().join("notes.md"), "- ask first\n")?;
/// let found = actum_store::entries::inventory(home.path(), &["CLAUDE.md".into()])?;
/// assert_eq!(found.entries[1].text, "- ask first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn inventory(root: &Path, paths: &[PathBuf]) -> Result<Inventory, StoreError> {
    let mut reader = Reader {
        root: Root::open(root)?,
        given: root.to_path_buf(),
        known: BTreeSet::new(),
        followed: BTreeSet::new(),
        waiting: VecDeque::new(),
        bytes: 0,
        inventory: Inventory::default(),
    };
    for path in paths {
        reader.ask(path);
    }
    while let Some(next) = reader.waiting.pop_front() {
        if let Err(what) = reader.read(&next) {
            let is_last = matches!(what, Wrong::Files | Wrong::InventoryBytes);
            reader.flaw(next, what);
            if is_last {
                break;
            }
        }
    }
    Ok(reader.inventory)
}

struct Reader {
    root: Root,
    /// The root as it was given.
    given: PathBuf,
    /// What waits or was read.
    known: BTreeSet<TreePath>,
    /// Those of them whose imports are followed.
    followed: BTreeSet<TreePath>,
    waiting: VecDeque<Waiting>,
    /// Read so far.
    bytes: u64,
    inventory: Inventory,
}

/// A file to be read.
struct Waiting {
    path: TreePath,
    /// How many imports led here.
    depth: usize,
    todo: Todo,
    /// Where it was imported, by file and line, and as what.
    by: Option<ImportedBy>,
}

type ImportedBy = (String, usize, String);

/// What is to be done with a file that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Todo {
    Read,
    /// It is read, but not as an instruction file: it was imported later.
    Follow,
    Both,
}

impl Reader {
    /// Takes a path that somebody named.
    fn ask(&mut self, path: &Path) {
        let named = shown(&path.to_string_lossy());
        let found = match self.inside(path, None) {
            Some(path) => self.root.find(&path).map(|found| (path, found)),
            None => Err(Wrong::Outside { root: self.given.to_string_lossy().into_owned() }),
        };
        match found {
            Ok((path, Found::Folder)) => {
                let listed = self.root.list(&path, |path| self.format(path).is_some());
                for (path, what) in listed.flaws {
                    self.inventory.flaws.push(Flaw::of_file(said(&path), what));
                }
                for path in listed.files {
                    self.wait(path, 0, None);
                }
            }
            Ok((path, Found::File(_))) if self.format(&path).is_some() => {
                self.wait(path, 0, None);
            }
            Ok((_, Found::File(_))) => {
                self.inventory.flaws.push(Flaw::of_file(named, Wrong::Unknown));
            }
            Err(what) => self.inventory.flaws.push(Flaw::of_file(named, what)),
        }
    }

    fn format(&self, path: &TreePath) -> Option<&'static dyn Format> {
        format_of(&self.root.real().join(as_os(path)))
    }

    fn wait(&mut self, path: TreePath, depth: usize, by: Option<ImportedBy>) {
        let os = as_os(&path);
        let name = Path::new(&os).file_name().and_then(|name| name.to_str());
        let is_followed = by.is_some() || name.is_some_and(are_followed_in);
        let is_new = self.known.insert(path.clone());
        let todo = match (is_new, is_followed && self.followed.insert(path.clone())) {
            (true, true) => Todo::Both,
            (true, false) => Todo::Read,
            (false, true) => Todo::Follow,
            (false, false) => return,
        };
        self.waiting.push_back(Waiting { path, depth, todo, by });
    }

    fn read(&mut self, next: &Waiting) -> Result<(), Wrong> {
        if next.todo != Todo::Follow && self.inventory.files.len() == FILES_MAX {
            return Err(Wrong::Files);
        }
        let Found::File(file) = self.root.find(&next.path)? else { return Err(Wrong::NotPlain) };
        let bytes = file.read(FILE_BYTES_MAX)?;
        self.bytes += bytes.len() as u64;
        if self.bytes > INVENTORY_BYTES_MAX {
            return Err(Wrong::InventoryBytes);
        }
        let (file, text) = (said(&next.path), Text::of(&bytes));
        // What is imported is put before the model as text, whatever it is called.
        let format: &dyn Format = self.format(&next.path).unwrap_or(&markdown::Markdown);
        if next.todo != Todo::Follow {
            read_as(format, &file, &text, &mut self.inventory);
        }
        if next.todo != Todo::Read {
            self.follow(next, &file, &text.text);
        }
        Ok(())
    }

    fn follow(&mut self, from: &Waiting, file: &str, text: &str) {
        let lines = Lines::of(text);
        for (count, import) in imports(text).into_iter().enumerate() {
            let line = lines.number(import.at);
            let what = if count == IMPORTS_MAX {
                Err(Wrong::Imports)
            } else {
                self.import(from, file, line, &import)
            };
            if let Err(what) = what {
                let (file, line) = (file.to_owned(), Some(line));
                self.inventory.flaws.push(Flaw { file, line, what });
            }
            if count == IMPORTS_MAX {
                return;
            }
        }
    }

    /// Takes one import. What is not there was not meant as one.
    fn import(
        &mut self,
        from: &Waiting,
        file: &str,
        line: usize,
        import: &Import,
    ) -> Result<(), Wrong> {
        let target = || import.target.clone();
        for reading in readings(&import.target) {
            let path = if reading.starts_with("~/") {
                None
            } else {
                self.inside(Path::new(reading), Some(&from.path))
            };
            let Some(path) = path else { return Err(Wrong::ImportOutside { target: target() }) };
            match self.root.find(&path) {
                Ok(Found::Folder) | Err(Wrong::Missing | Wrong::NotAFolder) => {}
                Ok(Found::File(_)) if self.followed.contains(&path) => return Ok(()),
                Ok(Found::File(_)) if from.depth == IMPORT_DEPTH_MAX => {
                    return Err(Wrong::ImportDepth { target: target() });
                }
                Ok(Found::File(_)) => {
                    let by = Some((file.to_owned(), line, target()));
                    self.wait(path, from.depth + 1, by);
                    return Ok(());
                }
                Err(what) => {
                    return Err(Wrong::Import { target: target(), what: Box::new(what) });
                }
            }
        }
        Ok(())
    }

    /// The path seen from the root, if it lies inside by its letters: no link is followed, so there is no other way out. What is
    /// not absolute is seen from the folder of `from`, or else from the root.
    fn inside(&self, path: &Path, from: Option<&TreePath>) -> Option<TreePath> {
        let roots = [self.given.as_path(), self.root.real()];
        let relative = if path.is_absolute() {
            roots.iter().find_map(|root| path.strip_prefix(root).ok())?.to_path_buf()
        } else {
            let folder = from.map(|from| PathBuf::from(as_os(from)));
            folder
                .and_then(|path| path.parent().map(Path::to_path_buf))
                .unwrap_or_default()
                .join(path)
        };
        let mut parts: Vec<&[u8]> = Vec::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => parts.push(name.as_bytes()),
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()?),
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        if parts.is_empty() { Some(TreePath::empty()) } else { TreePath::new(&parts.join(&b'/')) }
    }

    fn flaw(&mut self, of: Waiting, what: Wrong) {
        let flaw = match of.by {
            Some((file, line, target)) => Flaw {
                file,
                line: Some(line),
                what: Wrong::Import { target, what: Box::new(what) },
            },
            None => Flaw::of_file(said(&of.path), what),
        };
        self.inventory.flaws.push(flaw);
    }
}

/// A path for a person; the root is `.`.
fn said(path: &TreePath) -> String {
    if path.as_bytes().is_empty() { ".".to_owned() } else { path.to_string() }
}

fn as_os(path: &TreePath) -> std::ffi::OsString {
    std::ffi::OsStr::from_bytes(path.as_bytes()).to_owned()
}

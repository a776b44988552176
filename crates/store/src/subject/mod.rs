//! What a step is performed on, digested from disk as it lies there: a work tree, a file, a folder or a text.
//!
//! Every byte that counts is read each time; nothing is remembered between two calls, because size and times of a file can
//! be set by anyone (`docs/decisions/0001-no-subject-cache.md`). Programs that a repository names are never run.
//! `docs/formats/subject.md` says what is counted and what is left out.

mod change;
mod git;
mod ignored;
mod manifest;
mod path;
mod read;
mod walk;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use actum_core::{Digest, SubjectKind, SubjectName};

pub use change::Change;
pub use manifest::{
    FILES_MAX, Found, GitId, Head, Line, MANIFEST_BYTES_MAX, Manifest, ManifestError,
};
pub use path::{PATH_BYTES_MAX, TreePath};

use git::{Repository, Tracked};
use read::{Seen, digest_all, digest_one};
use walk::{Rules, Walk};

/// Bytes in one file.
pub const FILE_BYTES_MAX: u64 = 64 << 30;

/// A subject as it was found, with the digest that the ledger binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The digest of the manifest.
    pub digest: Digest,
    /// What the digest is made of.
    pub manifest: Manifest,
}

/// Why a subject has no digest. Nothing is ever skipped instead.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// The folder of the project cannot be reached.
    #[error("the project folder {} cannot be reached", path.display())]
    Project {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store would leave out everything.
    #[error("the store {} holds the project {}; it must lie inside it or elsewhere", store.display(), root.display())]
    StoreAround {
        /// The store.
        store: PathBuf,
        /// What it holds.
        root: PathBuf,
    },
    /// Nothing lies there.
    #[error("{name} does not exist in {}", project.display())]
    Missing {
        /// The subject.
        name: SubjectName,
        /// The project.
        project: PathBuf,
    },
    /// Something else lies there.
    #[error("{name} is not {expected}")]
    Unfit {
        /// The subject.
        name: SubjectName,
        /// What it would have to be.
        expected: &'static str,
    },
    /// A link leads out of the project.
    #[error("{name} leads to {}, which is outside the project; name something inside it", target.display())]
    Outside {
        /// The subject.
        name: SubjectName,
        /// Where its path ends.
        target: PathBuf,
    },
    /// It lies in the store, which is left out of every subject.
    #[error("{name} lies in the store {}, which no step is performed on", store.display())]
    InStore {
        /// The subject.
        name: SubjectName,
        /// The store.
        store: PathBuf,
    },
    /// No repository around the project.
    #[error("{} is in no git repository; run `git init`, or use file:PATH or dir:PATH as the subject", project.display())]
    NoRepository {
        /// The project.
        project: PathBuf,
    },
    /// A repository without a work tree.
    #[error("{} is a bare repository, without files to digest; run this in a clone or in `git worktree add`", path.display())]
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// A repository that this version cannot read completely.
    #[error("{} {what}", path.display())]
    Unsupported {
        /// The file or folder.
        path: PathBuf,
        /// What it is or has, and what to do.
        what: &'static str,
    },
    /// A part of the repository cannot be read or is not what its id says.
    #[error("{what} cannot be read in the repository {}; `git fsck` says more", root.display())]
    Git {
        /// Which part.
        what: &'static str,
        /// The work tree.
        root: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// HEAD needs an object that is not there, or one of another kind.
    #[error("the object {id} is not in the repository {}; `git fsck` says more", root.display())]
    Object {
        /// Its id.
        id: GitId,
        /// The work tree.
        root: PathBuf,
    },
    /// The index or HEAD's tree names a path outside the work tree, or one in `.git`.
    #[error("git tracks `{path}` in {}, which is not a path inside the work tree", root.display())]
    TrackedPath {
        /// The path, escaped.
        path: String,
        /// The work tree.
        root: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something changed while it was read, and again when everything was read a second time.
    #[error("{} changes while it is read; wait until nothing writes to it", path.display())]
    Changed {
        /// What was seen to change.
        path: PathBuf,
    },
    /// Over a limit.
    #[error("{}: more than {limit} {what}", path.display())]
    Limit {
        /// What was counted.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// How many there may be.
        limit: u64,
    },
    /// What was found cannot be written down.
    #[error("what was found makes no manifest")]
    Manifest(#[from] ManifestError),
}

/// Digests the subject `name` of the project in the folder `project`, leaving out the store in `store_dir`.
///
/// A subject that changes while it is read is read again from the start, once; then it is an error.
///
/// # Errors
/// Whatever keeps a part of the subject from being read, naming it; a limit; no such subject.
///
/// ```
/// use actum_core::SubjectName;
/// use actum_store::subject::take;
/// let project = tempfile::tempdir()?;
/// std::fs::write(project.path().join("a.txt"), "one")?;
/// let name = SubjectName::parse("file:a.txt")?;
/// let before = take(project.path(), &project.path().join(".actum"), &name)?;
/// std::fs::write(project.path().join("a.txt"), "two")?;
/// let after = take(project.path(), &project.path().join(".actum"), &name)?;
/// assert_ne!(before.digest, after.digest);
/// assert_eq!(before.manifest.changes(&after.manifest)[0].to_string(), "a.txt changed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn take(project: &Path, store_dir: &Path, name: &SubjectName) -> Result<Taken, SubjectError> {
    let place = Place::find(project, store_dir)?;
    let manifest = match place.manifest(name) {
        Err(SubjectError::Changed { .. }) => place.manifest(name),
        first => first,
    }?;
    Ok(Taken { digest: manifest.digest(), manifest })
}

/// The project and its store, both canonical.
struct Place {
    project: PathBuf,
    store: PathBuf,
}

impl Place {
    fn find(project: &Path, store_dir: &Path) -> Result<Self, SubjectError> {
        let failed = |path: &Path, source| SubjectError::Project { path: path.into(), source };
        let canonical = project.canonicalize().map_err(|source| failed(project, source))?;
        let store = match store_dir.canonicalize() {
            Ok(store) => store,
            // A store that does not exist yet holds nothing that could be left out.
            Err(error) if error.kind() == io::ErrorKind::NotFound => store_dir.into(),
            Err(source) => return Err(failed(store_dir, source)),
        };
        Ok(Self { project: canonical, store })
    }

    fn manifest(&self, name: &SubjectName) -> Result<Manifest, SubjectError> {
        let (head, lines) = match name.kind() {
            SubjectKind::Git => self.work_tree()?,
            SubjectKind::File => (None, vec![self.file(name)?]),
            SubjectKind::Dir => (None, self.folder(name)?),
            SubjectKind::Text => {
                let found = Found::Text(Digest::plain(name.rest().as_bytes()));
                (None, vec![Line { path: TreePath::of_text(), found }])
            }
        };
        Ok(Manifest::new(name.kind(), head, lines)?)
    }

    fn work_tree(&self) -> Result<(Option<Head>, Vec<Line>), SubjectError> {
        let repository = Repository::around(&self.project)?;
        let walk = self.walk(&repository.root, Rules::Gitignore)?;
        let head = repository.head()?;
        let tracked = repository.tracked(head)?;
        let mut list = walk.all()?;
        add_tracked(&walk, tracked, &mut list)?;
        let lines = digest_list(&repository.root, list)?;
        if repository.head()? != head {
            return Err(SubjectError::Changed { path: repository.root.join(".git") });
        }
        Ok((head, lines))
    }

    fn file(&self, name: &SubjectName) -> Result<Line, SubjectError> {
        let target = self.inside(name)?;
        let is_file = target.symlink_metadata().is_ok_and(|found| found.is_file());
        let (Some(path), true) = (TreePath::new(name.rest().as_bytes()), is_file) else {
            return Err(SubjectError::Unfit { name: name.clone(), expected: "a regular file" });
        };
        Ok(Line { path, found: digest_one(&target)? })
    }

    fn folder(&self, name: &SubjectName) -> Result<Vec<Line>, SubjectError> {
        let root = self.inside(name)?;
        if !root.is_dir() {
            return Err(SubjectError::Unfit { name: name.clone(), expected: "a folder" });
        }
        digest_list(&root, self.walk(&root, Rules::None)?.all()?)
    }

    /// Where the path of a `file` or `dir` subject ends, with all links followed.
    fn inside(&self, name: &SubjectName) -> Result<PathBuf, SubjectError> {
        let path = self.project.join(name.rest());
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if gone(&error) => {
                let (name, project) = (name.clone(), self.project.clone());
                return Err(SubjectError::Missing { name, project });
            }
            Err(source) => return Err(SubjectError::Read { path, source }),
        };
        if !target.starts_with(&self.project) {
            return Err(SubjectError::Outside { name: name.clone(), target });
        }
        if target.starts_with(&self.store) {
            return Err(SubjectError::InStore { name: name.clone(), store: self.store.clone() });
        }
        Ok(target)
    }

    fn walk<'a>(&'a self, root: &'a Path, rules: Rules) -> Result<Walk<'a>, SubjectError> {
        if root.starts_with(&self.store) {
            return Err(SubjectError::StoreAround { store: self.store.clone(), root: root.into() });
        }
        Ok(Walk { root, store: &self.store, rules })
    }
}

/// Adds what git knows and an ignore rule hides. A tracked path where nothing lies is not listed: commit and tree already
/// say what should be there, and what is on disk does not depend on the index.
fn add_tracked(
    walk: &Walk<'_>,
    tracked: Tracked,
    list: &mut Vec<(TreePath, Seen)>,
) -> Result<(), SubjectError> {
    let by_path = |one: &(TreePath, Seen), other: &(TreePath, Seen)| one.0.cmp(&other.0);
    list.sort_unstable_by(by_path);
    let walked = list.len();
    let is_walked = |list: &[(TreePath, Seen)], path: &TreePath| {
        list.get(..walked).is_some_and(|list| list.binary_search_by(|(p, _)| p.cmp(path)).is_ok())
    };
    for path in tracked.files {
        if is_walked(list, &path) || path.below(walk.root).starts_with(walk.store) {
            continue;
        }
        if let Some(seen) = walk.look(&path)?.and_then(Seen::of) {
            list.push((path, seen));
        }
    }
    for path in tracked.submodules {
        match walk.look(&path)? {
            Some(kind) if kind.is_dir() => list.append(&mut walk.forced(&path)?),
            Some(kind) => list.extend(Seen::of(kind).map(|seen| (path, seen))),
            None => {}
        }
    }
    list.sort_unstable_by(by_path);
    list.dedup_by(|one, other| one.0 == other.0);
    Ok(())
}

/// Digests a list of paths, which is sorted first.
fn digest_list(root: &Path, mut list: Vec<(TreePath, Seen)>) -> Result<Vec<Line>, SubjectError> {
    list.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    digest_all(root, &list)
}

fn gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What was listed a moment ago and is no more has changed; any other failure is told as it is.
fn gone_or(path: &Path, source: io::Error) -> SubjectError {
    if gone(&source) {
        return SubjectError::Changed { path: path.into() };
    }
    SubjectError::Read { path: path.into(), source }
}

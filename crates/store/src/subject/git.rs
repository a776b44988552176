//! Reads HEAD, its tree and the index of a repository: which commit, and which paths git knows. Never what a file holds.
//!
//! Only the files of the repository are read, by the parts of `gix` that read one thing each: git's configuration is never
//! opened and no environment variable is asked, so nothing there can redirect a path or name a program to run.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::hash::{Kind, ObjectId};
use gix::index::entry::Mode;
use gix::objs::{CommitRefIter, Find as _, TreeRefIter};
use gix::refs::{Target, file};

use super::SubjectError;
use super::manifest::{FILES_MAX, GitId, Head};
use super::path::TreePath;
use super::read::read_small;

/// Bytes of the small files that point from a work tree to its repository.
const POINTER_BYTES_MAX: u64 = 8192;
/// Symbolic references that are followed from HEAD, as in git.
const SYMBOLIC_MAX: usize = 5;

/// Where the parts of a repository lie.
#[derive(Debug)]
pub(super) struct Repository {
    /// The folder that holds `.git`: the whole work tree, whatever `core.worktree` says.
    pub(super) root: PathBuf,
    git_dir: PathBuf,
    /// Where objects and shared references lie; differs from `git_dir` in a linked work tree.
    common_dir: PathBuf,
}

/// The paths that git knows, unsorted, some more than once.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    pub(super) files: Vec<TreePath>,
    pub(super) submodules: Vec<TreePath>,
}

impl Repository {
    /// The nearest repository around `project`, a canonical path.
    ///
    /// # Errors
    /// None there, one without a work tree, or one whose references are kept in a way that is not known here.
    pub(super) fn around(project: &Path) -> Result<Self, SubjectError> {
        for root in project.ancestors() {
            let dot_git = root.join(".git");
            let git_dir = match fs::metadata(&dot_git) {
                Ok(found) if found.is_file() => pointed_to(&dot_git)?,
                Ok(found) if found.is_dir() && dot_git.join("HEAD").exists() => dot_git,
                Ok(_) | Err(_) if is_bare(root) => {
                    return Err(SubjectError::Bare { path: root.into() });
                }
                Ok(_) | Err(_) => continue,
            };
            return Self::open(root, git_dir);
        }
        Err(SubjectError::NoRepository { project: project.into() })
    }

    fn open(root: &Path, git_dir: PathBuf) -> Result<Self, SubjectError> {
        let pointing = git_dir.join("commondir");
        let common_dir = if pointing.exists() {
            git_dir.join(path_in(&pointer(&pointing)?))
        } else {
            git_dir.clone()
        };
        if common_dir.join("reftable").exists() {
            return Err(SubjectError::Unsupported {
                path: root.into(),
                what: "keeps its references as a reftable; only plain references are read",
            });
        }
        for file in [git_dir.join("HEAD"), git_dir.join("index"), common_dir.join("packed-refs")] {
            // A pipe there would hold up whoever opens it.
            if fs::metadata(&file).is_ok_and(|found| !found.is_file()) {
                return Err(SubjectError::Unsupported {
                    path: file,
                    what: "is part of a repository and no regular file",
                });
            }
        }
        Ok(Self { root: root.into(), git_dir, common_dir })
    }

    /// Commit and tree of HEAD; `None` before the first commit.
    pub(super) fn head(&self) -> Result<Option<Head>, SubjectError> {
        let Some(commit) = self.head_commit()? else { return Ok(None) };
        let mut buffer = Vec::new();
        let data = self.object(&self.objects()?, &commit, gix::objs::Kind::Commit, &mut buffer)?;
        let tree = CommitRefIter::from_bytes(data, Kind::Sha1).tree_id();
        let tree = tree.map_err(|error| self.damaged("the commit of HEAD", error))?;
        Ok(Some(Head { commit: git_id(&commit), tree: git_id(&tree) }))
    }

    /// The paths of the index and of the tree of `head`. No flag of an index entry plays a part.
    pub(super) fn tracked(&self, head: Option<Head>) -> Result<Tracked, SubjectError> {
        let mut tracked = Tracked::default();
        self.add_index(&mut tracked)?;
        if let Some(head) = head {
            self.add_tree(head, &mut tracked)?;
        }
        Ok(tracked)
    }

    fn head_commit(&self) -> Result<Option<ObjectId>, SubjectError> {
        let store = if self.common_dir == self.git_dir {
            file::Store::at(self.git_dir.clone(), Kind::Sha1)
        } else {
            let (own, shared) = (self.git_dir.clone(), self.common_dir.clone());
            file::Store::for_linked_worktree(own, shared, Kind::Sha1)
        };
        let mut name = gix::refs::FullName::try_from("HEAD")
            .map_err(|error| self.damaged("the name of HEAD", error))?;
        for _ in 0..=SYMBOLIC_MAX {
            let found = store.try_find(name.as_ref());
            let found = found.map_err(|error| self.damaged("the reference of HEAD", error))?;
            // A lookup by name also tries longer names; only the very name counts.
            let Some(reference) = found.filter(|reference| reference.name == name) else {
                return Ok(None);
            };
            match reference.target {
                Target::Object(id) => return Ok(Some(id)),
                Target::Symbolic(next) => name = next,
            }
        }
        Err(SubjectError::Unsupported {
            path: self.root.clone(),
            what: "has a HEAD that goes in circles",
        })
    }

    fn add_index(&self, tracked: &mut Tracked) -> Result<(), SubjectError> {
        let options = gix::index::decode::Options { thread_limit: Some(1), ..Default::default() };
        let index =
            gix::index::File::at_or_default(self.git_dir.join("index"), Kind::Sha1, false, options);
        let index = index.map_err(|error| self.damaged("the index", error))?;
        if index.is_sparse() {
            return Err(SubjectError::Unsupported {
                path: self.root.clone(),
                what: "has a sparse index, which leaves out paths; \
                       run `git sparse-checkout reapply --no-sparse-index`",
            });
        }
        for entry in index.entries() {
            self.add(entry.path(&index), entry.mode == Mode::COMMIT, tracked)?;
        }
        Ok(())
    }

    fn add_tree(&self, head: Head, tracked: &mut Tracked) -> Result<(), SubjectError> {
        let mut trees = vec![(Vec::new(), ObjectId::Sha1(head.tree.0))];
        let mut tree_count = 0;
        let objects = self.objects()?;
        let mut buffer = Vec::new();
        while let Some((folder, id)) = trees.pop() {
            tree_count += 1;
            // Equal folders share one tree, so a small repository can name endless paths.
            if tree_count > FILES_MAX {
                return Err(self.too_many());
            }
            let data = self.object(&objects, &id, gix::objs::Kind::Tree, &mut buffer)?;
            for entry in TreeRefIter::from_bytes(data, Kind::Sha1) {
                let entry = entry.map_err(|error| self.damaged("the tree of HEAD", error))?;
                let mut path = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(entry.filename);
                if entry.mode.is_tree() {
                    self.checked(&path)?;
                    trees.push((path, entry.oid.to_owned()));
                } else {
                    self.add(&path, entry.mode.is_commit(), tracked)?;
                }
            }
        }
        Ok(())
    }

    fn add(
        &self,
        path: &[u8],
        is_submodule: bool,
        tracked: &mut Tracked,
    ) -> Result<(), SubjectError> {
        let path = self.checked(path)?;
        let list = if is_submodule { &mut tracked.submodules } else { &mut tracked.files };
        list.push(path);
        // The index and HEAD usually name every path twice.
        if list.len() > 2 * FILES_MAX {
            return Err(self.too_many());
        }
        Ok(())
    }

    /// A path of the index or a tree is anybody's bytes until it was looked at.
    fn checked(&self, path: &[u8]) -> Result<TreePath, SubjectError> {
        let plain = |path: &TreePath| path.as_bytes().split(|&b| b == b'/').all(|p| p != b".git");
        TreePath::new(path).filter(plain).ok_or_else(|| SubjectError::TrackedPath {
            root: self.root.clone(),
            path: path.escape_ascii().take(256).map(char::from).collect(),
        })
    }

    /// Objects as they are: replacements (`refs/replace`) are not honoured.
    fn objects(&self) -> Result<gix::odb::Handle, SubjectError> {
        let objects = gix::odb::at(self.common_dir.join("objects"), Kind::Sha1);
        objects.map_err(|error| self.damaged("the object database", error))
    }

    /// Reads an object and checks that it is the one its id names.
    fn object<'b>(
        &self,
        objects: &gix::odb::Handle,
        id: &ObjectId,
        kind: gix::objs::Kind,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], SubjectError> {
        let found = objects.try_find(id, buffer);
        let found = found.map_err(|error| self.damaged("an object of HEAD", error))?;
        let Some(data) = found.filter(|data| data.kind == kind) else {
            return Err(SubjectError::Object { root: self.root.clone(), id: git_id(id) });
        };
        data.verify_checksum(id).map_err(|error| self.damaged("an object of HEAD", error))?;
        Ok(data.data)
    }

    fn damaged(
        &self,
        what: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> SubjectError {
        SubjectError::Git { what, root: self.root.clone(), source: source.into() }
    }

    fn too_many(&self) -> SubjectError {
        SubjectError::Limit {
            what: "files or folders in one subject",
            path: self.root.clone(),
            limit: FILES_MAX as u64,
        }
    }
}

/// The repository that a `.git` file names, as in linked work trees and submodules.
fn pointed_to(dot_git: &Path) -> Result<PathBuf, SubjectError> {
    let text = pointer(dot_git)?;
    let Some(target) = text.strip_prefix(b"gitdir: ") else {
        return Err(SubjectError::Unsupported {
            path: dot_git.into(),
            what: "is a file that does not begin with `gitdir: `",
        });
    };
    let root = dot_git.parent().unwrap_or(dot_git);
    let git_dir = root.join(path_in(target));
    if !git_dir.join("HEAD").exists() {
        return Err(SubjectError::Unsupported {
            path: dot_git.into(),
            what: "names a repository that is not there; run `git worktree repair`",
        });
    }
    Ok(git_dir)
}

fn pointer(path: &Path) -> Result<Vec<u8>, SubjectError> {
    let text = read_small(path, POINTER_BYTES_MAX, "bytes in a file that names a repository")?;
    text.ok_or_else(|| SubjectError::Changed { path: path.into() })
}

fn path_in(text: &[u8]) -> PathBuf {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    PathBuf::from(OsStr::from_bytes(text.strip_suffix(b"\r").unwrap_or(text)))
}

fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].into_iter().all(|part| folder.join(part).exists())
}

fn git_id(id: &gix::hash::oid) -> GitId {
    let bytes = id.as_bytes().try_into();
    assert!(bytes.is_ok(), "only SHA-1 repositories are opened");
    GitId(bytes.unwrap_or_default())
}

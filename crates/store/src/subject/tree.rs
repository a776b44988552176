//! Digests a tree, and the trees outside of it that its links lead into. Decides which of them count, and where.
//!
//! INVARIANT(listed-once): each folder is entered at most once, so links that lead in circles end. Where a folder is met again,
//! the line says at which path its files are listed, so that nothing it could be exchanged for goes unseen.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use actum_core::Digest;

use super::SubjectError;
use super::link::{self, End, Way};
use super::manifest::{FILES_MAX, Found};
use super::path::{PATH_BYTES_MAX, TreePath};
use super::read::{Stamped, Task, digest_all, follow};
use super::stamp::Stamps;
use super::walk::{Listed, Listing, Rules, Seen, StorePlace, Walk, too_many};

/// Files below one folder. `at` is empty for the subject itself, and the path of a link for what it leads to.
struct Tree {
    root: PathBuf,
    at: TreePath,
    listing: Listing,
}

/// Digests everything in the listing of `root` and behind its links; the lines come sorted by their path.
pub(super) fn digest_tree(
    root: &Path,
    store: &StorePlace,
    listing: Listing,
    stamps: &mut Stamps,
) -> Result<Vec<Stamped>, SubjectError> {
    let mut listed = Listed::new();
    let mut trees = VecDeque::new();
    let first = Tree { root: root.into(), at: TreePath::empty(), listing }.sorted();
    first.add_to(&mut listed)?;
    trees.push_back(first);
    let mut lines = Vec::new();
    let (mut file_count, mut folder_count) = (0, 0);
    while let Some(tree) = trees.pop_front() {
        file_count += tree.listing.files.len();
        folder_count += tree.listing.folders.len();
        if file_count > FILES_MAX || folder_count > FILES_MAX {
            return Err(too_many(root));
        }
        for (path, stamp) in &tree.listing.folders {
            let path = tree.shown(path)?;
            // The root has no path in the subject, and what happens around it is not looked at.
            if !path.as_bytes().is_empty() {
                stamps.folders.push((path, *stamp));
            }
        }
        let link = (!tree.at.as_bytes().is_empty()).then(|| tree.at.below(root));
        let named = |error: SubjectError| match &link {
            Some(link) => error.behind(link),
            None => error,
        };
        let mut tasks = Vec::with_capacity(tree.listing.files.len());
        for (path, seen) in &tree.listing.files {
            let task = match seen {
                Seen::Regular => Task::File,
                Seen::Link => tree.link(path, store, &mut listed, &mut trees)?,
                Seen::Fifo => Task::Known(Found::Fifo),
                Seen::Socket => Task::Known(Found::Socket),
                Seen::BlockDevice => Task::Known(Found::BlockDevice),
                Seen::CharacterDevice => Task::Known(Found::CharacterDevice),
                Seen::Listed(at) => Task::Known(Found::Folder(Digest::plain(at.as_bytes()))),
            };
            tasks.push((path.clone(), task));
        }
        for (mut line, stamps) in digest_all(&tree.root, &tasks).map_err(named)? {
            line.path = tree.shown(&line.path)?;
            lines.push((line, stamps));
        }
    }
    lines.sort_unstable_by(|one, other| one.0.path.cmp(&other.0.path));
    stamps.folders.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(lines)
}

impl Tree {
    /// Follows one link; a folder that is not listed yet becomes a tree of its own.
    fn link(
        &self,
        path: &TreePath,
        store: &StorePlace,
        listed: &mut Listed,
        trees: &mut VecDeque<Self>,
    ) -> Result<Task, SubjectError> {
        let place = path.below(&self.root);
        let text = link::text(&place)?;
        let way: Way = follow(&place)?;
        let (End::File(target) | End::Folder(target)) = &way.end else {
            return Ok(Task::Link { text, way, listed: TreePath::empty() });
        };
        if target.starts_with(&store.real) {
            return Err(SubjectError::LinkIntoStore { link: place, store: store.real.clone() });
        }
        let at = match (&way.end, listed.get(target)) {
            (End::Folder(_), Some(at)) => at.clone(),
            (End::Folder(_), None) => {
                let walk = Walk { root: target, store, rules: Rules::None, listed };
                let listing = walk.all().map_err(|error| error.behind(&place))?;
                let (root, at) = (target.clone(), self.shown(path)?);
                let tree = Self { root, at: at.clone(), listing }.sorted();
                tree.add_to(listed)?;
                trees.push_back(tree);
                at
            }
            (End::File(_) | End::Closed(_), _) => TreePath::empty(),
        };
        Ok(Task::Link { text, way, listed: at })
    }

    /// The order of a listing decides which link is followed first, and so where files are listed.
    fn sorted(mut self) -> Self {
        self.listing.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        self.listing.files.dedup_by(|one, other| one.0 == other.0);
        self.listing.folders.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        self
    }

    fn add_to(&self, listed: &mut Listed) -> Result<(), SubjectError> {
        for (path, _) in &self.listing.folders {
            let is_root = path.as_bytes().is_empty();
            // Joining an empty path would leave a `/` at the end.
            let place = if is_root { self.root.clone() } else { path.below(&self.root) };
            listed.insert(place, self.shown(path)?);
        }
        Ok(())
    }

    /// A path of this tree as the manifest has it.
    fn shown(&self, path: &TreePath) -> Result<TreePath, SubjectError> {
        path.after(&self.at).ok_or_else(|| SubjectError::Limit {
            what: "bytes in one path",
            path: path.below(&self.root),
            limit: PATH_BYTES_MAX as u64,
        })
    }
}

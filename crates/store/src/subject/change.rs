//! What differs between two manifests, in words for a person. Decides nothing.

use core::fmt;

use actum_core::SubjectKind;

use super::manifest::{Found, GitId, Head, Line, Manifest};
use super::path::TreePath;

/// One difference between an older manifest and a newer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The two are of different kinds.
    Kind {
        /// Before.
        from: SubjectKind,
        /// Now.
        to: SubjectKind,
    },
    /// HEAD is another commit; `None` before the first one.
    Commit {
        /// Before.
        from: Option<GitId>,
        /// Now.
        to: Option<GitId>,
    },
    /// HEAD's tree is another one.
    Tree {
        /// Before.
        from: Option<GitId>,
        /// Now.
        to: Option<GitId>,
    },
    /// Was not there before.
    Added(TreePath),
    /// Is no longer there.
    Removed(TreePath),
    /// Holds something else.
    Content(TreePath),
    /// Is something else: a plain file became executable, or a link.
    Mode {
        /// Where.
        path: TreePath,
        /// Before.
        from: Found,
        /// Now.
        to: Found,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { from, to } => {
                write!(f, "the subject was of kind {} and is of kind {}", from.word(), to.word())
            }
            Self::Commit { from, to } => moved(f, "commit", *from, *to),
            Self::Tree { from, to } => moved(f, "tree of the commit", *from, *to),
            Self::Added(path) => write!(f, "{path} is new"),
            Self::Removed(path) => write!(f, "{path} is gone"),
            Self::Content(path) => write!(f, "{path} changed"),
            Self::Mode { path, from, to } => {
                write!(f, "{path} was {} and is {}", from.words(), to.words())
            }
        }
    }
}

fn moved(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    from: Option<GitId>,
    to: Option<GitId>,
) -> fmt::Result {
    let short = |id: Option<GitId>| id.map_or("none".to_owned(), |id| id.short());
    write!(f, "the {what} changed from {} to {}", short(from), short(to))
}

impl Manifest {
    /// What differs in `newer`; empty if and only if the two are equal. Commit and tree first, then by path.
    pub fn changes(&self, newer: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.kind() != newer.kind() {
            changes.push(Change::Kind { from: self.kind(), to: newer.kind() });
        }
        let commit = |manifest: &Self| manifest.head().map(|Head { commit, .. }| commit);
        let tree = |manifest: &Self| manifest.head().map(|Head { tree, .. }| tree);
        if commit(self) != commit(newer) {
            changes.push(Change::Commit { from: commit(self), to: commit(newer) });
        }
        if tree(self) != tree(newer) {
            changes.push(Change::Tree { from: tree(self), to: tree(newer) });
        }
        compare(self.lines(), newer.lines(), &mut changes);
        changes
    }
}

/// Walks both sorted lists side by side.
fn compare(mut before: &[Line], mut after: &[Line], changes: &mut Vec<Change>) {
    loop {
        match (before, after) {
            ([], []) => return,
            ([old, old_rest @ ..], [new, new_rest @ ..]) if old.path == new.path => {
                compare_found(old, new, changes);
                (before, after) = (old_rest, new_rest);
            }
            ([old, rest @ ..], []) => {
                changes.push(Change::Removed(old.path.clone()));
                before = rest;
            }
            ([old, rest @ ..], [new, ..]) if old.path < new.path => {
                changes.push(Change::Removed(old.path.clone()));
                before = rest;
            }
            (_, [new, rest @ ..]) => {
                changes.push(Change::Added(new.path.clone()));
                after = rest;
            }
        }
    }
}

fn compare_found(old: &Line, new: &Line, changes: &mut Vec<Change>) {
    let (from, to) = (old.found, new.found);
    if !from.same_mode(to) {
        changes.push(Change::Mode { path: new.path.clone(), from, to });
    }
    let regular = |found| matches!(found, Found::File(_) | Found::Executable(_));
    let comparable = from.same_mode(to) || (regular(from) && regular(to));
    if comparable && from.content() != to.content() {
        changes.push(Change::Content(new.path.clone()));
    }
}

//! What the gate asks of this machine: texts that were kept, subjects as they are, where a path leads.

use std::borrow::Cow;
use std::error::Error;
use std::path::{Path, PathBuf};

use actum_core::{Content, Digest, SubjectName, Surroundings, ValueKind};
use actum_store::subject::{Taken, take};
use actum_store::{Cache, Places};

/// What the gate asks of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Things<'a> {
    /// Where the ledger lies, and so its project.
    pub places: &'a Places,
    /// The texts.
    pub cache: &'a Cache,
}

impl Surroundings for Things<'_> {
    fn content(&self, digest: &Digest) -> Content<'_> {
        match self.cache.read(digest) {
            Ok(Some(text)) => Content::Known(Cow::Owned(text)),
            Ok(None) => Content::Missing,
            // Whatever else is wrong with it, it is not the text.
            Err(_) => Content::Edited,
        }
    }

    fn subject(&self, name: &SubjectName) -> Result<Digest, String> {
        subject_now(self.places, name).map(|taken| taken.digest)
    }

    fn leads_to(&self, path: &str) -> Option<String> {
        leads_to(self.places, path)
    }
}

/// The subject as it is on disk now.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn subject_now(places: &Places, name: &SubjectName) -> Result<Taken, String> {
    take(places.project(), &places.store, name).map_err(|error| chain(&error))
}

/// Where a path of this project leads, if that is not what its letters say.
pub(crate) fn leads_to(places: &Places, path: &str) -> Option<String> {
    let root = places.project();
    let real = as_it_is(&root.join(path))?;
    // The project may itself lie behind a link: what counts is how the path differs from its own letters.
    let project = root.canonicalize().ok()?;
    let relative = real.strip_prefix(&project).ok().filter(|_| !path.starts_with('/'));
    let shown = relative.unwrap_or(&real).to_str()?.to_owned();
    let written = path.trim_end_matches('/');
    let same = ValueKind::Path.normal(&shown) == ValueKind::Path.normal(written);
    (!same).then_some(shown)
}

/// An error with its causes, each once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// A path without its links, as far as it is there; the rest of it is to be made. A link that ends nowhere yet leads there.
fn as_it_is(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|there| {
        let led = || there.read_link().ok().and_then(|to| Some(there.parent()?.join(to)));
        let real = there.canonicalize().ok().or_else(led)?;
        // Joined to nothing it would end with a slash.
        let rest = path.strip_prefix(there).ok()?.components();
        Some(rest.fold(real, |path, part| path.join(part)))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_through_links_that_are_there_and_that_end_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("notes")).unwrap();
        symlink("/etc", root.join("notes/etc")).unwrap();
        symlink("/nowhere/keys", root.join("notes/keys")).unwrap();
        let led = |path: &str| as_it_is(&root.join(path)).unwrap();
        assert_eq!(led("notes/new/a.md"), root.join("notes/new/a.md"));
        assert_eq!(led("notes"), root.join("notes"));
        assert_eq!(led("notes/etc/new"), Path::new("/etc/new"));
        assert_eq!(led("notes/keys"), Path::new("/nowhere/keys"));
        assert_eq!(led("notes/keys/x"), Path::new("/nowhere/keys/x"));
    }
}

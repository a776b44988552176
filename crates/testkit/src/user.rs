//! Another user, for tests of what a user may not do: root is stopped by no permission, so root has somebody else try. That
//! user has to be able to walk to the program and to the files, wherever the build and the temporary files lie.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use tempfile::TempDir;

/// The user who owns nothing.
pub const NOBODY: u32 = 65_534;

/// The number of a user who is neither root nor the one who runs the tests, if this one may become another at all.
pub fn another() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(NOBODY)
}

/// A copy of a program in a folder that others can walk to: the one that was built may lie below somebody's home.
///
/// # Errors
///
/// If it cannot be copied.
pub fn carry(program: &Path, folder: &Path) -> io::Result<PathBuf> {
    let copy = folder.join("carried-program");
    // Another process writes it, so that no child started meanwhile still holds it open for writing when it is to run.
    if !Command::new("cp").arg(program).arg(&copy).status()?.success() {
        return Err(io::Error::other(format!("cannot copy {}", program.display())));
    }
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    Ok(copy)
}

/// A temporary folder that every user can walk to.
///
/// # Errors
///
/// If there is no place for one.
pub fn open_folder() -> io::Result<TempDir> {
    let usual = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let place = [env::temp_dir()].into_iter().chain(usual).find(|place| all_may_enter(place));
    let folder = tempfile::tempdir_in(place.unwrap_or_else(env::temp_dir))?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

fn all_may_enter(folder: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).map_or(0, |of| of.permissions().mode());
    folder.canonicalize().is_ok_and(|path| path.ancestors().all(|path| mode(path) & 0o001 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_below_a_closed_one_is_not_open() {
        let folder = open_folder().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        assert!(all_may_enter(&below));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!all_may_enter(&below) && !all_may_enter(&folder.path().join("nothing")));
    }
}

//! Where the socket lies, and whose it has to be. A socket is as safe as the folders it lies in: whoever can write there can put
//! another in its place.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use actum_core::LedgerId;
use actum_store::Places;

/// Bytes of the path of a socket: what the systems we run on have room for, and the end of the text.
pub const SOCKET_PATH_MAX: usize = 100;

/// A socket that must not be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Something about a folder or the socket is not safe.
    #[error("{}: {what}", path.display())]
    Unsafe {
        /// What.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The path has more bytes than a socket can have.
    #[error("{}: the path of a socket has at most {SOCKET_PATH_MAX} bytes", path.display())]
    Long {
        /// The path.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {doing} {}", path.display())]
    System {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Where the socket of a ledger lies, unless somebody says otherwise: beside its anchor, outside the store.
pub fn socket_of(places: &Places, ledger: LedgerId) -> PathBuf {
    let name: String = ledger.to_string().chars().take(16).collect();
    places.state.join("run").join(format!("{name}.sock"))
}

/// This process's user.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Who is at the other end of a connection, as the system knows it.
///
/// # Errors
/// What the system said.
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    #[cfg(target_os = "linux")]
    {
        Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let (uid, _group) = nix::unistd::getpeereid(stream)?;
        Ok(uid.as_raw())
    }
}

/// Checks that a socket at this path can only be of this user: the folder is a real one and theirs, writable by nobody else, and
/// nobody else can move it away.
///
/// # Errors
/// [`SocketError`].
pub fn check_folder_of(socket: &Path, uid: u32) -> Result<(), SocketError> {
    if socket.as_os_str().len() > SOCKET_PATH_MAX {
        return Err(SocketError::Long { path: socket.to_owned() });
    }
    let folder = socket.parent().filter(|_| socket.is_absolute());
    let folder = folder.ok_or_else(|| not_safe(socket, "it is no absolute path"))?;
    let meta = look_at(folder)?;
    if !meta.is_dir() {
        let what = if meta.is_symlink() { "it is a link, not a folder" } else { "it is no folder" };
        return Err(not_safe(folder, what));
    }
    if meta.uid() != uid {
        return Err(not_safe(
            folder,
            &format!("it belongs to user {}, not to user {uid}", meta.uid()),
        ));
    }
    let mode = meta.mode() & 0o7777;
    if mode & 0o022 != 0 {
        let what = format!("it has mode {mode:04o}: others can put a socket of theirs there");
        return Err(not_safe(folder, &what));
    }
    let real = folder.canonicalize();
    let real = real.map_err(|source| system("look at", folder, source))?;
    for above in real.ancestors().skip(1) {
        let meta = look_at(above)?;
        let mode = meta.mode() & 0o7777;
        if meta.uid() != uid && meta.uid() != 0 {
            let what = format!("it belongs to user {}, who can move what lies in it", meta.uid());
            return Err(not_safe(above, &what));
        }
        // Where everybody can write, but remove only what is theirs.
        let is_shared = mode & 0o1000 != 0;
        if mode & 0o022 != 0 && !is_shared {
            let what = format!("it has mode {mode:04o}: others can move what lies in it");
            return Err(not_safe(above, &what));
        }
    }
    Ok(())
}

/// Checks the socket as well, which is there.
///
/// # Errors
/// [`SocketError`].
pub fn check_socket(socket: &Path, uid: u32) -> Result<(), SocketError> {
    check_folder_of(socket, uid)?;
    let meta = look_at(socket)?;
    if !meta.file_type().is_socket() {
        return Err(not_safe(socket, "it is no socket"));
    }
    if meta.uid() != uid {
        return Err(not_safe(
            socket,
            &format!("it belongs to user {}, not to user {uid}", meta.uid()),
        ));
    }
    Ok(())
}

/// Makes the folder of a socket, for this user alone, unless it is there.
pub(crate) fn make_folder_of(socket: &Path) -> Result<(), SocketError> {
    let folder = socket.parent().unwrap_or(socket);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| system("make the folder", folder, source))
}

fn look_at(path: &Path) -> Result<fs::Metadata, SocketError> {
    fs::symlink_metadata(path).map_err(|source| system("look at", path, source))
}

fn not_safe(path: &Path, what: &str) -> SocketError {
    SocketError::Unsafe { path: path.to_owned(), what: what.to_owned() }
}

pub(crate) fn system(doing: &'static str, path: &Path, source: io::Error) -> SocketError {
    SocketError::System { doing, path: path.to_owned(), source }
}

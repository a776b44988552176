//! Small files that are written whole: key files, accepted policies, manifests. Also the checks that a key is its owner's
//! alone.

use std::path::Path;

use actum_core::{KEY_FILE_MAX, KeyFile, LedgerId, Refusal, Root};
use zeroize::Zeroizing;

use crate::disk::{Disk, DiskFile as _};
use crate::error::StoreError;
use crate::journal::path_bytes;
use crate::places::Places;

/// Puts `bytes` at `path` so that after a power cut the file is the old one or the new one, never half of it.
///
/// # Errors
/// What the disk said.
pub fn put<D: Disk>(disk: &D, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    if disk.stat(folder).is_err() {
        make_folder(disk, folder)?;
    }
    let draft = path.with_extension(format!("new-{}", random_name()?));
    let mut file = disk.create(&draft).map_err(StoreError::disk("create", &draft))?;
    file.write_at(bytes, 0).map_err(StoreError::disk("write", &draft))?;
    file.sync().map_err(StoreError::disk("sync", &draft))?;
    disk.rename(&draft, path).map_err(StoreError::disk("replace", path))?;
    disk.sync_folder(folder).map_err(StoreError::disk("sync the folder", folder))
}

/// Makes a folder whose name, and the names of those above it, survive a power cut: a file is as durable as the folders it
/// lies in. Folders that are there are synced as well, for whoever made them may have been cut short; others' are left alone.
///
/// # Errors
/// What the disk said.
pub(crate) fn make_folder<D: Disk>(disk: &D, folder: &Path) -> Result<(), StoreError> {
    disk.make_folder(folder).map_err(StoreError::disk("make the folder", folder))?;
    let user = rustix::process::geteuid().as_raw();
    for above in folder.ancestors().skip(1) {
        if !disk.stat(above).is_ok_and(|stat| stat.uid == user) {
            break;
        }
        disk.sync_folder(above).map_err(StoreError::disk("sync the folder", above))?;
    }
    Ok(())
}

/// Thirty-two random bytes from the operating system.
///
/// # Errors
/// If it gives none.
pub fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, StoreError> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| StoreError::Disk {
        doing: "get random bytes from",
        path: "the operating system".into(),
        source: std::io::Error::other(error),
    })?;
    Ok(bytes)
}

fn random_name() -> Result<String, StoreError> {
    Ok(actum_core::hex(random::<6>()?.as_slice()))
}

/// A fresh root.
///
/// # Errors
/// If the operating system gives no random bytes.
pub(crate) fn new_root() -> Result<Root, StoreError> {
    Ok(Root::from_bytes(*random::<32>()?))
}

/// Reads the key file of a ledger.
///
/// # Errors
/// [`Refusal::Key`] if it is missing, not the user's, open to others (any of mode 0077), or not a key file of this ledger.
pub(crate) fn read_key<D: Disk>(
    disk: &D,
    places: &Places,
    ledger: LedgerId,
) -> Result<KeyFile, StoreError> {
    let path = places.key(ledger);
    let refuse = |why: String| StoreError::Refused(Refusal::Key { why });
    let shown = path.display();
    let stat = disk.stat(&path).map_err(|error| refuse(format!("{shown}: {error}")))?;
    if stat.mode & 0o170_000 != 0o100_000 {
        return Err(refuse(format!("{shown} is not a regular file")));
    }
    if stat.mode & 0o077 != 0 {
        let mode = stat.mode & 0o777;
        return Err(refuse(format!("{shown} has mode {mode:04o}; it must be 0600")));
    }
    let user = rustix::process::geteuid().as_raw();
    if stat.uid != user {
        let uid = stat.uid;
        return Err(refuse(format!("{shown} belongs to user {uid}, not to user {user}")));
    }
    let bytes = disk
        .read(&path, KEY_FILE_MAX as u64)
        .map(Zeroizing::new)
        .map_err(|error| refuse(format!("{shown}: {error}")))?;
    let not_text = |error| refuse(format!("{shown} is not text: {error}"));
    let text = core::str::from_utf8(&bytes).map_err(not_text)?;
    let file = KeyFile::parse(text).map_err(|error| refuse(format!("{shown}: {error}")))?;
    if file.ledger() != ledger {
        return Err(refuse(format!("{shown} is the key of ledger {}", file.ledger())));
    }
    check_anchor_note(disk, places, ledger)?;
    Ok(file)
}

/// The key knows where its anchor is kept. A call that looks elsewhere would take a ledger for unanchored that is not.
fn check_anchor_note<D: Disk>(
    disk: &D,
    places: &Places,
    ledger: LedgerId,
) -> Result<(), StoreError> {
    let Ok(noted) = disk.read(&places.anchor_note(ledger), NOTE_MAX) else { return Ok(()) };
    let here = places.anchor(ledger);
    if noted == path_bytes(&here) {
        return Ok(());
    }
    let why = format!(
        "its anchor is kept at {}, but this call looks at {} (is XDG_STATE_HOME set otherwise?)",
        String::from_utf8_lossy(&noted),
        here.display()
    );
    Err(Refusal::Key { why }.into())
}

const NOTE_MAX: u64 = 16 * 1024;

/// Writes the key file of a ledger, for the user alone.
///
/// # Errors
/// What the disk said.
pub(crate) fn write_key<D: Disk>(
    disk: &D,
    places: &Places,
    file: &KeyFile,
) -> Result<(), StoreError> {
    let ledger = file.ledger();
    put(disk, &places.anchor_note(ledger), &path_bytes(&places.anchor(ledger)))?;
    put(disk, &places.key(ledger), file.to_text().as_bytes())
}

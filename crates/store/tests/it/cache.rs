//! What is kept under a digest comes back as it was, or not at all: edited, swapped, planted, too long, or kept by two
//! processes at once.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actum_core::{Call, Digest, content_digest};
use actum_store::{CALL_MAX, CONTENT_MAX, Cache, CacheError};
use actum_testkit::user::{NOBODY, another};

use crate::child::{As, KEPT, Role, hear, kept_text, spawn};
use crate::scene::Scene;

const NOTE: &str = "the landlord's account is DE89";

/// A cache in which [`NOTE`] is kept.
struct Kept {
    scene: Scene,
    cache: Cache,
    digest: Digest,
}

impl Kept {
    fn new() -> Self {
        let scene = Scene::with_runs(0);
        let cache = Cache::of(scene.places());
        let digest = cache.keep(NOTE).unwrap();
        Self { scene, cache, digest }
    }

    fn file_of(&self, digest: &Digest) -> PathBuf {
        self.scene.places().cache().join(part_of(digest)).join(digest.to_string())
    }

    fn call_file(&self, digest: &Digest) -> PathBuf {
        self.scene.places().calls().join(part_of(digest)).join(digest.to_string())
    }

    fn file(&self) -> PathBuf {
        self.file_of(&self.digest)
    }

    /// What a reader gets: the text, nothing, or the error in words, with paths as seen from the store.
    fn says(&self) -> String {
        match self.cache.read(&self.digest) {
            Ok(Some(text)) => format!("kept: {text}"),
            Ok(None) => "missing".to_owned(),
            Err(error) => self.told(&error),
        }
    }

    fn told(&self, error: &CacheError) -> String {
        let store = format!("{}/", self.scene.places().store.display());
        let mut text = error.to_string().replace(&store, "");
        for digest in [self.digest, no_call()] {
            text = text.replace(&digest.to_string(), "DIGEST");
            for folder in ["cache", "calls"] {
                let part = format!("{folder}/{}", part_of(&digest));
                text = text.replace(&part, &format!("{folder}/XY"));
            }
        }
        text
    }
}

fn part_of(digest: &Digest) -> String {
    digest.to_string().chars().take(2).collect()
}

fn no_call() -> Digest {
    Digest::of("test/call", &[])
}

/// Makes something else of the file of [`NOTE`]; a reader is told `said`, and keeping it again makes it whole.
fn check(change: impl FnOnce(&PathBuf), said: &str) {
    let kept = Kept::new();
    change(&kept.file());
    assert_eq!(kept.says(), said);
    assert_eq!(kept.cache.keep(NOTE).unwrap(), kept.digest);
    assert_eq!(kept.says(), format!("kept: {NOTE}"));
    assert!(fs::symlink_metadata(kept.file()).unwrap().is_file());
}

#[test]
fn what_was_kept_comes_back_and_what_was_not_is_missing() {
    let kept = Kept::new();
    assert_eq!(kept.says(), format!("kept: {NOTE}"));
    assert_eq!(kept.digest, content_digest(NOTE));
    for text in ["", "\0", "ä\r\n\u{feff}", &"x".repeat(CONTENT_MAX)] {
        let digest = kept.cache.keep(text).unwrap();
        assert_eq!(kept.cache.read(&digest).unwrap().as_deref(), Some(text));
    }
    assert_eq!(kept.cache.read(&content_digest("another note")).unwrap(), None);
    let mut neighbour = *kept.digest.as_bytes();
    neighbour[31] ^= 1;
    assert_eq!(kept.cache.read(&Digest::from_bytes(neighbour)).unwrap(), None);
}

#[test]
fn without_a_folder_everything_is_missing_and_without_a_store_nothing_is_kept() {
    let kept = Kept::new();
    fs::remove_dir_all(kept.scene.places().cache()).unwrap();
    assert_eq!(kept.says(), "missing");
    fs::remove_dir_all(&kept.scene.places().store).unwrap();
    assert_eq!(kept.says(), "missing");
    let error = kept.cache.keep(NOTE).unwrap_err();
    assert!(error.to_string().starts_with("cannot open "), "{error}");
    assert!(!kept.scene.places().store.exists(), "no store is made");
}

#[test]
fn a_changed_text_is_never_given_out() {
    let edited = "cache/XY/DIGEST was changed after it was kept";
    check(|file| fs::write(file, NOTE.replace("89", "98")).unwrap(), edited);
    check(|file| fs::write(file, NOTE.strip_suffix('9').unwrap()).unwrap(), edited);
    check(|file| fs::write(file, format!("{NOTE}\n")).unwrap(), edited);
    check(|file| fs::write(file, "").unwrap(), edited);
    check(|file| fs::write(file, b"\xff\xfe").unwrap(), edited);
    check(|file| fs::remove_file(file).unwrap(), "missing");
}

#[test]
fn every_bit_of_a_kept_text_counts() {
    let kept = Kept::new();
    for at in 0..NOTE.len() * 8 {
        let mut bytes = NOTE.as_bytes().to_vec();
        bytes[at / 8] ^= 1 << (at % 8);
        fs::write(kept.file(), bytes).unwrap();
        assert!(
            matches!(kept.cache.read(&kept.digest), Err(CacheError::Edited { .. })),
            "bit {at}"
        );
    }
}

#[test]
fn a_genuine_text_under_another_digest_is_an_edit() {
    let kept = Kept::new();
    let other = kept.cache.keep("another note").unwrap();
    fs::copy(kept.file_of(&other), kept.file()).unwrap();
    assert_eq!(kept.says(), "cache/XY/DIGEST was changed after it was kept");
}

#[test]
fn more_than_the_limit_is_neither_kept_nor_read() {
    let long = "x".repeat(CONTENT_MAX + 1);
    let said = "cache/XY/DIGEST: over 1048576 bytes";
    check(|file| fs::write(file, &long).unwrap(), said);
    let kept = Kept::new();
    assert!(matches!(kept.cache.keep(&long), Err(CacheError::TooLong { .. })));
    assert!(!kept.file_of(&content_digest(&long)).exists());
    // A file that claims to be endless costs no more than one that is long.
    check(|file| fs::File::create(file).unwrap().set_len(1 << 40).unwrap(), said);
}

#[test]
fn a_link_or_a_pipe_in_the_place_of_a_file_is_neither_read_nor_written_through() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    fs::write(&target, NOTE).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
    let link = |file: &PathBuf| {
        fs::remove_file(file).unwrap();
        symlink(&target, file).unwrap();
    };
    // Even one whose target is right: what it shows next is for its owner to say.
    check(link, "cache/XY/DIGEST: a link");
    fs::write(&target, "untouched").unwrap();
    check(link, "cache/XY/DIGEST: a link");
    assert_eq!(fs::read_to_string(&target).unwrap(), "untouched");
    let pipe = |file: &PathBuf| {
        fs::remove_file(file).unwrap();
        assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
        fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
        assert!(fs::symlink_metadata(file).unwrap().file_type().is_fifo());
    };
    check(pipe, "cache/XY/DIGEST: not a plain file");
}

#[test]
fn a_folder_in_the_place_of_a_file_is_an_error_for_both() {
    let kept = Kept::new();
    fs::remove_file(kept.file()).unwrap();
    fs::create_dir(kept.file()).unwrap();
    assert_eq!(kept.says(), "cache/XY/DIGEST: not a plain file");
    let error = kept.cache.keep(NOTE).unwrap_err();
    assert_eq!(kept.told(&error), "cannot replace cache/XY/DIGEST");
    let left = fs::read_dir(kept.file().parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no draft stays");
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let said = ["cache/XY: not a folder of its own", "cache: not a folder of its own"];
    for (depth, said) in said.into_iter().enumerate() {
        let kept = Kept::new();
        let file = kept.file();
        let folder = file.ancestors().nth(1 + depth).unwrap();
        let moved = kept.scene.folder.path().join("elsewhere");
        fs::rename(folder, &moved).unwrap();
        symlink(&moved, folder).unwrap();
        assert_eq!(kept.says(), said);
        assert_eq!(kept.told(&kept.cache.keep(NOTE).unwrap_err()), said);
        let later = SystemTime::now() + Duration::from_mins(1);
        assert_eq!(kept.told(&kept.cache.prune(&BTreeSet::new(), later).unwrap_err()), said);
        let behind = files_below(&moved);
        assert_eq!(behind.len(), 1, "nothing was written or removed behind the link: {behind:?}");
    }
}

/// All files below.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn a_file_in_the_place_of_a_folder_is_an_error() {
    let kept = Kept::new();
    fs::remove_dir_all(kept.scene.places().cache()).unwrap();
    fs::write(kept.scene.places().cache(), "").unwrap();
    assert_eq!(kept.says(), "cache: not a folder of its own");
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    let kept = Kept::new();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let part = kept.file().parent().unwrap().to_owned();
    assert_eq!(mode(kept.file()), 0o600);
    assert_eq!(mode(part.clone()), 0o700);
    assert_eq!(mode(kept.scene.places().cache()), 0o700);

    let open = "cache/XY/DIGEST: it has mode 0640; it must be open to its owner alone";
    check(|file| fs::set_permissions(file, Permissions::from_mode(0o640)).unwrap(), open);
    fs::set_permissions(&part, Permissions::from_mode(0o777)).unwrap();
    assert!(kept.says().ends_with("it has mode 0777; it must be open to its owner alone"));
    assert!(matches!(kept.cache.keep(NOTE), Err(CacheError::Foreign { .. })));
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    if another().is_none() {
        return;
    }
    let given = |file: &PathBuf| chown(file, Some(NOBODY), None).unwrap();
    let said = format!("cache/XY/DIGEST: it belongs to user {NOBODY}, not to user 0");
    check(given, &said);
}

#[test]
fn two_processes_keep_the_same_content_at_once_and_no_reader_sees_half_of_it() {
    let scene = Scene::with_runs(0);
    let cache = Cache::of(scene.places());
    let exe = std::env::current_exe().unwrap();
    let mut children: Vec<_> =
        (0..2).map(|_| spawn(&exe, scene.places(), Role::Keep, As::Myself)).collect();
    let heard: Vec<_> = children
        .iter_mut()
        .map(|child| child.stdout.take().unwrap())
        .map(|stdout| thread::spawn(move || hear(stdout)))
        .collect();
    let mut seen = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        for nth in 0..KEPT {
            let text = kept_text(nth);
            let found = cache.read(&content_digest(&text)).unwrap();
            seen += usize::from(found.is_some());
            assert!(found.is_none_or(|found| found == text), "text {nth}");
        }
    }
    for said in heard {
        assert_eq!(said.join().unwrap(), ["kept all"]);
    }
    println!("{seen} reads met a text while it was being written");
    assert_eq!(files_below(&scene.places().cache()).len(), KEPT, "no draft stays");
}

#[test]
fn a_call_comes_back_if_its_own_digest_is_the_one_asked_for() {
    let kept = Kept::new();
    // The edge reads JSON; here the name of a tool is all there is to a call.
    let parse = |json: &str| Call::new(json.strip_prefix("call ")?, [].into()).ok();
    let call = parse("call bank/pay").unwrap();
    let digest = call.digest();
    let read = || kept.cache.read_call(&digest, parse, Call::digest);
    assert_eq!(read().unwrap(), None);
    kept.cache.keep_call(&digest, "call bank/pay").unwrap();
    assert_eq!(read().unwrap(), Some(call));
    assert_eq!(kept.cache.read(&digest).unwrap(), None, "a call is no content");

    for edited in ["call bank/pay2", "bank/pay", "", "\u{feff}call bank/pay"] {
        fs::write(kept.call_file(&digest), edited).unwrap();
        assert!(matches!(read(), Err(CacheError::Edited { .. })), "{edited:?}");
    }
    fs::write(kept.call_file(&digest), b"call \xff").unwrap();
    assert!(matches!(read(), Err(CacheError::Edited { .. })));
    fs::remove_file(kept.call_file(&digest)).unwrap();
    symlink(kept.file(), kept.call_file(&digest)).unwrap();
    assert!(matches!(read(), Err(CacheError::Foreign { .. })));
    let long = "x".repeat(CALL_MAX + 1);
    let error = kept.cache.keep_call(&no_call(), &long).unwrap_err();
    assert_eq!(kept.told(&error), "calls/XY/DIGEST: over 16777216 bytes");
}

#[test]
fn pruning_removes_what_nobody_keeps_and_touches_nothing_else() {
    let kept = Kept::new();
    let later = SystemTime::now() + Duration::from_mins(1);
    let spare = kept.cache.keep("spare").unwrap();
    let (call, spare_call) = (no_call(), Digest::of("test/call", &[b"spare"]));
    kept.cache.keep_call(&call, "{}").unwrap();
    kept.cache.keep_call(&spare_call, "{}").unwrap();
    let folder = kept.file().parent().unwrap().to_owned();
    let draft = folder.join(format!("{}.new-00", kept.digest));
    let foreign = folder.join("README");
    fs::write(&draft, "half").unwrap();
    fs::write(&foreign, "somebody's").unwrap();
    let link = folder.join(content_digest("link").to_string());
    symlink(&foreign, &link).unwrap();

    let keep = BTreeSet::from([kept.digest, call]);
    assert_eq!(kept.cache.prune(&keep, UNIX_EPOCH).unwrap(), 0, "all of it is newer");
    assert_eq!(kept.cache.prune(&keep, later).unwrap(), 4);
    assert_eq!(kept.says(), format!("kept: {NOTE}"));
    assert!(kept.call_file(&call).exists() && foreign.exists());
    assert!(!draft.exists() && fs::symlink_metadata(&link).is_err());
    assert_eq!(kept.cache.read(&spare).unwrap(), None);
    assert!(!kept.call_file(&spare_call).exists());
    assert_eq!(kept.cache.prune(&keep, later).unwrap(), 0);
}

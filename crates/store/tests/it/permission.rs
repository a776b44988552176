//! A store that may not be written, a key that may not be read, a disk that is full: a clear error, and nothing half done.
//! Tests may run as a user whom no permission stops, so the one who is stopped is another process.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use actum_core::Outcome;
use actum_store::Store;
use actum_testkit::user::{NOBODY, another, carry, open_folder};

use crate::child::{As, Role, hear, spawn};
use crate::hunt::{Diary, come_back, new_disk, places, whole_life};
use crate::scene::{Scene, run};

fn child_says(scene: &Scene, role: Role, user: As) -> Vec<String> {
    let folder = open_folder().unwrap();
    let exe = carry(&std::env::current_exe().unwrap(), folder.path()).unwrap();
    let mut child = spawn(&exe, scene.places(), role, user);
    let said = hear(child.stdout.take().unwrap());
    child.wait().unwrap();
    said
}

fn can_be_another() -> bool {
    another().is_some()
}

/// Every file and folder below, with its bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree.append(&mut self::tree(&path));
            tree.insert(path, Vec::new());
        } else {
            let bytes = fs::read(&path).unwrap();
            tree.insert(path, bytes);
        }
    }
    tree
}

/// Everything below may be read by all and written by none but root.
fn open_for_reading(path: &Path) {
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            open_for_reading(&entry.unwrap().path());
        }
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The key file; a note lies beside it.
fn key_of(scene: &Scene) -> PathBuf {
    let names = fs::read_dir(scene.places().keys()).unwrap();
    names.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_none()).unwrap()
}

/// A ledger with one passed run, and a place in which others may look.
fn shown() -> Scene {
    let scene = Scene::with_runs(1);
    open_for_reading(scene.folder.path());
    let key = key_of(&scene);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    if can_be_another() {
        chown(&key, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    scene
}

/// Lets the folder be removed again by whoever may not write in it.
fn close(scene: Scene) {
    fn writable(path: &Path) {
        if path.is_dir() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
            for entry in fs::read_dir(path).unwrap() {
                writable(&entry.unwrap().path());
            }
        }
    }
    writable(scene.folder.path());
    drop(scene);
}

#[test]
fn a_read_only_store_is_read_and_a_writer_is_told_why_not() {
    let scene = shown();
    let before = tree(scene.folder.path());
    let said = child_says(&scene, Role::Look, As::Another);
    assert_eq!(said.first().map(String::as_str), Some("read passed"), "{said:?}");
    let refused = said.get(1).cloned().unwrap_or_default();
    assert!(refused.starts_with("failed cannot lock") && refused.contains("ermission"), "{said:?}");
    assert_eq!(before, tree(scene.folder.path()), "nothing was written");
    close(scene);
}

#[test]
fn a_key_that_is_anothers_or_cannot_be_read_is_refused() {
    let scene = shown();
    let key = key_of(&scene);
    if can_be_another() {
        chown(&key, Some(0), Some(0)).unwrap();
        let said = child_says(&scene, Role::Look, As::Another);
        assert!(
            said[0].starts_with("read key_unusable") && said[0].contains("belongs to user 0"),
            "{said:?}"
        );
        chown(&key, Some(NOBODY), Some(NOBODY)).unwrap();
        // Even who may read everything uses no key that is another's.
        assert_eq!(scene.asks("text:S0", "v1"), "key_unusable");
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o000)).unwrap();
    let said = child_says(&scene, Role::Look, As::Another);
    assert!(said[0].starts_with("read key_unusable") && said[0].contains("ermission"), "{said:?}");
    assert!(
        said[1].contains("key of this ledger cannot be used") || said[1].contains("cannot lock"),
        "{said:?}"
    );
    close(scene);
}

#[test]
fn a_disk_that_fills_up_at_any_byte_loses_nothing_and_goes_on_when_there_is_room() {
    let mut states = 0;
    for room in (0..).step_by(61) {
        let disk = new_disk();
        let mut diary = Diary::new(&disk);
        disk.limit(room);
        let lived = whole_life(&disk, &mut diary);
        if lived.is_ok() {
            break;
        }
        disk.unlimit();
        let came_back = come_back(&disk, &diary, disk.operations());
        assert!(came_back.is_ok(), "{room} bytes, {lived:?}: {came_back:?}");
        states += 1;
    }
    println!("{states} states");
    assert!(states > 150, "only {states} states");
}

#[test]
fn a_full_disk_names_the_file_and_a_reader_goes_on() {
    let disk = new_disk();
    let store = Store::on(disk.clone(), places());
    let mut ledger = store.init(&crate::scene::writer(0)).unwrap();
    disk.limit(100);
    let error =
        ledger.begin(crate::scene::new_run("text:A", "v1"), &crate::scene::at(1)).unwrap_err();
    let cause = core::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("cannot write /srv/project/.actum/ledger/"), "{cause}");
    drop(ledger);
    assert_eq!(store.read().unwrap().views().run_count(), 0);
}

#[test]
fn a_file_size_limit_of_the_process_loses_nothing() {
    let scene = Scene::with_runs(1);
    let said = child_says(&scene, Role::Write(0), As::Short(40));
    let failed = said.iter().find(|line| line.starts_with("failed")).cloned().unwrap_or_default();
    assert!(failed.contains("cannot") || failed.contains("could not keep"), "{said:?}");
    let ended: Vec<_> = said.iter().filter_map(|line| line.strip_prefix("ended ")).collect();
    assert!(ended.len() > 2, "{said:?}");
    for subject in ended {
        assert_eq!(scene.asks(subject, "v1"), "passed", "{subject}");
    }
    run(&mut scene.write(5), "text:after", "v1", Outcome::Passed, 5);
    assert_eq!(scene.asks("text:after", "v1"), "passed");
}

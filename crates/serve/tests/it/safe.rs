//! A socket that somebody else could have made, or could replace, is not used, by neither side.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use actum_serve::client::{Address, Client};
use actum_serve::daemon::{Daemon, DaemonError};

use crate::served::{Scene, owner, wrong};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn refused(scene: &Scene) -> String {
    let started = Daemon::start(scene.desk(), scene.options());
    started.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_folder_that_others_can_write_holds_no_socket() {
    let scene = Scene::new();
    let folder = scene.socket.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    for open in [0o770, 0o702, 0o777, 0o1777] {
        mode(folder, open);
        let said = refused(&scene);
        assert!(said.contains("others can put a socket of theirs there"), "{open:o}: {said}");
    }
    mode(folder, 0o700);
    let above = folder.parent().unwrap();
    mode(above, 0o777);
    assert!(refused(&scene).contains("others can move what lies in it"));
    mode(above, 0o755);
    assert!(Daemon::start(scene.desk(), scene.options()).unwrap().stop());
}

#[test]
fn a_client_says_nothing_to_a_socket_that_others_could_have_made() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let folder = scene.socket.parent().unwrap();
    mode(folder, 0o777);
    let said = wrong(Client::connect(&scene.address(), owner(), "a test"));
    assert!(said.starts_with("foreign"), "{said}");
    mode(folder, 0o700);
    drop(scene.owner());
    let else_ = Address { uid: scene.address().uid + 1, ..scene.address() };
    let said = wrong(Client::connect(&else_, owner(), "a test"));
    assert!(said.starts_with("foreign"), "{said}");
    assert!(daemon.stop());
}

#[test]
fn a_folder_that_is_a_link_holds_no_socket() {
    let scene = Scene::new();
    let folder = scene.socket.parent().unwrap();
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, folder).unwrap();
    assert!(refused(&scene).contains("it is a link"));
}

#[test]
fn what_stands_in_the_place_of_the_socket_is_left_alone() {
    let scene = Scene::new();
    fs::create_dir_all(scene.socket.parent().unwrap()).unwrap();
    fs::write(&scene.socket, "precious").unwrap();
    assert!(refused(&scene).contains("no socket of ours"));
    assert_eq!(fs::read_to_string(&scene.socket).unwrap(), "precious");
    let said = wrong(Client::connect(&scene.address(), owner(), "a test"));
    assert!(said.starts_with("foreign"), "{said}");
}

#[test]
fn a_socket_that_a_killed_daemon_left_is_made_anew_and_one_that_is_answered_is_not() {
    let scene = Scene::new();
    fs::create_dir_all(scene.socket.parent().unwrap()).unwrap();
    mode(scene.socket.parent().unwrap(), 0o700);
    drop(UnixListener::bind(&scene.socket).unwrap());
    assert_eq!(wrong(Client::connect(&scene.address(), owner(), "a test")), "dead");
    assert!(scene.daemon().stop());
    assert!(!scene.socket.exists(), "it goes with its daemon");
    let held = UnixListener::bind(&scene.socket).unwrap();
    let started = Daemon::start(scene.desk(), scene.options());
    assert!(matches!(started, Err(DaemonError::Taken { .. })));
    drop(held);
}

#[test]
fn a_path_too_long_for_a_socket_is_said_to_be() {
    let scene = Scene::new();
    let mut options = scene.options();
    options.socket = scene.folder.path().join("x".repeat(100)).join("socket");
    let started = Daemon::start(scene.desk(), options).map(|_| ());
    assert!(started.unwrap_err().to_string().contains("at most 100 bytes"));
}

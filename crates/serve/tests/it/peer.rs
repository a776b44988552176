//! Whom a daemon serves is decided by the user id at the other end, as the system says it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use actum_serve::client::Address;
use actum_serve::daemon::{Daemon, Options};
use actum_serve::desk::Served;
use actum_serve::socket::own_uid;
use actum_testkit::user::{NOBODY, another};

use crate::child::another_asks;
use crate::served::Scene;

/// A daemon whose socket everybody can reach, and that serves whom `served` says.
fn reachable(scene: &mut Scene, served: Served) -> (Daemon, Address) {
    let folder = scene.folder.path().canonicalize().unwrap().join("run");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    scene.socket = folder.join("socket");
    let options = Options { served, mode: 0o666, ..scene.options() };
    (Daemon::start(scene.desk(), options).unwrap(), scene.address())
}

#[test]
fn a_user_whom_the_daemon_does_not_serve_is_nobody() {
    let Some(_) = another() else { return };
    let mut scene = Scene::new();
    let (daemon, address) = reachable(&mut scene, Served::same_user(own_uid()));
    assert_eq!(another_asks(&address), ["who", "who", "who"]);
    assert!(daemon.stop());
}

#[test]
fn a_user_of_agents_is_an_agent_or_an_adapter_and_never_the_owner() {
    let Some(user) = another() else { return };
    let mut scene = Scene::new();
    let served = Served { owners: vec![own_uid()], agents: vec![user] };
    let (daemon, address) = reachable(&mut scene, served);
    scene.adapter("guard", &["user"]);
    assert_eq!(
        another_asks(&address),
        [
            "who",
            "agent apart, inbox not_allowed, open not_allowed",
            "adapter apart, inbox ok, open ok",
        ]
    );
    assert!(daemon.stop());
}

#[test]
fn where_the_agents_user_is_the_owners_every_welcome_says_weaker() {
    let Some(user) = another() else { return };
    let mut scene = Scene::new();
    let served = Served { owners: vec![own_uid(), user], agents: vec![user] };
    let (daemon, address) = reachable(&mut scene, served);
    let said = another_asks(&address);
    assert_eq!(said[0], "owner weaker, inbox ok, open ok");
    assert_eq!(said[1], "agent weaker, inbox ok, open not_allowed");
    assert!(daemon.stop());
}

#[test]
fn a_client_of_another_users_daemon_takes_any_other_owner_for_dead() {
    let Some(user) = another() else { return };
    let mut scene = Scene::new();
    let served = Served { owners: vec![own_uid()], agents: vec![user] };
    let (daemon, address) = reachable(&mut scene, served);
    let expects_itself = Address { uid: NOBODY, ..address };
    for said in another_asks(&expects_itself) {
        assert!(said.starts_with("foreign"), "{said}");
    }
    assert!(daemon.stop());
}

#[test]
fn a_folder_of_another_user_holds_no_socket_of_ours() {
    let Some(user) = another() else { return };
    let scene = Scene::new();
    let folder = scene.socket.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    chown(folder, Some(user), None).unwrap();
    let started = Daemon::start(scene.desk(), scene.options()).map(|_| ());
    assert!(started.unwrap_err().to_string().contains(&format!("belongs to user {user}")));
    chown(folder, Some(own_uid()), None).unwrap();
    chown(folder.parent().unwrap(), Some(user), None).unwrap();
    let started = Daemon::start(scene.desk(), scene.options()).map(|_| ());
    assert!(started.unwrap_err().to_string().contains("who can move what lies in it"));
}

//! This test binary, started again as another user: to ask a daemon that serves it, or does not.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use actum_serve::client::{Address, Client};
use actum_serve::wire::{Role, Start};
use actum_testkit::user::{NOBODY, carry, open_folder};
use zeroize::Zeroizing;

use crate::served::{agent, owner, wrong};

const SOCKET: &str = "ACTUM_TEST_CHILD_SOCKET";
const UID: &str = "ACTUM_TEST_CHILD_UID";

/// What the other user is told as owner, as agent and as adapter, one word each.
pub(crate) fn another_asks(address: &Address) -> Vec<String> {
    let folder = open_folder().unwrap();
    let exe = carry(&std::env::current_exe().unwrap(), folder.path()).unwrap();
    ask_with(&exe, address)
}

fn ask_with(exe: &Path, address: &Address) -> Vec<String> {
    let args = ["--exact", "child::asks_if_it_is_one", "--nocapture", "--test-threads=1"];
    let mut command = Command::new(exe);
    command.uid(NOBODY).gid(NOBODY).current_dir("/").args(args);
    command.env(SOCKET, &address.socket).env(UID, address.uid.to_string());
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines = said.lines().filter_map(|line| line.split_once("child: "));
    lines.map(|(_, said)| said.to_owned()).collect()
}

#[test]
fn asks_if_it_is_one() {
    let (Ok(socket), Ok(uid)) = (std::env::var(SOCKET), std::env::var(UID)) else { return };
    let address = Address { socket: socket.into(), uid: uid.parse().unwrap() };
    let credential = Zeroizing::new("secret of guard".to_owned());
    let guard = Role::Adapter { name: "guard".to_owned(), credential };
    for role in [owner(), agent(None), guard] {
        match Client::connect(&address, role, "a child") {
            Ok(mut client) => {
                let weaker = if client.welcome().weaker { "weaker" } else { "apart" };
                let you = client.welcome().you.clone();
                let inbox =
                    client.inbox().map_or_else(|error| wrong::<()>(Err(error)), |_| "ok".into());
                let opens = client.open(Start::Fresh {});
                let opens = opens.map_or_else(|error| wrong::<()>(Err(error)), |_| "ok".into());
                println!("child: {you} {weaker}, inbox {inbox}, open {opens}");
            }
            Err(error) => println!("child: {}", wrong::<()>(Err(error))),
        }
    }
}

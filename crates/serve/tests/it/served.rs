//! A ledger in a temporary project, a policy in force, and a daemon that serves it.

use std::path::PathBuf;
use std::sync::Arc;

use actum_core::{Owner, Reading, Seen};
use actum_serve::client::{Address, Client, ClientError};
use actum_serve::daemon::{Daemon, Options};
use actum_serve::desk::{Clock, Desk, Who};
use actum_serve::socket::socket_of;
use actum_serve::wire::{Act, Acted, Deed, FailureCode, Observe, Record, Role, Start};
use actum_store::{AcceptedPolicy, Disk, PATIENCE, Places, RealDisk, Store, Writer, read_clocks};
use actum_testkit::user::open_folder;
use tempfile::TempDir;
use zeroize::Zeroizing;

pub(crate) const POLICY: &str = r#"version = 1

[steps.tests]
commands = [["true", "{subject}"]]
subject = "text"

[tools."bank/pay"]
class = "effect"
binding = ["payee", "amount"]

[tools."mail/read"]
class = "read"
"#;

pub(crate) struct Scene<D: Disk = RealDisk> {
    pub(crate) folder: TempDir,
    pub(crate) store: Store<D>,
    pub(crate) socket: PathBuf,
}

pub(crate) fn writer() -> Writer {
    Writer { holder: "a test".into(), patience: PATIENCE, reading: read_clocks() }
}

pub(crate) fn clock() -> Clock {
    Arc::new(|| Reading::wall(read_clocks().wall_ms))
}

impl Scene<RealDisk> {
    pub(crate) fn new() -> Self {
        Self::on(RealDisk)
    }
}

impl<D: Disk + Send + 'static> Scene<D>
where
    D::File: Send,
{
    /// A ledger with the policy in force.
    pub(crate) fn on(disk: D) -> Self {
        let folder = open_folder().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Places {
            store: root.join("project/.actum"),
            data: root.join("data"),
            state: root.join("state"),
        };
        let store = Store::on(disk, places);
        drop(store.init(&writer()).unwrap());
        let mut opened = Desk::open(store.clone(), writer(), clock()).unwrap();
        let policy = AcceptedPolicy::prepare(POLICY, &root, &|_| None).unwrap();
        let document = String::from_utf8(policy.to_bytes()).unwrap();
        let acts = vec![Deed::AcceptPolicy { document }];
        opened.ask(&Who::owner(Owner::YesFlag), Record { acts }).unwrap();
        let ledger = opened.views().unwrap().keys().ledger();
        let socket = socket_of(store.places(), ledger);
        Self { folder, store, socket }
    }

    pub(crate) fn desk(&self) -> Desk<D> {
        Desk::open(self.store.clone(), writer(), clock()).unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        Options::same_user(self.socket.clone())
    }

    pub(crate) fn daemon(&self) -> Daemon {
        Daemon::start(self.desk(), self.options()).unwrap()
    }

    pub(crate) fn address(&self) -> Address {
        Address::own(&self.socket)
    }

    pub(crate) fn client(&self, role: Role) -> Client {
        Client::connect(&self.address(), role, "a test").unwrap()
    }

    pub(crate) fn owner(&self) -> Client {
        self.client(owner())
    }

    /// An adapter with these channels.
    pub(crate) fn adapter(&self, name: &str, channels: &[&str]) -> Role {
        let credential = Zeroizing::new(format!("secret of {name}"));
        let digest = actum_core::Adapter::credential_digest(credential.as_bytes());
        let channels = channels.iter().map(|it| (*it).to_owned()).collect();
        let deed = Deed::Enrol { adapter: name.to_owned(), credential: digest, channels };
        self.owner().record(vec![deed]).unwrap();
        Role::Adapter { name: name.to_owned(), credential }
    }
}

pub(crate) fn owner() -> Role {
    Role::Owner { known: Owner::YesFlag }
}

pub(crate) fn agent(session: Option<&str>) -> Role {
    Role::Agent { session: session.map(str::to_owned) }
}

pub(crate) fn open(client: &mut Client) -> String {
    client.open(Start::Fresh {}).unwrap().session
}

pub(crate) fn turn(session: &str, text: &str) -> Observe {
    Observe {
        session: session.to_owned(),
        seen: Seen::Turn,
        channel: None,
        author: None,
        text: text.to_owned(),
        entry: None,
        arguments: None,
        carries: None,
    }
}

pub(crate) fn result(session: &str, channel: &str, text: &str) -> Observe {
    Observe {
        seen: Seen::Result,
        channel: Some(channel.to_owned()),
        author: Some("web/get".to_owned()),
        ..turn(session, text)
    }
}

pub(crate) fn pay(session: &str, payee: &str, amount: u32, call_id: Option<&str>) -> Act {
    let arguments = format!(r#"{{"payee":"{payee}","amount":{amount}}}"#);
    Act {
        session: session.to_owned(),
        tool: "bank/pay".to_owned(),
        arguments: serde_json::value::RawValue::from_string(arguments).unwrap(),
        call_id: call_id.map(str::to_owned),
        definition: None,
        somebody: true,
    }
}

/// A decision in a line.
pub(crate) fn in_short(acted: &Acted) -> String {
    let permit = if acted.permitted { "permitted" } else { "not permitted" };
    format!("{} {} {permit}", acted.decision.word(), acted.code.code())
}

/// The code of a failure, or the word for what else went wrong.
pub(crate) fn wrong<T: core::fmt::Debug>(told: Result<T, ClientError>) -> String {
    match told.unwrap_err() {
        ClientError::Failed(failure) => code(failure.code),
        ClientError::Dead { .. } => "dead".to_owned(),
        ClientError::Foreign(error) => format!("foreign: {error}"),
        ClientError::Slow(_) => "slow".to_owned(),
        ClientError::Broken { .. } => "broken".to_owned(),
    }
}

pub(crate) fn code(code: FailureCode) -> String {
    serde_json::to_string(&code).unwrap().trim_matches('"').to_owned()
}

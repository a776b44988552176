//! Commands ask the daemon when it runs, and answer the same when none does; what a daemon that is dead, killed or another's
//! leaves them with.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

use actum_core::{Owner, Seen};
use actum_serve::client::{Address, Client};
use actum_serve::wire::{Act, CallResult, Observe, Role, Start};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::owner::rent;
use crate::shell::{Shell, text};

/// A daemon of a shell's project. It does not outlive its test.
pub(crate) struct Daemon {
    child: Child,
    socket: PathBuf,
    /// What it said once it answered.
    pub(crate) ready: Value,
}

impl Daemon {
    pub(crate) fn of(shell: &Shell, args: &[&str]) -> Self {
        let args = [&["daemon", "--json"], args].concat();
        let mut command = shell.actum(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { child, socket: text(&ready, "socket").into(), ready }
    }

    /// The first decision that a watcher sees, once `line` was played often enough that it looks.
    pub(crate) fn watched(&self, shell: &Shell, line: &str) -> Value {
        assert!(self.socket.exists());
        let mut watch = shell.actum(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        while shell.json("actum status --json")["watchers"] != 1 {
            thread::yield_now();
        }
        shell.said(line);
        let mut seen = String::new();
        BufReader::new(watch.stdout.take().unwrap()).read_line(&mut seen).unwrap();
        watch.kill().unwrap();
        watch.wait().unwrap();
        serde_json::from_str(&seen).unwrap()
    }

    pub(crate) fn told_to_stop(mut self) -> i32 {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }

    fn owner(&self) -> Client {
        let role = Role::Owner { known: Owner::YesFlag };
        Client::connect(&Address::own(&self.socket), role, "a test").unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const LIFE: &str = r#"
    actum session open --yes > session
    actum observe --session $(cat session) --yes 'Pay the rent of 900 as Anna wrote.'
    actum observe --session $(cat session) --yes --seen result --channel web:rent.example --author web/get 'Anna: DE89370400440532013000'
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"DE89370400440532013000","amount":900}' --id c1
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"DE89370400440532013000","amount":900}' --id c1 --json
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":1,"payee":2}'
    actum act --session s-nobody --yes --tool bank/pay --arguments '{"payee":"X"}' --nobody
    actum inbox
    actum approve $(actum inbox --json | grep -o '"receipt":"[^"]*"' | head -1 | cut -d'"' -f4) --yes
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"DE89370400440532013000","amount":900}' --id c2
    actum end 99 --outcome passed --yes
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"GB29NWBK60161331926819","amount":1}'
    actum deny $(actum inbox --json | grep -o '"receipt":"[^"]*"' | tail -1 | cut -d'"' -f4) --yes --json
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"GB29NWBK60161331926819","amount":1}'
    actum remember --session $(cat session) --entry MEMORY.md#rent 'The rent is 900.'
    actum recall --entry MEMORY.md#rent --session $(cat session) 'The rent is 900.'
    actum recall --entry MEMORY.md#rent 'The rent is 901.'
    actum recall --entry MEMORY.md#rent --for action 'The rent is 900.'
    actum remember --session $(cat session) --entry jobs.json#1 --task 'Pay the rent.'
    actum fire --entry jobs.json#1 --yes 'Pay the rent.'
    actum quarantine
    actum mandate grant --tool bank/pay --audience session:$(cat session) --equal payee=DE89370400440532013000 --equal amount=901 --for 24h --uses 2 --yes
    actum mandate list
    actum act --session $(cat session) --yes --tool bank/pay --arguments '{"payee":"DE89370400440532013000","amount":901}'
    actum adapter add hook --channels user,web:* --to key --yes
    ACTUM_CREDENTIAL_FILE=key actum session open --as hook > hooked
    ACTUM_CREDENTIAL_FILE=key actum observe --as hook --session $(cat hooked) --channel mail:x 'no channel of its own'
    ACTUM_CREDENTIAL=wrong actum session open --as hook
    actum run --step tests --subject x -- ./check x
    actum ground tests x
    actum ground lint x
    actum skip tests x --session $(cat session) --yes --json
    actum revoke --channel web:rent.example --reason 'taken over' --yes
    actum adapter remove hook --yes
    actum policy accept --yes
    actum coverage
    actum why 20
    actum session show $(cat session)
    actum verify
"#;

const POLICY: &str = r#"version = 1
[steps.tests]
commands = [["./check", "{subject}"]]
subject = "text"
[tools."bank/pay"]
class = "effect"
binding = ["payee", "amount"]
"#;

#[test]
fn every_command_answers_the_same_with_a_daemon_and_without() {
    let alone = Shell::with(POLICY);
    let served = Shell::with(POLICY);
    let daemon = Daemon::of(&served, &[]);
    // Receipts hold digits of a call's digest, and the same call has the same.
    let (alone, served) = (alone.play(LIFE), served.play(LIFE));
    for met in ["approved_call", "declined", "allow (mandate)", "recorded run", "is revoked"] {
        assert!(alone.contains(met), "{met} is not met\n{alone}");
    }
    for (one, other) in alone.lines().zip(served.lines()) {
        assert_eq!(one, other, "\n--- alone\n{alone}\n--- served\n{served}");
    }
    assert_eq!(alone.lines().count(), served.lines().count());
    assert_eq!(daemon.told_to_stop(), 0);
}

#[test]
fn a_daemon_that_is_told_to_stop_leaves_no_socket_and_no_lock() {
    let shell = rent();
    let daemon = Daemon::of(&shell, &[]);
    let socket = daemon.socket.clone();
    assert!(socket.exists());
    let second = shell.said("actum daemon");
    assert!(second.err.contains("another daemon answers there"), "{second}");
    assert_eq!(daemon.told_to_stop(), 0);
    assert!(!socket.exists());
    assert_eq!(shell.said("actum session open --yes").code, 0);
    shell.is_whole();
}

#[test]
fn status_says_weaker_and_how_often_the_owner_was_asked() {
    let shell = rent();
    let none = shell.said("actum status");
    assert_eq!(none.code, 1);
    assert!(none.out.starts_with("no daemon runs"), "{none}");
    let daemon = Daemon::of(&shell, &[]);
    shell.said(crate::owner::PAYS);
    let said = shell.said("actum status");
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("same user: weaker"), "{said}");
    assert!(
        said.out.contains("1 question in 1 effect call (100 %); 1 call waits for you"),
        "{said}"
    );
    assert_eq!(daemon.told_to_stop(), 0);
}

#[test]
fn whoever_watches_reads_decisions_as_they_are_made() {
    let shell = rent();
    let daemon = Daemon::of(&shell, &[]);
    let mut watch = shell.actum(&["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let (seen, lines) = channel();
    let mut reader = BufReader::new(watch.stdout.take().unwrap());
    while shell.json("actum status --json")["watchers"] != 1 {
        thread::yield_now();
    }
    let reads = thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap() > 0 {
            seen.send(core::mem::take(&mut line)).unwrap();
        }
    });
    let mut all = String::new();
    while !all.contains("actum approve") {
        shell.said(crate::owner::PAYS);
        all.extend(lines.try_iter());
        if all.is_empty() {
            thread::yield_now();
        }
    }
    assert!(all.contains("ask (untrusted_argument)"), "{all}");
    assert!(all.contains("bank/pay in s-"), "{all}");
    assert!(all.contains("for a result from a web page"), "{all}");
    assert_eq!(daemon.told_to_stop(), 0);
    assert_eq!(watch.wait().unwrap().code(), Some(0), "it ends with the daemon");
    reads.join().unwrap();
}

#[test]
fn a_command_that_was_told_of_a_daemon_asks_that_one_and_no_other() {
    let shell = rent();
    let events = || shell.json("actum verify --json")["events"].clone();
    let before = events();
    let dead = "ACTUM_SOCKET=/nowhere/socket actum";
    let told = shell.said(&format!("{dead} session open --yes"));
    assert_eq!(told.code, 1, "{told}");
    assert!(told.err.contains("no daemon answers at /nowhere/socket"), "{told}");
    assert!(told.err.contains("effects are refused"), "{told}");
    let read = shell.said(&format!("{dead} recall --entry MEMORY.md#x 'the rent is 900'"));
    assert_eq!(read.code, 0, "{read}");
    assert!(read.out.starts_with("[actum: data. The ledger cannot be believed"), "{read}");
    assert!(read.err.contains("no daemon answers"), "{read}");
    let acted = shell.said(&format!("{dead} recall --entry MEMORY.md#x --for action 'pay'"));
    assert_eq!(acted.code, 14, "{acted}");
    assert_eq!(events(), before, "nothing was written past it");

    let daemon = Daemon::of(&shell, &[]);
    let socket = daemon.socket.display().to_string();
    let another = format!("ACTUM_SOCKET={socket} ACTUM_DAEMON_UID=12345 actum");
    let told = shell.said(&format!("{another} session open --yes"));
    assert_eq!(told.code, 1);
    assert!(told.err.contains("not to user 12345"), "{told}");
    let log = shell.said(&format!("{another} log"));
    assert!(log.err.contains("which the daemon of another user keeps"), "{log}");
    let own = shell.said(&format!("ACTUM_SOCKET={socket} actum session open --yes"));
    assert_eq!(own.code, 0, "{own}");
    assert_eq!(daemon.told_to_stop(), 0);
}

#[test]
fn a_daemon_is_started_on_demand_once_and_says_that_it_is_weaker() {
    let shell = rent();
    let opened = shell.said("ACTUM_DAEMON=start actum session open --yes");
    assert_eq!(opened.code, 0, "{opened}");
    let status = shell.json("actum status --json");
    assert_eq!(status["weaker"], true);
    let again = shell.said("ACTUM_DAEMON=start actum session open --yes");
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(shell.json("actum status --json")["process"], status["process"]);
    shell.quietly(&format!("kill -TERM {}", status["process"]));
    while shell.said("actum status").code == 0 {
        thread::yield_now();
    }
    shell.is_whole();
}

fn pay(session: &str, id: &str) -> Act {
    let arguments = r#"{"payee":"DE89370400440532013000","amount":1}"#.to_owned();
    Act {
        session: session.to_owned(),
        tool: "bank/pay".to_owned(),
        arguments: RawValue::from_string(arguments).unwrap(),
        call_id: Some(id.to_owned()),
        definition: None,
        somebody: true,
    }
}

fn begin(client: &mut Client) -> String {
    let session = client.open(Start::Fresh {}).unwrap().session;
    let turn = Observe {
        session: session.clone(),
        seen: Seen::Turn,
        channel: None,
        author: None,
        text: "Pay 1 to DE89370400440532013000.".to_owned(),
        entry: None,
        arguments: None,
        carries: None,
    };
    client.observe(&turn).unwrap();
    session
}

#[test]
fn a_daemon_that_is_killed_while_many_ask_loses_nothing_that_it_answered() {
    let shell = Shell::with(POLICY);
    let mut daemon = Daemon::of(&shell, &[]);
    let answered = Mutex::new(BTreeSet::new());
    let (told, enough) = channel();
    thread::scope(|scope| {
        for of in 0..8 {
            let (told, answered, daemon) = (told.clone(), &answered, &daemon);
            let mut client = daemon.owner();
            let session = begin(&mut client);
            scope.spawn(move || {
                // Until it is killed.
                for nth in 0.. {
                    let Ok(acted) = client.act(&pay(&session, &format!("{of}-{nth}"))) else {
                        return;
                    };
                    assert!(acted.permitted);
                    answered.lock().unwrap().insert(acted.permit.unwrap());
                    told.send(()).unwrap();
                }
            });
        }
        for _ in 0..200 {
            enough.recv().unwrap();
        }
        let pid = daemon.child.id().to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    });
    daemon.child.wait().unwrap();
    shell.is_whole();
    let decided: BTreeSet<u64> = shell
        .said("actum log --all --kind decided --json")
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["index"].as_u64().unwrap())
        .collect();
    let answered = answered.into_inner().unwrap();
    assert!(answered.is_subset(&decided), "{:?}", answered.difference(&decided));

    let daemon = Daemon::of(&shell, &[]);
    let mut client = daemon.owner();
    let permit = *answered.first().unwrap();
    let ended = client.end_call(permit, actum_core::Outcome::Errored, CallResult::default());
    assert!(ended.is_ok(), "a call that was going on is ended by its number");
    drop(client);
    assert_eq!(daemon.told_to_stop(), 0);
}

#[test]
fn the_units_of_the_examples_say_what_the_command_knows() {
    let shell = Shell::empty();
    let unit = include_str!("../../../../examples/daemon/actum.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/"));
    let plist = include_str!("../../../../examples/daemon/org.example.actum.plist");
    let (_, array) = plist.split_once("<array>").unwrap();
    let (array, _) = array.split_once("</array>").unwrap();
    let words = array.split("<string>").skip(1).map(|it| it.split("</string>").next().unwrap());
    let job: Vec<&str> = words.map(|word| word.trim_start_matches("/usr/local/bin/")).collect();
    for line in [start.unwrap().to_owned(), job.join(" ")] {
        let said = shell.said(&format!("{line} --help"));
        assert_eq!(said.code, 0, "{line}\n{said}");
        assert!(line.contains("--owner") && line.contains("--agent"), "{line}");
    }
}

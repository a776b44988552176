//! A daemon that is dead, slow or full, a disk that fails, a store that is put back: no effect is allowed, reading goes on, and the
//! answer says so.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use actum_core::Outcome;
use actum_serve::client::{Client, ClientError};
use actum_serve::daemon::{Daemon, OPEN_MAX, WAITING_MAX};
use actum_serve::wire::{CallResult, Recall, Start};
use actum_store::{Disk, DiskFile, RealDisk, Stat};

use crate::served::{Scene, in_short, open, owner, pay, turn, wrong};

const PAYEE: &str = "DE89370400440532013000";

/// A disk whose syncs wait for a word, or fail.
#[derive(Debug, Clone, Default)]
struct Balky {
    held: Arc<(Mutex<Held>, Condvar)>,
    fails: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Held {
    holds: bool,
    waits: bool,
}

impl Balky {
    fn hold(&self) {
        self.held.0.lock().unwrap().holds = true;
    }

    /// Returns once somebody waits for the disk.
    fn is_waited_for(&self) {
        let (held, changed) = &*self.held;
        drop(changed.wait_while(held.lock().unwrap(), |held| !held.waits).unwrap());
    }

    fn release(&self) {
        let (held, changed) = &*self.held;
        held.lock().unwrap().holds = false;
        changed.notify_all();
    }

    fn sync(&self) -> io::Result<()> {
        let (held, changed) = &*self.held;
        let mut state = held.lock().unwrap();
        while state.holds {
            state.waits = true;
            changed.notify_all();
            state = changed.wait(state).unwrap();
        }
        state.waits = false;
        if self.fails.load(Ordering::SeqCst) {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }
}

#[derive(Debug)]
struct BalkyFile(File, Balky);

impl DiskFile for BalkyFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.1.sync()
    }
    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.0.set_length(length)
    }
    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }
}

impl Disk for Balky {
    type File = BalkyFile;
    type Lock = File;

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        RealDisk.read(path, limit)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        RealDisk.make_folder(folder)
    }
    fn create(&self, path: &Path) -> io::Result<BalkyFile> {
        Ok(BalkyFile(RealDisk.create(path)?, self.clone()))
    }
    fn open(&self, path: &Path) -> io::Result<BalkyFile> {
        Ok(BalkyFile(RealDisk.open(path)?, self.clone()))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        RealDisk.sync_folder(folder)
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealDisk.stat(path)
    }
    fn lock(
        &self,
        path: &Path,
        holder: &str,
        patience: Duration,
    ) -> Result<File, Result<String, io::Error>> {
        RealDisk.lock(path, holder, patience)
    }
}

/// A daemon on such a disk, whose clock for deadlines goes by what is added to it; and a session whose user wants 13 paid.
struct Slow {
    scene: Scene<Balky>,
    disk: Balky,
    seconds: Arc<AtomicU64>,
    daemon: Daemon,
    session: String,
}

impl Slow {
    fn new() -> Self {
        let disk = Balky::default();
        let scene = Scene::on(disk.clone());
        let seconds = Arc::new(AtomicU64::new(0));
        let mut options = scene.options();
        let read = Arc::clone(&seconds);
        options.now = Arc::new(move || Duration::from_secs(read.load(Ordering::SeqCst)));
        let daemon = Daemon::start(scene.desk(), options).unwrap();
        let mut client = scene.owner();
        let session = open(&mut client);
        client.observe(&turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
        Self { scene, disk, seconds, daemon, session }
    }

    fn act(&self, client: &mut Client, id: &str) -> Result<String, ClientError> {
        client.act(&pay(&self.session, PAYEE, 13, Some(id))).map(|acted| in_short(&acted))
    }
}

#[test]
fn a_call_that_was_allowed_too_late_is_ended_and_not_permitted() {
    let slow = Slow::new();
    let mut client = slow.scene.owner();
    slow.disk.hold();
    thread::scope(|scope| {
        let asked = scope.spawn(|| wrong(slow.act(&mut client, "c1")));
        slow.disk.is_waited_for();
        slow.seconds.store(60, Ordering::SeqCst);
        slow.disk.release();
        assert_eq!(asked.join().unwrap(), "late");
    });
    let again = slow.act(&mut client, "c1").unwrap();
    assert_eq!(again, "allow repeated not permitted", "its id is used up");
    assert_eq!(slow.act(&mut client, "c2").unwrap(), "allow trusted permitted");
    assert_eq!(client.status().unwrap().turned_away, (0, 1));
    let snapshot = slow.scene.store.read().unwrap();
    assert_eq!(snapshot.views().open_runs().count(), 1, "the late one has ended");
    drop(client);
    assert!(slow.daemon.stop());
}

#[test]
fn what_waits_longer_than_its_deadline_is_not_decided_at_all() {
    let slow = Slow::new();
    let (mut one, mut other) = (slow.scene.owner(), slow.scene.owner());
    let count =
        |slow: &Slow| slow.scene.store.read().unwrap().views().provenance().decisions().len();
    slow.disk.hold();
    thread::scope(|scope| {
        let first = scope.spawn(|| one.open(Start::Fresh {}).map(|_| ()));
        slow.disk.is_waited_for();
        let second = scope.spawn(|| wrong(slow.act(&mut other, "c1")));
        // The gate is busy, so it waits; and when the gate is free again its time is over.
        while slow.daemon.waiting() == 0 {
            thread::yield_now();
        }
        slow.seconds.store(60, Ordering::SeqCst);
        slow.disk.release();
        first.join().unwrap().unwrap();
        assert_eq!(second.join().unwrap(), "late");
    });
    assert_eq!(count(&slow), 0);
    drop((one, other));
    assert!(slow.daemon.stop());
}

/// A connection that pipelines, and reads when it likes.
struct Raw(BufReader<UnixStream>);

fn raw(socket: &Path) -> Raw {
    Raw(BufReader::new(UnixStream::connect(socket).unwrap()))
}

impl Raw {
    fn hello(&mut self) {
        let hello = r#"{"v":1,"id":0,"ask":"hello","with":{"role":{"owner":{"known":"yes-flag"}},"client":"t"}}"#;
        writeln!(self.0.get_mut(), "{hello}").unwrap();
        assert!(self.line().contains("\"ok\""));
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }
}

#[test]
fn when_too_many_requests_wait_the_next_ones_are_turned_away_and_none_is_lost() {
    let slow = Slow::new();
    let connections = WAITING_MAX / OPEN_MAX + 4;
    let more = connections * OPEN_MAX - WAITING_MAX;
    let mut raws: Vec<Raw> = (0..connections).map(|_| raw(&slow.scene.socket)).collect();
    raws.iter_mut().for_each(Raw::hello);
    let mut first = slow.scene.owner();
    slow.disk.hold();
    let (full, turned_away) = channel();
    thread::scope(|scope| {
        let act = scope.spawn(|| slow.act(&mut first, "c1").unwrap());
        slow.disk.is_waited_for();
        let readers: Vec<_> = raws
            .into_iter()
            .map(|mut raw| {
                let full = full.clone();
                scope.spawn(move || {
                    for id in 1..=OPEN_MAX {
                        let ask = r#""ask":"open","with":{"start":{"fresh":{}}}}"#;
                        writeln!(raw.0.get_mut(), "{{\"v\":1,\"id\":{id},{ask}").unwrap();
                    }
                    let mut opened = 0;
                    for _ in 0..OPEN_MAX {
                        let line = raw.line();
                        if line.contains("\"full\"") {
                            full.send(()).unwrap();
                        } else {
                            assert!(line.contains("\"ok\""), "{line}");
                            opened += 1;
                        }
                    }
                    opened
                })
            })
            .collect();
        for _ in 0..more {
            turned_away.recv().unwrap();
        }
        slow.disk.release();
        assert_eq!(act.join().unwrap(), "allow trusted permitted");
        let opened: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert_eq!(opened, WAITING_MAX, "all that waited were answered");
    });
    assert_eq!(first.status().unwrap().turned_away.0, more as u64);
    drop(first);
    assert!(slow.daemon.stop());
}

#[test]
fn a_daemon_that_is_told_to_stop_answers_what_was_asked() {
    let slow = Slow::new();
    let mut client = slow.scene.owner();
    slow.disk.hold();
    thread::scope(|scope| {
        let asked = scope.spawn(|| slow.act(&mut client, "c1").unwrap());
        slow.disk.is_waited_for();
        slow.daemon.stopper().stop();
        slow.disk.release();
        assert_eq!(asked.join().unwrap(), "allow trusted permitted");
    });
    assert_eq!(wrong(slow.act(&mut client, "c2")), "broken");
    assert!(slow.daemon.wait());
    assert_eq!(wrong(Client::connect(&slow.scene.address(), owner(), "a test")), "dead");
    let daemon = slow.scene.daemon();
    let mut client = slow.scene.owner();
    let again = client.act(&pay(&slow.session, PAYEE, 13, Some("c1"))).unwrap();
    assert_eq!(in_short(&again), "allow repeated not permitted", "it was decided once");
    let permit = again.event.unwrap();
    client.end_call(permit, Outcome::Errored, CallResult::default()).unwrap();
    drop(client);
    assert!(daemon.stop());
}

#[test]
fn after_a_failed_write_nothing_is_allowed_and_the_daemon_looks_and_goes_on() {
    let slow = Slow::new();
    let mut client = slow.scene.owner();
    slow.disk.fails.store(true, Ordering::SeqCst);
    assert_eq!(wrong(slow.act(&mut client, "c1")), "failed");
    let recall = Recall {
        session: None,
        entry: "MEMORY.md#rent".to_owned(),
        text: "the rent is 13".to_owned(),
        for_action: false,
    };
    let recalled = client.recall(&recall).unwrap();
    assert_eq!((recalled.decision.word(), recalled.code.code()), ("label", "unverified"));
    assert!(recalled.label.unwrap().contains("cannot be believed"));
    let for_action = client.recall(&Recall { for_action: true, ..recall }).unwrap();
    assert_eq!(for_action.code.code(), "not_for_action");
    assert!(client.status().unwrap().refused.is_some());
    slow.disk.fails.store(false, Ordering::SeqCst);
    let told = loop {
        // It looks again once a second.
        match slow.act(&mut client, "c2") {
            Ok(told) => break told,
            Err(error) => assert!(error.is_no_answer(), "{error}"),
        }
    };
    assert_eq!(told, "allow trusted permitted");
    drop(client);
    assert!(slow.daemon.stop());
}

#[test]
fn a_store_and_an_anchor_that_are_put_back_together_are_refused_by_the_daemon_that_saw_more() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let root = scene.folder.path();
    let mut client = scene.owner();
    let session = open(&mut client);
    client.observe(&turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
    let copy = |from: &str, to: &str| {
        let (from, to) = (root.join(from), root.join(to));
        assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    };
    copy("project", "project.old");
    copy("state/anchors", "anchors.old");
    let acted = client.act(&pay(&session, PAYEE, 13, Some("c1"))).unwrap();
    assert!(acted.permitted);
    for (name, old) in
        [("project/.actum/ledger", "project.old/.actum/ledger"), ("state/anchors", "anchors.old")]
    {
        fs::remove_dir_all(root.join(name)).unwrap();
        copy(old, name);
    }
    assert_eq!(wrong(client.act(&pay(&session, PAYEE, 13, Some("c2")))), "failed");
    let refused = client.act(&pay(&session, PAYEE, 13, Some("c3")));
    let said = refused.unwrap_err();
    let ClientError::Failed(failure) = said else { panic!("{said}") };
    assert_eq!(failure.reason.as_deref(), Some("rolled_back"), "{failure}");
    drop(client);
    assert!(daemon.stop());
}

/// A greeting that would be one, under the id of another request.
const OTHER_ID: &str = "{\"id\":7,\"ok\":{\"version\":1,\"program\":\"x\",\"ledger\":\"x\",\"you\":\"owner\",\"uid\":0,\"weaker\":true}}\n";

#[test]
fn a_daemon_that_never_answers_is_slow_and_one_that_talks_nonsense_is_broken() {
    let scene = Scene::new();
    let folder = scene.socket.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    let listener = UnixListener::bind(&scene.socket).unwrap();
    let within = Duration::from_millis(20);
    let connect = || Client::connect_within(&scene.address(), owner(), "a test", within);
    assert_eq!(wrong(connect()), "slow");
    thread::scope(|scope| {
        scope.spawn(|| {
            drop(listener.accept().unwrap());
            for said in
                ["yes\n", "{\"id\":1,\"ok\":{\"permitted\":true}}\n", OTHER_ID, "{\"id\":1}\n"]
            {
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
                stream.write_all(said.as_bytes()).unwrap();
            }
        });
        for _ in 0..4 {
            let patient = Client::connect(&scene.address(), owner(), "a test");
            assert_eq!(wrong(patient), "broken");
        }
    });
}

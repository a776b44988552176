//! The daemon: a thread that owns the gate, one that accepts, and one for each connection. It is asked over a Unix socket by whoever
//! its owner lets ask; `docs/formats/socket.md` is the page.
//!
//! The gate's thread never waits for a reader and never for a timer: it takes all that has come while it was busy, and answers it with
//! one commit.

mod connection;
mod outlet;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use actum_store::{Cache, Disk};

use self::connection::{Connection, failed};
use self::outlet::{Open, Outlet};
use crate::desk::{Answer, Asked, Desk, Served, Who};
use crate::socket::{SocketError, check_folder_of, make_folder_of, own_uid, peer_uid, system};
use crate::wire::{Failure, FailureCode, Line};

pub use self::connection::{HELLO_PATIENCE, OPEN_MAX};
pub use self::outlet::OUT_MAX;

/// Requests that may wait for the gate.
pub const WAITING_MAX: usize = 1024;
/// Connections at once.
pub const CONNECTIONS_MAX: usize = 512;
/// Connections of one user at once.
pub const CONNECTIONS_OF_ONE_MAX: usize = 384;
/// Bytes of long lines that are held at once.
pub const HELD_MAX: usize = 64 << 20;
/// Requests in one commit.
const TOGETHER_MAX: usize = 256;
/// Turns that others get to join a commit.
const TURNS: usize = 16;
/// How long accepting pauses after the system had no room for another connection.
const NO_ROOM_PAUSE: Duration = Duration::from_millis(50);

/// A clock that only goes on, for deadlines.
pub type Monotonic = Arc<dyn Fn() -> Duration + Send + Sync>;

/// How a daemon is to be.
#[derive(Clone)]
pub struct Options {
    /// Its socket.
    pub socket: PathBuf,
    /// Whom it serves.
    pub served: Served,
    /// The permission bits of the socket: who may connect at all.
    pub mode: u32,
    /// After how long without a connection it ends.
    pub idle: Option<Duration>,
    /// By what deadlines are measured.
    pub now: Monotonic,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("socket", &self.socket)
            .field("served", &self.served)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// A daemon of this user for this user: weaker.
    pub fn same_user(socket: PathBuf) -> Self {
        let served = Served::same_user(own_uid());
        Self { socket, served, mode: 0o600, idle: None, now: monotonic() }
    }
}

/// The machine's clock that only goes on.
pub fn monotonic() -> Monotonic {
    let begun = Instant::now();
    Arc::new(move || begun.elapsed())
}

/// Why a daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Its socket cannot be made safely.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// Another daemon answers there.
    #[error("{}: another daemon answers there", socket.display())]
    Taken {
        /// The socket.
        socket: PathBuf,
    },
    /// The system gave no thread.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// What all threads share.
struct Shared {
    cache: Cache,
    now: Monotonic,
    stopping: AtomicBool,
    waiting: AtomicUsize,
    held: AtomicUsize,
    full: AtomicU64,
    late: AtomicU64,
    connections: Mutex<BTreeMap<u64, (u32, Arc<Outlet>)>>,
    socket: PathBuf,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, (u32, Arc<Outlet>)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for a long line, until it is dropped.
    fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        let add = |held: usize| held.checked_add(bytes).filter(|all| *all <= HELD_MAX);
        let added = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.is_ok().then(|| Reserved { shared: Arc::clone(self), bytes })
    }

    fn stop(&self) {
        if self.stopping.swap(true, Ordering::SeqCst) {
            return;
        }
        // Wakes whoever accepts. If nobody can connect, nobody is accepted either.
        drop(UnixStream::connect(&self.socket));
    }
}

/// Room that is given back.
struct Reserved {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.shared.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

enum Message {
    Ask(Box<Item>),
    /// A connection ended.
    Gone(u64),
}

/// A request that waits for the gate.
struct Item {
    asked: Asked,
    open: Open,
    within_ms: Option<u64>,
    until: Option<Duration>,
    /// Who is told who this is.
    admit: Option<SyncSender<Who>>,
    /// The room that its line took.
    reserved: Option<Reserved>,
}

/// A daemon that runs.
#[derive(Debug)]
pub struct Daemon {
    stopper: Stopper,
    accepting: JoinHandle<()>,
    gate: JoinHandle<()>,
}

/// Ends a daemon, from any thread.
#[derive(Clone)]
pub struct Stopper(Arc<Shared>);

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stopper").field(&self.0.socket).finish()
    }
}

impl Stopper {
    /// Asks it to end: nobody is accepted any more, what was asked is answered, and the ledger is let go.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Daemon {
    /// Makes the socket and starts to answer.
    ///
    /// # Errors
    /// [`DaemonError`].
    pub fn start<D>(mut desk: Desk<D>, options: Options) -> Result<Self, DaemonError>
    where
        D: Disk + Send + 'static,
        D::File: Send,
    {
        let Options { socket, served, mode, idle, now } = options;
        let listener = listen(&socket, mode)?;
        desk.begin(served.is_weaker());
        let shared = Arc::new(Shared {
            cache: desk.cache().clone(),
            now,
            stopping: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            full: AtomicU64::new(0),
            late: AtomicU64::new(0),
            connections: Mutex::default(),
            socket,
        });
        let (queue, asked) = sync_channel(WAITING_MAX);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let gate = Gate { desk, shared: Arc::clone(&shared), watchers: BTreeMap::new(), idle };
        let gate = thread("gate").spawn(move || gate.run(&asked)).map_err(DaemonError::Thread)?;
        let accepts = Accepts { listener, served, shared: Arc::clone(&shared), queue };
        let accepting =
            thread("accept").spawn(move || accepts.run()).map_err(DaemonError::Thread)?;
        Ok(Self { stopper: Stopper(shared), accepting, gate })
    }

    /// Ends it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// How many requests wait for the gate now.
    pub fn waiting(&self) -> usize {
        self.stopper.0.waiting.load(Ordering::SeqCst)
    }

    /// Waits until it has ended. Returns whether it ended well.
    pub fn wait(self) -> bool {
        let accepted = self.accepting.join().is_ok();
        self.gate.join().is_ok() && accepted
    }

    /// Ends it, and waits for that.
    pub fn stop(self) -> bool {
        self.stopper.stop();
        self.wait()
    }
}

/// Makes the socket, in a folder where nobody else can make one.
fn listen(socket: &Path, mode: u32) -> Result<UnixListener, DaemonError> {
    let uid = own_uid();
    make_folder_of(socket)?;
    check_folder_of(socket, uid)?;
    match fs::symlink_metadata(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(system("look at", socket, source).into()),
        Ok(meta) if !meta.file_type().is_socket() || meta.uid() != uid => {
            let what = "something stands there that is no socket of ours".to_owned();
            return Err(SocketError::Unsafe { path: socket.to_owned(), what }.into());
        }
        Ok(_) if UnixStream::connect(socket).is_ok() => {
            return Err(DaemonError::Taken { socket: socket.to_owned() });
        }
        // One that was killed left it.
        Ok(_) => fs::remove_file(socket).map_err(|source| system("remove", socket, source))?,
    }
    let listener = UnixListener::bind(socket).map_err(|source| system("bind", socket, source))?;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(socket, permissions)
        .map_err(|source| system("set the mode of", socket, source))?;
    Ok(listener)
}

struct Accepts {
    listener: UnixListener,
    served: Served,
    shared: Arc<Shared>,
    queue: SyncSender<Message>,
}

impl Accepts {
    fn run(self) {
        let mut threads: Vec<JoinHandle<()>> = Vec::new();
        let mut number = 0;
        loop {
            let accepted = self.listener.accept();
            if self.shared.stopping.load(Ordering::SeqCst) {
                break;
            }
            threads.retain(|thread| !thread.is_finished());
            match accepted {
                Ok((stream, _)) => {
                    number += 1;
                    threads.extend(self.welcome(stream, number));
                }
                // No room for it now. Whoever wants to be accepted waits a little.
                Err(_) => std::thread::park_timeout(NO_ROOM_PAUSE),
            }
        }
        drop(fs::remove_file(&self.shared.socket));
        let open: Vec<Arc<Outlet>> =
            self.shared.connections().values().map(|(_, outlet)| Arc::clone(outlet)).collect();
        for outlet in open {
            // Nothing more is read from it; what was asked is answered.
            let _ended = outlet.stream().shutdown(Shutdown::Read);
        }
        for thread in threads {
            // One that panicked has nothing to finish.
            let _finished = thread.join();
        }
        // With the last sender the gate ends.
        drop(self.queue);
    }

    /// Looks who it is, and gives it a thread of its own.
    fn welcome(&self, stream: UnixStream, number: u64) -> Option<JoinHandle<()>> {
        let uid = peer_uid(&stream).ok()?;
        let outlet = Outlet::new(stream).ok()?;
        let Some(peer) = self.served.peer(uid) else {
            let said = format!("user {uid} is none of those whom this daemon serves");
            let failure = Failure::new(FailureCode::Who, said)
                .hint("its owner serves another user with `actum daemon --agent UID`");
            outlet.send(&failed(None, failure));
            return None;
        };
        {
            let mut connections = self.shared.connections();
            let own = connections.values().filter(|(of, _)| *of == uid).count();
            if connections.len() >= CONNECTIONS_MAX || own >= CONNECTIONS_OF_ONE_MAX {
                drop(connections);
                self.shared.full.fetch_add(1, Ordering::Relaxed);
                let said = "so many connections are open that no more are taken";
                outlet.send(&failed(None, Failure::new(FailureCode::Full, said)));
                return None;
            }
            connections.insert(number, (uid, Arc::clone(&outlet)));
        }
        let (shared, queue) = (Arc::clone(&self.shared), self.queue.clone());
        let connection = Connection { number, peer, outlet, shared: Arc::clone(&shared), queue };
        let spawned = std::thread::Builder::new().name("connection".to_owned()).spawn(move || {
            connection.serve();
        });
        if spawned.is_err() {
            shared.connections().remove(&number);
        }
        spawned.ok()
    }
}

/// Stops the daemon when its gate is gone.
struct EndsWithGate(Arc<Shared>);

impl Drop for EndsWithGate {
    fn drop(&mut self) {
        self.0.stop();
    }
}

struct Gate<D: Disk> {
    desk: Desk<D>,
    shared: Arc<Shared>,
    /// Connections that want decisions: the id of their request, and how many decisions they have seen.
    watchers: BTreeMap<u64, (u64, Arc<Outlet>, usize)>,
    idle: Option<Duration>,
}

impl<D: Disk> Gate<D> {
    fn run(mut self, asked: &Receiver<Message>) {
        // Whichever way this ends, nobody is left to wait for it.
        let _ends = EndsWithGate(Arc::clone(&self.shared));
        let mut expected = 1;
        while let Some(first) = self.next(asked) {
            let batch = gather(first, asked, expected);
            expected = batch.len();
            self.answer(batch);
        }
    }

    /// The next message; nothing once everybody is gone.
    fn next(&self, asked: &Receiver<Message>) -> Option<Message> {
        let Some(idle) = self.idle else { return asked.recv().ok() };
        loop {
            match asked.recv_timeout(idle) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if self.shared.connections().is_empty() {
                        self.shared.stop();
                    }
                }
            }
        }
    }

    fn answer(&mut self, batch: Vec<Message>) {
        let now = (self.shared.now)();
        let (mut asked, mut waits) = (Vec::new(), Vec::new());
        for message in batch {
            match message {
                Message::Gone(connection) => {
                    self.desk.gone(connection);
                    self.watchers.remove(&connection);
                    self.shared.connections().remove(&connection);
                }
                Message::Ask(item) => {
                    self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                    let Item { asked: one, open, within_ms, until, admit, reserved } = *item;
                    if until.is_some_and(|until| now >= until) {
                        self.shared.late.fetch_add(1, Ordering::Relaxed);
                        open.answer(Err(late(within_ms)));
                        continue;
                    }
                    let connection = one.connection;
                    asked.push(one);
                    waits.push(Waits { connection, open, within_ms, until, admit, reserved });
                }
            }
        }
        if asked.is_empty() {
            return;
        }
        self.count();
        let answers = self.desk.answer(asked);
        let now = (self.shared.now)();
        let is_late = |waits: &Waits, answer: &Answer| {
            answer.permit.is_some() && waits.until.is_some_and(|until| now >= until)
        };
        let expired: Vec<u64> = waits
            .iter()
            .zip(&answers)
            .filter(|(waits, answer)| is_late(waits, answer))
            .filter_map(|(_, answer)| answer.permit)
            .collect();
        if !expired.is_empty() {
            // Nobody waits for these any more: what was allowed is ended before anybody is told.
            self.desk.expire(&expired);
        }
        for (waits, answer) in waits.into_iter().zip(answers) {
            let told = if is_late(&waits, &answer) {
                self.shared.late.fetch_add(1, Ordering::Relaxed);
                Err(late(waits.within_ms))
            } else {
                answer.told
            };
            if answer.watches {
                let (id, outlet) = waits.open.stream();
                let seen = self.desk.decision_count();
                self.watchers.insert(waits.connection, (id, outlet, seen));
            }
            waits.open.answer(told);
            drop(waits.reserved);
            if let (Some(admit), Some(who)) = (waits.admit, answer.who) {
                // It waits for this, unless it is gone.
                let _gone = admit.send(who);
            }
        }
        self.show();
    }

    fn count(&mut self) {
        let shared = &self.shared;
        let commits = self.desk.commits();
        let status = self.desk.status_mut();
        status.connections = shared.connections().len();
        status.watchers = self.watchers.len();
        status.queue = (shared.waiting.load(Ordering::Relaxed), WAITING_MAX);
        status.commits = commits;
        status.turned_away =
            (shared.full.load(Ordering::Relaxed), shared.late.load(Ordering::Relaxed));
    }

    /// Shows what was decided to whoever watches.
    fn show(&mut self) {
        let count = self.desk.decision_count();
        for (id, outlet, seen) in self.watchers.values_mut() {
            if *seen < count {
                for decision in self.desk.decisions_from(*seen) {
                    outlet.send(&Line { id: Some(*id), seen: Some(decision), ..Line::default() });
                }
            }
            // After a loss there are fewer, and it goes on from there.
            *seen = count;
        }
    }
}

/// Who waits for an answer.
struct Waits {
    connection: u64,
    open: Open,
    within_ms: Option<u64>,
    until: Option<Duration>,
    admit: Option<SyncSender<Who>>,
    reserved: Option<Reserved>,
}

fn late(within_ms: Option<u64>) -> Failure {
    let within = within_ms.unwrap_or_default();
    let said =
        format!("the deadline of {within} ms passed before it was answered; nothing was allowed");
    Failure::new(FailureCode::Late, said).hint("ask again with a new call id, or wait longer")
}

/// What is there, and what those who were answered last time ask next: they get a few turns of the processor to do so. No time is
/// waited for, and one who asks alone is not kept.
fn gather(first: Message, asked: &Receiver<Message>, expected: usize) -> Vec<Message> {
    let mut batch = vec![first];
    for _ in 0..TURNS {
        batch.extend(asked.try_iter().take(TOGETHER_MAX - batch.len().min(TOGETHER_MAX)));
        if batch.len() >= expected {
            break;
        }
        std::thread::yield_now();
    }
    batch
}

//! Runs a command with the terminal as its own, passes signals on, ends it when its time is over, and watches its output where
//! a rule asks for certain lines.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal as _, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use actum_core::policy::{Shortfall, Stream, Watch};
use actum_core::{Digest, PlainHasher};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// A command to run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Path,
    pub(crate) argv: &'a [String],
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) folder: &'a Path,
    pub(crate) timeout: Option<Duration>,
    /// Read its output, for the patterns of its rule.
    pub(crate) capture: bool,
    pub(crate) watch: Watch,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With this exit code, and whether its rule calls that a pass.
    Exited(i32, Result<(), Shortfall>),
    /// By this signal.
    Signalled(i32),
    /// It took longer than it was given.
    TimedOut,
    /// It could not be started.
    NotStarted(io::Error),
}

/// A command that ended, with the digest of its ending and of whatever was read of it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ending: Ending,
    pub(crate) result: Digest,
}

/// How long output is waited for that a command left to its children.
const DRAIN: Duration = Duration::from_secs(2);
/// How long a command may take to end once it was told to.
const GRACE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(5);
const CHUNK: usize = 16 * 1024;

/// Runs a command to its end.
///
/// # Errors
/// If signals cannot be watched, before anything is started.
pub(crate) fn run(job: Job<'_>) -> io::Result<Finished> {
    let ignored = ignored_signals();
    let passed_on = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    // What we were told to ignore, as `nohup` does, the command is to ignore as well.
    let heard = passed_on.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(heard)?;
    // With a terminal the command stays in our process group, so that keys reach it as if we were not there.
    let own_group = !io::stdin().is_terminal();
    let mut command = Command::new(job.program);
    command.env_clear().envs(job.environment).current_dir(job.folder);
    command.args(job.argv.iter().skip(1));
    if let Some(name) = job.argv.first() {
        command.arg0(name);
    }
    if own_group {
        command.process_group(0);
    }
    if job.capture {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let result = result_digest("not started", 0, &Tapped::default());
            return Ok(Finished { ending: Ending::NotStarted(error), result });
        }
    };
    let mut tap = Tap::new(&mut child, job.watch);
    let mut end = Countdown::new(job.timeout, own_group);
    let status = loop {
        for signal in signals.pending() {
            pass_on(&child, signal, own_group);
        }
        tap.turn(TICK);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        end.tick(&child);
    };
    end.end_the_rest(&child);
    tap.drain();
    Ok(tap.finish(status, end.is_over()))
}

/// The signals this process ignores, as bits from signal 1 on. Elsewhere than on Linux that is not known.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

fn pass_on(child: &Child, signal: i32, own_group: bool) {
    // The terminal sent these to the command as well.
    if !own_group && matches!(signal, SIGINT | SIGQUIT) {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(signal) {
        send(child, signal, own_group);
    }
}

fn send(child: &Child, signal: Signal, own_group: bool) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    // It may have ended this moment.
    let _ended =
        if own_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

fn group_lives(child: &Child) -> bool {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    group.is_some_and(|group| test_kill_process_group(group).is_ok())
}

/// When a command's time is over: first it is told, then it is made to.
struct Countdown {
    tell_at: Option<Instant>,
    kill_at: Option<Instant>,
    own_group: bool,
}

impl Countdown {
    fn new(timeout: Option<Duration>, own_group: bool) -> Self {
        let tell_at = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { tell_at, kill_at: None, own_group }
    }

    fn tick(&mut self, child: &Child) {
        let now = Instant::now();
        if self.kill_at.is_some_and(|at| now >= at) {
            send(child, Signal::KILL, self.own_group);
        } else if self.kill_at.is_none() && self.tell_at.is_some_and(|at| now >= at) {
            send(child, Signal::TERM, self.own_group);
            self.kill_at = now.checked_add(GRACE);
        }
    }

    /// The command ended when it was told to; what it started may not have.
    fn end_the_rest(&self, child: &Child) {
        let (Some(until), true) = (self.kill_at, self.own_group) else { return };
        while Instant::now() < until && group_lives(child) {
            thread::sleep(TICK);
        }
        send(child, Signal::KILL, true);
    }

    const fn is_over(&self) -> bool {
        self.kill_at.is_some()
    }
}

/// What was read of a command's output.
#[derive(Debug, Default)]
struct Tapped {
    out: PlainHasher,
    err: PlainHasher,
}

/// Shows a command's output as it comes, and looks at it on the way.
struct Tap {
    pieces: Option<Receiver<(Stream, Vec<u8>)>>,
    tapped: Tapped,
    watch: Watch,
}

impl Tap {
    fn new(child: &mut Child, watch: Watch) -> Self {
        let (send, pieces) = sync_channel(64);
        let out = child.stdout.take().map(|pipe| listen(pipe, Stream::Out, send.clone()));
        let err = child.stderr.take().map(|pipe| listen(pipe, Stream::Err, send.clone()));
        let pieces = (out.is_some() || err.is_some()).then_some(pieces);
        Self { pieces, tapped: Tapped::default(), watch }
    }

    /// Takes what is there, or waits a moment for it.
    fn turn(&mut self, patience: Duration) {
        let Some(pieces) = &self.pieces else { return thread::sleep(patience) };
        match pieces.recv_timeout(patience) {
            Ok((stream, piece)) => self.take(stream, &piece),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.pieces = None,
        }
    }

    /// Takes what is left. A child of the command may hold the pipe for ever; that is not waited for.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        while self.pieces.is_some() && Instant::now() < until {
            self.turn(TICK);
        }
    }

    fn take(&mut self, stream: Stream, piece: &[u8]) {
        let shown = match stream {
            Stream::Out => {
                self.tapped.out.update(piece);
                let mut out = io::stdout().lock();
                out.write_all(piece).and_then(|()| out.flush())
            }
            Stream::Err => {
                self.tapped.err.update(piece);
                io::stderr().lock().write_all(piece)
            }
        };
        // Nobody reads it any more; the command is watched all the same.
        drop(shown);
        self.watch.feed(stream, piece);
    }

    fn finish(self, status: ExitStatus, timed_out: bool) -> Finished {
        let (how, number) = match (timed_out, status.code(), status.signal()) {
            (true, ..) => ("timed out", 0),
            (false, Some(code), _) => ("exited", code),
            (false, None, signal) => ("signalled", signal.unwrap_or_default()),
        };
        let result = result_digest(how, number, &self.tapped);
        let ending = match (timed_out, status.code()) {
            (true, _) => Ending::TimedOut,
            (false, Some(code)) => Ending::Exited(code, self.watch.finish(code)),
            (false, None) => Ending::Signalled(number),
        };
        Finished { ending, result }
    }
}

fn listen(
    mut pipe: impl Read + Send + 'static,
    stream: Stream,
    send: SyncSender<(Stream, Vec<u8>)>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            match pipe.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(length) => {
                    let piece = buffer.get(..length).unwrap_or_default().to_vec();
                    if send.send((stream, piece)).is_err() {
                        return;
                    }
                }
            }
        }
    })
}

fn result_digest(how: &str, number: i32, tapped: &Tapped) -> Digest {
    let (out, err) = (tapped.out.clone().finish(), tapped.err.clone().finish());
    let number = number.to_be_bytes();
    Digest::of("actum/result/v1", &[how.as_bytes(), &number, out.as_bytes(), err.as_bytes()])
}

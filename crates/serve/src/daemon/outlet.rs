//! What goes out on one connection. Whoever has an answer hands it over and never waits for the reader: what the system does not take
//! at once is written by a thread of its own, and a reader for whom too much waits is cut off.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::SendFlags;
use serde_json::value::RawValue;

use crate::wire::{Failure, FailureCode, Line, write_line};

/// Bytes that may wait for one reader.
pub const OUT_MAX: usize = 16 << 20;
/// How long a reader may take nothing at all.
const WRITE_PATIENCE: Duration = Duration::from_secs(10);

/// The way out of one connection.
#[derive(Debug)]
pub(super) struct Outlet {
    stream: UnixStream,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// A thread is writing what waits.
    writes: bool,
    /// Nothing goes out any more.
    dead: bool,
    /// Requests that are not answered yet.
    open: usize,
}

/// A request that is to be answered. One that is dropped is answered by that nobody did.
#[derive(Debug)]
pub(super) struct Open {
    id: u64,
    outlet: Arc<Outlet>,
    is_answered: bool,
}

impl Open {
    /// Answers it.
    pub(super) fn answer(mut self, told: Result<Box<RawValue>, Failure>) {
        self.say(told);
        self.is_answered = true;
    }

    /// What later lines on it are sent through: its id and the way out.
    pub(super) fn stream(&self) -> (u64, Arc<Outlet>) {
        (self.id, Arc::clone(&self.outlet))
    }

    fn say(&self, told: Result<Box<RawValue>, Failure>) {
        let id = Some(self.id);
        self.outlet.send(&match told {
            Ok(ok) => Line { id, ok: Some(ok), ..Line::default() },
            Err(failure) => Line { id, error: Some(failure), ..Line::default() },
        });
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.is_answered {
            let said = "the daemon broke while it answered; nobody knows what was kept";
            self.say(Err(Failure::new(FailureCode::Failed, said)));
        }
        self.outlet.state().open -= 1;
        self.outlet.changed.notify_all();
    }
}

impl Outlet {
    pub(super) fn new(stream: UnixStream) -> io::Result<Arc<Self>> {
        stream.set_write_timeout(Some(WRITE_PATIENCE))?;
        Ok(Arc::new(Self { stream, state: Mutex::default(), changed: Condvar::new() }))
    }

    pub(super) const fn stream(&self) -> &UnixStream {
        &self.stream
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until fewer than `most` requests are open, and opens one; nothing once the connection is dead.
    pub(super) fn begin(self: &Arc<Self>, id: u64, most: usize) -> Option<Open> {
        let mut state = self.state();
        while state.open >= most && !state.dead {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.dead {
            return None;
        }
        state.open += 1;
        Some(Open { id, outlet: Arc::clone(self), is_answered: false })
    }

    /// Waits until all are answered and everything is out, or nobody reads it.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        while !state.dead && (state.open > 0 || state.writes) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.cut();
    }

    /// Says something.
    pub(super) fn send(self: &Arc<Self>, line: &Line) {
        // Whatever is said here has a JSON form.
        let Ok(mut bytes) = write_line(line) else { return self.cut() };
        let mut state = self.state();
        if state.dead {
            return;
        }
        if !state.writes {
            let sent =
                rustix::net::send(&self.stream, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            match sent {
                Ok(sent) if sent == bytes.len() => return,
                Ok(sent) => drop(bytes.drain(..sent)),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(_) => {
                    drop(state);
                    return self.cut();
                }
            }
        }
        state.bytes += bytes.len();
        if state.bytes > OUT_MAX {
            drop(state);
            return self.cut();
        }
        state.waiting.push_back(bytes);
        if state.writes {
            return;
        }
        state.writes = true;
        drop(state);
        let this = Arc::clone(self);
        let spawned =
            std::thread::Builder::new().name("outlet".to_owned()).spawn(move || this.write());
        if spawned.is_err() {
            self.cut();
        }
    }

    fn write(&self) {
        loop {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front().filter(|_| !state.dead) else {
                state.writes = false;
                drop(state);
                self.changed.notify_all();
                return;
            };
            state.bytes -= next.len();
            drop(state);
            if (&self.stream).write_all(&next).is_err() {
                self.cut();
            }
        }
    }

    /// Ends the connection.
    pub(super) fn cut(&self) {
        self.state().dead = true;
        self.changed.notify_all();
        // It may have ended already.
        let _ended = self.stream.shutdown(Shutdown::Both);
    }
}

//! One connection: lines are read, checked and made ready here, beside the gate, and what is ready waits for it.

use std::io::{self, BufRead, BufReader};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use super::outlet::Outlet;
use super::{Item, Message, Reserved, Shared};
use crate::desk::{Asked, Peer, Who, prepare};
use crate::wire::{Ask, Failure, FailureCode, LINE_MAX, Line, Request, read_request, too_long};

/// Requests of one connection that are not answered yet.
pub const OPEN_MAX: usize = 64;
/// How long a peer may take to say hello.
pub const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a line that need no reservation.
const SHORT_LINE: usize = 64 << 10;

pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) peer: Peer,
    pub(super) outlet: Arc<Outlet>,
    pub(super) shared: Arc<Shared>,
    pub(super) queue: SyncSender<Message>,
}

/// What a line was.
enum Read {
    Line(Vec<u8>, Option<Reserved>),
    Refused(Failure),
    End,
}

impl Connection {
    /// Serves it to its end. What was asked is answered before this returns.
    pub(super) fn serve(self) {
        let read = self.outlet.stream().set_read_timeout(Some(HELLO_PATIENCE));
        if read.is_ok() {
            self.talk();
        }
        self.outlet.finish();
        // The gate may be gone already.
        let _gone = self.queue.send(Message::Gone(self.number));
    }

    fn talk(&self) {
        let mut reader = BufReader::new(self.outlet.stream());
        let mut who: Option<Arc<Who>> = None;
        loop {
            let (line, reserved) = match self.read(&mut reader) {
                Ok(Read::Line(line, reserved)) => (line, reserved),
                Ok(Read::Refused(failure)) => return self.say_and_close(None, failure),
                Ok(Read::End) | Err(_) => return,
            };
            let request = match read_request(&line) {
                Ok(request) => request,
                Err((id, failure)) if who.is_none() => return self.say_and_close(id, failure),
                Err((id, failure)) => {
                    self.say(id, failure);
                    continue;
                }
            };
            drop(line);
            match (&who, &request.ask) {
                (None, Ask::Hello(_)) => match self.greet(request) {
                    Some(found) => {
                        who = Some(Arc::new(found));
                        if self.outlet.stream().set_read_timeout(None).is_err() {
                            return;
                        }
                    }
                    None => return,
                },
                (None, _) => {
                    let failure = Failure::new(FailureCode::Who, "who asks? Say hello first");
                    return self.say_and_close(Some(request.id), failure);
                }
                (Some(_), Ask::Hello(_)) => {
                    let failure = Failure::new(FailureCode::Malformed, "hello was said before");
                    self.say(Some(request.id), failure);
                }
                (Some(who), _) => {
                    if self.ask(who, request, reserved).is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// Reads a line without its end. A long one is held only where there is room for it.
    fn read(&self, reader: &mut BufReader<impl io::Read>) -> io::Result<Read> {
        let (mut line, mut reserved) = (Vec::new(), None);
        loop {
            let found = reader.fill_buf()?;
            if found.is_empty() {
                return Ok(Read::End);
            }
            let end = found.iter().position(|byte| *byte == b'\n');
            let piece = found.get(..end.unwrap_or(found.len())).unwrap_or_default();
            line.extend_from_slice(piece);
            let length = piece.len() + usize::from(end.is_some());
            reader.consume(length);
            if line.len() > LINE_MAX {
                return Ok(Read::Refused(too_long()));
            }
            if line.len() > SHORT_LINE && reserved.is_none() {
                let Some(room) = self.shared.reserve(LINE_MAX) else {
                    self.shared.full.fetch_add(1, Ordering::Relaxed);
                    return Ok(Read::Refused(full("so many long lines are held")));
                };
                reserved = Some(room);
            }
            if end.is_some() {
                return Ok(Read::Line(line, reserved));
            }
        }
    }

    /// Has the gate say who this is, and waits for that.
    fn greet(&self, request: Request) -> Option<Who> {
        let (admit, admitted) = std::sync::mpsc::sync_channel(1);
        let who = Arc::new(Who::unknown());
        self.put(&who, request, None, Some(admit))?;
        admitted.recv().ok()
    }

    fn ask(&self, who: &Arc<Who>, request: Request, reserved: Option<Reserved>) -> Option<()> {
        self.put(who, request, reserved, None)
    }

    /// Puts a request before the gate, or says why not.
    fn put(
        &self,
        who: &Arc<Who>,
        request: Request,
        reserved: Option<Reserved>,
        admit: Option<SyncSender<Who>>,
    ) -> Option<()> {
        let Request { id, within_ms, ask } = request;
        let asked_at = (self.shared.now)();
        let until = within_ms.map(|within| asked_at.saturating_add(Duration::from_millis(within)));
        let job = match prepare(who, &self.shared.cache, ask) {
            Ok(job) => job,
            Err(failure) => {
                self.say(Some(id), failure);
                return Some(());
            }
        };
        let (connection, peer, who) = (self.number, self.peer, Arc::clone(who));
        let asked = Asked { connection, peer, who, job };
        let open = self.outlet.begin(id, OPEN_MAX)?;
        let item = Item { asked, open, within_ms, until, admit, reserved };
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let (refused, message) = match self.queue.try_send(Message::Ask(Box::new(item))) {
            Ok(()) => return Some(()),
            Err(TrySendError::Full(message)) => {
                self.shared.full.fetch_add(1, Ordering::Relaxed);
                (full("so many requests wait for the gate"), message)
            }
            Err(TrySendError::Disconnected(message)) => {
                (Failure::new(FailureCode::Stopping, "the daemon is stopping"), message)
            }
        };
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        if let Message::Ask(item) = message {
            item.open.answer(Err(refused));
        }
        Some(())
    }

    fn say(&self, id: Option<u64>, failure: Failure) {
        self.outlet.send(&failed(id, failure));
    }

    fn say_and_close(&self, id: Option<u64>, failure: Failure) {
        self.say(id, failure);
        // Whatever else it sends is not read.
        let _ended = self.outlet.stream().shutdown(Shutdown::Read);
    }
}

/// A failure as a line.
pub(super) fn failed(id: Option<u64>, failure: Failure) -> Line {
    Line { id, error: Some(failure), ..Line::default() }
}

fn full(what: &str) -> Failure {
    Failure::new(FailureCode::Full, format!("{what} that no more are taken; nothing was decided"))
        .hint("ask again later; effects stay refused until then")
}

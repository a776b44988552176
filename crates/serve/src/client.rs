//! The client's side of the socket: one connection, one request after the other, or a stream of decisions.
//!
//! Whatever goes wrong here is no yes: a daemon that is dead, slow or full, that belongs to somebody else, or that answers something
//! else than was asked, leaves the caller with an error and without a permit.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use actum_core::{Outcome, Seen};
use serde_json::value::RawValue;

use crate::socket::{SocketError, check_socket, own_uid, peer_uid};
use crate::wire::{
    self, Act, Acted, Approve, Approved, AskInbox, AskStatus, Asking, CallResult, Deed, Deny, End,
    Ended, Failure, FailureCode, Fire, Fired, Ground, Grounded, Hello, Inbox, LINE_MAX, Line,
    Mandate, Observe, Observed, Open, Opened, Recall, Recalled, Record, Remember, Remembered, Role,
    Skip, Skipped, Start, Status, Watch, Watched, Welcome, Written, write_request,
};

/// How long an answer is waited for, unless somebody says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How much longer than its deadline an answer may be on its way, at most.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// Which daemon is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its socket.
    pub socket: PathBuf,
    /// Whose it must be. One of anybody else counts as dead.
    pub uid: u32,
}

impl Address {
    /// A daemon of this very user.
    pub fn own(socket: &Path) -> Self {
        Self { socket: socket.to_owned(), uid: own_uid() }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody answers at the socket.
    #[error("no daemon answers at {}", socket.display())]
    Dead {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The socket is not safe, or somebody else's.
    #[error("the socket is not that of the daemon")]
    Foreign(#[source] SocketError),
    /// The daemon took longer than the deadline.
    #[error("the daemon did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// The daemon went away, or answered something else.
    #[error("the daemon at {} went away or answered something else: {what}", socket.display())]
    Broken {
        /// The socket.
        socket: PathBuf,
        /// What happened.
        what: String,
    },
    /// The daemon says why it did not do it.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl ClientError {
    /// Nobody decided anything: the daemon is dead, slow, full, somebody else's, or cannot believe its ledger. An effect is refused
    /// then, and reading goes on, unverified.
    pub const fn is_no_answer(&self) -> bool {
        match self {
            Self::Dead { .. } | Self::Foreign(_) | Self::Slow(_) | Self::Broken { .. } => true,
            Self::Failed(failure) => match failure.code {
                FailureCode::Full
                | FailureCode::Late
                | FailureCode::Refused
                | FailureCode::Failed
                | FailureCode::Stopping
                | FailureCode::Version => true,
                FailureCode::Malformed
                | FailureCode::TooLong
                | FailureCode::Who
                | FailureCode::NotAllowed
                | FailureCode::Usage
                | FailureCode::Rejected => false,
            },
        }
    }

    /// What to do about it.
    pub fn way_out(&self) -> Option<String> {
        match self {
            Self::Dead { .. } => Some(
                "effects are refused until it runs: start it with `actum daemon`, or see `systemctl status actum`"
                    .to_owned(),
            ),
            Self::Foreign(_) => {
                Some("effects are refused: see who made that socket, and how its folder is protected".to_owned())
            }
            Self::Slow(_) => Some("effects are refused: see `actum status`, then ask again".to_owned()),
            Self::Broken { .. } => Some("effects are refused: ask again with a new call id".to_owned()),
            Self::Failed(failure) => failure.hint.clone(),
        }
    }
}

/// A connection to a daemon.
#[derive(Debug)]
pub struct Client {
    address: Address,
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    next: u64,
    patience: Duration,
    /// How long the connection itself waits, as it was last told.
    waits: Option<Duration>,
    /// After a failure nobody knows which answer comes next.
    broken: bool,
    welcome: Welcome,
}

impl Client {
    /// Connects, looks whose socket it is before a word is said, and says who asks.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn connect(address: &Address, role: Role, client: &str) -> Result<Self, ClientError> {
        Self::connect_within(address, role, client, PATIENCE)
    }

    /// The same with another patience.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn connect_within(
        address: &Address,
        role: Role,
        client: &str,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let Address { socket, uid } = address;
        let dead = |source| ClientError::Dead { socket: socket.clone(), source };
        match check_socket(socket, *uid) {
            Ok(()) => {}
            Err(SocketError::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(dead(source));
            }
            Err(error) => return Err(ClientError::Foreign(error)),
        }
        let stream = UnixStream::connect(socket).map_err(dead)?;
        let found = peer_uid(&stream).map_err(dead)?;
        if found != *uid {
            let what = format!("user {found} listens there, not user {uid}");
            let path = socket.clone();
            return Err(ClientError::Foreign(SocketError::Unsafe { path, what }));
        }
        let writer = stream.try_clone().map_err(dead)?;
        let nobody = Welcome {
            version: wire::VERSION,
            program: String::new(),
            ledger: String::new(),
            you: String::new(),
            uid: 0,
            weaker: true,
        };
        let mut this = Self {
            address: address.clone(),
            reader: BufReader::new(stream),
            writer,
            next: 1,
            patience,
            waits: None,
            broken: false,
            welcome: nobody,
        };
        this.welcome = this.ask(&Hello { role, client: client.to_owned() })?;
        Ok(this)
    }

    /// What the daemon said of itself and of us.
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Waits so long for each answer from now on. The daemon is told, and allows nothing after it.
    pub const fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Asks one question.
    ///
    /// # Errors
    /// [`ClientError`]. After any but [`ClientError::Failed`] the connection is of no use any more.
    pub fn ask<A: Asking>(&mut self, ask: &A) -> Result<A::Told, ClientError> {
        if self.broken {
            return Err(self.broke("an earlier answer is missing"));
        }
        // Whole once the answer was read.
        self.broken = true;
        let id = self.next;
        self.next += 1;
        let within_ms = u64::try_from(self.patience.as_millis()).ok();
        let line =
            write_request(id, within_ms, ask).map_err(|error| self.broke(&error.to_string()))?;
        if line.len() > LINE_MAX {
            self.broken = false;
            return Err(wire::too_long().into());
        }
        let waits = Some(self.patience.saturating_add(self.patience.min(ON_ITS_WAY)));
        let set = if self.waits == waits {
            Ok(())
        } else {
            let set = self.writer.set_write_timeout(waits);
            set.and_then(|()| self.writer.set_read_timeout(waits))
        };
        self.waits = waits;
        let wrote = set.and_then(|()| self.writer.write_all(&line));
        // One that hangs up while it is written to may have said why.
        let answer = match (self.read_line(), wrote) {
            (Ok(answer), _) => answer,
            (Err(_), Err(error)) => return Err(self.io(&error)),
            (Err(error), Ok(())) => return Err(error),
        };
        let answered = match (answer.ok, answer.error) {
            _ if answer.id != Some(id) && answer.id.is_some() => {
                Err(self.broke("it answered another request"))
            }
            (None, Some(failure)) => {
                // A connection that was never greeted is closed by the daemon.
                self.broken = answer.id.is_none();
                return Err(failure.into());
            }
            (Some(ok), None) => serde_json::from_str(ok.get())
                .map_err(|error| self.broke(&format!("its answer is not one: {error}"))),
            (Some(_), Some(_)) | (None, None) => Err(self.broke("its answer says nothing")),
        };
        self.broken = answered.is_err();
        answered
    }

    fn read_line(&mut self) -> Result<Line, ClientError> {
        let mut line = Vec::new();
        let limit = LINE_MAX as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut line);
        let length = read.map_err(|error| self.io(&error))?;
        if length == 0 || line.last() != Some(&b'\n') {
            return Err(self.broke("the connection ended"));
        }
        serde_json::from_slice(&line).map_err(|error| self.broke(&error.to_string()))
    }

    fn io(&self, error: &io::Error) -> ClientError {
        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            return ClientError::Slow(self.patience);
        }
        self.broke(&error.to_string())
    }

    fn broke(&self, what: &str) -> ClientError {
        ClientError::Broken { socket: self.address.socket.clone(), what: what.to_owned() }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn open(&mut self, start: Start) -> Result<Opened, ClientError> {
        self.ask(&Open { start })
    }

    /// Records what was put before a model.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn observe(&mut self, observe: &Observe) -> Result<Observed, ClientError> {
        self.ask(observe)
    }

    /// Records the result of a call as it was put before a model.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn observe_result(
        &mut self,
        session: &str,
        channel: &str,
        (tool, arguments): (&str, Option<Box<RawValue>>),
        text: &str,
    ) -> Result<Observed, ClientError> {
        self.ask(&Observe {
            session: session.to_owned(),
            seen: Seen::Result,
            channel: Some(channel.to_owned()),
            author: Some(tool.to_owned()),
            text: text.to_owned(),
            entry: None,
            arguments,
            carries: None,
        })
    }

    /// Writes the record of an entry.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn remember(&mut self, remember: &Remember) -> Result<Remembered, ClientError> {
        self.ask(remember)
    }

    /// Asks whether an entry may be used.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn recall(&mut self, recall: &Recall) -> Result<Recalled, ClientError> {
        self.ask(recall)
    }

    /// Asks whether a stored task may fire.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn fire(&mut self, fire: &Fire) -> Result<Fired, ClientError> {
        self.ask(fire)
    }

    /// Asks whether a call may go out. It may only if [`Acted::permitted`] is set, and then once.
    ///
    /// # Errors
    /// As [`Client::ask`]. An error is a no.
    pub fn act(&mut self, act: &Act) -> Result<Acted, ClientError> {
        self.ask(act)
    }

    /// Says how a call went that was allowed.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn end_call(
        &mut self,
        permit: u64,
        outcome: Outcome,
        result: CallResult,
    ) -> Result<Ended, ClientError> {
        self.ask(&End { permit, outcome, result })
    }

    /// Asks whether the ledger backs the claim that a step was done.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn ground(&mut self, step: &str, subject: Option<&str>) -> Result<Grounded, ClientError> {
        self.ask(&Ground { step: step.to_owned(), subject: subject.map(str::to_owned) })
    }

    /// Asks to leave a step out in a session.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn skip(&mut self, skip: &Skip) -> Result<Skipped, ClientError> {
        self.ask(skip)
    }

    /// What waits for the owner.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn inbox(&mut self) -> Result<Inbox, ClientError> {
        self.ask(&AskInbox {})
    }

    /// Allows one call, once.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn approve(&mut self, receipt: &str, held: Duration) -> Result<Approved, ClientError> {
        let for_ms = u64::try_from(held.as_millis()).unwrap_or(u64::MAX);
        self.ask(&Approve { receipt: receipt.to_owned(), for_ms })
    }

    /// Says no to one call.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn deny(&mut self, receipt: &str) -> Result<Written, ClientError> {
        self.ask(&Deny { receipt: receipt.to_owned() })
    }

    /// Grants a mandate.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn grant(&mut self, mandate: Mandate) -> Result<Written, ClientError> {
        self.record(vec![Deed::Grant(mandate)])
    }

    /// Acts as the owner.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn record(&mut self, acts: Vec<Deed>) -> Result<Written, ClientError> {
        self.ask(&Record { acts })
    }

    /// How the daemon is.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn status(&mut self) -> Result<Status, ClientError> {
        self.ask(&AskStatus {})
    }

    /// Decisions as they are made, from now on. The connection is the stream's from here.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn watch(mut self) -> Result<Decisions, ClientError> {
        self.ask(&Watch {})?;
        let unlimited = self.writer.set_read_timeout(None);
        unlimited.map_err(|error| self.io(&error))?;
        Ok(Decisions { client: self })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The daemon sees the end of it either way.
        let _gone = self.writer.shutdown(Shutdown::Both);
    }
}

/// A stream of decisions. It ends when the daemon does, or with an error.
#[derive(Debug)]
pub struct Decisions {
    client: Client,
}

impl Iterator for Decisions {
    type Item = Result<Watched, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.client.read_line() {
            Ok(Line { seen: Some(seen), .. }) => Some(Ok(seen)),
            Ok(Line { error: Some(failure), .. }) => Some(Err(failure.into())),
            Ok(_) => Some(Err(self.client.broke("it sent something else on a stream"))),
            Err(ClientError::Broken { .. }) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

//! Which daemon a command asks: the one beside the ledger's anchor if it runs, or the one that it was told of, and then no other.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use actum_core::{Answer, Reason};
use actum_serve::client::{Address, Client, ClientError};
use actum_serve::socket::{own_uid, socket_of};
use actum_serve::start::connect_or_start;
use actum_serve::wire::{self, FailureCode, Role};

use crate::cmd::daemon::this_program;
use crate::context::Context;
use crate::say::{FAILED, Failure, Outcome, USAGE, chain};

/// The socket of the daemon to ask, instead of the ledger's own.
pub(crate) const SOCKET: &str = "ACTUM_SOCKET";
/// The user id that this daemon must have.
pub(crate) const DAEMON_UID: &str = "ACTUM_DAEMON_UID";
/// `start`: where no daemon runs, one of this user is started on demand.
const DAEMON: &str = "ACTUM_DAEMON";
/// How long to wait for an answer, in ms.
const PATIENCE_MS: &str = "ACTUM_PATIENCE_MS";

/// The daemon that this process was told to ask, and no other.
pub(crate) fn told_of() -> Outcome<Option<Address>> {
    let Some(socket) = env::var_os(SOCKET).filter(|path| !path.is_empty()) else { return Ok(None) };
    let uid = match env::var(DAEMON_UID) {
        Ok(text) => text.parse().map_err(|_not_a_number| {
            Failure::usage(format!("{DAEMON_UID} is no user id")).hint("write it as a number")
        })?,
        Err(_) => own_uid(),
    };
    Ok(Some(Address { socket: PathBuf::from(socket), uid }))
}

/// Whether the ledger is another user's, so that its files are not for this one.
pub(crate) fn is_anothers() -> Outcome<bool> {
    Ok(told_of()?.is_some_and(|address| address.uid != own_uid()))
}

impl Context {
    /// A connection to the daemon; nothing where none runs and none was named.
    pub(crate) fn daemon(&self, what: &str, role: Role) -> Outcome<Option<Client>> {
        let told = told_of()?;
        let is_told = told.is_some();
        let address = match told {
            Some(address) => address,
            None => match self.store.identify() {
                Ok(ledger) => Address::own(&socket_of(self.places(), ledger)),
                // What is wrong with it is said by whoever opens it.
                Err(_) => return Ok(None),
            },
        };
        let name = format!("actum {what}");
        // Whoever wants one that is not there has it started: a daemon of this user, which is weaker.
        if !is_told && env::var_os(DAEMON).is_some_and(|word| word == "start") {
            let store = &self.places().store;
            return Ok(Some(connect_or_start(&this_program()?, store, &address, role, &name)?));
        }
        if !is_told && !address.socket.exists() {
            return Ok(None);
        }
        match Client::connect_within(&address, role, &name, patience()) {
            Ok(client) => Ok(Some(client)),
            // One that was killed left its socket.
            Err(ClientError::Dead { .. }) if !is_told => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn patience() -> Duration {
    let told = env::var(PATIENCE_MS).ok().and_then(|text| text.parse().ok());
    told.map_or(actum_serve::client::PATIENCE, Duration::from_millis)
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let hint = error.way_out();
        match error {
            ClientError::Failed(failure) => failure.into(),
            ClientError::Dead { .. }
            | ClientError::Foreign(_)
            | ClientError::Slow(_)
            | ClientError::Broken { .. } => {
                Self { hint, unanswered: true, ..Self::new(FAILED, chain(&error)) }
            }
        }
    }
}

impl From<wire::Failure> for Failure {
    fn from(failure: wire::Failure) -> Self {
        let said = failure.reason.as_deref();
        let reason = Reason::ALL.iter().copied().find(|reason| Some(reason.code()) == said);
        let (exit, reason, unanswered) = match failure.code {
            FailureCode::Usage => (USAGE, reason, false),
            FailureCode::Refused => (Answer::Refused.exit_code(), reason, true),
            FailureCode::Rejected | FailureCode::NotAllowed => {
                (FAILED, Some(Reason::StoreUnreadable), false)
            }
            FailureCode::Who | FailureCode::Malformed | FailureCode::TooLong => {
                (FAILED, reason, false)
            }
            FailureCode::Version
            | FailureCode::Full
            | FailureCode::Late
            | FailureCode::Failed
            | FailureCode::Stopping => (FAILED, reason, true),
        };
        Self { exit, reason, message: failure.message, hint: failure.hint, unanswered }
    }
}

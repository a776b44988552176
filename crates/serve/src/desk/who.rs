//! Who asks: what the user id of a peer allows, and what it claimed of that.

use actum_core::{Asks, Caller, CallerKind, NotAllowed, Owner, SessionName, Space, Views};

use super::job::{misused, named};
use crate::wire::{Ask, Failure, FailureCode, Role};

/// Whom a daemon serves, by user id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// User ids that may be the owner.
    pub owners: Vec<u32>,
    /// User ids of agents and adapters.
    pub agents: Vec<u32>,
}

impl Served {
    /// One user is all of them: weaker.
    pub fn same_user(uid: u32) -> Self {
        Self { owners: vec![uid], agents: vec![uid] }
    }

    /// What this user id may be; nothing if it is not served.
    pub fn peer(&self, uid: u32) -> Option<Peer> {
        let may_own = self.owners.contains(&uid);
        (may_own || self.agents.contains(&uid)).then_some(Peer { uid, may_own })
    }

    /// Whether an agent can do what the owner can, for they are the same user.
    pub fn is_weaker(&self) -> bool {
        self.owners.iter().any(|owner| self.agents.contains(owner))
    }
}

/// A peer by its user id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its user id.
    pub uid: u32,
    /// Whether that may be the owner's.
    pub may_own: bool,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    kind: Kind,
    /// It may read the ledger and record runs, whoever it is: the owner's user id may do so by reading the files.
    reads: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Owner(Owner),
    Adapter(u32),
    /// Of this session, and of no other.
    Agent(Option<String>),
}

impl Who {
    /// The owner.
    pub const fn owner(known: Owner) -> Self {
        Self { kind: Kind::Owner(known), reads: true }
    }

    /// The agent of a session, at a shell of the owner's user id.
    pub const fn agent_here(session: Option<String>) -> Self {
        Self { kind: Kind::Agent(session), reads: true }
    }

    /// An adapter that showed its credential.
    pub const fn adapter(number: u32, reads: bool) -> Self {
        Self { kind: Kind::Adapter(number), reads }
    }

    /// Nobody yet.
    pub(crate) const fn unknown() -> Self {
        Self { kind: Kind::Agent(None), reads: false }
    }

    /// What a peer claims, checked against what it is.
    ///
    /// # Errors
    /// [`FailureCode::Who`].
    pub(crate) fn admit(peer: Peer, role: &Role, views: Option<&Views>) -> Result<Self, Failure> {
        let reads = peer.may_own;
        let kind = match role {
            Role::Agent { session } => Kind::Agent(session.clone()),
            // How somebody is known who asks over the socket; the others are said by trusted code alone.
            Role::Owner { known: Owner::Code | Owner::Client } => {
                return Err(Failure::new(FailureCode::Who, "an owner is not known so at a socket"));
            }
            Role::Owner { known } if peer.may_own => Kind::Owner(*known),
            Role::Owner { .. } => {
                let said = format!("user {} is not the owner's", peer.uid);
                return Err(Failure::new(FailureCode::Who, said).hint(
                    "ask as the owner's user, or say which that is: `actum daemon --owner UID`",
                ));
            }
            Role::Adapter { name, credential } => {
                // Nobody can show a credential to a ledger that cannot be believed.
                let shut = || Failure::new(FailureCode::Refused, "the ledger cannot be believed");
                let views = views.ok_or_else(shut)?;
                Kind::Adapter(adapter(views, name, credential.trim().as_bytes())?)
            }
        };
        Ok(Self { kind, reads })
    }

    /// Which kind of caller.
    pub const fn kind(&self) -> CallerKind {
        match self.kind {
            Kind::Owner(_) => CallerKind::Owner,
            Kind::Adapter(_) => CallerKind::Adapter,
            Kind::Agent(_) => CallerKind::Agent,
        }
    }

    /// How the owner was known.
    pub(crate) const fn owned(&self) -> Option<Owner> {
        match self.kind {
            Kind::Owner(known) => Some(known),
            Kind::Adapter(_) | Kind::Agent(_) => None,
        }
    }

    /// Who asks, as the ledger knows it; an agent by its session, if that has been opened.
    pub(crate) fn caller(&self, views: &Views) -> Caller {
        match &self.kind {
            Kind::Owner(known) => Caller::Owner(*known),
            Kind::Adapter(number) => Caller::Adapter(*number),
            Kind::Agent(session) => {
                let number = session
                    .as_ref()
                    .and_then(|session| views.number(Space::Session, session.as_bytes()));
                Caller::Agent(number.unwrap_or(u32::MAX))
            }
        }
    }

    /// Whether it may ask that.
    ///
    /// # Errors
    /// [`FailureCode::NotAllowed`].
    pub(crate) fn may(&self, asked: Asks) -> Result<(), Failure> {
        let also = self.reads && matches!(asked, Asks::Read | Asks::Record);
        if also || asked.allows(self.kind()) {
            return Ok(());
        }
        let refused = NotAllowed { caller: self.kind(), asked };
        Err(Failure::new(FailureCode::NotAllowed, refused.to_string()))
    }

    /// Whether it may see what only a reader of the ledger may.
    pub(crate) fn reads(&self) -> bool {
        self.may(Asks::Read).is_ok()
    }

    /// A session that it may name. An agent has one.
    pub(crate) fn session(&self, name: &str) -> Result<SessionName, Failure> {
        let session = named(SessionName::new(name))?;
        match &self.kind {
            Kind::Agent(Some(own)) if own == name => Ok(session),
            Kind::Agent(_) => Err(misused("an agent names no session but its own")
                .hint("say so in `hello`: {\"agent\":{\"session\":...}}")),
            Kind::Owner(_) | Kind::Adapter(_) => Ok(session),
        }
    }

    /// What asking this asks for; nothing for what everybody may.
    pub(crate) const fn asks(ask: &Ask) -> Option<Asks> {
        Some(match ask {
            Ask::Hello(_) | Ask::Status(_) => return None,
            // What the owner may do is told apart at the gate, each by itself.
            Ask::Record(_) => Asks::Grant,
            Ask::Open(_) => Asks::OpenSession,
            Ask::Observe(_) | Ask::Keep(_) => Asks::Observe,
            Ask::Remember(_) => Asks::Remember,
            Ask::Recall(_) => Asks::Recall,
            Ask::Fire(_) => Asks::Fire,
            Ask::Act(_) => Asks::Act,
            Ask::End(_) | Ask::Begin(_) | Ask::Finish(_) => Asks::Record,
            Ask::Ground(_) | Ask::Skip(_) => Asks::Ground,
            Ask::Inbox(_) | Ask::Watch(_) => Asks::Read,
            Ask::Approve(_) | Ask::Deny(_) => Asks::Approve,
        })
    }
}

/// An adapter by its name and credential. One message for an unknown name and a wrong credential: neither is to be found out by
/// trying.
pub(crate) fn adapter(views: &Views, name: &str, secret: &[u8]) -> Result<u32, Failure> {
    let refused = || {
        let shown = name.escape_debug();
        Failure::new(FailureCode::Who, format!("adapter {shown} is not known by this credential"))
            .hint("its owner sees the adapters with `actum adapter list`")
    };
    let number = views.number(Space::Adapter, name.as_bytes()).ok_or_else(refused)?;
    let known = views.provenance().adapter(number).filter(|it| it.is_credential(secret));
    known.map(|_| number).ok_or_else(refused)
}

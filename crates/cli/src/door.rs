//! Who asks at this door, and what the gate is asked by: the policy in force, the cache of contents, the subjects on disk.
//!
//! Without a credential it is the owner who asks: a person at a terminal, or `--yes`. A shell of the same user can say either,
//! so what was asked that way is recorded with how its owner was known.

use std::env;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use actum_core::{Digest, Namespace, Owner, SessionName, Views};
use actum_serve::client::Client;
use actum_serve::desk::Who;
use actum_serve::wire::{Asking, Deed, Keep, Record, Role};
use actum_store::{AcceptedPolicy, CONTENT_MAX, PolicyMissing, RealDisk, read_clocks};
use zeroize::Zeroizing;

use crate::args_memory::Door;
use crate::context::{Context, at_a_terminal, namespace, writer};
use crate::say::{FAILED, Failure, Outcome, foreign, note};

/// Bytes of a credential.
pub(crate) const CREDENTIAL_BYTES: usize = 32;

/// Where a question is asked: at the daemon that has the ledger, or at a desk of this command's own. Both answer the same.
pub(crate) struct Desk<'c> {
    context: &'c Context,
    hand: Hand,
}

enum Hand {
    Here(Box<actum_serve::desk::Desk>, Who),
    There(Box<Client>),
}

impl<'c> Desk<'c> {
    /// Asks the daemon if one runs, and opens the ledger for this command if not.
    pub(crate) fn open(context: &'c Context, what: &str, role: Role) -> Outcome<Self> {
        if let Some(client) = context.daemon(what, role.clone())? {
            return Ok(Self { context, hand: Hand::There(Box::new(client)) });
        }
        let clock = Arc::new(read_clocks);
        let desk = actum_serve::desk::Desk::open(context.store.clone(), writer(what), clock)?;
        // Whoever accepts another one need not be told.
        if let Some(flaw) = desk.policy_flaw().filter(|_| what != "policy accept") {
            note(flaw);
        }
        let who = desk.admit(&role)?;
        Ok(Self { context, hand: Hand::Here(Box::new(desk), who) })
    }

    /// Asks one question.
    pub(crate) fn ask<A: Asking>(&mut self, ask: A) -> Outcome<A::Told> {
        Ok(match &mut self.hand {
            Hand::Here(desk, who) => desk.ask(who, ask)?,
            Hand::There(client) => client.ask(&ask)?,
        })
    }

    /// Acts as the owner, and returns the event of it.
    pub(crate) fn record(&mut self, deed: Deed) -> Outcome<u64> {
        let written = self.ask(Record { acts: vec![deed] })?;
        let none = || Failure::new(FAILED, "nothing was written");
        written.events.first().copied().ok_or_else(none)
    }

    /// Keeps a text for later questions, and returns its digest.
    pub(crate) fn keep(&mut self, text: &str) -> Outcome<Digest> {
        Ok(self.ask(Keep { text: text.to_owned() })?.digest)
    }

    /// Looks at the state as it is now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Views) -> Outcome<T>) -> Outcome<T> {
        if let Hand::Here(desk, _) = &self.hand
            && let Some(views) = desk.views()
        {
            return look(views);
        }
        look(self.context.read()?.views())
    }

    /// The namespace of the policy in force.
    pub(crate) fn namespace(&self) -> Outcome<Namespace> {
        Ok(match &self.hand {
            Hand::Here(desk, _) => desk.policy().map(namespace).unwrap_or_default(),
            Hand::There(_) => {
                self.context.read()?.policy().as_ref().map(namespace).unwrap_or_default()
            }
        })
    }
}

/// Tells of an id that nobody opened: it is no error, and most often a slip of the finger.
pub(crate) fn note_unknown(context: &Context, session: &str) {
    if !context.say.json {
        note(&format!(
            "nobody opened a session {}, so everything in it is untrusted; open one with `actum session open`",
            foreign(session)
        ));
    }
}

/// The policy in force; that it cannot be used is told, and is the same as none.
pub(crate) fn policy_of(context: &Context, views: &Views) -> Option<AcceptedPolicy> {
    match AcceptedPolicy::in_force(&RealDisk, context.places(), views) {
        Ok(policy) => Some(policy),
        Err(PolicyMissing::None) => None,
        Err(missing @ PolicyMissing::Unusable { .. }) => {
            note(&missing.to_string());
            None
        }
    }
}

/// Who asks at this door.
pub(crate) fn role(door: &Door) -> Outcome<Role> {
    if let Some(name) = &door.adapter {
        return Ok(Role::Adapter { name: name.clone(), credential: credential()? });
    }
    if door.yes {
        return Ok(owner(Owner::YesFlag));
    }
    if at_a_terminal() {
        return Ok(owner(Owner::Terminal));
    }
    let message = "who asks? No adapter is named, and no owner is at a terminal";
    let hint =
        "name an adapter with --as (`actum adapter add` makes one), or ask as the owner with --yes";
    Err(Failure::usage(message).hint(hint))
}

/// Who asks where an agent may: the agent of this session, unless the door says otherwise.
pub(crate) fn agent_role(door: &Door, session: Option<&str>) -> Outcome<Role> {
    if door.adapter.is_some() || door.yes {
        return role(door);
    }
    Ok(Role::Agent { session: session.map(str::to_owned) })
}

/// The owner, known so.
pub(crate) const fn owner(known: Owner) -> Role {
    Role::Owner { known }
}

/// The credential of this process, from its environment or from a file.
pub(crate) fn credential() -> Outcome<Zeroizing<String>> {
    let text = match (env::var("ACTUM_CREDENTIAL"), env::var_os("ACTUM_CREDENTIAL_FILE")) {
        (Ok(text), _) => Zeroizing::new(text),
        (Err(_), Some(path)) => {
            let path = Path::new(&path);
            let mut text = Zeroizing::new(String::new());
            File::open(path).and_then(|file| file.take(1024).read_to_string(&mut text)).map_err(
                |error| {
                    Failure::new(FAILED, format!("cannot read {}: {error}", path.display()))
                        .hint("ACTUM_CREDENTIAL_FILE names it, for the credential of an adapter")
                },
            )?;
            text
        }
        (Err(_), None) => {
            return Err(Failure::usage("an adapter shows its credential")
                .hint("set ACTUM_CREDENTIAL, or ACTUM_CREDENTIAL_FILE to the path of a file"));
        }
    };
    Ok(Zeroizing::new(text.trim().to_owned()))
}

/// A session by its id.
pub(crate) fn session(name: &str) -> Outcome<SessionName> {
    SessionName::new(name).map_err(|error| Failure::usage(error.to_string()))
}

/// The text that was given, or standard input.
pub(crate) fn text_of(given: Option<&str>) -> Outcome<String> {
    if let Some(given) = given.filter(|given| *given != "-") {
        return within_limit(given.to_owned());
    }
    let mut bytes = Vec::new();
    let limit = CONTENT_MAX as u64 + 1;
    io::stdin()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(FAILED, format!("cannot read standard input: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("standard input is not UTF-8 text: byte {at} is wrong"))
    })?;
    within_limit(text)
}

fn within_limit(text: String) -> Outcome<String> {
    if text.len() > CONTENT_MAX {
        let message = format!("the text has more than {CONTENT_MAX} bytes, which is the limit");
        return Err(Failure::usage(message));
    }
    Ok(text)
}

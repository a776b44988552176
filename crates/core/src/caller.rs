//! Who asks, and what each may ask. The door decides who somebody is - by user id, credential or terminal - and never the
//! message. `docs/callers.md` is made from the table here.

use crate::event::Owner;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The one whose policy it is, and how that was known.
    Owner(Owner),
    /// Trusted code that observes: a hook, a guard, an SDK. By its number.
    Adapter(u32),
    /// The agent, or whatever persuades it. By its session.
    Agent(u32),
}

/// The three kinds of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallerKind {
    /// See [`Caller::Owner`].
    Owner,
    /// See [`Caller::Adapter`].
    Adapter,
    /// See [`Caller::Agent`].
    Agent,
}

impl Caller {
    /// Which kind.
    pub const fn kind(&self) -> CallerKind {
        match self {
            Self::Owner(_) => CallerKind::Owner,
            Self::Adapter(_) => CallerKind::Adapter,
            Self::Agent(_) => CallerKind::Agent,
        }
    }
}

impl CallerKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Owner, Self::Adapter, Self::Agent];

    /// The word in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Adapter => "adapter",
            Self::Agent => "agent",
        }
    }
}

macro_rules! asks {
    ($($(#[$doc:meta])* $variant:ident, $word:literal, $owner:literal, $adapter:literal, $agent:literal;)*) => {
        /// What may be asked.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Asks { $($(#[$doc])* $variant,)* }

        impl Asks {
            /// Everything that may be asked.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in messages.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Whether a kind of caller may ask it.
            pub const fn allows(self, caller: CallerKind) -> bool {
                match (self, caller) {
                    $((Self::$variant, CallerKind::Owner) => $owner,
                    (Self::$variant, CallerKind::Adapter) => $adapter,
                    (Self::$variant, CallerKind::Agent) => $agent,)*
                }
            }
        }
    };
}

asks! {
    /// The grounding check.
    Ground, "ground", true, true, true;
    /// An entry from memory.
    Recall, "recall", true, true, true;
    /// To write an entry; an agent names no channel and no class.
    Remember, "remember", true, true, true;
    /// To fire a stored task.
    Fire, "fire", true, true, false;
    /// Whether a call may go out.
    Act, "act", true, true, false;
    /// To open a session.
    OpenSession, "open a session", true, true, false;
    /// To say what was put before the model.
    Observe, "observe", true, true, false;
    /// To say that the context was emptied or summed up.
    Reset, "reset a context", true, true, false;
    /// To record a run of a tool it fronts.
    Record, "record a run", true, true, false;
    /// To see the ledger.
    Read, "read the ledger", true, true, false;
    /// To accept a policy.
    AcceptPolicy, "accept a policy", true, false, false;
    /// To approve one call.
    Approve, "approve a call", true, false, false;
    /// To grant a mandate.
    Grant, "grant a mandate", true, false, false;
    /// To release from quarantine.
    Release, "release an entry", true, false, false;
    /// To adopt entries that were there before.
    Adopt, "adopt entries", true, false, false;
    /// To take something back.
    Revoke, "revoke", true, false, false;
    /// To let an adapter observe.
    Enrol, "enrol an adapter", true, false, false;
    /// To replace the key.
    Rotate, "rotate the key", true, false, false;
    /// To go on after a loss.
    Resolve, "resolve a loss", true, false, false;
}

/// A caller asked what it may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an {} may not {}", caller.word(), asked.word())]
pub struct NotAllowed {
    /// Who asked.
    pub caller: CallerKind,
    /// What.
    pub asked: Asks,
}

/// Whether this caller may ask that.
///
/// # Errors
/// [`NotAllowed`].
pub fn may(caller: &Caller, asked: Asks) -> Result<(), NotAllowed> {
    let kind = caller.kind();
    if asked.allows(kind) { Ok(()) } else { Err(NotAllowed { caller: kind, asked }) }
}

/// The page of callers.
pub fn callers_page() -> String {
    let head = "# Callers\n\nMade from `crates/core/src/caller.rs` by `cargo xtask tidy --write`; do not edit.\n\n\
        Who asks is decided by the door - user id, credential, terminal - and never by the message. An agent names no channel \
        and no class.\n\n| to | owner | adapter | agent |\n|---|---|---|---|\n";
    let row = |asked: &Asks| {
        let cells = CallerKind::ALL.map(|kind| if asked.allows(kind) { " yes |" } else { " |" });
        format!("| {} |{}\n", asked.word(), cells.concat())
    };
    Asks::ALL.iter().fold(head.to_owned(), |page, asked| page + &row(asked))
}

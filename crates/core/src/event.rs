//! The events of the ledger and their bytes. Knows no keys and no order; `docs/formats/ledger.md` is the promise kept here.

use crate::canon::{Digest, Mac, Reader, Writer, hex};
use crate::names::{NAME_MAX, SUBJECT_MAX};

/// Bytes in the fields of one event.
pub const FIELDS_MAX: usize = 8192;
/// Bytes in a name that a `Named` event introduces (the longest is a tool: digest and path).
pub const NAMED_MAX: usize = 4200;
/// Bytes in the reason of a revocation.
pub const REASON_MAX: usize = 1024;
/// The version of record layout written and read here.
pub const VERSION: u8 = 1;
/// Bytes before the fields of a record.
pub const HEADER_LEN: usize = 24;

/// Which ledger: 16 random bytes, chosen when it is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId([u8; 16]);

impl LedgerId {
    /// Takes 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
    /// Reads 32 hexadecimal digits; anything else is `None`.
    pub fn from_hex(text: &str) -> Option<Self> {
        crate::canon::unhex(text).map(Self)
    }
}

impl core::fmt::Display for LedgerId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl core::fmt::Debug for LedgerId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LedgerId({self})")
    }
}

/// An enum whose variants are one byte each on disk and one word each in text.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal, $word:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The byte on disk.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }
            /// The variant of a byte; `None` for a byte nobody has defined.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
            /// The word in messages and JSON.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

coded! {
    /// What a `Named` event introduces.
    Space {
        /// Whose runs.
        Namespace = 1, "namespace";
        /// Which safety step.
        Step = 2, "step";
        /// Which binary, by path and digest.
        Tool = 3, "tool";
        /// Which rule of the policy, by digest.
        Rule = 4, "rule";
        /// Who asked.
        Session = 5, "session";
    }
}

coded! {
    /// How a run went. Only `Passed` discharges a step.
    Outcome {
        /// It did what its rule asks.
        Passed = 1, "passed";
        /// It ran and said no.
        Failed = 2, "failed";
        /// It could not be run, or a signal ended it.
        Errored = 3, "errored";
        /// Somebody refused it.
        Denied = 4, "denied";
        /// It took longer than it was given.
        TimedOut = 5, "timed_out";
        /// Its subject was not the same before and after.
        SubjectChanged = 6, "subject_changed_during_run";
    }
}

coded! {
    /// How the owner was known when an owner's act was recorded.
    Owner {
        /// A person answered on a terminal.
        Terminal = 1, "terminal";
        /// `--yes` was given: no person was asked.
        YesFlag = 2, "yes-flag";
        /// The owner's own code.
        Code = 3, "code";
    }
}

coded! {
    /// Why a ledger had to be resolved.
    Cause {
        /// Events that were acknowledged are gone.
        Truncated = 1, "truncated";
        /// The store tells another story than the anchor.
        Forked = 2, "forked";
        /// Bytes were changed.
        Damaged = 3, "damaged";
        /// Nothing remembers how far the ledger went.
        Unanchored = 4, "unanchored";
        /// The store lies elsewhere than it did.
        Moved = 5, "moved";
        /// The clock jumped.
        Clock = 6, "clock";
        /// Another ledger lay in its place.
        Swapped = 7, "swapped";
        /// The key is gone, so nothing can be verified.
        KeyLost = 8, "key_lost";
    }
}

coded! {
    /// The kinds of event this version writes and reads. Codes 11 to 20 are kept for those to come.
    Kind {
        /// The first event.
        Genesis = 1, "genesis";
        /// A name gets its number.
        Named = 2, "named";
        /// A policy came into force.
        Policy = 3, "policy";
        /// A run began.
        Began = 4, "began";
        /// A run ended.
        Ended = 5, "ended";
        /// A run was revoked.
        Revoked = 6, "revoked";
        /// The clock jumped.
        Clock = 7, "clock";
        /// A crash was cleaned up after.
        Recovered = 8, "recovered";
        /// The owner went on after a loss.
        Resolved = 9, "resolved";
        /// A new key.
        Rotated = 10, "rotated";
    }
}

/// One fact. Borrows its texts from the bytes it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The ledger was made.
    Genesis {
        /// Its id.
        ledger: LedgerId,
    },
    /// A name gets the number that later events use.
    Named {
        /// Of which kind.
        space: Space,
        /// The next number of that kind.
        number: u32,
        /// The name's bytes.
        name: &'a [u8],
    },
    /// The owner accepted a policy.
    Policy {
        /// The digest of the accepted document.
        digest: Digest,
        /// How the owner was known.
        owner: Owner,
    },
    /// A run began. Durable before the step starts.
    Began(Began<'a>),
    /// A run ended.
    Ended(Ended),
    /// The owner revoked a run.
    Revoked {
        /// The index of its `Began`.
        run: u64,
        /// How the owner was known.
        owner: Owner,
        /// Why.
        reason: &'a str,
    },
    /// The clock went back further, or forward faster, than a clock does.
    Clock {
        /// The ledger's time until now, in ms.
        before: u64,
        /// The clock as it was read, in ms.
        now: u64,
    },
    /// What a crash left behind was kept or moved aside.
    Recovered {
        /// The index of the first event beyond the head.
        first: u64,
        /// How many of those were genuine.
        kept: u64,
        /// Bytes that were not, now in a side file.
        dropped: u64,
        /// The digest of those bytes.
        digest: Digest,
    },
    /// The owner saw a loss and went on.
    Resolved {
        /// What had happened.
        cause: Cause,
        /// How many events the anchor knew of.
        count: u64,
        /// The MAC of the newest of them.
        mac: Mac,
        /// How the owner was known.
        owner: Owner,
    },
    /// The events that follow are sealed with a new key.
    Rotated {
        /// Its generation.
        generation: u32,
        /// Its id.
        key_id: [u8; 16],
        /// How the owner was known.
        owner: Owner,
    },
}

/// The beginning of a run: what is about to happen, to what, by whom, under which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Began<'a> {
    /// The namespace's number.
    pub namespace: u32,
    /// The step's number.
    pub step: u32,
    /// The tool version's number.
    pub tool: u32,
    /// The rule's number.
    pub rule: u32,
    /// The session's number.
    pub session: u32,
    /// The subject by name.
    pub subject: &'a str,
    /// The subject by content.
    pub subject_digest: Digest,
    /// The argument vector and the environment passed on.
    pub arguments: Digest,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The index of its `Began`.
    pub run: u64,
    /// How it went.
    pub outcome: Outcome,
    /// Exit code; minus the signal's number; 0 if neither is known.
    pub code: i32,
    /// What it printed, or what it returned.
    pub result: Digest,
    /// The subject by content, taken again.
    pub subject_digest: Digest,
}

impl<'a> Event<'a> {
    /// Which kind this is.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Genesis { .. } => Kind::Genesis,
            Self::Named { .. } => Kind::Named,
            Self::Policy { .. } => Kind::Policy,
            Self::Began(_) => Kind::Began,
            Self::Ended(_) => Kind::Ended,
            Self::Revoked { .. } => Kind::Revoked,
            Self::Clock { .. } => Kind::Clock,
            Self::Recovered { .. } => Kind::Recovered,
            Self::Resolved { .. } => Kind::Resolved,
            Self::Rotated { .. } => Kind::Rotated,
        }
    }

    /// The fields in their fixed order, each variable one behind its length.
    ///
    /// # Panics
    /// If a text is longer than its limit: the request that made the event has checked it.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match *self {
            Self::Genesis { ledger } => w.fixed(ledger.as_bytes()),
            Self::Named { space, number, name } => {
                w.u8(space.code());
                w.u32(number);
                w.framed(name);
            }
            Self::Policy { digest, owner } => {
                w.fixed(digest.as_bytes());
                w.u8(owner.code());
            }
            Self::Began(began) => {
                for number in [began.namespace, began.step, began.tool, began.rule, began.session] {
                    w.u32(number);
                }
                w.framed(began.subject.as_bytes());
                w.fixed(began.subject_digest.as_bytes());
                w.fixed(began.arguments.as_bytes());
            }
            Self::Ended(ended) => {
                w.u64(ended.run);
                w.u8(ended.outcome.code());
                w.i32(ended.code);
                w.fixed(ended.result.as_bytes());
                w.fixed(ended.subject_digest.as_bytes());
            }
            Self::Revoked { run, owner, reason } => {
                w.u8(REVOKES_A_RUN);
                w.u64(run);
                w.u8(owner.code());
                w.framed(reason.as_bytes());
            }
            Self::Clock { before, now } => {
                w.u64(before);
                w.u64(now);
            }
            Self::Recovered { first, kept, dropped, digest } => {
                for number in [first, kept, dropped] {
                    w.u64(number);
                }
                w.fixed(digest.as_bytes());
            }
            Self::Resolved { cause, count, mac, owner } => {
                w.u8(cause.code());
                w.u64(count);
                w.fixed(mac.as_bytes());
                w.u8(owner.code());
            }
            Self::Rotated { generation, key_id, owner } => {
                w.u32(generation);
                w.fixed(&key_id);
                w.u8(owner.code());
            }
        }
        assert!(w.0.len() <= FIELDS_MAX, "every text has its own, smaller limit");
        w.0
    }

    /// Reads the fields of an event of `kind`. `None` if they are not exactly what [`Event::encode`] writes.
    pub fn decode(kind: Kind, fields: &'a [u8]) -> Option<Self> {
        let mut r = Reader(fields);
        let event = match kind {
            Kind::Genesis => Self::Genesis { ledger: LedgerId(r.array()?) },
            Kind::Named => {
                let space = Space::from_code(r.u8()?)?;
                let (number, name) = (r.u32()?, r.framed(NAMED_MAX)?);
                is_name_of(space, name).then_some(Self::Named { space, number, name })?
            }
            Kind::Policy => Self::Policy { digest: r.digest()?, owner: Owner::from_code(r.u8()?)? },
            Kind::Began => Self::Began(Began {
                namespace: r.u32()?,
                step: r.u32()?,
                tool: r.u32()?,
                rule: r.u32()?,
                session: r.u32()?,
                subject: r.text(SUBJECT_MAX)?,
                subject_digest: r.digest()?,
                arguments: r.digest()?,
            }),
            Kind::Ended => Self::Ended(Ended {
                run: r.u64()?,
                outcome: Outcome::from_code(r.u8()?)?,
                code: r.i32()?,
                result: r.digest()?,
                subject_digest: r.digest()?,
            }),
            Kind::Revoked if r.u8()? == REVOKES_A_RUN => Self::Revoked {
                run: r.u64()?,
                owner: Owner::from_code(r.u8()?)?,
                reason: r.text(REASON_MAX)?,
            },
            Kind::Revoked => return None,
            Kind::Clock => Self::Clock { before: r.u64()?, now: r.u64()? },
            Kind::Recovered => Self::Recovered {
                first: r.u64()?,
                kept: r.u64()?,
                dropped: r.u64()?,
                digest: r.digest()?,
            },
            Kind::Resolved => Self::Resolved {
                cause: Cause::from_code(r.u8()?)?,
                count: r.u64()?,
                mac: r.mac()?,
                owner: Owner::from_code(r.u8()?)?,
            },
            Kind::Rotated => Self::Rotated {
                generation: r.u32()?,
                key_id: r.array()?,
                owner: Owner::from_code(r.u8()?)?,
            },
        };
        r.finished().then_some(event)
    }
}

/// The shape of a name: a tool is a digest and a path, a rule a digest, all others short texts.
fn is_name_of(space: Space, name: &[u8]) -> bool {
    match space {
        Space::Tool => name.len() >= 32,
        Space::Rule => name.len() == 32,
        Space::Namespace | Space::Step | Space::Session => {
            name.len() <= NAME_MAX && core::str::from_utf8(name).is_ok()
        }
    }
}

const REVOKES_A_RUN: u8 = 1;

/// What stands before the fields of every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The byte of its kind, known or not.
    pub kind: u8,
    /// Its place in the ledger.
    pub index: u64,
    /// Which start of a writer wrote it.
    pub incarnation: u32,
    /// The writer's clock, in ms since 1970.
    pub time_ms: u64,
}

impl Header {
    pub(crate) fn write(&self, w: &mut Writer, fields: usize) {
        let length = u16::try_from(fields);
        assert!(length.is_ok(), "`Event::encode` keeps to FIELDS_MAX");
        w.u16(length.unwrap_or_default());
        w.u8(VERSION);
        w.u8(self.kind);
        w.u64(self.index);
        w.u32(self.incarnation);
        w.u64(self.time_ms);
    }

    /// Reads the header behind the length; the version is returned beside it.
    pub(crate) fn read(record: &[u8]) -> Option<(u8, Self)> {
        let mut r = Reader(record);
        let _fields = r.u16()?;
        let version = r.u8()?;
        let header =
            Self { kind: r.u8()?, index: r.u64()?, incarnation: r.u32()?, time_ms: r.u64()? };
        Some((version, header))
    }
}

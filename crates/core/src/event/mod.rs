//! The events of the ledger and their bytes. Knows no keys and no order; `docs/formats/ledger.md` is the promise kept here.

mod codes;
mod memory;

use crate::canon::{Digest, Mac, Reader, Writer, hex};
use crate::names::{NAME_MAX, SUBJECT_MAX};

pub use codes::{
    Audience, Cause, Decision, EntryKind, Kind, Outcome, Owner, Revokes, Seen, Space, Spends, Start,
};
pub use memory::{
    Consented, Decided, Enrolled, Granted, Limit, LimitKind, Observed, Opened, Parents,
    Quarantined, Released, Revoked, Spent, Superseded, Wrote,
};

/// Bytes in the fields of one event.
pub const FIELDS_MAX: usize = 8192;
/// Bytes in a name that a `Named` event introduces (the longest is a tool: digest and path).
pub const NAMED_MAX: usize = 4200;
/// Bytes in the reason of a revocation.
pub const REASON_MAX: usize = 1024;
/// Bytes in the name of a channel, an author or a called tool.
pub const LONG_NAME_MAX: usize = 512;
/// Bytes in the name of an entry: where it lies and which one it is there.
pub const ENTRY_NAME_MAX: usize = 1024;
/// Parents that a record names one by one.
pub const PARENTS_MAX: usize = 256;
/// Limits of a mandate.
pub const LIMITS_MAX: usize = 32;
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

/// One fact. Borrows its texts from the bytes it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The owner took something back.
    Revoked(Revoked<'a>),
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
    /// A session began.
    Opened(Opened),
    /// Something was put before a model.
    Observed(Observed),
    /// An entry was written.
    Wrote(Wrote<'a>),
    /// An entry was replaced, or taken back.
    Superseded(Superseded),
    /// An entry is withheld.
    Quarantined(Quarantined<'a>),
    /// The owner released an entry.
    Released(Released),
    /// The owner allowed something beforehand.
    Granted(Granted<'a>),
    /// The owner allowed one call.
    Consented(Consented),
    /// Something allowed was used up.
    Spent(Spent),
    /// The gate decided.
    Decided(Decided),
    /// The owner let an adapter observe.
    Enrolled(Enrolled<'a>),
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
            Self::Revoked(_) => Kind::Revoked,
            Self::Clock { .. } => Kind::Clock,
            Self::Recovered { .. } => Kind::Recovered,
            Self::Resolved { .. } => Kind::Resolved,
            Self::Rotated { .. } => Kind::Rotated,
            Self::Opened(_) => Kind::Opened,
            Self::Observed(_) => Kind::Observed,
            Self::Wrote(_) => Kind::Wrote,
            Self::Superseded(_) => Kind::Superseded,
            Self::Quarantined(_) => Kind::Quarantined,
            Self::Released(_) => Kind::Released,
            Self::Granted(_) => Kind::Granted,
            Self::Consented(_) => Kind::Consented,
            Self::Spent(_) => Kind::Spent,
            Self::Decided(_) => Kind::Decided,
            Self::Enrolled(_) => Kind::Enrolled,
        }
    }

    /// The fields in their fixed order, each variable one behind its length.
    ///
    /// # Panics
    /// If a text is longer than its limit: the request that made the event has checked it.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Genesis { ledger } => w.fixed(ledger.as_bytes()),
            Self::Named { space, number, name } => {
                w.u8(space.code());
                w.u32(*number);
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
            Self::Revoked(revoked) => revoked.write(&mut w),
            Self::Clock { before, now } => {
                w.u64(*before);
                w.u64(*now);
            }
            Self::Recovered { first, kept, dropped, digest } => {
                for number in [first, kept, dropped] {
                    w.u64(*number);
                }
                w.fixed(digest.as_bytes());
            }
            Self::Resolved { cause, count, mac, owner } => {
                w.u8(cause.code());
                w.u64(*count);
                w.fixed(mac.as_bytes());
                w.u8(owner.code());
            }
            Self::Rotated { generation, key_id, owner } => {
                w.u32(*generation);
                w.fixed(key_id);
                w.u8(owner.code());
            }
            Self::Opened(opened) => opened.write(&mut w),
            Self::Observed(observed) => observed.write(&mut w),
            Self::Wrote(wrote) => wrote.write(&mut w),
            Self::Superseded(superseded) => superseded.write(&mut w),
            Self::Quarantined(quarantined) => quarantined.write(&mut w),
            Self::Released(released) => released.write(&mut w),
            Self::Granted(granted) => granted.write(&mut w),
            Self::Consented(consented) => consented.write(&mut w),
            Self::Spent(spent) => spent.write(&mut w),
            Self::Decided(decided) => decided.write(&mut w),
            Self::Enrolled(enrolled) => enrolled.write(&mut w),
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
            Kind::Revoked => Self::Revoked(Revoked::read(&mut r)?),
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
            Kind::Opened => Self::Opened(Opened::read(&mut r)?),
            Kind::Observed => Self::Observed(Observed::read(&mut r)?),
            Kind::Wrote => Self::Wrote(Wrote::read(&mut r)?),
            Kind::Superseded => Self::Superseded(Superseded::read(&mut r)?),
            Kind::Quarantined => Self::Quarantined(Quarantined::read(&mut r)?),
            Kind::Released => Self::Released(Released::read(&mut r)?),
            Kind::Granted => Self::Granted(Granted::read(&mut r)?),
            Kind::Consented => Self::Consented(Consented::read(&mut r)?),
            Kind::Spent => Self::Spent(Spent::read(&mut r)?),
            Kind::Decided => Self::Decided(Decided::read(&mut r)?),
            Kind::Enrolled => Self::Enrolled(Enrolled::read(&mut r)?),
        };
        r.finished().then_some(event)
    }
}

/// The shape of a name: a tool is a digest and a path, a rule a digest, all others short texts.
fn is_name_of(space: Space, name: &[u8]) -> bool {
    match space {
        Space::Tool => name.len() >= 32,
        Space::Rule => name.len() == 32,
        Space::Namespace | Space::Step | Space::Session | Space::Adapter => {
            name.len() <= NAME_MAX && core::str::from_utf8(name).is_ok()
        }
        Space::Channel | Space::Author | Space::Called => {
            name.len() <= LONG_NAME_MAX && core::str::from_utf8(name).is_ok()
        }
    }
}

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

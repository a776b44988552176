//! The events about what an agent remembers, calls and is allowed: their fields and bytes.

use crate::authority::Authority;
use crate::canon::{Digest, Reader, Writer};

use super::codes::{Audience, Decision, EntryKind, Owner, Revokes, Seen, Spends, Start};
use super::{ENTRY_NAME_MAX, LIMITS_MAX, LONG_NAME_MAX, PARENTS_MAX, REASON_MAX};

/// A session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Its number.
    pub session: u32,
    /// The number of the adapter that saw it; nothing for the owner at a shell.
    pub adapter: Option<u32>,
    /// With what before the model.
    pub start: Start,
    /// The number of the session that opened it, or the record of the task that fired.
    pub from: Option<u64>,
}

impl Opened {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.session);
        w.u32(self.adapter.unwrap_or(u32::MAX));
        w.u8(self.start.code());
        w.maybe(self.from);
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        let session = r.u32()?;
        let adapter = Some(r.u32()?).filter(|&number| number != u32::MAX);
        let (start, from) = (Start::from_code(r.u8()?)?, r.maybe()?);
        let fits = match start {
            Start::Fresh | Start::Unknown | Start::Partial | Start::Interactive => from.is_none(),
            Start::Subagent => from.is_some_and(|from| from < u64::from(u32::MAX)),
            Start::Fired => from.is_some(),
        };
        fits.then_some(Self { session, adapter, start, from })
    }
}

/// Something was put before a model, as an adapter saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Before the model of this session.
    pub session: u32,
    /// What it was.
    pub seen: Seen,
    /// The number of its channel.
    pub channel: u32,
    /// The number of its author.
    pub author: u32,
    /// Its authority, as policy gave it at this moment.
    pub authority: Authority,
    /// The record of the entry, if it was recalled and has one.
    pub record: Option<u64>,
    /// Its content.
    pub content: Digest,
}

impl Observed {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.session);
        w.u8(self.seen.code());
        w.u32(self.channel);
        w.u32(self.author);
        w.u8(self.authority.code());
        w.maybe(self.record);
        w.fixed(self.content.as_bytes());
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        let read = Self {
            session: r.u32()?,
            seen: Seen::from_code(r.u8()?)?,
            channel: r.u32()?,
            author: r.u32()?,
            authority: Authority::from_code(r.u8()?)?,
            record: r.maybe()?,
            content: r.digest()?,
        };
        // Only an entry from memory has a record.
        (read.record.is_none() || read.seen == Seen::Recalled).then_some(read)
    }
}

/// What a record was derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parents {
    /// Everything in the session's context at this moment.
    Context,
    /// These events, at least one, and no others, which an adapter proved.
    Proven(Vec<u64>),
    /// Nothing: the owner wrote or adopted it.
    None,
}

/// An entry was written: its derivation record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrote<'a> {
    /// In this session; nothing for the owner's own doing.
    pub session: Option<u32>,
    /// What it is.
    pub entry: EntryKind,
    /// The number of its namespace.
    pub namespace: u32,
    /// The number of the channel it came by.
    pub channel: u32,
    /// The number of its author.
    pub author: u32,
    /// Its authority, computed once, now.
    pub authority: Authority,
    /// What it was derived from.
    pub parents: Parents,
    /// The event of the policy in force.
    pub policy: Option<u64>,
    /// Where it lies and which one it is there.
    pub name: &'a str,
    /// Its content.
    pub content: Digest,
    /// Keyed, over all of this and the parents' fingerprints.
    pub fingerprint: Digest,
    /// How the owner was known, if the owner wrote or adopted it.
    pub owner: Option<Owner>,
}

impl<'a> Wrote<'a> {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.session.unwrap_or(u32::MAX));
        w.u8(self.entry.code());
        w.u32(self.namespace);
        w.u32(self.channel);
        w.u32(self.author);
        w.u8(self.authority.code());
        match &self.parents {
            Parents::None => w.u8(0),
            Parents::Context => w.u8(1),
            Parents::Proven(parents) => {
                w.u8(2);
                w.list(parents.len());
                for parent in parents {
                    w.u64(*parent);
                }
            }
        }
        w.maybe(self.policy);
        w.framed(self.name.as_bytes());
        w.fixed(self.content.as_bytes());
        w.fixed(self.fingerprint.as_bytes());
        write_owner(self.owner, w);
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Option<Self> {
        let session = Some(r.u32()?).filter(|&number| number != u32::MAX);
        let entry = EntryKind::from_code(r.u8()?)?;
        let (namespace, channel, author) = (r.u32()?, r.u32()?, r.u32()?);
        let authority = Authority::from_code(r.u8()?)?;
        let parents = match r.u8()? {
            0 => Parents::None,
            1 => Parents::Context,
            2 => {
                let count = r.list(PARENTS_MAX).filter(|&count| count > 0)?;
                Parents::Proven((0..count).map(|_| r.u64()).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let read = Self {
            session,
            entry,
            namespace,
            channel,
            author,
            authority,
            parents,
            policy: r.maybe()?,
            name: r.text(ENTRY_NAME_MAX)?,
            content: r.digest()?,
            fingerprint: r.digest()?,
            owner: read_owner(r)?,
        };
        // What came of nothing is the owner's, and nothing else is.
        ((read.parents == Parents::None) == read.owner.is_some()).then_some(read)
    }
}

/// An entry was replaced by another, or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superseded {
    /// The record of the old one.
    pub record: u64,
    /// The record of the new one; nothing if it was taken back.
    pub by: Option<u64>,
    /// How the owner was known; nothing if a session's own later entry replaced it.
    pub owner: Option<Owner>,
}

impl Superseded {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u64(self.record);
        w.maybe(self.by);
        write_owner(self.owner, w);
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self { record: r.u64()?, by: r.maybe()?, owner: read_owner(r)? })
    }
}

/// The owner took something back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revoked<'a> {
    /// What kind of thing.
    pub what: Revokes,
    /// Its event (a run, a record, a mandate) or its number (a channel, an author, an adapter).
    pub target: u64,
    /// The interval of admission times in ms, for a channel or an author.
    pub interval: Option<(u64, u64)>,
    /// How the owner was known.
    pub owner: Owner,
    /// Why.
    pub reason: &'a str,
}

impl<'a> Revoked<'a> {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u8(self.what.code());
        w.u64(self.target);
        if self.what.has_interval() {
            let (from, until) = self.interval.unwrap_or((0, u64::MAX));
            w.u64(from);
            w.u64(until);
        }
        w.u8(self.owner.code());
        w.framed(self.reason.as_bytes());
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Option<Self> {
        let (what, target) = (Revokes::from_code(r.u8()?)?, r.u64()?);
        let interval = if what.has_interval() { Some((r.u64()?, r.u64()?)) } else { None };
        let in_order = interval.is_none_or(|(from, until)| from <= until);
        let fits = in_order && (what.is_event() || target < u64::from(u32::MAX));
        fits.then_some(())?;
        let owner = Owner::from_code(r.u8()?)?;
        Some(Self { what, target, interval, owner, reason: r.text(REASON_MAX)? })
    }
}

impl Revokes {
    /// Whether the target is an event, or else a number of a name.
    pub const fn is_event(self) -> bool {
        match self {
            Self::Run | Self::Record | Self::Mandate => true,
            Self::Channel | Self::Author | Self::Adapter => false,
        }
    }

    /// Whether an interval of admission times goes with it.
    pub const fn has_interval(self) -> bool {
        match self {
            Self::Channel | Self::Author => true,
            Self::Run | Self::Record | Self::Mandate | Self::Adapter => false,
        }
    }
}

/// An entry is withheld until the owner releases it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarantined<'a> {
    /// Its record, if it has one.
    pub record: Option<u64>,
    /// The number of its namespace.
    pub namespace: u32,
    /// Where it lies and which one it is there.
    pub name: &'a str,
    /// Its content, as it was found.
    pub content: Digest,
    /// The code of the reason.
    pub reason: u16,
}

impl<'a> Quarantined<'a> {
    pub(super) fn write(&self, w: &mut Writer) {
        w.maybe(self.record);
        w.u32(self.namespace);
        w.framed(self.name.as_bytes());
        w.fixed(self.content.as_bytes());
        w.u16(self.reason);
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Option<Self> {
        Some(Self {
            record: r.maybe()?,
            namespace: r.u32()?,
            name: r.text(ENTRY_NAME_MAX)?,
            content: r.digest()?,
            reason: r.u16()?,
        })
    }
}

/// The owner released an entry; that is a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// The event that quarantined it.
    pub quarantined: u64,
    /// Its new record.
    pub record: u64,
    /// How the owner was known.
    pub owner: Owner,
}

impl Released {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u64(self.quarantined);
        w.u64(self.record);
        w.u8(self.owner.code());
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self { quarantined: r.u64()?, record: r.u64()?, owner: Owner::from_code(r.u8()?)? })
    }
}

/// How an argument is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKind {
    /// The one value.
    Equal,
    /// One of the values.
    OneOf,
    /// A number from the first value to the second, both included.
    Range,
    /// A text that begins so, at a boundary of its kind.
    Prefix,
    /// A text that matches the pattern: `*` within a part, `**` over parts.
    Glob,
}

impl LimitKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Equal, Self::OneOf, Self::Range, Self::Prefix, Self::Glob];

    const fn code(self) -> u8 {
        match self {
            Self::Equal => 1,
            Self::OneOf => 2,
            Self::Range => 3,
            Self::Prefix => 4,
            Self::Glob => 5,
        }
    }

    /// The word in messages and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::OneOf => "one_of",
            Self::Range => "range",
            Self::Prefix => "prefix",
            Self::Glob => "glob",
        }
    }
}

/// A limit on one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit<'a> {
    /// Which argument.
    pub argument: &'a str,
    /// How.
    pub kind: LimitKind,
    /// By which values.
    pub values: Vec<&'a str>,
}

/// The owner allowed something beforehand: a mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted<'a> {
    /// The number of the tool.
    pub called: u32,
    /// For which calls.
    pub audience: Audience,
    /// Which one: a task's record, or a number.
    pub audience_of: u64,
    /// Not before, in ms.
    pub from_ms: u64,
    /// Not after, in ms.
    pub until_ms: u64,
    /// How often.
    pub uses: u32,
    /// The numeric argument that is summed, and its most, in millionths.
    pub budget: Option<(&'a str, u64)>,
    /// Limits on arguments.
    pub limits: Vec<Limit<'a>>,
    /// The mandate it narrows, whose uses and budget it draws on.
    pub parent: Option<u64>,
    /// How the owner was known; nothing for one that only narrows.
    pub owner: Option<Owner>,
}

impl<'a> Granted<'a> {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.called);
        w.u8(self.audience.code());
        w.u64(self.audience_of);
        w.u64(self.from_ms);
        w.u64(self.until_ms);
        w.u32(self.uses);
        let (argument, most) = self.budget.unwrap_or(("", 0));
        w.framed(argument.as_bytes());
        w.u64(most);
        w.list(self.limits.len());
        for limit in &self.limits {
            w.framed(limit.argument.as_bytes());
            w.u8(limit.kind.code());
            w.list(limit.values.len());
            for value in &limit.values {
                w.framed(value.as_bytes());
            }
        }
        w.maybe(self.parent);
        write_owner(self.owner, w);
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Option<Self> {
        let (called, audience) = (r.u32()?, Audience::from_code(r.u8()?)?);
        let (audience_of, from_ms, until_ms, uses) = (r.u64()?, r.u64()?, r.u64()?, r.u32()?);
        let (argument, most) = (r.text(LONG_NAME_MAX)?, r.u64()?);
        let budget = match (argument, most) {
            ("", 0) => None,
            ("", _) => return None,
            (argument, most) => Some((argument, most)),
        };
        let count = r.list(LIMITS_MAX)?;
        let limits = (0..count).map(|_| read_limit(r)).collect::<Option<_>>()?;
        let (parent, owner) = (r.maybe()?, read_owner(r)?);
        // Whoever is not the owner can only narrow.
        let fits = (owner.is_some() || parent.is_some()) && from_ms <= until_ms && uses > 0;
        fits.then_some(Self {
            called,
            audience,
            audience_of,
            from_ms,
            until_ms,
            uses,
            budget,
            limits,
            parent,
            owner,
        })
    }
}

fn read_limit<'a>(r: &mut Reader<'a>) -> Option<Limit<'a>> {
    let argument = r.text(LONG_NAME_MAX)?;
    let code = r.u8()?;
    let kind = LimitKind::ALL.into_iter().find(|kind| kind.code() == code)?;
    let count = r.list(LIMITS_MAX)?;
    let values = (0..count).map(|_| r.text(REASON_MAX)).collect::<Option<_>>()?;
    Some(Limit { argument, kind, values })
}

/// The owner allowed one call, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consented {
    /// In this session.
    pub session: u32,
    /// The digest of the exact call.
    pub call: Digest,
    /// Not after, in ms.
    pub until_ms: u64,
    /// How the owner was known.
    pub owner: Owner,
}

impl Consented {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.session);
        w.fixed(self.call.as_bytes());
        w.u64(self.until_ms);
        w.u8(self.owner.code());
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            session: r.u32()?,
            call: r.digest()?,
            until_ms: r.u64()?,
            owner: Owner::from_code(r.u8()?)?,
        })
    }
}

/// Something allowed was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// What.
    pub what: Spends,
    /// The event that allowed it.
    pub of: u64,
    /// How much of its budget, in millionths.
    pub amount: u64,
}

impl Spent {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u8(self.what.code());
        w.u64(self.of);
        w.u64(self.amount);
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self { what: Spends::from_code(r.u8()?)?, of: r.u64()?, amount: r.u64()? })
    }
}

/// The gate decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// In this session.
    pub session: u32,
    /// The number of the tool.
    pub called: u32,
    /// The digest of the exact call, or of the entry.
    pub call: Digest,
    /// The digest of the caller's own id of the call; zeros without one.
    pub call_id: Digest,
    /// What.
    pub decision: Decision,
    /// The code of the reason.
    pub reason: u16,
    /// The event of the least origin that decided it.
    pub origin: Option<u64>,
    /// How many equal ones this counts.
    pub count: u32,
}

impl Decided {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.session);
        w.u32(self.called);
        w.fixed(self.call.as_bytes());
        w.fixed(self.call_id.as_bytes());
        w.u8(self.decision.code());
        w.u16(self.reason);
        w.maybe(self.origin);
        w.u32(self.count);
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            session: r.u32()?,
            called: r.u32()?,
            call: r.digest()?,
            call_id: r.digest()?,
            decision: Decision::from_code(r.u8()?)?,
            reason: r.u16()?,
            origin: r.maybe()?,
            count: r.u32()?,
        })
    }
}

/// The owner let an adapter observe, on these channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolled<'a> {
    /// The adapter's number.
    pub adapter: u32,
    /// The digest of its credential.
    pub credential: Digest,
    /// The channels it may name, as patterns.
    pub channels: Vec<&'a str>,
    /// How the owner was known.
    pub owner: Owner,
}

impl<'a> Enrolled<'a> {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.adapter);
        w.fixed(self.credential.as_bytes());
        w.list(self.channels.len());
        for channel in &self.channels {
            w.framed(channel.as_bytes());
        }
        w.u8(self.owner.code());
    }

    pub(super) fn read(r: &mut Reader<'a>) -> Option<Self> {
        let (adapter, credential) = (r.u32()?, r.digest()?);
        let count = r.list(LIMITS_MAX)?;
        let channels = (0..count).map(|_| r.text(LONG_NAME_MAX)).collect::<Option<_>>()?;
        Some(Self { adapter, credential, channels, owner: Owner::from_code(r.u8()?)? })
    }
}

fn write_owner(owner: Option<Owner>, w: &mut Writer) {
    w.u8(owner.map_or(0, Owner::code));
}

#[expect(clippy::option_option, reason = "the bytes end, nobody, or an owner: three things")]
fn read_owner(r: &mut Reader<'_>) -> Option<Option<Owner>> {
    match r.u8()? {
        0 => Some(None),
        code => Owner::from_code(code).map(Some),
    }
}

//! The head of a ledger as an anchor remembers it, and the judgement of a store against it. A chain never sees its own end;
//! this does.

use crate::canon::{Mac, Reader, Writer};
use crate::chain::{Flaw, Position};
use crate::clock::Reading;
use crate::event::LedgerId;
use crate::keys::Keyring;

/// Bytes in a slot; an anchor file has two.
pub const SLOT_LEN: usize = 4096;
/// Bytes in the path of a store.
pub const PATH_MAX: usize = 3500;

const MAGIC: &[u8; 8] = b"ACTUMAN1";
const SEALED_LEN: usize = SLOT_LEN - 32;

/// What an anchor remembers: how far the ledger was acknowledged, where its store lies, what the clocks said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Counts the writes of this anchor.
    pub counter: u64,
    /// The generation of the key that sealed it.
    pub generation: u32,
    /// The newest start of a writer.
    pub incarnation: u32,
    /// Events acknowledged.
    pub count: u64,
    /// The MAC of the newest of them.
    pub mac: Mac,
    /// The clocks at that moment.
    pub reading: Reading,
    /// Where the store lies: the bytes of its path.
    pub path: Vec<u8>,
}

impl Head {
    /// The slot this head belongs in: 0 or 1.
    pub const fn slot(&self) -> usize {
        if self.counter.is_multiple_of(2) { 0 } else { 1 }
    }

    /// The sealed bytes of its slot. `None` if the path is longer than [`PATH_MAX`] or there is no key of its generation.
    pub fn seal(&self, keys: &Keyring) -> Option<Vec<u8>> {
        if self.path.len() > PATH_MAX {
            return None;
        }
        let mut w = Writer(Vec::with_capacity(SLOT_LEN));
        w.fixed(MAGIC);
        w.fixed(keys.ledger().as_bytes());
        w.u64(self.counter);
        w.u32(self.generation);
        w.u32(self.incarnation);
        w.u64(self.count);
        w.fixed(self.mac.as_bytes());
        w.u64(self.reading.wall_ms);
        w.u64(self.reading.boot_ms);
        w.fixed(&self.reading.boot_id);
        w.framed(&self.path);
        w.0.resize(SEALED_LEN, 0);
        let mac = keys.anchor(self.generation)?.mac(&w.0);
        w.fixed(mac.as_bytes());
        Some(w.0)
    }

    /// Reads a slot and checks its seal.
    ///
    /// `None` if it is not a slot of this ledger, or if it is older than the generation in force: a stolen old key cannot
    /// forge a head. The one exception is the moment of a rotation, when the key file is ahead by a root that is not yet
    /// in force; such a slot is of the active generation or the next.
    pub fn open(slot: &[u8], keys: &Keyring) -> Option<Self> {
        let sealed = slot.get(..SEALED_LEN).filter(|_| slot.len() == SLOT_LEN)?;
        let mut r = Reader(sealed);
        let ours = r.array::<8>()? == *MAGIC && r.array::<16>()? == *keys.ledger().as_bytes();
        ours.then_some(())?;
        let (counter, generation, incarnation) = (r.u64()?, r.u32()?, r.u32()?);
        if generation < keys.active() {
            return None;
        }
        let stored = Mac::from_bytes(slot.get(SEALED_LEN..)?.try_into().ok()?);
        if keys.anchor(generation)?.mac(sealed) != stored {
            return None;
        }
        let (count, mac) = (r.u64()?, r.mac()?);
        let reading = Reading { wall_ms: r.u64()?, boot_ms: r.u64()?, boot_id: r.array()? };
        let path = r.framed(PATH_MAX)?.to_vec();
        r.0.iter().all(|&byte| byte == 0).then_some(())?;
        Some(Self { counter, generation, incarnation, count, mac, reading, path })
    }

    /// The newest head of an anchor file; `None` if no slot verifies.
    pub fn newest(file: &[u8], keys: &Keyring) -> Option<Self> {
        let slots = file.chunks(SLOT_LEN).take(2).filter_map(|slot| Self::open(slot, keys));
        slots.reduce(|best, next| if next.counter > best.counter { next } else { best })
    }
}

/// The ledger id an anchor slot names, not yet verified by anything.
pub fn claimed_anchor_ledger(file: &[u8]) -> Option<LedgerId> {
    let mut r = Reader(file);
    (r.array::<8>()? == *MAGIC).then_some(())?;
    r.array().map(LedgerId::from_bytes)
}

/// What was found in a store.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where its valid prefix ends.
    pub position: Position,
    /// The MAC of the event the head names, if the prefix reaches it.
    pub mac_at_head: Option<Mac>,
    /// Why the prefix ends where it does; nothing if that is where the bytes end.
    pub flaw: Option<Flaw>,
}

/// Why nothing in a ledger may be believed. Whatever grounds on it is refused, and nothing is appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The store ends before the head.
    #[error("the ledger was cut: {found} of {count} acknowledged events are there")]
    Truncated {
        /// Valid events.
        found: u64,
        /// Acknowledged events.
        count: u64,
    },
    /// Something before the head does not verify.
    #[error("{flaw}; the file was changed after it was written ({count} events were acknowledged)")]
    Damaged {
        /// The first bad place.
        flaw: Flaw,
        /// Acknowledged events.
        count: u64,
    },
    /// The store tells another story than the anchor.
    #[error("event {event} is genuine but not the one the anchor remembers: the ledger was forked")]
    Forked {
        /// The event the head names.
        event: u64,
    },
    /// Nothing remembers how far the ledger went.
    #[error("no anchor vouches for this ledger: it cannot be told whether it is whole")]
    Unanchored,
    /// The store lies elsewhere than the anchor says.
    #[error("this store belongs at {expected}; it was moved or copied to {found}")]
    Moved {
        /// Where the anchor says.
        expected: String,
        /// Where it lies.
        found: String,
    },
    /// Another ledger lies where this one did.
    #[error("ledger {expected} belongs here, but what lies here is ledger {found}")]
    Swapped {
        /// The ledger an anchor knows at this path.
        expected: LedgerId,
        /// The ledger found.
        found: LedgerId,
    },
    /// The key is missing, unreadable or readable by others.
    #[error("the key of this ledger cannot be used: {why}")]
    Key {
        /// What is wrong with it, and with which file.
        why: String,
    },
    /// Store and anchor went back behind what this process has seen.
    #[error(
        "the ledger was rolled back: this process has seen {seen} events, store and anchor know {found}"
    )]
    RolledBack {
        /// Events this process has seen.
        seen: u64,
        /// Events there are now.
        found: u64,
    },
}

impl Refusal {
    /// The first bad event, where there is one.
    pub const fn event(&self) -> Option<u64> {
        match self {
            Self::Truncated { found, .. } => Some(*found),
            Self::Damaged { flaw, .. } => Some(flaw.event()),
            Self::Forked { event } => Some(*event),
            Self::Unanchored
            | Self::Moved { .. }
            | Self::Swapped { .. }
            | Self::Key { .. }
            | Self::RolledBack { .. } => None,
        }
    }
}

/// Judges a store against its head: the table *Opening* of `docs/formats/ledger.md`. Returns how many genuine events lie
/// beyond the head.
///
/// # Errors
/// [`Refusal::Unanchored`], [`Refusal::Truncated`], [`Refusal::Damaged`] or [`Refusal::Forked`].
pub fn judge_store(head: Option<&Head>, found: &Found) -> Result<u64, Refusal> {
    let Some(head) = head else { return Err(Refusal::Unanchored) };
    let count = head.count;
    let Some(beyond) = found.position.count.checked_sub(count) else {
        return Err(match &found.flaw {
            Some(flaw) if !flaw.is_an_end() => Refusal::Damaged { flaw: flaw.clone(), count },
            Some(_) | None => Refusal::Truncated { found: found.position.count, count },
        });
    };
    let same = if count == 0 { head.mac == Mac::ZERO } else { found.mac_at_head == Some(head.mac) };
    if same { Ok(beyond) } else { Err(Refusal::Forked { event: count.saturating_sub(1) }) }
}

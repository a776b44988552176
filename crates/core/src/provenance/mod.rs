//! Where each remembered thing really came from, folded from events: sessions with what was put before their models, records
//! of entries, what was revoked or withheld, mandates and approvals. Decides nothing.
//!
//! Authority is computed once, when a thing is admitted, as a meet over things that are already there: lineage is acyclic by
//! construction, a shared ancestor is met once, and nobody walks anything to decide. Revocation is an overlay: it marks what
//! it names and all that came of it, visiting nothing else, and never raises anything.

mod fold;
mod mandate;

use std::collections::{BTreeMap, BTreeSet};

use crate::authority::Authority;
use crate::canon::{Digest, Mac};
use crate::event::{
    Audience, Decided, Decision, EntryKind, LimitKind, Owner, Parents, Seen, Start, Wrote,
};
use crate::fingerprint::{ByFingerprint, Fingerprint};
use crate::names::ChannelName;
use crate::policy::ChannelPattern;
use crate::rule::{Rule, Rules};

/// The numbers of the decision codes that come with a receipt: `untrusted_trigger` and `nobody_to_ask`.
pub(crate) const RECEIPTED: [u16; 2] = [42, 43];

/// A thing with an origin: something observed, or a record. Known by the index of its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its event.
    pub event: u64,
    /// When it was admitted, by the ledger's time in ms.
    pub at_ms: u64,
    /// The number of its channel.
    pub channel: u32,
    /// The number of its author.
    pub author: u32,
    /// Its authority, as computed when it was admitted.
    pub authority: Authority,
    /// Its content.
    pub content: Digest,
    /// The session it was observed or written in.
    pub session: Option<u32>,
    /// What it is.
    pub what: ItemKind,
    /// What it came of, by event.
    pub parents: Lineage,
    /// The numbers of the channels whose word it rests on, its own or those of what it came of: it is worth nothing for a
    /// tool, or at a time, for which one of them is not approved.
    pub rests_on: Box<[u32]>,
    /// Why it is withheld, if it is.
    pub withheld: Option<Withheld>,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// Something put before a model.
    Seen(Seen),
    /// An entry.
    Entry {
        /// Memory or task.
        kind: EntryKind,
        /// The number of its namespace.
        namespace: u32,
        /// Where it lies and which one it is there.
        name: Box<str>,
        /// Its keyed fingerprint.
        fingerprint: Digest,
        /// How the owner was known who wrote or adopted it.
        owner: Option<Owner>,
    },
}

/// What an item came of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lineage {
    /// Nothing: it entered here.
    Root,
    /// The part of a session's context from one place to another.
    Context {
        /// The session.
        session: u32,
        /// From this place in its list.
        from: usize,
        /// Up to this place, not included.
        until: usize,
    },
    /// These events.
    These(Box<[u64]>),
}

/// Why an item is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withheld {
    /// The event that revoked it.
    Revoked(u64),
    /// The event that superseded it.
    Superseded(u64),
    /// The event that quarantined it.
    Quarantined(u64),
    /// An ancestor of it is withheld: that ancestor's event.
    Ancestor(u64),
    /// The owner wrote or adopted it, and nobody acknowledged that: the owner says it again.
    Unconfirmed,
}

/// What made an agent act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// The event.
    pub event: u64,
    /// Its authority.
    pub authority: Authority,
    /// What it was.
    pub kind: TriggerKind,
    /// The number of its channel.
    pub channel: u32,
}

/// Kinds of trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerKind {
    /// Somebody's turn.
    Turn,
    /// A stored task that fired: its record.
    Task(u64),
    /// A message from outside.
    Inbound,
}

/// A session, and what is before its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The event that opened it.
    pub opened: u64,
    /// The adapter that opened it; nothing for the owner at a shell.
    pub adapter: Option<u32>,
    /// How it began.
    pub start: Start,
    /// Everything put before its model, by event, oldest first.
    pub seen: Vec<u64>,
    /// Where its context begins in that list: behind the last reset.
    pub from: usize,
    /// The least authority of anything in its context.
    pub least: Authority,
    /// What made its agent act last.
    pub trigger: Option<Trigger>,
    /// The task that fired it, or fired the session that opened it.
    pub task: Option<u64>,
    /// Items whose lineage is a part of its context, by event.
    derived: Vec<u64>,
    /// The channels on whose word anything in its context rests.
    rests_on: BTreeSet<u32>,
}

impl Session {
    /// What is before its model now, by event.
    pub fn context(&self) -> &[u64] {
        self.seen.get(self.from..).unwrap_or_default()
    }

    /// Whether it is known only through a guard: what the user said in it was not seen, unless a hook told of a turn.
    pub const fn is_partial(&self) -> bool {
        match self.start {
            Start::Partial | Start::Interactive => true,
            Start::Fresh | Start::Unknown | Start::Subagent | Start::Fired => false,
        }
    }
}

/// A mandate with what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    /// Its event.
    pub event: u64,
    /// The number of the tool.
    pub called: u32,
    /// For which calls.
    pub audience: Audience,
    /// Which one.
    pub audience_of: u64,
    /// Not before, in ms.
    pub from_ms: u64,
    /// Not after, in ms.
    pub until_ms: u64,
    /// How often it may still be used.
    pub uses_left: u32,
    /// The argument that is summed, and what is left for it, in millionths.
    pub budget_left: Option<(Box<str>, u64)>,
    /// Limits on arguments.
    pub limits: Vec<(Box<str>, LimitKind, Vec<Box<str>>)>,
    /// The mandate it draws on.
    pub parent: Option<u64>,
    /// The event that revoked it.
    pub revoked: Option<u64>,
}

/// An approval of one call that was not used yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approval {
    /// Its event.
    pub event: u64,
    /// In this session.
    pub session: u32,
    /// The exact call.
    pub call: Digest,
    /// Not after, in ms.
    pub until_ms: u64,
}

/// An adapter that may observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// The event that enrolled it.
    pub event: u64,
    /// The digest of its credential.
    pub credential: Digest,
    /// Patterns of the channels it may name.
    pub channels: Vec<Box<str>>,
    /// The event that took its credential back.
    pub revoked: Option<u64>,
}

/// Something withheld, as the owner sees it listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The event that quarantined it.
    pub event: u64,
    /// Its record, if it has one.
    pub record: Option<u64>,
    /// The number of its namespace.
    pub namespace: u32,
    /// Where it lies and which one it is there.
    pub name: Box<str>,
    /// Its content.
    pub content: Digest,
    /// The code of the reason.
    pub reason: u16,
    /// How it was released, if it was.
    pub released: Option<Release>,
}

/// How an entry was released from quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The event that says so.
    pub event: u64,
    /// The new record.
    pub record: u64,
}

/// The provenance views.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    sessions: BTreeMap<u32, Session>,
    /// In the order of their events.
    items: Vec<Item>,
    /// The newest record of each entry, by its place among the items: to search for its event would miss every cache.
    newest: ByFingerprint<u32>,
    /// Items that name others as their parents, by parent.
    children: BTreeMap<u64, Vec<u64>>,
    /// Sessions that have something before their model that another session observed, or a record.
    also_in: BTreeMap<u64, Vec<u32>>,
    mandates: BTreeMap<u64, Mandate>,
    approvals: BTreeMap<u64, Approval>,
    /// The newest approval of each call in its session.
    approved: BTreeMap<(u32, Digest), u64>,
    /// Every enrolment of each number, newest last: one that was not acknowledged gives way to the one before.
    adapters: BTreeMap<u32, Vec<Adapter>>,
    held: BTreeMap<u64, Held>,
    /// What was quarantined of each entry.
    held_of: ByFingerprint<Vec<u64>>,
    unreleased: usize,
    decisions: Vec<(u64, Decided)>,
    /// The first answer to a call id of a session.
    answered: BTreeMap<(u32, Digest), u64>,
    /// The newest decision on each call of a session.
    latest: BTreeMap<(u32, Digest), u64>,
    /// The calls that wait for the owner, each with the first decision since it was last allowed or approved.
    asked_since: BTreeMap<(u32, Digest), u64>,
    /// How many different calls wait for the owner, by session and the channel that they come from.
    waiting: BTreeMap<(u32, Option<u32>), BTreeSet<Digest>>,
    /// Interval revocations, which also bind what is admitted later with such a channel or author.
    intervals: Vec<Interval>,
    void_before: u64,
    rules: Rules,
}

impl Provenance {
    /// A session by its number.
    pub fn session(&self, number: u32) -> Option<&Session> {
        self.sessions.get(&number)
    }

    /// Every session.
    pub fn sessions(&self) -> impl Iterator<Item = (u32, &Session)> {
        self.sessions.iter().map(|(number, session)| (*number, session))
    }

    /// A thing by its event.
    pub fn item(&self, event: u64) -> Option<&Item> {
        // Its place is no greater than its event, so an early one is soon found however many there are.
        let upto = usize::try_from(event).unwrap_or(usize::MAX).saturating_add(1);
        let items = self.items.get(..upto.min(self.items.len()))?;
        let at = items.binary_search_by_key(&event, |item| item.event).ok()?;
        items.get(at)
    }

    /// Everything with an origin, oldest first.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The newest record of the entry with this fingerprint.
    pub(crate) fn newest(&self, entry: Fingerprint) -> Option<&Item> {
        self.items.get(*self.newest.get(&entry)? as usize)
    }

    /// An item's authority now: the least there is once it is withheld, or once a loss made it void.
    pub fn standing(&self, item: &Item) -> Authority {
        if item.withheld.is_some_and(|why| self.minds(&why)) || self.is_void(item) {
            Authority::Untrusted
        } else {
            item.authority
        }
    }

    /// Whether this reason to withhold holds; all do where something can come of it.
    pub(crate) fn minds(&self, why: &Withheld) -> bool {
        if self.rules == Rules::ALL {
            return true;
        }
        match why {
            Withheld::Revoked(_) | Withheld::Unconfirmed => self.rules.hold(Rule::Revoked),
            Withheld::Superseded(_) => self.rules.hold(Rule::Superseded),
            Withheld::Quarantined(_) => self.rules.hold(Rule::Held),
            Withheld::Ancestor(of) => {
                let why = self.item(*of).and_then(|item| item.withheld);
                why.is_none_or(|why| self.minds(&why))
            }
        }
    }

    /// Takes one rule away.
    pub(crate) const fn ablate(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// The events an item came of.
    pub fn parents<'a>(&'a self, item: &'a Item) -> &'a [u64] {
        self.events_of(&item.parents)
    }

    fn events_of<'a>(&'a self, lineage: &'a Lineage) -> &'a [u64] {
        match lineage {
            Lineage::Root => &[],
            Lineage::Context { session, from, until } => self
                .sessions
                .get(session)
                .and_then(|session| session.seen.get(*from..*until))
                .unwrap_or_default(),
            Lineage::These(events) => events,
        }
    }

    /// What a record that is to be written now comes of.
    pub(crate) fn parents_of_new<'a>(&'a self, wrote: &'a Wrote<'_>) -> &'a [u64] {
        match &wrote.parents {
            Parents::None => &[],
            Parents::Context => {
                let session = wrote.session.and_then(|number| self.sessions.get(&number));
                session.map(Session::context).unwrap_or_default()
            }
            Parents::Proven(events) => events,
        }
    }

    /// What came of an item at first hand.
    fn children_of(&self, event: u64) -> Vec<u64> {
        let mut children = self.children.get(&event).cloned().unwrap_or_default();
        for session in self.sessions_with(event).filter_map(|number| self.sessions.get(&number)) {
            let came_of = |child: &&u64| {
                self.item(**child).is_some_and(|item| self.parents(item).contains(&event))
            };
            children.extend(session.derived.iter().filter(came_of));
        }
        children
    }

    /// The sessions that have, or had, this before their model.
    fn sessions_with(&self, event: u64) -> impl Iterator<Item = u32> + '_ {
        let own = self.item(event).filter(|item| matches!(item.what, ItemKind::Seen(_)));
        let own = own.and_then(|item| item.session);
        own.into_iter().chain(self.also_in.get(&event).into_iter().flatten().copied())
    }

    /// Everything that came of an item, oldest first.
    pub fn descendants(&self, of: u64) -> Vec<u64> {
        self.descendants_of_any(&[of])
    }

    /// Everything that came of any of these items, oldest first.
    pub fn descendants_of_any(&self, of: &[u64]) -> Vec<u64> {
        let mut found = BTreeSet::new();
        let mut next = of.to_vec();
        while let Some(event) = next.pop() {
            let new = self.children_of(event).into_iter().filter(|child| found.insert(*child));
            next.extend(new);
        }
        found.into_iter().collect()
    }

    /// The items that a revocation of this channel would withhold by themselves, for an interval of admission times in ms.
    pub fn through_channel(&self, number: u32, from_ms: u64, until_ms: u64) -> Vec<u64> {
        self.bound_by(&Interval { channel: true, number, from_ms, until_ms, event: 0 })
    }

    /// The same of this author.
    pub fn by_author(&self, number: u32, from_ms: u64, until_ms: u64) -> Vec<u64> {
        self.bound_by(&Interval { channel: false, number, from_ms, until_ms, event: 0 })
    }

    fn bound_by(&self, interval: &Interval) -> Vec<u64> {
        let bound = self.items.iter().filter(|it| interval.binds(it.channel, it.author, it.at_ms));
        bound.map(|item| item.event).collect()
    }

    /// The event that revoked this channel for all of such an interval already.
    pub fn channel_revoked(&self, number: u32, from_ms: u64, until_ms: u64) -> Option<u64> {
        self.covered_by(&Interval { channel: true, number, from_ms, until_ms, event: 0 })
    }

    /// The same of this author.
    pub fn author_revoked(&self, number: u32, from_ms: u64, until_ms: u64) -> Option<u64> {
        self.covered_by(&Interval { channel: false, number, from_ms, until_ms, event: 0 })
    }

    fn covered_by(&self, interval: &Interval) -> Option<u64> {
        self.intervals.iter().find(|known| known.covers(interval)).map(|known| known.event)
    }

    /// Every mandate.
    pub fn mandates(&self) -> impl Iterator<Item = &Mandate> {
        self.mandates.values()
    }

    /// A mandate by its event.
    pub fn mandate(&self, event: u64) -> Option<&Mandate> {
        self.mandates.get(&event)
    }

    /// An unused approval of exactly this call in this session.
    pub fn approval(&self, session: u32, call: &Digest, now_ms: u64) -> Option<&Approval> {
        let exact = || self.approvals.get(self.approved.get(&(session, *call))?);
        let found = if self.rules.hold(Rule::ExactCall) {
            exact()
        } else {
            self.approvals.values().find(|approval| approval.session == session)
        };
        found.filter(|approval| now_ms <= approval.until_ms)
    }

    /// Whether any call of this session has an approval.
    pub(crate) fn has_approvals(&self, session: u32) -> bool {
        let first = (session, Digest::from_bytes([0; 32]));
        self.approved.range(first..).next().is_some_and(|((of, _), _)| *of == session)
    }

    /// Every approval that was not used yet.
    pub fn approvals(&self) -> impl Iterator<Item = &Approval> {
        self.approvals.values()
    }

    /// An adapter by its number.
    pub fn adapter(&self, number: u32) -> Option<&Adapter> {
        self.adapters.get(&number)?.last()
    }

    /// Every adapter, as it was enrolled last.
    pub fn adapters(&self) -> impl Iterator<Item = (u32, &Adapter)> {
        self.adapters.iter().filter_map(|(number, all)| Some((*number, all.last()?)))
    }

    /// Everything that was quarantined, released or not.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.values()
    }

    /// One thing that was quarantined, by its event.
    pub fn held_at(&self, event: u64) -> Option<&Held> {
        self.held.get(&event)
    }

    /// What quarantines an entry with this content now.
    pub(crate) fn holding(&self, entry: Fingerprint, content: &Digest) -> Option<&Held> {
        let held = self.held_of.get(&entry)?.iter().rev().filter_map(|event| self.held.get(event));
        held.into_iter().find(|held| held.released.is_none() && held.content == *content)
    }

    /// How many entries are in quarantine.
    pub const fn unreleased(&self) -> usize {
        self.unreleased
    }

    /// The newest decision on a call of a session.
    pub fn latest(&self, session: u32, call: &Digest) -> Option<(u64, &Decided)> {
        self.decision(*self.latest.get(&(session, *call))?)
    }

    /// A decision by its event.
    pub fn decision(&self, event: u64) -> Option<(u64, &Decided)> {
        let at = self.decisions.binary_search_by_key(&event, |(event, _)| *event).ok()?;
        self.decisions.get(at).map(|(event, decided)| (*event, decided))
    }

    /// Calls that wait for the owner: the newest decision on each is a question, or a no with a receipt.
    pub fn pending(&self) -> impl Iterator<Item = (u64, &Decided)> {
        self.asked_since.keys().filter_map(|(session, call)| self.latest(*session, call))
    }

    /// The call that waits for the owner and that this decision asked about, at first or again.
    pub(crate) fn asked_by(&self, receipt: u64) -> Option<&Decided> {
        let (_, decided) = self.decision(receipt)?;
        let since = self.asked_since.get(&(decided.session, decided.call))?;
        (*since <= receipt).then_some(decided)
    }

    /// Whether the newest decision on a call of a session waits for the owner still.
    pub(crate) fn is_pending(&self, session: u32, call: &Digest) -> bool {
        self.asked_since.contains_key(&(session, *call))
    }

    /// How many calls of this session that come from this channel wait for the owner.
    pub(crate) fn waiting(&self, session: u32, channel: Option<u32>) -> usize {
        self.waiting.get(&(session, channel)).map_or(0, BTreeSet::len)
    }

    fn channel_of(&self, origin: Option<u64>) -> Option<u32> {
        origin.and_then(|origin| self.item(origin)).map(|item| item.channel)
    }

    /// What was decided, allowed, while this or anything that came of it was before the model: what it may have brought
    /// about.
    pub fn uses(&self, of: u64) -> Vec<u64> {
        self.uses_of_any(&[of])
    }

    /// The same for several things together.
    pub fn uses_of_any(&self, of: &[u64]) -> Vec<u64> {
        let all = of.iter().copied().chain(self.descendants_of_any(of));
        let mut since: BTreeMap<u32, u64> = BTreeMap::new();
        for event in all {
            for number in self.sessions_with(event) {
                let first = since.entry(number).or_insert(event);
                *first = (*first).min(event);
            }
            for (number, session) in &self.sessions {
                if session.task == Some(event) {
                    since.entry(*number).or_insert(event);
                }
            }
        }
        let used = self.decisions.iter().filter(|(event, decided)| {
            decided.decision == Decision::Allow
                && since.get(&decided.session).is_some_and(|first| first < event)
        });
        used.map(|(event, _)| *event).collect()
    }

    /// Every decision that was recorded, with its event.
    pub fn decisions(&self) -> &[(u64, Decided)] {
        &self.decisions
    }

    /// The first decision on a call id of a session.
    pub fn answer_to(&self, session: u32, call_id: &Digest) -> Option<(u64, &Decided)> {
        self.decision(*self.answered.get(&(session, *call_id))?)
    }
}

/// A question, or a no that the owner can turn into a yes.
fn waits(decided: &Decided) -> bool {
    match decided.decision {
        Decision::Ask => true,
        Decision::Deny => RECEIPTED.contains(&decided.reason),
        Decision::Allow | Decision::Label | Decision::Quarantine => false,
    }
}

/// Everything through one channel, or by one author, within an interval of admission times. It also binds what is admitted
/// after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    /// A channel's number, else an author's.
    channel: bool,
    number: u32,
    from_ms: u64,
    until_ms: u64,
    event: u64,
}

impl Interval {
    fn binds(&self, channel: u32, author: u32, at_ms: u64) -> bool {
        let number = if self.channel { channel } else { author };
        number == self.number && (self.from_ms..=self.until_ms).contains(&at_ms)
    }

    const fn covers(&self, other: &Self) -> bool {
        self.channel == other.channel
            && self.number == other.number
            && self.from_ms <= other.from_ms
            && self.until_ms >= other.until_ms
    }
}

impl Item {
    /// What stands for it in the fingerprint of what comes of it.
    pub(crate) const fn identity(&self) -> Digest {
        match self.what {
            ItemKind::Entry { fingerprint, .. } => fingerprint,
            ItemKind::Seen(_) => self.content,
        }
    }
}

impl Adapter {
    /// The digest that an enrolment holds of a credential.
    pub fn credential_digest(secret: &[u8]) -> Digest {
        Digest::of("actum/credential/v1", &[secret])
    }

    /// Whether this is its credential; compared in constant time. None is once it was taken back.
    pub fn is_credential(&self, secret: &[u8]) -> bool {
        let mac = |digest: &Digest| Mac::from_bytes(*digest.as_bytes());
        mac(&Self::credential_digest(secret)) == mac(&self.credential) && self.revoked.is_none()
    }

    /// Whether the owner gave it this channel.
    pub fn names(&self, channel: &ChannelName) -> bool {
        self.channels.iter().any(|pattern| {
            ChannelPattern::read(pattern).is_some_and(|pattern| pattern.names(channel))
        })
    }
}

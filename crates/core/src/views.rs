//! The state of a ledger, folded from its events: names, runs, the policy in force, time. Nothing is true that is not an
//! event, so these can be thrown away and folded again at any moment.

use core::num::NonZeroU64;
use std::collections::BTreeMap;

use crate::canon::{Digest, Mac, Writer};
use crate::chain::{EventFlaw, Flaw, Position, Record, Verified};
use crate::event::{
    Began, Cause, Ended, Event, Kind, Outcome, Owner, Revoked, Revokes, Space, Wrote,
};
use crate::fingerprint::{ByFingerprint, Fingerprint, Of, fingerprint};
use crate::keys::Keyring;
use crate::names::{Namespace, StepName};
use crate::provenance::{Held, Item, Provenance};
use crate::rule::Rules;

/// A policy that the owner accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The digest of the accepted document.
    pub digest: Digest,
    /// How the owner was known.
    pub owner: Owner,
    /// The index of its event.
    pub event: u64,
}

/// The owner went on after a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    /// The index of its event.
    pub event: u64,
    /// After what.
    pub cause: Cause,
    /// How the owner was known.
    pub owner: Owner,
}

/// What changes whether evidence can be trusted at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    ClockJumped,
    Resolved {
        resolution: Resolution,
        /// The ledger's time before it started anew.
        before_ms: u64,
    },
}

/// A run that began before the newest of its step and subject and ended after that began, on the same content, not well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overtaken {
    pub(crate) began: u64,
    pub(crate) end: End,
}

/// The newest run of a step on a subject. Small, for a check in a large ledger costs what fetching this costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) began: u64,
    pub(crate) subject: Digest,
    pub(crate) rule: u32,
    pub(crate) tool: u32,
    pub(crate) end: Option<End>,
    /// The event that revoked it; never event 0, the genesis.
    pub(crate) revoked: Option<NonZeroU64>,
    /// The hour it began in, and how many of its step and subject did.
    pub(crate) in_hour: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) event: u64,
    pub(crate) at_ms: u64,
    pub(crate) outcome: Outcome,
    pub(crate) code: i32,
}

/// A run that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) content: Digest,
    /// The MAC of its `Began`: after a loss another run may come to have the same index.
    pub(crate) mac: Mac,
    /// What it was called with: the digest of the call, where it is one.
    pub(crate) arguments: Digest,
    /// The session's number.
    pub(crate) session: u32,
}

/// Everything the rules need to know of the past.
#[derive(Debug)]
pub struct Views {
    keys: Keyring,
    position: Position,
    names: BTreeMap<Space, Names>,
    runs: ByFingerprint<Run>,
    /// Every run in order of its beginning.
    began: Vec<(u64, Fingerprint)>,
    /// Those that have not ended, the newest of their step and subject or not.
    open: BTreeMap<u64, Open>,
    /// By the newest run that they do not leave alone.
    overtaken: BTreeMap<u64, Overtaken>,
    /// What the owner did, by event, newest last: undone where it turns out never to have been acknowledged.
    policies: Vec<(u64, Option<Accepted>)>,
    trusted: Vec<(u64, Trust)>,
    provenance: Provenance,
    time_ms: u64,
    /// MACs to remember: of the newest of so many events.
    watched: Vec<(u64, Option<Mac>)>,
    rules: Rules,
}

fn hour_of(ms: u64) -> u32 {
    u32::try_from(ms / 3_600_000).unwrap_or(u32::MAX)
}

#[derive(Debug, Default)]
struct Names {
    by_number: Vec<Box<[u8]>>,
    by_name: BTreeMap<Box<[u8]>, u32>,
}

/// What became of the records of one segment.
#[derive(Debug)]
pub struct Admitted {
    /// Where the last good record ends in the segment.
    pub end: usize,
    /// The first bad place.
    pub flaw: Option<Flaw>,
}

impl Views {
    /// Before the first event. [`Views::mac_of`] will know the counts in `watch`.
    pub fn new(keys: Keyring, watch: &[u64]) -> Self {
        Self {
            keys,
            position: Position::START,
            names: BTreeMap::new(),
            runs: ByFingerprint::default(),
            began: Vec::new(),
            open: BTreeMap::new(),
            overtaken: BTreeMap::new(),
            policies: Vec::new(),
            trusted: Vec::new(),
            provenance: Provenance::default(),
            time_ms: 0,
            watched: watch.iter().map(|&count| (count, None)).collect(),
            rules: Rules::ALL,
        }
    }

    /// Folds the verified records of the next segment, up to the first one that means nothing here.
    pub fn admit(&mut self, verified: &Verified<'_>) -> Admitted {
        let mut end = crate::chain::SEGMENT_HEADER_LEN;
        for record in verified.records() {
            if let Err(flaw) = self.fold_record(&record) {
                return Admitted { end, flaw: Some(flaw) };
            }
            end = record.end;
        }
        Admitted { end, flaw: verified.flaw().cloned() }
    }

    fn fold_record(&mut self, record: &Record<'_>) -> Result<(), Flaw> {
        let event = self.position.count;
        self.check_place(record)
            .and_then(|decoded| self.fold(&decoded, record.header.time_ms, record.mac))
            .map_err(|what| Flaw::Event { event, what })?;
        self.position.count += 1;
        self.position.mac = record.mac;
        self.position.incarnation = record.header.incarnation;
        self.note_mac(event, record.mac);
        Ok(())
    }

    fn check_place<'a>(&self, record: &Record<'a>) -> Result<Event<'a>, EventFlaw> {
        let header = record.header;
        if header.index != self.position.count {
            return Err(EventFlaw::Index { found: header.index });
        }
        let before = self.position.incarnation;
        // Writers count their starts from 1.
        if header.incarnation < before.max(1) {
            return Err(EventFlaw::Incarnation { found: header.incarnation, before });
        }
        let Some(kind) = Kind::from_code(header.kind) else {
            return Err(EventFlaw::Kind { found: header.kind });
        };
        Event::decode(kind, record.fields).ok_or(EventFlaw::Decode)
    }

    /// Takes over an event that this writer has just sealed at `after`.
    pub(crate) fn fold_own(&mut self, event: &Event<'_>, time_ms: u64, after: &Position) {
        let folded = self.fold(event, time_ms, after.mac);
        assert!(folded.is_ok(), "a writer seals only what it would itself admit: {folded:?}");
        self.note_mac(self.position.count, after.mac);
        self.position = *after;
    }

    fn note_mac(&mut self, event: u64, mac: Mac) {
        for (count, remembered) in &mut self.watched {
            if *count == event + 1 {
                *remembered = Some(mac);
            }
        }
    }

    fn fold(&mut self, event: &Event<'_>, raw_ms: u64, mac: Mac) -> Result<(), EventFlaw> {
        let index = self.position.count;
        match (index, event) {
            (0, Event::Genesis { ledger }) if *ledger == self.keys.ledger() => {}
            (0, Event::Genesis { .. }) => return Err(EventFlaw::OtherGenesis),
            (0, _) => return Err(EventFlaw::NotGenesis),
            (_, Event::Genesis { .. }) => return Err(EventFlaw::SecondGenesis),
            (_, _) => {}
        }
        // A clock that steps back a little does not make anything younger.
        self.time_ms = self.time_ms.max(raw_ms);
        let (at_ms, provenance) = (self.time_ms, &mut self.provenance);
        match event {
            Event::Genesis { .. } => {}
            Event::Named { space, number, name } => self.fold_named(*space, *number, name)?,
            Event::Policy { digest, owner } => {
                let (digest, owner) = (*digest, *owner);
                self.policies.push((index, Some(Accepted { digest, owner, event: index })));
            }
            Event::Began(began) => self.fold_began(index, began, mac)?,
            Event::Ended(ended) => self.fold_ended(index, ended)?,
            Event::Revoked(revoked) => self.fold_revoked(index, revoked)?,
            Event::Clock { .. } => self.trusted.push((index, Trust::ClockJumped)),
            Event::Recovered { first, .. } => self.confirm_before(*first),
            Event::Resolved { cause, owner, .. } => {
                let (cause, owner) = (*cause, *owner);
                self.fold_resolved(Resolution { event: index, cause, owner }, raw_ms);
            }
            Event::Rotated { generation, key_id, .. } => self.fold_rotated(*generation, *key_id)?,
            Event::Opened(opened) => {
                self.check_named(&[(Space::Session, opened.session)])?;
                self.provenance.fold_opened(index, opened)?;
            }
            Event::Observed(observed) => {
                let (channel, author) = (observed.channel, observed.author);
                self.check_named(&[(Space::Channel, channel), (Space::Author, author)])?;
                self.provenance.fold_observed(index, at_ms, observed)?;
            }
            Event::Wrote(wrote) => {
                self.check_named(&[
                    (Space::Namespace, wrote.namespace),
                    (Space::Channel, wrote.channel),
                    (Space::Author, wrote.author),
                ])?;
                let entry = fingerprint(&self.keys, Of::Entry, wrote.namespace, 0, wrote.name);
                self.provenance.fold_wrote(index, at_ms, wrote, entry)?;
            }
            Event::Superseded(superseded) => provenance.fold_superseded(index, superseded)?,
            Event::Quarantined(quarantined) => {
                self.check_named(&[(Space::Namespace, quarantined.namespace)])?;
                let (namespace, name) = (quarantined.namespace, quarantined.name);
                let entry = fingerprint(&self.keys, Of::Entry, namespace, 0, name);
                self.provenance.fold_quarantined(index, quarantined, entry)?;
            }
            Event::Released(released) => provenance.fold_released(index, released)?,
            Event::Granted(granted) => {
                self.check_named(&[(Space::Called, granted.called)])?;
                self.provenance.fold_granted(index, granted)?;
            }
            Event::Consented(consented) => provenance.fold_consented(index, consented)?,
            Event::Spent(spent) => provenance.fold_spent(spent)?,
            Event::Decided(decided) => {
                self.check_named(&[(Space::Called, decided.called)])?;
                self.provenance.fold_decided(index, decided)?;
            }
            Event::Enrolled(enrolled) => {
                self.check_named(&[(Space::Adapter, enrolled.adapter)])?;
                self.provenance.fold_enrolled(index, enrolled);
            }
        }
        Ok(())
    }

    fn fold_named(&mut self, space: Space, number: u32, name: &[u8]) -> Result<(), EventFlaw> {
        let names = self.names.entry(space).or_default();
        let expected = u32::try_from(names.by_number.len()).unwrap_or(u32::MAX);
        if number != expected {
            return Err(EventFlaw::Names { found: number, expected });
        }
        if let Some(&first) = names.by_name.get(name) {
            return Err(EventFlaw::NamedTwice { space, number, first });
        }
        names.by_number.push(name.into());
        names.by_name.insert(name.into(), number);
        Ok(())
    }

    fn fold_began(&mut self, index: u64, began: &Began<'_>, mac: Mac) -> Result<(), EventFlaw> {
        let numbers = [
            (Space::Namespace, began.namespace),
            (Space::Step, began.step),
            (Space::Tool, began.tool),
            (Space::Rule, began.rule),
            (Space::Session, began.session),
        ];
        self.check_named(&numbers)?;
        let fingerprint = self.fingerprint(began.namespace, began.step, began.subject);
        self.began.push((index, fingerprint));
        let (content, arguments) = (began.subject_digest, began.arguments);
        let session = began.session;
        self.open.insert(index, Open { content, mac, arguments, session });
        let hour = hour_of(self.time_ms);
        let before = self.runs.get(&fingerprint).map_or((hour, 0), |run| run.in_hour);
        let so_far = if before.0 == hour { before.1 } else { 0 };
        let run = Run {
            began: index,
            subject: began.subject_digest,
            rule: began.rule,
            tool: began.tool,
            end: None,
            revoked: None,
            in_hour: (hour, so_far.saturating_add(1)),
        };
        self.runs.insert(fingerprint, run);
        Ok(())
    }

    fn check_named(&self, numbers: &[(Space, u32)]) -> Result<(), EventFlaw> {
        let unnamed = |(space, number): &&(Space, u32)| self.name(*space, *number).is_none();
        match numbers.iter().find(unnamed) {
            Some(&(space, number)) => Err(EventFlaw::Unnamed { space, number }),
            None => Ok(()),
        }
    }

    fn fold_ended(&mut self, index: u64, ended: &Ended) -> Result<(), EventFlaw> {
        let Some(open) = self.open.remove(&ended.run) else {
            return Err(EventFlaw::NotOpen { run: ended.run });
        };
        // Checked by the writer, and again here: a pass on a subject that changed is no pass.
        let changed = ended.outcome == Outcome::Passed && ended.subject_digest != open.content;
        let outcome = if changed { Outcome::SubjectChanged } else { ended.outcome };
        let end = End { event: index, at_ms: self.time_ms, outcome, code: ended.code };
        let Some(newest) = self.newest_of(ended.run) else { return Ok(()) };
        if newest.began == ended.run {
            newest.end = Some(end);
        } else if outcome != Outcome::Passed && newest.subject == open.content {
            // Two runs at once: that the later one passes does not undo that this one, ending after it began, did not.
            let newest = newest.began;
            self.overtaken.insert(newest, Overtaken { began: ended.run, end });
        }
        Ok(())
    }

    fn fold_revoked(&mut self, index: u64, revoked: &Revoked<'_>) -> Result<(), EventFlaw> {
        let target = revoked.target;
        let number = u32::try_from(target).unwrap_or(u32::MAX);
        match revoked.what {
            Revokes::Run => return self.fold_revoked_run(index, target),
            Revokes::Channel => self.check_named(&[(Space::Channel, number)])?,
            Revokes::Author => self.check_named(&[(Space::Author, number)])?,
            Revokes::Adapter => self.check_named(&[(Space::Adapter, number)])?,
            Revokes::Record | Revokes::Mandate => {}
        }
        self.provenance.fold_revoked(index, revoked)
    }

    fn fold_revoked_run(&mut self, index: u64, run: u64) -> Result<(), EventFlaw> {
        if !self.has_run(run) {
            return Err(EventFlaw::NoRun { run });
        }
        if let Some(newest) = self.newest_of(run).filter(|newest| newest.began == run) {
            newest.revoked = NonZeroU64::new(index);
        }
        Ok(())
    }

    /// The newest run of the step and subject that this run was of.
    fn newest_of(&mut self, run: u64) -> Option<&mut Run> {
        let at = self.began.binary_search_by_key(&run, |(began, _)| *began).ok()?;
        let (_, fingerprint) = self.began.get(at)?;
        self.runs.get_mut(fingerprint)
    }

    fn fold_resolved(&mut self, resolved: Resolution, raw_ms: u64) {
        let trust = Trust::Resolved { resolution: resolved, before_ms: self.time_ms };
        self.trusted.push((resolved.event, trust));
        // Every pass before this is void, so nothing can be made younger by starting anew from the clock as it is.
        self.time_ms = raw_ms;
        match resolved.cause {
            // A stricter policy may be among what was lost: the owner accepts one again.
            Cause::Truncated
            | Cause::Forked
            | Cause::Damaged
            | Cause::Unanchored
            | Cause::Swapped
            | Cause::KeyLost => {
                self.policies.push((resolved.event, None));
                self.provenance.void_before(resolved.event);
            }
            Cause::Moved | Cause::Clock => {}
        }
    }

    fn fold_rotated(&mut self, generation: u32, key_id: [u8; 16]) -> Result<(), EventFlaw> {
        let expected = self.position.generation + 1;
        if generation != expected {
            return Err(EventFlaw::Rotates { found: generation, expected });
        }
        match self.keys.key_id(generation) {
            None => Err(EventFlaw::NoRoot { generation }),
            Some(known) if known != key_id => Err(EventFlaw::KeyId { generation }),
            Some(_) => {
                self.position.generation = generation;
                Ok(())
            }
        }
    }

    /// What the owner did or allowed at or after `first` does not count: nobody acknowledged it. A jump of the clock does, and
    /// so does whatever was taken back.
    ///
    /// With a `Resolved` that does not count, passes before it are no longer void, so time is again what it was: else a clock
    /// that was set back would make them younger. Approvals, mandates and enrolments that it voided stay so.
    pub fn confirm_before(&mut self, first: u64) {
        self.policies.retain(|(event, _)| *event < first);
        let mut time_ms = self.time_ms;
        self.trusted.retain(|(event, trust)| match trust {
            Trust::Resolved { before_ms, .. } if *event >= first => {
                time_ms = time_ms.max(*before_ms);
                false
            }
            Trust::Resolved { .. } | Trust::ClockJumped => true,
        });
        self.time_ms = time_ms;
        self.provenance.confirm_before(first);
    }

    /// Where the chain stands.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The keys.
    pub const fn keys(&self) -> &Keyring {
        &self.keys
    }

    pub(crate) fn set_incarnation(&mut self, incarnation: u32) {
        self.position.incarnation = incarnation;
    }

    pub(crate) fn replace_keys(&mut self, keys: Keyring) {
        self.keys = keys;
    }

    /// The MAC of the newest of the first `count` events, if it was to be watched and there are so many.
    pub fn mac_of(&self, count: u64) -> Option<Mac> {
        self.watched.iter().find(|(watched, _)| *watched == count).and_then(|(_, mac)| *mac)
    }

    /// The policy in force.
    pub fn policy(&self) -> Option<&Accepted> {
        self.policies.last().and_then(|(_, accepted)| accepted.as_ref())
    }

    /// The ledger's time: the greatest its clocks have shown, in ms.
    pub const fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// The `Clock` event since which no lifetime is trusted.
    pub fn distrusted_since(&self) -> Option<u64> {
        match self.trusted.last() {
            Some((event, Trust::ClockJumped)) => Some(*event),
            Some((_, Trust::Resolved { .. })) | None => None,
        }
    }

    /// The newest time that the owner went on after a loss.
    pub fn resolution(&self) -> Option<&Resolution> {
        self.trusted.iter().rev().find_map(|(_, trust)| match trust {
            Trust::Resolved { resolution, .. } => Some(resolution),
            Trust::ClockJumped => None,
        })
    }

    /// The index of the newest `Resolved`; passes before it are void. 0 without one.
    pub fn void_before(&self) -> u64 {
        self.resolution().map_or(0, |resolved| resolved.event)
    }

    /// How many runs have begun.
    pub fn run_count(&self) -> usize {
        self.began.len()
    }

    /// Runs that began and have not ended, oldest first.
    pub fn open_runs(&self) -> impl Iterator<Item = u64> + '_ {
        self.open.keys().copied()
    }

    /// This run began and has not ended.
    pub fn is_open(&self, run: u64) -> bool {
        self.open.contains_key(&run)
    }

    /// A run with this index began, ended or not.
    pub fn has_run(&self, run: u64) -> bool {
        self.began.binary_search_by_key(&run, |(began, _)| *began).is_ok()
    }

    pub(crate) fn newest(&self, namespace: u32, step: u32, subject: &str) -> Option<&Run> {
        self.runs.get(&self.fingerprint(namespace, step, subject))
    }

    /// How many runs of a step on a subject began in the hour that it is now.
    pub(crate) fn performed_this_hour(
        &self,
        namespace: &Namespace,
        step: &StepName,
        subject: &str,
        now_ms: u64,
    ) -> u32 {
        let number = |space, name: &str| self.number(space, name.as_bytes());
        let names =
            number(Space::Namespace, namespace.as_str()).zip(number(Space::Step, step.as_str()));
        let newest = names.and_then(|(namespace, step)| self.newest(namespace, step, subject));
        newest.filter(|run| run.in_hour.0 == hour_of(now_ms)).map_or(0, |run| run.in_hour.1)
    }

    /// What went wrong beside this run, if it is the newest of its step and subject.
    pub(crate) fn overtaken_by(&self, newest: u64) -> Option<&Overtaken> {
        self.overtaken.get(&newest)
    }

    /// The runs of this call of a session that began after an event and have not ended.
    pub(crate) fn open_calls<'a>(
        &'a self,
        session: u32,
        call: &'a Digest,
        after: u64,
    ) -> impl Iterator<Item = (u64, &'a Open)> {
        let since = self.open.range(after..);
        let of_call = move |open: &Open| open.session == session && open.arguments == *call;
        since.filter(move |(_, open)| of_call(open)).map(|(index, open)| (*index, open))
    }

    pub(crate) fn open_run(&self, run: u64) -> Option<&Open> {
        self.open.get(&run)
    }

    /// The bytes of a name by its number.
    pub fn name(&self, space: Space, number: u32) -> Option<&[u8]> {
        let names = self.names.get(&space)?;
        names.by_number.get(number as usize).map(AsRef::as_ref)
    }

    /// The number of a name.
    pub fn number(&self, space: Space, name: &[u8]) -> Option<u32> {
        self.names.get(&space)?.by_name.get(name).copied()
    }

    pub(crate) fn next_number(&self, space: Space) -> u32 {
        let known = self.names.get(&space).map_or(0, |names| names.by_number.len());
        u32::try_from(known).unwrap_or(u32::MAX)
    }

    fn fingerprint(&self, namespace: u32, step: u32, subject: &str) -> Fingerprint {
        fingerprint(&self.keys, Of::Run, namespace, step, subject)
    }

    /// Where remembered things came from.
    pub const fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The keyed fingerprint of a record that is to be written now: over all of it but the fingerprint it holds, and over what
    /// each parent is.
    pub fn record_fingerprint(&self, wrote: &Wrote<'_>) -> Digest {
        let unsealed = Wrote { fingerprint: Digest::from_bytes([0; 32]), ..wrote.clone() };
        let fields = Event::Wrote(unsealed).encode();
        let parents = self.provenance.parents_of_new(wrote);
        let mut w = Writer::default();
        w.fixed(b"actum/fingerprint/v1");
        w.fixed(&fields);
        w.count(parents.len());
        for parent in parents {
            w.u64(*parent);
            let identity =
                self.provenance.item(*parent).map_or(Digest::from_bytes([0; 32]), Item::identity);
            w.fixed(identity.as_bytes());
        }
        Digest::from_bytes(*self.keys.record().mac(&w.0).as_bytes())
    }

    /// What quarantines an entry with this content now.
    pub fn holding(&self, namespace: u32, name: &str, content: &Digest) -> Option<&Held> {
        if self.provenance.unreleased() == 0 {
            return None;
        }
        self.provenance.holding(fingerprint(&self.keys, Of::Entry, namespace, 0, name), content)
    }

    pub(crate) const fn rules(&self) -> Rules {
        self.rules
    }

    /// Takes one rule away, to show what it is good for.
    pub(crate) const fn ablate(&mut self, rules: Rules) {
        self.rules = rules;
        self.provenance.ablate(rules);
    }

    /// The newest record of an entry.
    pub fn record_of(&self, namespace: u32, name: &str) -> Option<&Item> {
        self.provenance.newest(fingerprint(&self.keys, Of::Entry, namespace, 0, name))
    }
}

//! The questions that change something: what was put before a model, an entry recalled, a task fired, a call of a tool. Each is
//! judged by `gate` on the state as it is under this writer, and written down in the same commit. Only here a decision
//! becomes a [`Permit`].

use super::{CommitError, Done, Draft, Journal, Ledger, NewEnd, OpenRun, Rejected, Request};
use crate::authority::Authority;
use crate::caller::{Asks, Caller};
use crate::canon::Digest;
use crate::clock::Reading;
use crate::event::{
    Began, Decided, Decision, EntryKind, Event, LedgerId, Observed, Outcome, Quarantined, Seen,
    Space, Spends, Spent, Start,
};
use crate::gate::{
    AskedCall, AskedEntry, DecisionCode, Gate, InForce, Judgement, PINS_MAX, Planned, Purpose,
    QUARANTINE_MAX, authority_for, judge_act, judge_fire, judge_recall, least_of_echo, passages_of,
    run_of_call, runs_of,
};
use crate::ground::{Question, Skip, skip};
use crate::names::{AuthorName, ChannelName, Namespace, SessionName, ToolName};
use crate::policy::{Policy, ToolResult};
use crate::provenance::ItemKind;
use crate::rule::Rule;
use crate::value::Call;
use crate::views::Views;

/// Something that was put before a model.
#[derive(Debug, Clone)]
pub struct NewObservation<'a> {
    /// Before the model of this session.
    pub session: SessionName,
    /// What it was.
    pub seen: Seen,
    /// How it came.
    pub channel: ChannelName,
    /// Who wrote it, as the channel saw; for a result the tool.
    pub author: AuthorName,
    /// Its content.
    pub content: Digest,
    /// The entry that it is, where it was recalled from memory: its record is looked up.
    pub entry: Option<(Namespace, String)>,
    /// The call that it answers, where it is a result.
    pub answers: Option<&'a Call>,
    /// What a relay carries, where an adapter knows: events. Nobody knows without.
    pub carries: Option<Vec<u64>>,
}

/// An entry about to be used.
#[derive(Debug, Clone)]
pub struct NewRecall<'a> {
    /// In which session, if in one.
    pub session: Option<SessionName>,
    /// Whose.
    pub namespace: Namespace,
    /// Where it lies and which one it is there.
    pub name: &'a str,
    /// As it lies there now.
    pub text: &'a str,
    /// The digest of that.
    pub content: Digest,
    /// For what.
    pub purpose: Purpose,
}

/// A stored task about to fire.
#[derive(Debug, Clone)]
pub struct NewFire<'a> {
    /// Whose.
    pub namespace: Namespace,
    /// Where it lies and which one it is there.
    pub name: &'a str,
    /// The prompt as it was put together.
    pub text: &'a str,
    /// The digest of that.
    pub content: Digest,
    /// What the task pins: names of entries, with their text and its digest.
    pub pins: Vec<(&'a str, &'a str, Digest)>,
    /// The session that it opens; Actum's own, and new.
    pub session: SessionName,
}

/// A call about to be made.
#[derive(Debug, Clone)]
pub struct NewCall<'a> {
    /// In which session.
    pub session: SessionName,
    /// The call.
    pub call: &'a Call,
    /// The caller's own id of it.
    pub call_id: Option<&'a str>,
    /// The tool's version: the digest of its definition, where it has one.
    pub version: Digest,
}

/// The right to perform one decided call, once. Only [`Ledger::act`] makes one, and [`Ledger::end_call`] spends it.
///
/// ```compile_fail
/// fn twice(ledger: &mut actum_core::Ledger<impl actum_core::Journal>, permit: actum_core::Permit) {
///     let (now, end) = (actum_core::Reading::wall(0), actum_core::NewCallEnd::passed(b""));
///     ledger.end_call(permit, &end, &now).unwrap();
///     ledger.end_call(permit, &end, &now).unwrap(); // `permit` has been moved
/// }
/// ```
///
/// ```
/// fn once(ledger: &mut actum_core::Ledger<impl actum_core::Journal>, permit: actum_core::Permit) {
///     let (now, end) = (actum_core::Reading::wall(0), actum_core::NewCallEnd::passed(b""));
///     ledger.end_call(permit, &end, &now).unwrap();
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    ledger: LedgerId,
    call: Digest,
    decided: Option<u64>,
    runs: Vec<(OpenRun, Digest)>,
}

impl Permit {
    /// The exact call it is for.
    pub const fn call(&self) -> &Digest {
        &self.call
    }

    /// The decision that made it, if it was written down.
    pub const fn decided(&self) -> Option<u64> {
        self.decided
    }

    pub(super) fn into_runs(self) -> Vec<(OpenRun, Digest)> {
        self.runs
    }

    /// The runs that began with it.
    pub fn runs(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs.iter().map(|(run, _)| run.index())
    }
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCallEnd {
    /// How.
    pub outcome: Outcome,
    /// What it returned.
    pub result: Digest,
}

impl NewCallEnd {
    /// It returned this.
    pub fn passed(result: &[u8]) -> Self {
        Self { outcome: Outcome::Passed, result: Digest::plain(result) }
    }
}

/// A decision, as it was written down.
#[derive(Debug)]
pub struct Answered {
    /// The decision.
    pub judgement: Judgement,
    /// Its event, where one was written or an earlier one counts.
    pub event: Option<u64>,
    /// The right that follows from it.
    pub permit: Option<Permit>,
    /// The session that it opened.
    pub opened: Option<u32>,
}

impl Answered {
    const fn of(judgement: Judgement) -> Self {
        Self { judgement, event: None, permit: None, opened: None }
    }
}

impl<J: Journal> Ledger<J> {
    /// Records what an adapter saw being put before a model. What it is worth is the policy's word, never the caller's.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn observe(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewObservation<'_>,
        reading: &Reading,
    ) -> Result<u64, CommitError> {
        Ok(self.draft(reading, |draft| draft.observe(gate, by, new))??)
    }

    /// Judges an entry that is about to be used. Writes only what changes something: a quarantine.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn recall(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewRecall<'_>,
        reading: &Reading,
    ) -> Result<Answered, CommitError> {
        let mut repeats = core::mem::take(&mut self.repeats);
        let answered = self.draft(reading, |draft| draft.recall(gate, by, new, &mut repeats));
        self.repeats = repeats;
        Ok(answered??)
    }

    /// Judges a stored task that is about to fire, and opens its session if it may.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn fire(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewFire<'_>,
        reading: &Reading,
    ) -> Result<Answered, CommitError> {
        Ok(self.draft(reading, |draft| draft.fire(gate, by, new))??)
    }

    /// Judges a call. `Spent`, `Decided` and `Began` of one call are one commit, durable when this returns: only then may the
    /// call leave, and only with the permit.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn act(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewCall<'_>,
        reading: &Reading,
    ) -> Result<Answered, CommitError> {
        let mut repeats = core::mem::take(&mut self.repeats);
        let answered = self.draft(reading, |draft| draft.act(gate, by, new, &mut repeats));
        self.repeats = repeats;
        Ok(answered??)
    }

    /// Algorithm 1 for a caller who means it: the skip that is allowed is written down.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn skip(
        &mut self,
        by: Caller,
        session: &SessionName,
        question: &Question<'_>,
        reading: &Reading,
    ) -> Result<(Skip, Option<u64>), CommitError> {
        Ok(self.draft(reading, |draft| draft.skip(by, session, question))??)
    }

    /// Records how a permitted call went. The permit is spent.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected`].
    pub fn end_call(
        &mut self,
        permit: Permit,
        end: &NewCallEnd,
        reading: &Reading,
    ) -> Result<Vec<u64>, CommitError> {
        if permit.ledger != self.views().keys().ledger() {
            let run = permit.runs.first().map_or(0, |(run, _)| run.index());
            return Err(Rejected::OtherLedger { run }.into());
        }
        let NewCallEnd { outcome, result } = *end;
        let ends = permit
            .runs
            .into_iter()
            .map(|(run, content)| Request::End(NewEnd { run, outcome, code: 0, result, content }));
        let done = self.commit(ends.collect(), reading)?;
        let events = done.into_iter().map(|done| match done? {
            Done::Ended { event, .. } | Done::Event(event) => Ok(event),
            Done::Began(run) => Ok(run.index()),
        });
        Ok(events.collect::<Result<_, Rejected>>()?)
    }

    /// The permit of a call that was allowed and has not ended, by its decision: for the process that takes over from the one
    /// that asked. Whoever holds this writer may have it; it gives no right that was not given before.
    pub fn permit_again(&self, decided: u64) -> Option<Permit> {
        permit_of(self.views(), decided)
    }
}

pub(super) fn permit_of(views: &Views, decided: u64) -> Option<Permit> {
    let (event, decision) = views.provenance().decision(decided)?;
    if decision.decision != Decision::Allow {
        return None;
    }
    let ledger = views.keys().ledger();
    let runs: Vec<_> = views
        .open_calls(decision.session, &decision.call, event)
        .map(|(index, open)| (OpenRun { ledger, index, mac: open.mac }, open.content))
        .collect();
    let call = decision.call;
    (!runs.is_empty()).then_some(Permit { ledger, call, decided: Some(event), runs })
}

impl Draft<'_> {
    fn now_ms(&self) -> u64 {
        self.time_ms.max(self.views.time_ms())
    }

    pub(super) fn observe(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewObservation<'_>,
    ) -> Result<u64, Rejected> {
        self.may(by, if new.seen == Seen::Reset { Asks::Reset } else { Asks::Observe })?;
        self.check_adapter(by)?;
        self.check_channel(by, &new.channel)?;
        let session = self.session_of(by, &new.session)?;
        let authority = self.worth_of(gate, session, new)?;
        let record = new.entry.as_ref().and_then(|(namespace, name)| {
            let number = self.views.number(Space::Namespace, namespace.as_str().as_bytes())?;
            self.views.record_of(number, name).map(|item| item.event)
        });
        let is_recalled = new.seen == Seen::Recalled;
        if new.entry.is_some() != is_recalled {
            return Err(Rejected::Entry);
        }
        let channel = self.number(Space::Channel, new.channel.as_str().as_bytes());
        let author = self.number(Space::Author, new.author.as_str().as_bytes());
        let (seen, content) = (new.seen, new.content);
        let observed = Observed { session, seen, channel, author, authority, record, content };
        Ok(self.push(&Event::Observed(observed)))
    }

    /// An adapter names only the channels that the owner gave it.
    fn check_channel(&self, by: Caller, channel: &ChannelName) -> Result<(), Rejected> {
        let Caller::Adapter(number) = by else { return Ok(()) };
        let adapter = self.views.provenance().adapter(number).ok_or(Rejected::NotEnrolled)?;
        if adapter.names(channel) {
            Ok(())
        } else {
            Err(Rejected::NotItsChannel { channel: channel.to_string() })
        }
    }

    /// What something is worth because of how it came: the channel's word, and for a tool's result no more than what it carries
    /// and what was asked for in it.
    fn worth_of(
        &self,
        gate: &Gate<'_>,
        session: u32,
        new: &NewObservation<'_>,
    ) -> Result<Authority, Rejected> {
        let empty = Policy::default();
        let policy = gate.force.map_or(&empty, |force| force.policy);
        let now_ms = self.now_ms();
        let channel = policy.authority_of(&new.channel, now_ms);
        let mut carried = Authority::User;
        // Whoever names nothing that it carries knows nothing of it.
        let named = new.carries.as_deref().filter(|events| !events.is_empty());
        for event in named.into_iter().flatten() {
            let item = self.views.provenance().item(*event).ok_or(Rejected::NoParent)?;
            carried = carried.meet(authority_for(self.views, gate, item, None, now_ms));
        }
        match new.seen {
            // What it is worth follows from what it is made of; the way it came adds nothing.
            Seen::Reset => return Ok(Authority::User),
            Seen::Recalled => return Ok(self.worth_of_recalled(new)),
            Seen::Summary if !self.views.rules().hold(Rule::Summary) => {
                return Ok(Authority::Derived);
            }
            Seen::Summary => {
                let session = self.views.provenance().session(session);
                let least = session.map_or(Authority::Untrusted, |session| session.least);
                return Ok(least.meet(Authority::Derived));
            }
            Seen::Turn | Seen::Inbound | Seen::Refusal => {
                return Ok(channel.authority.meet(carried));
            }
            Seen::Result => {}
        }
        let tool = ToolName::new(new.author.as_str()).ok();
        let listed = tool.as_ref().map(|tool| policy.tool(tool));
        let is_origin = listed.is_some_and(|rule| rule.result() == ToolResult::Origin);
        let relayed = match (is_origin, named) {
            (true, None) => Authority::User,
            (_, Some(_)) => carried,
            (false, None) => Authority::Untrusted,
        };
        let relayed = if self.views.rules().hold(Rule::Relay) { relayed } else { Authority::User };
        let mut echoed = Authority::User;
        if let (Some(call), Some(rule)) = (new.answers, listed)
            && self.views.rules().hold(Rule::Echo)
        {
            let session = self.views.provenance().session(session);
            let texts = passages_of(self.views, gate, session, None, now_ms);
            let least = texts.map(|texts| least_of_echo(self.views, rule, call, &texts));
            echoed = least.unwrap_or(Authority::Untrusted);
        }
        let authority = if channel.inherits { relayed } else { channel.authority.meet(relayed) };
        Ok(authority.meet(echoed))
    }

    /// What is recalled is worth what its record is, and nothing if it is not what the record says.
    fn worth_of_recalled(&self, new: &NewObservation<'_>) -> Authority {
        if !self.views.rules().hold(Rule::Recalled) {
            return Authority::User;
        }
        let record = new.entry.as_ref().and_then(|(namespace, name)| {
            let number = self.views.number(Space::Namespace, namespace.as_str().as_bytes())?;
            self.views.record_of(number, name)
        });
        let same = record.filter(|record| record.content == new.content);
        same.map_or(Authority::Untrusted, |record| self.views.provenance().standing(record))
    }

    fn asked_entry<'a>(
        &self,
        namespace: &Namespace,
        name: &'a str,
        text: &'a str,
        content: Digest,
    ) -> AskedEntry<'a> {
        let namespace = self.views.number(Space::Namespace, namespace.as_str().as_bytes());
        AskedEntry { namespace, name, text, content }
    }

    pub(super) fn recall(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewRecall<'_>,
        repeats: &mut super::Repeats,
    ) -> Result<Answered, Rejected> {
        self.may(by, Asks::Recall)?;
        self.check_adapter(by)?;
        let session = new.session.as_ref().map(|name| self.session_of(by, name)).transpose()?;
        super::memory::check_name(new.name)?;
        let asked = self.asked_entry(&new.namespace, new.name, new.text, new.content);
        let judgement = judge_recall(self.views, gate, &asked, new.purpose, self.now_ms());
        let mut event = self.quarantine(&new.namespace, new.name, new.content, &judgement);
        if let (None, Decision::Quarantine, Some(session)) = (event, judgement.decision(), session)
        {
            // At the quota it is withheld all the same, and counted.
            let judgement = Judgement { origin: None, ..judgement.clone() };
            let all = Digest::of("actum/withheld/v1", &[]);
            event = Some(self.counted(session, "(recall)", all, None, &judgement, repeats));
        }
        Ok(Answered { event, ..Answered::of(judgement) })
    }

    /// Writes a quarantine down, unless it is written already or as many as there may be are.
    fn quarantine(
        &mut self,
        namespace: &Namespace,
        name: &str,
        content: Digest,
        judgement: &Judgement,
    ) -> Option<u64> {
        if judgement.decision() != Decision::Quarantine || judgement.code == DecisionCode::Held {
            return judgement.repeats;
        }
        if self.views.provenance().unreleased() >= QUARANTINE_MAX {
            return None;
        }
        let namespace = self.number(Space::Namespace, namespace.as_str().as_bytes());
        let (record, reason) = (judgement.record, judgement.code.number());
        let quarantined = Quarantined { record, namespace, name, content, reason };
        Some(self.push(&Event::Quarantined(quarantined)))
    }

    pub(super) fn fire(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewFire<'_>,
    ) -> Result<Answered, Rejected> {
        self.may(by, Asks::Fire)?;
        self.check_adapter(by)?;
        super::memory::check_name(new.name)?;
        super::within("number of pins", new.pins.len(), PINS_MAX)?;
        self.check_unopened(&new.session)?;
        let task = self.asked_entry(&new.namespace, new.name, new.text, new.content);
        let pins: Vec<_> = new
            .pins
            .iter()
            .map(|(name, text, content)| self.asked_entry(&new.namespace, name, text, *content))
            .collect();
        let judgement = judge_fire(self.views, gate, &task, &pins, self.now_ms());
        let mut answered = Answered::of(judgement);
        let record = match (answered.judgement.decision(), answered.judgement.record) {
            (Decision::Allow, Some(record)) => record,
            (_, record) => {
                let judgement = &answered.judgement;
                answered.event = self.quarantine(&new.namespace, new.name, new.content, judgement);
                if let Some(record) = record {
                    self.note_fire(by, new, record, judgement)?;
                }
                return Ok(answered);
            }
        };
        let pinned: Vec<_> = pins
            .iter()
            .filter_map(|pin| {
                Some((self.views.record_of(pin.namespace?, pin.name)?.event, pin.content))
            })
            .collect();
        let (session, _) = self.open(by, &new.session, (Start::Fired, Some(record)))?;
        let (channel, author) = (format!("schedule:{}", new.name), "agent");
        // The name of an entry may be longer than that of a channel, and hold what that may not.
        let channel = ChannelName::new(&channel).map_or("schedule:task".to_owned(), |_| channel);
        for (record, content) in pinned {
            let channel = self.number(Space::Channel, channel.as_bytes());
            let author = self.number(Space::Author, author.as_bytes());
            self.push(&Event::Observed(Observed {
                session,
                seen: Seen::Recalled,
                channel,
                author,
                authority: Authority::User,
                record: Some(record),
                content,
            }));
        }
        answered.opened = Some(session);
        let called = self.number(Space::Called, b"(fire)");
        let decided = decision(session, called, new.content, None, &answered.judgement, 1);
        answered.event = Some(self.push(&Event::Decided(decided)));
        Ok(answered)
    }

    /// A task that did not fire is a decision too, in a session of its own that has nothing before its model.
    fn note_fire(
        &mut self,
        by: Caller,
        new: &NewFire<'_>,
        record: u64,
        judgement: &Judgement,
    ) -> Result<(), Rejected> {
        let is_task =
            self.views.provenance().item(record).is_some_and(|item| {
                matches!(item.what, ItemKind::Entry { kind: EntryKind::Task, .. })
            });
        if is_task && judgement.code != DecisionCode::Held {
            let (session, _) = self.open(by, &new.session, (Start::Unknown, None))?;
            let called = self.number(Space::Called, b"(fire)");
            let decided = decision(session, called, new.content, None, judgement, 1);
            self.push(&Event::Decided(decided));
        }
        Ok(())
    }

    pub(super) fn act(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewCall<'_>,
        repeats: &mut super::Repeats,
    ) -> Result<Answered, Rejected> {
        self.may(by, Asks::Act)?;
        self.check_adapter(by)?;
        let known = match self.session_of(by, &new.session) {
            Ok(number) => Some(number),
            Err(Rejected::NoSession { .. }) => None,
            Err(rejected) => return Err(rejected),
        };
        let call_id = new.call_id.map(|id| Digest::of("actum/call-id/v1", &[id.as_bytes()]));
        let asked = AskedCall { session: known, call: new.call, call_id };
        let judgement = judge_act(self.views, gate, &asked, self.now_ms());
        let mut answered = Answered::of(judgement);
        let Some(force) = gate.force else { return Ok(answered) };
        let Ok(tool) = ToolName::new(new.call.tool()) else { return Ok(answered) };
        let judgement = answered.judgement.clone();
        if let Some(event) = judgement.repeats {
            answered.event = Some(event);
            return Ok(answered);
        }
        let is_read = judgement.code == DecisionCode::Read;
        let is_allowed = judgement.decision() == Decision::Allow;
        let trusted = is_read
            || judgement.code == DecisionCode::ApprovedCall
            || judgement.least() >= Authority::Approved;
        let mut runs = runs_of(self.views, force, new.call, trusted);
        if !is_read && runs.is_empty() {
            runs.extend(run_of_call(force, new.call));
        }
        if is_read && runs.is_empty() {
            // Looking changes nothing, so nothing is written.
            answered.permit = Some(self.permit(new.call.digest(), None, Vec::new()));
            return Ok(answered);
        }
        let session = self.session_or_unknown(by, &new.session)?;
        answered.event = Some(self.decided(session, &tool, new.call, call_id, &judgement, repeats));
        if !is_allowed {
            self.quarantine_trigger(&judgement);
            return Ok(answered);
        }
        if let Some(of) = judgement.approval {
            self.push(&Event::Spent(Spent { what: Spends::Approval, of, amount: 0 }));
        }
        if let Some((of, amount)) = judgement.mandate {
            self.push(&Event::Spent(Spent { what: Spends::Mandate, of, amount }));
        }
        let began = runs.iter().map(|run| self.began(force, session, new, &tool, run)).collect();
        answered.permit = Some(self.permit(new.call.digest(), answered.event, began));
        Ok(answered)
    }

    fn permit(&self, call: Digest, decided: Option<u64>, runs: Vec<(OpenRun, Digest)>) -> Permit {
        Permit { ledger: self.views.keys().ledger(), call, decided, runs }
    }

    /// Writes a decision down. Of equal ones in a row the first, second, fourth, eighth, ... is an event that counts the others:
    /// whoever asks again and again fills no disk.
    fn decided(
        &mut self,
        session: u32,
        tool: &ToolName,
        call: &Call,
        call_id: Option<Digest>,
        judgement: &Judgement,
        repeats: &mut super::Repeats,
    ) -> u64 {
        let flooded = judgement.code == DecisionCode::Flooded;
        // Calls of a flood are not told apart, so none of their ids is used up.
        let exact = if flooded { Digest::from_bytes([0; 32]) } else { call.digest() };
        let call_id = call_id.filter(|_| !flooded);
        self.counted(session, tool.as_str(), exact, call_id, judgement, repeats)
    }

    fn counted(
        &mut self,
        session: u32,
        called: &str,
        exact: Digest,
        call_id: Option<Digest>,
        judgement: &Judgement,
        repeats: &mut super::Repeats,
    ) -> u64 {
        let flooded = judgement.code == DecisionCode::Flooded;
        let called = self.number(Space::Called, called.as_bytes());
        let (origin, reason) = (judgement.origin, judgement.code.number());
        let provenance = self.views.provenance();
        let latest = provenance.latest(session, &exact).filter(|(_, decided)| {
            decided.decision != Decision::Allow
                && decided.reason == reason
                && (decided.origin == origin || flooded)
                // What was approved in between and not used is asked anew.
                && provenance.is_pending(session, &exact) == judgement.has_receipt()
        });
        let count = if let Some((event, decided)) = latest {
            let count = repeats.entry(event).or_insert(decided.count);
            *count = count.saturating_add(1);
            if !count.is_power_of_two() {
                return event;
            }
            *count
        } else {
            1
        };
        let decided = decision(session, called, exact, call_id, judgement, count);
        self.push(&Event::Decided(decided))
    }

    /// A stored task that made the agent try what nothing backs is withheld.
    fn quarantine_trigger(&mut self, judgement: &Judgement) {
        if judgement.code != DecisionCode::UntrustedTrigger {
            return;
        }
        let task =
            judgement.trigger.and_then(|trigger| self.views.provenance().item(trigger.event));
        let Some(item) = task.filter(|item| item.withheld.is_none()) else { return };
        let ItemKind::Entry { namespace, name, .. } = &item.what else { return };
        let (namespace, name, content) = (*namespace, name.clone(), item.content);
        let (record, reason) = (Some(item.event), DecisionCode::UntrustedTask.number());
        if self.views.provenance().unreleased() < QUARANTINE_MAX {
            let name = &*name;
            self.push(&Event::Quarantined(Quarantined {
                record,
                namespace,
                name,
                content,
                reason,
            }));
        }
    }

    fn began(
        &mut self,
        force: InForce<'_>,
        session: u32,
        new: &NewCall<'_>,
        tool: &ToolName,
        run: &Planned,
    ) -> (OpenRun, Digest) {
        let version = [new.version.as_bytes().as_slice(), tool.as_str().as_bytes()].concat();
        let namespace = force.policy.namespace().as_str().as_bytes();
        let namespace = self.number(Space::Namespace, namespace);
        let step = self.number(Space::Step, run.step.as_bytes());
        let tool = self.number(Space::Tool, &version);
        let rule = self.number(Space::Rule, run.rule.as_bytes());
        let index = self.push(&Event::Began(Began {
            namespace,
            step,
            tool,
            rule,
            session,
            subject: &run.subject,
            subject_digest: run.content,
            arguments: new.call.digest(),
        }));
        let ledger = self.views.keys().ledger();
        (OpenRun { ledger, index, mac: self.at.mac }, run.content)
    }

    pub(super) fn skip(
        &mut self,
        by: Caller,
        session: &SessionName,
        question: &Question<'_>,
    ) -> Result<(Skip, Option<u64>), Rejected> {
        self.may(by, Asks::Ground)?;
        self.check_adapter(by)?;
        let number = self.session_of(by, session)?;
        let answer = skip(self.views, question, self.time_ms);
        let Skip::Allow(evidence) = answer else { return Ok((answer, None)) };
        let judgement =
            Judgement { origin: Some(evidence.run), ..Judgement::new(DecisionCode::Grounded) };
        let called = self.number(Space::Called, question.step.as_str().as_bytes());
        let decided = decision(number, called, *question.content, None, &judgement, 1);
        Ok((answer, Some(self.push(&Event::Decided(decided)))))
    }
}

fn decision(
    session: u32,
    called: u32,
    call: Digest,
    call_id: Option<Digest>,
    judgement: &Judgement,
    count: u32,
) -> Decided {
    Decided {
        session,
        called,
        call,
        call_id: call_id.unwrap_or(Digest::from_bytes([0; 32])),
        decision: judgement.decision(),
        reason: judgement.code.number(),
        origin: judgement.origin,
        count,
    }
}

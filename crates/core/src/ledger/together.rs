//! Group commit with judgement: many questions are judged one after the other on the state as it becomes, written in one commit,
//! and answered only once all of it is durable.

use super::{
    Answered, CommitError, Done, Draft, Journal, Ledger, NewCall, NewCallEnd, NewEnd, NewFire,
    NewObservation, NewRecall, Permit, Rejected, Repeats, Request,
};
use crate::caller::{Asks, Caller};
use crate::clock::Reading;
use crate::event::{Decided, Decision, Event};
use crate::gate::{DecisionCode, Gate};
use crate::ground::{Question, Skip};
use crate::names::SessionName;
use crate::views::Views;

/// A commit that is being drafted.
#[derive(Debug)]
pub struct Sheet<'s, 'd> {
    draft: &'s mut Draft<'d>,
    repeats: &'s mut Repeats,
    number: u64,
}

/// An answer that is not durable yet. It can be looked at; what it gives the right to is taken out with the proof that it was
/// kept.
///
/// ```compile_fail
/// fn early(unkept: actum_core::Unkept<actum_core::Permit>) -> actum_core::Permit {
///     unkept.value // private: only `open` gives it away, and asks for the proof
/// }
/// ```
///
/// ```
/// fn durable(unkept: actum_core::Unkept<actum_core::Permit>, kept: &actum_core::Kept) -> actum_core::Permit {
///     unkept.open(kept)
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Unkept<T> {
    value: T,
    number: u64,
}

/// The proof that a commit is durable. Only [`Ledger::together`] makes one.
#[derive(Debug)]
pub struct Kept {
    number: u64,
}

impl<T> Unkept<T> {
    /// What it says.
    pub const fn peek(&self) -> &T {
        &self.value
    }

    /// What it gives, now that it is durable.
    ///
    /// # Panics
    /// With the proof of another commit.
    pub fn open(self, kept: &Kept) -> T {
        assert!(self.number == kept.number, "an answer is opened with the proof of its own commit");
        self.value
    }
}

impl<J: Journal> Ledger<J> {
    /// Judges and drafts whatever `fill` asks for, as one commit: one write, one sync, one head. Returns when all of it is durable,
    /// with the proof that opens its answers.
    ///
    /// # Errors
    /// [`CommitError::Closed`] or [`CommitError::Journal`]; then none of it was acknowledged.
    pub fn together<T>(
        &mut self,
        reading: &Reading,
        fill: impl FnOnce(&mut Sheet<'_, '_>) -> T,
    ) -> Result<(T, Kept), CommitError> {
        self.sheets += 1;
        let number = self.sheets;
        let mut repeats = core::mem::take(&mut self.repeats);
        let filled =
            self.draft(reading, |draft| fill(&mut Sheet { draft, repeats: &mut repeats, number }));
        self.repeats = repeats;
        Ok((filled?, Kept { number }))
    }
}

impl Sheet<'_, '_> {
    const fn unkept<T>(&self, value: T) -> Unkept<T> {
        Unkept { value, number: self.number }
    }

    /// The state with all that was drafted so far. What is in it beyond the last commit is not durable.
    pub const fn views(&self) -> &Views {
        self.draft.views
    }

    /// As [`Ledger::commit`], for one request.
    pub fn request(&mut self, request: Request) -> Unkept<Result<Done, Rejected>> {
        let done = self.draft.carry_out(request);
        self.unkept(done)
    }

    /// As [`Ledger::observe`].
    pub fn observe(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewObservation<'_>,
    ) -> Unkept<Result<u64, Rejected>> {
        let event = self.draft.observe(gate, by, new);
        self.unkept(event)
    }

    /// As [`Ledger::recall`].
    pub fn recall(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewRecall<'_>,
    ) -> Unkept<Result<Answered, Rejected>> {
        let answered = self.draft.recall(gate, by, new, self.repeats);
        self.unkept(answered)
    }

    /// As [`Ledger::fire`].
    pub fn fire(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewFire<'_>,
    ) -> Unkept<Result<Answered, Rejected>> {
        let answered = self.draft.fire(gate, by, new);
        self.unkept(answered)
    }

    /// As [`Ledger::act`].
    pub fn act(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewCall<'_>,
    ) -> Unkept<Result<Answered, Rejected>> {
        let answered = self.draft.act(gate, by, new, self.repeats);
        self.unkept(answered)
    }

    /// As [`Ledger::skip`].
    pub fn skip(
        &mut self,
        by: Caller,
        session: &SessionName,
        question: &Question<'_>,
    ) -> Unkept<Result<(Skip, Option<u64>), Rejected>> {
        let skipped = self.draft.skip(by, session, question);
        self.unkept(skipped)
    }

    /// As [`Ledger::permit_again`].
    pub fn permit_again(&self, decided: u64) -> Option<Permit> {
        super::ask::permit_of(self.draft.views, decided)
    }

    /// As [`Ledger::end_call`].
    pub fn end_call(
        &mut self,
        permit: Permit,
        end: &NewCallEnd,
    ) -> Unkept<Result<Vec<u64>, Rejected>> {
        let events = self.draft.end_call(permit, end);
        self.unkept(events)
    }

    /// The owner says no to a call that waits: it waits no more, and asked again in its session it is refused.
    pub fn decline(&mut self, by: Caller, receipt: u64) -> Unkept<Result<u64, Rejected>> {
        let event = self.draft.decline(by, receipt);
        self.unkept(event)
    }
}

impl Draft<'_> {
    fn end_call(&mut self, permit: Permit, end: &NewCallEnd) -> Result<Vec<u64>, Rejected> {
        let NewCallEnd { outcome, result } = *end;
        let mut events = Vec::new();
        for (run, content) in permit.into_runs() {
            let end = NewEnd { run, outcome, code: 0, result, content };
            match self.carry_out(Request::End(end))? {
                Done::Ended { event, .. } | Done::Event(event) => events.push(event),
                Done::Began(run) => events.push(run.index()),
            }
        }
        Ok(events)
    }

    fn decline(&mut self, by: Caller, receipt: u64) -> Result<u64, Rejected> {
        self.may(by, Asks::Approve)?;
        let asked = self.views.provenance().asked_by(receipt);
        let asked = *asked.ok_or(Rejected::NotPending { event: receipt })?;
        let decided = Decided {
            decision: Decision::Deny,
            reason: DecisionCode::Declined.number(),
            // No id of a call is used up by it.
            call_id: crate::canon::Digest::from_bytes([0; 32]),
            count: 1,
            ..asked
        };
        Ok(self.push(&Event::Decided(decided)))
    }
}

//! A gate with rules off, to show what each is good for. It answers and makes no permit, and no door leads to it.

use super::{
    CommitError, Done, Journal, Ledger, NewCall, NewCallEnd, NewFire, NewObservation, NewRecall,
    Permit, Rejected, Request,
};
use crate::caller::Caller;
use crate::clock::Reading;
use crate::gate::{Gate, Judgement};
use crate::keys::Keyring;
use crate::rule::{Rule, Rules};
use crate::views::Views;

/// A ledger of its own whose gate has some rules off.
#[derive(Debug)]
pub struct Ablated<J> {
    ledger: Ledger<J>,
    /// Of the newest call that was let go and has not ended. It never leaves.
    permit: Option<Permit>,
}

impl<J: Journal> Ablated<J> {
    /// Makes a ledger without these rules.
    ///
    /// # Errors
    /// As [`Ledger::create`].
    pub fn create(
        without: &[Rule],
        keys: Keyring,
        journal: J,
        reading: &Reading,
    ) -> Result<Self, CommitError> {
        let mut ledger = Ledger::create(keys, journal, reading)?;
        ledger.views.ablate(Rules::without(without));
        Ok(Self { ledger, permit: None })
    }

    /// The state.
    pub const fn views(&self) -> &Views {
        self.ledger.views()
    }

    /// As [`Ledger::commit`], for one request.
    ///
    /// # Errors
    /// As [`Ledger::commit`].
    pub fn record(&mut self, request: Request, reading: &Reading) -> Result<Done, CommitError> {
        self.ledger.one(request, reading)
    }

    /// As [`Ledger::observe`].
    ///
    /// # Errors
    /// As [`Ledger::observe`].
    pub fn observe(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewObservation<'_>,
        reading: &Reading,
    ) -> Result<u64, CommitError> {
        self.ledger.observe(gate, by, new, reading)
    }

    /// As [`Ledger::recall`].
    ///
    /// # Errors
    /// As [`Ledger::recall`].
    pub fn recall(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewRecall<'_>,
        reading: &Reading,
    ) -> Result<(Judgement, Option<u64>), CommitError> {
        let answered = self.ledger.recall(gate, by, new, reading)?;
        Ok((answered.judgement, answered.event))
    }

    /// As [`Ledger::fire`].
    ///
    /// # Errors
    /// As [`Ledger::fire`].
    pub fn fire(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewFire<'_>,
        reading: &Reading,
    ) -> Result<(Judgement, Option<u64>), CommitError> {
        let answered = self.ledger.fire(gate, by, new, reading)?;
        Ok((answered.judgement, answered.event))
    }

    /// As [`Ledger::act`]. The call is taken to end as said, so that what follows can be asked too, or ends later by
    /// [`Ablated::end_call`]; the permit stays in here.
    ///
    /// # Errors
    /// As [`Ledger::act`].
    pub fn act(
        &mut self,
        gate: &Gate<'_>,
        by: Caller,
        new: &NewCall<'_>,
        ends: Option<&NewCallEnd>,
        reading: &Reading,
    ) -> Result<(Judgement, Option<u64>), CommitError> {
        let answered = self.ledger.act(gate, by, new, reading)?;
        self.permit = answered.permit;
        if let Some(end) = ends {
            self.end_call(end, reading)?;
        }
        Ok((answered.judgement, answered.event))
    }

    /// As [`Ledger::end_call`], for the newest call that was let go; nothing if there is none.
    ///
    /// # Errors
    /// As [`Ledger::end_call`].
    pub fn end_call(&mut self, end: &NewCallEnd, reading: &Reading) -> Result<(), CommitError> {
        let Some(permit) = self.permit.take() else { return Ok(()) };
        match self.ledger.end_call(permit, end, reading) {
            Ok(_) | Err(CommitError::Rejected(Rejected::NotOpen { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

//! What the owner went on without, in all: the newest loss, and how much was given up in it and in those before it. A small
//! loss after a great one hides nothing.

use actum_core::{Cause, Event, Resolution};
use actum_store::Snapshot;

use crate::say::{Outcome, count};

/// All losses after which the owner went on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Losses {
    pub(crate) newest: Resolution,
    /// Acknowledged events that were given up. Where a new ledger had to begin, or no anchor remembered how many there were,
    /// that cannot be told; none is not said then.
    pub(crate) lost: Option<u64>,
}

impl Losses {
    /// Those of a ledger; nothing if there was none.
    pub(crate) fn of(snapshot: &Snapshot) -> Outcome<Option<Self>> {
        let Some(&newest) = snapshot.views().resolution() else { return Ok(None) };
        let (mut lost, mut begun_by) = (Some(0_u64), 0);
        snapshot.events(0, |header, event| {
            if header.index == 0 {
                begun_by = header.incarnation;
            }
            if let Event::Resolved { cause, count, .. } = *event {
                // Where nothing was left, whoever resolved it wrote the first event anew.
                let anew = u64::from(header.incarnation == begun_by);
                let kept = header.index.saturating_sub(anew);
                let here = given_up(kept, cause, count);
                lost = lost.zip(here).map(|(before, here)| before.saturating_add(here));
            }
        })?;
        Ok(Some(Self { newest, lost }))
    }

    /// For a person.
    pub(crate) fn words(&self) -> String {
        let lost = self.lost.map_or_else(
            || "how many events were given up cannot be told".to_owned(),
            |lost| format!("{} given up", count(lost, "acknowledged event")),
        );
        format!("{}, {lost}", self.newest.cause)
    }
}

fn given_up(kept: u64, cause: Cause, acknowledged: u64) -> Option<u64> {
    match cause {
        Cause::Clock => Some(0),
        // Of the other branch only its length is known, not where it began.
        Cause::Forked => None,
        Cause::Truncated
        | Cause::Damaged
        | Cause::Unanchored
        | Cause::Moved
        | Cause::Swapped
        | Cause::KeyLost => {
            // Without a head there is nothing to measure against.
            (acknowledged > 0).then(|| acknowledged.saturating_sub(kept))
        }
    }
}

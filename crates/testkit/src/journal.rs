//! A journal in memory that fails on purpose, so that the order of durability is tested without a disk.

use actum_core::{Batch, Journal, JournalFailed, Position};

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// An error, and nothing kept.
    Lost,
    /// An error, and all kept.
    KeptButFailed,
    /// An error, the records kept, the head not moved.
    HeadLost,
    /// An error, and so many bytes of the records kept.
    Torn(usize),
    /// A saboteur's: no error, and nothing kept.
    Acknowledged,
}

/// The journal.
#[derive(Debug, Default)]
pub struct SimJournal {
    /// The records that would survive.
    pub kept: Vec<u8>,
    /// The head that would survive.
    pub head: Option<Position>,
    /// Calls so far, claims among them.
    pub calls: u64,
    /// What goes wrong with which call, counted from 0.
    pub slips: Vec<(u64, Slip)>,
}

impl SimJournal {
    /// A journal whose call number `at` goes wrong.
    pub fn slipping(at: u64, slip: Slip) -> Self {
        Self { slips: vec![(at, slip)], ..Self::default() }
    }

    fn keep(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        let slip = self.slips.iter().find(|(at, _)| *at == self.calls).map(|(_, slip)| *slip);
        self.calls += 1;
        let (records, head) = match slip {
            None | Some(Slip::KeptButFailed) => (batch.records.len(), true),
            Some(Slip::Lost | Slip::Acknowledged) => (0, false),
            Some(Slip::HeadLost) => (batch.records.len(), false),
            Some(Slip::Torn(upto)) => (upto.min(batch.records.len()), false),
        };
        self.kept.extend(batch.records.iter().take(records));
        if head {
            self.head = Some(batch.after);
        }
        match slip {
            None | Some(Slip::Acknowledged) => Ok(()),
            Some(slip) => {
                Err(JournalFailed { what: format!("slipped on purpose: {slip:?}"), source: None })
            }
        }
    }
}

impl Journal for SimJournal {
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed> {
        self.keep(claim)
    }

    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        self.keep(batch)
    }
}

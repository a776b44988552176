//! A journal without a disk: the bytes of a ledger that nobody will change.

use actum_core::{Batch, Journal, JournalFailed, segment_header};

/// One segment, in memory.
#[derive(Debug, Default)]
pub(crate) struct Segment(pub(crate) Vec<u8>);

impl Journal for Segment {
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed> {
        self.append(claim)
    }

    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        if self.0.is_empty() {
            self.0.extend(segment_header(batch.keys.ledger(), &batch.before));
        }
        self.0.extend(batch.records);
        Ok(())
    }
}

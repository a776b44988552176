//! A journal without a disk: keeps a ledger as one segment in memory, and can be told to fail. What a disk does to bytes is
//! no business of this.

use actum_core::{
    Batch, Flaw, Journal, JournalFailed, Keyring, Layout, Position, Views, segment_header,
};

/// A ledger in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    segment: Vec<u8>,
    head: Option<Position>,
    calls: usize,
    fails: Option<(usize, Fault)>,
}

/// How a call fails. Either way the caller hears an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing was kept.
    Lost,
    /// All of it was kept.
    Kept,
}

impl Memory {
    /// A journal that goes on with these bytes.
    pub fn holding(segment: Vec<u8>) -> Self {
        Self { segment, ..Self::default() }
    }

    /// This journal, failing at one call (claims count as well, from 0).
    pub fn failing_at(self, call: usize, fault: Fault) -> Self {
        Self { fails: Some((call, fault)), ..self }
    }

    /// The bytes: a whole segment, or nothing yet.
    pub fn segment(&self) -> &[u8] {
        &self.segment
    }

    /// Where the newest claim or batch that was acknowledged ended.
    pub const fn head(&self) -> Option<&Position> {
        self.head.as_ref()
    }

    /// How many claims and batches there were.
    pub const fn calls(&self) -> usize {
        self.calls
    }

    fn keep(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        let call = self.calls;
        self.calls += 1;
        let fault = self.fails.filter(|(at, _)| *at == call).map(|(_, fault)| fault);
        if fault != Some(Fault::Lost) {
            if self.segment.is_empty() {
                self.segment.extend(segment_header(batch.keys.ledger(), &batch.before));
            }
            self.segment.extend(batch.records);
        }
        if fault.is_some() {
            return Err(JournalFailed { what: format!("call {call} fails"), source: None });
        }
        self.head = Some(batch.after);
        Ok(())
    }
}

impl Journal for Memory {
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed> {
        self.keep(claim)
    }

    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        self.keep(batch)
    }
}

/// Folds the bytes of a whole ledger, as a stranger with the key would; no bytes are no events.
///
/// # Errors
/// The first bad place.
pub fn fold(segment: &[u8], keys: &Keyring) -> Result<Views, Flaw> {
    let mut views = Views::new(keys.clone(), &[]);
    if segment.is_empty() {
        return Ok(views);
    }
    let layout = Layout::read(segment, keys, &Position::START);
    let checks = vec![layout.check(0..layout.len())];
    views.admit(&layout.conclude(checks)).flaw.map_or(Ok(views), Err)
}

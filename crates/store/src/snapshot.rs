//! A ledger as it was read and verified: asked, walked through, and followed. Never written.

use actum_core::{Event, Head, Header, KeyFile, Keyring, Refusal, Views};

use crate::accepted::{AcceptedPolicy, PolicyMissing};
use crate::disk::{Disk, RealDisk};
use crate::error::StoreError;
use crate::keep::read_key;
use crate::places::Places;
use crate::scan::{Scan, read_head, read_segment, scan_with, segment_paths, verify};
use crate::store::Store;

/// A ledger as it was read and verified, without the right to write.
#[derive(Debug)]
pub struct Snapshot<D: Disk = RealDisk> {
    store: Store<D>,
    key: KeyFile,
    head: Head,
    views: Views,
    beyond: u64,
    leftover: Option<(u64, String)>,
    bytes: u64,
}

impl<D: Disk> Snapshot<D> {
    /// Judges what was found.
    ///
    /// # Errors
    /// [`Refusal`] if nothing of it may be believed.
    pub(crate) fn of(store: Store<D>, key: KeyFile, scan: Scan) -> Result<Self, StoreError> {
        let beyond = scan.judged?;
        let head = scan.head.ok_or(Refusal::Unanchored)?;
        let mut views = scan.views;
        if beyond > 0 {
            views.confirm_before(head.count);
        }
        let leftover = scan.found.flaw.map(|flaw| (scan.tail.rest.len() as u64, flaw.to_string()));
        Ok(Self { store, key, head, views, beyond, leftover, bytes: scan.bytes })
    }

    /// The state as of the newest event.
    pub const fn views(&self) -> &Views {
        &self.views
    }

    /// The head the store was judged against.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Genuine events beyond the head: they happened and were not acknowledged.
    pub const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Bytes beyond the newest event that do not verify, and what is wrong with them: a torn write, or somebody's attempt.
    pub const fn leftover(&self) -> Option<&(u64, String)> {
        self.leftover.as_ref()
    }

    /// Bytes of all segments.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the parts lie.
    pub const fn places(&self) -> &Places {
        &self.store.places
    }

    /// The policy in force.
    ///
    /// # Errors
    /// [`PolicyMissing`].
    pub fn policy(&self) -> Result<AcceptedPolicy, PolicyMissing> {
        AcceptedPolicy::in_force(&self.store.disk, &self.store.places, &self.views)
    }

    /// Shows every event of this snapshot from index `from` on. The bytes are verified again: they come from the disk.
    ///
    /// # Errors
    /// [`Refusal::Damaged`] or [`Refusal::Truncated`] if they are not what this snapshot saw.
    pub fn events(
        &self,
        from: u64,
        mut visit: impl FnMut(&Header, &Event<'_>),
    ) -> Result<(), StoreError> {
        let count = self.views.position().count;
        let mut views = Views::new(self.views.keys().clone(), &[]);
        for path in segment_paths(&self.store.disk, &self.store.places)? {
            let Some(bytes) = read_segment(&self.store.disk, &path)? else { break };
            let (at, keys) = (*views.position(), views.keys().clone());
            let verified = verify(&bytes, &keys, &at);
            let admitted = views.admit(&verified);
            let good = views.position().count.min(count);
            for record in
                verified.records().filter(|record| (from..good).contains(&record.header.index))
            {
                if let Some(event) = record.event() {
                    visit(&record.header, &event);
                }
            }
            match admitted.flaw {
                Some(flaw) if flaw.event() < count => {
                    return Err(Refusal::Damaged { flaw, count }.into());
                }
                Some(_) => return Ok(()),
                None => {}
            }
        }
        let found = views.position().count;
        if found < count { Err(Refusal::Truncated { found, count }.into()) } else { Ok(()) }
    }

    /// Looks whether the ledger went on, and takes that over. Returns whether it did.
    ///
    /// # Errors
    /// [`Refusal::RolledBack`] if store and anchor do not reach what this snapshot has seen, and whatever
    /// [`Store::read`] finds. The snapshot stays as it was then.
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        let (disk, places) = (&self.store.disk, &self.store.places);
        let seen = self.head.count;
        let rolled_back = |found| StoreError::Refused(Refusal::RolledBack { seen, found });
        // The key before the head: a rotation moves both, in this order.
        let key = read_key(disk, places, self.key.ledger())?;
        let head = read_head(disk, places, &Keyring::new(&key))?;
        if head.as_ref() == Some(&self.head) {
            return Ok(false);
        }
        let found = head.as_ref().map_or(0, |head| head.count);
        if head.is_none_or(|head| head.counter <= self.head.counter || head.count < seen) {
            return Err(rolled_back(found));
        }
        let scan = scan_with(disk, places, &key, seen)?;
        if seen > 0 && scan.views.mac_of(seen) != Some(self.head.mac) {
            return Err(rolled_back(found));
        }
        *self = Self::of(self.store.clone(), key, scan)?;
        Ok(true)
    }
}

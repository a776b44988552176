//! The owner's way out after a loss: shows what was lost, and goes on with what is left.

use std::path::PathBuf;

use actum_core::{
    Cause, Head, Keyring, Ledger, LedgerId, Loss, Mac, Owner, Refusal, Request, Views,
};

use crate::disk::Disk;
use crate::error::StoreError;
use crate::journal::FileJournal;
use crate::places::Places;
use crate::register::Register;
use crate::scan::{Scan, Tail, scan, segment_paths};
use crate::store::{Store, Writer};

/// What was lost, for the owner to see before going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossReport {
    /// The ledger.
    pub ledger: LedgerId,
    /// What happened.
    pub cause: Cause,
    /// What happened, in a sentence.
    pub what: String,
    /// Events that are there and verify.
    pub found: u64,
    /// Events that were acknowledged; unknown without an anchor or a key.
    pub acknowledged: Option<u64>,
    /// Bytes that do not verify and will be moved aside.
    pub unverified: u64,
}

impl<D: Disk> Store<D> {
    /// What there is to resolve; nothing if the ledger is sound.
    ///
    /// # Errors
    /// [`StoreError::Missing`], a key that is there but cannot be used, or what the disk said.
    pub fn examine(&self) -> Result<Option<LossReport>, StoreError> {
        Ok(self.diagnose()?.map(|diagnosis| diagnosis.report))
    }

    /// As [`Store::resolve`], if what is lost is still what the owner was shown.
    ///
    /// # Errors
    /// Those of [`Store::resolve`], and [`StoreError::Content`] if it is not: the owner said yes to something else.
    pub fn resolve_as_shown(
        &self,
        writer: &Writer,
        owner: Owner,
        shown: &LossReport,
    ) -> Result<LossReport, StoreError> {
        self.resolve_if(writer, owner, |found| found == shown)
    }

    /// Goes on after a loss. Earlier passes are void, surviving negatives stand, and an event says so.
    ///
    /// # Errors
    /// [`StoreError::Commit`] with nothing to resolve if the ledger is sound; whatever [`Store::examine`] finds; what the
    /// disk said.
    pub fn resolve(&self, writer: &Writer, owner: Owner) -> Result<LossReport, StoreError> {
        self.resolve_if(writer, owner, |_| true)
    }

    fn resolve_if(
        &self,
        writer: &Writer,
        owner: Owner,
        agreed: impl Fn(&LossReport) -> bool,
    ) -> Result<LossReport, StoreError> {
        self.make_folders()?;
        let lock = self.lock(writer)?;
        let Some(Diagnosis { report, scan }) = self.diagnose()? else {
            drop(lock);
            let mut ledger = self.write(writer)?;
            ledger.record(Request::ResolveClock { owner }, &writer.reading)?;
            return Ok(LossReport::of_clock(ledger.views()));
        };
        if !agreed(&report) {
            let what = "what is lost is not what was shown; look again".to_owned();
            return Err(StoreError::Content { path: self.places.store.clone(), what });
        }
        let loss = |count, mac| Loss { cause: report.cause, count, mac, owner };
        match scan {
            Some(scan) if report.cause != Cause::Clock => {
                self.go_on(*scan, &report, lock, writer, loss)?;
            }
            Some(_) => {
                drop(lock);
                let mut ledger = self.write(writer)?;
                ledger.record(Request::ResolveClock { owner }, &writer.reading)?;
            }
            None => {
                self.start_over(lock, writer, &loss(0, Mac::ZERO))?;
            }
        }
        Ok(report)
    }

    fn diagnose(&self) -> Result<Option<Diagnosis>, StoreError> {
        let ledger = match self.identify() {
            Err(StoreError::Refused(refusal @ Refusal::Swapped { .. })) => {
                return self.swapped(refusal).map(Some);
            }
            Err(StoreError::Refused(Refusal::Key { why })) if self.is_key_gone()? => {
                let ledger = Register::read(&self.disk, &self.places)?.here();
                let ledger = ledger.ok_or(Refusal::Key { why: why.clone() })?;
                return self.begins_anew(ledger, Cause::KeyLost, why).map(Some);
            }
            Err(StoreError::KnownHere { path, ledger }) => {
                let what = format!("ledger {ledger} lay in {} before", path.display());
                return self.begins_anew(ledger, Cause::Moved, what).map(Some);
            }
            other => other?,
        };
        if self.disk.stat(&self.places.key(ledger)).is_err() {
            let what = format!("the key of ledger {ledger} is gone: nothing in it can be verified");
            return self.begins_anew(ledger, Cause::KeyLost, what).map(Some);
        }
        let scan = scan(&self.disk, &self.places, ledger)?;
        let cause = match &scan.judged {
            Ok(_) => return Ok(clock_diagnosis(scan)),
            Err(refusal) => cause(refusal),
        };
        let what = scan.judged.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let report = LossReport {
            ledger,
            cause,
            what,
            found: scan.found.position.count,
            acknowledged: scan.head.as_ref().map(|head| head.count),
            unverified: self.unverified(&scan.tail)?,
        };
        Ok(Some(Diagnosis { report, scan: Some(Box::new(scan)) }))
    }

    /// The key is not where the register says it was kept either. While it is there, a call that looks elsewhere is told so.
    fn is_key_gone(&self) -> Result<bool, StoreError> {
        let register = Register::read(&self.disk, &self.places)?;
        let kept = register.here().and_then(|ledger| {
            let data = register.data_of(ledger)?.to_owned();
            Some(Places { data, ..self.places.clone() }.key(ledger))
        });
        Ok(kept.is_some_and(|key| self.disk.stat(&key).is_err()))
    }

    /// Nothing of what was here can be gone on with: a new ledger begins, and its first words say so.
    fn begins_anew(
        &self,
        ledger: LedgerId,
        cause: Cause,
        what: String,
    ) -> Result<Diagnosis, StoreError> {
        let extra = segment_paths(&self.disk, &self.places)?;
        let unverified = self.unverified(&Tail { extra, ..Tail::default() })?;
        let report = LossReport { ledger, cause, what, found: 0, acknowledged: None, unverified };
        Ok(Diagnosis { report, scan: None })
    }

    fn swapped(&self, refusal: Refusal) -> Result<Diagnosis, StoreError> {
        let Refusal::Swapped { expected, .. } = refusal else { return Err(refusal.into()) };
        let register = Register::read(&self.disk, &self.places)?;
        let key_lost = self.disk.stat(&self.places.key(expected)).is_err();
        if register.here() != Some(expected) || key_lost {
            return self.begins_anew(expected, Cause::Swapped, refusal.to_string());
        }
        let mut scan = scan(&self.disk, &self.places, expected)?;
        // What lies here is another's: none of it is a prefix of ours.
        let all = segment_paths(&self.disk, &self.places)?;
        scan.views = Views::new(scan.views.keys().clone(), &[]);
        scan.tail = Tail { extra: all, ..Tail::default() };
        let report = LossReport {
            ledger: expected,
            cause: Cause::Swapped,
            what: refusal.to_string(),
            found: 0,
            acknowledged: scan.head.as_ref().map(|head| head.count),
            unverified: self.unverified(&scan.tail)?,
        };
        Ok(Diagnosis { report, scan: Some(Box::new(scan)) })
    }

    fn go_on(
        &self,
        scan: Scan,
        report: &LossReport,
        lock: D::Lock,
        writer: &Writer,
        loss: impl Fn(u64, Mac) -> Loss,
    ) -> Result<(), StoreError> {
        self.clean_up(&scan.tail)?;
        let head = scan.head.as_ref();
        let counter = head.map_or(0, |head| head.counter);
        let incarnation = head.map_or(0, |head| head.incarnation);
        let loss = head.map_or_else(|| loss(0, Mac::ZERO), |head| loss(head.count, head.mac));
        self.leave_old_place(head)?;
        self.register(report.ledger)?;
        let journal = self.journal(report.ledger, &scan.tail, counter, lock)?;
        let _ledger: Ledger<FileJournal<D>> =
            Ledger::resolve(scan.views, journal, incarnation, &loss, &writer.reading)?;
        Ok(())
    }

    /// The path a store was moved from stays known: what is put there later is not taken for a fresh start.
    fn leave_old_place(&self, head: Option<&Head>) -> Result<(), StoreError> {
        use std::os::unix::ffi::OsStrExt as _;
        let old = head.map(|head| PathBuf::from(std::ffi::OsStr::from_bytes(&head.path)));
        match old.filter(|old| *old != self.places.store) {
            None => Ok(()),
            Some(store) => {
                let old = Places { store, ..self.places.clone() };
                Register::read(&self.disk, &old)?.leave(&self.disk, &old)
            }
        }
    }

    /// The key is gone: everything is moved aside, and a new ledger begins by saying so.
    fn start_over(&self, lock: D::Lock, writer: &Writer, loss: &Loss) -> Result<(), StoreError> {
        for path in segment_paths(&self.disk, &self.places)? {
            self.move_aside(&path)?;
        }
        let key = self.new_key()?;
        let journal = self.journal(key.ledger(), &Tail::default(), 0, lock)?;
        let views = Views::new(Keyring::new(&key), &[]);
        let _ledger: Ledger<FileJournal<D>> =
            Ledger::resolve(views, journal, 0, loss, &writer.reading)?;
        // Last: until the new ledger has said why it is there, the path belongs to the old one.
        self.register(key.ledger())
    }

    fn unverified(&self, tail: &Tail) -> Result<u64, StoreError> {
        let mut bytes = tail.rest.len() as u64;
        for path in &tail.extra {
            bytes += self.disk.stat(path).map_err(StoreError::disk("look at", path))?.length;
        }
        Ok(bytes)
    }
}

#[derive(Debug)]
struct Diagnosis {
    report: LossReport,
    /// Nothing if there is no key to verify anything with.
    scan: Option<Box<Scan>>,
}

fn clock_diagnosis(scan: Scan) -> Option<Diagnosis> {
    let since = scan.views.distrusted_since()?;
    let report = LossReport {
        what: format!("the clock jumped at event {since}"),
        ..LossReport::of_clock(&scan.views)
    };
    Some(Diagnosis { report, scan: Some(Box::new(scan)) })
}

impl LossReport {
    fn of_clock(views: &Views) -> Self {
        let count = views.position().count;
        Self {
            ledger: views.keys().ledger(),
            cause: Cause::Clock,
            what: "the clock jumped".to_owned(),
            found: count,
            acknowledged: Some(count),
            unverified: 0,
        }
    }
}

const fn cause(refusal: &Refusal) -> Cause {
    match refusal {
        Refusal::Truncated { .. } | Refusal::RolledBack { .. } => Cause::Truncated,
        Refusal::Damaged { .. } => Cause::Damaged,
        Refusal::Forked { .. } => Cause::Forked,
        Refusal::Unanchored => Cause::Unanchored,
        Refusal::Moved { .. } => Cause::Moved,
        Refusal::Swapped { .. } => Cause::Swapped,
        Refusal::Key { .. } => Cause::KeyLost,
    }
}

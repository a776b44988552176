//! The rules of recovery on states made byte by byte: a ledger of 12 events, 9 of them acknowledged. No crash raises an
//! alarm, and no change of what was acknowledged is believed or goes unnoticed.

use std::path::PathBuf;

use actum_core::Outcome;
use actum_store::Store;
use actum_testkit::disk::{Fate, Fault, SimDisk};

use crate::hunt::{new_disk, places};
use crate::scene::{ask, at, new_run, run, writer};

const ACKNOWLEDGED: usize = 9;
const EVENTS: usize = 12;
const HEADER: usize = 64;

fn segment() -> PathBuf {
    places().segments().join("0000000000000000.seg")
}

fn store(disk: &SimDisk) -> Store<SimDisk> {
    Store::on(disk.clone(), places())
}

/// The records of a segment.
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut records, mut start) = (Vec::new(), HEADER);
    while start < bytes.len() {
        let fields = usize::from(u16::from_be_bytes([bytes[start], bytes[start + 1]]));
        let end = start + 24 + fields + 32;
        records.push(bytes[start..end].to_vec());
        start = end;
    }
    records
}

/// Twelve events, nine acknowledged: genesis, five names, a run's beginning and end, another's beginning; then, in one
/// batch whose head was lost, three more beginnings. Also the same ledger when it was one event old.
fn crashed() -> (SimDisk, SimDisk) {
    let disk = new_disk();
    let mut ledger = store(&disk).init(&writer(0)).unwrap();
    let genesis = disk.fork();
    run(&mut ledger, "text:A", "v1", Outcome::Passed, 1);
    ledger.begin(new_run("text:B", "v1"), &at(2)).unwrap();
    assert_eq!(ledger.views().position().count, ACKNOWLEDGED as u64);
    // Write, sync, and then the head.
    disk.plan(disk.operations() + 2, Fault::Lost);
    let more = ["text:C", "text:D", "text:E"].map(|subject| new_run(subject, "v1"));
    let requests = more.map(actum_core::Request::Begin).into_iter().collect();
    ledger.commit(requests, &at(3)).unwrap_err();
    drop(ledger);
    assert_eq!(records(&disk.peek(&segment()).unwrap()).len(), EVENTS);
    (disk.fork(), genesis)
}

#[derive(Debug, Default)]
struct Tally {
    states: usize,
    forged: Vec<String>,
    silent_losses: Vec<String>,
    false_alarms: Vec<String>,
}

/// What may stand there: the events of the one true ledger.
struct Truth {
    disk: SimDisk,
    bytes: Vec<u8>,
}

impl Truth {
    /// What a reader makes of `bytes` in place of the segment.
    fn look(&self, tally: &mut Tally, kind: &str, is_crash: bool, bytes: &[u8]) {
        tally.states += 1;
        let disk = self.disk.fork();
        disk.edit(&segment(), |segment| *segment = bytes.to_vec());
        let before = disk.image();
        match store(&disk).read() {
            Ok(snapshot) => {
                let position = snapshot.views().position();
                let count = usize::try_from(position.count).unwrap();
                let genuine = records(&self.bytes)
                    .get(count.saturating_sub(1))
                    .is_some_and(|record| count > 0 && record.ends_with(position.mac.as_bytes()));
                if !genuine {
                    tally.forged.push(kind.to_owned());
                }
                let passed = ask(snapshot.views(), "text:A", "v1", 9).reason.code() == "passed";
                if count < ACKNOWLEDGED || !passed {
                    tally.silent_losses.push(kind.to_owned());
                }
            }
            Err(error) if is_crash => tally.false_alarms.push(format!("{kind}: {error}")),
            Err(_) => {
                let refused = store(&disk).write(&writer(9)).map(|_ledger| ());
                if refused.is_ok() {
                    tally.silent_losses.push(format!("{kind}: written to all the same"));
                }
            }
        }
        assert!(is_crash || before == disk.image(), "{kind}: a refused store was touched");
    }

    /// A writer comes after a crash, too: it goes on, and keeps every event that verifies.
    fn goes_on(&self, bytes: &[u8]) {
        let disk = self.disk.fork();
        disk.edit(&segment(), |segment| *segment = bytes.to_vec());
        let there = store(&disk).read().unwrap().views().position().count;
        let mut ledger = store(&disk).write(&writer(9)).unwrap();
        run(&mut ledger, "text:last", "v1", Outcome::Passed, 9);
        drop(ledger);
        let snapshot = store(&disk).read().unwrap();
        assert!(snapshot.views().position().count > there);
        for subject in ["text:A", "text:last"] {
            assert_eq!(ask(snapshot.views(), subject, "v1", 9).reason.code(), "passed");
        }
    }
}

/// Bytes that look like noise and are the same every time.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn no_crash_is_an_alarm_and_no_change_is_believed_or_goes_unnoticed() {
    let (disk, genesis) = crashed();
    let truth = Truth { bytes: disk.peek(&segment()).unwrap(), disk };
    let (full, all) = (&truth.bytes, records(&truth.bytes));
    let kept = HEADER + all.iter().take(ACKNOWLEDGED).map(Vec::len).sum::<usize>();
    let (acknowledged, tail) = full.split_at(kept);
    let mut tally = Tally::default();

    for cut in 0..=tail.len() {
        let missing = tail.len() - cut;
        let part = [acknowledged, &tail[..cut]].concat();
        truth.look(&mut tally, "a crash: prefix", true, &part);
        let zeros = [&part[..], &vec![0; missing]].concat();
        truth.look(&mut tally, "a crash: prefix and zeros", true, &zeros);
        let garbage = [&part[..], &noise(missing, cut as u64)].concat();
        truth.look(&mut tally, "a crash: prefix and garbage", true, &garbage);
        if cut % 16 == 0 {
            for bytes in [part, zeros, garbage] {
                truth.goes_on(&bytes);
            }
        }
    }
    for size in [64, 512] {
        let blocks: Vec<&[u8]> = tail.chunks(size).collect();
        for mask in 0..1_u32 << blocks.len().min(8) {
            let torn = blocks.iter().enumerate().flat_map(|(nth, block)| {
                if mask >> nth & 1 == 1 { block.to_vec() } else { vec![0; block.len()] }
            });
            let torn: Vec<u8> = acknowledged.iter().copied().chain(torn).collect();
            truth.look(&mut tally, "a crash: torn blocks", true, &torn);
        }
    }

    let whole = |records: &[Vec<u8>]| [&full[..HEADER], &records.concat()].concat();
    let foreign = records(&crashed().0.peek(&segment()).unwrap());
    let older = another_incarnation(&genesis);
    for at in 0..ACKNOWLEDGED {
        let mut attack = |kind: &str, records: &[Vec<u8>]| {
            truth.look(&mut tally, &format!("{kind} {at}"), false, &whole(records));
        };
        attack("truncated at", &all[..at]);
        attack("deleted", &[&all[..at], &all[at + 1..]].concat());
        attack("doubled", &[&all[..=at], &all[at..]].concat());
        for other in at + 1..ACKNOWLEDGED {
            let mut swapped = all.clone();
            swapped.swap(at, other);
            attack("swapped", &swapped);
        }
        for (kind, source) in [("another ledger's", &foreign), ("another incarnation's", &older)] {
            let mut spliced = all.clone();
            spliced[at].clone_from(&source[at]);
            if spliced != all {
                attack(kind, &spliced);
            }
        }
        let mut older_for_newer = all.clone();
        older_for_newer[ACKNOWLEDGED - 1].clone_from(&all[at]);
        if older_for_newer != all {
            attack("older over newer", &older_for_newer);
        }
    }
    for place in 0..kept {
        let mut bytes = full.clone();
        bytes[place] ^= 1 << (place % 8);
        truth.look(&mut tally, &format!("bit flipped in byte {place}"), false, &bytes);
    }
    let mut forged = all[EVENTS - 1].clone();
    forged[11] = 12;
    for mac in [vec![0xff; 32], all[EVENTS - 1][forged.len() - 32..].to_vec()] {
        let end = forged.len() - 32;
        forged[end..].copy_from_slice(&mac);
        let more = [&all[..], core::slice::from_ref(&forged)].concat();
        truth.look(&mut tally, "forged append", false, &whole(&more));
        let more = [&all[..ACKNOWLEDGED], core::slice::from_ref(&forged)].concat();
        truth.look(&mut tally, "forged append at the head", false, &whole(&more));
    }

    println!("{} states", tally.states);
    assert_eq!(tally.forged, Vec::<String>::new());
    assert_eq!(tally.silent_losses, Vec::<String>::new());
    assert_eq!(tally.false_alarms, Vec::<String>::new());
    assert!(tally.states > 2_000, "only {} states", tally.states);
}

/// The same events of the same ledger as a writer with another incarnation sealed them: key, clock and requests the same.
fn another_incarnation(genesis: &SimDisk) -> Vec<Vec<u8>> {
    let mut ledger = store(genesis).write(&writer(0)).unwrap();
    run(&mut ledger, "text:A", "v1", Outcome::Passed, 1);
    ledger.begin(new_run("text:B", "v1"), &at(2)).unwrap();
    drop(ledger);
    records(&genesis.peek(&segment()).unwrap())
}

#[test]
fn bytes_of_an_earlier_life_never_verify_in_a_later_one() {
    let disk = new_disk();
    let mut ledger = store(&disk).init(&writer(0)).unwrap();
    run(&mut ledger, "text:A", "v1", Outcome::Passed, 1);
    drop(ledger);
    let before = disk.peek(&segment()).unwrap().len();
    let begin = |subject| actum_core::Request::Begin(new_run(subject, "v1"));

    let mut ledger = store(&disk).write(&writer(2)).unwrap();
    disk.plan(disk.operations() + 1, Fault::Lost);
    ledger.commit(vec![begin("text:B"), begin("text:C")], &at(2)).unwrap_err();
    drop(ledger);
    let stale = disk.peek(&segment()).unwrap();
    let disk = disk.reboot(Fate::Dropped);
    assert_eq!(disk.peek(&segment()).unwrap().len(), before, "the sync failed, so nothing is left");

    // The next life asks for the first of the two again, with the same clock; then the rest of the old bytes comes back.
    let mut ledger = store(&disk).write(&writer(2)).unwrap();
    ledger.commit(vec![begin("text:B")], &at(2)).unwrap();
    drop(ledger);
    disk.edit(&segment(), |bytes| {
        let end = bytes.len();
        bytes.extend_from_slice(&stale[end..]);
    });
    let snapshot = store(&disk).read().unwrap();
    assert_eq!(snapshot.beyond(), 0);
    assert_eq!(ask(snapshot.views(), "text:C", "v1", 9).reason.code(), "never_ran");
}

#[test]
fn every_start_of_a_writer_counts_whether_it_writes_or_not() {
    let disk = new_disk();
    drop(store(&disk).init(&writer(0)).unwrap());
    for start in 2..6 {
        drop(store(&disk).write(&writer(start)).unwrap());
        assert_eq!(u64::from(store(&disk).read().unwrap().head().incarnation), start);
    }
}

//! Every operation of the disk, every fault, and again during the recovery that follows: nothing answered is lost, nothing
//! is believed that was not asked for, no crash raises an alarm, and there is always a way on.

use std::path::PathBuf;

use actum_core::{Answer, LedgerId, Outcome, Owner, claimed_ledger};
use actum_store::{Disk as _, DiskFile as _, Store};
use actum_testkit::disk::SimDisk;
use actum_testkit::saboteur::{Sabotage, SpoiltDisk};

use crate::hunt::{
    AGAIN, Diary, FINE, Found, ONCE, come_back, fates, hunt, new_disk, nothing_breaks, places,
    whole_life,
};
use crate::scene::{run, writer};

#[test]
fn a_whole_life_survives_every_fault_at_every_operation() {
    nothing_breaks(FINE, 1_800);
}

#[test]
fn and_again_every_fault_while_it_recovers() {
    nothing_breaks(AGAIN, 4_000);
}

/// The hunt sees what `how` breaks, in words that have `seen` in them.
fn caught(how: Sabotage, seen: &str) {
    let (mut found, disk) = (Found::default(), new_disk());
    let spoil = |disk| SpoiltDisk::new(disk, how);
    hunt(&mut found, &disk, &Diary::new(&disk), &spoil, &whole_life, ONCE);
    let all = &found.broken;
    assert!(all.iter().any(|what| what.contains(seen)), "{how:?}: {} broken: {all:#?}", all.len());
}

#[test]
fn a_journal_that_acknowledges_before_it_keeps_is_caught() {
    caught(Sabotage::AcknowledgesFirst, "the ledger was cut");
}

#[test]
fn a_head_that_is_acknowledged_before_it_is_kept_is_caught() {
    caught(Sabotage::HeadInMemory, "no anchor vouches");
}

#[test]
fn a_head_that_moves_before_its_data_is_caught() {
    caught(Sabotage::HeadBeforeData, "the ledger was cut");
}

#[test]
fn a_journal_that_retries_is_caught() {
    caught(Sabotage::Retries, "a false alarm");
}

#[test]
fn names_that_are_never_made_durable_are_caught() {
    caught(Sabotage::ForgetsNames, "there is no ledger in");
}

fn lived() -> SimDisk {
    let disk = new_disk();
    whole_life(&disk, &mut Diary::new(&disk)).unwrap();
    disk
}

fn first_segment() -> PathBuf {
    places().segments().join("0000000000000000.seg")
}

fn id_of(disk: &SimDisk) -> LedgerId {
    claimed_ledger(&disk.peek(&first_segment()).unwrap()).unwrap()
}

/// After `harm` the owner resolves; the power goes at every operation of that, and the owner resolves again.
fn resolves(harm: impl Fn(&SimDisk), code: &str) {
    let disk = lived();
    harm(&disk);
    let store = Store::on(disk.clone(), places());
    assert_eq!(store.read().unwrap_err().reason().code(), code);
    disk.record();
    store.resolve(&writer(20), Owner::YesFlag).unwrap();
    let mut states = 0;
    for moment in disk.moments() {
        for fate in fates(&moment.disk, ONCE) {
            let disk = moment.disk.reboot(fate);
            let store = Store::on(disk.clone(), places());
            let what = format!("{code}: {:?}, {fate:?}", moment.next);
            if let Err(error) = store.read() {
                assert_eq!(error.reason().answer(), Answer::Refused, "{what}");
                let again = store.resolve(&writer(30), Owner::YesFlag);
                assert!(again.is_ok(), "{what}: no way out: {again:?}");
            }
            let mut diary = Diary::new(&disk);
            diary.resolved();
            let came_back = come_back(&disk, &diary, disk.operations());
            assert!(came_back.is_ok(), "{what}: {came_back:?}");
            states += 1;
        }
    }
    println!("{states} states");
    assert!(states > 20, "only {states} states");
}

#[test]
fn there_is_a_way_out_of_a_cut_at_every_operation_of_it() {
    resolves(|disk| disk.edit(&first_segment(), |bytes| bytes.truncate(700)), "truncated");
    resolves(|disk| disk.edit(&first_segment(), Vec::clear), "truncated");
    resolves(|disk| disk.remove(&first_segment()), "truncated");
}

#[test]
fn there_is_a_way_out_of_damage_at_every_operation_of_it() {
    resolves(|disk| disk.edit(&first_segment(), |bytes| bytes[700] ^= 1), "damaged");
    resolves(|disk| disk.edit(&first_segment(), |bytes| bytes[3] ^= 1), "damaged");
}

#[test]
fn there_is_a_way_out_of_a_lost_anchor_at_every_operation_of_it() {
    resolves(|disk| disk.remove(&places().anchor(id_of(disk))), "unanchored");
    resolves(|disk| disk.edit(&places().anchor(id_of(disk)), Vec::clear), "unanchored");
}

#[test]
fn there_is_a_way_out_of_a_lost_key_at_every_operation_of_it() {
    resolves(|disk| disk.remove(&places().key(id_of(disk))), "key_unusable");
}

#[test]
fn there_is_a_way_out_of_a_fork_at_every_operation_of_it() {
    let fork = |disk: &SimDisk| {
        let other = disk.fork();
        for (disk, subject) in [(disk, "text:F"), (&other, "text:G")] {
            let mut ledger = Store::on(disk.clone(), places()).write(&writer(15)).unwrap();
            run(&mut ledger, subject, "v1", Outcome::Passed, 15);
        }
        disk.edit(&first_segment(), |bytes| *bytes = other.peek(&first_segment()).unwrap());
    };
    resolves(fork, "forked");
}

#[test]
fn there_is_a_way_out_of_a_swap_at_every_operation_of_it() {
    let swap = |disk: &SimDisk| {
        let other = lived();
        disk.edit(&first_segment(), |bytes| *bytes = other.peek(&first_segment()).unwrap());
        // The other ledger is one that this machine knows.
        let anchor = places().anchor(id_of(&other));
        let mut file = disk.create(&anchor).unwrap();
        file.write_at(&other.peek(&anchor).unwrap(), 0).unwrap();
        file.sync().unwrap();
        disk.sync_folder(&places().anchors()).unwrap();
    };
    resolves(swap, "swapped");
}

//! The head as an anchor keeps it, and the judgement of a store against it.

use actum_core::{
    EventFlaw, Flaw, Found, Head, KeyFile, Keyring, LedgerId, Mac, PATH_MAX, Position, Reading,
    Refusal, SLOT_LEN, SegmentFlaw, claimed_anchor_ledger, judge_store,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{LEDGER, key_file, keys, root, seeds};

proptest! {
    #![proptest_config(seeds("proptest-regressions/anchor.txt"))]

    #[test]
    fn what_is_sealed_opens_to_the_same(head in head()) {
        let slot = head.seal(&keys()).unwrap();
        prop_assert_eq!(slot.len(), SLOT_LEN);
        prop_assert_eq!(claimed_anchor_ledger(&slot), Some(LEDGER));
        prop_assert_eq!(Head::open(&slot, &keys()), Some(head));
    }

    #[test]
    fn a_slot_with_a_changed_bit_does_not_open(head in head(), at in any::<Index>(), bit in 0..8_u32) {
        let mut slot = head.seal(&keys()).unwrap();
        let at = at.index(slot.len());
        slot[at] ^= 1 << bit;
        prop_assert_eq!(Head::open(&slot, &keys()), None);
    }

    #[test]
    fn the_greater_counter_counts_and_the_first_of_two_equal_ones(one in head(), other in head()) {
        let slots = [one.seal(&keys()).unwrap(), other.seal(&keys()).unwrap()];
        let newest = Head::newest(&slots.concat(), &keys());
        prop_assert_eq!(newest.as_ref(), Some(if other.counter > one.counter { &other } else { &one }));
        for (torn, left) in [(0, &other), (1, &one)] {
            let mut slots = slots.clone();
            slots[torn][2000..].fill(0xff);
            prop_assert_eq!(Head::newest(&slots.concat(), &keys()), Some(left.clone()));
        }
        let cut = &slots.concat()[..SLOT_LEN + 100];
        prop_assert_eq!(Head::newest(cut, &keys()), Some(one));
    }
}

fn head() -> impl Strategy<Value = Head> {
    let number = || prop_oneof![0..3_u64, any::<u64>(), Just(u64::MAX)];
    let reading = (number(), number(), any::<[u8; 16]>())
        .prop_map(|(wall_ms, boot_ms, boot_id)| Reading { wall_ms, boot_ms, boot_id });
    let path = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(any::<u8>(), PATH_MAX),
    ];
    let mac = any::<[u8; 32]>().prop_map(Mac::from_bytes);
    (number(), any::<u32>(), number(), mac, reading, path).prop_map(
        |(counter, incarnation, count, mac, reading, path)| Head {
            counter,
            generation: 0,
            incarnation,
            count,
            mac,
            reading,
            path,
        },
    )
}

fn plain_head(counter: u64, generation: u32) -> Head {
    let (incarnation, count, mac) = (1, 1, Mac::from_bytes([7; 32]));
    Head {
        counter,
        generation,
        incarnation,
        count,
        mac,
        reading: Reading::wall(1),
        path: vec![b'/'],
    }
}

#[test]
fn a_path_over_its_limit_is_not_sealed() {
    let head = Head { path: vec![b'a'; PATH_MAX + 1], ..plain_head(1, 0) };
    assert_eq!(head.seal(&keys()), None);
    assert_eq!(plain_head(1, 1).seal(&keys()), None, "there is no key of generation 1");
}

#[test]
fn heads_take_turns_in_the_slots() {
    let slots: Vec<_> = [0, 1, 2, u64::MAX].map(|at| plain_head(at, 0).slot()).to_vec();
    assert_eq!(slots, [0, 1, 0, 1]);
}

#[test]
fn a_head_of_an_old_generation_is_refused_however_new_it_says_it_is() {
    let two = key_file().with_next(root(1)).unwrap();
    let (between, after) = (Keyring::new(&two), Keyring::new(&two.with_active(1).unwrap()));
    let (old, new) = (plain_head(u64::MAX, 0), plain_head(2, 1));
    let slots = [old.seal(&after).unwrap(), new.seal(&after).unwrap()].concat();
    assert_eq!(Head::newest(&slots, &after), Some(new.clone()));
    assert_eq!(Head::open(&slots[..SLOT_LEN], &after), None);
    // While the rotation is under way, both count.
    assert_eq!(Head::newest(&slots, &between), Some(old));
    assert_eq!(Head::open(&slots[SLOT_LEN..], &between), Some(new));
}

#[test]
fn a_head_of_another_ledger_is_none() {
    let other = Keyring::new(&KeyFile::new(LedgerId::from_bytes([9; 16]), root(0)));
    let slot = plain_head(1, 0).seal(&other).unwrap();
    assert_eq!(Head::open(&slot, &keys()), None);
    assert_eq!(claimed_anchor_ledger(&slot), Some(other.ledger()));
    assert_eq!(claimed_anchor_ledger(b"ACTUMAN1"), None);
    assert_eq!(Head::newest(&[], &keys()), None);
    assert_eq!(Head::newest(&[0; 2 * SLOT_LEN], &keys()), None);
}

/// The table *Opening* of the format page, for what the store itself can show.
fn expected(count: Option<u64>, found: u64, same: bool, flaw: &str) -> &'static str {
    match (count, found) {
        (None, _) => "unanchored",
        (Some(count), found) if found < count && flaw == "changed" => "damaged",
        (Some(count), found) if found < count => "truncated",
        (Some(_), _) if same => "sound",
        (Some(_), _) => "forked",
    }
}

#[test]
fn a_store_is_judged_as_the_table_says() {
    let ours = Mac::from_bytes([1; 32]);
    let mut judged = 0;
    for count in [None, Some(0), Some(1), Some(2), Some(3), Some(u64::MAX)] {
        for found in [0, 1, 2, 3, u64::MAX] {
            for same in [true, false] {
                for (kind, flaw) in flaws(found) {
                    // Nothing comes before the first event: its MAC is zeros, or a lie.
                    let (mac, known) = match (count, same) {
                        (Some(0), true) => (Mac::ZERO, None),
                        (Some(0), false) => (ours, None),
                        (_, true) => (ours, Some(ours)),
                        (_, false) => (ours, Some(Mac::from_bytes([2; 32]))),
                    };
                    let head = count.map(|count| Head { count, mac, ..plain_head(1, 0) });
                    let mac_at_head = known.filter(|_| count.is_some_and(|count| count <= found));
                    let position = Position { count: found, ..Position::START };
                    let store = Found { position, mac_at_head, flaw: flaw.clone() };
                    let judged_as = match judge_store(head.as_ref(), &store) {
                        Ok(beyond) => {
                            assert_eq!(Some(beyond), count.map(|count| found - count));
                            "sound"
                        }
                        Err(refusal) => {
                            check_refusal(&refusal, found, count, flaw.as_ref());
                            word(&refusal)
                        }
                    };
                    assert_eq!(judged_as, expected(count, found, same, kind), "{head:?} {store:?}");
                    judged += 1;
                }
            }
        }
    }
    assert_eq!(judged, 6 * 5 * 2 * 5);
}

fn flaws(event: u64) -> [(&'static str, Option<Flaw>); 5] {
    [
        ("none", None),
        ("ends", Some(Flaw::Event { event, what: EventFlaw::Ends })),
        ("ends", Some(Flaw::Segment { event, what: SegmentFlaw::Ends })),
        ("changed", Some(Flaw::Event { event, what: EventFlaw::Mac })),
        ("changed", Some(Flaw::Segment { event, what: SegmentFlaw::Magic })),
    ]
}

fn word(refusal: &Refusal) -> &'static str {
    actum_core::Reason::from(refusal).code()
}

fn check_refusal(refusal: &Refusal, found: u64, count: Option<u64>, flaw: Option<&Flaw>) {
    let place = match refusal {
        Refusal::Unanchored => None,
        Refusal::Forked { .. } => Some(count.unwrap().saturating_sub(1)),
        Refusal::Truncated { .. } => Some(found),
        Refusal::Damaged { .. } => flaw.map(Flaw::event),
        Refusal::Moved { .. }
        | Refusal::Swapped { .. }
        | Refusal::Key { .. }
        | Refusal::RolledBack { .. } => panic!("{refusal}"),
    };
    assert_eq!(refusal.event(), place);
}

#[test]
fn a_head_that_the_store_cannot_show_is_no_agreement() {
    // `mac_at_head` is missing though the prefix reaches it: nobody looked, so nothing is known.
    let store =
        Found { position: Position { count: 5, ..Position::START }, mac_at_head: None, flaw: None };
    let judged = judge_store(Some(&Head { count: 3, ..plain_head(1, 0) }), &store);
    assert_eq!(judged, Err(Refusal::Forked { event: 2 }));
}

#[test]
fn refusals_say_what_happened_to_what() {
    let flaw = Flaw::Event { event: 41, what: EventFlaw::Mac };
    let (ours, other) = (LedgerId::from_bytes([1; 16]), LedgerId::from_bytes([2; 16]));
    let path = |text: &str| text.to_owned();
    let all = [
        Refusal::Truncated { found: 3, count: 5 },
        Refusal::Damaged { flaw, count: 50 },
        Refusal::Forked { event: 4 },
        Refusal::Unanchored,
        Refusal::Moved { expected: path("/a/.actum"), found: path("/b/.actum") },
        Refusal::Swapped { expected: ours, found: other },
        Refusal::Key { why: path("`k` may be read by others") },
        Refusal::RolledBack { seen: 9, found: 7 },
    ];
    let texts: Vec<_> = all.iter().map(|refusal| format!("{}: {refusal}", word(refusal))).collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    truncated: the ledger was cut: 3 of 5 acknowledged events are there
    damaged: event 41: the MAC does not match; the file was changed after it was written (50 events were acknowledged)
    forked: event 4 is genuine but not the one the anchor remembers: the ledger was forked
    unanchored: no anchor vouches for this ledger: it cannot be told whether it is whole
    moved: this store belongs at /a/.actum; it was moved or copied to /b/.actum
    swapped: ledger 01010101010101010101010101010101 belongs here, but what lies here is ledger 02020202020202020202020202020202
    key_unusable: the key of this ledger cannot be used: `k` may be read by others
    rolled_back: the ledger was rolled back: this process has seen 9 events, store and anchor know 7
    ");
}

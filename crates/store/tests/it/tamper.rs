//! What an attacker does to a store, and where it is noticed: when it is read. One line a case. After each, nothing grounds
//! and nothing is appended; and for what can be resolved, the owner's way out leads to a ledger that works.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use actum_core::{
    Began, Digest, Event, KeyFile, Keyring, LedgerId, Namespace, NewRun, Outcome, Owner, Position,
    Refusal, Root, seal, segment_header,
};
use actum_store::{Store, StoreError};

use crate::scene::{Scene, ask, at, content, new_run, run, writer};

const HEADER: usize = 64;

/// Three passed runs on `text:S0` to `text:S2`: 12 events.
fn victim() -> Scene {
    Scene::with_runs(3)
}

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

impl Scene {
    fn first_segment(&self) -> std::path::PathBuf {
        self.places().segments().join("0000000000000000.seg")
    }

    fn segment(&self) -> Vec<u8> {
        fs::read(self.first_segment()).unwrap()
    }

    fn put_segment(&self, bytes: &[u8]) {
        fs::write(self.first_segment(), bytes).unwrap();
    }

    /// Changes the records of the one segment.
    fn edit(&self, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
        let bytes = self.segment();
        let mut all = records(&bytes);
        change(&mut all);
        self.put_segment(&[&bytes[..HEADER], &all.concat()].concat());
    }

    fn id(&self) -> LedgerId {
        self.store.read().unwrap().views().keys().ledger()
    }

    fn anchor(&self) -> std::path::PathBuf {
        self.places().anchor(self.id())
    }

    fn key(&self) -> std::path::PathBuf {
        self.places().key(self.id())
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// A ledger of the same user, in another place.
fn another_ledger_of(scene: &Scene) -> Store {
    let mut places = scene.places().clone();
    places.store = places.project().parent().unwrap().join("other/.actum");
    let store = Store::new(places);
    let mut ledger = store.init(&writer(0)).unwrap();
    for subject in ["text:S0", "text:S1", "text:S2"] {
        run(&mut ledger, subject, "v1", Outcome::Passed, 1);
    }
    drop(ledger);
    store
}

/// The segment as an attacker without the key would chain it anew: one outcome changed, every MAC recomputed with a key of
/// their own.
fn chained_anew(scene: &Scene) -> Vec<u8> {
    let id = scene.id();
    let keys = Keyring::new(&KeyFile::new(id, Root::from_bytes([0x66; 32])));
    let mut bytes = segment_header(id, &Position::START).to_vec();
    let mut place = Position { incarnation: 1, ..Position::START };
    seal(&keys, &mut place, 0, &Event::Genesis { ledger: id }, &mut bytes).unwrap();
    let names: [(actum_core::Space, Vec<u8>); 5] = [
        (actum_core::Space::Namespace, b"local/default".to_vec()),
        (actum_core::Space::Step, b"tests".to_vec()),
        (actum_core::Space::Tool, [&[1; 32][..], b"/bin/true"].concat()),
        (actum_core::Space::Rule, crate::scene::rule().as_bytes().to_vec()),
        (actum_core::Space::Session, b"cli".to_vec()),
    ];
    for (space, name) in &names {
        let event = Event::Named { space: *space, number: 0, name };
        seal(&keys, &mut place, 0, &event, &mut bytes).unwrap();
    }
    for _ in 0..3 {
        let (run, subject_digest) = (place.count, content("v1"));
        let began = Event::Began(Began {
            namespace: 0,
            step: 0,
            tool: 0,
            rule: 0,
            session: 0,
            subject: "text:EVIL",
            subject_digest,
            arguments: Digest::of("arguments", &[]),
        });
        seal(&keys, &mut place, 0, &began, &mut bytes).unwrap();
        let (outcome, result) = (Outcome::Passed, Digest::of("output", &[]));
        let ended = actum_core::Ended { run, outcome, code: 0, result, subject_digest };
        seal(&keys, &mut place, 0, &Event::Ended(ended), &mut bytes).unwrap();
    }
    bytes
}

/// What the owner can do about it with the tools of the store alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Resolve, and go on.
    Out,
    /// Put right by hand what the message names.
    ByHand,
}
use Way::{ByHand, Out};

type Case = (&'static str, fn(&Scene), &'static str, Option<u64>, Way);

/// Name, what the attacker does, the reason code a reader gives, the first bad event it names, the way on.
const CASES: &[Case] = &[
    ("label edit", |s| s.edit(|all| all[6][60] ^= 0x20), "damaged", Some(6), Out),
    (
        "subject renamed",
        |s| {
            let bytes = s.segment();
            let place = bytes.windows(7).position(|part| part == b"text:S1").unwrap();
            let mut bytes = bytes;
            bytes[place + 6] = b'9';
            s.put_segment(&bytes);
        },
        "damaged",
        Some(8),
        Out,
    ),
    ("delete in the middle", |s| s.edit(|all| drop(all.remove(8))), "damaged", Some(8), Out),
    ("cut tail by one", |s| s.edit(|all| drop(all.pop())), "truncated", Some(11), Out),
    (
        "cut tail by half a record",
        |s| s.edit(|all| all[11].truncate(20)),
        "truncated",
        Some(11),
        Out,
    ),
    ("cut all events", |s| s.edit(Vec::clear), "truncated", Some(0), Out),
    ("cut all bytes", |s| s.put_segment(b""), "truncated", Some(0), Out),
    ("swap neighbours", |s| s.edit(|all| all.swap(7, 8)), "damaged", Some(7), Out),
    ("swap first and last", |s| s.edit(|all| all.swap(1, 11)), "damaged", Some(1), Out),
    ("duplicate", |s| s.edit(|all| all.insert(8, all[8].clone())), "damaged", Some(9), Out),
    (
        "older event over newer",
        |s| s.edit(|all| all[11] = all[9].clone()),
        "damaged",
        Some(11),
        Out,
    ),
    (
        "cut, then a forged append in its place",
        |s| {
            s.edit(|all| {
                let last = all.last_mut().unwrap();
                let end = last.len();
                last[end - 32..].fill(0xff);
            });
        },
        "damaged",
        Some(11),
        Out,
    ),
    ("chained anew without the key", |s| s.put_segment(&chained_anew(s)), "damaged", Some(0), Out),
    (
        "replay from another namespace",
        |s| {
            let other = NewRun {
                namespace: Namespace::new("evil/default").unwrap(),
                ..new_run("text:S2", "v1")
            };
            let mut ledger = s.write(5);
            ledger.begin(other, &at(5)).unwrap();
            ledger.begin(new_run("text:S2", "v1"), &at(5)).unwrap();
            drop(ledger);
            // Genesis, 5 names, 6 events of runs, the other name, its run, and ours: the run over ours.
            s.edit(|all| all[14] = all[13].clone());
        },
        "damaged",
        Some(14),
        Out,
    ),
    (
        "replay from another ledger",
        |s| {
            let other = another_ledger_of(s);
            let theirs = fs::read(other.places().segments().join("0000000000000000.seg")).unwrap();
            s.edit(|all| all[9] = records(&theirs)[9].clone());
        },
        "damaged",
        Some(9),
        Out,
    ),
    (
        "another ledger's segment",
        |s| {
            let other = another_ledger_of(s);
            let theirs = fs::read(other.places().segments().join("0000000000000000.seg")).unwrap();
            s.put_segment(&theirs);
        },
        "swapped",
        None,
        Out,
    ),
    (
        "whole store rolled back",
        |s| {
            let aside = s.folder.path().join("aside");
            copy_folder(&s.places().store, &aside);
            run(&mut s.write(5), "text:S0", "v1", Outcome::Failed, 5);
            fs::remove_dir_all(&s.places().store).unwrap();
            copy_folder(&aside, &s.places().store);
        },
        "truncated",
        Some(12),
        Out,
    ),
    (
        "rolled back, then grown again elsewhere",
        |s| {
            // The attacker has a copy of everything, keys too, and lets a genuine writer go on from an old copy.
            let (store, state) = (&s.places().store, &s.places().state);
            let [old_store, old_state] = ["s", "t"].map(|name| s.folder.path().join(name));
            copy_folder(store, &old_store);
            copy_folder(state, &old_state);
            run(&mut s.write(5), "text:S0", "v1", Outcome::Failed, 5);
            let anchor = fs::read(s.anchor()).unwrap();
            let path = s.anchor();
            for (old, new) in [(&old_store, store), (&old_state, state)] {
                fs::remove_dir_all(new).unwrap();
                copy_folder(old, new);
            }
            run(&mut s.write(6), "text:S0", "v1", Outcome::Passed, 6);
            fs::write(path, anchor).unwrap();
        },
        "forked",
        Some(13),
        Out,
    ),
    ("segment deleted", |s| fs::remove_file(s.first_segment()).unwrap(), "truncated", Some(0), Out),
    (
        "store deleted",
        |s| fs::remove_dir_all(&s.places().store).unwrap(),
        "truncated",
        Some(0),
        Out,
    ),
    (
        "segment renamed",
        |s| {
            let to = s.places().segments().join("0000000000000001.seg");
            fs::rename(s.first_segment(), to).unwrap();
        },
        "passed",
        None,
        Out,
    ),
    ("anchor deleted", |s| fs::remove_file(s.anchor()).unwrap(), "unanchored", None, Out),
    ("anchor emptied", |s| fs::write(s.anchor(), b"").unwrap(), "unanchored", None, Out),
    ("anchor of zeros", |s| fs::write(s.anchor(), [0; 8192]).unwrap(), "unanchored", None, Out),
    (
        "another ledger swapped in",
        |s| {
            let other = another_ledger_of(s);
            fs::remove_dir_all(&s.places().store).unwrap();
            copy_folder(&other.places().store, &s.places().store);
        },
        "swapped",
        None,
        Out,
    ),
    (
        "register deleted",
        |s| fs::remove_dir_all(s.places().state.join("paths")).unwrap(),
        "passed",
        None,
        ByHand,
    ),
    (
        "register of zeros",
        |s| {
            for entry in fs::read_dir(s.places().state.join("paths")).unwrap() {
                fs::write(entry.unwrap().path(), [0; 100]).unwrap();
            }
        },
        "store_unreadable",
        None,
        ByHand,
    ),
    (
        "anchor and register deleted",
        |s| fs::remove_dir_all(&s.places().state).unwrap(),
        "unanchored",
        None,
        Out,
    ),
    (
        "segments behind a link",
        |s| {
            let aside = s.folder.path().join("aside");
            fs::rename(s.places().segments(), &aside).unwrap();
            std::os::unix::fs::symlink(&aside, s.places().segments()).unwrap();
        },
        "store_unreadable",
        None,
        ByHand,
    ),
    (
        "key of mode 0644",
        |s| {
            fs::set_permissions(s.key(), fs::Permissions::from_mode(0o644)).unwrap();
        },
        "key_unusable",
        None,
        ByHand,
    ),
    ("key missing", |s| fs::remove_file(s.key()).unwrap(), "key_unusable", None, Out),
    (
        "key of another ledger",
        |s| {
            let other = another_ledger_of(s);
            let theirs = other.places().key(other.read().unwrap().views().keys().ledger());
            fs::copy(theirs, s.key()).unwrap();
        },
        "key_unusable",
        None,
        ByHand,
    ),
    (
        "key with another root",
        |s| {
            let mut text = fs::read(s.key()).unwrap();
            let at = text.windows(5).position(|part| part == b"root ").unwrap() + 5;
            text[at] = if text[at] == b'0' { b'1' } else { b'0' };
            fs::write(s.key(), text).unwrap();
        },
        "unanchored",
        None,
        Out,
    ),
    (
        "a segment planted before the first",
        |s| {
            fs::write(s.places().segments().join("-.seg"), b"planted").unwrap();
        },
        "passed",
        None,
        Out,
    ),
    (
        "a cut, and then the genuine writer",
        |s| {
            s.edit(|all| drop(all.pop()));
            assert!(s.store.write(&s.writer(9)).is_err(), "a cut is not laundered");
        },
        "truncated",
        Some(11),
        Out,
    ),
    (
        "a swap, and back again, and another",
        |s| {
            s.edit(|all| all.swap(7, 8));
            assert_ne!(s.asks("text:S0", "v1"), "passed");
            s.edit(|all| all.swap(7, 8));
            assert_eq!(s.asks("text:S0", "v1"), "passed");
            s.edit(|all| all.swap(9, 10));
        },
        "damaged",
        Some(9),
        Out,
    ),
    (
        "a cut, a resolve, and the longer file back",
        |s| {
            let longer = s.segment();
            s.edit(|all| drop(all.pop()));
            s.store.resolve(&s.writer(9), Owner::YesFlag).unwrap();
            s.put_segment(&longer);
        },
        "forked",
        Some(11),
        Out,
    ),
    (
        "a cut, a resolve, a longer file yet",
        |s| {
            run(&mut s.write(7), "text:S3", "v1", Outcome::Passed, 7);
            let longer = s.segment();
            s.edit(|all| all.truncate(11));
            s.store.resolve(&s.writer(9), Owner::YesFlag).unwrap();
            s.put_segment(&longer);
        },
        "forked",
        Some(11),
        Out,
    ),
];

#[test]
fn every_change_is_refused_when_read_and_names_its_place() {
    let mut wrong = Vec::new();
    for (name, harm, code, event, way) in CASES {
        let scene = victim();
        harm(&scene);
        let found = match scene.store.read() {
            Ok(snapshot) => (ask(snapshot.views(), "text:S1", "v1", 9).reason.code(), None),
            Err(StoreError::Refused(refusal)) => {
                (actum_core::Reason::from(&refusal).code(), refusal.event())
            }
            Err(error) => (error.reason().code(), None),
        };
        if found != (*code, *event) {
            wrong.push(format!("{name}: {found:?}, expected {:?}", (code, event)));
        }
        let refused = *code != "passed";
        if refused && scene.store.write(&scene.writer(9)).is_ok() {
            wrong.push(format!("{name}: written to all the same"));
        }
        if refused && *way == Out {
            wrong.extend(no_way_out(&scene).map(|why| format!("{name}: {why}")));
        }
    }
    println!("{} cases", CASES.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Why the owner cannot go on; nothing if they can, and nothing from before counts as passed.
fn no_way_out(scene: &Scene) -> Option<String> {
    if let Err(error) = scene.store.resolve(&scene.writer(20), Owner::YesFlag) {
        return Some(format!(
            "cannot be resolved: {error}: {:?}",
            core::error::Error::source(&error)
        ));
    }
    let mut ledger = match scene.store.write(&scene.writer(21)) {
        Ok(ledger) => ledger,
        Err(error) => return Some(format!("resolved, and yet: {error}")),
    };
    run(&mut ledger, "text:after", "v1", Outcome::Passed, 21);
    drop(ledger);
    let old = ["text:S0", "text:S1", "text:S2"];
    let passes = old.into_iter().find(|subject| scene.asks(subject, "v1") == "passed");
    match (passes, scene.asks("text:after", "v1").as_str()) {
        (None, "passed") => None,
        (Some(subject), _) => Some(format!("{subject} still counts as passed")),
        (None, other) => Some(format!("a new run is `{other}`")),
    }
}

#[test]
fn a_bit_flipped_in_any_byte_is_found_and_its_event_named() {
    let scene = victim();
    let bytes = scene.segment();
    let mut starts: Vec<usize> = vec![HEADER];
    for record in records(&bytes) {
        starts.push(starts.last().unwrap() + record.len());
    }
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        scene.put_segment(&flipped);
        let error = scene.store.read().unwrap_err();
        let StoreError::Refused(refusal) = &error else { panic!("byte {place}: {error}") };
        let event = starts.iter().take_while(|start| **start <= place).count().saturating_sub(1);
        // A length that was changed may move the place; a header names the first event.
        let found = usize::try_from(refusal.event().unwrap()).unwrap();
        assert!(found == event || found == event + 1, "byte {place} of event {event}: {refusal}");
    }
    scene.put_segment(&bytes);
    assert_eq!(scene.asks("text:S0", "v1"), "passed");
}

#[test]
fn a_store_that_was_moved_or_copied_is_refused_in_its_new_place() {
    let scene = victim();
    for (name, is_move) in [("copied", false), ("moved", true)] {
        let mut places = scene.places().clone();
        places.store = places.project().parent().unwrap().join(name).join(".actum");
        fs::create_dir_all(places.project()).unwrap();
        if is_move {
            fs::rename(&scene.places().store, &places.store).unwrap();
        } else {
            copy_folder(&scene.places().store, &places.store);
        }
        let there = Store::new(places);
        assert_eq!(there.read().unwrap_err().reason().code(), "moved", "{name}");
        assert_eq!(there.write(&writer(9)).unwrap_err().reason().code(), "moved", "{name}");
        let here = if is_move { "truncated" } else { "passed" };
        assert_eq!(scene.asks("text:S0", "v1"), here, "{name}");
    }
}

#[test]
fn what_is_planted_beyond_the_head_is_moved_aside_and_never_believed() {
    let scene = victim();
    fs::write(scene.places().segments().join("00000000000000ff.seg"), b"planted").unwrap();
    let forged = [&scene.segment()[..], &[0xff; 200]].concat();
    scene.put_segment(&forged);
    assert_eq!(scene.asks("text:S0", "v1"), "passed");
    run(&mut scene.write(9), "text:N", "v1", Outcome::Passed, 9);
    assert_eq!(scene.asks("text:N", "v1"), "passed");
    let aside: u64 = fs::read_dir(scene.places().lost())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(aside >= 207, "{aside} bytes");
}

#[test]
fn a_rollback_of_store_and_anchor_is_refused_by_whoever_holds_the_head() {
    let scene = victim();
    let (store, state) = (&scene.places().store, &scene.places().state);
    let [old_store, old_state] = ["s", "t"].map(|name| scene.folder.path().join(name));
    copy_folder(store, &old_store);
    copy_folder(state, &old_state);
    let mut ledger = scene.write(5);
    run(&mut ledger, "text:S0", "v1", Outcome::Failed, 5);
    let mut snapshot = scene.store.read().unwrap();
    for (old, new) in [(&old_store, store), (&old_state, state)] {
        fs::remove_dir_all(new).unwrap();
        copy_folder(old, new);
    }
    let error = snapshot.refresh().unwrap_err();
    assert!(
        matches!(error, StoreError::Refused(Refusal::RolledBack { seen: 14, found: 12 })),
        "{error}"
    );
    assert_eq!(ask(snapshot.views(), "text:S0", "v1", 9).reason.code(), "failed");
    let refused = ledger.begin(new_run("text:N", "v1"), &at(9)).unwrap_err();
    assert!(format!("{refused:?}").contains("RolledBack"), "{refused:?}");
    let closed = ledger.begin(new_run("text:N", "v1"), &at(9)).unwrap_err();
    assert!(matches!(closed, actum_core::CommitError::Closed), "{closed:?}");
    drop(ledger);
    // A genuine writer then goes on from the old copy, past what the reader has seen: another story all the same.
    for second in 10..14 {
        run(&mut scene.write(second), "text:S0", "v1", Outcome::Passed, second);
    }
    let error = snapshot.refresh().unwrap_err();
    assert_eq!(error.reason().code(), "rolled_back", "{error}");
}

#[test]
fn a_store_that_is_deleted_after_a_lost_anchor_was_resolved_is_still_remembered() {
    let scene = victim();
    fs::remove_file(scene.anchor()).unwrap();
    scene.store.resolve(&scene.writer(9), Owner::YesFlag).unwrap();
    fs::remove_dir_all(&scene.places().store).unwrap();
    assert_eq!(scene.store.read().unwrap_err().reason().code(), "truncated");
    let again = scene.store.init(&scene.writer(10)).unwrap_err();
    assert!(matches!(again, StoreError::KnownHere { .. }), "{again}");
}

//! The encoding is injective, and nothing changed is believed: not a byte, not a cut, not an order.

use actum_core::{
    Digest, Event, Keyring, Kind, Layout, NameError, Position, RECORD_MAX, SEGMENT_HEADER_LEN,
    SubjectKind, SubjectName, Views, seal, segment_header,
};
use actum_testkit::memory::fold;
use actum_testkit::story::{OwnedEvent, event, event_of_its_own};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::{LEDGER, keys, seeds};

proptest! {
    #![proptest_config(seeds("proptest-regressions/encoding.txt"))]

    #[test]
    fn what_is_written_reads_back(owned in event()) {
        let event = owned.event();
        let fields = event.encode();
        prop_assert_eq!(Event::decode(event.kind(), &fields), Some(event));
    }

    #[test]
    fn two_events_never_share_their_bytes(one in event(), other in event()) {
        let bytes = |owned: &OwnedEvent| (owned.event().kind(), owned.event().encode());
        prop_assert_eq!(one.event() == other.event(), bytes(&one) == bytes(&other));
    }

    #[test]
    fn only_what_would_be_written_is_read(
        owned in event(), kind in select(Kind::ALL), edits in vec(edit(), 0..4),
    ) {
        let mut fields = owned.event().encode();
        for edit in &edits {
            edit.apply(&mut fields);
        }
        for kind in [kind, owned.event().kind()] {
            if let Some(event) = Event::decode(kind, &fields) {
                prop_assert_eq!(event.kind(), kind);
                prop_assert_eq!(event.encode(), fields.clone());
            }
        }
    }

    #[test]
    fn random_fields_are_read_as_they_are_or_not_at_all(
        kind in select(Kind::ALL), fields in vec(prop_oneof![0..8_u8, any::<u8>()], 0..120),
    ) {
        if let Some(event) = Event::decode(kind, &fields) {
            prop_assert_eq!(event.encode(), fields);
        }
    }

    #[test]
    fn two_lists_of_parts_never_share_a_digest(
        one in vec(vec(0..2_u8, 0..4), 0..4), other in vec(vec(0..2_u8, 0..4), 0..4),
    ) {
        prop_assert_eq!(digest("a", &one) == digest("a", &other), one == other);
        prop_assert_ne!(digest("a", &one), digest("b", &one));
    }

    #[test]
    fn a_boundary_that_moves_changes_the_digest(bytes in vec(any::<u8>(), 1..20), cut in any::<Index>()) {
        let whole = digest("a", std::slice::from_ref(&bytes));
        for at in 0..=bytes.len() {
            let parts = [bytes[..at].to_vec(), bytes[at..].to_vec()];
            prop_assert_ne!(digest("a", &parts), whole);
            let other = cut.index(bytes.len() + 1);
            let others = [bytes[..other].to_vec(), bytes[other..].to_vec()];
            prop_assert_eq!(digest("a", &parts) == digest("a", &others), at == other);
        }
    }

    #[test]
    fn a_changed_byte_is_found_in_its_event_or_before(
        ledger in ledger(), at in any::<Index>(), bit in 0..8_u32,
    ) {
        let mut bytes = ledger.bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(first_bad(&bytes) <= Some(ledger.event_at(at)), "byte {}", at);
    }

    #[test]
    fn a_cut_leaves_a_shorter_ledger_or_an_end_that_is_said(ledger in ledger(), at in any::<Index>()) {
        let at = at.index(ledger.bytes.len());
        let cut = &ledger.bytes[..at];
        // Nothing in a chain tells a cut between two events from an end: that is what the anchor is for.
        let whole = at == 0 || ledger.ends.contains(&at);
        let found = fold(cut, &keys());
        prop_assert_eq!(found.is_ok(), whole);
        if let Err(flaw) = found {
            prop_assert!(flaw.is_an_end());
            prop_assert_eq!(flaw.event(), ledger.event_at(at));
        }
    }

    #[test]
    fn two_events_that_change_places_are_found(ledger in ledger(), one in any::<Index>(), other in any::<Index>()) {
        let last = ledger.ends.len() - 1;
        let (one, other) = (one.index(last), other.index(last));
        let mut records: Vec<_> = ledger.ends.windows(2).map(|ends| &ledger.bytes[ends[0]..ends[1]]).collect();
        records.swap(one, other);
        let header = &ledger.bytes[..SEGMENT_HEADER_LEN];
        let bytes = [header, records.concat().as_slice()].concat();
        let expected = (one != other).then_some(one.min(other) as u64);
        prop_assert_eq!(first_bad(&bytes), expected);
    }

    #[test]
    fn an_event_that_is_left_out_or_doubled_is_found(ledger in ledger(), at in any::<Index>()) {
        let at = at.index(ledger.ends.len() - 1);
        let (start, end) = (ledger.ends[at], ledger.ends[at + 1]);
        let without = [&ledger.bytes[..start], &ledger.bytes[end..]].concat();
        // Without its newest event a chain is a shorter chain.
        let newest = at == ledger.ends.len() - 2;
        prop_assert_eq!(first_bad(&without), (!newest).then_some(at as u64));
        let doubled = [&ledger.bytes[..end], &ledger.bytes[start..]].concat();
        prop_assert_eq!(first_bad(&doubled), Some(at as u64 + 1));
    }

    #[test]
    fn random_bytes_hold_no_event(bytes in vec(any::<u8>(), 0..400)) {
        let segment = [segment_header(LEDGER, &Position::START).as_slice(), &bytes].concat();
        prop_assert_eq!(fold(&bytes, &keys()).is_ok(), bytes.is_empty());
        prop_assert_eq!(first_bad(&segment), (!bytes.is_empty()).then_some(0));
    }

    #[test]
    fn the_name_of_a_subject_reads_back_as_itself(text in "(file:|dir:|text:|git:)?[ ./a-b:é\u{301}\u{a0}\u{200b}HEAD]{0,12}") {
        if let Ok(name) = SubjectName::parse(&text) {
            prop_assert_eq!(SubjectName::parse(name.as_str()), Ok(name.clone()));
            prop_assert_eq!(SubjectName::new(name.kind(), name.rest()), Ok(name));
        }
    }
}

#[derive(Debug, Clone)]
enum Edit {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = || prop_oneof![0..8_u8, any::<u8>()];
    prop_oneof![
        (any::<Index>(), byte()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (any::<Index>(), byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        any::<Index>().prop_map(Edit::Remove),
    ]
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match *self {
            Self::Insert(at, byte) => bytes.insert(at.index(bytes.len() + 1), byte),
            Self::Set(..) | Self::Remove(_) if bytes.is_empty() => {}
            Self::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            Self::Remove(at) => {
                bytes.remove(at.index(bytes.len()));
            }
        }
    }
}

fn digest(domain: &str, parts: &[Vec<u8>]) -> Digest {
    Digest::of(domain, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A sound segment, and where its header and each of its events end.
#[derive(Debug, Clone)]
struct Sealed {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Sealed {
    /// The event that holds the byte at `at`; the header belongs to the first.
    fn event_at(&self, at: usize) -> u64 {
        self.ends.iter().filter(|end| **end <= at).count().saturating_sub(1) as u64
    }
}

/// A genesis and any events that mean something wherever they stand.
fn ledger() -> impl Strategy<Value = Sealed> {
    vec(event_of_its_own(), 1..12).prop_map(|events| {
        let keys = keys();
        let genesis = Event::Genesis { ledger: LEDGER };
        let events = [genesis].into_iter().chain(events.iter().map(OwnedEvent::event));
        sealed(&keys, events)
    })
}

fn sealed<'a>(keys: &Keyring, events: impl Iterator<Item = Event<'a>>) -> Sealed {
    let mut at = Position { incarnation: 1, ..Position::START };
    let mut sealed = Sealed {
        bytes: segment_header(keys.ledger(), &at).to_vec(),
        ends: vec![SEGMENT_HEADER_LEN],
    };
    for event in events {
        seal(keys, &mut at, 7, &event, &mut sealed.bytes).unwrap();
        sealed.ends.push(sealed.bytes.len());
    }
    sealed
}

/// The first bad event. What is read before it is the same as ever: that is checked on the way.
fn first_bad(bytes: &[u8]) -> Option<u64> {
    let keys = keys();
    let layout = Layout::read(bytes, &keys, &Position::START);
    let checks = vec![layout.check(0..layout.len())];
    let verified = layout.conclude(checks);
    let mut views = Views::new(keys.clone(), &[]);
    let admitted = views.admit(&verified);
    let flaw = admitted.flaw.map(|flaw| flaw.event());
    assert!(flaw.is_none_or(|event| event == views.position().count), "it ends where it is bad");
    flaw
}

#[test]
fn field_boundaries_are_part_of_the_event() {
    // The paper's `a || x || s || p`: "validate" + "X12" = "validateX" + "12" (E16).
    let named =
        |name: &'static [u8]| Event::Named { space: actum_core::Space::Step, number: 0, name };
    assert_ne!(named(b"validate").encode(), named(b"validateX").encode());
    let one = Digest::of("step", &[b"validate", b"X12"]);
    assert_ne!(one, Digest::of("step", &[b"validateX", b"12"]));
    assert_ne!(one, Digest::of("step", &[b"validateX12", b""]));
    assert_ne!(one, Digest::of("step", &[b"validateX12"]));
    assert_ne!(one, Digest::of("stepvalidate", &[b"X12"]));
}

#[test]
fn the_longest_record_is_read_and_no_longer_one() {
    let long = vec![7; actum_core::NAMED_MAX];
    let name = Event::Named { space: actum_core::Space::Tool, number: 0, name: &long };
    let sound = sealed(&keys(), [Event::Genesis { ledger: LEDGER }, name.clone()].into_iter());
    assert_eq!(first_bad(&sound.bytes), None);
    let mut longer = name.encode();
    longer.push(7);
    longer[5..7].copy_from_slice(&4201_u16.to_be_bytes());
    assert_eq!(Event::decode(Kind::Named, &longer), None);

    let mut bytes = sound.bytes;
    let at = sound.ends[1];
    bytes[at..at + 2].copy_from_slice(&8193_u16.to_be_bytes());
    bytes.resize(at + RECORD_MAX + 1, 0);
    assert_eq!(
        fold(&bytes, &keys()).unwrap_err().to_string(),
        "event 1: fields of 8193 bytes, at most 8192"
    );
}

#[test]
fn texts_have_limits_by_bytes() {
    let step = |count| actum_core::StepName::new(&"s".repeat(count)).map(drop);
    assert_eq!(step(128), Ok(()));
    assert_eq!(step(129).unwrap_err().to_string(), "the step has 129 bytes; the limit is 128");
    let subject =
        |count: usize| SubjectName::new(SubjectKind::Text, &"s".repeat(count - 5)).map(drop);
    assert_eq!(subject(1024), Ok(()));
    let text = "the subject has 1025 bytes; the limit is 1024";
    assert_eq!(subject(1025).unwrap_err().to_string(), text);
    let two_bytes = format!("text:{}", "é".repeat(510));
    assert_eq!(
        SubjectName::parse(&two_bytes).map(drop),
        Err(NameError::Long { what: "subject", length: 1025, limit: 1024 })
    );
}

#[test]
fn one_name_is_one_normalisation_and_no_more() {
    let name = |text: &str| SubjectName::parse(text).unwrap().as_str().to_owned();
    let same = [
        ("HEAD", "git:HEAD"),
        ("git:HEAD", "git:HEAD"),
        ("text:X01 ", "text:X01"),
        ("text:\u{a0}\u{3000}X01\n", "text:X01"),
        ("text:e\u{301}", "text:\u{e9}"),
        ("text:\u{212b}", "text:\u{c5}"),
        ("file:./src//lib.rs", "file:src/lib.rs"),
        ("dir:src/", "dir:src"),
        ("dir:", "the subject is empty"),
        ("dir:./", "dir:."),
        ("text:a:b", "text:a:b"),
    ];
    for (given, expected) in same {
        let found = SubjectName::parse(given);
        let found = found.map_or_else(|error| error.to_string(), |name| name.as_str().to_owned());
        assert_eq!(found, expected, "{given:?}");
    }
    // E7: look-alikes are other subjects.
    let apart = [
        "text:X01",
        "text:x01",
        "text:\u{425}01",
        "text:X0l",
        "text:XO1",
        "text:X 01",
        "text:X\u{200b}01",
        "text:X01.",
        "text:\u{ff38}01",
        "text:\u{202e}10X",
        "file:X01",
        "dir:X01",
    ];
    for (at, one) in apart.iter().enumerate() {
        for other in &apart[at + 1..] {
            assert_ne!(name(one), name(other));
        }
    }
}

#[test]
fn what_is_no_name_is_told_so() {
    let step = |text: &str| actum_core::StepName::new(text).unwrap_err().to_string();
    let namespace = |text: &str| actum_core::Namespace::new(text).unwrap_err().to_string();
    let session = |text: &str| actum_core::SessionName::new(text).unwrap_err().to_string();
    let subject = |text: &str| SubjectName::parse(text).unwrap_err().to_string();
    let said = [
        step(""),
        step("tests "),
        step("tests\0"),
        step("te\u{441}ts"),
        namespace("a b"),
        session("s\n"),
        session(&"s".repeat(1000)),
        subject("text:"),
        subject("text: \t "),
        subject("text:a\0b"),
        subject("text:a\u{1b}[2Jb"),
        subject("text:a\u{85}b"),
        subject("file:/etc/passwd"),
        subject("file:a/../../b"),
        subject("file:./ x"),
        subject("dir:x /."),
        subject("X12"),
        subject("TEXT:X12"),
        subject("head"),
        subject("git:main"),
        subject("\u{1b}[2J\0"),
        subject(&"x".repeat(2000)),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    the step is empty
    the step holds ' '; letters, digits and _ - . / : @ may stand there
    the step holds '\0'; letters, digits and _ - . / : @ may stand there
    the step holds 'с' (U+0441); letters, digits and _ - . / : @ may stand there
    the namespace holds ' '; letters, digits and _ - . / : @ may stand there
    the session holds '\n'; letters, digits and _ - . / : @ may stand there
    the session has 1000 bytes; the limit is 128
    the subject is empty
    the subject is empty
    the subject holds '\0'; control characters may not stand there
    the subject holds '\u{1b}'; control characters may not stand there
    the subject holds '\u{85}'; control characters may not stand there
    `/etc/passwd` is not inside the project; write a path relative to its root, without `..`
    `a/../../b` is not inside the project; write a path relative to its root, without `..`
    the subject holds ' '; white space may not stand at either end of a path
    the subject holds ' '; white space may not stand at either end of a path
    `X12` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    `TEXT:X12` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    `head` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    `git:main` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    `�[2J�` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    ");
}

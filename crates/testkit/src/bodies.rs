//! What fuzz targets run, one function a decoder: any bytes may come in, and only a broken promise panics. `fuzz/` calls them
//! with libFuzzer; `tests/it/corpus.rs` replays the kept files through them, and what mutation makes of those.

#![expect(clippy::missing_panics_doc, clippy::panic, reason = "a panic is the finding")]

use actum_core::{
    Event, Head, KeyFile, Keyring, Kind, Layout, LedgerId, Namespace, Position, SLOT_LEN,
    SessionName, StepName, SubjectName, Views, seal, segment_header,
};

use actum_core::policy::Policy;
use actum_serve::guard::{Answered, Message, ToolCall, definitions, texts};
use actum_serve::wire;
use actum_store::entries::{self, Known, State};
use actum_store::subject::Manifest;
use actum_store::{
    AcceptedPolicy, CONTENT_MAX, Register, arguments_to_json, call_from_json, call_to_json,
    waiting_call,
};

use crate::memory::fold;
use crate::vectors::Vector;

/// A body: its name, which is that of its target and of its folder of cases, and what it runs.
pub type Body = (&'static str, fn(&[u8]));

/// Every body. One more is one line here, and a target and a folder that a test will ask for.
pub const BODIES: &[Body] = &[
    ("segment", segment),
    ("events", events),
    ("anchor", anchor),
    ("keyfile", key_file),
    ("subject", subject),
    ("name", name),
    ("vector", vector),
    ("policy", policy),
    ("accepted", accepted),
    ("manifest", manifest),
    ("register", register),
    ("entries", entries),
    ("call", call),
    ("socket", socket),
    ("message", message),
];

/// Runs the body of this name.
pub fn run(body: &str, bytes: &[u8]) {
    let found = BODIES.iter().find(|(name, _)| *name == body);
    assert!(found.is_some(), "no body is named {body}");
    if let Some((_, body)) = found {
        body(bytes);
    }
}

/// A line between a client and a server: what is read of a call is what any reader behind us will read, and it leaves as a
/// message that is read the same again.
fn message(bytes: &[u8]) {
    let Ok(message) = Message::read(bytes) else { return };
    let same = message.with_params(message.params().unwrap_or_default());
    assert_eq!(same.as_bytes(), bytes, "what is not gated passes as it came");
    for piece in message.result().map(texts).unwrap_or_default() {
        assert!(piece.len() <= CONTENT_MAX);
    }
    drop(message.result().map(definitions));
    let Ok(call) = ToolCall::read("s", message.params()) else { return };
    let out = message.with_params(&call.outgoing(Answered::Nothing));
    let again = Message::read(out.as_bytes()).unwrap_or_else(|flaw| panic!("{out}: {flaw}"));
    assert_eq!(again.kind, message.kind);
    let read = ToolCall::read("s", again.params());
    let read = read.unwrap_or_else(|flaw| panic!("{out}: {flaw}"));
    assert_eq!(read.call.digest(), call.call.digest());
    // A reader that knows nothing of ours sees the same call.
    if let Ok(naive) = serde_json::from_str::<serde_json::Value>(&out) {
        let name = naive.pointer("/params/name").and_then(serde_json::Value::as_str);
        assert_eq!(name, Some(call.tool.as_str()));
    }
}

/// A policy file: read twice it is the same rules, or refused twice in the same words.
fn policy(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let rules = |policy: &Policy| {
        policy
            .commands()
            .map(|(name, rule)| (name.to_string(), rule.digest(&[])))
            .collect::<Vec<_>>()
    };
    match (Policy::parse(text), Policy::parse(text)) {
        (Ok(one), Ok(other)) => assert_eq!(rules(&one), rules(&other)),
        (Err(one), Err(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            assert!(one.line() >= 1 && one.column() >= 1, "a mistake has a place");
        }
        (Ok(_) | Err(_), Ok(_) | Err(_)) => panic!("the same text is a policy and is none"),
    }
}

/// An accepted document: whatever is read has a policy that may be in force.
fn accepted(bytes: &[u8]) {
    if let Ok(accepted) = AcceptedPolicy::from_bytes(bytes) {
        assert!(Policy::parse(accepted.text()).is_ok());
    }
}

/// The manifest of a subject: whatever is read is written back the same.
fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::from_bytes(bytes) {
        assert_eq!(manifest.to_bytes(), bytes);
        assert!(manifest.changes(&manifest).is_empty());
    }
}

/// The register of a path.
fn register(bytes: &[u8]) {
    let read = Register::parse(bytes);
    assert_eq!(read, Register::parse(bytes));
}

/// A file of each format: what is read keeps to its limits, has a name of its own, and is known to a ledger that has just this.
/// A line of the daemon's socket: one that is read is asked again as it was, and what is refused is said in a line.
fn socket(bytes: &[u8]) {
    match wire::read_request(bytes) {
        Err((_, failure)) => assert!(!failure.message.contains('\n'), "{failure}"),
        Ok(request) => {
            assert!(bytes.len() <= wire::LINE_MAX);
            let word = request.ask.word();
            assert!(wire::Ask::WORDS.contains(&word));
            let Ok(with) = request.ask.to_json() else { panic!("{word} has no JSON form") };
            let line = format!(
                "{{\"v\":{},\"id\":{},\"ask\":\"{word}\",\"with\":{with}}}",
                wire::VERSION,
                request.id
            );
            match wire::read_request(line.as_bytes()) {
                Ok(again) => {
                    assert_eq!((again.id, again.ask.word()), (request.id, word));
                    let same = again.ask.to_json().is_ok_and(|json| json.get() == with.get());
                    assert!(same, "{line}");
                }
                Err((_, failure)) => panic!("{failure}: {line}"),
            }
        }
    }
}

/// The arguments of a call: what is read is written in one way, and that is read as the same call again.
fn call(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let Ok(call) = call_from_json("bank/pay", text) else { return };
    let written = arguments_to_json(&call);
    let again = call_from_json("bank/pay", &written);
    assert!(again.as_ref().is_ok_and(|again| again.digest() == call.digest()), "{written}");
    assert_eq!(again.ok().as_ref(), Some(&call));
    assert_eq!(waiting_call(&call_to_json(&call)).as_ref(), Some(&call));
    assert_eq!(call.to_string().lines().count(), 1 + call.arguments().len(), "{call}");
}

fn entries(bytes: &[u8]) {
    for file in ["MEMORY.md", "notes.jsonl", "jobs.json", ".claude/loop.md"] {
        let found = entries::read(file, bytes);
        let mut names: Vec<&str> = Vec::new();
        for entry in &found.entries {
            assert!(!entry.text.is_empty() && entry.text.len() <= entries::ENTRY_BYTES_MAX);
            assert!(entry.name.len() <= actum_core::ENTRY_NAME_MAX);
            assert!(!entry.name.contains(char::is_control), "{}", entry.name);
            names.push(&entry.name);
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair.first() != pair.last()), "two share a name");
        for flaw in &found.flaws {
            assert!(!flaw.to_string().contains(char::is_control), "{flaw:?}");
        }
        let known: Vec<_> = (0..)
            .zip(&found.entries)
            .map(|(record, entry)| Known {
                name: entry.name.clone(),
                content: entry.content(),
                record,
            })
            .collect();
        let compared = entries::compare(&found.entries, &known);
        let states = known.iter().map(|known| State::Known { record: known.record });
        assert!(compared.states.into_iter().eq(states) && compared.gone.is_empty());
    }
}

/// The file of a segment: whatever verifies is what sealing its event again gives.
fn segment(bytes: &[u8]) {
    let keys = keys(0);
    let layout = Layout::read(bytes, &keys, &Position::START);
    let half = layout.len() / 2;
    let checks = vec![layout.check(half..layout.len()), layout.check(0..half)];
    let verified = layout.conclude(checks);
    let mut views = Views::new(keys.clone(), &[1, 2]);
    let admitted = views.admit(&verified);
    let count = views.position().count;
    assert!(admitted.flaw.as_ref().is_none_or(|flaw| flaw.event() == count));
    assert!(count == 0 || admitted.end <= bytes.len());

    let mut at = Position::START;
    let mut again = segment_header(keys.ledger(), &at).to_vec();
    for record in verified.records().take(usize::try_from(count).unwrap_or(usize::MAX)) {
        at.incarnation = record.header.incarnation;
        let kind = Kind::from_code(record.header.kind);
        let event = kind.and_then(|kind| Event::decode(kind, record.fields));
        let sealed =
            event.and_then(|event| seal(&keys, &mut at, record.header.time_ms, &event, &mut again));
        assert!(sealed.is_some(), "what was admitted can be written");
        assert_eq!(at.mac, record.mac);
    }
    assert!(count == 0 || bytes.get(..admitted.end) == Some(again.as_slice()));
    assert_eq!(at, *views.position());
}

/// A list of events without a key's protection, as `kind, length (u16), fields`: each decodes to what encodes to the same
/// bytes, and sealed in a row they are folded up to the first that means nothing, without a panic.
fn events(bytes: &[u8]) {
    let keys = keys(0);
    let mut at = Position { incarnation: 1, ..Position::START };
    let mut segment = segment_header(keys.ledger(), &at).to_vec();
    let mut rest = bytes;
    while let Some(([kind, high, low], tail)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (fields, tail) = tail.split_at(length);
        rest = tail;
        for kind in Kind::ALL {
            if let Some(event) = Event::decode(*kind, fields) {
                assert_eq!(event.kind(), *kind);
                assert_eq!(event.encode(), fields);
            }
        }
        let event = Kind::from_code(*kind).and_then(|kind| Event::decode(kind, fields));
        let Some(event) = event else { continue };
        let time_ms = at.count.wrapping_mul(u64::from(*low) << 32);
        if seal(&keys, &mut at, time_ms, &event, &mut segment).is_none() {
            return;
        }
    }
    match fold(&segment, &keys) {
        Ok(views) => {
            assert_eq!(
                *views.position(),
                Position { incarnation: views.position().incarnation, ..at }
            );
            assert!(views.open_runs().all(|run| views.is_open(run) && views.has_run(run)));
            assert!(views.policy().is_none_or(|policy| policy.event < at.count));
        }
        Err(flaw) => assert!(flaw.event() < at.count),
    }
}

/// An anchor file: a slot that opens is what sealing its head gives, and the newest is one of the slots.
fn anchor(bytes: &[u8]) {
    for active in 0..2 {
        let keys = keys(active);
        let mut opened = Vec::new();
        for slot in bytes.chunks(SLOT_LEN).take(2) {
            if let Some(head) = Head::open(slot, &keys) {
                assert!(head.generation >= active);
                assert_eq!(head.seal(&keys).as_deref(), Some(slot));
                opened.push(head);
            }
        }
        let newest = Head::newest(bytes, &keys);
        assert_eq!(newest.is_some(), !opened.is_empty());
        if let Some(newest) = newest {
            assert!(opened.contains(&newest));
            assert!(opened.iter().all(|head| head.counter <= newest.counter));
        }
    }
}

/// A key file: one that is read is written as it was, but for the case of its digits; an error tells no digits.
fn key_file(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match KeyFile::parse(text) {
        Ok(file) => {
            assert_eq!(*file.to_text(), text.to_ascii_lowercase());
            let keys = Keyring::new(&file);
            assert!(keys.key_id(file.active()).is_some());
        }
        Err(error) => {
            let said = error.to_string();
            let digits =
                |word: &&str| word.len() >= 12 && word.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(!said.split_whitespace().any(|word| digits(&word)), "{said}");
        }
    }
}

/// The name of a subject: one that is read reads back as itself, keeps to its limits, and a terminal obeys nothing in it.
fn subject(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match SubjectName::parse(text) {
        Ok(name) => {
            assert_eq!(SubjectName::parse(name.as_str()).as_ref(), Ok(&name));
            assert_eq!(SubjectName::new(name.kind(), name.rest()).as_ref(), Ok(&name));
            assert!(name.as_str().len() <= actum_core::SUBJECT_MAX);
            assert!(!name.as_str().contains(char::is_control));
            let path =
                matches!(name.kind(), actum_core::SubjectKind::File | actum_core::SubjectKind::Dir);
            assert!(!path || name.rest().split('/').all(|part| !matches!(part, "" | "..")));
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
    }
}

/// The names of steps, namespaces and sessions: taken as they are, or not at all.
fn name(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let step = StepName::new(text);
    if let Ok(step) = &step {
        assert_eq!(step.as_str(), text);
        assert!(text.is_ascii() && !text.contains(|c: char| c.is_control() || c == ' '));
        assert!((1..=actum_core::NAME_MAX).contains(&text.len()));
    }
    assert_eq!(step.is_ok(), Namespace::new(text).is_ok());
    assert_eq!(step.is_ok(), SessionName::new(text).is_ok());
}

/// The text of a vector: read, or refused with a reason. What is read is put to the decoder it is for.
fn vector(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(vector) = Vector::parse(text) else { return };
    for body in &vector.bodies {
        match vector.format.as_str() {
            "segment" => segment(body),
            "anchor" => anchor(body),
            _ => key_file(body),
        }
    }
}

/// The keys of the vectors: three generations, so that kept files verify.
fn keys(active: u32) -> Keyring {
    let roots = [
        "de434b30a4613221ce98f26a4fecd12c6963ec45e058868fe0b3aa0232bce720",
        "c30c266e143cb088a63098e432b4fbee8af377db3ff2d6586d60b7926d6d9a59",
        "29653a8f8fbef627c2f98c596820ecd9f0b33b5ede187cec94278360cfb82b45",
    ];
    let ledger = LedgerId::from_bytes([
        0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e,
        0x1f,
    ]);
    let head = format!("actum-key 1\nledger {ledger}\nactive {active}\n");
    let text = roots.iter().fold(head, |text, root| text + &format!("root {root}\n"));
    let file = KeyFile::parse(&text);
    #[expect(clippy::expect_used, reason = "the text stands above")]
    Keyring::new(&file.expect("a key file"))
}

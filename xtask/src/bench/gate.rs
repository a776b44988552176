//! What a decision of the gate costs without its commit: an entry recalled, a task fired, a call judged, in ledgers of many
//! records, beside the article's gate in plain Python (`bench/carryovergate_reference.py`).

use core::hint::black_box;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::process::Command;

use actum_core::policy::Policy;
use actum_core::{
    AskedCall, AskedEntry, AuthorName, Call, Caller, ChannelName, Content, Decision, Digest,
    EntryKind, Gate, InForce, Ledger, MemoryRequest, Namespace, NewEntry, NewObservation, NewStart,
    Owner, Presence, Purpose, Reading, Request, Seen, SessionName, Space, StepName, SubjectName,
    Surroundings, Value, content_digest, judge_act, judge_fire, judge_recall,
};
use serde_json::json;

use super::Size;
use super::ledgers::{Counted, in_memory};
use super::measure::{Samples, resident_bytes, wall};
use super::table::{Row, Table, thousands, time, times};
use crate::dice::Dice;
use crate::repository;

/// Decisions in one sample.
const DECISIONS: usize = 256;
const NOW_MS: u64 = 1_000;
const POLICY: &str = r#"version = 1
[tools."bank/pay"]
class = "effect"
binding = ["payee"]
kinds = { payee = "account" }
"#;
const OWNER: Caller = Caller::Owner(Owner::Terminal);
const TURN: &str = "Please pay 13 euros to DE89 3704 0044 0532 0130 00 today.";
/// What a record says; what it costs does not depend on it.
const ENTRY: &str = "The user prefers short answers, and reads mail in the morning.";

/// What the article's gate costs at one number of records, as CPU time.
struct Beside {
    records: f64,
    fire_ns: f64,
    read_ns: f64,
}

/// One ledger with so many records, and what is asked of it.
struct Scene {
    records: u32,
    ledger: Ledger<Counted>,
    session: u32,
}

/// The texts that there are, by their digests: kept by whoever has checked them.
struct Texts {
    turn: Digest,
}

impl Surroundings for Texts {
    fn content(&self, digest: &Digest) -> Content<'_> {
        let known = |text: &'static str| Content::Known(Cow::Borrowed(text));
        if *digest == self.turn { known(TURN) } else { known(ENTRY) }
    }

    fn subject(&self, _: &SubjectName) -> Result<Digest, String> {
        Err("there is none".to_owned())
    }
}

pub(super) fn decisions(size: &Size, table: &mut Table) -> Result<(), String> {
    let policy = Policy::parse(POLICY).map_err(|error| error.to_string())?;
    let commands: BTreeMap<StepName, Digest> = BTreeMap::new();
    let texts = Texts { turn: content_digest(TURN) };
    let force = Some(InForce { policy: &policy, programs: &[], commands: &commands });
    let gate = Gate { force, surroundings: &texts, presence: Presence::Somebody };
    let python = python(size.python_max)?;
    let mut scenes = Vec::new();
    for &records in size.runs.iter().rev() {
        let before = resident_bytes();
        let scene = Scene::new(records, &gate)?;
        if scenes.is_empty() {
            let each = (resident_bytes() - before) / f64::from(records);
            let records = thousands(&records.to_string());
            table.note(format!("memory: {each:.0} bytes a record, at {records} records"));
        }
        scenes.push((scene, [(); 4].map(|()| Samples::default())));
    }
    scenes.reverse();
    let mut dice = Dice(1);
    for _ in 0..size.samples {
        for (scene, [recalls, labels, fires, acts]) in &mut scenes {
            recalls.push(scene.recall(&gate, &mut dice, "note", Decision::Allow)?);
            labels.push(scene.recall(&gate, &mut dice, "page", Decision::Label)?);
            fires.push(scene.fire(&gate, &mut dice)?);
            acts.push(scene.act(&gate)?);
        }
    }
    let mut worst = [0.0_f64; 4];
    for (scene, samples) in &scenes {
        let beside =
            python.iter().find(|it| it.records.total_cmp(&f64::from(scene.records)).is_eq());
        let medians = [0, 1, 2, 3].map(|at| samples.get(at).map_or(f64::NAN, Samples::median));
        let [recall, label, fire, act] = medians;
        worst = [0, 1, 2, 3].map(|at| {
            let of = |all: &[f64; 4]| all.get(at).copied().unwrap_or_default();
            of(&worst).max(of(&medians))
        });
        let records = thousands(&scene.records.to_string());
        let mut row = |what: &str, ours: f64, python: Option<f64>| {
            table.row(Row {
                what: format!("{what}, {records} records"),
                ours: time(ours),
                beside: python
                    .map_or("not measured".to_owned(), |ns| format!("Python {}", time(ns))),
                ratio: python.map_or("-".to_owned(), |ns| times(ns / ours)),
                figures: json!({ "records": scene.records, "ns": ours, "python_ns": python }),
            });
        };
        row("recall, served", recall, None);
        row("recall, labelled", label, beside.map(|it| it.read_ns));
        row("fire", fire, beside.map(|it| it.fire_ns));
        row("act, a payee of the user's turn", act, None);
    }
    let [recall, label, fire, act] = worst;
    let found = format!("at most {}", time(recall.max(label).max(fire)));
    let met = recall.max(label).max(fire) < 1000.0;
    table.target("recall and fire under 1 µs without their commit", found, met);
    let found = format!("at most {}", time(act));
    table.target(
        "act under 1 µs without its commit, on a context of one turn",
        found,
        act < 1000.0,
    );
    Ok(())
}

impl Scene {
    /// Half of the records of the owner, half of an untrusted page; and a session with one turn of the user.
    fn new(records: u32, gate: &Gate<'_>) -> Result<Self, String> {
        let mut ledger = in_memory()?;
        let reading = Reading::wall(NOW_MS);
        let text = |error: actum_core::NameError| error.to_string();
        let session = SessionName::new("s").map_err(text)?;
        let page = SessionName::new("page").map_err(text)?;
        let open = |session: &SessionName, start| {
            let request = MemoryRequest::Open { session: session.clone(), start };
            Request::Memory { by: OWNER, request }
        };
        let opens = vec![open(&session, NewStart::Fresh), open(&page, NewStart::Unknown)];
        let failed = |error: actum_core::CommitError| error.to_string();
        ledger.commit(opens, &reading).map_err(failed)?;
        let turn = NewObservation {
            session,
            seen: Seen::Turn,
            channel: ChannelName::new("user").map_err(text)?,
            author: AuthorName::new("user").map_err(text)?,
            content: content_digest(TURN),
            entry: None,
            answers: None,
            carries: None,
        };
        ledger.observe(gate, OWNER, &turn, &reading).map_err(failed)?;
        let numbers: Vec<u32> = (0..records / 2).collect();
        for batch in numbers.chunks(128) {
            let requests = batch.iter().flat_map(|&number| {
                let owned = |kind, name| {
                    let entry = entry(kind, name, number);
                    MemoryRequest::Adopt { entry, releases: None, policy: None }
                };
                let untrusted = MemoryRequest::Remember {
                    session: page.clone(),
                    entry: entry(EntryKind::Memory, "page", number),
                    proven: None,
                    supersedes: None,
                    policy: None,
                };
                let kind = if number % 2 == 0 { EntryKind::Memory } else { EntryKind::Task };
                let name = if number % 2 == 0 { "note" } else { "task" };
                [owned(kind, name), untrusted]
            });
            let requests = requests.map(|request| Request::Memory { by: OWNER, request });
            for done in ledger.commit(requests.collect(), &reading).map_err(failed)? {
                done.map_err(|rejected| rejected.to_string())?;
            }
        }
        let number = ledger.views().number(Space::Session, b"s").ok_or("no session")?;
        Ok(Self { records, ledger, session: number })
    }

    /// Names of existing entries of one sort.
    fn names(&self, dice: &mut Dice, sort: &str) -> Vec<String> {
        let half = (self.records / 2).max(2);
        let numbers = (0..DECISIONS).map(|_| {
            let number = dice.below(half);
            match sort {
                "note" => number - number % 2,
                // The last number may be even.
                "task" if number.is_multiple_of(2) => number.saturating_sub(1).max(1),
                _ => number,
            }
        });
        numbers.map(|number| name(sort, number)).collect()
    }

    fn recall(
        &self,
        gate: &Gate<'_>,
        dice: &mut Dice,
        sort: &str,
        expected: Decision,
    ) -> Result<f64, String> {
        let (names, content) = (self.names(dice, sort), content_digest(ENTRY));
        let namespace = self.ledger.views().number(Space::Namespace, b"local/default");
        let (elapsed, wrong) = wall(|| {
            let mut wrong = 0;
            for name in &names {
                let asked = AskedEntry { namespace, name, text: ENTRY, content };
                let views = black_box(self.ledger.views());
                let judged = judge_recall(views, gate, black_box(&asked), Purpose::Reading, NOW_MS);
                wrong += usize::from(judged.decision() != expected);
            }
            black_box(wrong)
        });
        each(elapsed, wrong, "recalls")
    }

    fn fire(&self, gate: &Gate<'_>, dice: &mut Dice) -> Result<f64, String> {
        let (names, content) = (self.names(dice, "task"), content_digest(ENTRY));
        let namespace = self.ledger.views().number(Space::Namespace, b"local/default");
        let (elapsed, wrong) = wall(|| {
            let mut wrong = 0;
            for name in &names {
                let asked = AskedEntry { namespace, name, text: ENTRY, content };
                let views = black_box(self.ledger.views());
                let judged = judge_fire(views, gate, black_box(&asked), &[], NOW_MS);
                wrong += usize::from(judged.decision() != Decision::Allow);
            }
            black_box(wrong)
        });
        each(elapsed, wrong, "fires")
    }

    fn act(&self, gate: &Gate<'_>) -> Result<f64, String> {
        let arguments = [("payee".to_owned(), Value::from("DE89370400440532013000"))];
        let call = Call::new("bank/pay", BTreeMap::from(arguments));
        let call = call.map_err(|error| error.to_string())?;
        let session = Some(self.session);
        let (elapsed, wrong) = wall(|| {
            let mut wrong = 0;
            for _ in 0..DECISIONS {
                let asked = AskedCall { session, call: &call, call_id: None };
                let judged =
                    judge_act(black_box(self.ledger.views()), gate, black_box(&asked), NOW_MS);
                wrong += usize::from(judged.decision() != Decision::Allow);
            }
            black_box(wrong)
        });
        each(elapsed, wrong, "calls")
    }
}

fn each(elapsed: f64, wrong: usize, what: &str) -> Result<f64, String> {
    if wrong > 0 {
        return Err(format!("{wrong} {what} were decided wrongly"));
    }
    Ok(elapsed / f64::from(u32::try_from(DECISIONS).unwrap_or(u32::MAX)))
}

fn name(sort: &str, number: u32) -> String {
    format!("MEMORY.md#{sort}-{number:06}")
}

fn entry(kind: EntryKind, sort: &str, number: u32) -> NewEntry {
    let namespace = Namespace::default();
    NewEntry { namespace, kind, name: name(sort, number), content: content_digest(ENTRY) }
}

fn python(largest: u32) -> Result<Vec<Beside>, String> {
    let script = repository::root()?.join("bench/carryovergate_reference.py");
    let mut command = Command::new("python3");
    command.arg(&script).args(["bench", "--json", "--max", &largest.to_string()]);
    let output = command.output().map_err(|error| format!("python3 cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} ended with {}: {said}", script.display(), output.status));
    }
    let value: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let sizes = value.get("sizes").and_then(serde_json::Value::as_array);
    let beside = sizes.into_iter().flatten().map(|row| {
        let number = |key| row.get(key).and_then(serde_json::Value::as_f64);
        Some(Beside {
            records: number("records")?,
            fire_ns: number("fire_cpu_ns")?,
            read_ns: number("read_cpu_ns")?,
        })
    });
    let beside: Option<Vec<Beside>> = beside.collect();
    beside.ok_or_else(|| format!("{} printed something else", script.display()))
}

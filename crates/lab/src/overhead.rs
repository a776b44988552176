//! What a decision costs (the paper's table IV and figure 6, and the article's decision time): our grounding check, our verification
//! of a whole ledger and our gate, beside the paper's ledger and the article's gate in plain Python, in one run on one machine.
//! `cargo xtask bench` measures the same more closely and more of it.
#![expect(
    clippy::float_arithmetic,
    reason = "times and means; nothing here is hashed or decided on"
)]

use core::hint::black_box;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use actum_core::policy::Policy;
use actum_core::{
    AskedCall, AskedEntry, AuthorName, Caller, ChannelName, Check, Content, Digest, Done,
    EntryKind, Gate, InForce, KeyFile, Keyring, Layout, Ledger, LedgerId, MemoryRequest, Namespace,
    NewEnd, NewEntry, NewObservation, NewRun, NewStart, Outcome, Owner, Position, Presence,
    Purpose, Question, Reading, Request, Root, Seen, SessionName, Skip, Space, StepName,
    SubjectName, Surroundings, content_digest, judge_act, judge_fire, judge_recall, skip,
};
use serde::{Deserialize, Serialize};

use crate::seed::Dice;
use crate::segment::Segment;
use crate::stats::median;

/// The sizes of the paper's table IV, in events.
pub const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Samples of each figure.
const SAMPLES: usize = 41;
/// Checks in one sample.
const CHECKS: u32 = 512;
/// Requests in one commit.
const AT_ONCE: usize = 512;
const OWNER: Caller = Caller::Owner(Owner::Terminal);
static NO_COMMANDS: BTreeMap<StepName, Digest> = BTreeMap::new();

/// What one run of the measurements found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// One row for each size.
    pub rows: Vec<Row>,
    /// The gate, without its commit.
    pub decisions: Vec<Decision>,
    /// The version of Python that the references ran on; nothing where there was none.
    pub python: Option<String>,
}

/// A ledger of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its events.
    pub events: u32,
    /// Our grounding check, in ns.
    pub grounding_ns: f64,
    /// Our verification of the whole ledger, in ns.
    pub verify_ns: f64,
    /// Our bytes an event, all fields.
    pub bytes_an_event: f64,
    /// The paper's grounding check in Python, in ns of CPU.
    pub python_grounding_ns: Option<f64>,
    /// The paper's verification in Python, in ns of CPU.
    pub python_verify_ns: Option<f64>,
    /// The paper's bytes an event as JSON.
    pub python_bytes_an_event: Option<f64>,
}

/// One decision of the gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Which.
    pub what: String,
    /// Ours, in ns.
    pub ns: f64,
    /// The article's gate in Python, in ns of CPU, where it has such a decision.
    pub python_ns: Option<f64>,
}

/// Measures everything. `references` is the folder of the Python references; without it, or without Python, ours stands alone.
///
/// # Errors
/// If a measured check gives a wrong answer, or a reference runs and fails.
pub fn measure(
    references: Option<&Path>,
    largest: u32,
    mut told: impl FnMut(&str),
) -> Result<Overhead, String> {
    let sizes: Vec<u32> = SIZES.into_iter().filter(|size| *size <= largest).collect();
    told("the paper's ledger and the article's gate, in Python");
    let poem = reference(references, "poem_reference.py", largest)?;
    let gate = reference(references, "carryovergate_reference.py", largest)?;
    let version = |value: &serde_json::Value| Some(value.get("python")?.as_str()?.to_owned());
    let mut rows = Vec::new();
    for events in sizes {
        told(&format!("our ledger of {events} events"));
        rows.push(row(events, poem.as_ref())?);
    }
    told("our gate");
    let decisions = decisions(gate.as_ref())?;
    Ok(Overhead { rows, decisions, python: poem.as_ref().and_then(version) })
}

fn reference(
    folder: Option<&Path>,
    script: &str,
    largest: u32,
) -> Result<Option<serde_json::Value>, String> {
    let Some(path) = folder.map(|folder| folder.join(script)) else { return Ok(None) };
    let mut command = Command::new("python3");
    command.arg(&path).args(["bench", "--json", "--max", &largest.to_string()]);
    let Ok(output) = command.output() else { return Ok(None) };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} ended with {}: {said}", path.display(), output.status));
    }
    serde_json::from_slice(&output.stdout).map(Some).map_err(|error| error.to_string())
}

/// A figure of a reference, from its row of this size.
fn figure(value: Option<&serde_json::Value>, size: (&str, u32), key: &str) -> Option<f64> {
    let rows = value?.get("rows").or_else(|| value?.get("sizes"))?.as_array()?;
    let (name, count) = size;
    let row = rows
        .iter()
        .find(|row| row.get(name).and_then(serde_json::Value::as_u64) == Some(count.into()))?;
    row.get(key)?.as_f64()
}

fn keys() -> Keyring {
    Keyring::new(&KeyFile::new(LedgerId::from_bytes([7; 16]), Root::from_bytes([9; 32])))
}

fn said<T, E: core::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn row(events: u32, poem: Option<&serde_json::Value>) -> Result<Row, String> {
    let mut ledger = said(Ledger::create(keys(), Segment::default(), &Reading::wall(1)))?;
    let runs = (events / 2).max(1);
    let subject = |number: u32| said(SubjectName::parse(&format!("text:SRC-{number:06}")));
    let content = |name: &SubjectName| content_digest(name.as_str());
    let (namespace, step) = (Namespace::default(), said(StepName::new("validate_source"))?);
    let rule = Digest::plain(b"the rule");
    let header = ledger.journal().0.len();
    let numbers: Vec<u32> = (0..runs).collect();
    for batch in numbers.chunks(AT_ONCE) {
        let mut begins = Vec::new();
        for number in batch {
            let subject = subject(*number)?;
            begins.push(Request::Begin(NewRun {
                namespace: namespace.clone(),
                step: step.clone(),
                content: content(&subject),
                subject,
                arguments: Digest::plain(b"arguments"),
                tool: Digest::plain(b"tool"),
                tool_path: b"/usr/bin/validate".to_vec(),
                rule,
                session: said(SessionName::new("lab"))?,
            }));
        }
        let mut ends = Vec::new();
        for (number, done) in batch.iter().zip(said(ledger.commit(begins, &Reading::wall(2)))?) {
            let Ok(Done::Began(run)) = done else { return Err("a run did not begin".to_owned()) };
            let result = Digest::plain(b"ok");
            let content = content(&subject(*number)?);
            ends.push(Request::End(NewEnd {
                run,
                outcome: Outcome::Passed,
                code: 0,
                result,
                content,
            }));
        }
        said(ledger.commit(ends, &Reading::wall(3)))?;
    }
    let bytes = ledger.journal().0.len() - header;
    // Other subjects each time, so that a large ledger does not answer from the processor's cache alone.
    let mut dice = Dice::new(&["overhead", &events.to_string()]);
    let mut sought = Vec::new();
    for _ in 0..CHECKS {
        let subject = subject(u32::try_from(dice.below(numbers.len())).unwrap_or_default())?;
        sought.push((content(&subject), subject));
    }
    let mut asked = sought.iter().cycle();
    let grounding_ns = per_call(CHECKS, || {
        let Some((content, subject)) = asked.next() else { return false };
        let (namespace, step, rule) = (&namespace, &step, &rule);
        let question = Question { namespace, step, subject, content, rule, lifetime_ms: None };
        matches!(skip(black_box(ledger.views()), black_box(&question), 4), Skip::Allow(_))
    })?;
    let segment = &ledger.journal().0;
    let ring = keys();
    let verify_ns = per_call(1.max(2_000 / events), || {
        let layout = Layout::read(black_box(segment), &ring, &Position::START);
        let whole = 0..layout.len();
        let checks: Vec<Check> = vec![layout.check(whole)];
        black_box(layout.conclude(checks)).flaw().is_none()
    })?;
    let python = |key| figure(poem, ("events", events), key);
    Ok(Row {
        events,
        grounding_ns,
        verify_ns,
        bytes_an_event: mean(bytes, runs * 2),
        python_grounding_ns: python("grounding_cpu_ns"),
        python_verify_ns: python("verify_cpu_ns"),
        python_bytes_an_event: python("bytes_json"),
    })
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a ledger in memory")]
fn mean(bytes: usize, of: u32) -> f64 {
    (bytes as f64 * 10.0 / f64::from(of)).round() / 10.0
}

/// The median time of a call in ns; each has to answer yes.
fn per_call(calls: u32, mut call: impl FnMut() -> bool) -> Result<f64, String> {
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let (began, mut wrong) = (Instant::now(), 0);
        for _ in 0..calls {
            wrong += u32::from(!call());
        }
        let elapsed = began.elapsed();
        if wrong > 0 {
            return Err(format!("{wrong} of {calls} measured calls gave a wrong answer"));
        }
        // To a tenth, so that what is written can be read again as it was.
        samples.push((elapsed.as_secs_f64() * 1e10 / f64::from(calls)).round() / 10.0);
    }
    median(&samples).ok_or_else(|| "nothing was measured".to_owned())
}

const POLICY: &str = r#"version = 1
[tools."bank/pay"]
class = "effect"
binding = ["payee"]
kinds = { payee = "account" }
"#;
const TURN: &str = "Please pay 13 euros to DE89 3704 0044 0532 0130 00 today.";
const NOTE: &str = "The user prefers short answers, and reads mail in the morning.";

/// The texts that there are.
struct Texts;

impl Surroundings for Texts {
    fn content(&self, digest: &Digest) -> Content<'_> {
        let text = if *digest == content_digest(TURN) { TURN } else { NOTE };
        Content::Known(Cow::Borrowed(text))
    }

    fn subject(&self, _subject: &SubjectName) -> Result<Digest, String> {
        Err("there is none".to_owned())
    }
}

fn decisions(python: Option<&serde_json::Value>) -> Result<Vec<Decision>, String> {
    const RECORDS: u32 = 1_000;
    let policy = said(Policy::parse(POLICY))?;
    let force = Some(InForce { policy: &policy, programs: &[], commands: &NO_COMMANDS });
    let gate = Gate { force, surroundings: &Texts, presence: Presence::Somebody };
    let mut ledger = said(Ledger::create(keys(), Segment::default(), &Reading::wall(1)))?;
    let session = said(SessionName::new("s"))?;
    let by_owner = |request| Request::Memory { by: OWNER, request };
    let open = MemoryRequest::Open { session: session.clone(), start: NewStart::Fresh };
    said(ledger.record(by_owner(open), &Reading::wall(2)))?;
    let turn = NewObservation {
        session,
        seen: Seen::Turn,
        channel: said(ChannelName::new("user"))?,
        author: said(AuthorName::new("user"))?,
        content: content_digest(TURN),
        entry: None,
        answers: None,
        carries: None,
    };
    said(ledger.observe(&gate, OWNER, &turn, &Reading::wall(3)))?;
    let content = content_digest(NOTE);
    let name = |kind: EntryKind, number: u32| format!("{}#{number:06}", kind.word());
    let numbers: Vec<u32> = (0..RECORDS).collect();
    for batch in numbers.chunks(AT_ONCE) {
        let adopt = |number: &u32| {
            let kind = if number.is_multiple_of(2) { EntryKind::Memory } else { EntryKind::Task };
            let (namespace, name) = (Namespace::default(), name(kind, *number));
            let entry = NewEntry { namespace, kind, name, content };
            by_owner(MemoryRequest::Adopt { entry, releases: None, policy: None })
        };
        let done = said(ledger.commit(batch.iter().map(adopt).collect(), &Reading::wall(4)))?;
        if done.iter().any(Result::is_err) {
            return Err("a record was rejected".to_owned());
        }
    }
    let views = ledger.views();
    let namespace = views.number(Space::Namespace, Namespace::default().as_str().as_bytes());
    let (note, task) =
        (name(EntryKind::Memory, RECORDS / 2), name(EntryKind::Task, RECORDS / 2 + 1));
    let asked = |name| AskedEntry { namespace, name, text: NOTE, content };
    let allowed = |decision| decision == actum_core::Decision::Allow;
    let recall = per_call(CHECKS, || {
        allowed(
            judge_recall(black_box(views), &gate, &asked(&note), Purpose::Reading, 5).decision(),
        )
    })?;
    let unknown = per_call(CHECKS, || {
        let asked = asked("nobody knows this entry");
        let judged = judge_recall(black_box(views), &gate, &asked, Purpose::Reading, 5);
        judged.decision() == actum_core::Decision::Label
    })?;
    let fire = per_call(CHECKS, || {
        allowed(judge_fire(black_box(views), &gate, &asked(&task), &[], 5).decision())
    })?;
    let call = crate::defence::call("bank/pay", &[("payee", "DE89370400440532013000")]);
    let session = views.number(Space::Session, b"s");
    let act = per_call(CHECKS, || {
        let asked = AskedCall { session, call: &call, call_id: None };
        allowed(judge_act(black_box(views), &gate, &asked, 5).decision())
    })?;
    let python = |key| figure(python, ("records", RECORDS), key);
    let decision = |what: &str, ns, python_ns| Decision { what: what.to_owned(), ns, python_ns };
    Ok(vec![
        decision("recall of a known entry", recall, None),
        decision("recall of an untrusted entry", unknown, python("read_cpu_ns")),
        decision("fire of a task", fire, python("fire_cpu_ns")),
        decision("act on a payee of the user's turn", act, None),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_measures_and_every_measured_check_answers_rightly() {
        let found = measure(None, 100, |_| {}).unwrap();
        assert_eq!(found.rows.iter().map(|row| row.events).collect::<Vec<_>>(), [10, 100]);
        assert!(found.rows.iter().all(|row| row.grounding_ns > 0.0 && row.bytes_an_event > 50.0));
        assert_eq!(found.decisions.len(), 4);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Overhead>(&text).unwrap(), found);
    }
}

//! `actum log`: the events of the ledger, for a person or as JSON lines.

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::Duration;

use actum_core::{
    Digest, Event, Header, Kind, Outcome as RunOutcome, Revoked, Revokes, Space, Views,
};
use actum_store::read_clocks;
use serde_json::{Value, json};

use crate::args;
use crate::context::Context;
use crate::say::{self, Failure, Outcome, dim, foreign, known_code, note};
use crate::time::{local, utc};

use super::log_memory::remembered;

const POLL: Duration = Duration::from_millis(200);

pub(crate) fn run(context: &Context, args: &args::Log) -> Outcome<u8> {
    let filter = Filter::new(args)?;
    let mut snapshot = context.read()?;
    let mut reader = Reader::default();
    let mut kept = VecDeque::new();
    let last = args.last.unwrap_or(usize::MAX);
    let mut from = 0;
    let mut shown = 0;
    loop {
        snapshot.events(from, |header, event| {
            let entry = reader.entry(header, event, snapshot.views());
            if filter.admits(&entry) {
                kept.push_back(entry);
                if kept.len() > last {
                    kept.pop_front();
                }
            }
        })?;
        for entry in kept.drain(..) {
            shown += 1;
            let line = if context.say.json { entry.value.to_string() } else { entry.line() };
            if say::print(&format!("{line}\n")).is_err() {
                // Nobody reads it any more.
                return Ok(0);
            }
        }
        if !args.follow {
            if shown == 0 && last > 0 && !context.say.json {
                note("no event is like that");
            }
            return Ok(0);
        }
        from = snapshot.views().position().count;
        while !snapshot.refresh()? {
            thread::sleep(POLL);
        }
    }
}

/// Which events to show.
struct Filter {
    all: bool,
    step: Option<String>,
    subject: Option<String>,
    kind: Option<String>,
    outcome: Option<String>,
    since_ms: u64,
}

impl Filter {
    fn new(args: &args::Log) -> Outcome<Self> {
        known("kind", args.kind.as_deref(), Kind::ALL.iter().map(|kind| kind.word()))?;
        known("outcome", args.outcome.as_deref(), RunOutcome::ALL.iter().map(|it| it.word()))?;
        let age = args.since.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        Ok(Self {
            all: args.all || args.kind.is_some(),
            step: args.step.clone(),
            subject: args.subject.as_deref().map(|subject| {
                actum_core::SubjectName::parse(subject)
                    .map_or_else(|_| subject.to_owned(), |name| name.to_string())
            }),
            kind: args.kind.clone(),
            outcome: args.outcome.clone(),
            since_ms: age.map_or(0, |age| read_clocks().wall_ms.saturating_sub(age)),
        })
    }

    fn admits(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, key: &str| {
            wanted.is_none() || wanted.as_deref() == entry.value.get(key).and_then(Value::as_str)
        };
        (self.all || entry.kind != Kind::Named)
            && entry.time_ms >= self.since_ms
            && is(&self.step, "step")
            && is(&self.subject, "subject")
            && is(&self.kind, "kind")
            && is(&self.outcome, "outcome")
    }
}

fn known<'a>(what: &str, given: Option<&str>, words: impl Iterator<Item = &'a str>) -> Outcome<()> {
    let words: Vec<_> = words.collect();
    match given.filter(|given| !words.contains(given)) {
        None => Ok(()),
        Some(given) => Err(Failure::usage(format!("there is no {what} `{given}`"))
            .hint(format!("there are: {}", words.join(", ")))),
    }
}

/// An event as it is shown.
struct Entry {
    index: u64,
    time_ms: u64,
    kind: Kind,
    words: String,
    value: Value,
}

impl Entry {
    fn line(&self) -> String {
        let Self { index, time_ms, kind, words, .. } = self;
        let words = foreign(words);
        format!("{index:>6}  {}  {:<11}  {words}", dim(&local(*time_ms)), kind.word())
    }
}

/// Remembers what runs were about, so that their ends can say it.
#[derive(Default)]
struct Reader {
    runs: BTreeMap<u64, (String, String)>,
}

impl Reader {
    fn entry(&mut self, header: &Header, event: &Event<'_>, views: &Views) -> Entry {
        let (words, facts) = self.describe(header.index, event, views);
        let mut value = json!({
            "index": header.index,
            "time": utc(header.time_ms),
            "incarnation": header.incarnation,
            "kind": event.kind().word(),
        });
        if let (Value::Object(value), Value::Object(facts)) = (&mut value, facts) {
            value.extend(facts);
        }
        Entry { index: header.index, time_ms: header.time_ms, kind: event.kind(), words, value }
    }

    fn describe(&mut self, index: u64, event: &Event<'_>, views: &Views) -> (String, Value) {
        let text = |space, number| {
            views.name(space, number).map(|name| String::from_utf8_lossy(name).into_owned())
        };
        match event.clone() {
            Event::Genesis { ledger } => {
                (format!("ledger {ledger}"), json!({ "ledger": ledger.to_string() }))
            }
            Event::Named { space, number, name } => {
                let name = printable(space, name);
                let words = format!("{space} {number} is {name}");
                (words, json!({ "space": space.word(), "number": number, "name": name }))
            }
            Event::Policy { digest, owner } => (
                format!("policy {} accepted, owner known by {owner}", digest.short()),
                json!({ "digest": digest.to_string(), "owner": owner.word() }),
            ),
            Event::Began(began) => {
                let step = text(Space::Step, began.step).unwrap_or_default();
                self.runs.insert(index, (step.clone(), began.subject.to_owned()));
                let tool = views.name(Space::Tool, began.tool).unwrap_or_default();
                let words = format!("run {index}: {step} on {}", began.subject);
                (
                    words,
                    json!({
                        "run": index,
                        "step": step,
                        "subject": began.subject,
                        "content": began.subject_digest.to_string(),
                        "arguments": began.arguments.to_string(),
                        "tool": printable(Space::Tool, tool),
                        "rule": views.name(Space::Rule, began.rule).map(actum_core::hex),
                        "namespace": text(Space::Namespace, began.namespace),
                        "session": text(Space::Session, began.session),
                    }),
                )
            }
            Event::Ended(ended) => {
                let (step, subject) = self.about(ended.run);
                let (run, outcome) = (ended.run, ended.outcome);
                let code = known_code(outcome, ended.code);
                let shown =
                    code_in_words(code).map_or_else(String::new, |code| format!(" ({code})"));
                let words = format!("run {run}: {outcome}{shown}  {step} on {subject}");
                (
                    words,
                    json!({
                        "run": run,
                        "outcome": outcome.word(),
                        "code": code,
                        "step": step,
                        "subject": subject,
                        "content": ended.subject_digest.to_string(),
                        "result": ended.result.to_string(),
                    }),
                )
            }
            Event::Revoked(revoked) if revoked.what == Revokes::Run => self.revoked_run(&revoked),
            Event::Clock { before, now } => (
                format!("the clock jumped from {} to {}", local(before), local(now)),
                json!({ "before": utc(before), "now": utc(now) }),
            ),
            Event::Recovered { first, kept, dropped, digest } => (
                format!(
                    "{kept} unacknowledged events kept from {first} on, {dropped} bytes moved aside"
                ),
                json!({ "first": first, "kept": kept, "dropped": dropped, "digest": digest.to_string() }),
            ),
            Event::Resolved { cause, count, owner, .. } => (
                format!(
                    "the owner went on after: {cause} ({}; known by {owner})",
                    acknowledged(count)
                ),
                json!({ "cause": cause.word(), "acknowledged": count, "owner": owner.word() }),
            ),
            Event::Rotated { generation, owner, .. } => (
                format!("the next event is sealed with key {generation} (owner known by {owner})"),
                json!({ "generation": generation, "owner": owner.word() }),
            ),
            Event::Revoked(_)
            | Event::Opened(_)
            | Event::Observed(_)
            | Event::Wrote(_)
            | Event::Superseded(_)
            | Event::Quarantined(_)
            | Event::Released(_)
            | Event::Granted(_)
            | Event::Consented(_)
            | Event::Spent(_)
            | Event::Decided(_)
            | Event::Enrolled(_) => remembered(event, views),
        }
    }

    fn revoked_run(&self, revoked: &Revoked<'_>) -> (String, Value) {
        let Revoked { target: run, owner, reason, .. } = revoked;
        let (step, subject) = self.about(*run);
        (
            format!("run {run}: {reason} (owner known by {owner})  {step} on {subject}"),
            json!({
                "run": run,
                "reason": reason,
                "owner": owner.word(),
                "step": step,
                "subject": subject,
            }),
        )
    }

    fn about(&self, run: u64) -> (String, String) {
        self.runs.get(&run).cloned().unwrap_or_default()
    }
}

/// How many events a loss was measured against; without an anchor that is not known.
fn acknowledged(count: u64) -> String {
    match count {
        0 => "how many events had been acknowledged is not known".to_owned(),
        count => format!("{} had been acknowledged", say::count(count, "event")),
    }
}

/// As a person says it: `exit 3`, `signal 9`.
pub(crate) fn code_in_words(code: Option<i32>) -> Option<String> {
    code.map(|code| match code {
        ..0 => format!("signal {}", -i64::from(code)),
        0.. => format!("exit {code}"),
    })
}

fn printable(space: Space, name: &[u8]) -> String {
    match (space, name.split_at_checked(32)) {
        (Space::Tool, Some((digest, path))) => {
            let digest = digest.try_into().map(Digest::from_bytes);
            let digest = digest.map_or_else(|_| String::new(), |digest| digest.short());
            format!("{} ({digest})", String::from_utf8_lossy(path))
        }
        (Space::Rule, _) => actum_core::hex(name),
        (
            Space::Tool
            | Space::Namespace
            | Space::Step
            | Space::Session
            | Space::Channel
            | Space::Author
            | Space::Adapter
            | Space::Called,
            _,
        ) => String::from_utf8_lossy(name).into_owned(),
    }
}

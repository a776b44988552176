//! `actum ground` and `actum skip`: does the ledger back the claim?

use actum_core::policy::{NESTING_MAX, Step};
use actum_core::{
    Accepted, Answer, Digest, Evidence, Grounding, Question, Reason, Resolution, SessionName, Skip,
    SubjectName, ground, skip,
};
use actum_serve::wire;
use actum_store::subject::Taken;
use actum_store::{AcceptedPolicy, Snapshot, is_running, read_clocks};
use serde_json::{Value, json};

use crate::args;
use crate::cmd::log::code_in_words;
use crate::context::{Context, namespace};
use crate::door::{Desk, agent_role, session};
use crate::losses::Losses;
use crate::say::{Failure, Outcome, Say, dim, foreign, known_code, paint};
use crate::subject;
use crate::time::{ago, utc};

/// An answer with all that can be said about it.
struct Told {
    step: String,
    subject: String,
    grounding: Grounding,
    /// Beyond the reason's own sentence.
    detail: Option<String>,
    /// In place of the reason's own way out.
    way_out: Option<String>,
    changes: Vec<String>,
    basis: Option<Basis>,
    now_ms: u64,
}

/// What the owner did that an answer rests on, and how the owner was known. An answer that hid it would say too much.
struct Basis {
    project: String,
    policy: Accepted,
    losses: Option<Losses>,
    /// Bytes beyond the newest event that are not the ledger's.
    leftover_bytes: u64,
}

impl Basis {
    fn of(context: &Context, snapshot: &Snapshot) -> Outcome<Option<Self>> {
        let Some(&policy) = snapshot.views().policy() else { return Ok(None) };
        let project = context.project().display().to_string();
        let leftover_bytes = snapshot.leftover().map_or(0, |(bytes, _)| *bytes);
        Ok(Some(Self { project, policy, losses: Losses::of(snapshot)?, leftover_bytes }))
    }

    fn sentence(&self) -> String {
        let Accepted { event, owner, .. } = self.policy;
        let policy =
            format!("by the policy of event {event} ({owner}), in {}", foreign(&self.project));
        match &self.losses {
            None => policy,
            Some(losses) => {
                let Resolution { event, owner, .. } = losses.newest;
                let words = losses.words();
                format!("{policy}\n  after a loss: {words} (event {event}, {owner})")
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "project": self.project,
            "leftover_bytes": self.leftover_bytes,
            "policy": { "event": self.policy.event, "owner": self.policy.owner.word() },
            "resolved": self.losses.map(|losses| json!({
                "event": losses.newest.event,
                "cause": losses.newest.cause.word(),
                "owner": losses.newest.owner.word(),
                "lost": losses.lost,
            })),
        })
    }
}

pub(crate) fn ask(context: Outcome<Context>, args: &args::Ground, say: Say) -> Outcome<u8> {
    let told = told(context, args)?;
    say.line(&told.sentence());
    say.json(&told.to_json());
    Ok(told.grounding.answer().exit_code())
}

/// Algorithm 1: allow the skip if and only if a real run backs it.
pub(crate) fn decide(context: Outcome<Context>, args: &args::Skip, say: Say) -> Outcome<u8> {
    let recording = match (&context, &args.session) {
        (Ok(context), Some(name)) => Some((context.clone(), session(name)?)),
        (Ok(_) | Err(_), _) => None,
    };
    let told = told(context, &args.ground)?;
    let allowed = told.grounding.answer() == Answer::Grounded;
    let mut event = None;
    if let (true, Some((context, session))) = (allowed, recording) {
        // Judged once more, by whoever writes it down: a skip that is not recorded is not allowed.
        event = Some(record_skip(&context, args, &session)?);
    }
    let mut value = told.to_json();
    if let Value::Object(keys) = &mut value {
        keys.insert("skip".to_owned(), allowed.into());
        keys.insert("event".to_owned(), event.into());
    }
    say.json(&value);
    let decision = if allowed { "skip it" } else { "perform it" };
    say.line(&format!("{}\n{}", paint(told.grounding.answer(), decision), told.sentence()));
    Ok(told.grounding.answer().exit_code())
}

/// Writes down that a step was left out in a session, because it is grounded.
fn record_skip(context: &Context, args: &args::Skip, session: &SessionName) -> Outcome<u64> {
    let role = agent_role(&args.door, Some(session.as_str()))?;
    let mut desk = Desk::open(context, "skip", role)?;
    let (step, subject) = (args.ground.step.clone(), args.ground.subject.clone());
    let skipped = desk.ask(wire::Skip { session: session.to_string(), step, subject })?;
    skipped.event.ok_or_else(|| Failure::new(1, "the ledger does not back this skip any more"))
}

fn in_ms(lifetime: core::time::Duration) -> u64 {
    u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX)
}

fn told(context: Outcome<Context>, args: &args::Ground) -> Outcome<Told> {
    let refused = |failure: Failure| refuse(args, failure);
    // That there is no ledger is an answer as well.
    let context = &match context {
        Ok(context) => context,
        Err(failure) => return refused(failure),
    };
    let snapshot = match context.read() {
        Ok(snapshot) => snapshot,
        Err(failure) => return refused(failure),
    };
    let basis = match Basis::of(context, &snapshot) {
        Ok(basis) => basis,
        Err(failure) => return refused(failure),
    };
    let policy = match context.policy(&snapshot) {
        Ok(policy) => policy,
        Err(failure) => return refused(failure),
    };
    let asked = Asked { context, snapshot: &snapshot, policy: &policy };
    match asked.told(args, 0) {
        Ok(told) => Ok(Told { basis, ..told }),
        Err(failure) => refused(failure),
    }
}

/// One question in a ledger that can be believed, under a policy in force.
struct Asked<'a> {
    context: &'a Context,
    snapshot: &'a Snapshot,
    policy: &'a AcceptedPolicy,
}

impl Asked<'_> {
    /// A step of several steps is grounded if each of them is; the first that is not answers for it.
    fn told(&self, args: &args::Ground, depth: usize) -> Outcome<Told> {
        let named = actum_core::StepName::new(&args.step).ok();
        let found = named.as_ref().and_then(|name| self.policy.policy().step(name));
        let Some(Step::AllOf(all_of)) = found.filter(|_| depth < NESTING_MAX) else {
            return self.told_of_one(args);
        };
        let mut last = None;
        for part in all_of.parts() {
            let (step, subject) = (part.to_string(), args.subject.clone());
            let told = self.told(&args::Ground { step, subject }, depth + 1)?;
            if told.grounding.answer() != Answer::Grounded {
                let step = format!("{} (a part of {})", told.step, args.step);
                return Ok(Told { step, ..told });
            }
            last = Some(told);
        }
        let none = || Failure::usage(format!("`{}` has no parts", args.step));
        last.map(|told| Told { step: args.step.clone(), ..told }).ok_or_else(none)
    }

    fn told_of_one(&self, args: &args::Ground) -> Outcome<Told> {
        let Self { context, snapshot, policy } = *self;
        let (step, rule) = subject::step(policy.policy(), &args.step)?;
        let name = subject::name(rule, args.subject.as_deref())?;
        let taken = subject::now(context, &name).map_err(|what| {
            let reason = Some(Reason::SubjectUnreadable);
            Failure { exit: 12, reason, ..Failure::new(12, what) }
        })?;
        let now_ms = read_clocks().wall_ms;
        let grounding = look_up(snapshot, policy, &step, &name, &taken.digest, now_ms);
        let grounding = tell_running(context, grounding);
        let changes = what_changed(context, &grounding, &taken);
        let changes = changes.map(|changes| (subject::in_words(&changes), changes));
        Ok(Told {
            step: step.to_string(),
            subject: name.to_string(),
            grounding,
            detail: changes
                .as_ref()
                .map(|(words, _)| words.clone())
                .filter(|words| !words.is_empty()),
            way_out: None,
            changes: changes
                .map_or_else(Vec::new, |(_, all)| all.iter().map(ToString::to_string).collect()),
            basis: None,
            now_ms,
        })
    }
}

fn look_up(
    snapshot: &Snapshot,
    policy: &AcceptedPolicy,
    step: &actum_core::StepName,
    name: &SubjectName,
    content: &Digest,
    now_ms: u64,
) -> Grounding {
    let Some(rule) = policy.policy().step(step).and_then(Step::command) else {
        return Grounding { reason: Reason::NoPolicy, evidence: None };
    };
    let question = Question {
        namespace: &namespace(policy),
        step,
        subject: name,
        content,
        rule: &policy.rule_digest(rule),
        lifetime_ms: rule.lifetime().map(in_ms),
    };
    let grounding = ground(snapshot.views(), &question, now_ms);
    // The two doors of the core agree, or neither opens.
    match skip(snapshot.views(), &question, now_ms) {
        Skip::Allow(evidence) if grounding.evidence == Some(evidence) => grounding,
        Skip::Allow(_) => Grounding { reason: Reason::NeverRan, evidence: None },
        Skip::Perform(grounding) => grounding,
    }
}

fn tell_running(context: &Context, grounding: Grounding) -> Grounding {
    match (grounding.reason, grounding.evidence) {
        (Reason::Incomplete, Some(evidence)) if is_running(context.places(), evidence.run) => {
            Grounding { reason: Reason::Running, ..grounding }
        }
        _ => grounding,
    }
}

fn what_changed(
    context: &Context,
    grounding: &Grounding,
    taken: &Taken,
) -> Option<Vec<actum_store::subject::Change>> {
    let evidence = grounding.evidence.filter(|_| grounding.reason == Reason::Stale)?;
    subject::changes(context, &evidence.content, taken)
}

/// A ledger that cannot be believed is an answer too: refused. Other failures are not answers.
fn refuse(args: &args::Ground, failure: Failure) -> Outcome<Told> {
    let Some(reason) = failure.reason.filter(|reason| reason.answer() == Answer::Refused) else {
        return Err(failure);
    };
    Ok(Told {
        step: args.step.clone(),
        subject: args.subject.clone().unwrap_or_else(|| "HEAD".to_owned()),
        grounding: Grounding { reason, evidence: None },
        detail: Some(failure.message),
        way_out: failure.hint,
        changes: Vec::new(),
        basis: None,
        now_ms: 0,
    })
}

impl Told {
    fn sentence(&self) -> String {
        let Grounding { reason, evidence } = self.grounding;
        let answer = reason.answer();
        let head = format!(
            "{} ({}): {} on {}",
            paint(answer, answer.word()),
            reason.code(),
            foreign(&self.step),
            foreign(&self.subject)
        );
        let detail = foreign(self.detail.as_deref().unwrap_or(reason.sentence()));
        let run = evidence.map(|evidence| self.run_in_words(&evidence));
        let way_out = if answer == Answer::Grounded {
            String::new()
        } else {
            format!("\n  {}", foreign(self.way_out()))
        };
        let basis = self
            .basis
            .as_ref()
            .map_or_else(String::new, |basis| format!("\n  {}", dim(&basis.sentence())));
        match run {
            Some(run) if answer == Answer::Grounded => format!("{head}\n  {run}{basis}"),
            Some(run) => format!("{head}\n  {detail}\n  {run}{basis}{way_out}"),
            None => format!("{head}\n  {detail}{basis}{way_out}"),
        }
    }

    fn way_out(&self) -> &str {
        self.way_out.as_deref().unwrap_or_else(|| self.grounding.reason.way_out())
    }

    fn run_in_words(&self, evidence: &Evidence) -> String {
        let Evidence { run, outcome, code, at_ms, .. } = *evidence;
        let (Some(outcome), Some(at_ms)) = (outcome, at_ms) else {
            return format!("run {run} began and has not ended");
        };
        let code = code_in_words(code.and_then(|code| known_code(outcome, code)));
        let code = code.map_or_else(String::new, |code| format!(", {code}"));
        format!("run {run} {outcome}{code}, {}", ago(at_ms, self.now_ms))
    }

    fn to_json(&self) -> Value {
        let Grounding { reason, evidence } = self.grounding;
        json!({
            "answer": reason.answer().word(),
            "reason": reason.code(),
            "step": self.step,
            "subject": self.subject,
            "message": self.detail.as_deref().unwrap_or(reason.sentence()),
            "way_out": self.way_out(),
            "changes": self.changes,
            "basis": self.basis.as_ref().map(Basis::to_json),
            "evidence": evidence.map(|evidence| json!({
                "run": evidence.run,
                "ended": evidence.ended,
                "outcome": evidence.outcome.map(actum_core::Outcome::word),
                "code": evidence.outcome.zip(evidence.code).and_then(|(outcome, code)| known_code(outcome, code)),
                "at": evidence.at_ms.map(utc),
                "content": evidence.content.to_string(),
                "revoked": evidence.revoked,
            })),
        })
    }
}

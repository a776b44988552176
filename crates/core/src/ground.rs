//! The grounding check: does the ledger back the claim that a step was done for a subject? Also Algorithm 1 of the paper
//! (arXiv 2608.16032): skip the step only if it does.

use core::num::NonZeroU64;

use crate::canon::Digest;
use crate::clock::BACK_MAX_MS;
use crate::event::{Outcome, Space};
use crate::names::{Namespace, StepName, SubjectName};
use crate::reason::{Answer, Reason};
use crate::views::{Run, Views};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Whose runs count.
    pub namespace: &'a Namespace,
    /// Which step.
    pub step: &'a StepName,
    /// On which subject, by name.
    pub subject: &'a SubjectName,
    /// On which subject, by its content now.
    pub content: &'a Digest,
    /// The rule in force for the step.
    pub rule: &'a Digest,
    /// How long a pass counts; for ever without one.
    pub lifetime_ms: Option<u64>,
}

/// The run an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// The index of its `Began`.
    pub run: u64,
    /// The index of its `Ended`.
    pub ended: Option<u64>,
    /// How it went, if it ended.
    pub outcome: Option<Outcome>,
    /// Exit code, or minus the signal's number.
    pub code: Option<i32>,
    /// When it ended, by the ledger's time in ms.
    pub at_ms: Option<u64>,
    /// The content it ran on.
    pub content: Digest,
    /// The number of the binary it ran.
    pub tool: u32,
    /// The event that revoked it.
    pub revoked: Option<u64>,
}

/// An answer with its reason and the run it rests on. They travel together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grounding {
    /// Why.
    pub reason: Reason,
    /// The newest run, where there is one.
    pub evidence: Option<Evidence>,
}

impl Grounding {
    /// The answer the reason leads to.
    pub const fn answer(&self) -> Answer {
        self.reason.answer()
    }
}

/// What Algorithm 1 says of an agent's wish to skip a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// A real run backs the claim.
    Allow(Evidence),
    /// Nothing does: perform the step.
    Perform(Grounding),
}

/// Answers for the newest run of the step on the subject. A map lookup: nothing is read, nothing is verified again.
pub fn ground(views: &Views, question: &Question<'_>, now_ms: u64) -> Grounding {
    let Question { namespace, step, subject, content, rule, lifetime_ms } = *question;
    let (step, subject) = (step.as_str(), subject.as_str());
    ground_at(views, &Asked { namespace, step, subject, content, rule, lifetime_ms }, now_ms)
}

/// A question by the bytes of its names, which need not be names that a person can give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) step: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) content: &'a Digest,
    pub(crate) rule: &'a Digest,
    pub(crate) lifetime_ms: Option<u64>,
}

pub(crate) fn ground_at(views: &Views, asked: &Asked<'_>, now_ms: u64) -> Grounding {
    let Some(run) = newest(views, asked) else {
        return Grounding { reason: Reason::NeverRan, evidence: None };
    };
    Grounding { reason: judge(views, run, asked, now_ms), evidence: Some(evidence(views, run)) }
}

/// Algorithm 1: skip if and only if grounded, otherwise perform.
pub fn skip(views: &Views, question: &Question<'_>, now_ms: u64) -> Skip {
    let grounding = ground(views, question, now_ms);
    match (grounding.answer(), grounding.evidence) {
        (Answer::Grounded, Some(evidence)) => Skip::Allow(evidence),
        (Answer::Grounded, None)
        | (Answer::Ungrounded | Answer::Contradicted | Answer::Refused, _) => {
            Skip::Perform(grounding)
        }
    }
}

fn newest<'a>(views: &'a Views, asked: &Asked<'_>) -> Option<&'a Run> {
    let namespace = views.number(Space::Namespace, asked.namespace.as_str().as_bytes())?;
    let step = views.number(Space::Step, asked.step.as_bytes())?;
    views.newest(namespace, step, asked.subject)
}

/// The negative answers first: a pass has to get past all of them.
fn judge(views: &Views, run: &Run, asked: &Asked<'_>, now_ms: u64) -> Reason {
    if run.revoked.is_some() {
        return Reason::Revoked;
    }
    let Some(end) = run.end else { return Reason::Incomplete };
    if let Some(reason) = negative(end.outcome) {
        return reason;
    }
    if run.subject != *asked.content {
        return Reason::Stale;
    }
    if let Some(reason) =
        views.overtaken_by(run.began).and_then(|overtaken| negative(overtaken.end.outcome))
    {
        return reason;
    }
    if run.began < views.void_before() {
        return Reason::Voided;
    }
    if views.name(Space::Rule, run.rule) != Some(asked.rule.as_bytes()) {
        return Reason::RuleChanged;
    }
    let Some(lifetime_ms) = asked.lifetime_ms else { return Reason::Passed };
    let went_back = now_ms.saturating_add(BACK_MAX_MS) < views.time_ms();
    if went_back || views.distrusted_since().is_some() {
        return Reason::ClockJumped;
    }
    let age_ms = now_ms.max(views.time_ms()).saturating_sub(end.at_ms);
    if age_ms > lifetime_ms { Reason::Expired } else { Reason::Passed }
}

/// What an outcome says against a claim; nothing for a pass.
const fn negative(outcome: Outcome) -> Option<Reason> {
    match outcome {
        Outcome::Passed => None,
        Outcome::Failed => Some(Reason::Failed),
        Outcome::Errored => Some(Reason::Errored),
        Outcome::Denied => Some(Reason::Denied),
        Outcome::TimedOut => Some(Reason::TimedOut),
        Outcome::SubjectChanged => Some(Reason::SubjectChanged),
    }
}

/// The run that the answer rests on: the newest, or the one that went wrong beside it.
fn evidence(views: &Views, run: &Run) -> Evidence {
    let passed = run.end.is_some_and(|end| end.outcome == Outcome::Passed);
    let overtaken = views.overtaken_by(run.began).filter(|_| passed);
    let (began, end) =
        overtaken.map_or((run.began, run.end), |overtaken| (overtaken.began, Some(overtaken.end)));
    Evidence {
        run: began,
        ended: end.map(|end| end.event),
        outcome: end.map(|end| end.outcome),
        code: end.map(|end| end.code),
        at_ms: end.map(|end| end.at_ms),
        content: run.subject,
        tool: run.tool,
        revoked: run.revoked.map(NonZeroU64::get),
    }
}

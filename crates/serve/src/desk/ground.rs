//! The grounding check by the names a person gives: which step, which subject, and what the ledger says of it.

use core::time::Duration;

use actum_core::policy::{NESTING_MAX, Policy, Rule, Step};
use actum_core::{
    Answer, Digest, Evidence, Grounding, NameError, Namespace, Question, Reason, Skip, StepName,
    SubjectKind, SubjectName, Views, ground, skip,
};
use actum_store::{AcceptedPolicy, Places, is_running};

use super::job::{misused, named};
use super::things::subject_now;
use crate::wire::{self, Failure, FailureCode, Grounded};

/// What a grounding check is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claims<'a> {
    pub(crate) views: &'a Views,
    pub(crate) policy: Option<&'a AcceptedPolicy>,
    pub(crate) places: &'a Places,
    pub(crate) now_ms: u64,
}

/// A question with its names and digests settled.
#[derive(Debug)]
pub(crate) struct Settled {
    namespace: Namespace,
    step: StepName,
    subject: SubjectName,
    content: Digest,
    rule: Digest,
    lifetime_ms: Option<u64>,
}

impl Settled {
    pub(crate) const fn question(&self) -> Question<'_> {
        Question {
            namespace: &self.namespace,
            step: &self.step,
            subject: &self.subject,
            content: &self.content,
            rule: &self.rule,
            lifetime_ms: self.lifetime_ms,
        }
    }
}

impl Claims<'_> {
    /// A step of several steps is grounded if each of them is; the first that is not answers for it.
    pub(crate) fn told(&self, step: &str, subject: Option<&str>) -> Result<Grounded, Failure> {
        self.told_at(step, subject, 0)
    }

    fn told_at(
        &self,
        step: &str,
        subject: Option<&str>,
        depth: usize,
    ) -> Result<Grounded, Failure> {
        let Some(policy) = self.policy else { return Ok(refused(step, subject, Reason::NoPolicy)) };
        let known = StepName::new(step).ok();
        let found = known.as_ref().and_then(|name| policy.policy().step(name));
        let Some(Step::AllOf(all_of)) = found.filter(|_| depth < NESTING_MAX) else {
            return self.told_of_one(policy, step, subject);
        };
        let mut last = None;
        for part in all_of.parts() {
            let told = self.told_at(part.as_str(), subject, depth + 1)?;
            if told.answer != Answer::Grounded {
                let step = format!("{} (a part of {step})", told.step);
                return Ok(Grounded { step, ..told });
            }
            last = Some(told);
        }
        let none = || misused(format!("`{step}` has no parts"));
        last.map(|told| Grounded { step: step.to_owned(), ..told }).ok_or_else(none)
    }

    fn told_of_one(
        &self,
        policy: &AcceptedPolicy,
        step: &str,
        subject: Option<&str>,
    ) -> Result<Grounded, Failure> {
        let settled = match self.settle(policy, step, subject)? {
            Ok(settled) => settled,
            Err(unreadable) => {
                let told = refused(step, subject, Reason::SubjectUnreadable);
                return Ok(Grounded { detail: Some(unreadable), ..told });
            }
        };
        let question = settled.question();
        let mut grounding = ground(self.views, &question, self.now_ms);
        // The two doors of the core agree, or neither opens.
        grounding = match skip(self.views, &question, self.now_ms) {
            Skip::Allow(evidence) if grounding.evidence == Some(evidence) => grounding,
            Skip::Allow(_) => Grounding { reason: Reason::NeverRan, evidence: None },
            Skip::Perform(grounding) => grounding,
        };
        if let (Reason::Incomplete, Some(evidence)) = (grounding.reason, grounding.evidence)
            && is_running(self.places, evidence.run)
        {
            grounding.reason = Reason::Running;
        }
        Ok(Grounded {
            answer: grounding.answer(),
            reason: grounding.reason,
            step: settled.step.to_string(),
            subject: settled.subject.to_string(),
            detail: None,
            evidence: grounding.evidence.map(|it| evidence_of(&it)),
        })
    }

    /// The question with everything settled; inside, why the subject cannot be read.
    pub(crate) fn settle(
        &self,
        policy: &AcceptedPolicy,
        step: &str,
        subject: Option<&str>,
    ) -> Result<Result<Settled, String>, Failure> {
        let (step, rule) = step_of(policy.policy(), step)?;
        let subject = subject_of(rule, subject)?;
        let taken = match subject_now(self.places, &subject) {
            Ok(taken) => taken,
            Err(unreadable) => return Ok(Err(unreadable)),
        };
        Ok(Ok(Settled {
            namespace: policy.policy().namespace().clone(),
            step,
            subject,
            content: taken.digest,
            rule: policy.rule_digest(rule),
            lifetime_ms: rule.lifetime().map(in_ms),
        }))
    }
}

fn in_ms(lifetime: Duration) -> u64 {
    u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX)
}

fn refused(step: &str, subject: Option<&str>, reason: Reason) -> Grounded {
    Grounded {
        answer: reason.answer(),
        reason,
        step: step.to_owned(),
        subject: subject.unwrap_or("HEAD").to_owned(),
        detail: None,
        evidence: None,
    }
}

fn evidence_of(evidence: &Evidence) -> wire::Evidence {
    let Evidence { run, ended, outcome, code, at_ms, .. } = *evidence;
    wire::Evidence { run, ended, outcome, code, at_ms }
}

/// The step and its rule, by the name a person gave. Only a step that is performed by a command has one here.
///
/// # Errors
/// [`FailureCode::Usage`].
pub fn step_of<'a>(policy: &'a Policy, name: &str) -> Result<(StepName, &'a Rule), Failure> {
    let step = named(StepName::new(name))?;
    let Some(found) = policy.step(&step) else {
        let known: Vec<_> = policy.steps().map(|(name, _)| name.to_string()).collect();
        let hint = if known.is_empty() {
            "the accepted policy has no steps; add some to actum.toml, then `actum policy accept`"
                .to_owned()
        } else {
            format!("the accepted policy has: {}", known.join(", "))
        };
        return Err(misused(format!("there is no step `{step}`")).hint(hint));
    };
    let (message, hint) = match found {
        Step::Command(rule) => return Ok((step, rule)),
        Step::Tool(tool) => (
            format!("`{step}` is a tool step: it is performed by calling `{}`", tool.tool()),
            "an adapter records such calls; no command performs it".to_owned(),
        ),
        Step::AllOf(all_of) => {
            let parts: Vec<_> = all_of.parts().iter().map(StepName::as_str).collect();
            let hint = format!("name one of them: {}", parts.join(", "));
            (format!("`{step}` is several steps"), hint)
        }
    };
    Err(misused(message).hint(hint))
}

/// The subject a person named, of the kind the rule wants.
///
/// # Errors
/// [`FailureCode::Usage`].
pub fn subject_of(rule: &Rule, given: Option<&str>) -> Result<SubjectName, Failure> {
    let kind = rule.subject();
    if let Some(fixed) = rule.fixed_subject() {
        return one_subject(fixed, given);
    }
    let refuse = |message: String| misused(message).hint(format!("write it as {}", form(kind)));
    let Some(given) = given else {
        if kind == SubjectKind::Git {
            return SubjectName::parse("HEAD").map_err(|error| refuse(error.to_string()));
        }
        return Err(refuse("which subject?".to_owned()));
    };
    match SubjectName::parse(given) {
        Ok(name) if name.kind() == kind => Ok(name),
        Ok(name) => {
            let (is, wants) = (name.kind().word(), kind.word());
            Err(refuse(format!("`{given}` is a {is} subject; this step wants {wants}")))
        }
        // Without a kind it is of the kind that the rule wants.
        Err(NameError::Kind { .. }) if kind != SubjectKind::Git => {
            SubjectName::new(kind, given).map_err(|error| refuse(error.to_string()))
        }
        Err(error) => Err(refuse(error.to_string())),
    }
}

/// The one subject of a step, whether it was named or not.
fn one_subject(fixed: &SubjectName, given: Option<&str>) -> Result<SubjectName, Failure> {
    let same = |given: &str| {
        SubjectName::parse(given).is_ok_and(|name| name == *fixed)
            || SubjectName::new(fixed.kind(), given).is_ok_and(|name| name == *fixed)
    };
    match given.filter(|given| !same(given)) {
        None => Ok(fixed.clone()),
        Some(given) => Err(misused(format!("`{given}` is not the subject of this step"))
            .hint(format!("its one subject is {fixed}"))),
    }
}

const fn form(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::Git => "HEAD: the work tree as it lies on disk",
        SubjectKind::File => "file:PATH, inside the project",
        SubjectKind::Dir => "dir:PATH, inside the project",
        SubjectKind::Text => "text:ANYTHING",
    }
}

/// A skip that cannot be allowed any more, for it could not be written down.
pub(crate) fn not_backed() -> Failure {
    Failure::new(FailureCode::Rejected, "the ledger does not back this skip any more")
}

//! Which steps a call needs, and which it performs. A step of a tool is on the value of an argument; what else the policy's
//! verifications compare is a subject of its own, so that a pass on a payee says nothing of the payee under another name.

use std::collections::BTreeSet;

use super::{Gate, InForce};
use crate::canon::{Digest, Writer};
use crate::ground::{Asked, Grounding, ground_at};
use crate::names::{ArgumentName, StepName, SubjectKind, SubjectName, ToolName};
use crate::policy::{Requirement, Step, ToolStep, Verification};
use crate::reason::{Answer, Reason};
use crate::rule::Rule;
use crate::value::{Call, Value};
use crate::views::Views;

/// The name under which a call is recorded that is no step: none that a policy can give.
const CALL_STEP: &str = "(call)";

/// A required step that is not grounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Which.
    pub step: StepName,
    /// On what, as far as that is known.
    pub subject: String,
    /// What the ledger says.
    pub reason: Reason,
    /// The call that performs it, if policy says that a missing step is performed and a tool does.
    pub perform: Option<Call>,
}

/// A run that a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) step: Box<str>,
    pub(crate) subject: String,
    pub(crate) content: Digest,
    pub(crate) rule: Digest,
}

/// The first required step that is not grounded.
pub(super) fn missing(
    views: &Views,
    gate: &Gate<'_>,
    force: InForce<'_>,
    call: &Call,
    now_ms: u64,
) -> Option<Missing> {
    let rule = force.policy.tool_named(call.tool());
    let desk = Desk { views, gate, force, call, now_ms };
    rule.requires().iter().find_map(|requirement| desk.lacks(requirement.step(), requirement, 0))
}

struct Desk<'d> {
    views: &'d Views,
    gate: &'d Gate<'d>,
    force: InForce<'d>,
    call: &'d Call,
    now_ms: u64,
}

impl Desk<'_> {
    fn lacks(&self, name: &StepName, needs: &Requirement, depth: usize) -> Option<Missing> {
        let lacking = |subject: &str, reason| {
            let perform = None;
            let (step, subject) = (name.clone(), subject.to_owned());
            Some(Missing { step, subject, reason, perform })
        };
        if depth > crate::policy::NESTING_MAX {
            return lacking("", Reason::NeverRan);
        }
        let Some(step) = self.force.policy.step(name) else { return lacking("", Reason::NeverRan) };
        match step {
            Step::AllOf(all_of) => {
                all_of.parts().iter().find_map(|part| self.lacks(part, needs, depth + 1))
            }
            Step::Command(rule) => {
                let subject = match (rule.fixed_subject(), rule.subject()) {
                    (Some(fixed), _) => Some(fixed.clone()),
                    (None, SubjectKind::Git) => SubjectName::parse("HEAD").ok(),
                    (None, kind @ (SubjectKind::File | SubjectKind::Dir | SubjectKind::Text)) => {
                        let named = needs.subject().and_then(|name| self.argument(name));
                        named.and_then(|value| match value {
                            Value::Text(text) => SubjectName::new(kind, text).ok(),
                            Value::Null
                            | Value::Bool(_)
                            | Value::Number(_)
                            | Value::List(_)
                            | Value::Map(_) => None,
                        })
                    }
                };
                let Some(subject) = subject else {
                    return lacking("an argument that the call lacks", Reason::SubjectUnreadable);
                };
                let Ok(content) = self.gate.surroundings.subject(&subject) else {
                    return lacking(subject.as_str(), Reason::SubjectUnreadable);
                };
                let lifetime = rule.lifetime();
                let grounding = self.ground(name, subject.as_str(), &content, lifetime)?;
                lacking(subject.as_str(), grounding.reason)
            }
            Step::Tool(step) => {
                let on = needs.subject().and_then(|name| self.argument(name));
                let content = needs.binds().map_or(on, |name| self.argument(name));
                let (Some(on), Some(content)) = (on, content) else {
                    return lacking("an argument that the call lacks", Reason::SubjectUnreadable);
                };
                let subject = subject_of(on);
                let grounding =
                    self.ground(name, &subject, &content_of(content), step.lifetime())?;
                let perform = performing(step, on, content);
                Some(Missing { step: name.clone(), subject, reason: grounding.reason, perform })
            }
        }
    }

    fn argument(&self, name: &ArgumentName) -> Option<&Value> {
        self.call.argument(name.as_str())
    }

    /// What the ledger says, unless it is grounded.
    fn ground(
        &self,
        step: &StepName,
        subject: &str,
        content: &Digest,
        lifetime: Option<core::time::Duration>,
    ) -> Option<Grounding> {
        let digest = self.force.digest_of(step);
        let Some(rule) = digest else {
            return Some(Grounding { reason: Reason::NeverRan, evidence: None });
        };
        let lifetime = lifetime.filter(|_| self.views.rules().hold(Rule::Lifetime));
        let asked = Asked {
            namespace: self.force.policy.namespace(),
            step: step.as_str(),
            subject,
            content,
            rule: &rule,
            lifetime_ms: lifetime.map(crate::policy::millis),
        };
        let grounding = ground_at(self.views, &asked, self.now_ms);
        match grounding.answer() {
            Answer::Grounded => None,
            Answer::Ungrounded | Answer::Contradicted | Answer::Refused => Some(grounding),
        }
    }
}

/// The call that performs a step of a tool on these values.
fn performing(step: &ToolStep, on: &Value, content: &Value) -> Option<Call> {
    let mut arguments = vec![(step.subject().as_str().to_owned(), on.clone())];
    if let Some(binds) = step.binds() {
        arguments.push((binds.as_str().to_owned(), content.clone()));
    }
    Call::new(step.tool().as_str(), arguments.into_iter().collect()).ok()
}

/// Evidence that the value of an argument was verified together with its companions.
pub(super) fn verified(
    views: &Views,
    force: InForce<'_>,
    verification: &Verification,
    call: &Call,
    argument: &str,
    now_ms: u64,
) -> Option<u64> {
    let digest = force.digest_of(verification.step())?;
    let Some(Step::Tool(step)) = force.policy.step(verification.step()) else { return None };
    let alone: BTreeSet<ArgumentName> = ArgumentName::new(argument).into_iter().collect();
    let companions = views.rules().hold(Rule::Companions);
    let with = if companions { verification.with() } else { &alone };
    let (subject, content) = together(with, call)?;
    let lifetime = step.lifetime().filter(|_| views.rules().hold(Rule::Lifetime));
    let asked = |rule: &Digest| {
        let asked = Asked {
            namespace: force.policy.namespace(),
            step: verification.step().as_str(),
            subject: &subject,
            content: &content,
            rule,
            lifetime_ms: lifetime.map(crate::policy::millis),
        };
        let grounding = ground_at(views, &asked, now_ms);
        let run = grounding.evidence.map(|evidence| evidence.run);
        run.filter(|_| grounding.answer() == Answer::Grounded)
    };
    let found = asked(&verification_rule(&digest, true));
    if views.rules().hold(Rule::Eligible) {
        return found;
    }
    found.or_else(|| asked(&verification_rule(&digest, false)))
}

/// The runs that a call is: one for each step that its tool performs, one for each set of arguments that a verification
/// compares, and, if it is none of these, one for itself. `trusted`: its own binding arguments were.
pub(crate) fn runs_of(
    views: &Views,
    force: InForce<'_>,
    call: &Call,
    trusted: bool,
) -> Vec<Planned> {
    let mut runs = Vec::new();
    let steps = force.policy.steps().filter_map(|(name, step)| match step {
        Step::Tool(step) if step.tool().as_str() == call.tool() => Some((name, step)),
        Step::Tool(_) | Step::Command(_) | Step::AllOf(_) => None,
    });
    for (name, step) in steps {
        let Some(rule) = force.digest_of(name) else { continue };
        let on = call.argument(step.subject().as_str());
        let content = step.binds().map_or(on, |binds| call.argument(binds.as_str()));
        let (Some(on), Some(content)) = (on, content) else { continue };
        let step = Box::from(name.as_str());
        runs.push(Planned { step, subject: subject_of(on), content: content_of(content), rule });
        for with in compared(force, name, views.rules().hold(Rule::Companions)) {
            let Some((subject, content)) = together(&with, call) else { continue };
            let rule = verification_rule(&rule, trusted);
            runs.push(Planned { step: name.as_str().into(), subject, content, rule });
        }
    }
    runs
}

/// The run that a call is which performs no step.
pub(crate) fn run_of_call(force: InForce<'_>, call: &Call) -> Option<Planned> {
    let tool = ToolName::new(call.tool()).ok()?;
    let rule = force.policy.tool_digest(&tool, force.programs);
    let subject = format!("tool:{}", call.tool());
    Some(Planned { step: CALL_STEP.into(), subject, content: call.digest(), rule })
}

/// The sets of arguments that verifications by this step compare.
fn compared(
    force: InForce<'_>,
    step: &StepName,
    together: bool,
) -> BTreeSet<BTreeSet<ArgumentName>> {
    let rules = force.policy.tools().flat_map(|(_, rule)| rule.verify());
    let by_step = rules.filter(|(_, verification)| verification.step() == step);
    let sets = by_step.map(|(argument, verification)| {
        if together { verification.with().clone() } else { BTreeSet::from([argument.clone()]) }
    });
    sets.collect()
}

/// A pass counts for a verification only under this digest: another one where the call was not itself trusted, so that its
/// pass raises nothing and its failure still says no.
fn verification_rule(step: &Digest, trusted: bool) -> Digest {
    Digest::of("actum/verification/v1", &[step.as_bytes(), &[u8::from(trusted)]])
}

/// The values of several arguments as one subject. `None` if the call lacks one.
fn together(names: &BTreeSet<ArgumentName>, call: &Call) -> Option<(String, Digest)> {
    let mut w = Writer::default();
    w.count(names.len());
    for name in names {
        w.framed_long(name.as_str().as_bytes());
        call.argument(name.as_str())?.write(&mut w);
    }
    let digest = Digest::of("actum/with/v1", &[&w.0]);
    Some((format!("with:{digest}"), digest))
}

/// The name of a subject that is a value: the text itself where that is a name and says it exactly, else its digest.
pub(super) fn subject_of(value: &Value) -> String {
    if let Value::Text(text) = value
        && let Ok(subject) = SubjectName::new(SubjectKind::Text, text)
        && subject.rest() == text
    {
        return subject.as_str().to_owned();
    }
    format!("value:{}", content_of(value))
}

/// The content of a subject that is a value.
pub fn content_of(value: &Value) -> Digest {
    let mut w = Writer::default();
    value.write(&mut w);
    Digest::of("actum/value/v1", &[&w.0])
}

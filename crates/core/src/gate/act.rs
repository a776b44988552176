//! A call of a tool, in the order of the design: class, obligations, trigger, arguments, approval, mandate, the least of all.

use super::argument::{Judged, arguments, led_to, passages_of};
use super::authority_for;
use super::limit::is_within;
use super::step::missing;
use super::{
    AskedCall, DecisionCode, Gate, InForce, Judgement, PERFORMED_MAX, Presence, WAITING_MAX,
};
use crate::authority::Authority;
use crate::event::{Audience, Decision, LimitKind, Space};
use crate::names::ArgumentName;
use crate::policy::{OnMissing, ToolClass, ToolRule};
use crate::provenance::{Mandate, Session, Trigger, TriggerKind};
use crate::reason::Reason;
use crate::rule::Rule;
use crate::value::Value;
use crate::views::Views;

/// Whether a call may go out. An error is never a yes: whatever cannot be told costs a question or is refused.
pub fn judge_act(views: &Views, gate: &Gate<'_>, asked: &AskedCall<'_>, now_ms: u64) -> Judgement {
    let Some(force) = gate.force else { return Judgement::new(DecisionCode::NoPolicy) };
    let tool = asked.call.tool();
    let rule = force.policy.tool_named(tool);
    if !rule.listed() && !views.rules().hold(Rule::Unlisted) {
        return Judgement::new(DecisionCode::Read);
    }
    if rule.class() == ToolClass::Read && views.rules().hold(Rule::Read) {
        return Judgement::new(DecisionCode::Read);
    }
    // A clock that steps back a little makes nothing younger.
    let now_ms = now_ms.max(views.time_ms());
    let session = asked.session.and_then(|number| views.provenance().session(number));
    let desk = Desk { views, gate, force, rule, tool, asked, session, now_ms };
    if let Some(judgement) = desk.earlier_answer() {
        return judgement;
    }
    if session.is_some_and(|session| views.provenance().is_session_void(session)) {
        return Judgement::new(DecisionCode::SessionVoid);
    }
    let lacking = missing(views, gate, force, asked.call, now_ms)
        .filter(|_| views.rules().hold(Rule::Obligation));
    let Some(mut lacking) = lacking else { return desk.weigh() };
    // Performed only where everything else would allow the call, and not without end.
    lacking.perform = lacking.perform.filter(|_| {
        rule.on_missing() == OnMissing::Run
            && desk.weigh().decision() == Decision::Allow
            && views.performed_this_hour(
                force.policy.namespace(),
                &lacking.step,
                &lacking.subject,
                now_ms,
            ) < PERFORMED_MAX
    });
    let unreadable = lacking.reason == Reason::SubjectUnreadable;
    let code = if unreadable { DecisionCode::SubjectUnreadable } else { DecisionCode::StepMissing };
    Judgement { missing: Some(lacking), ..Judgement::new(code) }
}

struct Desk<'d> {
    views: &'d Views,
    gate: &'d Gate<'d>,
    force: InForce<'d>,
    rule: &'d ToolRule,
    tool: &'d str,
    asked: &'d AskedCall<'d>,
    session: Option<&'d Session>,
    now_ms: u64,
}

impl Desk<'_> {
    /// A call id that was used before gets its first answer, and with other arguments none.
    fn earlier_answer(&self) -> Option<Judgement> {
        let (session, call_id) = (self.asked.session?, self.asked.call_id?);
        let (event, decided) = self.views.provenance().answer_to(session, &call_id)?;
        let repeats = Some(event);
        if decided.call != self.asked.call.digest() {
            let judgement = Judgement { repeats, ..Judgement::new(DecisionCode::CallIdReused) };
            return self.views.rules().hold(Rule::CallId).then_some(judgement);
        }
        let first = DecisionCode::from_number(decided.reason);
        let code = match decided.decision {
            Decision::Allow => DecisionCode::Repeated,
            Decision::Label | Decision::Ask | Decision::Deny | Decision::Quarantine => {
                first.unwrap_or(DecisionCode::CallIdReused)
            }
        };
        let origin = decided.origin;
        Some(Judgement { origin, repeats, ..Judgement::new(code) })
    }

    fn weigh(&self) -> Judgement {
        let texts = passages_of(self.views, self.gate, self.session, Some(self.tool), self.now_ms);
        let texts = match texts {
            Ok(texts) => texts,
            Err(edited) => {
                let origin = Some(edited.0);
                return Judgement { origin, ..Judgement::new(DecisionCode::ContentEdited) };
            }
        };
        let (views, call) = (self.views, self.asked.call);
        let arguments =
            arguments(views, self.gate, self.force, self.rule, call, &texts, self.now_ms);
        let trigger = self.trigger();
        let trigger_authority = match (trigger, self.session) {
            (Some(trigger), _) => trigger.authority,
            // Somebody's turn made the agent act, and nobody saw whose.
            (None, Some(session)) if session.is_partial() => Authority::Derived,
            (None, _) => Authority::Untrusted,
        };
        let trigger_authority =
            if views.rules().hold(Rule::Trigger) { trigger_authority } else { Authority::User };
        let weighed = Judgement { trigger, arguments, ..Judgement::new(DecisionCode::Trusted) };
        let least_argument = weighed.least();
        let origin = if trigger_authority <= least_argument {
            trigger.map(|trigger| trigger.event)
        } else {
            least_source(&weighed.arguments).or(texts.least_event)
        };
        let weighed = Judgement { origin, ..weighed };
        if let Some(approval) = self.approval() {
            let approval = Some(approval);
            return Judgement { code: DecisionCode::ApprovedCall, approval, ..weighed };
        }
        let least = trigger_authority.meet(least_argument);
        let must_ask = match least {
            Authority::User | Authority::Approved => return weighed,
            Authority::Derived => views.rules().hold(Rule::Derived),
            Authority::Untrusted => true,
        };
        if !must_ask {
            return weighed;
        }
        if let Some(mandate) = self.mandate(trigger, trigger_authority, &weighed.arguments) {
            let mandate = Some(mandate);
            return Judgement { code: DecisionCode::Mandate, mandate, ..weighed };
        }
        if self.was_declined() {
            return Judgement { code: DecisionCode::Declined, ..weighed };
        }
        let code = match (trigger_authority, least, self.gate.presence) {
            (Authority::Untrusted, _, _) => DecisionCode::UntrustedTrigger,
            (_, _, Presence::Nobody) => DecisionCode::NobodyToAsk,
            (_, Authority::Untrusted, Presence::Somebody) => DecisionCode::UntrustedArgument,
            (_, Authority::Derived | Authority::Approved | Authority::User, Presence::Somebody) => {
                DecisionCode::Derived
            }
        };
        Judgement { code: self.unless_flooded(code, origin), ..weighed }
    }

    /// What made the agent act, worth what it is for this tool now.
    fn trigger(&self) -> Option<Trigger> {
        let trigger = self.session?.trigger?;
        let item = self.views.provenance().item(trigger.event)?;
        let now = authority_for(self.views, self.gate, item, Some(self.tool), self.now_ms);
        Some(Trigger { authority: trigger.authority.meet(now), ..trigger })
    }

    fn approval(&self) -> Option<u64> {
        // Nobody knows how old an approval is once the clock has jumped.
        if self.views.distrusted_since().is_some() {
            return None;
        }
        let (session, provenance) = (self.asked.session?, self.views.provenance());
        if !provenance.has_approvals(session) {
            return None;
        }
        let approval = provenance.approval(session, &self.asked.call.digest(), self.now_ms);
        approval.map(|approval| approval.event)
    }

    /// The owner said no to exactly this call in this session, and is not asked again.
    fn was_declined(&self) -> bool {
        let Some(session) = self.asked.session else { return false };
        let latest = self.views.provenance().latest(session, &self.asked.call.digest());
        latest.is_some_and(|(_, decided)| decided.reason == DecisionCode::Declined.number())
    }

    /// A mandate that covers the call, and what it takes of the budget.
    fn mandate(
        &self,
        trigger: Option<Trigger>,
        trigger_authority: Authority,
        arguments: &[Judged],
    ) -> Option<(u64, u64)> {
        if self.views.distrusted_since().is_some() {
            return None;
        }
        let number = self.views.number(Space::Called, self.tool.as_bytes())?;
        let mandates = self.views.provenance().mandates();
        let mut fitting = mandates.filter(|mandate| mandate.called == number).filter(|mandate| {
            self.is_for_this(mandate, trigger, trigger_authority)
                && self.is_open(mandate)
                && self.limits_hold(mandate)
                && arguments.iter().all(|judged| self.is_covered(mandate, judged))
        });
        fitting.find_map(|mandate| {
            let amount = self.amount(mandate)?;
            self.views.provenance().covers(mandate.event, amount).then_some((mandate.event, amount))
        })
    }

    fn is_for_this(
        &self,
        mandate: &Mandate,
        trigger: Option<Trigger>,
        authority: Authority,
    ) -> bool {
        let Some(session) = self.session else { return false };
        let of = mandate.audience_of;
        let is_for_this = match mandate.audience {
            Audience::Task => session.task == Some(of),
            Audience::Adapter => session.adapter.map(u64::from) == Some(of),
            Audience::Session => self.asked.session.map(u64::from) == Some(of),
            Audience::Channel => trigger.is_some_and(|trigger| {
                trigger.kind != TriggerKind::Task(trigger.event) && u64::from(trigger.channel) == of
            }),
        };
        // What an untrusted message set off is helped only by a mandate that names its channel.
        let reaches = authority > Authority::Untrusted || mandate.audience == Audience::Channel;
        (is_for_this || !self.views.rules().hold(Rule::Audience)) && reaches
    }

    fn is_open(&self, mandate: &Mandate) -> bool {
        let window = mandate.from_ms..=mandate.until_ms;
        mandate.revoked.is_none()
            && (window.contains(&self.now_ms) || !self.views.rules().hold(Rule::Window))
    }

    fn limits_hold(&self, mandate: &Mandate) -> bool {
        let holds = |(argument, kind, values): &(Box<str>, LimitKind, Vec<Box<str>>)| {
            let of = ArgumentName::new(argument).map(|name| self.rule.kind(&name));
            let value = self.asked.call.argument(argument);
            // Under its name and wherever a link leads it.
            value.zip(of.ok()).is_some_and(|(value, of)| {
                let led = led_to(self.views.rules(), self.gate, value, of);
                let within = |place: String| is_within(&place.as_str().into(), *kind, values, of);
                is_within(value, *kind, values, of) && led.into_iter().all(within)
            })
        };
        mandate.limits.iter().all(holds) || !self.views.rules().hold(Rule::Limits)
    }

    /// `Derived` is; `Untrusted` only where the mandate fixes the argument.
    fn is_covered(&self, mandate: &Mandate, judged: &Judged) -> bool {
        match judged.authority {
            Authority::User | Authority::Approved | Authority::Derived => true,
            Authority::Untrusted => {
                let fixes = |(argument, kind, _): &(Box<str>, LimitKind, Vec<Box<str>>)| {
                    **argument == *judged.argument
                        && matches!(kind, LimitKind::Equal | LimitKind::OneOf)
                };
                mandate.limits.iter().any(fixes) || !self.views.rules().hold(Rule::Fixed)
            }
        }
    }

    /// What the call takes of the budget, in millionths. `None` if that cannot be told exactly.
    fn amount(&self, mandate: &Mandate) -> Option<u64> {
        let Some((argument, _)) = &mandate.budget_left else { return Some(0) };
        match self.asked.call.argument(argument)? {
            Value::Number(number) => number.millionths(),
            Value::Text(text) => crate::kind::Number::parse(text)?.millionths(),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// One origin has only so many calls wait; those that wait already stay.
    fn unless_flooded(&self, code: DecisionCode, origin: Option<u64>) -> DecisionCode {
        let Some(session) = self.asked.session else { return code };
        let provenance = self.views.provenance();
        let waits = provenance
            .latest(session, &self.asked.call.digest())
            .is_some_and(|(_, decided)| decided.decision != Decision::Allow);
        let channel = origin.and_then(|event| provenance.item(event)).map(|item| item.channel);
        let full = provenance.waiting(session, channel) >= WAITING_MAX;
        if full && !waits && self.views.rules().hold(Rule::Flood) {
            DecisionCode::Flooded
        } else {
            code
        }
    }
}

/// The oldest source of the least argument.
fn least_source(arguments: &[Judged]) -> Option<u64> {
    let least = arguments.iter().min_by_key(|judged| judged.authority)?;
    least.origin.sources.first().copied()
}

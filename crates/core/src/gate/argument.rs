//! The binding arguments of a call, each with where it came from and what it is worth.

use std::borrow::Cow;

use super::step::verified;
use super::{Content, Gate, InForce, authority_for};
use crate::authority::Authority;
use crate::event::{Seen, Space, Start};
use crate::kind::ValueKind;
use crate::origin::{How, Origin, Passage, is_verbatim, outgoing_by, trace_by};
use crate::policy::{Binding, Fetch, Mode, ToolClass, ToolRule};
use crate::provenance::{ItemKind, Session, TriggerKind};
use crate::rule::{Rule, Rules};
use crate::value::{Call, Value};
use crate::views::Views;

/// One binding argument, or an address in an outgoing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The argument.
    pub argument: String,
    /// Its value, or the address in it; nothing where no argument binds.
    pub value: Option<Value>,
    /// Where it came from.
    pub origin: Origin,
    /// What it is worth for this call.
    pub authority: Authority,
    /// The run that raised it.
    pub raised_by: Option<u64>,
}

/// The texts of a context, as far as they were kept.
pub(crate) struct Texts<'a> {
    passages: Vec<Kept<'a>>,
    /// The least of the whole context.
    pub(super) least: Authority,
    /// What a value is worth that stands nowhere in it.
    nowhere: Authority,
    /// The first thing in it that is worth no more.
    pub(super) least_event: Option<u64>,
}

struct Kept<'a> {
    event: u64,
    authority: Authority,
    text: Cow<'a, str>,
    own_turn: bool,
    /// A result of a tool that only fetches.
    fetched: bool,
}

/// Somebody edited what was kept: the event whose text it was.
pub(crate) struct Edited(pub(crate) u64);

/// The texts of the session's context, each worth what it is for calls of `tool` now.
///
/// A text that was not kept may have said anything, so the context is then worth the least there is.
pub(crate) fn passages_of<'a>(
    views: &'a Views,
    gate: &'a Gate<'_>,
    session: Option<&Session>,
    tool: Option<&str>,
    now_ms: u64,
) -> Result<Texts<'a>, Edited> {
    let unknown = if views.rules().hold(Rule::UnknownContext) {
        Authority::Untrusted
    } else {
        Authority::User
    };
    let Some(session) = session else {
        return Ok(Texts {
            passages: Vec::new(),
            least: unknown,
            nowhere: unknown,
            least_event: None,
        });
    };
    // Where somebody sits before it, most of what was not seen is the user's own.
    let least = if is_interactive(session) { Authority::Derived } else { session.least };
    let mut texts = Texts { passages: Vec::new(), least, nowhere: least, least_event: None };
    let mut lowest = Authority::User;
    let own_turn = session.trigger.filter(|trigger| trigger.kind == TriggerKind::Turn);
    for event in session.context() {
        let Some(item) = views.provenance().item(*event) else { continue };
        let authority = authority_for(views, gate, item, tool, now_ms);
        texts.least = texts.least.meet(authority);
        if authority < lowest || texts.least_event.is_none() {
            (lowest, texts.least_event) = (authority, Some(*event));
        }
        let text = match gate.surroundings.content(&item.content) {
            Content::Known(text) => text,
            Content::Edited if views.rules().hold(Rule::Changed) => return Err(Edited(*event)),
            Content::Missing | Content::Edited => {
                texts.least = texts.least.meet(unknown);
                if unknown < lowest {
                    (lowest, texts.least_event) = (unknown, Some(*event));
                }
                continue;
            }
        };
        let fetched = item.what == ItemKind::Seen(Seen::Result)
            && gate.force.is_some_and(|force| {
                let author = views.name(Space::Author, item.author).unwrap_or_default();
                let author = core::str::from_utf8(author).unwrap_or_default();
                force.policy.tool_named(author).class() == ToolClass::Fetch
            });
        let own_turn = own_turn.is_some_and(|trigger| trigger.event == *event);
        texts.passages.push(Kept { event: *event, authority, text, own_turn, fetched });
    }
    // A value that stands nowhere in what an interactive guard saw is the user's or the agent's own, whatever else was seen.
    texts.nowhere = if is_interactive(session) { Authority::Derived } else { texts.least };
    Ok(texts)
}

fn is_interactive(session: &Session) -> bool {
    session.start == Start::Interactive && session.from == 0
}

impl Judged {
    /// Its value, safe to show; empty where no argument binds.
    pub fn shown(&self) -> String {
        self.value.as_ref().map_or_else(String::new, ToString::to_string)
    }
}

impl Texts<'_> {
    fn passages(&self) -> Vec<Passage<'_>> {
        self.passages.iter().map(Kept::passage).collect()
    }

    fn fetched(&self) -> Vec<Passage<'_>> {
        self.passages.iter().filter(|kept| kept.fetched).map(Kept::passage).collect()
    }
}

impl Kept<'_> {
    fn passage(&self) -> Passage<'_> {
        let (id, authority, own_turn) = (self.event, self.authority, self.own_turn);
        Passage { id, authority, text: &self.text, own_turn }
    }
}

/// What binds in a call, and what each is worth.
pub(super) fn arguments(
    views: &Views,
    gate: &Gate<'_>,
    force: InForce<'_>,
    rule: &ToolRule,
    call: &Call,
    texts: &Texts<'_>,
    now_ms: u64,
) -> Vec<Judged> {
    let desk = Desk { views, gate, force, rule, call, texts, passages: texts.passages(), now_ms };
    let mut judged: Vec<Judged> = Vec::new();
    for (name, value) in call.arguments() {
        // A name that a policy cannot write is in none of its lists.
        let is_outgoing = rule.outgoing().contains(name.as_str());
        if is_outgoing {
            if views.rules().hold(Rule::Outgoing) {
                desk.addresses(name, value, &mut judged);
            }
        } else if binds(rule.binding(), name) {
            judged.push(desk.judge(name, value));
        }
    }
    let binds_none = judged.iter().all(|it| rule.outgoing().contains(it.argument.as_str()));
    if binds_none {
        judged.push(desk.whole_context("(no binding argument)"));
    }
    if rule.mode() == Mode::Context && views.rules().hold(Rule::ContextMode) {
        for it in &mut judged {
            it.authority = it.authority.meet(texts.least);
        }
    }
    judged
}

/// A name that a policy cannot write binds where everything does.
fn binds(binding: &Binding, argument: &str) -> bool {
    match binding {
        Binding::All => true,
        Binding::Only(arguments) => arguments.contains(argument),
    }
}

/// Where the paths in a value lead that pass a link.
pub(super) fn led_to(rules: Rules, gate: &Gate<'_>, value: &Value, kind: ValueKind) -> Vec<String> {
    if kind != ValueKind::Path || !rules.hold(Rule::Links) {
        return Vec::new();
    }
    match value {
        Value::Text(path) => gate.surroundings.leads_to(path).into_iter().collect(),
        Value::List(items) => {
            items.iter().flat_map(|item| led_to(rules, gate, item, kind)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => Vec::new(),
    }
}

struct Desk<'d> {
    views: &'d Views,
    gate: &'d Gate<'d>,
    force: InForce<'d>,
    rule: &'d ToolRule,
    call: &'d Call,
    texts: &'d Texts<'d>,
    passages: Vec<Passage<'d>>,
    now_ms: u64,
}

impl Desk<'_> {
    fn judge(&self, name: &str, value: &Value) -> Judged {
        let kind = kind_of(self.rule, name);
        let mut origin =
            trace_by(self.views.rules(), value, kind, &self.passages, self.texts.nowhere);
        for elsewhere in led_to(self.views.rules(), self.gate, value, kind) {
            let there = Value::from(elsewhere.as_str());
            let led =
                trace_by(self.views.rules(), &there, kind, &self.passages, self.texts.nowhere);
            if led.authority < origin.authority {
                let reason = format!("it passes a link and is {there}: {}", led.reason);
                origin = Origin { reason: reason.into(), ..led };
            }
        }
        let (mut authority, mut raised_by) = (origin.authority, None);
        if authority < Authority::Approved && self.is_fetched(value) {
            authority = Authority::Approved;
        }
        if authority < Authority::Approved && self.views.rules().hold(Rule::Elevation) {
            let verification = self.rule.verify().get(name);
            raised_by = verification.and_then(|verification| {
                verified(self.views, self.force, verification, self.call, name, self.now_ms)
            });
            if raised_by.is_some() {
                authority = Authority::Approved;
            }
        }
        if !self.views.rules().hold(Rule::Argument) {
            authority = Authority::User;
        }
        Judged {
            argument: name.to_owned(),
            value: Some(value.clone()),
            origin,
            authority,
            raised_by,
        }
    }

    /// An address that stood whole in what a fetch brought carries nothing out that the page did not hold.
    fn is_fetched(&self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        self.rule.fetch() == Fetch::Verbatim
            && self.views.rules().hold(Rule::Verbatim)
            && is_verbatim(text, &self.texts.fetched())
    }

    fn addresses(&self, name: &str, value: &Value, judged: &mut Vec<Judged>) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Text(text) => {
                let found =
                    outgoing_by(self.views.rules(), text, &self.passages, self.texts.nowhere);
                for one in found {
                    judged.push(Judged {
                        argument: name.to_owned(),
                        value: Some(Value::from(one.address.as_str())),
                        authority: one.origin.authority,
                        origin: one.origin,
                        raised_by: None,
                    });
                }
            }
            Value::List(items) => items.iter().for_each(|it| self.addresses(name, it, judged)),
            Value::Map(entries) => {
                for (key, it) in entries {
                    self.addresses(name, &Value::from(key.as_str()), judged);
                    self.addresses(name, it, judged);
                }
            }
        }
    }

    fn whole_context(&self, what: &str) -> Judged {
        let authority =
            if self.views.rules().hold(Rule::Nowhere) { self.texts.least } else { Authority::User };
        let reason = "nothing in the call says where it came from, so the whole context does";
        let origin =
            Origin { authority, sources: Vec::new(), how: How::NoText, reason: reason.into() };
        let (argument, value) = (what.to_owned(), None);
        Judged { argument, value, origin, authority, raised_by: None }
    }
}

/// The least that the agent asked for in a call, as far as it could be told apart again in the answer: a result may say it
/// back, and is worth no more.
pub(crate) fn least_of_echo(
    views: &Views,
    rule: &ToolRule,
    call: &Call,
    texts: &Texts<'_>,
) -> Authority {
    let passages = texts.passages();
    let values = call.arguments().iter().filter(|(_, value)| could_be_told_apart(value));
    let least = values.map(|(name, value)| {
        let kind = kind_of(rule, name);
        trace_by(views.rules(), value, kind, &passages, texts.least).authority
    });
    least.min().unwrap_or(Authority::User)
}

fn kind_of(rule: &ToolRule, argument: &str) -> ValueKind {
    rule.kinds().get(argument).copied().unwrap_or(ValueKind::Text)
}

/// Whether a value is long enough to mean something wherever it stands.
fn could_be_told_apart(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => {
            number.as_str().bytes().filter(u8::is_ascii_digit).count()
                >= crate::origin::DIGITS_IDENTIFY
        }
        Value::Text(text) => text.chars().count() >= crate::origin::TEXT_IDENTIFIES,
        // Short pieces, said back one behind the other, are a long one.
        Value::List(items) => {
            let length: usize = items.iter().map(characters).sum();
            items.iter().any(could_be_told_apart) || length >= crate::origin::TEXT_IDENTIFIES
        }
        Value::Map(_) => true,
    }
}

fn characters(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Map(_) => 0,
        Value::Number(number) => number.as_str().len(),
        Value::Text(text) => text.chars().count(),
        Value::List(items) => items.iter().map(characters).sum(),
    }
}

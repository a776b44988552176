//! What waits for the owner: each call exactly as it would be approved, with where its binding arguments came from, as it would be
//! judged now. Equal questions are one group.

use std::collections::BTreeMap;

use actum_core::{
    AskedCall, Call, Decided, DecisionCode, Digest, Gate, Judgement, Presence, Space, Views,
    judge_act,
};
use actum_store::{AcceptedPolicy, Cache, Places, arguments_to_json, waiting_call};

use super::facts::{asked_in_all, detail_of, is_question, name_of, offered, receipt_of};
use super::things::{Things, chain};
use crate::wire::{Failure, FailureCode, Inbox, Waiting};

/// From this question on a mandate is offered.
pub const OFFERED_FROM: u64 = 2;

/// What the inbox is made from.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The state.
    pub views: &'a Views,
    /// The policy in force.
    pub policy: Option<&'a AcceptedPolicy>,
    /// Where the ledger lies.
    pub places: &'a Places,
    /// When these decisions were made, as far as it is known.
    pub times: &'a BTreeMap<u64, u64>,
    /// Now.
    pub now_ms: u64,
}

impl Shown<'_> {
    /// Everything that waits.
    pub fn inbox(&self) -> Inbox {
        let mut pending: Vec<(u64, Decided)> =
            self.views.provenance().pending().map(|(event, decided)| (event, *decided)).collect();
        pending.sort_by_key(|(event, _)| *event);
        let (questions, effect_calls) = asked_in_all(self.views);
        let all: Vec<One> =
            pending.into_iter().map(|(event, decided)| self.one(event, decided)).collect();
        let waiting = self.grouped(all);
        Inbox { questions, effect_calls, waiting }
    }

    fn one(&self, event: u64, decided: Decided) -> One {
        let cache = Cache::of(self.places);
        let call = kept_call(&cache, &decided.call);
        let judgement = call.as_ref().ok().map(|call| self.judge(&decided, call));
        let (asked, is_exact) = asked_of(self.views, decided.session, &decided.call);
        One { event, decided, asked, is_exact, call, judgement }
    }

    /// What would be decided now of a call that was decided before.
    pub fn judge(&self, decided: &Decided, call: &Call) -> Judgement {
        let cache = Cache::of(self.places);
        let things = Things { places: self.places, cache: &cache };
        let force = self.policy.map(AcceptedPolicy::in_force_now);
        let gate = Gate { force, surroundings: &things, presence: Presence::Somebody };
        let asked = AskedCall { session: Some(decided.session), call, call_id: None };
        judge_act(self.views, &gate, &asked, self.now_ms)
    }

    /// Calls of one tool in one session whose binding arguments are equal.
    fn grouped(&self, all: Vec<One>) -> Vec<Vec<Waiting>> {
        let mut groups: Vec<Vec<One>> = Vec::new();
        let mut by_key = BTreeMap::new();
        for one in all {
            let binding: Vec<_> = one.judgement.iter().flat_map(|it| &it.arguments).collect();
            let binding: Vec<_> =
                binding.iter().map(|it| (it.argument.clone(), it.shown())).collect();
            let tool = name_of(self.views, Space::Called, one.decided.called);
            let next = groups.len();
            // Where nothing says what binds, it is like no other.
            let at = if binding.is_empty() {
                next
            } else {
                *by_key.entry((one.decided.session, tool, binding)).or_insert(next)
            };
            match groups.get_mut(at) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        groups.into_iter().map(|group| self.told(group)).collect()
    }

    fn told(&self, group: Vec<One>) -> Vec<Waiting> {
        let asked: u64 = group.iter().map(|one| one.asked).sum();
        let newest = group.last().map(|one| one.event);
        group
            .into_iter()
            .map(|one| {
                let offers = asked >= OFFERED_FROM && Some(one.event) == newest;
                self.waiting(one, offers)
            })
            .collect()
    }

    fn waiting(&self, one: One, offers: bool) -> Waiting {
        let One { event, decided, asked, is_exact, call, judgement } = one;
        let detail = judgement.as_ref().map(|judgement| {
            let mut detail = detail_of(self.views, judgement);
            if let (true, Ok(call)) = (offers, &call) {
                let (session, now_ms) = (decided.session, self.now_ms);
                detail.offer = offered(self.views, self.policy, session, call, judgement, now_ms);
            }
            detail
        });
        Waiting {
            receipt: receipt_of(event, &decided.call),
            event,
            asked_ms: self.times.get(&event).copied().unwrap_or_default(),
            asked,
            is_exact,
            session: name_of(self.views, Space::Session, decided.session),
            tool: name_of(self.views, Space::Called, decided.called),
            decision: decided.decision,
            code: DecisionCode::from_number(decided.reason),
            code_now: judgement.as_ref().map(|judgement| judgement.code),
            arguments: call.as_ref().ok().map(arguments_to_json),
            unreadable: call.err(),
            detail,
        }
    }
}

struct One {
    event: u64,
    decided: Decided,
    asked: u64,
    is_exact: bool,
    call: Result<Call, String>,
    judgement: Option<Judgement>,
}

/// The exact call, as it was kept for its owner.
///
/// # Errors
/// Why nobody can say what it is.
pub fn kept_call(cache: &Cache, digest: &Digest) -> Result<Call, String> {
    match cache.read_call(digest, waiting_call, Call::digest) {
        Ok(Some(call)) => Ok(call),
        Ok(None) => Err("the call was not kept, so nobody can say what it is".to_owned()),
        Err(error) => Err(format!("the call cannot be shown: {}", chain(&error))),
    }
}

/// How often this was a question, and whether that is exact: of those in a row the first, second, fourth, eighth, ... are
/// events.
pub fn asked_of(views: &Views, session: u32, call: &Digest) -> (u64, bool) {
    let decisions = views.provenance().decisions().iter().map(|(_, decided)| decided);
    let same = decisions.filter(|it| it.session == session && it.call == *call && is_question(it));
    let (mut asked, mut before, mut is_exact) = (0, 0, true);
    for decided in same {
        let count = u64::from(decided.count);
        asked += if count > before { count - before } else { count };
        before = count;
        is_exact &= count < 2;
    }
    (asked, is_exact)
}

/// The call that a receipt is of: its newest decision, and whether it waits.
///
/// # Errors
/// If it is no receipt of this ledger, or nothing waits there.
pub(crate) fn of_receipt(views: &Views, receipt: &str) -> Result<(u64, Decided), Failure> {
    let shown = receipt.escape_debug();
    let parsed = receipt.split_once('-').and_then(|(event, _)| event.parse().ok());
    let event: u64 = parsed.ok_or_else(|| {
        Failure::new(FailureCode::Usage, format!("`{shown}` is no receipt"))
            .hint("write it as `actum inbox` shows it, such as 41-1f2e3a")
    })?;
    let found = views.provenance().decision(event).map(|(_, decided)| *decided);
    let found = found.filter(|it| receipt_of(event, &it.call) == receipt.to_ascii_lowercase());
    let decided = found.ok_or_else(|| {
        Failure::new(FailureCode::Usage, format!("{shown} is no receipt of this ledger"))
            .hint("`actum inbox` shows what waits here")
    })?;
    let waits = views
        .provenance()
        .pending()
        .find(|(_, it)| it.session == decided.session && it.call == decided.call);
    waits.map(|(event, decided)| (event, *decided)).ok_or_else(|| {
        Failure::new(FailureCode::Rejected, "that call does not wait any more")
            .hint("`actum inbox` shows what waits")
    })
}

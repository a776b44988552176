//! Random requests to the gate, odd ones among them: nothing an agent asks raises anything, what is allowed once is spent once,
//! the same question gets the same answer, and the ledger that comes of it can be read again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use actum_core::policy::{ChannelPattern, Policy};
use actum_core::{
    ArgumentName, AskedCall, AuthorName, Authority, Call, Caller, ChannelName, CommitError,
    Content, Decision, DecisionCode, Digest, ENTRY_NAME_MAX, EntryKind, Gate, InForce, Judgement,
    Ledger, LimitKind, MANDATE_MS_MAX, MemoryRequest, Namespace, NewAudience, NewCall, NewCallEnd,
    NewEntry, NewFire, NewLimit, NewMandate, NewObservation, NewRecall, NewStart, Number, Owner,
    PARENTS_MAX, Permit, Presence, Purpose, REASON_MAX, Reading, Request, Seen, SessionName, Space,
    StepName, SubjectName, Surroundings, Takes, ToolName, Value, Views, content_digest, judge_act,
};
use actum_testkit::memory::{Memory, fold};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::{keys, seeds};

const OWNER: Caller = Caller::Owner(Owner::Terminal);
const HOOK: Caller = Caller::Adapter(0);
const START_MS: u64 = 1_800_000_000_000;
/// Nothing was settled, so a rule is what it says.
static NO_COMMANDS: BTreeMap<StepName, Digest> = BTreeMap::new();
const POLICY: &str = r#"
version = 1
[steps.check]
tool = "desk/check"
subject = "args.to"
[tools."desk/check"]
class = "read"
result = "origin"
[tools."bank/pay"]
class = "effect"
binding = ["to"]
[tools."bank/wire"]
class = "effect"
binding = ["to"]
mode = "context"
requires = [{ step = "check", subject = "to" }]
[tools."mail/send"]
class = "effect"
binding = ["to"]
outgoing = ["body"]
[channels."mcp:desk"]
authority = "Approved"
until = 2027-01-16
scope = ["bank/pay"]
"#;
const TEXTS: &[&str] =
    &["Pay bob@post.example", "eve@evil.example wants 250000", "Pay eve@evil.example", "note"];
const VALUES: &[&str] =
    &["bob@post.example", "eve@evil.example", "eve@evil.example", "250000", "x", ""];
const TOOLS: &[&str] = &["bank/pay", "bank/pay", "bank/wire", "mail/send", "desk/check", "other"];
const CHANNELS: &[&str] =
    &["user", "user", "user", "web:x.example", "mcp:desk", "file:a", "inbound:b", "odd"];
const SESSIONS: &[&str] = &["s", "s", "s", "t", "u", "v"];
/// Turns and results more often than others.
const SEEN: &[Seen] = &[
    Seen::Turn,
    Seen::Turn,
    Seen::Turn,
    Seen::Result,
    Seen::Result,
    Seen::Recalled,
    Seen::Inbound,
    Seen::Summary,
    Seen::Refusal,
    Seen::Reset,
];
const NAMES: &[&str] = &["MEMORY.md#1", "jobs.json#1", "", "a\nb"];

struct Things;

impl Surroundings for Things {
    fn content(&self, digest: &Digest) -> Content<'_> {
        let text = TEXTS.iter().find(|text| content_digest(text) == *digest);
        text.map_or(Content::Missing, |text| Content::Known(Cow::Borrowed(text)))
    }

    fn subject(&self, _: &SubjectName) -> Result<Digest, String> {
        Err("there are no files here".to_owned())
    }
}

struct World {
    ledger: Ledger<Memory>,
    policy: Policy,
    now_ms: u64,
    permits: Vec<Permit>,
    /// What each allowed call took, by what allowed it.
    approved: Vec<u64>,
    mandated: Vec<(u64, u64)>,
    /// Whether the newest request was rejected.
    rejected: bool,
}

/// One request. Numbers are taken as they come, so most of them mean nothing to most ledgers.
#[derive(Debug, Clone)]
enum Op {
    Open(u8, u8, u8, u8),
    Observe(u8, u8, u8, u8, u8, Option<Vec<u64>>),
    Remember(u8, u8, u8, u8, Option<Vec<u64>>, Option<u64>),
    Adopt(u8, u8, Option<u64>),
    Recall(u8, u8, u8),
    Fire(u8, u8, u8, bool),
    Act(u8, u8, u8, u8, Option<u8>),
    Grant(u8, u8, u64, u32, Option<u64>, Option<u64>),
    Approve(u64, u8, u8),
    Revoke(u8, u64),
    Forget(u8, u64),
    End(bool),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let small = || 0..6_u8;
    let event = || 0..60_u64;
    prop_oneof![
        1 => (small(), small(), small(), small()).prop_map(|(a, b, c, d)| Op::Open(a, b, c, d)),
        5 => (small(), small(), 0..10_u8, 0..8_u8, small(), option::weighted(0.2, vec(event(), 0..3)))
            .prop_map(|(a, b, c, d, e, f)| Op::Observe(a, b, c, d, e, f)),
        3 => (small(), small(), small(), small(), option::weighted(0.4, vec(event(), 0..3)),
            option::weighted(0.3, event())).prop_map(|(a, b, c, d, e, f)| Op::Remember(a, b, c, d, e, f)),
        1 => (small(), small(), option::weighted(0.4, event())).prop_map(|(a, b, c)| Op::Adopt(a, b, c)),
        1 => (small(), small(), small()).prop_map(|(a, b, c)| Op::Recall(a, b, c)),
        1 => (small(), small(), small(), any::<bool>()).prop_map(|(a, b, c, d)| Op::Fire(a, b, c, d)),
        6 => (small(), small(), small(), small(), option::weighted(0.3, small()))
            .prop_map(|(a, b, c, d, e)| Op::Act(a, b, c, d, e)),
        3 => (small(), small(), event(), 0..4_u32, option::weighted(0.3, 0..900_000_000_000_u64),
            option::weighted(0.2, event())).prop_map(|(a, b, c, d, e, f)| Op::Grant(a, b, c, d, e, f)),
        3 => (event(), small(), small()).prop_map(|(a, b, c)| Op::Approve(a, b, c)),
        1 => (small(), event()).prop_map(|(a, b)| Op::Revoke(a, b)),
        1 => (small(), event()).prop_map(|(a, b)| Op::Forget(a, b)),
        1 => any::<bool>().prop_map(Op::End),
        1 => prop_oneof![8 => Just(1000), 3 => Just(700_000), 1 => Just(70_000_000), 1 => Just(90_000_000)].prop_map(Op::Wait),
    ]
}

/// Calls that the owner is asked about, and what the owner says, with anything else in between.
fn purse_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..3_u8, option::weighted(0.2, 0..3_u8)).prop_map(|(value, id)| Op::Act(1, 0, 0, value, id)),
        2 => (0..4_u32, option::weighted(0.5, 0..90_000_000_u64), option::weighted(0.4, 20..60_u64))
            .prop_map(|(uses, budget, parent)| Op::Grant(0, 0, 0, uses, budget, parent)),
        3 => (0..60_u64).prop_map(|receipt| Op::Approve(receipt, 0, 0)),
        1 => Just(Op::Observe(1, 0, 0, 0, 3, None)),
        1 => op(),
    ]
}

/// What an agent may try: its own requests, and those that are not its to make.
fn agents_op() -> impl Strategy<Value = Op> {
    op().prop_filter("time and the end of a call are nobody's request", |op| {
        !matches!(op, Op::Wait(_) | Op::End(_))
    })
}

fn pick<T: Copy>(from: &[T], at: u8) -> T {
    from[usize::from(at) % from.len()]
}

fn session(at: u8) -> SessionName {
    SessionName::new(pick(SESSIONS, at)).unwrap()
}

fn entry(name: u8, text: u8) -> NewEntry {
    let kind = if name % 2 == 1 { EntryKind::Task } else { EntryKind::Memory };
    let name = match name {
        5 => "n".repeat(ENTRY_NAME_MAX + usize::from(text % 2)),
        name => pick(NAMES, name).to_owned(),
    };
    let content = content_digest(pick(TEXTS, text));
    NewEntry { namespace: Namespace::default(), kind, name, content }
}

fn call(tool: u8, value: u8) -> Call {
    let number =
        Value::Number(Number::parse(if value.is_multiple_of(2) { "20" } else { "-7" }).unwrap());
    let arguments = [
        ("to".to_owned(), Value::from(pick(VALUES, value))),
        ("amount".to_owned(), number),
        ("body".to_owned(), Value::from(pick(TEXTS, value))),
    ];
    Call::new(pick(TOOLS, tool), arguments.into_iter().collect()).unwrap()
}

impl World {
    fn new() -> Self {
        let reading = Reading::wall(START_MS);
        let ledger = Ledger::create(keys(), Memory::default(), &reading).unwrap();
        let policy = Policy::parse(POLICY).unwrap();
        let (approved, mandated) = (Vec::new(), Vec::new());
        let mut world = Self {
            ledger,
            policy,
            now_ms: START_MS,
            permits: Vec::new(),
            approved,
            mandated,
            rejected: false,
        };
        let channels = ["user", "web:*", "mcp:*", "file:*", "inbound:*", "system"];
        let channels = channels.iter().map(|text| ChannelPattern::read(text).unwrap()).collect();
        let credential = Digest::plain(b"hook");
        world.ask(OWNER, MemoryRequest::Enrol { adapter: "hook".to_owned(), credential, channels });
        let start = NewStart::Fresh;
        world.ask(HOOK, MemoryRequest::Open { session: session(0), start });
        world
    }

    fn views(&self) -> &Views {
        self.ledger.views()
    }

    fn reading(&mut self) -> Reading {
        self.now_ms += 1;
        Reading::wall(self.now_ms)
    }

    fn ask(&mut self, by: Caller, request: MemoryRequest) -> Option<u64> {
        let reading = self.reading();
        let answer = self.ledger.record(Request::Memory { by, request }, &reading);
        self.kept(answer)
    }

    /// The owner, the hook, an agent of some session, or an adapter that nobody enrolled.
    fn caller(&self, at: u8) -> Caller {
        match at {
            0 => OWNER,
            1..=3 => HOOK,
            4 => self.agent(0),
            _ => Caller::Adapter(7),
        }
    }

    fn agent(&self, at: u8) -> Caller {
        let number = self.views().number(Space::Session, pick(SESSIONS, at).as_bytes());
        Caller::Agent(number.unwrap_or(u32::MAX))
    }

    fn observe(
        &mut self,
        by: Caller,
        (at, seen, channel, text): (u8, Seen, &str, &str),
        carries: Option<Vec<u64>>,
    ) -> Option<u64> {
        let new = NewObservation {
            session: session(at),
            seen,
            channel: ChannelName::new(channel).unwrap(),
            author: AuthorName::new("desk/check").unwrap(),
            content: content_digest(text),
            entry: (seen == Seen::Recalled).then(|| (Namespace::default(), NAMES[0].to_owned())),
            answers: None,
            carries,
        };
        let (policy, reading) = (self.policy.clone(), self.reading());
        let answer = self.ledger.observe(&gate(&policy, Presence::Somebody), by, &new, &reading);
        self.kept(answer)
    }

    fn act(&mut self, by: Caller, at: u8, call: &Call, id: Option<&str>) -> Option<Judgement> {
        let new = NewCall { session: session(at), call, call_id: id, version: Digest::plain(b"") };
        let (policy, reading) = (self.policy.clone(), self.reading());
        let gate = gate(&policy, Presence::Somebody);
        let answer = self.ledger.act(&gate, by, &new, &reading);
        let answered = self.kept(answer)?;
        self.permits.extend(answered.permit);
        let judgement = answered.judgement;
        let is_first = judgement.repeats.is_none();
        self.approved.extend(judgement.approval.filter(|_| is_first));
        self.mandated.extend(judgement.mandate.filter(|_| is_first));
        Some(judgement)
    }

    fn perform(&mut self, op: &Op, only: Option<Caller>) {
        let by = |world: &Self, at| only.unwrap_or_else(|| world.caller(at));
        match op.clone() {
            Op::Open(at, who, start, of) => {
                let start = match start {
                    0..=2 => NewStart::Fresh,
                    3 => NewStart::Unknown,
                    4 => NewStart::Partial,
                    5 => NewStart::Interactive,
                    _ => NewStart::Subagent(session(of)),
                };
                self.ask(by(self, who), MemoryRequest::Open { session: session(at), start });
            }
            Op::Observe(who, at, seen, channel, text, carries) => {
                let seen = pick(SEEN, seen);
                let new = (at, seen, pick(CHANNELS, channel), pick(TEXTS, text));
                self.observe(by(self, who), new, carries);
            }
            Op::Remember(who, at, name, text, proven, supersedes) => {
                let (session, entry) = (session(at), entry(name, text));
                let proven =
                    proven.map(|all| if all == [59] { vec![3; PARENTS_MAX + 1] } else { all });
                let request =
                    MemoryRequest::Remember { session, entry, proven, supersedes, policy: None };
                self.ask(by(self, who), request);
            }
            Op::Adopt(name, text, releases) => {
                let request =
                    MemoryRequest::Adopt { entry: entry(name, text), releases, policy: None };
                self.ask(only.unwrap_or(OWNER), request);
            }
            Op::Recall(name, text, purpose) => {
                let NewEntry { name, content, namespace, .. } = entry(name, text);
                let purpose = if purpose > 2 { Purpose::Action } else { Purpose::Reading };
                let (name, text) = (&*name, pick(TEXTS, text));
                let new = NewRecall { session: None, namespace, name, text, content, purpose };
                let (policy, reading) = (self.policy.clone(), self.reading());
                let gate = gate(&policy, Presence::Somebody);
                let answer = self.ledger.recall(&gate, only.unwrap_or(HOOK), &new, &reading);
                self.kept(answer);
            }
            Op::Fire(name, text, at, pins) => {
                let NewEntry { name, content, namespace, .. } = entry(name, text);
                let text = pick(TEXTS, text);
                let pin = (NAMES[0], TEXTS[0], content_digest(TEXTS[0]));
                let new = NewFire {
                    namespace,
                    name: &name,
                    text,
                    content,
                    pins: if pins { vec![pin] } else { Vec::new() },
                    session: session(at),
                };
                let (policy, reading) = (self.policy.clone(), self.reading());
                let gate = gate(&policy, Presence::Nobody);
                let answer = self.ledger.fire(&gate, only.unwrap_or(HOOK), &new, &reading);
                self.kept(answer);
            }
            Op::Act(who, at, tool, value, id) => {
                let id = id.map(|id| pick(VALUES, id));
                self.act(by(self, who), at, &call(tool, value), id);
            }
            Op::Grant(..) => self.grant(only.unwrap_or(OWNER), op),
            Op::Approve(receipt, tool, value) => {
                // Mostly what waits, else any event and any call.
                let provenance = self.views().provenance();
                let count = u64::try_from(provenance.pending().count()).unwrap();
                let nth = receipt.checked_rem(count).filter(|_| tool < 5);
                let waits =
                    nth.and_then(|nth| provenance.pending().nth(usize::try_from(nth).unwrap()));
                let (receipt, call) = waits
                    .map_or((receipt, call_digest(tool, value)), |(event, it)| (event, it.call));
                let until_ms = self.now_ms + 600_000;
                self.ask(only.unwrap_or(OWNER), MemoryRequest::Approve { receipt, call, until_ms });
            }
            Op::Revoke(what, event) => self.revoke(only.unwrap_or(OWNER), what, event),
            Op::Forget(who, record) => {
                self.ask(by(self, who), MemoryRequest::Forget { record });
            }
            Op::End(passed) => {
                let Some(permit) = self.permits.pop() else { return };
                let outcome =
                    if passed { actum_core::Outcome::Passed } else { actum_core::Outcome::Failed };
                let (end, reading) =
                    (NewCallEnd { outcome, result: Digest::plain(b"") }, self.reading());
                let answer = self.ledger.end_call(permit, &end, &reading);
                self.kept(answer);
            }
            Op::Wait(ms) => self.now_ms += ms,
        }
    }

    fn grant(&mut self, by: Caller, op: &Op) {
        let Op::Grant(tool, audience, of, uses, budget, parent) = *op else { return };
        let audience = match audience {
            0 | 1 => NewAudience::Session(session(0)),
            2 => NewAudience::Adapter("hook".to_owned()),
            3 => NewAudience::Task(of),
            _ => NewAudience::Channel(ChannelName::new("inbound:b").unwrap()),
        };
        let argument = ArgumentName::new("to").unwrap();
        let values = VALUES.iter().map(ToString::to_string).take(2).collect();
        let summed = if of > 50 { "" } else { "amount" };
        let mandate = NewMandate {
            tool: ToolName::new(pick(TOOLS, tool / 2)).unwrap(),
            audience,
            from_ms: self.now_ms,
            until_ms: self.now_ms + if of > 40 { MANDATE_MS_MAX + 1 } else { 50_000_000 },
            uses,
            budget: budget.map(|most| (summed.to_owned(), most)),
            limits: vec![NewLimit { argument, kind: LimitKind::OneOf, values }],
            parent,
        };
        self.ask(by, MemoryRequest::Grant(Box::new(mandate)));
    }

    fn revoke(&mut self, by: Caller, what: u8, event: u64) {
        let channel = if event < 55 { "web:x.example" } else { "user" };
        let takes = match what {
            0 => Takes::Mandate(event),
            1 if event > 57 => Takes::Adapter("hook".to_owned()),
            2 => Takes::Channel(ChannelName::new(channel).unwrap(), event, u64::MAX),
            3 => Takes::Author(AuthorName::new("agent").unwrap(), u64::MAX, event),
            _ => Takes::Record(event),
        };
        let reason = "r".repeat(if event == 7 { REASON_MAX + 1 } else { 3 });
        self.ask(by, MemoryRequest::Revoke { takes, reason });
    }

    /// What came of a request; nothing if it was rejected, which is all right.
    fn kept<T>(&mut self, answer: Result<T, CommitError>) -> Option<T> {
        self.rejected = matches!(answer, Err(CommitError::Rejected(_)));
        match answer {
            Ok(kept) => Some(kept),
            Err(CommitError::Rejected(_)) => None,
            Err(other) => panic!("{other}"),
        }
    }

    /// Every question about a call, as it would be answered now by this state.
    fn questions(&self, views: &Views) -> BTreeMap<(u32, u8, u8), Judgement> {
        let gate = gate(&self.policy, Presence::Somebody);
        let mut answers = BTreeMap::new();
        for (number, _) in views.provenance().sessions() {
            for (tool, value) in (1..6).flat_map(|tool| (0..5).map(move |value| (tool, value))) {
                let call = call(tool, value);
                let asked = AskedCall { session: Some(number), call: &call, call_id: None };
                answers.insert((number, tool, value), judge_act(views, &gate, &asked, self.now_ms));
            }
        }
        answers
    }
}

fn gate(policy: &Policy, presence: Presence) -> Gate<'_> {
    Gate {
        force: Some(InForce { policy, programs: &[], commands: &NO_COMMANDS }),
        surroundings: &Things,
        presence,
    }
}

fn call_digest(tool: u8, value: u8) -> Digest {
    call(tool, value).digest()
}

fn played(ops: &[Op]) -> World {
    let mut world = World::new();
    for op in ops {
        world.perform(op, None);
    }
    world
}

proptest! {
    #![proptest_config(seeds("proptest-regressions/gate.txt"))]

    #[test]
    fn whatever_is_asked_the_ledger_can_be_read_again_and_says_the_same(ops in vec(op(), 1..60)) {
        let world = played(&ops);
        let read = fold(world.ledger.journal().segment(), &keys()).unwrap();
        prop_assert_eq!(read.provenance(), world.views().provenance());
        prop_assert_eq!(read.position().count, world.views().position().count);
        prop_assert_eq!(world.questions(&read), world.questions(world.views()));
    }

    #[test]
    fn what_is_rejected_leaves_nothing(ops in vec(op(), 1..80)) {
        let mut world = World::new();
        for op in &ops {
            let state = |world: &World| (world.views().position().count, world.views().distrusted_since());
            let before = state(&world);
            world.perform(op, None);
            let after = state(&world);
            // That the clock jumped is said whoever asks.
            let is_clock = before.1 != after.1;
            prop_assert!(!world.rejected || before == after || is_clock, "{:?}", op);
        }
    }

    #[test]
    fn nothing_an_agent_asks_raises_anything(ops in vec(op(), 1..30), tried in vec(agents_op(), 1..8)) {
        let mut world = played(&ops);
        let standings = |world: &World| -> Vec<(u64, Authority)> {
            let provenance = world.views().provenance();
            provenance.items().iter().map(|item| (item.event, provenance.standing(item))).collect()
        };
        for (at, op) in (0..).zip(&tried) {
            let (before, answers) = (standings(&world), world.questions(world.views()));
            let agent = world.agent(at);
            world.perform(op, Some(agent));
            for ((event, was), (_, is)) in before.iter().zip(standings(&world)) {
                prop_assert!(is <= *was, "event {} was {} and is {}", event, was, is);
            }
            let now = world.questions(world.views());
            for (question, was) in &answers {
                let is = &now[question];
                let rose = was.decision() != Decision::Allow && is.decision() == Decision::Allow;
                prop_assert!(!rose, "{:?}: {} and then {}", question, was.code, is.code);
            }
        }
    }

    #[test]
    fn what_is_allowed_once_is_spent_once(ops in vec(purse_op(), 1..60)) {
        let begins = [Op::Observe(1, 0, 3, 3, 1, None), Op::Observe(1, 0, 0, 0, 3, None)];
        let world = played(&[&begins, &*ops].concat());
        let mut approved = world.approved.clone();
        approved.sort_unstable();
        approved.dedup();
        prop_assert_eq!(approved.len(), world.approved.len());
        let read = fold(world.ledger.journal().segment(), &keys()).unwrap();
        for mandate in read.provenance().mandates() {
            let draws = |event: u64| {
                let mut at = Some(event);
                while let Some(event) = at {
                    if event == mandate.event {
                        return true;
                    }
                    at = read.provenance().mandate(event).and_then(|mandate| mandate.parent);
                }
                false
            };
            // At most three were granted, and 900,000 of the budget.
            let drawn: Vec<_> = world.mandated.iter().filter(|(event, _)| draws(*event)).collect();
            prop_assert!(drawn.len() + mandate.uses_left as usize <= 3);
            let amount: u64 = drawn.iter().map(|(_, amount)| amount).sum();
            let left = mandate.budget_left.as_ref().map_or(0, |(_, left)| *left);
            prop_assert!(mandate.budget_left.is_none() || amount + left < 900_000_000_000);
        }
    }
}

#[test]
fn the_longest_of_everything_is_kept_or_refused() {
    let mut world = World::new();
    let turn = world.observe(HOOK, (0, Seen::Turn, "user", TEXTS[0]), None).unwrap();
    let named = |length: usize| NewEntry {
        namespace: Namespace::default(),
        kind: EntryKind::Task,
        name: "é".repeat(length / 2),
        content: content_digest(TEXTS[0]),
    };
    let remember = |entry: NewEntry, parents: usize| MemoryRequest::Remember {
        session: session(0),
        entry,
        proven: Some(vec![turn; parents]),
        supersedes: None,
        policy: None,
    };
    assert!(world.ask(HOOK, remember(named(ENTRY_NAME_MAX), PARENTS_MAX)).is_some());
    assert!(world.ask(HOOK, remember(named(ENTRY_NAME_MAX), PARENTS_MAX + 1)).is_none());
    assert!(world.ask(HOOK, remember(named(ENTRY_NAME_MAX + 2), 1)).is_none());
    assert!(world.ask(HOOK, remember(named(0), 1)).is_none());
    // A task of the longest name fires, with something pinned.
    let entry = named(ENTRY_NAME_MAX);
    assert!(
        world
            .ask(HOOK, remember(NewEntry { name: NAMES[0].to_owned(), ..entry.clone() }, 1))
            .is_some()
    );
    let new = NewFire {
        namespace: Namespace::default(),
        name: &entry.name,
        text: TEXTS[0],
        content: entry.content,
        pins: vec![(NAMES[0], TEXTS[0], entry.content)],
        session: session(3),
    };
    let (policy, reading) = (world.policy.clone(), world.reading());
    let fired = world.ledger.fire(&gate(&policy, Presence::Nobody), HOOK, &new, &reading);
    assert_eq!(fired.unwrap().judgement.code, DecisionCode::TrustedTask);
    // The longest mandate, and one value more; a budget of no argument.
    let mandate = |limits: usize, budget: Option<(String, u64)>| {
        let limit = |number| NewLimit {
            argument: ArgumentName::new(&format!("{number:0>256}")).unwrap(),
            kind: LimitKind::Equal,
            values: vec!["v".repeat(REASON_MAX)],
        };
        MemoryRequest::Grant(Box::new(NewMandate {
            tool: ToolName::new(&"t".repeat(256)).unwrap(),
            audience: NewAudience::Session(session(0)),
            from_ms: START_MS,
            until_ms: START_MS + 1_000_000,
            uses: 1,
            budget,
            limits: (0..limits).map(limit).collect(),
            parent: None,
        }))
    };
    let longest = (1..20).take_while(|limits| world.ask(OWNER, mandate(*limits, None)).is_some());
    assert_eq!(longest.last(), Some(6));
    assert!(world.ask(OWNER, mandate(1, Some((String::new(), 5)))).is_none());
    assert!(world.ask(OWNER, mandate(1, Some(("a\n".to_owned(), 5)))).is_none());
    assert!(fold(world.ledger.journal().segment(), &keys()).is_ok());
}

#[test]
fn equal_questions_are_one_that_counts() {
    let mut world = World::new();
    world.observe(HOOK, (0, Seen::Turn, "user", TEXTS[3]), None).unwrap();
    world.observe(HOOK, (0, Seen::Result, "web:x.example", TEXTS[1]), None).unwrap();
    for _ in 0..30 {
        let judgement = world.act(HOOK, 0, &call(0, 1), None).unwrap();
        assert_eq!(judgement.code, DecisionCode::UntrustedArgument);
    }
    let provenance = world.views().provenance();
    let counts: Vec<u32> = provenance.decisions().iter().map(|(_, it)| it.count).collect();
    assert_eq!(counts, [1, 2, 4, 8, 16]);
    assert_eq!(provenance.pending().count(), 1);
}

#[test]
fn what_a_revoked_record_brought_about_is_listed() {
    let mut world = World::new();
    let entry = || NewEntry { name: NAMES[0].to_owned(), ..entry(0, 0) };
    let adopt = MemoryRequest::Adopt { entry: entry(), releases: None, policy: None };
    let record = world.ask(OWNER, adopt).unwrap();
    world.observe(HOOK, (0, Seen::Turn, "user", TEXTS[3]), None).unwrap();
    world.act(HOOK, 0, &call(4, 0), None).unwrap();
    world.observe(HOOK, (0, Seen::Recalled, "system", TEXTS[0]), None).unwrap();
    assert_eq!(world.act(HOOK, 0, &call(0, 0), None).unwrap().code, DecisionCode::Trusted);
    let takes = Takes::Record(record);
    world.ask(OWNER, MemoryRequest::Revoke { takes, reason: String::new() }).unwrap();
    let provenance = world.views().provenance();
    let used: Vec<_> =
        provenance.uses(record).into_iter().map(|it| provenance.decision(it)).collect();
    let [Some((_, used))] = used[..] else { panic!("{used:?}") };
    assert_eq!((used.call, used.decision), (call(0, 0).digest(), Decision::Allow));
}

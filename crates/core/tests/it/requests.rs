//! Who may ask what, request by request; what is rejected leaves nothing behind, not even a name; and a permit is good for one
//! call, once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use actum_core::policy::{ChannelPattern, Policy};
use actum_core::{
    Answered, Asks, AuthorName, Call, Caller, ChannelName, CommitError, Content, Decision, Digest,
    EntryKind, Gate, InForce, Ledger, MemoryRequest, NAME_MAX, Namespace, NewAudience, NewCall,
    NewCallEnd, NewEntry, NewFire, NewLimit, NewMandate, NewObservation, NewRecall, NewStart,
    Outcome, Owner, Presence, Purpose, Reading, Rejected, Request, Seen, SessionName, Sheet, Space,
    StepName, SubjectName, Surroundings, Takes, ToolName, Unkept, Value, content_digest,
};
use actum_testkit::memory::{Memory, fold};

use crate::keys;

const OWNER: Caller = Caller::Owner(Owner::Terminal);
const POLICY: &str = "version = 1\n[tools.pay]\nclass = 'effect'\nbinding = ['payee']\n\
    [tools.look]\nclass = 'read'";
const TURN: &str = "Pay alice@x.example, please.";

struct Texts;

impl Surroundings for Texts {
    fn content(&self, digest: &Digest) -> Content<'_> {
        let known = *digest == content_digest(TURN);
        if known { Content::Known(Cow::Borrowed(TURN)) } else { Content::Missing }
    }
    fn subject(&self, _: &SubjectName) -> Result<Digest, String> {
        Err("nothing is there".to_owned())
    }
}

fn session(name: &str) -> SessionName {
    SessionName::new(name).unwrap()
}

fn reading() -> Reading {
    Reading::wall(1_000_000)
}

fn entry(name: &str, kind: EntryKind) -> NewEntry {
    let content = content_digest("an entry");
    NewEntry { namespace: Namespace::default(), kind, name: name.to_owned(), content }
}

/// A ledger with two adapters, a session of the first with a turn of the user, and a task of the owner.
struct World {
    ledger: Ledger<Memory>,
    policy: Policy,
    commands: BTreeMap<StepName, Digest>,
    task: u64,
}

impl World {
    fn new() -> Self {
        let ledger = Ledger::create(keys(), Memory::default(), &reading()).unwrap();
        let policy = Policy::parse(POLICY).unwrap();
        let mut world = Self { ledger, policy, commands: BTreeMap::new(), task: 0 };
        for adapter in ["hook", "other"] {
            let channels = ["user", "web:*"].map(|text| ChannelPattern::read(text).unwrap());
            let (adapter, credential) = (adapter.to_owned(), content_digest(adapter));
            let channels = channels.to_vec();
            world.ask(OWNER, MemoryRequest::Enrol { adapter, credential, channels }).unwrap();
        }
        let open = MemoryRequest::Open { session: session("s"), start: NewStart::Fresh };
        world.ask(Caller::Adapter(0), open).unwrap();
        world.observe(Caller::Adapter(0), "user", Seen::Turn).unwrap();
        world.observe(Caller::Adapter(0), "web:a.example", Seen::Result).unwrap();
        let adopt = MemoryRequest::Adopt {
            entry: entry("jobs#1", EntryKind::Task),
            releases: None,
            policy: None,
        };
        world.task = world.ask(OWNER, adopt).unwrap();
        world
    }

    fn ask(&mut self, by: Caller, request: MemoryRequest) -> Result<u64, Rejected> {
        rejected(self.ledger.record(Request::Memory { by, request }, &reading()))
    }

    fn with<T>(
        &mut self,
        ask: impl FnOnce(&mut Ledger<Memory>, &Gate<'_>) -> Result<T, CommitError>,
    ) -> Result<T, Rejected> {
        let force = InForce { policy: &self.policy, programs: &[], commands: &self.commands };
        let gate = Gate { force: Some(force), surroundings: &Texts, presence: Presence::Somebody };
        rejected(ask(&mut self.ledger, &gate))
    }

    fn observe(&mut self, by: Caller, channel: &str, seen: Seen) -> Result<u64, Rejected> {
        let new = NewObservation {
            session: session("s"),
            seen,
            channel: ChannelName::new(channel).unwrap(),
            author: AuthorName::new("somebody").unwrap(),
            content: content_digest(TURN),
            entry: None,
            answers: None,
            carries: None,
        };
        self.with(|ledger, gate| ledger.observe(gate, by, &new, &reading()))
    }

    fn act(&mut self, by: Caller, call: &Call, id: Option<&str>) -> Result<Answered, Rejected> {
        let (session, version) = (session("s"), content_digest("a version"));
        let new = NewCall { session, call, call_id: id, version };
        self.with(|ledger, gate| ledger.act(gate, by, &new, &reading()))
    }

    fn events(&self) -> u64 {
        self.ledger.views().position().count
    }
}

fn rejected<T>(done: Result<T, CommitError>) -> Result<T, Rejected> {
    done.map_err(|error| {
        let CommitError::Rejected(rejected) = error else { panic!("{error}") };
        rejected
    })
}

fn pay(payee: &str) -> Call {
    Call::new("pay", BTreeMap::from([("payee".to_owned(), Value::from(payee))])).unwrap()
}

fn mandate() -> NewMandate {
    NewMandate {
        tool: ToolName::new("pay").unwrap(),
        audience: NewAudience::Session(session("s")),
        from_ms: 0,
        until_ms: 2_000_000,
        uses: 1,
        budget: None,
        limits: Vec::new(),
        parent: None,
    }
}

/// One request of each kind, as `by` would make it.
fn requests(world: &mut World, by: Caller) -> Vec<(Asks, Result<(), Rejected>)> {
    let held = {
        let new = NewRecall {
            session: None,
            namespace: Namespace::default(),
            name: "jobs#1",
            text: "changed",
            content: content_digest("changed"),
            purpose: Purpose::Reading,
        };
        let answered = world.with(|ledger, gate| ledger.recall(gate, OWNER, &new, &reading()));
        answered.unwrap().event.unwrap()
    };
    let asked = world.act(Caller::Adapter(0), &pay("eve@x.example"), None).unwrap();
    let receipt = asked.event.unwrap();
    let changed =
        NewEntry { content: content_digest("changed"), ..entry("jobs#1", EntryKind::Task) };
    let patterns = vec![ChannelPattern::read("user").unwrap()];
    let remember = MemoryRequest::Remember {
        session: session("s"),
        entry: entry("MEMORY.md#1", EntryKind::Memory),
        proven: None,
        supersedes: None,
        policy: None,
    };
    let call = pay("eve@x.example").digest();
    let memory = vec![
        (Asks::OpenSession, MemoryRequest::Open { session: session("n"), start: NewStart::Fresh }),
        (Asks::Remember, remember),
        (
            Asks::Adopt,
            MemoryRequest::Adopt {
                entry: entry("x", EntryKind::Memory),
                releases: None,
                policy: None,
            },
        ),
        (
            Asks::Release,
            MemoryRequest::Adopt { entry: changed, releases: Some(held), policy: None },
        ),
        (
            Asks::Enrol,
            MemoryRequest::Enrol {
                adapter: "new".to_owned(),
                credential: call,
                channels: patterns,
            },
        ),
        (Asks::Grant, MemoryRequest::Grant(Box::new(mandate()))),
        (Asks::Approve, MemoryRequest::Approve { receipt, call, until_ms: 1_000_001 }),
        (
            Asks::Revoke,
            MemoryRequest::Revoke { takes: Takes::Record(world.task), reason: String::new() },
        ),
    ];
    let mut all = Vec::new();
    for (asks, request) in memory {
        all.push((asks, world.ask(by, request).map(|_| ())));
    }
    all.push((Asks::Observe, world.observe(by, "user", Seen::Turn).map(|_| ())));
    all.push((Asks::Reset, world.observe(by, "user", Seen::Reset).map(|_| ())));
    all.push((Asks::Act, world.act(by, &pay("x"), None).map(|_| ())));
    let recall = NewRecall {
        session: Some(session("s")),
        namespace: Namespace::default(),
        name: "MEMORY.md#1",
        text: "an entry",
        content: content_digest("an entry"),
        purpose: Purpose::Reading,
    };
    let recalled = world.with(|ledger, gate| ledger.recall(gate, by, &recall, &reading()));
    all.push((Asks::Recall, recalled.map(|_| ())));
    let fire = NewFire {
        namespace: Namespace::default(),
        name: "jobs#1",
        text: "an entry",
        content: content_digest("an entry"),
        pins: Vec::new(),
        session: session("fired"),
    };
    let fired = world.with(|ledger, gate| ledger.fire(gate, by, &fire, &reading()));
    all.push((Asks::Fire, fired.map(|_| ())));
    all
}

#[test]
fn each_caller_gets_what_the_table_says_and_nothing_else() {
    for by in [OWNER, Caller::Adapter(0), Caller::Agent(0)] {
        for (asks, done) in requests(&mut World::new(), by) {
            let refused = match &done {
                Err(Rejected::NotAllowed(refused)) => {
                    assert_eq!((refused.caller, refused.asked), (by.kind(), asks));
                    true
                }
                Err(Rejected::NotOwner) => true,
                // A caller that may ask gets an answer.
                other => {
                    assert!(other.is_ok(), "{by:?} {asks:?} {other:?}");
                    false
                }
            };
            assert_eq!(refused, !asks.allows(by.kind()), "{by:?} {asks:?} {done:?}");
        }
    }
}

#[test]
fn nobody_speaks_for_the_session_of_another() {
    let mut world = World::new();
    for by in [Caller::Adapter(1), Caller::Agent(7)] {
        let before = world.events();
        assert!(matches!(
            world.act(by, &pay("x"), None),
            Err(Rejected::OtherSession { .. } | Rejected::NotAllowed(_))
        ));
        assert!(world.observe(by, "user", Seen::Turn).is_err());
        let remember = MemoryRequest::Remember {
            session: session("s"),
            entry: entry("MEMORY.md#1", EntryKind::Memory),
            proven: None,
            supersedes: None,
            policy: None,
        };
        assert!(matches!(world.ask(by, remember), Err(Rejected::OtherSession { .. })));
        assert_eq!(world.events(), before);
    }
    let subagent = NewStart::Subagent(session("s"));
    let open = MemoryRequest::Open { session: session("n"), start: subagent };
    assert!(matches!(world.ask(Caller::Adapter(1), open), Err(Rejected::OtherSession { .. })));
    // A session is opened once, by whoever comes first.
    let again = MemoryRequest::Open { session: session("s"), start: NewStart::Fresh };
    assert!(matches!(world.ask(Caller::Adapter(0), again), Err(Rejected::OpenedAlready { .. })));
}

#[test]
fn an_adapter_names_its_channels_and_nothing_once_it_was_removed() {
    let mut world = World::new();
    let hook = Caller::Adapter(0);
    assert!(matches!(
        world.observe(hook, "mail:a@b.example", Seen::Inbound),
        Err(Rejected::NotItsChannel { .. })
    ));
    assert!(world.observe(hook, "web:b.example", Seen::Inbound).is_ok());
    let takes = Takes::Adapter("hook".to_owned());
    world.ask(OWNER, MemoryRequest::Revoke { takes, reason: String::new() }).unwrap();
    assert_eq!(world.observe(hook, "user", Seen::Turn), Err(Rejected::NotEnrolled));
    assert!(matches!(world.act(hook, &pay("x"), None), Err(Rejected::NotEnrolled)));
    assert!(matches!(
        world.observe(Caller::Adapter(9), "user", Seen::Turn),
        Err(Rejected::NotEnrolled)
    ));
}

/// Requests that are wrong in one thing each.
fn wrong(world: &World) -> Vec<MemoryRequest> {
    let remember = |name: &str, proven: Option<Vec<u64>>, supersedes| MemoryRequest::Remember {
        session: session("unseen"),
        entry: entry(name, EntryKind::Memory),
        proven,
        supersedes,
        policy: None,
    };
    let grant = |mandate: NewMandate| MemoryRequest::Grant(Box::new(mandate));
    let long = |length: usize| "x".repeat(length);
    let limit = |values: &[&str]| NewLimit {
        argument: actum_core::ArgumentName::new("amount").unwrap(),
        kind: actum_core::LimitKind::Range,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    let wide = |text: &str| ChannelPattern::read(text).unwrap();
    let other = NewMandate { tool: ToolName::new("unheard").unwrap(), ..mandate() };
    let channel = ChannelName::new("web:never.seen").unwrap();
    vec![
        remember("", None, None),
        remember("a\nb", None, None),
        remember(&long(1025), None, None),
        remember("ok", Some(vec![]), None),
        remember("ok", Some(vec![0; 257]), None),
        remember("ok", None, Some(999)),
        MemoryRequest::Forget { record: 1 },
        MemoryRequest::Adopt {
            entry: entry("ok", EntryKind::Memory),
            releases: Some(1),
            policy: None,
        },
        MemoryRequest::Enrol {
            adapter: long(NAME_MAX + 1),
            credential: content_digest(""),
            channels: vec![wide("user")],
        },
        MemoryRequest::Enrol {
            adapter: "a b".to_owned(),
            credential: content_digest(""),
            channels: vec![wide("user")],
        },
        MemoryRequest::Enrol {
            adapter: "unheard".to_owned(),
            credential: content_digest(""),
            channels: vec![],
        },
        MemoryRequest::Enrol {
            adapter: "unheard".to_owned(),
            credential: content_digest(""),
            channels: vec![wide(&format!("web:{}", long(500))); 32],
        },
        grant(NewMandate { uses: 0, ..other.clone() }),
        grant(NewMandate { budget: Some(("amount".to_owned(), 0)), ..other.clone() }),
        grant(NewMandate { from_ms: 5, until_ms: 4, ..other.clone() }),
        grant(NewMandate { until_ms: 10, ..other.clone() }),
        grant(NewMandate { until_ms: u64::MAX, ..other.clone() }),
        grant(NewMandate { limits: vec![limit(&["9", "5"])], ..other.clone() }),
        grant(NewMandate { limits: vec![limit(&["a", "b"])], ..other.clone() }),
        grant(NewMandate { limits: vec![limit(&["1", &long(1025)])], ..other.clone() }),
        grant(NewMandate { limits: vec![limit(&["1", "2"]); 33], ..other.clone() }),
        grant(NewMandate {
            parent: Some(999),
            audience: NewAudience::Channel(channel),
            ..other.clone()
        }),
        grant(NewMandate { audience: NewAudience::Session(session("unseen")), ..other.clone() }),
        grant(NewMandate { audience: NewAudience::Adapter("unheard".to_owned()), ..other.clone() }),
        grant(NewMandate { audience: NewAudience::Task(1), ..other }),
        MemoryRequest::Approve { receipt: 1, call: content_digest(""), until_ms: 1_000_001 },
        MemoryRequest::Revoke { takes: Takes::Record(999), reason: String::new() },
        MemoryRequest::Revoke { takes: Takes::Mandate(world.task), reason: String::new() },
        MemoryRequest::Revoke {
            takes: Takes::Adapter("unheard".to_owned()),
            reason: String::new(),
        },
        MemoryRequest::Revoke {
            takes: Takes::Channel(ChannelName::new("user").unwrap(), 5, 4),
            reason: String::new(),
        },
        MemoryRequest::Revoke {
            takes: Takes::Author(AuthorName::new("unheard").unwrap(), 0, 1),
            reason: String::new(),
        },
        MemoryRequest::Revoke { takes: Takes::Record(world.task), reason: long(1025) },
    ]
}

#[test]
fn what_is_rejected_leaves_nothing_behind() {
    let mut world = World::new();
    let before = world.ledger.journal().segment().to_vec();
    for request in wrong(&world) {
        let shown = format!("{request:?}");
        let done = world.ask(OWNER, request);
        assert!(done.is_err(), "{shown}");
        assert_eq!(world.ledger.journal().segment(), before, "{shown}: {done:?}");
    }
    let views = world.ledger.views();
    assert_eq!(views.number(Space::Called, b"unheard"), None);
    assert_eq!(views.number(Space::Adapter, b"unheard"), None);
}

#[test]
fn an_agent_proves_nothing_and_takes_away_nothing_of_the_owner() {
    let mut world = World::new();
    let agent = Caller::Agent(0);
    let remember = |proven, supersedes| MemoryRequest::Remember {
        session: session("s"),
        entry: entry("MEMORY.md#2", EntryKind::Memory),
        proven,
        supersedes,
        policy: None,
    };
    assert_eq!(world.ask(agent, remember(Some(vec![world.task]), None)), Err(Rejected::NotProven));
    assert_eq!(world.ask(agent, remember(None, Some(world.task))), Err(Rejected::Outranked));
    let forget = MemoryRequest::Forget { record: world.task };
    assert_eq!(world.ask(agent, forget.clone()), Err(Rejected::Outranked));
    assert_eq!(world.ask(Caller::Adapter(0), forget.clone()), Err(Rejected::Outranked));
    assert!(world.ask(OWNER, forget).is_ok());
}

#[test]
fn an_allowed_call_ends_once_and_the_ledger_reads_the_same_again() {
    let mut world = World::new();
    let hook = Caller::Adapter(0);
    let first = world.act(hook, &pay("alice@x.example"), Some("id")).unwrap();
    assert_eq!(first.judgement.decision(), Decision::Allow);
    let permit = first.permit.unwrap();
    assert_eq!(permit.call(), &pay("alice@x.example").digest());
    // Asked again with its id: the first answer, and no second right.
    let again = world.act(hook, &pay("alice@x.example"), Some("id")).unwrap();
    assert_eq!((again.judgement.decision(), again.permit), (Decision::Allow, None));
    let other = world.act(hook, &pay("bob@x.example"), Some("id")).unwrap();
    assert_eq!((other.judgement.decision(), other.permit), (Decision::Deny, None));
    let decided = permit.decided().unwrap();
    let end = NewCallEnd { outcome: Outcome::Passed, result: content_digest("ok") };
    // Whoever takes over holds the same right, and it is one.
    let taken_over = world.ledger.permit_again(decided).unwrap();
    world.ledger.end_call(taken_over, &end, &reading()).unwrap();
    assert!(world.ledger.permit_again(decided).is_none());
    let spent = rejected(world.ledger.end_call(permit, &end, &reading()));
    assert!(matches!(spent, Err(Rejected::NotOpen { .. })));
    let read = fold(world.ledger.journal().segment(), &keys()).unwrap();
    assert_eq!(read.provenance(), world.ledger.views().provenance());
}

#[test]
fn a_call_that_only_looks_writes_nothing() {
    let mut world = World::new();
    let before = world.events();
    let look = Call::new("look", BTreeMap::new()).unwrap();
    let answered = world.act(Caller::Adapter(0), &look, None).unwrap();
    assert!(answered.permit.is_some() && answered.event.is_none());
    assert_eq!(world.events(), before);
}

#[test]
fn at_its_quota_the_quarantine_withholds_and_counts() {
    let mut world = World::new();
    let recall = |world: &mut World, text: &str, session: Option<SessionName>| {
        let new = NewRecall {
            session,
            namespace: Namespace::default(),
            name: "jobs#1",
            text,
            content: content_digest(text),
            purpose: Purpose::Reading,
        };
        world.with(|ledger, gate| ledger.recall(gate, OWNER, &new, &reading())).unwrap()
    };
    for number in 0..actum_core::QUARANTINE_MAX {
        let held = recall(&mut world, &number.to_string(), None);
        assert!(held.event.is_some());
    }
    let before = world.events();
    let held = recall(&mut world, "one more", None);
    assert_eq!((held.judgement.decision(), held.event), (Decision::Quarantine, None));
    assert_eq!(world.events(), before);
    let counted: Vec<u64> = (0..9)
        .map(|number| recall(&mut world, &format!("more {number}"), Some(session("s"))))
        .map(|held| {
            assert_eq!(held.judgement.decision(), Decision::Quarantine);
            held.event.unwrap()
        })
        .collect();
    // The first, second, fourth and eighth are written.
    assert_eq!(counted.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    let (_, newest) = world.ledger.views().provenance().decision(counted[8]).unwrap();
    assert_eq!(newest.count, 8);
}

#[test]
fn a_missing_step_is_performed_so_often_an_hour_and_no_more() {
    let policy = "version = 1\n[steps.known]\ntool = 'look'\nsubject = 'args.payee'\n\
        [tools.look]\nclass = 'read'\n[tools.pay]\nclass = 'effect'\nbinding = ['payee']\n\
        requires = [{ step = 'known', subject = 'payee' }]\non_missing = 'run'";
    let mut world = World::new();
    world.policy = Policy::parse(policy).unwrap();
    let hook = Caller::Adapter(0);
    let asked = |world: &mut World, payee: &str| {
        world.act(hook, &pay(payee), None).unwrap().judgement.missing.unwrap().perform
    };
    for _ in 0..actum_core::PERFORMED_MAX {
        let look = asked(&mut world, "alice@x.example").unwrap();
        let permit = world.act(hook, &look, None).unwrap().permit.unwrap();
        let end = NewCallEnd { outcome: Outcome::Failed, result: content_digest("no") };
        world.ledger.end_call(permit, &end, &reading()).unwrap();
    }
    assert_eq!(asked(&mut world, "alice@x.example"), None);
    // What nothing else would allow is not performed for either.
    assert_eq!(asked(&mut world, "eve@x.example"), None);
}

#[test]
fn a_permit_of_another_ledger_ends_nothing() {
    let mut world = World::new();
    let answered = world.act(Caller::Adapter(0), &pay("alice@x.example"), None).unwrap();
    let other = actum_core::LedgerId::from_bytes([3; 16]);
    let other = actum_core::Keyring::new(&actum_core::KeyFile::new(
        other,
        actum_core::Root::from_bytes([4; 32]),
    ));
    let mut other = Ledger::create(other, Memory::default(), &reading()).unwrap();
    let end = NewCallEnd::passed(b"ok");
    let refused = rejected(other.end_call(answered.permit.unwrap(), &end, &reading()));
    assert!(matches!(refused, Err(Rejected::OtherLedger { .. })));
}

/// A call of the first adapter, as it is drafted.
fn act_on(
    sheet: &mut Sheet<'_, '_>,
    gate: &Gate<'_>,
    call: &Call,
    id: &str,
) -> Unkept<Result<Answered, Rejected>> {
    let (session, version) = (session("s"), content_digest("a version"));
    let new = NewCall { session, call, call_id: Some(id), version };
    sheet.act(gate, Caller::Adapter(0), &new)
}

#[test]
fn what_is_judged_together_is_judged_in_order_and_given_out_once_it_is_durable() {
    let mut world = World::new();
    let call = pay("alice@x.example");
    let (unkept, kept) = world
        .with(|ledger, gate| {
            ledger.together(&reading(), |sheet| {
                ["one", "one", "two"].map(|id| act_on(sheet, gate, &call, id))
            })
        })
        .unwrap();
    let codes = unkept.each_ref().map(|it| it.peek().as_ref().unwrap().judgement.code.code());
    assert_eq!(codes, ["trusted", "repeated", "trusted"]);
    let permits = unkept.map(|it| it.open(&kept).unwrap().permit);
    assert_eq!(permits.each_ref().map(Option::is_some), [true, false, true]);
    for permit in permits.into_iter().flatten() {
        world.ledger.end_call(permit, &NewCallEnd::passed(b""), &reading()).unwrap();
    }
}

#[test]
#[should_panic(expected = "the proof of its own commit")]
fn an_answer_is_not_opened_with_the_proof_of_an_earlier_commit() {
    let mut world = World::new();
    let call = pay("alice@x.example");
    let (_, earlier) = world.ledger.together(&reading(), |_sheet| 0).unwrap();
    let (unkept, _) = world
        .with(|ledger, gate| ledger.together(&reading(), |sheet| act_on(sheet, gate, &call, "one")))
        .unwrap();
    drop(unkept.open(&earlier));
}

#[test]
fn a_call_that_the_owner_said_no_to_waits_no_more_and_is_refused_when_it_is_asked_again() {
    let mut world = World::new();
    let by = Caller::Adapter(0);
    world.observe(by, "web:x.example", Seen::Result).unwrap();
    let call = pay("eve@x.example");
    let asked = world.act(by, &call, None).unwrap();
    assert_eq!(asked.judgement.decision(), Decision::Ask);
    let event = asked.event.unwrap();
    let mut declines = |by| {
        let done = world.ledger.together(&reading(), |sheet| sheet.decline(by, event));
        let (unkept, kept) = done.unwrap();
        unkept.open(&kept)
    };
    assert!(matches!(declines(by), Err(Rejected::NotAllowed(_))));
    assert!(declines(OWNER).is_ok());
    assert_eq!(declines(OWNER), Err(Rejected::NotPending { event }));
    let again = world.act(by, &call, None).unwrap();
    assert_eq!(again.judgement.code.code(), "declined");
    assert!(again.permit.is_none() && !again.judgement.has_receipt());
    let approve =
        MemoryRequest::Approve { receipt: event, call: call.digest(), until_ms: 1_000_500 };
    assert_eq!(world.ask(OWNER, approve), Err(Rejected::NotPending { event }));
    let other = world.act(by, &pay("mallory@x.example"), None).unwrap();
    assert_eq!(other.judgement.decision(), Decision::Ask, "it was said of that call alone");
}

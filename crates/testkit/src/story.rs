//! Random stories of a ledger, made of few names, so that collisions are frequent, and of steps in time that lie on limits.

use std::ops::Range;

use actum_core::{
    Audience, Authority, Began, Cause, Consented, Decided, Decision, Digest, Ended, Enrolled,
    EntryKind, Event, Granted, LedgerId, Limit, LimitKind, Mac, Namespace, Observed, Opened,
    Outcome, Owner, Parents, Quarantined, Reading, Released, Revoked, Revokes, Seen, SessionName,
    Space, Spends, Spent, Start, StepName, SubjectName, Superseded, Wrote,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::model::{Asked, Key};

/// The clock at the beginning of a story.
pub const START: Reading = Reading { wall_ms: 1_767_225_600_000, boot_ms: 5_000, boot_id: [1; 16] };

/// Lifetimes and distances that lie at limits or near them, in ms.
pub const LIFETIMES: [Option<u64>; 4] = [None, Some(0), Some(60_000), Some(86_400_000)];

/// One thing that happens. An [`Index`] picks among what there is at that moment.
#[derive(Debug, Clone)]
pub enum Op {
    /// A run begins.
    Begin {
        /// Whose step on what.
        key: Key,
        /// On this content.
        content: u8,
        /// Under this rule.
        rule: u8,
    },
    /// A run ends.
    End {
        /// Any that began, ended or not, lost or not.
        run: Index,
        /// How it went.
        outcome: Outcome,
        /// On this content.
        content: u8,
    },
    /// The owner revokes a run.
    Revoke {
        /// Any that began.
        run: Index,
    },
    /// The owner revokes what is no run.
    RevokeNothing,
    /// The owner accepts a policy.
    Accept {
        /// Which.
        policy: u8,
    },
    /// The owner resolves the clock, whether it needs it or not.
    ResolveClock,
    /// The owner rotates the key.
    Rotate,
    /// Time passes, by two clocks.
    Tick {
        /// The wall clock's step, in ms.
        wall_ms: i64,
        /// The boot clock's step, in ms.
        boot_ms: u64,
    },
    /// The writer ends, and another goes on.
    Reopen {
        /// The machine was started again.
        restarted: bool,
        /// So many of the newest commits were not acknowledged.
        beyond: usize,
    },
    /// Commits are cut off the end, and the owner goes on.
    Cut {
        /// So many.
        commits: usize,
        /// What the owner was told.
        cause: Cause,
    },
}

/// Any list of things that happen.
pub fn ops(count: Range<usize>) -> impl Strategy<Value = Vec<Op>> {
    vec(prop_oneof![12 => request(), 5 => tick(), 1 => reopen(), 1 => cut()], count)
}

/// Lists in which no commit is told from the next.
pub fn requests_and_time(count: Range<usize>) -> impl Strategy<Value = Vec<Op>> {
    vec(prop_oneof![8 => request(), 1 => tick()], count)
}

fn request() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (key(), 0..2_u8, 0..2_u8)
            .prop_map(|(key, content, rule)| Op::Begin { key, content, rule }),
        6 => (any::<Index>(), outcome(), 0..2_u8)
            .prop_map(|(run, outcome, content)| Op::End { run, outcome, content }),
        1 => any::<Index>().prop_map(|run| Op::Revoke { run }),
        1 => Just(Op::RevokeNothing),
        1 => (0..3_u8).prop_map(|policy| Op::Accept { policy }),
        1 => Just(Op::ResolveClock),
        1 => Just(Op::Rotate),
    ]
}

fn tick() -> impl Strategy<Value = Op> {
    const DAY: i64 = 86_400_000;
    const FIVE: i64 = 300_000;
    let forward = select(vec![0, 1, 60_000, 60_001, FIVE, DAY, DAY + 1]);
    let back = select(vec![-1, -60_000, -FIVE, -FIVE - 1, -2 * FIVE]);
    let wall_ms = prop_oneof![8 => forward, 2 => back];
    (wall_ms, prop::bool::weighted(0.2)).prop_map(|(wall_ms, stands)| {
        let boot_ms = if stands { 0 } else { u64::try_from(wall_ms).unwrap_or_default() };
        Op::Tick { wall_ms, boot_ms }
    })
}

fn reopen() -> impl Strategy<Value = Op> {
    (any::<bool>(), 0..4_usize).prop_map(|(restarted, beyond)| Op::Reopen { restarted, beyond })
}

fn cut() -> impl Strategy<Value = Op> {
    (0..6_usize, select(Cause::ALL)).prop_map(|(commits, cause)| Op::Cut { commits, cause })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![3 => Just(Outcome::Passed), 1 => select(Outcome::ALL)]
}

fn key() -> impl Strategy<Value = Key> {
    (0..2_u8, 0..2_u8, 0..2_u8).prop_map(|(namespace, step, subject)| Key {
        namespace,
        step,
        subject,
    })
}

/// Every question about a small world, at `now`.
pub fn all_questions(now: &Reading) -> Vec<Asked> {
    let now_ms = now.wall_ms;
    let (soon, before) = (now_ms.saturating_add(60_001), now_ms.saturating_sub(300_001));
    let mut all = Vec::new();
    for bits in 0..32_u8 {
        let bit = |at: u8| bits >> at & 1;
        let key = Key { namespace: bit(0), step: bit(1), subject: bit(2) };
        for lifetime_ms in LIFETIMES {
            for now_ms in [now_ms, soon, before] {
                all.push(Asked { key, content: bit(3), rule: bit(4), lifetime_ms, now_ms });
            }
        }
    }
    all
}

/// The names behind the small numbers.
#[derive(Debug, Clone)]
pub struct Names {
    /// Whose.
    pub namespace: Namespace,
    /// Which step.
    pub step: StepName,
    /// On which subject.
    pub subject: SubjectName,
    /// Who asks.
    pub session: SessionName,
}

impl Names {
    /// The names of a key. The step's name of one key is the beginning of another's.
    pub fn of(key: Key) -> Option<Self> {
        let pick = |number, one, other| if number == 0 { one } else { other };
        Some(Self {
            namespace: Namespace::new(pick(key.namespace, "local/default", "local")).ok()?,
            step: StepName::new(pick(key.step, "validate", "validateX")).ok()?,
            subject: SubjectName::parse(pick(key.subject, "HEAD", "text:X12")).ok()?,
            session: SessionName::new(pick(key.subject, "s1", "s2")).ok()?,
        })
    }
}

/// A digest behind a small number.
pub fn digest(of: &str, number: u8) -> Digest {
    Digest::of(of, &[&[number]])
}

/// An event with its own texts.
#[derive(Debug, Clone)]
pub struct OwnedEvent {
    event: Event<'static>,
    text: Vec<u8>,
}

impl OwnedEvent {
    /// The event.
    pub fn event(&self) -> Event<'_> {
        let text = || str::from_utf8(&self.text).unwrap_or_default();
        match self.event.clone() {
            Event::Named { space, number, .. } => Event::Named { space, number, name: &self.text },
            Event::Began(began) => Event::Began(Began { subject: text(), ..began }),
            Event::Revoked(revoked) => Event::Revoked(Revoked { reason: text(), ..revoked }),
            Event::Wrote(wrote) => Event::Wrote(Wrote { name: text(), ..wrote }),
            Event::Quarantined(held) => Event::Quarantined(Quarantined { name: text(), ..held }),
            Event::Opened(_)
            | Event::Observed(_)
            | Event::Superseded(_)
            | Event::Released(_)
            | Event::Granted(_)
            | Event::Consented(_)
            | Event::Spent(_)
            | Event::Decided(_)
            | Event::Enrolled(_)
            | Event::Genesis { .. }
            | Event::Policy { .. }
            | Event::Ended(_)
            | Event::Clock { .. }
            | Event::Recovered { .. }
            | Event::Resolved { .. }
            | Event::Rotated { .. } => self.event.clone(),
        }
    }
}

/// Any event that its encoding allows, of every kind.
pub fn event() -> impl Strategy<Value = OwnedEvent> {
    prop_oneof![
        named(),
        began(),
        ended(),
        revoked(),
        small(),
        event_of_its_own(),
        sessions(),
        entries(),
        wrote(),
        granted(),
        allowed()
    ]
}

fn named() -> BoxedStrategy<OwnedEvent> {
    let short = "\\PC{0,24}".prop_map(String::into_bytes);
    let name = select(Space::ALL).prop_flat_map(move |space| {
        let name = match space {
            Space::Tool => vec(any::<u8>(), 32..80).boxed(),
            Space::Rule => vec(any::<u8>(), 32).boxed(),
            Space::Namespace
            | Space::Step
            | Space::Session
            | Space::Channel
            | Space::Author
            | Space::Adapter
            | Space::Called => short.clone().boxed(),
        };
        (Just(space), name)
    });
    (name, number32())
        .prop_map(|((space, text), number)| OwnedEvent {
            event: Event::Named { space, number, name: b"" },
            text,
        })
        .boxed()
}

fn began() -> BoxedStrategy<OwnedEvent> {
    let numbers = [number32(), number32(), number32(), number32(), number32()];
    (numbers, "\\PC{0,40}", some_digest(), some_digest())
        .prop_map(|([namespace, step, tool, rule, session], text, subject_digest, arguments)| {
            let subject = "";
            let began =
                Began { namespace, step, tool, rule, session, subject, subject_digest, arguments };
            OwnedEvent { event: Event::Began(began), text: text.into_bytes() }
        })
        .boxed()
}

fn ended() -> BoxedStrategy<OwnedEvent> {
    (number64(), select(Outcome::ALL), any::<i32>(), some_digest(), some_digest())
        .prop_map(|(run, outcome, code, result, subject_digest)| OwnedEvent {
            event: Event::Ended(Ended { run, outcome, code, result, subject_digest }),
            text: Vec::new(),
        })
        .boxed()
}

fn revoked() -> BoxedStrategy<OwnedEvent> {
    let interval = (number64(), number64());
    (select(Revokes::ALL), number64(), number(), interval, select(Owner::ALL), "\\PC{0,40}")
        .prop_map(|(what, event, number, (one, other), owner, reason)| {
            let target = if what.is_event() { event } else { u64::from(number) };
            let interval = what.has_interval().then_some((one.min(other), one.max(other)));
            let revoked = Revoked { what, target, interval, owner, reason: "" };
            OwnedEvent { event: Event::Revoked(revoked), text: reason.into_bytes() }
        })
        .boxed()
}

fn sessions() -> BoxedStrategy<OwnedEvent> {
    let opened = (number(), option::of(number()), select(Start::ALL), number(), index()).prop_map(
        |(session, adapter, start, opener, record)| {
            let from = match start {
                Start::Fresh | Start::Unknown | Start::Partial | Start::Interactive => None,
                Start::Subagent => Some(u64::from(opener)),
                Start::Fired => Some(record),
            };
            Event::Opened(Opened { session, adapter, start, from })
        },
    );
    let observed = (
        [number(), number(), number()],
        select(Seen::ALL),
        authority(),
        option::of(index()),
        some_digest(),
    );
    let observed = observed.prop_map(|(numbers, seen, authority, record, content)| {
        let [session, channel, author] = numbers;
        let record = record.filter(|_| seen == Seen::Recalled);
        Event::Observed(Observed { session, seen, channel, author, authority, record, content })
    });
    let channels = vec(select(vec!["", "web", "mail:*", "größe"]), 0..4);
    let enrolled = (number32(), some_digest(), channels, select(Owner::ALL)).prop_map(
        |(adapter, credential, channels, owner)| {
            Event::Enrolled(Enrolled { adapter, credential, channels, owner })
        },
    );
    prop_oneof![opened, observed, enrolled].prop_map(textless).boxed()
}

fn entries() -> BoxedStrategy<OwnedEvent> {
    let superseded = (number64(), option::of(index()), option::of(select(Owner::ALL)))
        .prop_map(|(record, by, owner)| Event::Superseded(Superseded { record, by, owner }));
    let released =
        (number64(), number64(), select(Owner::ALL)).prop_map(|(quarantined, record, owner)| {
            Event::Released(Released { quarantined, record, owner })
        });
    let quarantined = (option::of(index()), number32(), "\\PC{0,40}", some_digest(), any::<u16>())
        .prop_map(|(record, namespace, name, content, reason)| OwnedEvent {
            event: Event::Quarantined(Quarantined { record, namespace, name: "", content, reason }),
            text: name.into_bytes(),
        });
    prop_oneof![superseded.prop_map(textless), released.prop_map(textless), quarantined].boxed()
}

fn wrote() -> BoxedStrategy<OwnedEvent> {
    let parents = prop_oneof![
        Just(Parents::None),
        Just(Parents::Context),
        vec(number64(), 1..4).prop_map(Parents::Proven),
    ];
    let who = (option::of(number()), [number32(), number32(), number32()], select(Owner::ALL));
    let what = (select(EntryKind::ALL), authority(), parents, option::of(index()));
    (who, what, "\\PC{0,40}", some_digest(), some_digest())
        .prop_map(|(who, what, name, content, fingerprint)| {
            let (session, [namespace, channel, author], owner) = who;
            let (entry, authority, parents, policy) = what;
            let owner = (parents == Parents::None).then_some(owner);
            let wrote = Wrote {
                session,
                entry,
                namespace,
                channel,
                author,
                authority,
                parents,
                policy,
                name: "",
                content,
                fingerprint,
                owner,
            };
            OwnedEvent { event: Event::Wrote(wrote), text: name.into_bytes() }
        })
        .boxed()
}

fn granted() -> BoxedStrategy<OwnedEvent> {
    let word = || select(vec!["", "a", "ab", "payee"]);
    let kind = select(LimitKind::ALL.to_vec());
    let limit = (word(), kind, vec(word(), 0..3)).prop_map(|(argument, kind, values)| Limit {
        argument,
        kind,
        values,
    });
    let budget = option::of((select(vec!["a", "amount"]), number64()));
    let whom = (number32(), select(Audience::ALL), number64());
    let bounds = (number64(), number64(), 1..=u32::MAX, budget, vec(limit, 0..3));
    (whom, bounds, option::of(index()), select(Owner::ALL), any::<bool>())
        .prop_map(|((called, audience, audience_of), bounds, parent, owner, asked)| {
            let (one, other, uses, budget, limits) = bounds;
            let owner = (asked || parent.is_none()).then_some(owner);
            let (from_ms, until_ms) = (one.min(other), one.max(other));
            textless(Event::Granted(Granted {
                called,
                audience,
                audience_of,
                from_ms,
                until_ms,
                uses,
                budget,
                limits,
                parent,
                owner,
            }))
        })
        .boxed()
}

fn allowed() -> BoxedStrategy<OwnedEvent> {
    let consented = (number32(), some_digest(), number64(), select(Owner::ALL)).prop_map(
        |(session, call, until_ms, owner)| {
            Event::Consented(Consented { session, call, until_ms, owner })
        },
    );
    let spent = (select(Spends::ALL), number64(), number64())
        .prop_map(|(what, of, amount)| Event::Spent(Spent { what, of, amount }));
    let about = (number32(), number32(), some_digest(), some_digest());
    let decided = (about, select(Decision::ALL), any::<u16>(), option::of(index()), number32())
        .prop_map(|((session, called, call, call_id), decision, reason, origin, count)| {
            Event::Decided(Decided {
                session,
                called,
                call,
                call_id,
                decision,
                reason,
                origin,
                count,
            })
        });
    prop_oneof![consented, spent, decided].prop_map(textless).boxed()
}

fn authority() -> impl Strategy<Value = Authority> {
    select(Authority::ALL.to_vec())
}

/// A number of a name: all ones stand for none.
fn number() -> BoxedStrategy<u32> {
    prop_oneof![3 => 0..4_u32, 1 => 0..u32::MAX].boxed()
}

/// An index of an event: all ones stand for none.
fn index() -> BoxedStrategy<u64> {
    prop_oneof![3 => 0..4_u64, 1 => 0..u64::MAX].boxed()
}

fn small() -> BoxedStrategy<OwnedEvent> {
    let genesis =
        any::<[u8; 16]>().prop_map(|bytes| Event::Genesis { ledger: LedgerId::from_bytes(bytes) });
    let rotated = (number32(), any::<[u8; 16]>(), select(Owner::ALL))
        .prop_map(|(generation, key_id, owner)| Event::Rotated { generation, key_id, owner });
    prop_oneof![genesis, rotated].prop_map(textless).boxed()
}

/// Any event that may stand behind any other.
pub fn event_of_its_own() -> BoxedStrategy<OwnedEvent> {
    let owner = || select(Owner::ALL);
    let mac = any::<[u8; 32]>().prop_map(Mac::from_bytes);
    prop_oneof![
        (some_digest(), owner()).prop_map(|(digest, owner)| Event::Policy { digest, owner }),
        (number64(), number64()).prop_map(|(before, now)| Event::Clock { before, now }),
        (number64(), number64(), number64(), some_digest()).prop_map(
            |(first, kept, dropped, digest)| Event::Recovered { first, kept, dropped, digest }
        ),
        (select(Cause::ALL), number64(), mac, owner()).prop_map(|(cause, count, mac, owner)| {
            Event::Resolved { cause, count, mac, owner }
        }),
    ]
    .prop_map(textless)
    .boxed()
}

fn textless(event: Event<'static>) -> OwnedEvent {
    OwnedEvent { event, text: Vec::new() }
}

fn some_digest() -> impl Strategy<Value = Digest> + Clone {
    prop_oneof![0..4_u8, any::<u8>()].prop_map(|number| digest("story", number))
}

fn number32() -> BoxedStrategy<u32> {
    prop_oneof![3 => 0..4_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)].boxed()
}

fn number64() -> BoxedStrategy<u64> {
    prop_oneof![3 => 0..4_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)].boxed()
}

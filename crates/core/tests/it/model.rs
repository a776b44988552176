//! The ledger answers as the naive model of it does, whatever happens; and what it keeps in memory is what its bytes say.

use std::collections::BTreeSet;

use actum_core::{
    Cause, Digest, Done, KeyFile, Keyring, Layout, Ledger, Leftover, Loss, NewEnd, NewRun, OpenRun,
    Outcome, Owner, Position, Question, Reading, Rejected, Request, Views, ground,
};
use actum_testkit::memory::{Memory, fold};
use actum_testkit::model::{Asked, Key, Model};
use actum_testkit::story::{Names, Op, START, all_questions, digest, ops, requests_and_time};
use proptest::prelude::*;

use crate::{key_file, root, seeds};

proptest! {
    #![proptest_config(seeds("proptest-regressions/model.txt"))]

    #[test]
    fn the_ledger_answers_as_the_model_does(ops in ops(1..40)) {
        let mut play = Play::new(Commits::One);
        for (at, op) in ops.iter().enumerate() {
            play.perform(op);
            // Each time others, so that a story takes milliseconds.
            let questions: Vec<_> = all_questions(&play.now).into_iter().skip(at % 41).step_by(41).collect();
            play.compare(play.ledger.as_ref().unwrap().views(), &questions);
        }
        play.compare(play.ledger.as_ref().unwrap().views(), &all_questions(&play.now));
    }

    #[test]
    fn the_views_are_what_the_bytes_say(ops in ops(1..40)) {
        let play = Play::of(&ops, Commits::One);
        let ledger = play.ledger.as_ref().unwrap();
        let read = fold(ledger.journal().segment(), &play.keys()).unwrap();
        play.compare(&read, &all_questions(&play.now));
        // A claim raises the incarnation before an event carries it.
        let incarnation = ledger.views().position().incarnation;
        prop_assert_eq!(&Position { incarnation, ..*read.position() }, ledger.views().position());
        prop_assert_eq!(Some(ledger.views().position()), ledger.journal().head());
        prop_assert!(read.open_runs().eq(ledger.views().open_runs()));
        prop_assert_eq!(read.run_count(), ledger.views().run_count());
        prop_assert_eq!(read.policy(), ledger.views().policy());
        prop_assert_eq!(read.time_ms(), ledger.views().time_ms());
    }

    #[test]
    fn the_same_requests_give_the_same_bytes(ops in ops(1..40)) {
        prop_assert_eq!(bytes_of(&ops, Commits::One), bytes_of(&ops, Commits::One));
    }

    #[test]
    fn one_commit_gives_the_bytes_of_many(ops in requests_and_time(1..60)) {
        prop_assert_eq!(bytes_of(&ops, Commits::Grouped), bytes_of(&ops, Commits::One));
    }

    #[test]
    fn how_checks_are_grouped_does_not_matter(
        ops in ops(1..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        flip in any::<prop::sample::Index>(),
    ) {
        let play = Play::of(&ops, Commits::One);
        let keys = play.keys();
        let mut bytes = play.ledger.unwrap().into_journal().segment().to_vec();
        for damaged in [false, true] {
            if damaged {
                let at = flip.index(bytes.len());
                bytes[at] ^= 1;
            }
            let whole = admit(&bytes, &keys, &BTreeSet::new());
            let layout = Layout::read(&bytes, &keys, &Position::START);
            let cuts = cuts.iter().map(|cut| cut.index(layout.len() + 1)).collect();
            prop_assert_eq!(admit(&bytes, &keys, &cuts), whole);
        }
    }
}

/// The ledger at the end of a story, and the clock then.
pub(crate) fn play(ops: &[Op]) -> (Ledger<Memory>, Reading) {
    let play = Play::of(ops, Commits::One);
    (play.ledger.unwrap(), play.now)
}

fn admit(bytes: &[u8], keys: &Keyring, cuts: &BTreeSet<usize>) -> String {
    let layout = Layout::read(bytes, keys, &Position::START);
    let mut edges: Vec<usize> = [0, layout.len()].into_iter().chain(cuts.iter().copied()).collect();
    edges.sort_unstable();
    let checks = edges.windows(2).rev().map(|edge| layout.check(edge[0]..edge[1])).collect();
    let mut views = Views::new(keys.clone(), &[]);
    let admitted = views.admit(&layout.conclude(checks));
    format!("{admitted:?} {:?}", views.position())
}

fn bytes_of(ops: &[Op], commits: Commits) -> Vec<u8> {
    let mut play = Play::of(ops, commits);
    play.flush();
    play.ledger.unwrap().into_journal().segment().to_vec()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commits {
    One,
    Grouped,
}

/// What the model says must become of a request.
#[derive(Debug)]
enum Expected {
    Began(usize),
    Ended(Option<Outcome>),
    Event,
    Refused,
}

#[derive(Default)]
struct Run {
    index: Option<u64>,
    right: Option<OpenRun>,
}

/// Where an acknowledged commit ended: for the bytes, for the model, by the clock.
#[derive(Clone, Copy)]
struct Mark {
    bytes: usize,
    count: u64,
    facts: usize,
    last: Reading,
}

/// Plays a story to the ledger and to the model.
struct Play {
    ledger: Option<Ledger<Memory>>,
    model: Model,
    file: KeyFile,
    now: Reading,
    runs: Vec<Run>,
    marks: Vec<Mark>,
    commits: Commits,
    waiting: Vec<(Request, Expected)>,
}

impl Play {
    fn new(commits: Commits) -> Self {
        let file = key_file();
        let ledger = Ledger::create(Keyring::new(&file), Memory::default(), &START).unwrap();
        let nothing = Mark { bytes: 0, count: 0, facts: 0, last: START };
        let mut play = Self {
            ledger: Some(ledger),
            model: Model::new(START),
            file,
            now: START,
            runs: Vec::new(),
            marks: vec![nothing],
            commits,
            waiting: Vec::new(),
        };
        play.mark();
        play
    }

    fn of(ops: &[Op], commits: Commits) -> Self {
        let mut play = Self::new(commits);
        for op in ops {
            play.perform(op);
        }
        play
    }

    fn keys(&self) -> Keyring {
        Keyring::new(&self.file)
    }

    fn perform(&mut self, op: &Op) {
        let now = self.now;
        match *op {
            Op::Begin { key, content, rule } => {
                let run = self.runs.len();
                self.runs.push(Run::default());
                self.model.begin(now, run, key, content, rule);
                let request = Request::Begin(new_run(key, content, rule));
                self.ask(request, Expected::Began(run));
            }
            Op::End { run, outcome, content } => {
                self.flush_begins();
                let Some(run) = (!self.runs.is_empty()).then(|| run.index(self.runs.len())) else {
                    return;
                };
                // The right is gone with the first end; nobody can ask twice.
                let Some(right) = self.runs[run].right.take() else { return };
                let recorded = self.model.end(now, run, outcome, content);
                let content = digest("content", content);
                let result = Digest::plain(b"");
                let end = NewEnd { run: right, outcome, code: 0, result, content };
                self.ask(Request::End(end), Expected::Ended(recorded));
            }
            Op::Revoke { run } => {
                self.flush_begins();
                let Some(run) = (!self.runs.is_empty()).then(|| run.index(self.runs.len())) else {
                    return;
                };
                // A lost run has no index: by now it may be another's.
                let Some(index) = self.runs[run].index else { return };
                assert!(self.model.revoke(now, run));
                self.revoke(index, Expected::Event);
            }
            Op::RevokeNothing => {
                self.model.other(now, false);
                self.revoke(0, Expected::Refused);
            }
            Op::Accept { policy } => {
                self.model.accept(now, policy);
                let policy = digest("policy", policy);
                self.ask(Request::Accept { policy, owner: Owner::Code }, Expected::Event);
            }
            Op::ResolveClock => {
                let needed = self.model.resolve_clock(now);
                let expected = if needed { Expected::Event } else { Expected::Refused };
                self.ask(Request::ResolveClock { owner: Owner::Terminal }, expected);
            }
            Op::Rotate => {
                let next = self.file.active() + 1;
                let number = u8::try_from(next).unwrap();
                self.file = self.file.with_next(root(number)).unwrap().with_active(next).unwrap();
                self.model.other(now, true);
                let keys = Box::new(self.keys());
                self.ask(Request::Rotate { keys, owner: Owner::YesFlag }, Expected::Event);
            }
            Op::Tick { wall_ms, boot_ms } => {
                self.flush();
                self.now.wall_ms = now.wall_ms.saturating_add_signed(wall_ms);
                self.now.boot_ms += boot_ms;
            }
            Op::Reopen { restarted, beyond } => self.reopen(restarted, beyond),
            Op::Cut { commits, cause } => self.cut(commits, cause),
        }
    }

    fn revoke(&mut self, run: u64, expected: Expected) {
        let reason = "no longer believed".to_owned();
        self.ask(Request::Revoke { run, reason, owner: Owner::Terminal }, expected);
    }

    fn ask(&mut self, request: Request, expected: Expected) {
        self.waiting.push((request, expected));
        if self.commits == Commits::One {
            self.flush();
        }
    }

    fn flush_begins(&mut self) {
        if self.waiting.iter().any(|(_, expected)| matches!(expected, Expected::Began(_))) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let (requests, expected): (Vec<_>, Vec<_>) = self.waiting.drain(..).unzip();
        if requests.is_empty() {
            return;
        }
        let done = self.ledger.as_mut().unwrap().commit(requests, &self.now).unwrap();
        assert_eq!(done.len(), expected.len());
        for (done, expected) in done.into_iter().zip(expected) {
            match (expected, done) {
                (Expected::Began(run), Ok(Done::Began(right))) => {
                    self.runs[run].index = Some(right.index());
                    self.runs[run].right = Some(right);
                }
                (Expected::Ended(Some(recorded)), Ok(Done::Ended { outcome, .. })) => {
                    assert_eq!(outcome, recorded);
                }
                (Expected::Ended(None), Err(Rejected::NotOpen { .. }))
                | (Expected::Event, Ok(Done::Event(_)))
                | (
                    Expected::Refused,
                    Err(Rejected::NoRun { run: 0 } | Rejected::NothingToResolve),
                ) => {}
                (expected, done) => panic!("the model says {expected:?}, the ledger {done:?}"),
            }
        }
        self.mark();
    }

    fn mark(&mut self) {
        let ledger = self.ledger.as_ref().unwrap();
        self.marks.push(Mark {
            bytes: ledger.journal().segment().len(),
            count: ledger.views().position().count,
            facts: self.model.len(),
            last: self.now,
        });
    }

    /// The mark so many commits ago.
    fn back(&self, commits: usize) -> usize {
        self.marks.len().saturating_sub(commits + 1)
    }

    fn reopen(&mut self, restarted: bool, beyond: usize) {
        self.flush();
        let ledger = self.ledger.take().unwrap();
        let incarnation = ledger.views().position().incarnation;
        let bytes = ledger.into_journal().segment().to_vec();
        if restarted {
            self.now = Reading { boot_ms: 1, boot_id: [self.now.boot_id[0] + 1; 16], ..self.now };
        }
        let head = self.marks[self.back(beyond).max(1)];
        let views = fold(&bytes, &self.keys()).unwrap();
        let found = views.position().count;
        let kept = found - head.count;
        let (first, digest) = (head.count, Digest::of("actum/dropped/v1", &[b""]));
        let leftover = Leftover { first, kept, dropped: 0, digest };
        let leftover = (kept > 0).then_some(&leftover);
        self.model.reopen(head.last, self.now, leftover.map(|_| head.facts));
        let journal = Memory::holding(bytes);
        let ledger = Ledger::resume(views, journal, incarnation, &head.last, leftover, &self.now);
        let ledger = ledger.unwrap();
        let wrote = ledger.views().position().count > found;
        self.ledger = Some(ledger);
        if wrote {
            self.mark();
        }
    }

    fn cut(&mut self, commits: usize, cause: Cause) {
        self.flush();
        let ledger = self.ledger.take().unwrap();
        let (count, mac) = (ledger.views().position().count, ledger.views().position().mac);
        let incarnation = ledger.views().position().incarnation;
        let mut bytes = ledger.into_journal().segment().to_vec();
        let to = self.back(commits);
        let mark = self.marks[to];
        self.marks.truncate(to + 1);
        bytes.truncate(mark.bytes);
        for run in &mut self.runs {
            run.index = run.index.filter(|index| *index < mark.count);
        }
        self.model.lose(self.now, mark.facts, cause);
        let views = fold(&bytes, &self.keys()).unwrap();
        let loss = Loss { cause, count, mac, owner: Owner::Terminal };
        let journal = Memory::holding(bytes);
        self.ledger = Some(Ledger::resolve(views, journal, incarnation, &loss, &self.now).unwrap());
        self.mark();
    }

    fn compare(&self, views: &Views, questions: &[Asked]) {
        for asked in questions {
            assert_eq!(reason(views, asked), self.model.answer(asked), "{asked:?}");
        }
        let policy = self.model.policy().map(|policy| digest("policy", policy));
        assert_eq!(views.policy().map(|accepted| accepted.digest), policy);
        // The other way round does not hold: an end may be lost, its right is spent all the same.
        let mut rights =
            self.runs.iter().filter(|run| run.right.is_some()).filter_map(|run| run.index);
        assert!(rights.all(|run| views.is_open(run)), "whoever may end a run finds it open");
    }
}

fn reason(views: &Views, asked: &Asked) -> &'static str {
    let names = Names::of(asked.key).unwrap();
    let question = Question {
        namespace: &names.namespace,
        step: &names.step,
        subject: &names.subject,
        content: &digest("content", asked.content),
        rule: &digest("rule", asked.rule),
        lifetime_ms: asked.lifetime_ms,
    };
    ground(views, &question, asked.now_ms).reason.code()
}

fn new_run(key: Key, content: u8, rule: u8) -> NewRun {
    let Names { namespace, step, subject, session } = Names::of(key).unwrap();
    NewRun {
        namespace,
        step,
        subject,
        content: digest("content", content),
        arguments: digest("arguments", rule),
        tool: digest("tool", rule),
        tool_path: b"/usr/bin/cargo".to_vec(),
        rule: digest("rule", rule),
        session,
    }
}

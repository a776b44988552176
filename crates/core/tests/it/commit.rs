//! Nothing is answered before it is kept; what is refused touches nothing; a right is spent once.

use actum_core::{
    BATCH_MAX, Cause, CommitError, Digest, Done, KeyFile, Keyring, Ledger, LedgerId, Leftover,
    Loss, NAMED_MAX, NewEnd, NewRun, OpenRun, Outcome, Owner, REASON_MAX, Reading, Rejected,
    Request, Views,
};
use actum_testkit::memory::{Fault, Memory, fold};
use actum_testkit::model::Key;
use actum_testkit::story::{Names, START, digest};

use crate::{LEDGER, key_file, keys, root};

const KEY: Key = Key { namespace: 0, step: 0, subject: 1 };
const OWNER: Owner = Owner::Terminal;

fn new_run(key: Key) -> NewRun {
    let Names { namespace, step, subject, session } = Names::of(key).unwrap();
    NewRun {
        namespace,
        step,
        subject,
        content: digest("content", 0),
        arguments: digest("arguments", 0),
        tool: digest("tool", 0),
        tool_path: b"/usr/bin/cargo".to_vec(),
        rule: digest("rule", 0),
        session,
    }
}

fn new_end(run: OpenRun, outcome: Outcome, content: u8) -> NewEnd {
    NewEnd {
        run,
        outcome,
        code: 0,
        result: Digest::plain(b""),
        content: digest("content", content),
    }
}

fn accept(policy: u8) -> Request {
    Request::Accept { policy: digest("policy", policy), owner: OWNER }
}

fn revoke(run: u64, reason: &str) -> Request {
    Request::Revoke { run, reason: reason.to_owned(), owner: OWNER }
}

fn new_ledger() -> Ledger<Memory> {
    Ledger::create(keys(), Memory::default(), &START).unwrap()
}

fn reopened(ledger: Ledger<Memory>) -> Ledger<Memory> {
    let incarnation = ledger.views().position().incarnation;
    let bytes = ledger.into_journal().segment().to_vec();
    let views = fold(&bytes, &keys()).unwrap();
    Ledger::resume(views, Memory::holding(bytes), incarnation, &START, None, &START).unwrap()
}

fn resolved(views: Views, bytes: &[u8], now: &Reading) -> Ledger<Memory> {
    let loss = Loss { cause: Cause::Truncated, count: 99, mac: views.position().mac, owner: OWNER };
    Ledger::resolve(views, Memory::holding(bytes.to_vec()), 1, &loss, now).unwrap()
}

/// Begins, ends, revokes and accepts until something fails; how many calls of the journal were answered.
fn live(journal: Memory) -> (usize, CommitError, Option<Ledger<Memory>>) {
    let mut ledger = match Ledger::create(keys(), journal, &START) {
        Ok(ledger) => ledger,
        Err(error) => return (0, error, None),
    };
    let mut answered = 2;
    for _ in 0..20 {
        let run = match ledger.begin(new_run(KEY), &START) {
            Ok(run) => run,
            Err(error) => return (answered, error, Some(ledger)),
        };
        answered += 1;
        let index = run.index();
        match ledger.end(new_end(run, Outcome::Passed, 0), &START) {
            Ok(outcome) => assert_eq!(outcome, Outcome::Passed),
            Err(error) => return (answered, error, Some(ledger)),
        }
        answered += 1;
        match ledger.commit(vec![revoke(index, ""), revoke(0, ""), accept(1)], &START) {
            Ok(done) => assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 2),
            Err(error) => return (answered, error, Some(ledger)),
        }
        answered += 1;
    }
    panic!("the journal was to fail, and the ledger heard nothing of it");
}

#[test]
fn nothing_is_answered_before_it_is_kept_and_a_failure_closes() {
    for call in 0..12 {
        for fault in [Fault::Lost, Fault::Kept] {
            let (answered, error, ledger) = live(Memory::default().failing_at(call, fault));
            assert!(matches!(error, CommitError::Journal(_)), "call {call}: {error}");
            assert_eq!(answered, if call < 2 { 0 } else { call }, "as many as were kept before");
            let Some(mut ledger) = ledger else { continue };
            let (calls, bytes) = (ledger.journal().calls(), ledger.journal().segment().to_vec());
            assert_eq!(calls, call + 1);

            let closed = [
                ledger.begin(new_run(KEY), &START).map(drop),
                ledger.record(accept(2), &START).map(drop),
                ledger.commit(Vec::new(), &START).map(drop),
            ];
            for again in closed {
                assert!(matches!(again, Err(CommitError::Closed)), "{again:?}");
            }
            assert_eq!(ledger.journal().calls(), calls, "a closed ledger asks nobody");
            assert_eq!(ledger.journal().segment(), bytes);
            // What was acknowledged is there, and what is there verifies.
            let found = fold(&bytes, &keys()).unwrap().position().count;
            let head = ledger.journal().head().unwrap().count;
            assert!(found >= head);
            assert_eq!(found == head, fault == Fault::Lost);
        }
    }
}

#[test]
fn the_journal_is_told_where_the_head_was_and_is() {
    let mut ledger = new_ledger();
    assert_eq!(ledger.journal().calls(), 2, "a claim, then the genesis");
    let before = *ledger.views().position();
    ledger.record(accept(1), &START).unwrap();
    assert_eq!(ledger.journal().head(), Some(ledger.views().position()));
    assert_eq!(ledger.views().position().count, before.count + 1);
    assert_eq!(ledger.views().position().incarnation, 1);
    let ledger = reopened(ledger);
    assert_eq!(ledger.journal().calls(), 1, "a claim, and nothing else until something is asked");
    assert_eq!(ledger.views().position().incarnation, 2);
}

#[test]
fn what_is_refused_touches_nothing() {
    let mut ledger = new_ledger();
    let run = ledger.begin(new_run(KEY), &START).unwrap();
    let (bytes, calls) = (ledger.journal().segment().to_vec(), ledger.journal().calls());
    let long = NewRun { tool_path: vec![b'a'; NAMED_MAX - 31], ..new_run(KEY) };
    let refused = [
        Request::Begin(long),
        revoke(0, ""),
        revoke(run.index() - 1, ""),
        revoke(u64::MAX, ""),
        revoke(run.index(), &"r".repeat(REASON_MAX + 1)),
        Request::ResolveClock { owner: OWNER },
        Request::Rotate { keys: Box::new(keys()), owner: OWNER },
    ];
    let mut said = Vec::new();
    for request in refused {
        match ledger.record(request, &START) {
            Err(CommitError::Rejected(rejected)) => said.push(rejected.to_string()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(ledger.journal().segment(), bytes);
    assert_eq!(ledger.journal().calls(), calls, "nothing was written, so nobody was asked");
    assert!(ledger.views().is_open(run.index()));
    insta::assert_snapshot!(said.join("\n"), @r"
    the path of the tool has 4169 bytes; the limit is 4168
    event 0 is not the beginning of a run
    event 5 is not the beginning of a run
    event 18446744073709551615 is not the beginning of a run
    the reason has 1025 bytes; the limit is 1024
    the clock has not jumped: there is nothing to resolve
    the key file holds no root for generation 1
    ");
}

#[test]
fn a_refusal_does_not_disturb_its_neighbours() {
    let mut one = new_ledger();
    let run = one.begin(new_run(KEY), &START).unwrap().index();
    let mut other = new_ledger();
    other.begin(new_run(KEY), &START).unwrap();
    let good = || [accept(1), revoke(run, "why"), Request::Begin(new_run(KEY)), accept(2)];
    let [a, b, c, d] = good();
    let mixed = vec![
        revoke(0, ""),
        a,
        Request::ResolveClock { owner: OWNER },
        b,
        revoke(99, ""),
        c,
        Request::Rotate { keys: Box::new(keys()), owner: OWNER },
        d,
    ];
    let done = one.commit(mixed, &START).unwrap();
    let kept: Vec<_> = done.iter().filter_map(|done| done.as_ref().ok()).collect();
    let alone = other.commit(good().into(), &START).unwrap();
    assert_eq!(kept, alone.iter().map(|done| done.as_ref().unwrap()).collect::<Vec<_>>());
    assert_eq!(one.journal().segment(), other.journal().segment());
    assert!(done.iter().step_by(2).all(Result::is_err));
}

#[test]
fn one_commit_has_a_limit() {
    let mut ledger = new_ledger();
    let many = |count: usize| (0..count).map(|_| accept(1)).collect::<Vec<_>>();
    let bytes = ledger.journal().segment().to_vec();
    let refused = ledger.commit(many(BATCH_MAX + 1), &START).unwrap_err();
    assert_eq!(refused.to_string(), "1025 requests in one commit; the limit is 1024");
    assert_eq!(ledger.journal().segment(), bytes);
    assert_eq!(ledger.commit(many(BATCH_MAX), &START).unwrap().len(), BATCH_MAX);
    assert_eq!(ledger.journal().calls(), 3);
}

#[test]
fn an_end_may_stand_in_the_commit_of_another_beginning_and_a_revocation() {
    let mut ledger = new_ledger();
    let run = ledger.begin(new_run(KEY), &START).unwrap();
    let index = run.index();
    let requests = vec![
        revoke(index, "while it is open"),
        Request::Begin(new_run(KEY)),
        Request::End(new_end(run, Outcome::Passed, 0)),
        revoke(index, "again"),
    ];
    let done = ledger.commit(requests, &START).unwrap();
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert!(!ledger.views().is_open(index));
    let open: Vec<_> = ledger.views().open_runs().collect();
    assert_eq!(open, [index + 2], "the run that began behind the revocation");
}

#[test]
fn a_pass_on_other_content_is_none_even_if_a_newer_run_began() {
    let mut ledger = new_ledger();
    let older = ledger.begin(new_run(KEY), &START).unwrap();
    let newer = ledger.begin(new_run(KEY), &START).unwrap();
    let recorded = ledger.end(new_end(older, Outcome::Passed, 1), &START).unwrap();
    assert_eq!(recorded, Outcome::SubjectChanged);
    // What went wrong otherwise is said as it is.
    let recorded = ledger.end(new_end(newer, Outcome::Failed, 1), &START).unwrap();
    assert_eq!(recorded, Outcome::Failed);
}

#[test]
fn a_right_to_end_a_run_does_not_outlive_its_beginning() {
    let mut ledger = new_ledger();
    ledger.begin(new_run(KEY), &START).unwrap();
    let before = ledger.journal().segment().to_vec();
    ledger.begin(new_run(KEY), &START).unwrap();
    let lost = ledger.begin(new_run(KEY), &START).unwrap();
    // Both are cut off, and the owner goes on. Then another run comes to have the index.
    let mut ledger = resolved(fold(&before, &keys()).unwrap(), &before, &START);
    let other = ledger.begin(new_run(KEY), &START).unwrap();
    assert_eq!(other.index(), lost.index());
    let error = ledger.end(new_end(lost, Outcome::Passed, 0), &START).unwrap_err();
    assert_eq!(error.to_string(), "run 8 is not open: it ended before, or its beginning was lost");
    assert!(ledger.views().is_open(other.index()));
}

#[test]
fn a_right_of_another_ledger_ends_nothing() {
    let other = Keyring::new(&KeyFile::new(LedgerId::from_bytes([9; 16]), root(0)));
    let mut other = Ledger::create(other, Memory::default(), &START).unwrap();
    let mut ledger = new_ledger();
    let ours = ledger.begin(new_run(KEY), &START).unwrap();
    let theirs = other.begin(new_run(KEY), &START).unwrap();
    assert_eq!(theirs.index(), ours.index());
    let error = ledger.end(new_end(theirs, Outcome::Passed, 0), &START).unwrap_err();
    assert_eq!(error.to_string(), "run 6 began in another ledger");
    assert!(ledger.views().is_open(ours.index()));
}

#[test]
fn a_writer_that_starts_again_may_end_what_the_last_began() {
    let mut ledger = new_ledger();
    let run = ledger.begin(new_run(KEY), &START).unwrap();
    let mut ledger = reopened(ledger);
    assert_eq!(ledger.end(new_end(run, Outcome::Passed, 0), &START).unwrap(), Outcome::Passed);
}

#[test]
fn a_rotation_takes_no_keyring_that_forgot_or_changed_a_root() {
    let mut ledger = new_ledger();
    let stranger = KeyFile::new(LEDGER, root(9)).with_next(root(1)).unwrap();
    let other = KeyFile::new(LedgerId::from_bytes([9; 16]), root(0)).with_next(root(1)).unwrap();
    let bytes = ledger.journal().segment().to_vec();
    for file in [stranger, other] {
        let keys = Box::new(Keyring::new(&file));
        let error = ledger.record(Request::Rotate { keys, owner: OWNER }, &START).unwrap_err();
        let text = "the key file holds another root for generation 0 than this ledger has";
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(ledger.journal().segment(), bytes);

    let next = key_file().with_next(root(1)).unwrap();
    let ring = Box::new(Keyring::new(&next));
    ledger.record(Request::Rotate { keys: ring, owner: OWNER }, &START).unwrap();
    ledger.record(accept(1), &START).unwrap();
    let bytes = ledger.journal().segment();
    assert!(fold(bytes, &Keyring::new(&next)).is_ok());
    assert_eq!(fold(bytes, &keys()).unwrap_err().to_string(), "event 1: no root for generation 1");
}

#[test]
fn a_jump_forward_is_said_whatever_is_written_next() {
    let jumped = Reading { wall_ms: START.wall_ms + 86_400_001, ..START };
    let mut ledger = new_ledger();
    ledger.record(Request::ResolveClock { owner: OWNER }, &jumped).unwrap();
    assert_eq!(ledger.views().position().count, 3, "the jump, and that the owner resolved it");
    assert_eq!(ledger.views().distrusted_since(), None);

    // A crash lies between: the clock of the head is compared with that of the recovery.
    let bytes = new_ledger().into_journal().segment().to_vec();
    let views = fold(&bytes, &keys()).unwrap();
    let leftover = Leftover {
        first: 1,
        kept: 0,
        dropped: 3,
        digest: Digest::of("actum/dropped/v1", &[b"abc"]),
    };
    let journal = Memory::holding(bytes);
    let ledger = Ledger::resume(views, journal, 1, &START, Some(&leftover), &jumped).unwrap();
    assert_eq!(ledger.views().distrusted_since(), Some(1));
}

#[test]
fn a_resolve_that_was_not_acknowledged_sets_no_clock_back() {
    let later = Reading::wall(START.wall_ms + 3_600_000);
    let mut ledger = new_ledger();
    ledger.record(accept(1), &later).unwrap();
    let first = ledger.views().position().count;
    // The clock is set back by an hour; the owner goes on, and the writer stops before the head moves.
    ledger.record(accept(2), &START).unwrap();
    ledger.record(Request::ResolveClock { owner: OWNER }, &START).unwrap();
    assert_eq!(ledger.views().time_ms(), START.wall_ms);
    let kept = ledger.views().position().count - first;
    let bytes = ledger.into_journal().segment().to_vec();

    let mut views = fold(&bytes, &keys()).unwrap();
    views.confirm_before(first);
    assert_eq!(views.time_ms(), later.wall_ms);
    let digest = Digest::of("actum/dropped/v1", &[b""]);
    let leftover = Leftover { first, kept, dropped: 0, digest };
    let views = fold(&bytes, &keys()).unwrap();
    let journal = Memory::holding(bytes);
    let ledger = Ledger::resume(views, journal, 1, &later, Some(&leftover), &START).unwrap();
    let read = fold(ledger.journal().segment(), &keys()).unwrap();
    for views in [ledger.views(), &read] {
        assert_eq!(views.time_ms(), later.wall_ms);
        assert!(views.distrusted_since().is_some());
    }
}

#[test]
fn a_policy_that_was_not_acknowledged_does_not_come_into_force() {
    let mut ledger = new_ledger();
    ledger.record(accept(1), &START).unwrap();
    ledger.record(accept(2), &START).unwrap();
    let bytes = ledger.into_journal().segment().to_vec();
    let mut views = fold(&bytes, &keys()).unwrap();
    assert_eq!(views.policy().unwrap().digest, digest("policy", 2));
    views.confirm_before(2);
    assert_eq!(views.policy().unwrap().digest, digest("policy", 1));
    assert_eq!(views.policy().unwrap().event, 1);
    assert_eq!(views.policy().unwrap().owner, OWNER);

    let leftover =
        Leftover { first: 2, kept: 1, dropped: 0, digest: Digest::of("actum/dropped/v1", &[b""]) };
    let views = fold(&bytes, &keys()).unwrap();
    let journal = Memory::holding(bytes);
    let ledger = Ledger::resume(views, journal, 1, &START, Some(&leftover), &START).unwrap();
    let read = fold(ledger.journal().segment(), &keys()).unwrap();
    for views in [ledger.views(), &read] {
        assert_eq!(views.policy().unwrap().digest, digest("policy", 1));
    }
}

#[test]
fn the_first_answer_of_a_commit_is_the_first_request() {
    let mut ledger = new_ledger();
    let done = ledger.commit(vec![accept(1), revoke(0, ""), accept(2)], &START).unwrap();
    let expected = [Ok(Done::Event(1)), Err(Rejected::NoRun { run: 0 }), Ok(Done::Event(2))];
    assert_eq!(done, expected);
}

#[test]
fn the_last_incarnation_is_not_passed() {
    let bytes = new_ledger().into_journal().segment().to_vec();
    let views = fold(&bytes, &keys()).unwrap();
    let journal = Memory::holding(bytes);
    let mut ledger = Ledger::resume(views, journal, u32::MAX, &START, None, &START).unwrap();
    ledger.record(accept(1), &START).unwrap();
    let read = fold(ledger.journal().segment(), &keys()).unwrap();
    assert_eq!(read.position().incarnation, u32::MAX);
}

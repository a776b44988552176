//! The order of durability, without a disk: no right and no answer is given before its event is kept, and after a call that
//! failed nothing is given at all.

use actum_core::{
    CommitError, Digest, KeyFile, Keyring, Ledger, LedgerId, Namespace, NewEnd, NewRun, Outcome,
    Owner, Reading, Request, Root, SessionName, StepName, SubjectName,
};
use actum_testkit::journal::{SimJournal, Slip};

fn keys() -> Keyring {
    let ledger = LedgerId::from_bytes([7; 16]);
    Keyring::new(&KeyFile::new(ledger, Root::from_bytes([9; 32])))
}

fn new_run(subject: &str) -> NewRun {
    NewRun {
        namespace: Namespace::new("local/default").unwrap(),
        step: StepName::new("tests").unwrap(),
        subject: SubjectName::parse(subject).unwrap(),
        content: Digest::of("content", &[]),
        arguments: Digest::of("arguments", &[]),
        tool: Digest::of("tool", &[]),
        tool_path: b"/bin/true".to_vec(),
        rule: Digest::of("rule", &[]),
        session: SessionName::new("cli").unwrap(),
    }
}

/// How a life on a slipping journal went.
#[derive(Debug, PartialEq, Eq)]
enum Went {
    /// To its end, every answer kept.
    Well,
    /// It was told of the slip, and of nothing after it.
    Closed,
    /// An answer was given for something that was not kept.
    Unkept(&'static str),
    /// Something was answered after the slip.
    AnsweredLate(&'static str),
}

/// Everything that has been answered is kept: the head that would survive is the position that was answered.
fn kept(ledger: &Ledger<SimJournal>) -> bool {
    let (position, journal) = (ledger.views().position(), ledger.journal());
    journal.head == Some(*position) && journal.kept.ends_with(position.mac.as_bytes())
}

fn live(journal: SimJournal) -> Went {
    let now = Reading::wall(1_700_000_000_000);
    let mut ledger = match Ledger::create(keys(), journal, &now) {
        Ok(ledger) if kept(&ledger) => ledger,
        Ok(_) => return Went::Unkept("genesis"),
        Err(_) => return Went::Closed,
    };
    let Ok(run) = ledger.begin(new_run("text:A"), &now) else { return late(ledger) };
    if !kept(&ledger) {
        return Went::Unkept("a right to end a run");
    }
    let (code, result, content) = (0, Digest::of("output", &[]), Digest::of("content", &[]));
    let end = NewEnd { run, outcome: Outcome::Passed, code, result, content };
    if ledger.end(end, &now).is_err() {
        return late(ledger);
    }
    if !kept(&ledger) {
        return Went::Unkept("an outcome");
    }
    let requests = vec![
        Request::Begin(new_run("text:B")),
        Request::Accept { policy: Digest::of("policy", &[]), owner: Owner::Code },
        Request::Begin(new_run("text:C")),
    ];
    if ledger.commit(requests, &now).is_err() {
        return late(ledger);
    }
    if kept(&ledger) { Went::Well } else { Went::Unkept("three answers at once") }
}

fn late(mut ledger: Ledger<SimJournal>) -> Went {
    let now = Reading::wall(1_700_000_100_000);
    let calls = ledger.journal().calls;
    if !matches!(ledger.begin(new_run("text:Z"), &now), Err(CommitError::Closed)) {
        return Went::AnsweredLate("a run");
    }
    let accept = Request::Accept { policy: Digest::of("policy", &[]), owner: Owner::Code };
    if !matches!(ledger.record(accept, &now), Err(CommitError::Closed)) {
        return Went::AnsweredLate("a policy");
    }
    if ledger.journal().calls == calls { Went::Closed } else { Went::AnsweredLate("a write") }
}

const CALLS: u64 = 5;

#[test]
fn no_right_is_given_before_its_event_is_kept() {
    assert_eq!(live(SimJournal::default()), Went::Well);
}

#[test]
fn after_a_call_that_failed_nothing_is_answered_and_nothing_is_written() {
    let tears = (0..400).step_by(3).map(Slip::Torn);
    let slips = [Slip::Lost, Slip::KeptButFailed, Slip::HeadLost].into_iter().chain(tears);
    for slip in slips {
        for at in 0..CALLS {
            assert_eq!(live(SimJournal::slipping(at, slip)), Went::Closed, "call {at}, {slip:?}");
        }
    }
}

#[test]
fn a_journal_that_acknowledges_before_it_keeps_is_caught() {
    for at in 0..CALLS {
        let went = live(SimJournal::slipping(at, Slip::Acknowledged));
        // A claim that was not kept is made good by the next append.
        assert_eq!(matches!(went, Went::Unkept(_)), at > 0, "call {at}: {went:?}");
    }
}

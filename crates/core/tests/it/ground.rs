//! The grounding check, row by row of its table, and the cases of the literature (E1 to E16 of the project's list) as far as
//! they concern the ledger: what a note says is no input of it.

use actum_core::{
    Answer, Cause, Digest, Grounding, KeyFile, Keyring, Ledger, Loss, Namespace, NewEnd, NewRun,
    OpenRun, Outcome, Owner, Question, Reading, Reason, Request, SessionName, Skip, StepName,
    SubjectName, ground, skip,
};
use actum_testkit::memory::{Memory, fold};
use actum_testkit::model::Key;
use actum_testkit::story::{Names, all_questions, digest, ops};
use proptest::prelude::*;

use crate::model::play;
use crate::{LEDGER, key_file, keys, root, seeds};

const NOON: u64 = 1_767_225_600_000;
const MINUTE: u64 = 60_000;

/// One line of a history. Runs are told apart by the names in front; a bare step is run on `text:X01`.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// A run begins.
    Begins(&'static str),
    /// The newest run that is open ends.
    Ends(Outcome),
    /// The newest run that is open ends, and its subject is another.
    EndsOnOther(Outcome),
    /// The oldest run that is open ends.
    OldestEnds(Outcome),
    /// A run begins and passes.
    Passes(&'static str),
    /// So many runs back from the newest, one is revoked.
    Revoked(usize),
    /// Minutes pass; or the clock goes back.
    Minutes(i64),
    /// Milliseconds pass; or the clock goes back.
    Ms(i64),
    /// Something else is recorded.
    Policy,
    /// The owner went on after a loss.
    Resolved(Cause),
    /// The owner resolved the clock.
    ClockResolved,
    /// The key is rotated.
    Rotated,
}

use Then::{
    Begins, ClockResolved, Ends, EndsOnOther, Minutes, Ms, OldestEnds, Passes, Policy, Resolved,
    Revoked, Rotated,
};

/// What is asked, where it differs from: step `tests` on `text:X01` as it was, rule 0, an hour, now, in `local/default`.
#[derive(Debug, Clone, Copy)]
struct Ask {
    step: &'static str,
    subject: &'static str,
    namespace: &'static str,
    content: u8,
    rule: u8,
    lifetime_ms: Option<u64>,
    later_ms: i64,
}

const ASK: Ask = Ask {
    step: "tests",
    subject: "text:X01",
    namespace: "local/default",
    content: 0,
    rule: 0,
    lifetime_ms: Some(60 * MINUTE),
    later_ms: 0,
};

struct History {
    ledger: Ledger<Memory>,
    file: KeyFile,
    now_ms: u64,
    open: Vec<OpenRun>,
    runs: Vec<u64>,
}

impl History {
    fn of(lines: &[Then]) -> Self {
        let ledger = Ledger::create(keys(), Memory::default(), &Reading::wall(NOON)).unwrap();
        let file = key_file();
        let mut history = Self { ledger, file, now_ms: NOON, open: Vec::new(), runs: Vec::new() };
        for line in lines {
            history.add(*line);
        }
        history
    }

    fn add(&mut self, line: Then) {
        let now = Reading::wall(self.now_ms);
        let owner = Owner::Terminal;
        match line {
            Begins(what) => self.begin(what),
            Passes(what) => {
                self.begin(what);
                self.end(self.open.len() - 1, Outcome::Passed, 0);
            }
            Ends(outcome) => self.end(self.open.len() - 1, outcome, 0),
            EndsOnOther(outcome) => self.end(self.open.len() - 1, outcome, 1),
            OldestEnds(outcome) => self.end(0, outcome, 0),
            Revoked(back) => {
                let run = self.runs[self.runs.len() - 1 - back];
                let reason = "wrong source".to_owned();
                self.ledger.record(Request::Revoke { run, reason, owner }, &now).unwrap();
            }
            Minutes(minutes) => self.now_ms = self.now_ms.saturating_add_signed(minutes * 60_000),
            Ms(ms) => self.now_ms = self.now_ms.saturating_add_signed(ms),
            Policy => {
                let policy = digest("policy", 0);
                self.ledger.record(Request::Accept { policy, owner }, &now).unwrap();
            }
            Resolved(cause) => self.resolve(cause),
            ClockResolved => {
                self.ledger.record(Request::ResolveClock { owner }, &now).unwrap();
            }
            Rotated => {
                let next = self.file.active() + 1;
                let root = root(u8::try_from(next).unwrap());
                self.file = self.file.with_next(root).unwrap().with_active(next).unwrap();
                let keys = Box::new(Keyring::new(&self.file));
                self.ledger.record(Request::Rotate { keys, owner }, &now).unwrap();
            }
        }
    }

    /// `step`, or `step on subject`, with `, rule N` and `, in NAMESPACE` behind it.
    fn begin(&mut self, what: &str) {
        let (what, namespace) = what.split_once(", in ").unwrap_or((what, ASK.namespace));
        let (what, rule) = what.split_once(", rule ").unwrap_or((what, "0"));
        let (step, subject) = what.split_once(" on ").unwrap_or((what, ASK.subject));
        let run = NewRun {
            namespace: Namespace::new(namespace).unwrap(),
            step: StepName::new(step).unwrap(),
            subject: SubjectName::parse(subject).unwrap(),
            content: digest("content", 0),
            arguments: digest("arguments", 0),
            tool: digest("tool", 0),
            tool_path: b"/usr/bin/cargo".to_vec(),
            rule: digest("rule", rule.parse().unwrap()),
            session: SessionName::new("s").unwrap(),
        };
        let run = self.ledger.begin(run, &Reading::wall(self.now_ms)).unwrap();
        self.runs.push(run.index());
        self.open.push(run);
    }

    fn end(&mut self, at: usize, outcome: Outcome, content: u8) {
        let run = self.open.remove(at);
        let result = Digest::plain(b"");
        let end = NewEnd { run, outcome, code: 0, result, content: digest("content", content) };
        self.ledger.end(end, &Reading::wall(self.now_ms)).unwrap();
    }

    fn resolve(&mut self, cause: Cause) {
        let bytes = self.ledger.journal().segment().to_vec();
        let keys = Keyring::new(&self.file);
        let views = fold(&bytes, &keys).unwrap();
        let loss = Loss {
            cause,
            count: views.position().count,
            mac: views.position().mac,
            owner: Owner::Terminal,
        };
        let (journal, now) = (Memory::holding(bytes), Reading::wall(self.now_ms));
        self.ledger = Ledger::resolve(views, journal, 1, &loss, &now).unwrap();
    }

    fn ask(&self, ask: Ask) -> Grounding {
        let question = Question {
            namespace: &Namespace::new(ask.namespace).unwrap(),
            step: &StepName::new(ask.step).unwrap(),
            subject: &SubjectName::parse(ask.subject).unwrap(),
            content: &digest("content", ask.content),
            rule: &digest("rule", ask.rule),
            lifetime_ms: ask.lifetime_ms,
        };
        let now_ms = self.now_ms.saturating_add_signed(ask.later_ms);
        let grounding = ground(self.ledger.views(), &question, now_ms);
        // Algorithm 1: skip if and only if grounded.
        match skip(self.ledger.views(), &question, now_ms) {
            Skip::Allow(evidence) => {
                assert_eq!(grounding.answer(), Answer::Grounded);
                assert_eq!(grounding.evidence, Some(evidence));
            }
            Skip::Perform(why) => {
                assert_ne!(grounding.answer(), Answer::Grounded);
                assert_eq!(why, grounding);
            }
        }
        grounding
    }
}

#[track_caller]
fn check(history: &[Then], ask: Ask, expected: &str) {
    let grounding = History::of(history).ask(ask);
    assert_eq!(format!("{} {}", grounding.answer(), grounding.reason), expected, "{history:?}");
}

const PASSED: Then = Ends(Outcome::Passed);
const FAILED: Then = Ends(Outcome::Failed);

#[test]
fn the_table_row_by_row() {
    let tests = Begins("tests");
    check(&[Passes("tests")], ASK, "grounded passed");
    check(&[], ASK, "ungrounded never_ran");
    check(&[tests], ASK, "ungrounded incomplete");
    check(&[Passes("tests"), Minutes(61)], ASK, "ungrounded expired");
    check(&[Passes("tests")], Ask { rule: 1, ..ASK }, "ungrounded rule_changed");
    check(&[Passes("tests")], Ask { content: 1, ..ASK }, "contradicted stale");
    check(&[tests, FAILED], ASK, "contradicted failed");
    check(&[tests, Ends(Outcome::Errored)], ASK, "contradicted errored");
    check(&[tests, Ends(Outcome::Denied)], ASK, "contradicted denied");
    check(&[tests, Ends(Outcome::TimedOut)], ASK, "contradicted timed_out");
    check(&[tests, EndsOnOther(Outcome::Passed)], ASK, "contradicted subject_changed_during_run");
    check(&[tests, Ends(Outcome::SubjectChanged)], ASK, "contradicted subject_changed_during_run");
    check(&[Passes("tests"), Revoked(0)], ASK, "contradicted revoked");
    check(&[Passes("tests"), Minutes(-6), Policy], ASK, "ungrounded clock_jumped");
    check(&[Passes("tests"), Resolved(Cause::Truncated)], ASK, "ungrounded voided");
}

#[test]
fn every_reason_of_the_check_has_a_row() {
    let rows = [
        Reason::Passed,
        Reason::NeverRan,
        Reason::Incomplete,
        Reason::Expired,
        Reason::RuleChanged,
        Reason::ClockJumped,
        Reason::Voided,
        Reason::Stale,
        Reason::Failed,
        Reason::Errored,
        Reason::Denied,
        Reason::TimedOut,
        Reason::SubjectChanged,
        Reason::Revoked,
    ];
    // `Running` needs to know of processes, which the core does not; refusals come from opening, not from the views.
    for reason in Reason::ALL {
        let elsewhere = *reason == Reason::Running || reason.answer() == Answer::Refused;
        assert_eq!(rows.contains(reason), !elsewhere, "{reason}");
    }
}

#[test]
fn the_newest_run_answers() {
    check(&[Begins("tests"), FAILED, Passes("tests")], ASK, "grounded passed");
    check(&[Passes("tests"), Begins("tests"), FAILED], ASK, "contradicted failed");
    check(&[Passes("tests"), Begins("tests")], ASK, "ungrounded incomplete");
    // Newest is what began last, whichever ended last.
    let both = [Begins("tests"), Begins("tests")];
    check(&[both[0], both[1], FAILED, PASSED], ASK, "contradicted failed");
    check(&[both[0], both[1], OldestEnds(Outcome::Passed)], ASK, "ungrounded incomplete");
    let ends = OldestEnds(Outcome::Failed);
    // But one that went wrong after the newest began is not undone by the newest passing.
    check(&[both[0], both[1], PASSED, ends], ASK, "contradicted failed");
    check(&[both[0], both[1], PASSED, ends, Passes("tests")], ASK, "grounded passed");
    check(&[both[0], both[1], ends, PASSED], ASK, "contradicted failed");
    check(&[both[0], ends, both[1], PASSED], ASK, "grounded passed");
    // Nor by a third that began before it went wrong.
    check(&[both[0], Passes("tests"), Passes("tests"), ends], ASK, "contradicted failed");
}

#[test]
fn a_negative_answer_comes_before_a_weaker_one() {
    let stale = Ask { content: 1, rule: 1, lifetime_ms: Some(0), later_ms: 1, ..ASK };
    let old = Resolved(Cause::Forked);
    check(&[Passes("tests"), old, Revoked(0)], stale, "contradicted revoked");
    check(&[Begins("tests"), Revoked(0)], stale, "contradicted revoked");
    check(&[Begins("tests"), FAILED, Revoked(0)], ASK, "contradicted revoked");
    check(&[Begins("tests"), Revoked(0), FAILED], ASK, "contradicted revoked");
    check(&[Begins("tests"), Revoked(0), PASSED], ASK, "contradicted revoked");
    check(&[Begins("tests"), old], stale, "ungrounded incomplete");
    check(&[Begins("tests"), FAILED, old], stale, "contradicted failed");
    check(&[Passes("tests"), old], stale, "contradicted stale");
    let stale = Ask { content: 0, ..stale };
    check(&[Passes("tests"), old], stale, "ungrounded voided");
    check(&[Passes("tests")], stale, "ungrounded rule_changed");
    let stale = Ask { rule: 0, ..stale };
    check(&[Passes("tests"), Minutes(-6), Policy], stale, "ungrounded clock_jumped");
    check(&[Passes("tests")], stale, "ungrounded expired");
}

#[test]
fn only_the_run_that_is_revoked_is_revoked() {
    check(&[Passes("tests"), Passes("tests"), Revoked(1)], ASK, "grounded passed");
    check(&[Passes("tests"), Revoked(0), Passes("tests")], ASK, "grounded passed");
    check(&[Passes("tests"), Passes("lint"), Revoked(0)], ASK, "grounded passed");
}

#[test]
fn a_lifetime_counts_from_the_end_to_its_last_millisecond() {
    let run = [Begins("tests"), Minutes(30), PASSED];
    let ask = |later_ms| Ask { later_ms, ..ASK };
    check(&run, ask(60 * 60_000), "grounded passed");
    check(&run, ask(60 * 60_000 + 1), "ungrounded expired");
    check(&run, Ask { lifetime_ms: Some(0), ..ASK }, "grounded passed");
    check(&run, Ask { lifetime_ms: Some(0), later_ms: 1, ..ASK }, "ungrounded expired");
    check(&run, Ask { lifetime_ms: None, later_ms: i64::MAX, ..ASK }, "grounded passed");
    check(&run, Ask { lifetime_ms: Some(u64::MAX), later_ms: i64::MAX, ..ASK }, "grounded passed");
}

#[test]
fn a_clock_that_steps_back_a_little_makes_nothing_younger() {
    // By the asker's clock the pass is a minute old; the ledger has seen the clock five minutes further.
    let run = [Passes("tests"), Minutes(6), Policy, Minutes(-5)];
    check(&run, Ask { lifetime_ms: Some(6 * MINUTE), ..ASK }, "grounded passed");
    check(&run, Ask { lifetime_ms: Some(6 * MINUTE - 1), ..ASK }, "ungrounded expired");
    // Written with the clock back, a pass is as old as the ledger's time.
    let run = [Policy, Minutes(-4), Passes("tests"), Minutes(4)];
    check(&run, Ask { lifetime_ms: Some(0), ..ASK }, "grounded passed");
}

#[test]
fn an_asker_whose_clock_is_back_too_far_is_told_so() {
    let back = |later_ms| Ask { later_ms, ..ASK };
    check(&[Passes("tests")], back(-300_000), "grounded passed");
    check(&[Passes("tests")], back(-300_001), "ungrounded clock_jumped");
    let timeless = Ask { lifetime_ms: None, ..back(-300_001) };
    check(&[Passes("tests")], timeless, "grounded passed");
    check(&[Passes("tests")], back(i64::MIN), "ungrounded clock_jumped");
}

#[test]
fn after_a_jump_lifetimes_are_not_believed_until_the_owner_resolves_it() {
    let jumped = [Passes("tests"), Ms(-300_001), Passes("lint")];
    check(&jumped, ASK, "ungrounded clock_jumped");
    check(&jumped, Ask { lifetime_ms: None, ..ASK }, "grounded passed");
    // The right time is back; the age in between is still not known.
    let back = [&jumped[..], &[Ms(300_001), Passes("lint")]].concat();
    check(&back, ASK, "ungrounded clock_jumped");
    let resolved = [&jumped[..], &[ClockResolved]].concat();
    check(&resolved, ASK, "ungrounded voided");
    let again = [&resolved[..], &[Passes("tests")]].concat();
    check(&again, ASK, "grounded passed");
    check(&again, Ask { later_ms: 60 * 60_000 + 1, ..ASK }, "ungrounded expired");
    // The jump that is resolved may be noticed by resolving it.
    let at_once = [Passes("tests"), Minutes(-10), ClockResolved];
    check(&at_once, ASK, "ungrounded voided");
    check(&[Passes("tests"), Ms(-300_000), Policy], ASK, "grounded passed");
}

#[test]
fn after_a_loss_passes_are_void_and_negatives_stand() {
    for cause in Cause::ALL {
        let resolved = Resolved(*cause);
        let timeless = Ask { lifetime_ms: None, ..ASK };
        check(&[Passes("tests"), resolved], timeless, "ungrounded voided");
        check(&[Begins("tests"), resolved, PASSED], timeless, "ungrounded voided");
        check(&[Begins("tests"), FAILED, resolved], ASK, "contradicted failed");
        check(&[Passes("tests"), Revoked(0), resolved], ASK, "contradicted revoked");
        check(&[Passes("tests"), resolved, Passes("tests")], ASK, "grounded passed");
    }
}

#[test]
fn a_rotation_changes_no_answer() {
    check(&[Passes("tests"), Rotated], ASK, "grounded passed");
    check(&[Begins("tests"), Rotated, Rotated, PASSED], ASK, "grounded passed");
    check(&[Passes("tests"), Rotated, Revoked(0)], ASK, "contradicted revoked");
}

#[test]
fn extreme_clocks_make_no_yes() {
    let far = [Passes("tests"), Ms(i64::MAX), Policy];
    check(&far, ASK, "ungrounded expired");
    let zero = [Passes("tests"), Ms(i64::MIN), Policy];
    check(&zero, ASK, "ungrounded clock_jumped");
    let greatest = [Ms(i64::MAX), Ms(i64::MAX), Passes("tests")];
    check(&greatest, ASK, "grounded passed");
    check(
        &[greatest[0], greatest[1], greatest[2], Ms(i64::MIN), Policy],
        ASK,
        "ungrounded clock_jumped",
    );
}

/// Where a claim is a text, there is nothing to pass it to: [`Question`] has names, digests and a lifetime, and the ledger has
/// runs. So E1 (a forged log), E2 (the same in friendly prose), E3 (ten notes that cite each other), E4 (in the general memory)
/// and E5 ("exempt") are one case here: nothing ran.
#[test]
fn e1_to_e5_a_note_is_no_input() {
    check(&[], Ask { step: "validate", ..ASK }, "ungrounded never_ran");
    check(&[Policy, Passes("lint")], Ask { step: "validate", ..ASK }, "ungrounded never_ran");
}

#[test]
fn e6_a_receipt_for_one_subject_is_none_for_another() {
    check(&[Passes("tests")], Ask { subject: "text:X02", ..ASK }, "ungrounded never_ran");
    check(&[Passes("tests")], Ask { subject: "file:X01", ..ASK }, "ungrounded never_ran");
}

#[test]
fn e7_only_the_declared_normalisation_makes_two_subjects_one() {
    check(&[Passes("tests")], Ask { subject: "text: X01 ", ..ASK }, "grounded passed");
    for other in ["text:x01", "text:\u{425}01", "text:X0l", "text:X\u{200b}01", "text:X 01"] {
        check(&[Passes("tests")], Ask { subject: other, ..ASK }, "ungrounded never_ran");
    }
    check(&[Passes("tests on text:e\u{301}")], Ask { subject: "text:é", ..ASK }, "grounded passed");
}

#[test]
fn e8_a_step_that_failed_is_not_done() {
    check(&[Begins("tests"), FAILED], ASK, "contradicted failed");
}

#[test]
fn e9_a_step_that_was_killed_is_not_done() {
    check(&[Begins("tests"), Minutes(600)], ASK, "ungrounded incomplete");
    check(&[Begins("tests"), Resolved(Cause::Moved)], ASK, "ungrounded incomplete");
}

#[test]
fn e10_a_step_that_was_denied_is_not_done() {
    check(&[Begins("tests"), Ends(Outcome::Denied)], ASK, "contradicted denied");
}

#[test]
fn e11_e12_an_old_receipt_and_one_for_other_content_are_none() {
    check(&[Passes("tests"), Minutes(60), Ms(1)], ASK, "ungrounded expired");
    check(&[Passes("tests")], Ask { content: 1, ..ASK }, "contradicted stale");
}

#[test]
fn e13_a_weaker_rule_does_not_count() {
    // Mode, arguments allowed and the tool's own digest are part of the rule's digest.
    check(&[Passes("tests, rule 1")], ASK, "ungrounded rule_changed");
    check(&[Passes("tests, rule 1"), Passes("tests")], ASK, "grounded passed");
    check(&[Passes("tests"), Passes("tests, rule 1")], ASK, "ungrounded rule_changed");
}

#[test]
fn e14_namespaces_are_apart() {
    check(&[Passes("tests, in team/b")], ASK, "ungrounded never_ran");
    let other = Ask { namespace: "team/b", ..ASK };
    check(&[Passes("tests, in team/b")], other, "grounded passed");
    let both = [Passes("tests"), Begins("tests, in team/b"), FAILED];
    check(&both, ASK, "grounded passed");
    check(&both, other, "contradicted failed");
}

#[test]
fn e15_a_receipt_whose_bytes_were_edited_is_none() {
    let history = History::of(&[Begins("tests"), FAILED]);
    let mut bytes = history.ledger.journal().segment().to_vec();
    // The outcome of the last event: MAC, two digests and the code lie behind it.
    let at = bytes.len() - 32 - 64 - 4 - 1;
    assert_eq!(bytes[at], Outcome::Failed.code());
    bytes[at] = Outcome::Passed.code();
    let flaw = fold(&bytes, &keys()).unwrap_err();
    assert_eq!(flaw.to_string(), "event 7: the MAC does not match");

    let other = Keyring::new(&KeyFile::new(LEDGER, root(9)));
    let flaw = fold(history.ledger.journal().segment(), &other).unwrap_err();
    assert_eq!(flaw.to_string(), "event 0: the MAC does not match");
}

#[test]
fn e16_a_boundary_between_names_is_part_of_them() {
    let run = [Passes("validate on text:X12")];
    check(&run, Ask { step: "validate", subject: "text:X12", ..ASK }, "grounded passed");
    check(
        &run,
        Ask { step: "validatetext:X12", subject: "text:X12", ..ASK },
        "ungrounded never_ran",
    );
    check(&run, Ask { step: "validateX", subject: "text:12", ..ASK }, "ungrounded never_ran");
    check(&run, Ask { step: "validate", subject: "text:X1", ..ASK }, "ungrounded never_ran");
}

#[test]
fn evidence_is_the_run_that_the_answer_rests_on() {
    let mut history = History::of(&[Passes("tests"), Minutes(1), Begins("tests"), Minutes(1)]);
    let open = history.ask(ASK).evidence.unwrap();
    assert_eq!(
        (open.run, open.ended, open.outcome, open.at_ms),
        (history.runs[1], None, None, None)
    );
    history.add(Ends(Outcome::TimedOut));
    history.add(Revoked(0));
    let evidence = history.ask(ASK).evidence.unwrap();
    let ended = history.runs[1] + 1;
    assert_eq!((evidence.run, evidence.ended), (history.runs[1], Some(ended)));
    assert_eq!(evidence.outcome, Some(Outcome::TimedOut));
    assert_eq!(evidence.at_ms, Some(NOON + 2 * MINUTE));
    assert_eq!(evidence.revoked, Some(ended + 1));
    assert_eq!(evidence.content, digest("content", 0));
    assert_eq!(history.ask(Ask { step: "lint", ..ASK }).evidence, None);
}

proptest! {
    #![proptest_config(seeds("proptest-regressions/ground.txt"))]

    /// Algorithm 1 of the paper (arXiv 2608.16032).
    #[test]
    fn a_step_may_be_skipped_if_and_only_if_it_is_grounded(ops in ops(1..30)) {
        let (ledger, now) = play(&ops);
        for asked in all_questions(&now) {
            let Names { namespace, step, subject, .. } = Names::of(Key { ..asked.key }).unwrap();
            let question = Question {
                namespace: &namespace,
                step: &step,
                subject: &subject,
                content: &digest("content", asked.content),
                rule: &digest("rule", asked.rule),
                lifetime_ms: asked.lifetime_ms,
            };
            let grounding = ground(ledger.views(), &question, asked.now_ms);
            let allowed = matches!(skip(ledger.views(), &question, asked.now_ms), Skip::Allow(_));
            prop_assert_eq!(allowed, grounding.answer() == Answer::Grounded);
            prop_assert_eq!(allowed, grounding.reason == Reason::Passed);
        }
    }
}

//! The plain road: a ledger is made, written by one writer after another, read, rotated, and answers.

use actum_core::{Outcome, Owner, Request};
use actum_store::StoreError;

use crate::scene::{Scene, ask, at, content, new_run, refusal, run};

#[test]
fn a_passed_run_grounds_after_reopening_and_other_content_contradicts() {
    let scene = Scene::with_runs(3);
    assert_eq!(scene.asks("text:S1", "v1"), "passed");
    assert_eq!(scene.asks("text:S1", "v2"), "stale");
    assert_eq!(scene.asks("text:S9", "v1"), "never_ran");
}

#[test]
fn a_right_to_end_outlives_the_writer_that_gave_it() {
    let scene = Scene::with_runs(0);
    let begun = scene.write(1).begin(new_run("text:X", "v1"), &at(1)).unwrap();
    assert_eq!(scene.asks("text:X", "v1"), "incomplete");
    let end = actum_core::NewEnd {
        run: begun,
        outcome: Outcome::Passed,
        code: 0,
        result: content("o"),
        content: content("v1"),
    };
    assert_eq!(scene.write(2).end(end, &at(2)).unwrap(), Outcome::Passed);
    assert_eq!(scene.asks("text:X", "v1"), "passed");
}

#[test]
fn a_pass_on_a_subject_that_changed_meanwhile_is_no_pass() {
    let scene = Scene::with_runs(0);
    let mut ledger = scene.write(1);
    let run = ledger.begin(new_run("text:X", "v1"), &at(1)).unwrap();
    let end = actum_core::NewEnd {
        run,
        outcome: Outcome::Passed,
        code: 0,
        result: content("o"),
        content: content("v2"),
    };
    assert_eq!(ledger.end(end, &at(2)).unwrap(), Outcome::SubjectChanged);
    drop(ledger);
    assert_eq!(scene.asks("text:X", "v1"), "subject_changed_during_run");
    assert_eq!(scene.asks("text:X", "v2"), "subject_changed_during_run");
}

#[test]
fn a_run_is_held_to_its_subject_also_when_a_newer_one_has_begun() {
    let scene = Scene::with_runs(0);
    let mut ledger = scene.write(1);
    let older = ledger.begin(new_run("text:X", "v1"), &at(1)).unwrap();
    let newer = ledger.begin(new_run("text:X", "v2"), &at(1)).unwrap();
    for run in [older, newer] {
        let (outcome, code, result) = (Outcome::Passed, 0, content("o"));
        let end = actum_core::NewEnd { run, outcome, code, result, content: content("v3") };
        assert_eq!(ledger.end(end, &at(2)).unwrap(), Outcome::SubjectChanged);
    }
}

#[test]
fn a_reader_that_was_there_before_a_rotation_follows_it() {
    let scene = Scene::with_runs(1);
    let mut reader = scene.store.read().unwrap();
    scene.store.rotate(&scene.writer(5), Owner::YesFlag).unwrap();
    run(&mut scene.write(6), "text:X", "v1", Outcome::Passed, 6);
    assert!(reader.refresh().unwrap());
    assert_eq!(ask(reader.views(), "text:X", "v1", 6).reason.code(), "passed");
}

#[test]
fn a_revoked_run_contradicts_and_a_new_one_grounds_again() {
    let scene = Scene::with_runs(0);
    let mut ledger = scene.write(1);
    let index = run(&mut ledger, "text:X", "v1", Outcome::Passed, 1);
    let revoke =
        Request::Revoke { run: index, reason: "wrong flags".into(), owner: Owner::YesFlag };
    ledger.record(revoke, &at(2)).unwrap();
    drop(ledger);
    assert_eq!(scene.asks("text:X", "v1"), "revoked");
    run(&mut scene.write(3), "text:X", "v1", Outcome::Passed, 3);
    assert_eq!(scene.asks("text:X", "v1"), "passed");
}

#[test]
fn old_events_stay_verifiable_after_two_rotations() {
    let scene = Scene::with_runs(2);
    scene.store.rotate(&scene.writer(5), Owner::YesFlag).unwrap();
    run(&mut scene.write(6), "text:N", "v1", Outcome::Passed, 6);
    scene.store.rotate(&scene.writer(7), Owner::YesFlag).unwrap();
    run(&mut scene.write(8), "text:M", "v1", Outcome::Passed, 8);
    for subject in ["text:S0", "text:S1", "text:N", "text:M"] {
        assert_eq!(scene.asks(subject, "v1"), "passed", "{subject}");
    }
}

#[test]
fn views_kept_live_equal_views_read_back() {
    let scene = Scene::with_runs(0);
    let mut ledger = scene.write(1);
    run(&mut ledger, "text:A", "v1", Outcome::Passed, 1);
    run(&mut ledger, "text:A", "v1", Outcome::Failed, 2);
    let snapshot = scene.store.read().unwrap();
    assert_eq!(ask(ledger.views(), "text:A", "v1", 3), ask(snapshot.views(), "text:A", "v1", 3));
    assert_eq!(ledger.views().position(), snapshot.views().position());
}

#[test]
fn a_second_writer_is_told_who_holds_the_store() {
    let scene = Scene::with_runs(0);
    let _holder = scene.write(1);
    let mut writer = scene.writer(2);
    writer.patience = core::time::Duration::ZERO;
    let refused = scene.store.write(&writer).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Locked { holder, .. } if holder == "a test"),
        "{refused}"
    );
}

#[test]
fn init_makes_no_second_ledger_and_none_where_one_lay() {
    let scene = Scene::with_runs(1);
    let again = scene.store.init(&scene.writer(2)).unwrap_err();
    assert!(matches!(again, StoreError::AlreadyThere { .. }), "{again}");
    std::fs::remove_dir_all(&scene.places().store).unwrap();
    assert_eq!(refusal(&scene.store.read().unwrap_err()), "truncated");
    let again = scene.store.init(&scene.writer(3)).unwrap_err();
    assert!(matches!(again, StoreError::KnownHere { .. }), "{again}");
    drop(scene.folder);
}

#[test]
fn an_init_that_was_cut_short_frees_no_path_where_a_ledger_lay() {
    let scene = Scene::with_runs(1);
    std::fs::remove_dir_all(&scene.places().store).unwrap();
    // What is left if an `init` is stopped after the register and before the first event: a ledger that never began.
    let folder = scene.places().state.join("paths");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let data = text.lines().last().unwrap().rsplit(' ').next().unwrap().to_owned();
    let never_begun = format!("here {} {data}\n", "ab".repeat(16));
    std::fs::write(&file, text.replace("here ", "gone ") + &never_begun).unwrap();
    let refused = scene.store.init(&scene.writer(9)).unwrap_err();
    assert!(matches!(refused, StoreError::KnownHere { .. }), "{refused}");
    assert!(matches!(scene.store.read().unwrap_err(), StoreError::KnownHere { .. }));
}

#[test]
fn an_owner_resolves_what_was_shown_and_nothing_else() {
    let scene = Scene::with_runs(3);
    let segment = scene.places().segments().join("0000000000000000.seg");
    let bytes = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, &bytes[..bytes.len() - 10]).unwrap();
    let shown = scene.store.examine().unwrap().unwrap();
    std::fs::write(&segment, &bytes[..64]).unwrap();
    let refused = scene.store.resolve_as_shown(&scene.writer(9), Owner::Terminal, &shown);
    assert!(matches!(refused, Err(StoreError::Content { .. })), "{refused:?}");
    let shown = scene.store.examine().unwrap().unwrap();
    scene.store.resolve_as_shown(&scene.writer(9), Owner::Terminal, &shown).unwrap();
}

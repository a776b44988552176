//! Every reason that `ground` can give from a shell, by what really happened, and that `run` starts nothing on a ledger that
//! cannot be believed.

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use crate::shell::{Shell, TESTS, WAITS, until};

const RUN: &str = "actum run -q --step tests --subject x -- ./check x";

/// A project with one passed run, and a program that would leave a trace if it were started again.
fn passed() -> Shell {
    let shell = Shell::with(TESTS);
    shell.script("check", "echo started >> ../started");
    shell.quietly("actum policy accept --yes");
    shell.quietly(RUN);
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    shell.quietly("rm ../started");
    shell
}

/// After this, nothing grounds, nothing is started, and both say why.
fn refused(shell: &Shell, trouble: &str) -> String {
    let shown = shell.play(&format!(
        "{trouble}
        actum ground tests x
        actum run --step tests --subject x -- ./check x"
    ));
    assert!(!shell.root().join("started").exists(), "{shown}");
    shown
}

#[test]
fn never_ran() {
    let shell = passed();
    assert_snapshot!(shell.play("actum ground tests y"), @"
    $ actum ground tests y
    ungrounded (never_ran): tests on text:y
      No run of this step on this subject is in the ledger.
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    ");
}

#[test]
fn running_then_incomplete() {
    let shell = Shell::with(TESTS);
    shell.script("check", WAITS);
    shell.quietly("actum policy accept --yes");
    let mut run =
        shell.start_waiting(&["run", "--step", "tests", "--subject", "x", "--", "./check", "x"]);
    let running = shell.play("actum ground tests x\n actum verify | grep began");
    kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
    run.wait().unwrap();
    assert_snapshot!(running, @"
    $ actum ground tests x
    ungrounded (running): tests on text:x
      A run began and is still going on.
      run 8 began and has not ended
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Wait for it to end.
    [10]
    $ actum verify | grep began
    note: 1 run began and has not ended
    ");
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    ungrounded (incomplete): tests on text:x
      A run began and never ended: it was killed, or the machine stopped.
      run 8 began and has not ended
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    ");
    shell.write("go", "");
    shell.is_whole();
}

#[test]
fn two_runs_at_once_and_the_newest_counts() {
    let shell = Shell::with(TESTS);
    shell.script("check", WAITS);
    shell.quietly("actum policy accept --yes");
    let args = ["run", "--step", "tests", "--subject", "x", "--", "./check", "x"];
    let mut first = shell.start_waiting(&args);
    shell.quietly("rm begun");
    let mut second = shell.start_waiting(&args);
    assert_eq!(shell.asks("tests x"), "ungrounded running 10");
    shell.write("go", "");
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    shell.is_whole();
}

#[test]
fn expired() {
    let shell = Shell::with(&format!("{TESTS}lifetime = '1s'\n"));
    shell.quietly(RUN);
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    // The shortest lifetime there is has to pass.
    until("expiry", || shell.said("actum ground tests x").code == 10);
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    ungrounded (expired): tests on text:x
      The newest run passed longer ago than the step's lifetime.
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    ");
}

#[test]
fn rule_changed() {
    let shell = passed();
    shell.write("actum.toml", &format!("{TESTS}allow = ['--release']\n"));
    assert_snapshot!(shell.play("
        actum ground tests x
        actum policy accept --yes | tail -1
        actum ground tests x
    "), @"
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    $ actum policy accept --yes | tail -1
    accepted (event 10, owner known by yes-flag)
    $ actum ground tests x
    ungrounded (rule_changed): tests on text:x
      The newest run passed under another rule or with another binary than the one accepted now.
      run 8 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    ");
}

#[test]
fn stale_names_the_file() {
    let shell =
        Shell::with("version = 1\n[steps.tests]\ncommands = [['./check']]\nsubject = 'dir:src'\n");
    shell.quietly("mkdir src; echo 1 > src/a; echo 1 > src/b");
    shell.quietly("actum run -q --step tests --subject dir:src -- ./check");
    assert_snapshot!(shell.play("
        actum ground tests src
        echo 2 > src/a; rm src/b; echo 1 > src/c
        actum ground tests dir:src
        touch src/1 src/2 src/3 src/4 src/5
        actum ground tests dir:src | head -2
        rm -r .actum/subject
        actum ground tests dir:src
    "), @"
    $ actum ground tests src
    grounded (passed): tests on dir:src
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ echo 2 > src/a; rm src/b; echo 1 > src/c
    $ actum ground tests dir:src
    contradicted (stale): tests on dir:src
      a changed, b is gone, c is new
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    $ touch src/1 src/2 src/3 src/4 src/5
    $ actum ground tests dir:src | head -2
    contradicted (stale): tests on dir:src
      1 is new, 2 is new, 3 is new, 4 is new, 5 is new, 3 more
    $ rm -r .actum/subject
    $ actum ground tests dir:src
    contradicted (stale): tests on dir:src
      The newest run passed, but on other content than there is now.
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    ");
}

#[test]
fn failed_errored_and_timed_out() {
    let shell = Shell::with(TESTS);
    assert_snapshot!(shell.play("
        printf '#!/bin/sh\\nexit 1\\n' > check; actum policy accept --yes | tail -1
        actum run --step tests --subject x -- ./check x
        actum ground tests x
        printf '#!/bin/sh\\nkill -6 $$\\n' > check; actum policy accept --yes | tail -1
        actum run --step tests --subject x -- ./check x
        actum ground tests x
        printf '#!/bin/sh\\nexec sleep 60\\n' > check; actum policy accept --yes | tail -1
        actum run --step tests --subject x --timeout 50ms -- ./check x
        actum ground tests x
    "), @r"
    $ printf '#!/bin/sh\nexit 1\n' > check; actum policy accept --yes | tail -1
    accepted (event 2, owner known by yes-flag)
    $ actum run --step tests --subject x -- ./check x
    ! actum: recorded run 8: tests on text:x failed: the command ended with 1; a pass ends with 0
    [1]
    $ actum ground tests x
    contradicted (failed): tests on text:x
      The newest run failed.
      run 8 failed, exit 1, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Mend what it found, and perform the step again.
    [11]
    $ printf '#!/bin/sh\nkill -6 $$\n' > check; actum policy accept --yes | tail -1
    accepted (event 10, owner known by yes-flag)
    $ actum run --step tests --subject x -- ./check x
    ! actum: recorded run 13: tests on text:x errored: signal 6 ended the command
    [134]
    $ actum ground tests x
    contradicted (errored): tests on text:x
      The newest run could not be carried out, or a signal ended it.
      run 13 errored, signal 6, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
      See `actum log`, and perform the step again.
    [11]
    $ printf '#!/bin/sh\nexec sleep 60\n' > check; actum policy accept --yes | tail -1
    accepted (event 15, owner known by yes-flag)
    $ actum run --step tests --subject x --timeout 50ms -- ./check x
    ! actum: recorded run 18: tests on text:x timed_out: it took longer than it was given
    [124]
    $ actum ground tests x
    contradicted (timed_out): tests on text:x
      The newest run took longer than it was given.
      run 18 timed_out, [AGO]
      by the policy of event 15 (yes-flag), in [TEMP]/project
      Perform the step again with more time.
    [11]
    ");
}

#[test]
fn a_subject_that_changes_during_the_run() {
    let shell =
        Shell::with("version = 1\n[steps.tests]\ncommands = [['./check']]\nsubject = 'dir:src'\n");
    shell.quietly("mkdir src; echo 1 > src/a");
    shell.script("check", "echo 2 > src/a");
    shell.quietly("actum policy accept --yes");
    assert_snapshot!(shell.play("
        actum run --step tests --subject src -- ./check
        actum run --step tests --subject src --must-pass -- ./check
        echo 3 > src/a; actum run --step tests --subject src --must-pass -- ./check
        actum ground tests src
    "), @"
    $ actum run --step tests --subject src -- ./check
    ! actum: recorded run 8: tests on dir:src subject_changed_during_run: a changed
    $ actum run --step tests --subject src --must-pass -- ./check
    ! actum: recorded run 10: tests on dir:src subject_changed_during_run: written to or replaced, though it is the same again: a
    [1]
    $ echo 3 > src/a; actum run --step tests --subject src --must-pass -- ./check
    ! actum: recorded run 12: tests on dir:src subject_changed_during_run: a changed
    [1]
    $ actum ground tests src
    contradicted (subject_changed_during_run): tests on dir:src
      The subject changed while the newest run went on, so the run proves nothing.
      run 12 subject_changed_during_run, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again; what the run itself made is there now and stays the same.
    [11]
    ");
    shell.script("check", "rm -r src");
    assert_snapshot!(shell.play("
        actum policy accept --yes | tail -1
        actum run --step tests --subject src -- ./check
        mkdir src; actum ground tests src
    "), @"
    $ actum policy accept --yes | tail -1
    accepted (event 14, owner known by yes-flag)
    $ actum run --step tests --subject src -- ./check
    ! actum: recorded run 17: tests on dir:src subject_changed_during_run: dir:src does not exist in [TEMP]/project
    $ mkdir src; actum ground tests src
    contradicted (subject_changed_during_run): tests on dir:src
      The subject changed while the newest run went on, so the run proves nothing.
      run 17 subject_changed_during_run, exit 0, [AGO]
      by the policy of event 14 (yes-flag), in [TEMP]/project
      Perform the step again; what the run itself made is there now and stays the same.
    [11]
    ");
}

#[test]
fn revoked() {
    let shell = passed();
    shell.quietly("actum revoke $(actum log --kind began --json | grep -o '\"run\":[0-9]*' | cut -d: -f2) --reason why --yes");
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    contradicted (revoked): tests on text:x
      The owner revoked the newest run.
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again.
    [11]
    ");
}

#[test]
fn no_policy() {
    let shell = Shell::empty();
    shell.write("actum.toml", TESTS);
    shell.script("check", "echo started > ../started");
    shell.quietly("actum init");
    assert_snapshot!(refused(&shell, "true"), @"
    $ true
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: no policy is in force
    !   The owner accepts one with `actum policy accept`.
    [125]
    ");
}

#[test]
fn policy_missing() {
    assert_snapshot!(refused(&passed(), "rm .actum/policy/*"), @"
    $ rm .actum/policy/*
    $ actum ground tests x
    refused (policy_missing): tests on x
      the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: No such file or directory (os error 2)
      The owner accepts it again with `actum policy accept`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: No such file or directory (os error 2)
    !   The owner accepts it again with `actum policy accept`.
    [125]
    ");
    let shell = passed();
    let edit = "for f in .actum/policy/*; do sed -i s/check/evil/ $f; done";
    assert_snapshot!(refused(&shell, edit), @"
    $ for f in .actum/policy/*; do sed -i s/check/evil/ $f; done
    $ actum ground tests x
    refused (policy_missing): tests on x
      the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: its bytes are not those that were accepted
      The owner accepts it again with `actum policy accept`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: its bytes are not those that were accepted
    !   The owner accepts it again with `actum policy accept`.
    [125]
    ");
    assert_snapshot!(shell.play("
        actum policy accept --yes | tail -1
        actum ground tests x
    "), @"
    $ actum policy accept --yes | tail -1
    accepted (event 10, owner known by yes-flag)
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn subject_unreadable() {
    let shell = Shell::with(
        "version = 1\n[steps.tests]\ncommands = [['./check', '{subject}']]\nsubject = 'file'\n",
    );
    assert_snapshot!(shell.play("
        actum ground tests missing
        actum run --step tests --subject missing -- ./check missing
        mkdir folder; actum ground tests folder
        actum ground tests .actum/lock
    "), @"
    $ actum ground tests missing
    refused (subject_unreadable): tests on missing
      file:missing does not exist in [TEMP]/project
      Make it readable, or name another subject.
    [12]
    $ actum run --step tests --subject missing -- ./check missing
    ! error: file:missing does not exist in [TEMP]/project
    [125]
    $ mkdir folder; actum ground tests folder
    refused (subject_unreadable): tests on folder
      file:folder is not a regular file
      Make it readable, or name another subject.
    [12]
    $ actum ground tests .actum/lock
    refused (subject_unreadable): tests on .actum/lock
      file:.actum/lock lies in the store [TEMP]/project/.actum, which no step is performed on
      Make it readable, or name another subject.
    [12]
    ");
}

#[test]
fn damaged() {
    let flip = "printf X | dd of=.actum/ledger/0000000000000000.seg bs=1 seek=258 conv=notrunc status=none";
    assert_snapshot!(refused(&passed(), flip), @"
    $ printf X | dd of=.actum/ledger/0000000000000000.seg bs=1 seek=258 conv=notrunc status=none
    $ actum ground tests x
    refused (damaged): tests on x
      event 2: the MAC does not match; the file was changed after it was written (10 events were acknowledged)
      Restore the file, or go on without it: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: event 2: the MAC does not match; the file was changed after it was written (10 events were acknowledged)
    !   Restore the file, or go on without it: `actum resolve`.
    [125]
    ");
}

#[test]
fn truncated() {
    assert_snapshot!(refused(&passed(), "truncate -s -100 .actum/ledger/*.seg"), @"
    $ truncate -s -100 .actum/ledger/*.seg
    $ actum ground tests x
    refused (truncated): tests on x
      the ledger was cut: 9 of 10 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the ledger was cut: 9 of 10 acknowledged events are there
    !   Restore the file, or go on without them: `actum resolve`.
    [125]
    ");
    let shell = passed();
    shell.quietly("cp -a .actum ../before");
    shell.quietly(RUN);
    shell.quietly("rm ../started");
    assert_snapshot!(refused(&shell, "rm -r .actum; cp -a ../before .actum"), @"
    $ rm -r .actum; cp -a ../before .actum
    $ actum ground tests x
    refused (truncated): tests on x
      the ledger was cut: 10 of 12 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the ledger was cut: 10 of 12 acknowledged events are there
    !   Restore the file, or go on without them: `actum resolve`.
    [125]
    ");
    assert_snapshot!(refused(&passed(), "rm .actum/ledger/*"), @"
    $ rm .actum/ledger/*
    $ actum ground tests x
    refused (truncated): tests on x
      the ledger was cut: 0 of 10 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the ledger was cut: 0 of 10 acknowledged events are there
    !   Restore the file, or go on without them: `actum resolve`.
    [125]
    ");
    assert_snapshot!(refused(&passed(), "rm -r .actum"), @"
    $ rm -r .actum
    $ actum ground tests x
    refused (truncated): tests on x
      the ledger was cut: 0 of 10 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the ledger was cut: 0 of 10 acknowledged events are there
    !   Restore the file, or go on without them: `actum resolve`.
    [125]
    ");
}

#[test]
fn forked() {
    let shell = passed();
    shell.quietly("cp -a ../state ../state-before; cp -a .actum ../before");
    shell.quietly(RUN);
    shell.quietly("mv .actum ../one; cp -a ../before .actum; cp -a ../state-before/. ../state/");
    shell.quietly(RUN);
    shell.quietly("rm ../started");
    assert_snapshot!(refused(&shell, "rm -r .actum; mv ../one .actum"), @"
    $ rm -r .actum; mv ../one .actum
    $ actum ground tests x
    refused (forked): tests on x
      event 11 is genuine but not the one the anchor remembers: the ledger was forked
      Restore the right store, or go on: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: event 11 is genuine but not the one the anchor remembers: the ledger was forked
    !   Restore the right store, or go on: `actum resolve`.
    [125]
    ");
}

#[test]
fn unanchored() {
    assert_snapshot!(refused(&passed(), "rm ../state/actum/anchors/*"), @"
    $ rm ../state/actum/anchors/*
    $ actum ground tests x
    refused (unanchored): tests on x
      no anchor vouches for this ledger: it cannot be told whether it is whole
      Restore the anchor, or go on without it: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: no anchor vouches for this ledger: it cannot be told whether it is whole
    !   Restore the anchor, or go on without it: `actum resolve`.
    [125]
    ");
    assert_snapshot!(refused(&passed(), "truncate -s 0 ../state/actum/anchors/*"), @"
    $ truncate -s 0 ../state/actum/anchors/*
    $ actum ground tests x
    refused (unanchored): tests on x
      no anchor vouches for this ledger: it cannot be told whether it is whole
      Restore the anchor, or go on without it: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: no anchor vouches for this ledger: it cannot be told whether it is whole
    !   Restore the anchor, or go on without it: `actum resolve`.
    [125]
    ");
}

#[test]
fn moved() {
    let shell = passed();
    shell.quietly("mkdir ../elsewhere; cp -a . ../elsewhere/");
    assert_snapshot!(shell.play("
        cd ../elsewhere && actum ground tests x
        cd ../elsewhere && actum run --step tests --subject x -- ./check x
        actum ground tests x
    "), @"
    $ cd ../elsewhere && actum ground tests x
    refused (moved): tests on x
      this store belongs at [TEMP]/project/.actum; it was moved or copied to [TEMP]/elsewhere/.actum
      Move it back, or let it stay: `actum resolve`.
    [12]
    $ cd ../elsewhere && actum run --step tests --subject x -- ./check x
    ! error: this store belongs at [TEMP]/project/.actum; it was moved or copied to [TEMP]/elsewhere/.actum
    !   Move it back, or let it stay: `actum resolve`.
    [125]
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ");
    assert!(!shell.root().join("started").exists());
}

#[test]
fn swapped() {
    let shell = passed();
    shell.quietly("mkdir ../other; cp actum.toml check ../other; cd ../other && actum init --yes");
    assert_snapshot!(refused(&shell, "mv .actum ../mine; cp -a ../other/.actum .actum"), @"
    $ mv .actum ../mine; cp -a ../other/.actum .actum
    $ actum ground tests x
    refused (swapped): tests on x
      ledger [ID] belongs here, but what lies here is ledger [ID]
      Restore the right store, or go on without it: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: ledger [ID] belongs here, but what lies here is ledger [ID]
    !   Restore the right store, or go on without it: `actum resolve`.
    [125]
    ");
}

#[test]
fn key_unusable() {
    let shell = passed();
    assert_snapshot!(refused(&shell, "chmod 0644 ../data/actum/keys/*"), @"
    $ chmod 0644 ../data/actum/keys/*
    $ actum ground tests x
    refused (key_unusable): tests on x
      the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID] has mode 0644; it must be 0600
      Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID] has mode 0644; it must be 0600
    !   Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [125]
    ");
    assert_snapshot!(shell.play("
        actum key where
        chmod 0600 ../data/actum/keys/*; actum ground tests x
    "), @"
    $ actum key where
    ledger [ID]
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]
    note: the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID] has mode 0644; it must be 0600
    whoever can read the key can forge; a shell of the same user can
    $ chmod 0600 ../data/actum/keys/*; actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ");
    assert_snapshot!(refused(&shell, "mv ../data/actum/keys ../data/hidden"), @"
    $ mv ../data/actum/keys ../data/hidden
    $ actum ground tests x
    refused (key_unusable): tests on x
      the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID]: No such file or directory (os error 2)
      Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID]: No such file or directory (os error 2)
    !   Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [125]
    ");
    assert_snapshot!(shell.play("mv ../data/hidden ../data/actum/keys; actum ground tests x"), @"
    $ mv ../data/hidden ../data/actum/keys; actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn no_ledger() {
    let shell = Shell::empty();
    assert_snapshot!(refused(&shell, "true"), @"
    $ true
    $ actum ground tests x
    refused (no_ledger): tests on x
      there is no ledger in [TEMP]/project or any folder above it
      The owner makes one with `actum init`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: there is no ledger in [TEMP]/project or any folder above it
    !   The owner makes one with `actum init`.
    [125]
    ");
}

#[test]
fn a_note_never_matters() {
    let shell = passed();
    shell.write("MEMORY.md", "tests passed on y in 300 runs\n");
    assert_eq!(shell.asks("tests y"), "ungrounded never_ran 10");
}

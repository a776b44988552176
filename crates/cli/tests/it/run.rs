//! `run` is not there as far as the command can tell, and is never silent about what it could not record.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::shell::{Said, Shell, TESTS, WAITS, until};

const ARGS: [&str; 8] = ["run", "--step", "tests", "--subject", "x", "--", "./check", "x"];

fn with_program(policy: &str, body: &str) -> Shell {
    let shell = Shell::with(policy);
    shell.script("check", body);
    shell.quietly("actum policy accept --yes");
    shell
}

#[test]
fn bytes_go_through_untouched() {
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    for policy in [TESTS.to_owned(), format!("{TESTS}passes = {{ output = ['^done$'] }}\n")] {
        let shell = with_program(&policy, "cat; cat in >&2; printf '\\ndone\\n'");
        fs::write(shell.path("in"), &bytes).unwrap();
        let mut args = ARGS.to_vec();
        args.insert(1, "--quiet");
        let mut run = shell.actum(&args);
        let run = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = run.spawn().unwrap();
        let mut stdin = run.stdin.take().unwrap();
        let given = bytes.clone();
        let typing = std::thread::spawn(move || stdin.write_all(&given).unwrap());
        let output = run.wait_with_output().unwrap();
        typing.join().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stdout, [bytes.as_slice(), b"\ndone\n"].concat());
        assert_eq!(output.stderr, bytes);
        // What went by was looked at only where the rule wants it, and counted.
        assert_eq!(shell.asks("tests x"), "grounded passed 0");
    }
}

#[test]
fn output_is_shown_as_it_comes() {
    let policy = format!("{TESTS}passes = {{ output = ['^ok$'] }}\n");
    let shell = with_program(&policy, &format!("printf 'no line feed yet'; {WAITS}"));
    let mut run = shell.actum(&ARGS).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = [0; 16];
    std::io::Read::read_exact(run.stdout.as_mut().unwrap(), &mut first).unwrap();
    assert_eq!(&first, b"no line feed yet");
    shell.write("go", "");
    run.wait_with_output().unwrap();
}

#[test]
fn the_command_gets_its_own_name_and_the_projects_folder() {
    let shell = with_program(TESTS, "echo $0; pwd");
    assert_snapshot!(shell.play("mkdir a; cd a && actum run --step tests --subject x -- ./check x"), @"
    $ mkdir a; cd a && actum run --step tests --subject x -- ./check x
    [TEMP]/project/check
    [TEMP]/project
    ! actum: recorded run 8: tests on text:x passed
    ");
}

#[test]
fn signals_reach_the_command_and_its_children() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::HUP, 1), (Signal::USR1, 10)] {
        let shell =
            with_program(TESTS, "sleep 60 & echo $! > child; echo begun > begun; exec sleep 60");
        let mut run = shell.start_waiting(&ARGS);
        let child: i32 = shell.read("child").trim().parse().unwrap();
        kill_process(Pid::from_child(&run), signal).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(128 + number));
        gone(child);
        assert_eq!(shell.asks("tests x"), "contradicted errored 11");
        assert_eq!(shell.json("actum log --json -n 1").get("code").unwrap(), -number);
    }
}

/// A process that ended, even if nobody has asked for its exit code yet.
fn gone(process: i32) {
    until("the end of a child", || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        test_kill_process(Pid::from_raw(process).unwrap()).is_err() || stat.contains(") Z ")
    });
}

#[test]
fn a_signal_that_the_command_handles_does_not_end_the_run() {
    let body = "trap 'echo term >> told' TERM; echo begun > begun; while test -e $0 && ! test -e go; do sleep 0.01; done; exit 7";
    let shell = with_program(TESTS, body);
    let mut run = shell.start_waiting(&ARGS);
    kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    shell.wait_for("told");
    shell.write("go", "");
    assert_eq!(run.wait().unwrap().code(), Some(7));
    assert_eq!(shell.read("told"), "term\n");
}

#[test]
fn a_timeout_ends_a_whole_tree_that_does_not_want_to() {
    let deaf = "trap '' TERM; while :; do sleep 1; done";
    let bodies = [
        // The command and its child are deaf.
        format!("trap '' TERM; ({deaf}) & echo $! > child; wait"),
        // The command ends when it is told to; its child does not.
        format!("({deaf}) & echo $! > child; exec sleep 60"),
    ];
    let timed_out = |body: &String| {
        let shell = with_program(TESTS, body);
        let said = shell.said("actum run --step tests --subject x --timeout 100ms -- ./check x");
        gone(shell.read("child").trim().parse().unwrap());
        assert_eq!(shell.asks("tests x"), "contradicted timed_out 11");
        shell.settled(&said.to_string())
    };
    // Both at the same time, since each takes its five seconds of grace.
    let [both, child] = std::thread::scope(|scope| {
        let running = bodies.each_ref().map(|body| scope.spawn(move || timed_out(body)));
        running.map(|run| run.join().unwrap())
    });
    assert_eq!(both, child);
    assert_snapshot!(both, @"
    ! actum: recorded run 8: tests on text:x timed_out: it took longer than it was given
    [124]
    ");
}

#[test]
fn what_is_ignored_stays_ignored() {
    let shell = with_program(TESTS, "kill -HUP $$; kill -HUP $PPID; echo still here");
    assert_snapshot!(shell.play("trap '' HUP; actum run --step tests --subject x -- ./check x"), @"
    $ trap '' HUP; actum run --step tests --subject x -- ./check x
    still here
    ! actum: recorded run 8: tests on text:x passed
    ");
}

#[test]
fn a_command_that_ends_well_after_its_time_is_late_all_the_same() {
    let shell = with_program(TESTS, "trap 'exit 0' TERM; sleep 60 & wait");
    assert_snapshot!(shell.play("actum run --step tests --subject x --timeout 100ms -- ./check x"), @"
    $ actum run --step tests --subject x --timeout 100ms -- ./check x
    ! actum: recorded run 8: tests on text:x timed_out: it took longer than it was given
    [124]
    ");
}

#[test]
fn a_child_that_keeps_the_output_open_does_not_hold_the_run() {
    let policy = format!("{TESTS}passes = {{ output = ['^ok$'] }}\n");
    let shell = with_program(&policy, "sleep 60 & echo $! > child; echo ok");
    let said = Said::of(shell.actum(&ARGS).output().unwrap());
    let child = Pid::from_raw(shell.read("child").trim().parse().unwrap()).unwrap();
    kill_process(child, Signal::KILL).unwrap();
    assert_eq!((said.code, said.out.as_str()), (0, "ok\n"));
}

#[test]
fn a_run_that_could_not_be_recorded_is_never_silent() {
    let shell = with_program(TESTS, "rm ../state/actum/anchors/*; echo all is well");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- ./check x
        actum ground tests x
    "), @"
    $ actum run --step tests --subject x -- ./check x
    all is well
    ! error: the command ended, but run 8 could not be recorded: no anchor vouches for this ledger: it cannot be told whether it is whole
    !   it counts as incomplete; perform the step again
    [125]
    $ actum ground tests x
    refused (unanchored): tests on x
      no anchor vouches for this ledger: it cannot be told whether it is whole
      Restore the anchor, or go on without it: `actum resolve`.
    [12]
    ");
    let shell = with_program(TESTS, "mv .actum/ledger .actum/gone; echo all is well");
    assert_snapshot!(shell.play("
        actum run --quiet --step tests --subject x -- ./check x
        mv .actum/gone .actum/ledger; actum ground tests x
        actum verify | grep began
    "), @"
    $ actum run --quiet --step tests --subject x -- ./check x
    all is well
    ! error: the command ended, but run 8 could not be recorded: the ledger was cut: 0 of 9 acknowledged events are there
    !   it counts as incomplete; perform the step again
    [125]
    $ mv .actum/gone .actum/ledger; actum ground tests x
    ungrounded (incomplete): tests on text:x
      A run began and never ended: it was killed, or the machine stopped.
      run 8 began and has not ended
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    $ actum verify | grep began
    note: 1 run began and has not ended
    ");
}

#[test]
fn no_lock_is_held_while_the_command_runs() {
    let shell = with_program(TESTS, WAITS);
    let mut run = shell.start_waiting(&ARGS);
    shell.quietly("actum key rotate --yes");
    shell.write("go", "");
    assert!(run.wait().unwrap().success());
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    shell.is_whole();
}

#[test]
fn a_command_may_use_actum_itself() {
    let shell = with_program(
        TESTS,
        "actum ground tests x; actum run -q --step tests --subject y -- ./inner y",
    );
    shell.script("inner", "echo inner");
    shell.write(
        "actum.toml",
        "version = 1\n[steps.tests]\ncommands = [['./check', '{subject}'], ['./inner', '{subject}']]\nsubject = 'text'\n",
    );
    shell.quietly("actum policy accept --yes");
    shell.tool("env", "exec /usr/bin/env \"$@\"");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- ./check x
        actum ground tests x
        actum log --kind ended
    "), @"
    $ actum run --step tests --subject x -- ./check x
    ungrounded (running): tests on text:x
      A run began and is still going on.
      run 9 began and has not ended
      by the policy of event 3 (yes-flag), in [TEMP]/project
      Wait for it to end.
    inner
    ! actum: recorded run 9: tests on text:x passed
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 9 passed, exit 0, [AGO]
      by the policy of event 3 (yes-flag), in [TEMP]/project
    $ actum log --kind ended
        12  [TIME]  ended        run 11: passed (exit 0)  tests on text:y
        13  [TIME]  ended        run 9: passed (exit 0)  tests on text:x
    ");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let policy = format!("{TESTS}passes = {{ output = ['^ok$'] }}\n");
    let shell = with_program(
        &policy,
        "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done; echo ok",
    );
    shell.quietly("actum run --step tests --subject x -- ./check x | head -1");
    until("the end of the run", || shell.asks("tests x") == "grounded passed 0");
    for line in
        ["log --all", "verify", "policy show", "--help", "completions bash", "log --all --json"]
    {
        let said = shell.said(&format!("actum {line} 2>err | true; cat err"));
        assert_eq!(said.out, "", "{line}");
    }
}

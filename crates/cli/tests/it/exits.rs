//! The exit codes: a script can tell every outcome from every other.

use insta::assert_snapshot;

use crate::shell::{Shell, TESTS};

#[test]
fn run_ends_as_its_command_does() {
    let shell = Shell::with(
        r#"version = 1
[steps.tests]
commands = [["./check", "{subject}", "*"]]
subject = "text"
"#,
    );
    shell.script("check", "eval \"$2\"");
    shell.quietly("actum policy accept --yes");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- ./check x 'exit 0'
        actum run --step tests --subject x -- ./check x 'exit 3'
        actum run --step tests --subject x -- ./check x 'exit 255'
        actum run --step tests --subject x -- ./check x 'kill -9 $$'
        actum run --step tests --subject x -- ./check x 'kill -15 $$'
        actum run --step tests --subject x --timeout 100ms -- ./check x 'exec sleep 60'
        actum run --step tests --subject x --must-pass -- ./check x 'exit 0'
        actum run --step tests --subject x --must-pass -- ./check x 'exit 4'
        actum run --quiet --step tests --subject x -- ./check x 'exit 0'
        actum run --quiet --step tests --subject x -- ./check x 'exit 5'
        actum log --kind ended
    "), @"
    $ actum run --step tests --subject x -- ./check x 'exit 0'
    ! actum: recorded run 8: tests on text:x passed
    $ actum run --step tests --subject x -- ./check x 'exit 3'
    ! actum: recorded run 10: tests on text:x failed: the command ended with 3; a pass ends with 0
    [3]
    $ actum run --step tests --subject x -- ./check x 'exit 255'
    ! actum: recorded run 12: tests on text:x failed: the command ended with 255; a pass ends with 0
    [255]
    $ actum run --step tests --subject x -- ./check x 'kill -9 $$'
    ! actum: recorded run 14: tests on text:x errored: signal 9 ended the command
    [137]
    $ actum run --step tests --subject x -- ./check x 'kill -15 $$'
    ! actum: recorded run 16: tests on text:x errored: signal 15 ended the command
    [143]
    $ actum run --step tests --subject x --timeout 100ms -- ./check x 'exec sleep 60'
    ! actum: recorded run 18: tests on text:x timed_out: it took longer than it was given
    [124]
    $ actum run --step tests --subject x --must-pass -- ./check x 'exit 0'
    ! actum: recorded run 20: tests on text:x passed
    $ actum run --step tests --subject x --must-pass -- ./check x 'exit 4'
    ! actum: recorded run 22: tests on text:x failed: the command ended with 4; a pass ends with 0
    [4]
    $ actum run --quiet --step tests --subject x -- ./check x 'exit 0'
    $ actum run --quiet --step tests --subject x -- ./check x 'exit 5'
    ! actum: recorded run 26: tests on text:x failed: the command ended with 5; a pass ends with 0
    [5]
    $ actum log --kind ended
         9  [TIME]  ended        run 8: passed (exit 0)  tests on text:x
        11  [TIME]  ended        run 10: failed (exit 3)  tests on text:x
        13  [TIME]  ended        run 12: failed (exit 255)  tests on text:x
        15  [TIME]  ended        run 14: errored (signal 9)  tests on text:x
        17  [TIME]  ended        run 16: errored (signal 15)  tests on text:x
        19  [TIME]  ended        run 18: timed_out  tests on text:x
        21  [TIME]  ended        run 20: passed (exit 0)  tests on text:x
        23  [TIME]  ended        run 22: failed (exit 4)  tests on text:x
        25  [TIME]  ended        run 24: passed (exit 0)  tests on text:x
        27  [TIME]  ended        run 26: failed (exit 5)  tests on text:x
    ");
}

#[test]
fn a_command_that_cannot_be_started_is_recorded_as_that() {
    let shell = Shell::with(TESTS);
    // It is found and executable when it is accepted; what it names is not there when it is to start.
    shell.quietly("printf '#!/nowhere/sh\\n' > check; actum policy accept --yes");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- ./check x
        actum ground tests x
        printf '\\177ELF' > check; chmod +x check; actum policy accept --yes | tail -1
        actum run --step tests --subject y -- ./check y
        actum ground tests y
    "), @r"
    $ actum run --step tests --subject x -- ./check x
    ! actum: recorded run 8: tests on text:x errored: it could not be started: No such file or directory (os error 2)
    [127]
    $ actum ground tests x
    contradicted (errored): tests on text:x
      The newest run could not be carried out, or a signal ended it.
      run 8 errored, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      See `actum log`, and perform the step again.
    [11]
    $ printf '\177ELF' > check; chmod +x check; actum policy accept --yes | tail -1
    accepted (event 10, owner known by yes-flag)
    $ actum run --step tests --subject y -- ./check y
    ! actum: recorded run 13: tests on text:y errored: it could not be started: Exec format error (os error 8)
    [126]
    $ actum ground tests y
    contradicted (errored): tests on text:y
      The newest run could not be carried out, or a signal ended it.
      run 13 errored, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
      See `actum log`, and perform the step again.
    [11]
    ");
}

#[test]
fn usage_is_two() {
    let shell = Shell::with(TESTS);
    assert_snapshot!(shell.play("
        actum --nonsense
        actum nonsense
        actum ground
        actum ground lint x
        actum ground tests
        actum ground tests file:a
        actum ground 'te sts' x
        actum run --step tests --subject x --timeout soon -- ./check
        actum run -- ./check
        actum revoke seven --reason x
        actum run --step tests --subject x ./check
        actum ground --json lint x
    "), @r#"
    $ actum --nonsense
    ! error: unexpected argument '--nonsense' found
    ! 
    ! Usage: actum [OPTIONS] <COMMAND>
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum nonsense
    ! error: unrecognized subcommand 'nonsense'
    ! 
    ! Usage: actum [OPTIONS] <COMMAND>
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum ground
    ! error: the following required arguments were not provided:
    !   <STEP>
    ! 
    ! Usage: actum ground <STEP> [SUBJECT]
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum ground lint x
    ! error: there is no step `lint`
    !   the accepted policy has: tests
    [2]
    $ actum ground tests
    ! error: which subject?
    !   write it as text:ANYTHING
    [2]
    $ actum ground tests file:a
    ! error: `file:a` is a file subject; this step wants text
    !   write it as text:ANYTHING
    [2]
    $ actum ground 'te sts' x
    ! error: the step holds ' '; letters, digits and _ - . / : @ may stand there
    [2]
    $ actum run --step tests --subject x --timeout soon -- ./check
    ! error: invalid value 'soon' for '--timeout <TIME>': write it as 90s, 5m, 2h or 7d
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum run -- ./check
    ! error: the following required arguments were not provided:
    !   --step <STEP>
    ! 
    ! Usage: actum run --step <STEP> <COMMAND>...
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum revoke seven --reason x
    ! error: invalid value 'seven' for '[RUN]': write the number of an event, such as 7
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum run --step tests --subject x ./check
    ! error: `./check` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: ./check {subject}
    [125]
    $ actum ground --json lint x
    {"error":{"hint":"the accepted policy has: tests","message":"there is no step `lint`","reason":null}}
    [2]
    "#);
}

#[test]
fn no_command_teaches() {
    let shell = Shell::empty();
    let said = shell.said("actum");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("Usage: actum") && said.err.contains("Start with `actum init`"));
}

#[test]
fn run_refuses_with_125_and_starts_nothing() {
    let shell = Shell::with(TESTS);
    shell.script("check", "touch started");
    shell.quietly("actum policy accept --yes");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x
        actum run --step tests --subject x -- true
        actum run --step tests --subject x -- ./check x more
        actum run --step lint --subject x -- ./check x
        actum run --step tests -- ./check
        actum run --step tests --subject file:check -- ./check check
        cd / && actum run --step tests --subject x -- ./check x
        actum run --json --step tests --subject x -- true
        ls started
    "), @r#"
    $ actum run --step tests --subject x
    ! error: no command was given for step `tests`; nothing was started
    !   the accepted policy lists for `tests`: ./check {subject}
    [125]
    $ actum run --step tests --subject x -- true
    ! error: `true` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: ./check {subject}
    [125]
    $ actum run --step tests --subject x -- ./check x more
    ! error: `./check x more` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: ./check {subject}
    [125]
    $ actum run --step lint --subject x -- ./check x
    ! error: there is no step `lint`
    !   the accepted policy has: tests
    [125]
    $ actum run --step tests -- ./check
    ! error: which subject?
    !   write it as text:ANYTHING
    [125]
    $ actum run --step tests --subject file:check -- ./check check
    ! error: `file:check` is a file subject; this step wants text
    !   write it as text:ANYTHING
    [125]
    $ cd / && actum run --step tests --subject x -- ./check x
    ! error: there is no ledger in / or any folder above it
    !   The owner makes one with `actum init`.
    [125]
    $ actum run --json --step tests --subject x -- true
    ! {"error":{"hint":"the accepted policy lists for `tests`: ./check {subject}","message":"`true` does not count as step `tests`, so it was not started","reason":null}}
    [125]
    $ ls started
    ! ls: cannot access 'started': No such file or directory
    [2]
    "#);
    shell.is_whole();
}

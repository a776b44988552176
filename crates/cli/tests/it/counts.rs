//! What counts as a step, and what does not: a command that proves something else is never started.

use insta::assert_snapshot;

use crate::shell::Shell;

/// A `cargo` that says how it was called and what it sees, and that its tests passed.
const CARGO: &str = "echo \"cargo $*\" >> calls; env | sort > seen; pwd > where
echo 'running 3 tests'; echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";

/// A Cargo project with the policy that `actum init` writes for it. Its subject is a text, to leave git out of it.
fn cargo_project(cargo: &str) -> Shell {
    let shell = Shell::empty();
    shell.tool("cargo", cargo);
    shell.write("Cargo.toml", "[package]\nname = 'shop'\n");
    shell.quietly(
        "actum init
        sed -i 's/^commands/subject = \"text:x\"\\ncommands/' actum.toml
        actum policy accept --yes",
    );
    shell
}

#[test]
fn what_would_prove_something_else_is_not_started() {
    let shell = cargo_project(CARGO);
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- true
        actum run --step tests --subject x -- cargo test --help
        actum run --step tests --subject x -- cargo test --no-run
        actum run --step tests --subject x -- cargo test matches_nothing
        actum run --step tests --subject x -- cargo test -- --list
        actum run --step tests --subject x -- cargo test --doc
        actum run --step tests --subject x -- cargo --version
        actum run --step tests --subject x -- ./cargo test
        actum run --step tests --subject x -- env cargo test
        actum run --step tests --subject x -- cargo 'test --locked'
        actum run --step tests --subject x -- ''
        actum ground tests x
        ls calls
    "), @"
    $ actum run --step tests --subject x -- true
    ! error: `true` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test --help
    ! error: `cargo test --help` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test --no-run
    ! error: `cargo test --no-run` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test matches_nothing
    ! error: `cargo test matches_nothing` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test -- --list
    ! error: `cargo test -- --list` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test --doc
    ! error: `cargo test --doc` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo --version
    ! error: `cargo --version` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- ./cargo test
    ! error: `./cargo test` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- env cargo test
    ! error: `env cargo test` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo 'test --locked'
    ! error: `cargo 'test --locked'` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- ''
    ! error: `''` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum ground tests x
    ungrounded (never_ran): tests on text:x
      No run of this step on this subject is in the ledger.
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    $ ls calls
    ! ls: cannot access 'calls': No such file or directory
    [2]
    ");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- cargo test --locked --release
        cat calls
        actum ground tests x
    "), @"
    $ actum run --step tests --subject x -- cargo test --locked --release
    running 3 tests
    test result: ok. 3 passed; 0 failed; 0 ignored
    ! actum: recorded run 8: tests on text:x passed
    $ cat calls
    cargo test --locked --release
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn no_executed_test_is_no_pass() {
    let shell = cargo_project(
        "echo 'running 0 tests'; echo 'test result: ok. 0 passed; 0 failed; 9 filtered out'",
    );
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- cargo test
        actum run --step tests --subject x --must-pass -- cargo test
        actum ground tests x
    "), @r"
    $ actum run --step tests --subject x -- cargo test
    running 0 tests
    test result: ok. 0 passed; 0 failed; 9 filtered out
    ! actum: recorded run 8: tests on text:x failed: no line of the output matched `^test result: ok\. [1-9]|\b[1-9][0-9]* tests? run: [1-9][0-9]* passed`
    $ actum run --step tests --subject x --must-pass -- cargo test
    running 0 tests
    test result: ok. 0 passed; 0 failed; 9 filtered out
    ! actum: recorded run 10: tests on text:x failed: no line of the output matched `^test result: ok\. [1-9]|\b[1-9][0-9]* tests? run: [1-9][0-9]* passed`
    [1]
    $ actum ground tests x
    contradicted (failed): tests on text:x
      The newest run failed.
      run 10 failed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Mend what it found, and perform the step again.
    [11]
    ");
}

#[test]
fn a_runner_set_through_the_environment_is_not_passed_on() {
    let shell = cargo_project(CARGO);
    shell.quietly(
        "export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true RUSTC_WRAPPER=true LD_PRELOAD_X=1 BASH_ENV=x; actum run --step tests --subject x -- cargo test",
    );
    assert_snapshot!(shell.play("cat seen"), @"
    $ cat seen
    HOME=[TEMP]/home
    PATH=[TEMP]/bin:/usr/bin:/bin
    PWD=[TEMP]/project
    SHELL=/bin/sh
    TERM=xterm
    TZ=UTC
    XDG_DATA_HOME=[TEMP]/data
    XDG_STATE_HOME=[TEMP]/state
    ");
}

#[test]
fn the_environment_is_as_it_was_accepted() {
    let shell = cargo_project(CARGO);
    shell.quietly(
        "mkdir evil; cp /bin/true evil/cargo
        PATH=$PWD/evil:$PATH HOME=/nowhere TERM=dumb actum run --step tests --subject x -- cargo test
        mkdir sub; cd sub && actum run --step tests -- cargo test",
    );
    // The accepted cargo ran, with the accepted PATH and HOME; what a terminal can show is as it is now.
    assert_eq!(shell.read("calls"), "cargo test\ncargo test\n");
    assert_snapshot!(shell.play("
        grep -E '^(PATH|HOME)=' seen
        cat where
        actum ground tests x
    "), @"
    $ grep -E '^(PATH|HOME)=' seen
    HOME=[TEMP]/home
    PATH=[TEMP]/bin:/usr/bin:/bin
    $ cat where
    [TEMP]/project
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 10 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn variables_that_the_rule_names_are_passed_on() {
    let shell = cargo_project(CARGO);
    shell.quietly(
        "sed -i '/^commands/i env = [\"RUSTFLAGS\"]' actum.toml; actum policy accept --yes
        RUSTFLAGS=-g OTHER=1 actum run --step tests --subject x -- cargo test",
    );
    assert_eq!(shell.said("grep -E 'RUSTFLAGS|OTHER' seen").out, "RUSTFLAGS=-g\n");
}

#[test]
fn a_program_that_was_replaced_is_not_the_accepted_one() {
    let shell = cargo_project(CARGO);
    shell.quietly("actum run -q --step tests --subject x -- cargo test");
    shell.tool("cargo", "touch replaced; echo 'test result: ok. 3 passed'");
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- cargo test
        ls replaced
        actum ground tests x
        actum policy accept --yes
        actum ground tests x
        actum run -q --step tests --subject x -- cargo test
        actum ground tests x
    "), @"
    $ actum run --step tests --subject x -- cargo test
    ! error: [TEMP]/bin/cargo is not the program that was accepted
    !   look at it, then `actum policy accept`
    [125]
    $ ls replaced
    ! ls: cannot access 'replaced': No such file or directory
    [2]
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
    $ actum policy accept --yes

      # settled when accepted:
    - # program cargo = [TEMP]/bin/cargo ([SHORT])
    + # program cargo = [TEMP]/bin/cargo ([SHORT])
      # environment HOME = [TEMP]/home
      # environment PATH = [TEMP]/bin:/usr/bin:/bin

    accepted (event 10, owner known by yes-flag)
    $ actum ground tests x
    ungrounded (rule_changed): tests on text:x
      The newest run passed under another rule or with another binary than the one accepted now.
      run 8 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    $ actum run -q --step tests --subject x -- cargo test
    test result: ok. 3 passed
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 13 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
    ");
    shell.quietly("rm ../bin/cargo");
    assert_snapshot!(shell.play("actum run --step tests --subject x -- cargo test"), @"
    $ actum run --step tests --subject x -- cargo test
    ! error: cannot read [TEMP]/bin/cargo: No such file or directory (os error 2)
    !   look at it, then `actum policy accept`
    [125]
    ");
}

#[test]
fn an_edited_policy_counts_only_once_it_is_accepted() {
    let shell = cargo_project(CARGO);
    shell.write(
        "actum.toml",
        "version = 1\n[steps.tests]\ncommands = [['true']]\nsubject = 'text:x'\n",
    );
    assert_snapshot!(shell.play("
        actum run --step tests --subject x -- true
        actum run --step tests --subject x -- cargo test
    "), @"
    $ actum run --step tests --subject x -- true
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    ! error: `true` does not count as step `tests`, so it was not started
    !   the accepted policy lists for `tests`: cargo test; cargo nextest run
    !   and further arguments from: --all-features --frozen --locked --no-fail-fast --offline --release
    [125]
    $ actum run --step tests --subject x -- cargo test
    running 3 tests
    test result: ok. 3 passed; 0 failed; 0 ignored
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    ! actum: recorded run 8: tests on text:x passed
    ");
}

#[test]
fn two_fields_never_run_into_each_other() {
    let policy = "version = 1
[steps.validate]\ncommands = [['./check', '{subject}']]\nsubject = 'text'
[steps.validateX]\ncommands = [['./check', '{subject}']]\nsubject = 'text'\n";
    let shell = Shell::with(policy);
    shell.quietly("actum run -q --step validate --subject text:X12 -- ./check X12");
    assert_eq!(shell.asks("validateX text:12"), "ungrounded never_ran 10");
    assert_eq!(shell.asks("validate text:X12"), "grounded passed 0");
}

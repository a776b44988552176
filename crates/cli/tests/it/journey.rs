//! A person installs Actum, records a step, and is told the truth about it.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::shell::{Shell, TESTS};

/// A tool that lists what ran, as `cargo` does.
const CARGO: &str = "echo 'running 2 tests'; echo 'test result: ok. 2 passed; 0 failed'";

/// A Cargo project in a repository, with a `cargo` that passes.
fn repository() -> Shell {
    let shell = Shell::empty();
    shell.tool("cargo", CARGO);
    shell.write("Cargo.toml", "[package]\nname = 'shop'\n");
    shell.write("lib.rs", "fn total() {}\n");
    shell.quietly("PATH=$PATH:/usr/local/bin git init -q .");
    shell
}

#[test]
fn init_writes_a_policy_for_a_cargo_project_and_shows_it() {
    let shell = repository();
    let init = shell.said("actum init");
    assert_eq!((init.code, init.err.as_str()), (0, ""), "{init}");
    assert_snapshot!(shell.settled(&init.out), @r#"
    made [TEMP]/project/.actum
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]

    wrote actum.toml:
      # What counts as a safety step of this project, and what a pass of it is.
      #
      # A step is a name, such as `tests`, that an agent may claim to have performed. Such a claim is believed only if Actum
      # itself ran one of the step's commands, saw it pass, and the files are still the same. To add a step, copy a table
      # [steps.NAME] and change it. Every key is explained in docs/formats/policy.md of Actum.
      #
      #   commands   whole commands, word for word; any one of them is the step. "*" stands for one word, never for an option.
      #   allow      further arguments that may follow a command. List only what does not weaken it: with a filter, `--no-run`
      #              or `--help` a command still ends well and proves nothing.
      #   env        names of variables to pass on, such as ["RUSTFLAGS"]. All others are left out, but for a few basic ones.
      #   subject    what the step is performed on: "git" (all files of the work tree; the default); any "file", "dir" or "text",
      #              and then each command says "{subject}" where its name stands; or only this one, such as "dir:src".
      #   lifetime   how long a pass counts, such as "24h"; without it, for as long as the subject stays the same.
      #   passes     the exit codes of a pass (0 by default), and patterns that the output must show.
      #
      # Editing this file changes nothing yet. In force is what was last accepted: look with `actum policy check`, accept with
      # `actum policy accept`.
      
      version = 1
      
      [steps.tests]
      commands = [
          ["cargo", "test"],
          ["cargo", "nextest", "run"],
      ]
      allow = ["--release", "--locked", "--offline", "--frozen", "--all-features", "--no-fail-fast"]
      lifetime = "24h"
      passes = { exit = [0], output = ['^test result: ok\. [1-9]|\b[1-9][0-9]* tests? run: [1-9][0-9]* passed'] }
      
      [steps.build]
      commands = [["cargo", "build"]]
      allow = ["--release", "--locked", "--offline", "--frozen", "--all-features", "--all-targets"]
      
      [steps.lint]
      commands = [["cargo", "clippy", "--all-targets", "--", "-D", "warnings"]]

    next: actum run --step tests -- cargo test
    then: actum ground tests
    "#);
    assert_eq!(
        shell.read("actum.toml").lines().next(),
        Some("# What counts as a safety step of this project, and what a pass of it is.")
    );
}

#[test]
fn the_main_job_in_a_repository() {
    let shell = repository();
    shell.quietly("actum init");
    assert_snapshot!(shell.play("
        cat .actum/.gitignore
        actum ground tests HEAD
        actum run --step tests --subject HEAD -- cargo test
        actum ground tests HEAD
        actum skip tests
        echo 'fn total() { 1 }' > lib.rs
        actum ground tests HEAD
        actum skip tests
        actum run --step tests -- cargo test --locked
        actum ground tests
        mkdir -p src/deep
        cd src/deep && actum ground tests
        actum verify
    "), @"
    $ cat .actum/.gitignore
    # Made by actum: evidence belongs to one machine.
    *
    $ actum ground tests HEAD
    ungrounded (never_ran): tests on git:HEAD
      No run of this step on this subject is in the ledger.
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    $ actum run --step tests --subject HEAD -- cargo test
    running 2 tests
    test result: ok. 2 passed; 0 failed
    ! actum: recorded run 7: tests on git:HEAD passed
    $ actum ground tests HEAD
    grounded (passed): tests on git:HEAD
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum skip tests
    skip it
    grounded (passed): tests on git:HEAD
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ echo 'fn total() { 1 }' > lib.rs
    $ actum ground tests HEAD
    contradicted (stale): tests on git:HEAD
      lib.rs changed
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    $ actum skip tests
    perform it
    contradicted (stale): tests on git:HEAD
      lib.rs changed
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    $ actum run --step tests -- cargo test --locked
    running 2 tests
    test result: ok. 2 passed; 0 failed
    ! actum: recorded run 9: tests on git:HEAD passed
    $ actum ground tests
    grounded (passed): tests on git:HEAD
      run 9 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ mkdir -p src/deep
    $ cd src/deep && actum ground tests
    grounded (passed): tests on git:HEAD
      run 9 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum verify
    intact    yes: 11 events, 2 runs, every MAC checked ([SIZE AND TIME])
    complete  yes: reaches event 10 that the anchor remembers, of [TIME]
              [TEMP]/state/actum/anchors/[ID]
    fresh     not shown: store and anchor rolled back together would look the same;
              a process that stays, such as `actum log --follow`, would refuse that
    note: the policy of event 1 was accepted with the owner known by yes-flag
    note: key and ledger belong to the same user: weaker, for whatever runs as that user can read the key
    ");
}

#[test]
fn what_a_command_makes_belongs_to_the_ignored_files() {
    let shell = repository();
    shell.tool("cargo", &format!("mkdir -p target; echo made > target/out; {CARGO}"));
    shell.quietly("actum init");
    assert_snapshot!(shell.play("
        actum run --step tests -- cargo test
        rm -r target; echo /target > .gitignore
        actum run --step tests -- cargo test
        actum ground tests
    "), @"
    $ actum run --step tests -- cargo test
    running 2 tests
    test result: ok. 2 passed; 0 failed
    ! actum: recorded run 7: tests on git:HEAD subject_changed_during_run: target/out is new
    ! actum: if the command made it: run it once more; what is built belongs into .gitignore
    $ rm -r target; echo /target > .gitignore
    $ actum run --step tests -- cargo test
    running 2 tests
    test result: ok. 2 passed; 0 failed
    ! actum: recorded run 9: tests on git:HEAD passed
    $ actum ground tests
    grounded (passed): tests on git:HEAD
      run 9 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn init_in_an_empty_folder_writes_a_policy_without_steps() {
    let shell = Shell::empty();
    let said = shell.said("actum init");
    assert_eq!(said.code, 0);
    assert!(said.out.contains("wrote actum.toml:"), "{said}");
    assert_snapshot!(shell.play("
        actum ground tests x
        actum run --step tests --subject x -- ./check x
        actum policy accept
        actum init
    "), @"
    $ actum ground tests x
    ! error: there is no step `tests`
    !   the accepted policy has no steps; add some to actum.toml, then `actum policy accept`
    [2]
    $ actum run --step tests --subject x -- ./check x
    ! error: there is no step `tests`
    !   the accepted policy has no steps; add some to actum.toml, then `actum policy accept`
    [125]
    $ actum policy accept
    this is the policy in force already; nothing was changed
    $ actum init
    ! error: there is a ledger in [TEMP]/project/.actum already
    !   see it with `actum verify` and `actum log`
    [1]
    ");
}

#[test]
fn a_policy_that_is_there_is_shown_and_not_accepted_unseen() {
    let shell = Shell::empty();
    shell.write("actum.toml", TESTS);
    assert_snapshot!(shell.play("
        actum init
        actum ground tests x
        actum run --step tests --subject x -- ./check x
        actum policy accept
        actum ground tests x
    "), @r#"
    $ actum init
    made [TEMP]/project/.actum
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]

    actum.toml was there already:
      version = 1
      [steps.tests]
      commands = [["./check", "{subject}"]]
      subject = "text"

    it is not in force: nobody is there to accept it
    note: `./check` was not found; commands that begin with it cannot run
    next: look at it, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    $ actum run --step tests --subject x -- ./check x
    ! error: no policy is in force
    !   The owner accepts one with `actum policy accept`.
    [125]
    $ actum policy accept
    + version = 1
    + [steps.tests]
    + commands = [["./check", "{subject}"]]
    + subject = "text"
    +
    + # settled when accepted:
    + # environment HOME = [TEMP]/home
    + # environment PATH = [TEMP]/bin:/usr/bin:/bin
    + # environment SHELL = /bin/sh
    + # environment TZ = UTC
    + # environment XDG_DATA_HOME = [TEMP]/data
    + # environment XDG_STATE_HOME = [TEMP]/state

    note: `./check` was not found; commands that begin with it cannot run
    ! error: nobody is there to ask: Accept this?
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    "#);
}

#[test]
fn init_with_yes_accepts_and_says_what_cannot_run() {
    let shell = Shell::empty();
    shell.write("actum.toml", TESTS);
    assert_snapshot!(shell.play("
        actum init --yes
        actum run --step tests --subject x -- ./check x
        actum verify | grep -c intact
    "), @r#"
    $ actum init --yes
    made [TEMP]/project/.actum
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]

    actum.toml was there already:
      version = 1
      [steps.tests]
      commands = [["./check", "{subject}"]]
      subject = "text"

    note: `./check` was not found; commands that begin with it cannot run
    next: install what was not found, then `actum policy accept`
    $ actum run --step tests --subject x -- ./check x
    ! error: `./check` was not found when the policy was accepted
    !   install it, then `actum policy accept`
    [125]
    $ actum verify | grep -c intact
    1
    "#);
}

#[test]
fn a_policy_that_does_not_parse_is_refused_before_anything_is_made() {
    let shell = Shell::empty();
    shell.write("actum.toml", "version = 1\n[steps.tests]\ncomands = [['a']]\n");
    assert_snapshot!(shell.play("
        actum init --yes
        ls -A
    "), @"
    $ actum init --yes
    ! error: actum.toml:3:1: unknown key `comands` in step `tests`; did you mean `commands`?
    [2]
    $ ls -A
    actum.toml
    ");
}

#[test]
fn a_ledger_below_a_ledger_is_made_only_if_it_is_meant() {
    let shell = Shell::with(TESTS);
    assert_snapshot!(shell.play("
        mkdir sub; cd sub && actum init
        cd sub && actum init --nested --yes | head -1
    "), @"
    $ mkdir sub; cd sub && actum init
    ! error: there is a ledger above this folder: [TEMP]/project/.actum
    !   it answers here as well; to make another one for this folder, say --nested
    [1]
    $ cd sub && actum init --nested --yes | head -1
    made [TEMP]/project/sub/.actum
    ");
}

#[test]
fn a_store_is_found_from_a_subfolder_or_named() {
    let shell = Shell::with(TESTS);
    assert_snapshot!(shell.play("
        mkdir -p a/b
        cd a/b && actum run --step tests --subject x -- ./check x
        cd a/b && actum ground tests x
        cd / && actum ground tests x
        cd / && actum --store $OLDPWD/.actum ground tests x
        cd / && ACTUM_STORE=$OLDPWD/.actum actum ground tests x
        cd .. && actum ground tests x --store project/.actum
        actum ground tests x --store nowhere/.actum
        actum ground tests x --store nowhere
        actum ground tests x --store .
        ACTUM_STORE= actum ground tests x
    "), @"
    $ mkdir -p a/b
    $ cd a/b && actum run --step tests --subject x -- ./check x
    ok
    ! actum: recorded run 7: tests on text:x passed
    $ cd a/b && actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ cd / && actum ground tests x
    refused (no_ledger): tests on x
      there is no ledger in / or any folder above it
      The owner makes one with `actum init`.
    [12]
    $ cd / && actum --store $OLDPWD/.actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ cd / && ACTUM_STORE=$OLDPWD/.actum actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ cd .. && actum ground tests x --store project/.actum
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum ground tests x --store nowhere/.actum
    ! error: no store can lie in [TEMP]/project/nowhere: No such file or directory (os error 2)
    [2]
    $ actum ground tests x --store nowhere
    refused (no_ledger): tests on x
      there is no ledger in [TEMP]/project/nowhere
      The owner makes one with `actum init`.
    [12]
    $ actum ground tests x --store .
    ! error: [TEMP]/project is a project, not a store
    !   its store is [TEMP]/project/.actum
    [2]
    $ ACTUM_STORE= actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    ");
}

#[test]
fn a_store_elsewhere_is_made_where_it_was_named() {
    let shell = Shell::empty();
    shell.quietly("mkdir other");
    shell.write("other/actum.toml", TESTS);
    assert_snapshot!(shell.play("
        actum init --store other/.actum --yes | head -1
        ls -A
        ls -A other
    "), @"
    $ actum init --store other/.actum --yes | head -1
    made [TEMP]/project/other/.actum
    $ ls -A
    other
    $ ls -A other
    .actum
    actum.toml
    ");
}

#[test]
fn the_log_shows_what_was_asked_for() {
    let shell = Shell::with(TESTS);
    shell.quietly(
        "actum run -q --step tests --subject a -- ./check a
        actum run -q --step tests --subject b -- ./check b
        actum revoke 7 --reason 'the data was wrong' --yes",
    );
    shell.script("check", "exit 3");
    shell.quietly("actum policy accept --yes");
    assert_eq!(shell.said("actum run --step tests --subject a -- ./check a").code, 3);
    assert_snapshot!(shell.play("
        actum log
        actum log --all -n 3
        actum log --kind named | wc -l
        actum log --step tests --subject b
        actum log --subject text:b -n 1
        actum log --outcome failed
        actum log --kind policy --since 1h
        actum log --step nothing
        actum log --kind nothing
        actum log --outcome nothing
        actum log --since soon
        actum log --json -n 1
        actum log | head -1
        actum log -n 0
    "), @r#"
    $ actum log
         0  [TIME]  genesis      ledger [ID]
         1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
         7  [TIME]  began        run 7: tests on text:a
         8  [TIME]  ended        run 7: passed (exit 0)  tests on text:a
         9  [TIME]  began        run 9: tests on text:b
        10  [TIME]  ended        run 9: passed (exit 0)  tests on text:b
        11  [TIME]  revoked      run 7: the data was wrong (owner known by yes-flag)  tests on text:a
        12  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
        15  [TIME]  began        run 15: tests on text:a
        16  [TIME]  ended        run 15: failed (exit 3)  tests on text:a
    $ actum log --all -n 3
        14  [TIME]  named        rule 1 is [DIGEST]
        15  [TIME]  began        run 15: tests on text:a
        16  [TIME]  ended        run 15: failed (exit 3)  tests on text:a
    $ actum log --kind named | wc -l
    7
    $ actum log --step tests --subject b
    ! actum: no event is like that
    $ actum log --subject text:b -n 1
        10  [TIME]  ended        run 9: passed (exit 0)  tests on text:b
    $ actum log --outcome failed
        16  [TIME]  ended        run 15: failed (exit 3)  tests on text:a
    $ actum log --kind policy --since 1h
         1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
        12  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
    $ actum log --step nothing
    ! actum: no event is like that
    $ actum log --kind nothing
    ! error: there is no kind `nothing`
    !   there are: genesis, named, policy, began, ended, revoked, clock, recovered, resolved, rotated, observed, wrote, superseded, quarantined, released, granted, consented, spent, decided, opened, enrolled
    [2]
    $ actum log --outcome nothing
    ! error: there is no outcome `nothing`
    !   there are: passed, failed, errored, denied, timed_out, subject_changed_during_run
    [2]
    $ actum log --since soon
    ! error: invalid value 'soon' for '--since <TIME>': write it as 90s, 5m, 2h or 7d
    ! 
    ! For more information, try '--help'.
    [2]
    $ actum log --json -n 1
    {"code":3,"content":"[DIGEST]","incarnation":10,"index":16,"kind":"ended","outcome":"failed","result":"[DIGEST]","run":15,"step":"tests","subject":"text:a","time":"[TIME]"}
    $ actum log | head -1
         0  [TIME]  genesis      ledger [ID]
    $ actum log -n 0
    "#);
}

#[test]
fn the_log_follows() {
    let shell = Shell::with(TESTS);
    let mut follow = shell.actum(&["log", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || shell.settled(&lines.next().unwrap().unwrap());
    assert_snapshot!(next(), @"     0  [TIME]  genesis      ledger [ID]");
    assert_snapshot!(next(), @"     1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag");
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    assert_snapshot!(next(), @"     7  [TIME]  began        run 7: tests on text:x");
    assert_snapshot!(next(), @"     8  [TIME]  ended        run 7: passed (exit 0)  tests on text:x");
    follow.kill().unwrap();
    follow.wait().unwrap();
}

#[test]
fn whoever_follows_refuses_a_rollback_of_store_and_anchor() {
    let shell = Shell::with(TESTS);
    shell.quietly("mkdir ../before; cp -a .actum ../state ../before");
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    let mut follow = shell
        .actum(&["log", "--follow", "-n", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(follow.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    // The anchor last and in one move: half a copy would be another story.
    shell.quietly(
        "cp -a ../before/.actum/. .actum/
        mv -f ../before/state/actum/anchors/* ../state/actum/anchors/",
    );
    let said = crate::shell::Said::of(follow.wait_with_output().unwrap());
    assert_snapshot!(shell.settled(&said.to_string()), @"
    ! error: the ledger was rolled back: this process has seen 9 events, store and anchor know 2
    !   Restore the newer store and anchor, then start again.
    [12]
    ");
}

#[test]
fn the_key_says_where_it_is_and_is_replaced() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    assert_snapshot!(shell.play("
        actum key where
        actum key rotate
        actum key rotate --yes
        actum key where
        actum ground tests x
        actum run --step tests --subject y -- ./check y
        actum log --kind rotated
        actum verify
    "), @"
    $ actum key where
    ledger [ID]
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]
    generation 0 is in force
    whoever can read the key can forge; a shell of the same user can
    $ actum key rotate
    ! error: nobody is there to ask: Replace the key?
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum key rotate --yes
    event 9 was sealed with the old key; what follows is sealed with a new one
    $ actum key where
    ledger [ID]
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]
    generation 1 is in force
    whoever can read the key can forge; a shell of the same user can
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum run --step tests --subject y -- ./check y
    ok
    ! actum: recorded run 10: tests on text:y passed
    $ actum log --kind rotated
         9  [TIME]  rotated      the next event is sealed with key 1 (owner known by yes-flag)
    $ actum verify
    intact    yes: 12 events, 2 runs, every MAC checked ([SIZE AND TIME])
    complete  yes: reaches event 11 that the anchor remembers, of [TIME]
              [TEMP]/state/actum/anchors/[ID]
    fresh     not shown: store and anchor rolled back together would look the same;
              a process that stays, such as `actum log --follow`, would refuse that
    note: the policy of event 1 was accepted with the owner known by yes-flag
    note: key and ledger belong to the same user: weaker, for whatever runs as that user can read the key
    ");
}

#[test]
fn a_run_is_revoked_by_its_owner() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    assert_snapshot!(shell.play("
        actum revoke 7 --reason 'no'
        actum ground tests x
        actum revoke 3 --reason 'no' --yes
        actum revoke 7 --reason 'wrong data' --yes
        actum ground tests x
        actum revoke 7 --reason 'again' --yes
    "), @"
    $ actum revoke 7 --reason 'no'
    ! error: nobody is there to ask: Revoke run 7?
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum revoke 3 --reason 'no' --yes
    ! error: event 3 is not the beginning of a run
    !   see the runs with `actum log --kind began`
    [2]
    $ actum revoke 7 --reason 'wrong data' --yes
    run 7 is revoked (event 9, owner known by yes-flag)
    $ actum ground tests x
    contradicted (revoked): tests on text:x
      The owner revoked the newest run.
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again.
    [11]
    $ actum revoke 7 --reason 'again' --yes
    run 7 is revoked (event 10, owner known by yes-flag)
    ");
}

#[test]
fn a_policy_is_checked_shown_and_accepted() {
    let shell = Shell::with(TESTS);
    shell.write("good.toml", "version = 1\n[steps.lint]\ncommands = [['nowhere', '--all']]\n");
    shell.write("bad.toml", "version = 1\n\n[steps.lint]\ncommands = 'cargo'\n");
    assert_snapshot!(shell.play("
        actum policy check
        actum policy check good.toml
        actum policy check bad.toml
        actum policy check missing.toml
        actum policy accept
        echo 'lifetime = \"1h\"' >> actum.toml
        actum policy show
        actum run --step tests --subject x -- ./check x
        actum ground tests x
        actum policy accept
        actum policy accept --yes
        actum ground tests x
        actum policy show | tail -2
        actum log --kind policy
    "), @r#"
    $ actum policy check
    tests on text
      ./check {subject}  [TEMP]/project/check ([SHORT])
    this is the policy in force
    $ actum policy check good.toml
    lint on git
      nowhere --all  not found here
    this is not the policy in force
    $ actum policy check bad.toml
    ! error: bad.toml:4:12: `commands` of step `lint` is a text; write a list of commands, each a list of words, such as [["cargo", "test"]]
    [2]
    $ actum policy check missing.toml
    ! error: cannot read missing.toml: No such file or directory (os error 2)
    [2]
    $ actum policy accept
    this is the policy in force already; nothing was changed
    $ echo 'lifetime = "1h"' >> actum.toml
    $ actum policy show
    version = 1
    [steps.tests]
    commands = [["./check", "{subject}"]]
    subject = "text"
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    $ actum run --step tests --subject x -- ./check x
    ok
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    ! actum: recorded run 7: tests on text:x passed
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    ! actum: actum.toml was edited since it was accepted; the accepted one is in force (see `actum policy accept`)
    $ actum policy accept
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"

      # settled when accepted:

    ! error: nobody is there to ask: Accept this?
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum policy accept --yes
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"

      # settled when accepted:

    accepted (event 9, owner known by yes-flag)
    $ actum ground tests x
    ungrounded (rule_changed): tests on text:x
      The newest run passed under another rule or with another binary than the one accepted now.
      run 7 passed, exit 0, [AGO]
      by the policy of event 9 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    $ actum policy show | tail -2
    subject = "text"
    lifetime = "1h"
    $ actum log --kind policy
         1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
         9  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
    "#);
}

#[test]
fn a_policy_is_checked_before_there_is_a_ledger() {
    let shell = Shell::empty();
    shell.write("actum.toml", TESTS);
    assert_snapshot!(shell.play("actum policy check"), @"
    $ actum policy check
    tests on text
      ./check {subject}  not found here
    this is not the policy in force; `actum policy accept` makes it so
    ");
}

#[test]
fn completions_for_every_shell() {
    let shell = Shell::empty();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = shell.said(&format!("actum completions {name}"));
        assert!(said.code == 0 && said.out.contains("actum"), "{said}");
    }
    assert_eq!(shell.said("actum completions tcsh").code, 2);
}

#[test]
fn every_command_has_a_help_text() {
    let shell = Shell::empty();
    for command in [
        "",
        "init",
        "run",
        "ground",
        "skip",
        "log",
        "verify",
        "revoke",
        "resolve",
        "policy",
        "policy check",
        "policy show",
        "policy accept",
        "key",
        "key where",
        "key rotate",
        "inbox",
        "approve",
        "mandate",
        "mandate grant",
        "mandate list",
        "mandate revoke",
        "why",
        "trace",
        "coverage",
        "demo",
        "completions",
    ] {
        let said = shell.said(&format!("actum {command} --help"));
        assert!(said.code == 0 && said.out.contains("Usage: actum"), "{command}: {said}");
        assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{command}: {said}");
    }
    assert_snapshot!(shell.play("actum --version"), @"
    $ actum --version
    actum 0.1.0
    ");
}

#[test]
fn the_demo_ends_well() {
    let shell = Shell::empty();
    let said = shell.said("actum demo");
    assert!(said.code == 0 && !said.out.contains("WRONG"), "{said}");
    assert!(said.out.contains("All 14 scenes ended as they should"), "{said}");
    assert!(include_str!("../../../../README.md").contains("fourteen scenes"), "14 is on no page");
    for scene in [
        "account number planted on a page   ask (untrusted_argument)",
        "laundered: a note, a later session ask (untrusted_argument)",
        "approved, then another amount      ask (untrusted_argument)",
        "stored task, tampered with         quarantine (changed)",
    ] {
        assert!(said.out.contains(scene), "{scene}: {said}");
    }
    assert!(!shell.has(".actum"));
}

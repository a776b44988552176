//! Attacks of a hostile agent under the same user, each named for what must hold: an honest person who asks afterwards is
//! not told that a step passed which did not, and nothing outside the store is harmed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::shell::{Shell, until};

/// A check that passes only if the source is good; it is not.
const GOOD: &str = "version = 1
[steps.tests]
commands = [['./check']]
subject = 'file:src.txt'
passes = { output = ['^[1-9][0-9]* passed'] }
";
const CHECK: &str = "grep -q good src.txt && echo '3 passed'";
/// What an attacker would like to be asked for.
const WEAK: &str =
    "version = 1\\n[steps.tests]\\ncommands = [[\"true\"]]\\nsubject = \"file:src.txt\"\\n";

/// An honest project whose tests do not pass.
fn project() -> Shell {
    let shell = Shell::empty();
    shell.write("actum.toml", GOOD);
    shell.script("check", CHECK);
    shell.write("src.txt", "v1\n");
    shell.quietly("actum init --yes");
    shell
}

/// The same in a repository, with the work tree as the subject.
fn repository() -> Shell {
    let shell = Shell::empty();
    shell.write("actum.toml", &GOOD.replace("'file:src.txt'", "'git'"));
    shell.script("check", CHECK);
    shell.write("src.txt", "v1\n");
    shell.quietly("PATH=$PATH:/usr/local/bin git init -q .\n actum init --yes");
    shell
}

/// A project whose tests pass, and passed.
fn passed() -> Shell {
    let shell = project();
    shell.write("src.txt", "good\n");
    shell.quietly("actum run -q --step tests -- ./check");
    assert_eq!(shell.asks("tests"), "grounded passed 0");
    shell
}

fn weak(line: &str) -> String {
    line.replace("WEAK", &format!("printf '{WEAK}' > actum.toml"))
}

/// What the attacker did succeeds or fails; the honest person's view is what counts.
fn attack(shell: &Shell, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let _whatever_came_of_it = shell.said(&weak(line));
    }
}

/// Ends within a time, whatever it is given.
fn in_time(shell: &Shell, line: &str) -> String {
    let begun = Instant::now();
    let shown = shell.play(&format!("timeout 10 {line}"));
    assert!(begun.elapsed() < Duration::from_secs(9), "{shown}");
    assert!(!shown.contains("[124]") && !shown.contains("panicked"), "{shown}");
    shown
}

/// Every file below a folder; links are not followed.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            found.extend(files(&path));
        } else if meta.is_file() {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_link_to_another_ledger_is_not_followed() {
    let shell = passed();
    shell.write("src.txt", "broken\n");
    attack(
        &shell,
        "mv .actum ../old; mkdir x; cp src.txt x
        cd x && WEAK && actum init --nested --yes && actum run --step tests -- true
        ln -s x/.actum .actum",
    );
    assert_eq!(shell.asks("tests --store x/.actum"), "grounded passed 0", "the bait is there");
    assert_snapshot!(shell.play("actum ground tests\n actum verify"), @"
    $ actum ground tests
    refused (store_unreadable): tests on HEAD
      [TEMP]/project/.actum: not a folder of its own; a store is not followed through links
      See the message for the file and the cause.
    [12]
    $ actum verify
    ! error: [TEMP]/project/.actum: not a folder of its own; a store is not followed through links
    [12]
    ");
}

#[test]
fn a_store_that_is_the_source_is_refused() {
    let shell = repository();
    shell.quietly("mkdir src; echo good > src/a");
    shell.script("check", "grep -q good src/a && echo '3 passed'");
    shell.quietly("actum policy accept --yes");
    attack(
        &shell,
        "mv .actum ../old; ln -s src .actum
        actum --store src init --yes
        actum --store src run --step tests -- ./check
        actum run --step tests -- ./check",
    );
    assert_eq!(shell.said("actum verify --store src").code, 0, "the bait is there");
    assert_eq!(shell.asks("tests --store src"), "refused subject_unreadable 12");
    shell.write("src/a", "broken\n");
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    refused (store_unreadable): tests on HEAD
      [TEMP]/project/.actum: not a folder of its own; a store is not followed through links
      See the message for the file and the cause.
    [12]
    ");
}

#[test]
fn a_store_that_is_gone_is_missed_though_another_lies_above() {
    let shell = passed();
    attack(
        &shell,
        "mv .actum ../old; cp src.txt ..
        cd .. && WEAK && actum init --yes && actum run --step tests -- true",
    );
    assert_eq!(shell.asks("tests --store ../.actum"), "grounded passed 0", "the bait is there");
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    refused (truncated): tests on HEAD
      the ledger was cut: 0 of 9 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    ");
}

#[test]
fn resolving_with_another_data_home_frees_no_path() {
    let shell = passed();
    assert_snapshot!(shell.play("XDG_DATA_HOME=$PWD/../evil actum resolve --yes"), @"
    $ XDG_DATA_HOME=$PWD/../evil actum resolve --yes
    ! error: the key of this ledger cannot be used: it is kept in [TEMP]/data/actum, but this call looks in [TEMP]/evil/actum (is XDG_DATA_HOME set otherwise?)
    !   Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    ");
    assert_eq!(shell.asks("tests"), "grounded passed 0");
    attack(&shell, "rm -rf .actum; WEAK; actum init --yes; actum run --step tests -- true");
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    refused (truncated): tests on HEAD
      the ledger was cut: 0 of 9 acknowledged events are there
      Restore the file, or go on without them: `actum resolve`.
    [12]
    ");
}

#[test]
fn a_lock_that_is_a_link_is_not_written_through() {
    let shell = project();
    shell.quietly("echo precious > ../precious; rm .actum/lock; ln -s ../../precious .actum/lock");
    assert_snapshot!(shell.play("actum run --step tests -- ./check"), @"
    $ actum run --step tests -- ./check
    ! error: cannot lock [TEMP]/project/.actum/lock: a link
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [125]
    ");
    shell.quietly("rm .actum/lock; ln ../precious .actum/lock");
    assert_snapshot!(shell.play("actum run --step tests -- ./check"), @"
    $ actum run --step tests -- ./check
    ! error: cannot lock [TEMP]/project/.actum/lock: a file with two names
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [125]
    ");
    let keys = shell.root().join("data/actum/keys");
    let before: Vec<_> = files(&keys).iter().map(|path| fs::read(path).unwrap()).collect();
    shell.quietly("rm .actum/lock; ln -s $PWD/../data/actum/keys/* .actum/ ; cd .actum && mv $(ls -d ????????????????????????????????) lock");
    attack(&shell, "actum run --step tests -- ./check\n actum resolve --yes");
    let after: Vec<_> = files(&keys).iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(before, after);
    assert_eq!(shell.read("../precious"), "precious\n");
    attack(&shell, "rm -rf .actum; WEAK; actum init --yes; actum run --step tests -- true");
    assert_eq!(shell.asks("tests"), "refused truncated 12");
}

#[test]
fn a_path_where_a_ledger_lay_is_no_fresh_start() {
    let shell = passed();
    shell.write("src.txt", "broken\n");
    shell.quietly(
        "mkdir ../away; mv .actum ../away/.actum; actum --store ../away/.actum resolve --yes",
    );
    assert_snapshot!(shell.play(&format!("
        printf '{WEAK}' > actum.toml; actum init --yes
        actum ground tests
        actum verify
        actum run --step tests -- true
    ")), @r#"
    $ printf 'version = 1\n[steps.tests]\ncommands = [["true"]]\nsubject = "file:src.txt"\n' > actum.toml; actum init --yes
    ! error: ledger [ID] lay in [TEMP]/project/.actum before
    !   Restore the folder, or see what is lost and go on: `actum resolve`.
    [1]
    $ actum ground tests
    refused (no_ledger): tests on HEAD
      ledger [ID] lay in [TEMP]/project/.actum before
      Restore the folder, or see what is lost and go on: `actum resolve`.
    [12]
    $ actum verify
    ! error: ledger [ID] lay in [TEMP]/project/.actum before
    !   Restore the folder, or see what is lost and go on: `actum resolve`.
    [12]
    $ actum run --step tests -- true
    ! error: ledger [ID] lay in [TEMP]/project/.actum before
    !   Restore the folder, or see what is lost and go on: `actum resolve`.
    [125]
    "#);
    // The owner's way on begins a ledger that says it is not the first one here.
    assert_snapshot!(shell.play("
        actum resolve --yes
        actum ground tests
        actum policy accept --yes | tail -1
        actum run -q --step tests -- true
        actum ground tests
    "), @"
    $ actum resolve --yes
    moved: ledger [ID] lay in [TEMP]/project/.actum before
      0 events verify; how many events there were cannot be told
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests
    refused (no_policy): tests on HEAD
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    $ actum policy accept --yes | tail -1
    accepted (event 2, owner known by yes-flag)
    $ actum run -q --step tests -- true
    $ actum ground tests
    grounded (passed): tests on file:src.txt
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      after a loss: moved, how many events were given up cannot be told (event 1, yes-flag)
    ");
}

#[test]
fn a_cut_is_not_laundered_as_a_move() {
    let shell = Shell::empty();
    shell.quietly(&weak("WEAK; cp actum.toml weak.toml"));
    shell.script("check", CHECK);
    shell.write("src.txt", "v1\n");
    shell.quietly("actum init --yes; cp -a .actum ../early");
    shell.write("actum.toml", GOOD);
    shell.quietly("actum policy accept --yes");
    attack(
        &shell,
        "actum run --step tests -- ./check
        mv ../project ../project2; cd ../project2 && rm -rf .actum/ledger && cp -a ../early/ledger .actum/ && actum resolve --yes; cd .. && mv project2 project; cd project && actum resolve --yes",
    );
    assert_snapshot!(shell.play("
        actum run --step tests -- true
        actum ground tests
        actum log
    "), @"
    $ actum run --step tests -- true
    ! error: no policy is in force
    !   The owner accepts one with `actum policy accept`.
    [125]
    $ actum ground tests
    refused (no_policy): tests on HEAD
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    $ actum log
         0  [TIME]  genesis      ledger [ID]
         1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
         2  [TIME]  resolved     the owner went on after: truncated (10 events had been acknowledged; known by yes-flag)
         3  [TIME]  resolved     the owner went on after: moved (3 events had been acknowledged; known by yes-flag)
    ");
}

#[test]
fn a_command_is_bound_to_its_subject() {
    let shell = Shell::with(
        "version = 1\n[steps.validate]\ncommands = [['./check', '{subject}']]\nsubject = 'file'\n",
    );
    shell.script("check", "grep -q ok \"$1\"");
    shell.quietly("echo ok > good.csv; echo poison > evil.csv; actum policy accept --yes");
    assert_snapshot!(shell.play("
        actum run --step validate --subject file:evil.csv -- ./check good.csv
        actum run --step validate --subject file:evil.csv -- ./check ./good.csv
        actum ground validate evil.csv
        actum run --step validate --subject file:evil.csv -- ./check evil.csv
        actum ground validate evil.csv
    "), @"
    $ actum run --step validate --subject file:evil.csv -- ./check good.csv
    ! error: `./check good.csv` does not count as step `validate`, so it was not started
    !   the accepted policy lists for `validate`: ./check {subject}
    [125]
    $ actum run --step validate --subject file:evil.csv -- ./check ./good.csv
    ! error: `./check ./good.csv` does not count as step `validate`, so it was not started
    !   the accepted policy lists for `validate`: ./check {subject}
    [125]
    $ actum ground validate evil.csv
    ungrounded (never_ran): validate on file:evil.csv
      No run of this step on this subject is in the ledger.
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    $ actum run --step validate --subject file:evil.csv -- ./check evil.csv
    ! actum: recorded run 8: validate on file:evil.csv failed: the command ended with 1; a pass ends with 0
    [1]
    $ actum ground validate evil.csv
    contradicted (failed): validate on file:evil.csv
      The newest run failed.
      run 8 failed, exit 1, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Mend what it found, and perform the step again.
    [11]
    ");
}

#[test]
fn a_script_that_was_replaced_is_not_started() {
    let shell = Shell::empty();
    shell.quietly("mkdir tools; echo 'grep -q ok \"$1\"' > tools/validate; echo poison > evil.csv");
    shell.write(
        "actum.toml",
        "version = 1\n[steps.validate]\ncommands = [['sh', 'tools/validate', '{subject}']]\nsubject = 'file'\n",
    );
    shell.quietly("actum init --yes; cp tools/validate ../kept");
    assert_snapshot!(shell.play("
        echo 'cp ../kept tools/validate' > tools/validate
        actum run --step validate --subject evil.csv -- sh tools/validate evil.csv
        cp ../kept tools/validate; actum ground validate evil.csv
    "), @"
    $ echo 'cp ../kept tools/validate' > tools/validate
    $ actum run --step validate --subject evil.csv -- sh tools/validate evil.csv
    ! error: [TEMP]/project/tools/validate is not the file that was accepted
    !   look at it, then `actum policy accept`
    [125]
    $ cp ../kept tools/validate; actum ground validate evil.csv
    ungrounded (never_ran): validate on file:evil.csv
      No run of this step on this subject is in the ledger.
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    ");
    // It counts again once it was accepted; what passed under the other one does not.
    shell.quietly("echo ok > evil.csv; actum run -q --step validate --subject evil.csv -- sh tools/validate evil.csv");
    assert_snapshot!(shell.play("
        echo '# more' >> tools/validate; actum policy accept --yes
        actum ground validate evil.csv
    "), @"
    $ echo '# more' >> tools/validate; actum policy accept --yes
      # settled when accepted:
      # program sh = /usr/bin/sh ([SHORT])
    - # file tools/validate = [TEMP]/project/tools/validate ([SHORT])
    + # file tools/validate = [TEMP]/project/tools/validate ([SHORT])
      # environment HOME = [TEMP]/home
      # environment PATH = [TEMP]/bin:/usr/bin:/bin

    accepted (event 9, owner known by yes-flag)
    $ actum ground validate evil.csv
    ungrounded (rule_changed): validate on file:evil.csv
      The newest run passed under another rule or with another binary than the one accepted now.
      run 7 passed, exit 0, [AGO]
      by the policy of event 9 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    ");
}

#[test]
fn another_path_at_acceptance_is_another_rule() {
    let shell = project();
    shell.quietly(
        "mkdir ../evil; printf '#!/bin/sh\\nexit 0\\n' > ../evil/grep; chmod +x ../evil/grep",
    );
    attack(
        &shell,
        "PATH=$PWD/../evil:$PATH actum policy accept --yes
        actum run --step tests -- ./check",
    );
    assert_eq!(shell.asks("tests"), "grounded passed 0");
    assert_snapshot!(shell.play("actum policy check | tail -1"), @"
    $ actum policy check | tail -1
    this is not the policy in force; `actum policy accept` makes it so
    ");
    attack(&shell, "actum policy accept --yes");
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    ungrounded (rule_changed): tests on file:src.txt
      The newest run passed under another rule or with another binary than the one accepted now.
      run 8 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    ");
}

const STEPWISE: &str =
    "echo begun > begun; while test -e $0 && ! test -e go; do sleep 0.01; done; grep -q good src.txt; code=$?
echo '3 passed'; echo read > read; while test -e $0 && ! test -e end; do sleep 0.01; done; exit $code";

#[test]
fn a_swap_that_was_put_back_is_seen() {
    let shell = project();
    shell.script("check", STEPWISE);
    shell.quietly("actum policy accept --yes");
    let mut run = shell.start_waiting(&["run", "--step", "tests", "--must-pass", "--", "./check"]);
    shell.quietly("cp -p src.txt ../kept; echo good > src.txt; echo > go");
    shell.wait_for("read");
    // With its time put back as well.
    shell.quietly("cp -p ../kept src.txt; touch -r ../kept src.txt; echo > end");
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    contradicted (subject_changed_during_run): tests on file:src.txt
      The subject changed while the newest run went on, so the run proves nothing.
      run 8 subject_changed_during_run, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again; what the run itself made is there now and stays the same.
    [11]
    ");
    // Another file put in its place, and the first one put back.
    shell.quietly("rm begun go read end; actum policy accept --yes");
    let mut run = shell.start_waiting(&["run", "--step", "tests", "--must-pass", "--", "./check"]);
    shell.quietly("mv src.txt ../first; echo good > src.txt; echo > go");
    shell.wait_for("read");
    shell.quietly("mv ../first src.txt; echo > end");
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(shell.asks("tests"), "contradicted subject_changed_during_run 11");
}

#[test]
fn what_is_started_was_looked_at_under_the_lock() {
    let shell = project();
    let lock = fs::OpenOptions::new().write(true).open(shell.path(".actum/lock")).unwrap();
    lock.lock().unwrap();
    let mut run = shell.actum(&["run", "--step", "tests", "--", "./check"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    shell.quietly("cp check ../kept");
    shell.script("check", "cat ../kept > check; echo '3 passed'");
    drop(lock);
    let said = crate::shell::Said::of(run.wait_with_output().unwrap());
    assert_snapshot!(shell.settled(&said.to_string()), @"
    ! error: [TEMP]/project/check is not the program that was accepted
    !   look at it, then `actum policy accept`
    [125]
    ");
    shell.quietly("cp ../kept check");
    assert_eq!(shell.asks("tests"), "ungrounded never_ran 10");
}

/// The tests pass with one content, and are asked about with another.
fn behind(lines: &str, before: &str, after: &str) -> String {
    let shell = repository();
    shell.quietly(lines);
    shell.quietly(before);
    shell.quietly("actum policy accept --yes > /dev/null");
    let ran = shell.said("actum run -q --step tests -- ./check");
    let first = if ran.code == 0 { shell.asks("tests") } else { shell.settled(&ran.to_string()) };
    shell.quietly(after);
    format!("{first}\n{}", shell.play("actum ground tests"))
}

#[test]
fn content_behind_a_link_is_content_of_the_subject() {
    assert_snapshot!(behind(
        "echo build/ > .gitignore; mkdir build; ln -sf build/src.txt src.txt",
        "echo good > build/src.txt",
        "echo broken > build/src.txt",
    ), @"
    grounded passed 0
    $ actum ground tests
    contradicted (stale): tests on git:HEAD
      src.txt now leads to other content
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    ");
    assert_snapshot!(behind(
        "ln -sf ../out.txt src.txt",
        "echo good > ../out.txt",
        "echo broken > ../out.txt",
    ), @"
    grounded passed 0
    $ actum ground tests
    contradicted (stale): tests on git:HEAD
      src.txt now leads to other content
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    ");
}

#[test]
fn a_folder_called_git_below_is_content_of_the_subject() {
    assert_snapshot!(behind(
        "mkdir -p lib/.git; sed -i s,src.txt,lib/.git/src.txt, check",
        "echo good > lib/.git/src.txt",
        "echo broken > lib/.git/src.txt",
    ), @"
    grounded passed 0
    $ actum ground tests
    contradicted (stale): tests on git:HEAD
      lib/.git/src.txt changed
      run 8 passed, exit 0, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step again on what is there now.
    [11]
    ");
}

#[test]
fn a_move_there_and_back_loses_nothing_and_is_said() {
    let shell = project();
    shell.write("src.txt", "good\n");
    shell.quietly("actum run -q --step tests -- ./check; actum revoke 7 --reason fake --yes");
    attack(
        &shell,
        "mv ../project ../away; cd ../away && actum resolve --yes; mv ../away ../project
        actum resolve --yes
        actum ground tests
        actum run --step tests -- ./check",
    );
    assert_snapshot!(shell.play("
        actum ground tests
        actum verify | grep loss
        actum log --kind resolved
        actum log --kind revoked
    "), @"
    $ actum ground tests
    grounded (passed): tests on file:src.txt
      run 12 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      after a loss: moved, 0 acknowledged events given up (event 11, yes-flag)
    $ actum verify | grep loss
    note: at event 11 the owner (known by yes-flag) went on after a loss: moved, 0 acknowledged events given up
    $ actum log --kind resolved
        10  [TIME]  resolved     the owner went on after: moved (10 events had been acknowledged; known by yes-flag)
        11  [TIME]  resolved     the owner went on after: moved (11 events had been acknowledged; known by yes-flag)
    $ actum log --kind revoked
         9  [TIME]  revoked      run 7: fake (owner known by yes-flag)  tests on file:src.txt
    ");
    let basis = &shell.json("actum ground --json tests")["basis"]["resolved"];
    assert_eq!(basis["lost"], 0, "{basis}");
}

#[test]
fn a_small_loss_hides_no_great_one() {
    let shell = project();
    shell.write("src.txt", "good\n");
    shell.quietly("cp -a .actum/ledger ../early");
    shell.quietly("actum run -q --step tests -- ./check; actum revoke 7 --reason fake --yes");
    shell.quietly(
        "rm -r .actum/ledger; mv ../early .actum/ledger; actum resolve --yes
        mkdir ../inner; cp -a . ../inner
        cd ../inner && actum resolve --yes && actum policy accept --yes
        cd ../inner && actum run -q --step tests -- ./check",
    );
    assert_snapshot!(shell.play("
        cd ../inner && actum ground tests
        cd ../inner && actum verify | grep loss
    "), @"
    $ cd ../inner && actum ground tests
    grounded (passed): tests on file:src.txt
      run 10 passed, exit 0, [AGO]
      by the policy of event 4 (yes-flag), in [TEMP]/inner
      after a loss: moved, 8 acknowledged events given up (event 3, yes-flag)
    $ cd ../inner && actum verify | grep loss
    note: at event 3 the owner (known by yes-flag) went on after a loss: moved, 8 acknowledged events given up
    ");
    let lost = &shell.json("cd ../inner && actum ground --json tests")["basis"]["resolved"];
    assert_eq!(lost["lost"], 8);
}

#[test]
fn nobody_is_recorded_as_an_owner_at_a_terminal_who_was_not_asked() {
    let shell = Shell::empty();
    assert!(shell.terminal("actum init").end().ends_with("[0]"));
    assert_eq!(shell.json("actum log --json --kind policy -n 1")["owner"], "yes-flag");
}

#[test]
fn an_owner_that_nobody_saw_shows_in_the_answer() {
    let shell = project();
    shell.quietly("cp -a .actum/ledger ../early");
    shell.write("src.txt", "good\n");
    shell.quietly("actum run -q --step tests -- ./check");
    shell.quietly("actum revoke 7 --reason fake --yes");
    attack(
        &shell,
        "rm -r .actum/ledger; cp -a ../early .actum/ledger; actum resolve --yes; WEAK; actum policy accept --yes; actum run --step tests -- true",
    );
    assert_snapshot!(shell.play("
        actum ground tests
        actum skip tests
        actum verify | grep note
    "), @"
    $ actum ground tests
    grounded (passed): tests on file:src.txt
      run 9 passed, exit 0, [AGO]
      by the policy of event 3 (yes-flag), in [TEMP]/project
      after a loss: truncated, 8 acknowledged events given up (event 2, yes-flag)
    $ actum skip tests
    skip it
    grounded (passed): tests on file:src.txt
      run 9 passed, exit 0, [AGO]
      by the policy of event 3 (yes-flag), in [TEMP]/project
      after a loss: truncated, 8 acknowledged events given up (event 2, yes-flag)
    $ actum verify | grep note
    note: the policy of event 3 was accepted with the owner known by yes-flag
    note: at event 2 the owner (known by yes-flag) went on after a loss: truncated, 8 acknowledged events given up
    note: key and ledger belong to the same user: weaker, for whatever runs as that user can read the key
    ");
    let basis = &shell.json("actum ground --json tests")["basis"];
    assert_snapshot!(shell.settled(&serde_json::to_string_pretty(basis).unwrap()), @r#"
    {
      "leftover_bytes": 0,
      "policy": {
        "event": 3,
        "owner": "yes-flag"
      },
      "project": "[TEMP]/project",
      "resolved": {
        "cause": "truncated",
        "event": 2,
        "lost": 8,
        "owner": "yes-flag"
      }
    }
    "#);
}

#[test]
fn an_owner_at_a_terminal_shows_in_the_answer() {
    let shell = passed();
    shell.quietly("echo 'lifetime = \"24h\"' >> actum.toml");
    let mut terminal = shell.terminal("actum --json policy accept");
    terminal.wait_for("[y/N] ");
    // What is accepted is seen, though the answer is for a program.
    assert!(terminal.seen.contains("+ lifetime = \"24h\""), "{}", terminal.seen);
    terminal.press("y\n");
    assert!(terminal.end().ends_with("[0]"));
    assert_snapshot!(shell.play("actum ground tests"), @"
    $ actum ground tests
    ungrounded (rule_changed): tests on file:src.txt
      The newest run passed under another rule or with another binary than the one accepted now.
      run 7 passed, exit 0, [AGO]
      by the policy of event 9 (terminal), in [TEMP]/project
      Perform the step again.
    [10]
    ");
}

#[test]
fn a_run_that_fails_after_a_newer_one_passed_is_seen() {
    let shell = project();
    shell.script("check", "echo $$ >> begun; n=$(wc -l < begun); while test -e $0 && ! test -e go$n; do sleep 0.01; done; echo '3 passed'; test $n = 2");
    shell.quietly("actum policy accept --yes");
    let args = ["run", "--step", "tests", "--", "./check"];
    let mut first = shell.start_waiting(&args);
    let mut second = shell.start_waiting(&args);
    until("both", || shell.read("begun").lines().count() == 2);
    shell.write("go2", "");
    assert!(second.wait().unwrap().success());
    let between = shell.asks("tests");
    shell.write("go1", "");
    assert!(!first.wait().unwrap().success());
    assert_snapshot!(format!("{between}\n{}", shell.play("actum ground tests")), @"
    grounded passed 0
    $ actum ground tests
    contradicted (failed): tests on file:src.txt
      The newest run failed.
      run 8 failed, exit 1, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Mend what it found, and perform the step again.
    [11]
    ");
}

#[test]
fn a_newer_run_does_not_hide_that_the_subject_changed() {
    let shell = project();
    shell.write("src.txt", "good\n");
    shell.script(
        "check",
        "echo $$ >> begun; while test -e $0 && ! test -e go; do sleep 0.01; done; echo '3 passed'",
    );
    shell.quietly("actum policy accept --yes");
    let args = ["run", "--step", "tests", "--must-pass", "--", "./check"];
    let mut first = shell.start_waiting(&args);
    shell.write("src.txt", "broken\n");
    let mut second = shell.start_waiting(&args);
    until("both", || shell.read("begun").lines().count() == 2);
    second.kill().unwrap();
    second.wait().unwrap();
    shell.write("go", "");
    assert_eq!(first.wait().unwrap().code(), Some(1));
    assert_eq!(shell.said("actum log --outcome passed").out, "");
    assert_eq!(shell.asks("tests"), "ungrounded incomplete 10");
}

#[test]
fn no_key_gets_into_the_store_through_a_planted_link() {
    let key = "$(ls -d $PWD/../data/actum/keys/* | grep -v anchor)";
    for (plant, then) in [
        (format!("ln -s {key} .actum/ledger/f.seg"), "actum run --step tests -- ./check"),
        (
            format!("ln -s {key} .actum/ledger/0000000000000001.seg"),
            "actum run --step tests -- ./check",
        ),
        (
            format!("rm .actum/ledger/*; ln -s {key} .actum/ledger/0000000000000000.seg"),
            "actum resolve --yes",
        ),
        (
            format!("rm .actum/ledger/*; ln {key} .actum/ledger/0000000000000000.seg"),
            "actum resolve --yes",
        ),
        (format!("rm -r .actum/ledger; ln -s {key} .actum/ledger"), "actum resolve --yes"),
        (format!("rm -r .actum/policy; ln -s {key} .actum/policy"), "actum policy accept --yes"),
    ] {
        let shell = passed();
        let kept: Vec<_> =
            files(&shell.root().join("data")).iter().map(|path| fs::read(path).unwrap()).collect();
        shell.quietly(&plant);
        let is_key = |bytes: &[u8]| bytes.windows(9).any(|at| at == b"actum-key");
        assert!(kept.iter().any(|bytes| is_key(bytes)), "there is a key to look for");
        let linked = plant.contains("ln $(");
        attack(&shell, &format!("{then}\nactum run --step tests -- ./check"));
        for path in files(&shell.path(".actum")) {
            let bytes = fs::read(&path).unwrap();
            // A second name of the key in the store is the attacker's own; it is not read, and no copy of it is made.
            let own = linked && rustix::fs::stat(&path).unwrap().st_nlink > 1;
            assert!(own || !is_key(&bytes), "{plant}: {}", path.display());
        }
        let now: Vec<_> =
            files(&shell.root().join("data")).iter().map(|path| fs::read(path).unwrap()).collect();
        assert!(kept.iter().all(|before| now.contains(before)), "{plant}: a key changed");
    }
}

#[test]
fn a_folder_of_the_store_that_is_a_link_loses_nothing() {
    let shell = project();
    shell.quietly("mkdir ../docs; for i in $(seq 80); do echo $i > ../docs/letter$i; done; rm -rf .actum/subject; ln -s ../../docs .actum/subject");
    attack(&shell, "actum run --step tests -- ./check\n actum ground tests");
    assert_eq!(shell.said("ls ../docs | wc -l").out.trim(), "80");
    assert_eq!(shell.asks("tests"), "contradicted failed 11");
}

#[test]
fn a_mark_that_is_a_link_truncates_nothing() {
    for link in ["ln -sf ../../../precious", "ln -f ../precious"] {
        let shell = project();
        shell.quietly(&format!("echo precious > ../precious; mkdir -p .actum/running; for i in $(seq 30); do {link} .actum/running/$i; done"));
        attack(&shell, "actum run --step tests -- ./check\n actum ground tests");
        assert_eq!(shell.read("../precious"), "precious\n");
        assert_eq!(shell.asks("tests"), "contradicted failed 11");
    }
    let shell = project();
    shell.quietly("mkdir ../docs; for i in $(seq 30); do echo $i > ../docs/$i; done; rm -rf .actum/running; ln -s ../../docs .actum/running");
    attack(&shell, "actum run --step tests -- ./check\n actum ground tests");
    assert_eq!(shell.said("cat ../docs/* | wc -l").out.trim(), "30");
}

#[test]
fn a_file_that_is_no_segment_stops_no_writer() {
    let shell = passed();
    shell.quietly("echo x > .actum/ledger/f.seg; mkdir .actum/ledger/g.seg; ln -s / .actum/ledger/h.seg; truncate -s 1T .actum/ledger/i.seg");
    assert_snapshot!(shell.play("
        actum ground tests
        actum run -q --step tests -- ./check
        actum policy accept --yes
        actum revoke 7 --reason why --yes
        actum key rotate --yes
        actum resolve --yes
        actum ground tests
    "), @"
    $ actum ground tests
    grounded (passed): tests on file:src.txt
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    $ actum run -q --step tests -- ./check
    3 passed
    $ actum policy accept --yes
    this is the policy in force already; nothing was changed
    $ actum revoke 7 --reason why --yes
    run 7 is revoked (event 11, owner known by yes-flag)
    $ actum key rotate --yes
    event 12 was sealed with the old key; what follows is sealed with a new one
    $ actum resolve --yes
    the ledger is sound; there is nothing to resolve
    $ actum ground tests
    grounded (passed): tests on file:src.txt
      run 9 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    ");
    shell.is_whole();
}

#[test]
fn an_acknowledged_revocation_survives_another_state_folder() {
    let shell = passed();
    shell.quietly("mkdir -p ../evil/actum; cp -a ../state/actum/. ../evil/actum/");
    assert_snapshot!(shell.play("
        XDG_STATE_HOME=$PWD/../evil actum run --step tests -- ./check
        XDG_STATE_HOME=$PWD/../evil actum ground tests
        XDG_STATE_HOME=$PWD/../evil actum resolve --yes
        actum revoke 7 --reason fake --yes
        XDG_STATE_HOME=$PWD/../evil actum ground tests
        actum ground tests
    "), @"
    $ XDG_STATE_HOME=$PWD/../evil actum run --step tests -- ./check
    ! error: the key of this ledger cannot be used: its anchor is kept at [TEMP]/state/actum/anchors/[ID], but this call looks at [TEMP]/evil/actum/anchors/[ID] (is XDG_STATE_HOME set otherwise?)
    !   Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [125]
    $ XDG_STATE_HOME=$PWD/../evil actum ground tests
    refused (key_unusable): tests on HEAD
      the key of this ledger cannot be used: its anchor is kept at [TEMP]/state/actum/anchors/[ID], but this call looks at [TEMP]/evil/actum/anchors/[ID] (is XDG_STATE_HOME set otherwise?)
      Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    $ XDG_STATE_HOME=$PWD/../evil actum resolve --yes
    ! error: the key of this ledger cannot be used: its anchor is kept at [TEMP]/state/actum/anchors/[ID], but this call looks at [TEMP]/evil/actum/anchors/[ID] (is XDG_STATE_HOME set otherwise?)
    !   Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    $ actum revoke 7 --reason fake --yes
    run 7 is revoked (event 9, owner known by yes-flag)
    $ XDG_STATE_HOME=$PWD/../evil actum ground tests
    refused (key_unusable): tests on HEAD
      the key of this ledger cannot be used: its anchor is kept at [TEMP]/state/actum/anchors/[ID], but this call looks at [TEMP]/evil/actum/anchors/[ID] (is XDG_STATE_HOME set otherwise?)
      Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    $ actum ground tests
    contradicted (revoked): tests on file:src.txt
      The owner revoked the newest run.
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
      Perform the step again.
    [11]
    ");
    attack(
        &shell,
        "XDG_STATE_HOME=$PWD/../evil actum run --step tests -- ./check\n XDG_STATE_HOME=$PWD/../evil actum resolve --yes",
    );
    assert_eq!(shell.asks("tests"), "contradicted revoked 11");
    shell.is_whole();
}

#[test]
fn resolving_under_another_state_folder_changes_nothing() {
    let shell = passed();
    for folder in ["evil1", "evil2"] {
        let said = shell.said(&format!("XDG_STATE_HOME=$PWD/../{folder} actum resolve --yes"));
        assert_eq!(said.code, 12, "{said}");
    }
    assert_eq!(shell.asks("tests"), "grounded passed 0");
    shell.quietly("actum run -q --step tests -- ./check");
    shell.is_whole();
}

#[test]
fn a_pipe_where_a_file_should_be_never_hangs() {
    let shell = passed();
    let ground = "actum ground tests";
    let policy = shell.said("ls .actum/policy").out.trim().to_owned();
    let mut shown = String::new();
    for place in [
        ".actum/ledger/f.seg",
        ".actum/ledger/0000000000000001.seg",
        ".actum/ledger/0000000000000000.seg",
        &format!(".actum/policy/{policy}"),
        ".actum/lock",
        "actum.toml",
        "src.txt",
        "check",
    ] {
        shell.quietly(&format!("test ! -e {place} || mv {place} ../kept; mkfifo {place}"));
        shown.push_str("# ");
        shown.push_str(&place.replace(&policy, "[POLICY]"));
        shown.push('\n');
        shown.push_str(&in_time(&shell, ground));
        let run = in_time(&shell, "actum run -q --step tests -- ./check");
        let _accept = in_time(&shell, "actum policy accept --yes");
        shown.push_str(run.lines().nth(1).unwrap_or("ran"));
        shown.push('\n');
        shell.quietly(&format!("rm -f {place}; test ! -e ../kept || mv ../kept {place}"));
    }
    assert_snapshot!(shown, @"
    # .actum/ledger/f.seg
    $ timeout 10 actum ground tests
    grounded (passed): tests on file:src.txt
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    3 passed
    # .actum/ledger/0000000000000001.seg
    $ timeout 10 actum ground tests
    grounded (passed): tests on file:src.txt
      run 9 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project
    ! actum: what lies beyond the newest event is not the ledger's (segment header: not a plain file of at most 67108864 bytes), and counts for nothing
    3 passed
    # .actum/ledger/0000000000000000.seg
    $ timeout 10 actum ground tests
    refused (damaged): tests on HEAD
      segment header: not a plain file of at most 67108864 bytes; the file was changed after it was written (13 events were acknowledged)
      Restore the file, or go on without it: `actum resolve`.
    [12]
    ! error: segment header: not a plain file of at most 67108864 bytes; the file was changed after it was written (13 events were acknowledged)
    # .actum/policy/[POLICY]
    $ timeout 10 actum ground tests
    refused (policy_missing): tests on HEAD
      the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: not a plain file
      The owner accepts it again with `actum policy accept`.
    [12]
    ! error: the accepted policy cannot be used: [TEMP]/project/.actum/policy/[DIGEST].json: not a plain file
    # .actum/lock
    $ timeout 10 actum ground tests
    grounded (passed): tests on file:src.txt
      run 11 passed, exit 0, [AGO]
      by the policy of event 13 (yes-flag), in [TEMP]/project
    ! error: cannot lock [TEMP]/project/.actum/lock: not a plain file
    # actum.toml
    $ timeout 10 actum ground tests
    grounded (passed): tests on file:src.txt
      run 11 passed, exit 0, [AGO]
      by the policy of event 13 (yes-flag), in [TEMP]/project
    3 passed
    # src.txt
    $ timeout 10 actum ground tests
    refused (subject_unreadable): tests on HEAD
      file:src.txt is not a regular file
      Make it readable, or name another subject.
    [12]
    ! error: file:src.txt is not a regular file
    # check
    $ timeout 10 actum ground tests
    grounded (passed): tests on file:src.txt
      run 14 passed, exit 0, [AGO]
      by the policy of event 13 (yes-flag), in [TEMP]/project
    ! error: cannot read [TEMP]/project/check: not an executable file
    ");
    shell.quietly("mkdir -p .actum/running; for i in $(seq 40); do mkfifo .actum/running/$i; done");
    in_time(&shell, "actum run --step tests -- ./check");
    in_time(&shell, ground);
    shell.quietly("rm actum.toml; ln -s /dev/zero actum.toml");
    assert_snapshot!(in_time(&shell, "actum policy check"), @"
    $ timeout 10 actum policy check
    ! error: cannot read [TEMP]/project/actum.toml: it is not a plain file
    [2]
    ");
    shell.is_whole();
}

#[test]
fn foreign_text_moves_no_cursor() {
    let shell = passed();
    let said = crate::shell::Said::of(
        shell.actum(&["revoke", "7", "--yes", "--reason", "a\u{1b}[2K\nfake"]).output().unwrap(),
    );
    assert_eq!(said.code, 2, "{said}");
    // A line of the policy, the name of a file. The holder of a lock is among the bad input.
    let raw = |text: &str| text.contains('\u{1b}') || text.contains('\u{202e}');
    shell.write("actum.toml", &format!("{GOOD}# hidden \u{202e}turned\u{200b}\n"));
    let said = shell.said("actum policy accept");
    assert!(!raw(&said.to_string()), "{said}");
    assert!(said.out.contains("hidden"), "{said}");

    let shell = repository();
    shell.write("src.txt", "good\n");
    shell.quietly("actum run -q --step tests -- ./check");
    shell.write("\u{1b}[2Jx\nfake", "");
    for line in ["actum ground tests", "actum skip tests"] {
        let said = shell.said(line);
        assert!(said.code == 11 && !raw(&said.to_string()), "{said}");
        assert!(!said.out.lines().any(|line| line.starts_with("fake")), "{said}");
    }
    shell.script("check", "rm -f ./*fake; echo '3 passed'");
    shell.quietly("actum policy accept --yes");
    let said = shell.said("actum run --step tests -- ./check");
    assert!(said.err.contains("is gone") && !raw(&said.to_string()), "{said}");
}

#[test]
fn a_log_that_is_followed_goes_on_across_a_new_key() {
    let shell = passed();
    let mut log = shell.command("/bin/sh");
    let mut log = log.args(["-c", "exec actum log --follow > ../followed 2>&1"]).spawn().unwrap();
    let followed = || fs::read_to_string(shell.root().join("followed")).unwrap_or_default();
    until("the log", || followed().contains("run 7: passed"));
    let id = rustix::process::Pid::from_child(&log);
    rustix::process::kill_process(id, rustix::process::Signal::STOP).unwrap();
    shell.quietly(
        "actum key rotate --yes; actum run -q --step tests -- ./check; actum key rotate --yes",
    );
    rustix::process::kill_process(id, rustix::process::Signal::CONT).unwrap();
    // Ended or not, what it said is shown where it is wrong.
    let all_came = || followed().matches("rotated").count() == 2;
    let mut waited = 0;
    while !all_came() && log.try_wait().unwrap().is_none() && waited < 2_000 {
        thread::sleep(Duration::from_millis(10));
        waited += 1;
    }
    assert!(waited < 2_000, "still silent: {}", followed());
    let running = log.try_wait().unwrap();
    if running.is_none() {
        log.kill().unwrap();
        log.wait().unwrap();
    }
    assert_eq!(running, None, "{}", followed());
}

#[test]
fn bytes_that_are_appended_while_a_writer_opens_harm_no_answer() {
    let shell = passed();
    let line = "f=$(ls .actum/ledger/*.seg); while ! test -e stop; do printf x >> $f; done";
    let mut appender = shell.command("/bin/sh");
    let mut appender = appender.args(["-c", line]).spawn().unwrap();
    let mut seen = Vec::new();
    for _ in 0..12 {
        let ran = shell.said("actum run -q --step tests -- ./check");
        let asked = shell.said("actum ground tests");
        seen.push(format!("{} {}{}", ran.code, ran.err, asked));
        assert_ne!(asked.code, 12, "{ran}{asked}");
        assert!(!ran.err.contains("panicked"), "{ran}");
    }
    shell.write("stop", "");
    appender.wait().unwrap();
    shell.quietly("actum run -q --step tests -- ./check");
    assert_eq!(shell.asks("tests"), "grounded passed 0", "{seen:?}");
    shell.is_whole();
}

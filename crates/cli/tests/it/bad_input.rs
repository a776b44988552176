//! Bad input gets a clear error and an exit code; nothing is written half, nothing is lost.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::{fs, io};

use actum_testkit::user::{another, carry};
use insta::assert_snapshot;

use crate::shell::{Said, Shell, TESTS};

#[test]
fn a_subject_over_its_limit_or_with_control_characters() {
    let shell = Shell::with(TESTS);
    let long = "x".repeat(1019);
    shell.quietly(&format!("actum run -q --step tests --subject text:{long} -- ./check {long}"));
    assert_eq!(shell.asks(&format!("tests {long}")), "grounded passed 0");
    assert_snapshot!(shell.play(&format!("
        actum ground tests {long}x | tail -c 100; actum run --step tests --subject text:{long}x -- ./check {long}x
        actum ground tests ''
        actum ground tests text:
    ")).replace(&long, "[LONG]"), @"
    $ actum ground tests [LONG]x | tail -c 100; actum run --step tests --subject text:[LONG]x -- ./check [LONG]x
    ! error: the subject has 1025 bytes; the limit is 1024
    !   write it as text:ANYTHING
    ! error: the subject has 1025 bytes; the limit is 1024
    !   write it as text:ANYTHING
    [125]
    $ actum ground tests ''
    ! error: the subject is empty
    !   write it as text:ANYTHING
    [2]
    $ actum ground tests text:
    ! error: the subject is empty
    !   write it as text:ANYTHING
    [2]
    ");
    for control in ["a\nb", "a\tb", "a\u{1b}[31mb", "a\u{7f}b", "a\u{85}b"] {
        let said = Said::of(shell.actum(&["ground", "tests", control]).output().unwrap());
        assert_eq!(said.code, 2, "{control:?}: {said}");
        assert!(!said.err.contains(control), "{control:?} is repeated raw: {said}");
    }
    shell.is_whole();
}

#[test]
fn a_reason_over_its_limit() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    let long = "r".repeat(1025);
    let shown = shell.play(&format!("actum revoke 7 --yes --reason {long}"));
    assert_snapshot!(shown.replace(&long, "[LONG]"), @"
    $ actum revoke 7 --yes --reason [LONG]
    ! error: the reason has 1025 bytes; the limit is 1024
    [1]
    ");
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    shell.is_whole();
}

#[test]
fn a_step_over_its_limit() {
    let shell = Shell::with(TESTS);
    let long = "s".repeat(129);
    assert_snapshot!(shell.play(&format!("
        actum ground {long} x
        actum run --step {long} --subject x -- ./check x
    ")).replace(&long, "[LONG]"), @"
    $ actum ground [LONG] x
    ! error: the step has 129 bytes; the limit is 128
    [2]
    $ actum run --step [LONG] --subject x -- ./check x
    ! error: the step has 129 bytes; the limit is 128
    [125]
    ");
}

#[test]
fn invalid_utf8_where_text_is_needed() {
    let shell = Shell::with(TESTS);
    let bad = OsStr::from_bytes(b"a\xffb");
    let said = |args: &[&OsStr]| {
        let mut command = shell.actum(&[]);
        shell.settled(&Said::of(command.args(args).output().unwrap()).to_string())
    };
    let word = OsStr::new;
    assert_snapshot!(said(&[word("ground"), word("tests"), bad]), @"
    ! error: invalid UTF-8 was detected in one or more arguments
    ! 
    ! Usage: actum ground [OPTIONS] <STEP> [SUBJECT]
    ! 
    ! For more information, try '--help'.
    [2]
    ");
    assert_snapshot!(said(&[word("run"), word("--step"), word("tests"), word("--subject"), word("x"), word("--"), bad]), @"
    ! error: invalid UTF-8 was detected in one or more arguments
    ! 
    ! Usage: actum run [OPTIONS] --step <STEP> [COMMAND]...
    ! 
    ! For more information, try '--help'.
    [2]
    ");
    assert_snapshot!(said(&[word("ground"), bad]), @"
    ! error: invalid UTF-8 was detected in one or more arguments
    ! 
    ! Usage: actum ground [OPTIONS] <STEP> [SUBJECT]
    ! 
    ! For more information, try '--help'.
    [2]
    ");
    shell.is_whole();
}

#[test]
fn an_unknown_step_lists_the_known_ones() {
    let shell = Shell::with(TESTS);
    assert_snapshot!(shell.play("
        actum ground lint x
        actum run --step lint --subject x -- ./check x
    "), @"
    $ actum ground lint x
    ! error: there is no step `lint`
    !   the accepted policy has: tests
    [2]
    $ actum run --step lint --subject x -- ./check x
    ! error: there is no step `lint`
    !   the accepted policy has: tests
    [125]
    ");
}

#[test]
fn a_policy_that_does_not_parse() {
    let shell = Shell::with(TESTS);
    let check = |text: &str| {
        shell.write("actum.toml", text);
        shell.play("actum policy check\n actum policy accept --yes")
    };
    assert_snapshot!(check("version = 1\n[steps.tests\n"), @"
    $ actum policy check
    ! error: actum.toml:2:13: unclosed table, expected `]`
    [2]
    $ actum policy accept --yes
    ! error: actum.toml:2:13: unclosed table, expected `]`
    [2]
    ");
    assert_snapshot!(check(&format!("{TESTS}comands = []\n")), @"
    $ actum policy check
    ! error: actum.toml:5:1: unknown key `comands` in step `tests`; did you mean `commands`?
    [2]
    $ actum policy accept --yes
    ! error: actum.toml:5:1: unknown key `comands` in step `tests`; did you mean `commands`?
    [2]
    ");
    assert_snapshot!(check("version = 2\n"), @"
    $ actum policy check
    ! error: actum.toml:1:11: version 2 of the format is not known; this Actum reads version 1
    [2]
    $ actum policy accept --yes
    ! error: actum.toml:1:11: version 2 of the format is not known; this Actum reads version 1
    [2]
    ");
    fs::write(shell.path("actum.toml"), b"version = 1\n# \xff\n").unwrap();
    assert_snapshot!(shell.play("actum policy check"), @"
    $ actum policy check
    ! error: cannot read [TEMP]/project/actum.toml: it is not UTF-8 text
    [2]
    ");
    shell.quietly("rm actum.toml");
    assert_snapshot!(shell.play("actum policy check\n actum policy accept --yes"), @"
    $ actum policy check
    ! error: there is no [TEMP]/project/actum.toml
    !   `actum policy show` prints the one in force
    [2]
    $ actum policy accept --yes
    ! error: there is no [TEMP]/project/actum.toml
    !   `actum policy show` prints the one in force
    [2]
    ");
    // The accepted one is still in force.
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    shell.is_whole();
}

#[test]
fn a_full_disk() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    shell.script("check", "echo started >> ../started");
    shell.quietly("actum policy accept --yes");
    // Files may not grow beyond this: as on a full disk, a part of the last write may be there.
    assert_snapshot!(shell.play("
        trap '' XFSZ; ulimit -f 1; actum run --step tests --subject with-a-long-name -- ./check with-a-long-name
        ls ../started
        actum ground tests x
        actum ground tests with-a-long-name
        actum run -q --step tests --subject x -- ./check x
        actum ground tests x
    "), @"
    $ trap '' XFSZ; ulimit -f 1; actum run --step tests --subject with-a-long-name -- ./check with-a-long-name
    ! error: the ledger could not keep an event, and closed: cannot write the head again to [TEMP]/state/actum/anchors/[ID]: File too large (os error 27)
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [125]
    $ ls ../started
    ! ls: cannot access '../started': No such file or directory
    [2]
    $ actum ground tests x
    ungrounded (rule_changed): tests on text:x
      The newest run passed under another rule or with another binary than the one accepted now.
      run 7 passed, exit 0, [AGO]
      by the policy of event 9 (yes-flag), in [TEMP]/project
      Perform the step again.
    [10]
    $ actum ground tests with-a-long-name
    ungrounded (never_ran): tests on text:with-a-long-name
      No run of this step on this subject is in the ledger.
      by the policy of event 9 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    $ actum run -q --step tests --subject x -- ./check x
    $ actum ground tests x
    grounded (passed): tests on text:x
      run 12 passed, exit 0, [AGO]
      by the policy of event 9 (yes-flag), in [TEMP]/project
    ");
    shell.is_whole();
}

/// Files may not grow beyond this many blocks of 512 bytes: enough for an anchor, not for a ledger of many events.
const LIMIT: &str = "trap '' XFSZ; ulimit -f 17";

#[test]
fn a_disk_that_fills_up_loses_nothing_that_was_acknowledged() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    let long = "r".repeat(900);
    let mut kept = 0;
    let failed = loop {
        let said = shell.said(&format!("{LIMIT}; actum revoke 7 --reason {long} --yes"));
        if said.code != 0 {
            break said;
        }
        kept += 1;
    };
    assert_snapshot!(shell.settled(&failed.to_string()), @"
    ! error: the ledger could not keep an event, and closed: cannot write [TEMP]/project/.actum/ledger/0000000000000000.seg: File too large (os error 27)
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [1]
    ");
    assert_eq!(
        shell.said("actum verify").code,
        0,
        "a part of the failed write is told from the events"
    );
    assert_eq!(shell.asks("tests x"), "contradicted revoked 11");
    shell.quietly("actum run -q --step tests --subject y -- ./check y");
    assert_eq!(shell.said("actum log --kind revoked").out.lines().count(), kept);
    assert_eq!(shell.asks("tests y"), "grounded passed 0");
    shell.is_whole();
}

#[test]
fn a_disk_that_fills_up_while_the_command_runs() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    let long = "r".repeat(900);
    let revoke = |reason: &str| format!("while actum revoke 7 --reason {reason} --yes; do :; done");
    let body = format!("({}; {}) >/dev/null 2>&1; echo all is well", revoke(&long), revoke("r"));
    shell.script("check", &body);
    shell.quietly("actum policy accept --yes");
    let said = shell.said(&format!("{LIMIT}; actum run --step tests --subject y -- ./check y"));
    assert_snapshot!(shell.settled(&said.to_string()), @"
    all is well
    ! error: the command ended, but run 12 could not be recorded: the ledger could not keep an event, and closed: cannot write [TEMP]/project/.actum/ledger/0000000000000000.seg: File too large (os error 27)
    !   it counts as incomplete; perform the step again
    [125]
    ");
    assert_eq!(shell.asks("tests y"), "ungrounded incomplete 10");
    shell.script("check", "echo ok");
    shell.quietly(
        "actum policy accept --yes
        actum run -q --step tests --subject y -- ./check y",
    );
    assert_eq!(shell.asks("tests y"), "grounded passed 0");
    shell.is_whole();
}

#[test]
fn a_read_only_store() {
    let shell = Shell::with(TESTS);
    shell.script("check", "echo started > ../started");
    shell.quietly("actum policy accept --yes");
    let store = shell.path(".actum");
    // Root may write anywhere, so another user tries.
    let user = another();
    if let Some(user) = user {
        each_below(&shell.root(), &|path| std::os::unix::fs::lchown(path, Some(user), Some(user)))
            .unwrap();
    }
    each_below(&store, &|path| {
        let mode = if path.is_dir() { 0o500 } else { 0o400 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    })
    .unwrap();
    let actum = carry(Path::new(env!("CARGO_BIN_EXE_actum")), &shell.root()).unwrap();
    let said = |args: &[&str]| {
        let mut command = shell.command(actum.to_str().unwrap());
        command.args(args);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        shell.settled(&Said::of(command.output().unwrap()).to_string())
    };
    assert_snapshot!(said(&["run", "--step", "tests", "--subject", "x", "--", "./check", "x"]), @"
    ! error: cannot lock [TEMP]/project/.actum/lock: Permission denied (os error 13)
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [125]
    ");
    assert_snapshot!(said(&["ground", "tests", "x"]), @"
    ungrounded (never_ran): tests on text:x
      No run of this step on this subject is in the ledger.
      by the policy of event 2 (yes-flag), in [TEMP]/project
      Perform the step with `actum run`.
    [10]
    ");
    assert_snapshot!(said(&["key", "rotate", "--yes"]), @"
    ! error: cannot lock [TEMP]/project/.actum/lock: Permission denied (os error 13)
    !   what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again
    [1]
    ");
    each_below(&store, &|path| {
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    })
    .unwrap();
    assert!(said(&["verify"]).starts_with("intact    yes"));
    assert!(!shell.root().join("started").exists());
}

fn each_below(path: &Path, act: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path)? {
            each_below(&entry?.path(), act)?;
        }
    }
    if path.is_symlink() { Ok(()) } else { act(path) }
}

#[test]
fn another_users_key() {
    if another().is_none() {
        // Only root can give a file away.
        return;
    }
    let shell = Shell::with(TESTS);
    shell.quietly("true");
    for key in fs::read_dir(shell.root().join("data/actum/keys")).unwrap() {
        chown(key.unwrap().path(), another(), None).unwrap();
    }
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    refused (key_unusable): tests on x
      the key of this ledger cannot be used: [TEMP]/data/actum/keys/[ID] belongs to user 65534, not to user 0
      Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.
    [12]
    ");
}

#[test]
fn two_ledgers_mixed_up() {
    let shell = Shell::with(TESTS);
    shell.quietly(
        "mkdir ../other; cp actum.toml check ../other; cd ../other && actum init --yes
        cp ../other/.actum/ledger/*.seg .actum/ledger/",
    );
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    refused (swapped): tests on x
      ledger [ID] belongs here, but what lies here is ledger [ID]
      Restore the right store, or go on without it: `actum resolve`.
    [12]
    ");
}

#[test]
fn a_subject_that_leaves_the_project() {
    let shell = Shell::with(
        "version = 1\n[steps.tests]\ncommands = [['./check', '{subject}']]\nsubject = 'file'\n",
    );
    shell.quietly("ln -s /etc/passwd link; ln -s link2 link2");
    assert_snapshot!(shell.play("
        actum ground tests /etc/passwd
        actum ground tests file:../data
        actum ground tests a/../../b
        actum ground tests link
        actum ground tests link2
        actum run --step tests --subject link -- ./check link
    "), @"
    $ actum ground tests /etc/passwd
    ! error: `/etc/passwd` is not inside the project; write a path relative to its root, without `..`
    !   write it as file:PATH, inside the project
    [2]
    $ actum ground tests file:../data
    ! error: `../data` is not inside the project; write a path relative to its root, without `..`
    !   write it as file:PATH, inside the project
    [2]
    $ actum ground tests a/../../b
    ! error: `a/../../b` is not inside the project; write a path relative to its root, without `..`
    !   write it as file:PATH, inside the project
    [2]
    $ actum ground tests link
    refused (subject_unreadable): tests on link
      file:link leads to /etc/passwd, which is outside the project; name something inside it
      Make it readable, or name another subject.
    [12]
    $ actum ground tests link2
    refused (subject_unreadable): tests on link2
      [TEMP]/project/link2 cannot be read: Too many levels of symbolic links (os error 40)
      Make it readable, or name another subject.
    [12]
    $ actum run --step tests --subject link -- ./check link
    ! error: file:link leads to /etc/passwd, which is outside the project; name something inside it
    [125]
    ");
    shell.is_whole();
}

#[test]
fn a_lock_that_another_holds() {
    let shell = Shell::with(TESTS);
    let held_by = |shell: &Shell, holder: &str| {
        let lock = fs::OpenOptions::new().write(true).open(shell.path(".actum/lock")).unwrap();
        lock.lock().unwrap();
        shell.write(".actum/lock", holder);
        // The other goes on for as long as this one is patient.
        shell.said("actum run --step tests --subject x -- ./check x")
    };
    let honest = "`actum key rotate` (process 7, since today)";
    let hostile = "\u{1b}[2J\u{1b}[32mgrounded (passed)\u{1b}[0m\n\u{202e}all is well";
    let other = Shell::with(TESTS);
    let (said, hostile) = std::thread::scope(|scope| {
        let hostile = scope.spawn(|| held_by(&other, hostile));
        (held_by(&shell, honest), hostile.join().unwrap())
    });
    assert_snapshot!(other.settled(&hostile.to_string()), @r"
    ! error: [TEMP]/project/.actum/lock is held by \u{1b}[2J\u{1b}[32mgrounded (passed)\u{1b}[0m\n\u{202e}all is well
    !   wait for it, or end it, and try again
    [125]
    ");
    assert_snapshot!(shell.settled(&said.to_string()), @"
    ! error: [TEMP]/project/.actum/lock is held by `actum key rotate` (process [PID], since today)
    !   wait for it, or end it, and try again
    [125]
    ");
    assert_eq!(shell.asks("tests x"), "ungrounded never_ran 10");
    shell.is_whole();
}

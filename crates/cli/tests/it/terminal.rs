//! On a real terminal: it is the command's own, questions are asked, and colours are shown. `script` of util-linux makes the
//! terminal.

use insta::assert_snapshot;

use crate::shell::{Shell, TESTS};

const RUN: &str = "exec actum run --step tests --subject x -- ./check x";

fn with_program(body: &str) -> Shell {
    let shell = Shell::with(TESTS);
    shell.script("check", body);
    shell.quietly("actum policy accept --yes");
    shell
}

#[test]
fn the_terminal_is_the_commands_own() {
    let shell = with_program(
        "test -t 0 && test -t 1 && test -t 2 && echo a terminal; read line; echo \"read $line\"",
    );
    let mut terminal = shell.terminal(RUN);
    terminal.wait_for("a terminal");
    terminal.press("hello\n");
    terminal.wait_for("read hello");
    let screen = terminal.end();
    assert!(screen.ends_with("actum: recorded run 8: tests on text:x passed\n[0]"), "{screen}");
}

#[test]
fn with_an_output_rule_only_the_output_is_not_the_terminal() {
    let shell = Shell::with(&format!("{TESTS}passes = {{ output = ['^2 passed$'] }}\n"));
    shell.script(
        "check",
        "test -t 0 && ! test -t 1 && echo 'keys only'; read line; echo \"$line passed\"",
    );
    shell.quietly("actum policy accept --yes");
    let mut terminal = shell.terminal(RUN);
    terminal.wait_for("keys only");
    terminal.press("2\n");
    let screen = terminal.end();
    assert!(
        screen.ends_with("2 passed\nactum: recorded run 8: tests on text:x passed\n[0]"),
        "{screen}"
    );
}

#[test]
fn an_interrupt_reaches_the_command_once() {
    let shell = with_program(
        "trap 'echo told >> told' INT; echo begun; while test -e $0 && ! test -e go; do sleep 0.01; done; exit 6",
    );
    let mut terminal = shell.terminal(RUN);
    terminal.wait_for("begun");
    terminal.press("\x03");
    shell.wait_for("told");
    shell.write("go", "");
    let screen = terminal.end();
    assert!(
        screen.ends_with("failed: the command ended with 6; a pass ends with 0\n[6]"),
        "{screen}"
    );
    assert_eq!(shell.read("told"), "told\n");
}

#[test]
fn an_interrupt_that_ends_the_command_is_recorded() {
    let shell = with_program("echo begun; exec sleep 60");
    let mut terminal = shell.terminal(RUN);
    terminal.wait_for("begun");
    terminal.press("\x03");
    let screen = terminal.end();
    assert!(screen.ends_with("errored: signal 2 ended the command\n[130]"), "{screen}");
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    contradicted (errored): tests on text:x
      The newest run could not be carried out, or a signal ended it.
      run 8 errored, signal 2, [AGO]
      by the policy of event 2 (yes-flag), in [TEMP]/project
      See `actum log`, and perform the step again.
    [11]
    ");
}

#[test]
fn the_owner_is_asked_and_answers() {
    let shell = Shell::with(TESTS);
    shell.quietly("echo 'lifetime = \"1h\"' >> actum.toml");
    let ask = |answer: &str| {
        let mut terminal = shell.terminal("NO_COLOR=1 actum policy accept");
        terminal.wait_for("[y/N] ");
        terminal.press(answer);
        shell.settled(&terminal.end())
    };
    assert_snapshot!(ask("n\n"), @r#"
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"
      
      # settled when accepted:

    Accept this? [y/N] n
    error: not confirmed; nothing was changed
    [1]
    "#);
    assert_snapshot!(ask("\n"), @r#"
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"
      
      # settled when accepted:

    Accept this? [y/N] 
    error: not confirmed; nothing was changed
    [1]
    "#);
    assert_snapshot!(ask("\x04"), @r#"
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"
      
      # settled when accepted:

    Accept this? [y/N] error: not confirmed; nothing was changed
    [1]
    "#);
    assert_eq!(shell.said("actum log --kind policy").out.lines().count(), 1);
    assert_snapshot!(ask("y\n"), @r#"
      commands = [["./check", "{subject}"]]
      subject = "text"
    + lifetime = "1h"
      
      # settled when accepted:

    Accept this? [y/N] y
    accepted (event 2, owner known by terminal)
    [0]
    "#);
    assert_snapshot!(shell.play("actum log --kind policy"), @"
    $ actum log --kind policy
         1  [TIME]  policy       policy [SHORT] accepted, owner known by yes-flag
         2  [TIME]  policy       policy [SHORT] accepted, owner known by terminal
    ");
}

#[test]
fn a_policy_that_is_there_is_asked_about() {
    let answer = |answer: &str| {
        let shell = Shell::empty();
        shell.write("actum.toml", TESTS);
        let mut terminal = shell.terminal("NO_COLOR=1 actum init");
        terminal.wait_for("[y/N] ");
        terminal.press(answer);
        format!("{}\n{}", shell.settled(&terminal.end()), shell.play("actum log --kind policy"))
    };
    assert_snapshot!(answer("n\n"), @r#"
    made [TEMP]/project/.actum
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]

    actum.toml was there already:
      version = 1
      [steps.tests]
      commands = [["./check", "{subject}"]]
      subject = "text"

    Accept this actum.toml? [y/N] n
    note: `./check` was not found; commands that begin with it cannot run
    next: look at it, then `actum policy accept`
    [0]
    $ actum log --kind policy
    ! actum: no event is like that
    "#);
    assert_snapshot!(answer("yes\n"), @r#"
    made [TEMP]/project/.actum
    key    [TEMP]/data/actum/keys/[ID]
    anchor [TEMP]/state/actum/anchors/[ID]

    actum.toml was there already:
      version = 1
      [steps.tests]
      commands = [["./check", "{subject}"]]
      subject = "text"

    Accept this actum.toml? [y/N] yes
    note: `./check` was not found; commands that begin with it cannot run
    next: install what was not found, then `actum policy accept`
    [0]
    $ actum log --kind policy
         1  [TIME]  policy       policy [SHORT] accepted, owner known by terminal
    "#);
}

#[test]
fn every_owners_act_asks() {
    let shell = Shell::with(TESTS);
    shell.quietly("actum run -q --step tests --subject x -- ./check x");
    for (line, event) in [
        ("actum revoke 7 --reason why", "revoked"),
        ("actum key rotate", "rotated"),
        ("actum resolve", "resolved"),
    ] {
        if event == "resolved" {
            shell.quietly("truncate -s -100 .actum/ledger/*.seg");
        }
        let mut no = shell.terminal(line);
        no.wait_for("[y/N] ");
        no.press("n\n");
        let screen = no.end();
        assert!(screen.ends_with("not confirmed; nothing was changed\n[1]"), "{screen}");
        let mut yes = shell.terminal(line);
        yes.wait_for("[y/N] ");
        yes.press("y\n");
        let screen = yes.end();
        assert!(screen.ends_with("[0]"), "{screen}");
        let shown = shell.json(&format!("actum log --json --kind {event} -n 1"));
        assert_eq!(shown.get("owner").unwrap(), "terminal", "{event}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let shell = Shell::with(TESTS);
    let colored = |line: &str| shell.terminal(line).end().contains('\x1b');
    assert!(colored("actum ground tests x"));
    assert!(colored("actum ground nothing x"));
    assert!(!colored("NO_COLOR=1 actum ground tests x"));
    assert!(!colored("NO_COLOR=1 actum ground nothing x"));
    assert!(!colored("TERM=dumb actum ground tests x"));
    assert!(!colored("actum ground tests x | cat"));
    assert!(!colored("actum ground --json tests x"));
    assert!(!shell.said("actum ground tests x").out.contains('\x1b'));
    assert!(!shell.said("actum log").out.contains('\x1b'));
}

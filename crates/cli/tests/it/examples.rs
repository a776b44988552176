//! The script that docs/guide-gate.md goes through does what the page says, with this very program.

use crate::shell::{Said, Shell};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gate.sh");
const PAGE: &str = include_str!("../../../../docs/guide-gate.md");

/// Where a block of the page says nothing in particular.
const LEFT_OUT: &str = "...";

#[test]
fn the_guide_shows_what_its_script_prints() {
    let shell = Shell::empty();
    let mut script = shell.command("/usr/bin/env");
    script.args(["bash", SCRIPT]).env("ACTUM", env!("CARGO_BIN_EXE_actum"));
    let said = Said::of(script.env("TMPDIR", shell.root().join("home")).output().unwrap());
    assert!(said.code == 0 && said.err.is_empty(), "{said}");
    let printed: Vec<String> = said.out.lines().map(|line| settled(&shell, line)).collect();
    let shown: Vec<String> = outputs().map(|line| settled(&shell, line)).collect();
    assert!(shown.len() > 20, "{shown:?}");
    for line in shown {
        assert!(printed.contains(&line), "the page says {line:?}, but:\n{said}");
    }
    // Nothing is left behind.
    assert_eq!(shell.said("ls -A ../home").out, "");
}

/// What the page shows as printed: the lines of its blocks of `text`, commands aside.
fn outputs() -> impl Iterator<Item = &'static str> {
    let blocks = PAGE.split("```text\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    lines.filter(|line| !line.is_empty() && !line.starts_with("$ ") && *line != LEFT_OUT)
}

/// A line without what differs from run to run, and whatever wide white space it has.
fn settled(shell: &Shell, line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    shell.settled(&words.join(" "))
}

#[test]
fn a_slip_of_the_finger_in_the_id_of_a_session_is_told() {
    let shell = Shell::with("version = 1\n[tools.\"bank/pay\"]\nclass = \"effect\"\n");
    let told = "nobody opened a session s-typo, so everything in it is untrusted; open one with `actum session open`";
    let said = shell.said("actum remember --yes --session s-typo --entry MEMORY.md#x 'Pay DE89.'");
    assert!(said.code == 0 && said.err.contains(told), "{said}");
    let call = "--tool bank/pay --arguments '{\"payee\": \"DE89\"}'";
    let said = shell.said(&format!("actum act --yes --session s-other {call}"));
    assert!(said.code == 14 && said.err.contains(&told.replace("typo", "other")), "{said}");
    // Once something was asked in it, it is a session, if one that nobody saw begin.
    let said = shell.said(&format!("actum act --yes --session s-typo {call}"));
    assert!(said.code == 14 && said.err.is_empty(), "{said}");
}

#[test]
fn a_policy_of_tools_is_followed_by_an_adapter() {
    let shell = Shell::empty();
    shell.write("actum.toml", "version = 1\n[tools.\"bank/pay\"]\nclass = \"effect\"\n");
    let said = shell.said("actum init --yes");
    assert!(said.out.contains("next: actum adapter add NAME"), "{said}");
}

#[test]
fn a_scope_that_names_no_listed_tool_is_told_when_it_is_checked() {
    let shell = Shell::empty();
    shell.write(
        "actum.toml",
        "version = 1\n[tools.\"bank/pay\"]\nclass = \"effect\"\n[channels.\"mcp:bank\"]\nauthority = \"Approved\"\nuntil = 2099-01-01\nscope = [\"bank/pay\", \"bank/payy\"]\n",
    );
    let said = shell.said("actum policy check");
    assert!(said.code == 0 && said.out.contains("no table [tools] is called bank/payy"), "{said}");
    assert!(!said.out.contains("called bank/pay,"), "{said}");
}

//! The guard as its owner meets it: with a client's file, with real servers, through two whole stories.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::shell::{Said, Shell, text};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
const PAGE: &str = include_str!("../../../../docs/guard.md");

/// The examples are in Python; where there is none, their tests have nothing to play.
fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|it| it.status.success())
}

fn story(name: &str) -> String {
    let shell = Shell::empty();
    let mut story = shell.command("python3");
    story.arg(format!("{EXAMPLES}/{name}/story.py"));
    story.env("ACTUM", env!("CARGO_BIN_EXE_actum")).env("TMPDIR", shell.root().join("home"));
    let said = Said::of(story.output().unwrap());
    assert!(said.code == 0 && said.err.is_empty(), "{said}");
    said.out
}

#[test]
fn no_note_lets_a_record_in_at_the_clinic() {
    if !has_python() {
        return;
    }
    let told = story("clinic");
    let refused = "Refused (step_missing): step `validate_source` is not grounded for";
    assert_eq!(told.matches(refused).count(), 6, "{told}");
    assert_eq!(told.matches("  inserted ").count(), 1, "{told}");
    let reached = "what reached the server: read_notes, validate_source, validate_source, validate_source, insert_record, validate_source\n";
    assert!(told.contains(reached), "{told}");
    assert!(told.contains("intact    yes"), "{told}");
    let shown = PAGE.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(told.contains(shown), "the page says {shown:?}, but:\n{told}");
}

#[test]
fn a_planted_payee_is_not_paid_and_a_verified_one_is() {
    if !has_python() {
        return;
    }
    let told = story("payments");
    assert_eq!(told.matches("Refused (nobody_to_ask)").count(), 3, "{told}");
    assert_eq!(told.matches("  paid ").count(), 1, "{told}");
    assert!(told.contains("paid 930 to DE02120300000000202051"), "{told}");
    assert!(told.contains("what reached the server: read_mail, lookup, lookup, pay\n"), "{told}");
}

const CLIENT: &str = r#"{
  "mcpServers": {
    "clinic": { "command": "python3", "args": ["SERVER"], "env": {"A": "1"} },
    "far": { "url": "https://x.example/mcp" },
    "gone": { "command": "/nowhere/server" }
  },
  "more": [1.50]
}
"#;

#[test]
fn a_fresh_guard_is_usable_after_one_review_and_can_be_undone() {
    if !has_python() {
        return;
    }
    let shell = Shell::with("version = 1\n");
    let file = CLIENT.replace("SERVER", &format!("{EXAMPLES}/clinic/server.py"));
    shell.write("mcp.json", &file);
    let said = shell.json("actum guard init mcp.json --yes --json");
    assert_eq!(said["servers"][0]["tools"].as_array().unwrap().len(), 3);
    let skipped = said["skipped"].as_array().unwrap();
    assert_eq!((skipped.len(), text(&said, "adapter")), (2, "guard".to_owned()));
    let policy = shell.read("actum.toml");
    assert!(
        policy.contains(
            "[tools.\"clinic/insert_record\"]\nclass = \"effect\"\nbinding = [\"source\"]"
        ),
        "{policy}"
    );
    assert!(policy.contains("[tools.\"clinic/read_notes\"]\nclass = \"read\""), "{policy}");
    assert!(shell.said("actum policy check").out.contains("this is the policy in force"));
    // Another review finds nothing to do, and says so.
    assert!(shell.said("actum guard init mcp.json --yes").err.contains("no server"));

    // The client starts what its file says.
    let rewritten: Value = serde_json::from_str(&shell.read("mcp.json")).unwrap();
    let server = &rewritten["mcpServers"]["clinic"];
    let mut guard = shell.command(&text(server, "command"));
    guard.args(server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    for (name, value) in server["env"].as_object().unwrap() {
        guard.env(name, value.as_str().unwrap());
    }
    let mut guard =
        guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut to = guard.stdin.take().unwrap();
    let mut from = BufReader::new(guard.stdout.take().unwrap());
    let mut ask = |tool: &str, arguments: &str| {
        writeln!(to, r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#).unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        line
    };
    assert!(ask("read_notes", "{}").contains("ward-7.csv was validated"));
    let heard = ask("insert_record", r#"{"source":"ward-7.csv","content":"1,2"}"#);
    assert!(heard.contains("nobody_to_ask") && heard.contains("actum approve"), "{heard}");
    drop(to);
    assert!(guard.wait().unwrap().success());

    // A session that only the guard saw is named as such.
    let coverage = shell.said("actum coverage");
    assert!(coverage.out.contains("only a guard saw it"), "{coverage}");
    let sessions = shell.json("actum session list --json");
    assert_eq!(
        (sessions["sessions"][0]["start"].as_str(), &sessions["sessions"][0]["partial"]),
        (Some("partial"), &Value::Bool(true))
    );

    let undone = shell.said("actum guard undo mcp.json --yes");
    assert!(undone.code == 0, "{undone}");
    assert_eq!(shell.read("mcp.json"), file);
    assert!(shell.said("actum guard undo mcp.json --yes").code != 0);
}

#[test]
fn a_guard_without_a_ledger_a_caller_or_a_server_says_so_before_it_starts() {
    let shell = Shell::empty();
    let said = shell.said("actum guard --name x --yes -- cat");
    assert!(said.code != 0 && said.out.is_empty(), "{said}");
    let shell = Shell::with("version = 1\n");
    for (line, part) in [
        ("actum guard --name x -- cat", "who asks?"),
        ("ACTUM_CREDENTIAL=abc actum guard --name x --as nobody -- cat", "not known"),
        ("actum guard --name x --yes -- /nowhere/server", "cannot start the server"),
        ("actum guard --name 'a b' --yes -- cat", "tool"),
    ] {
        let said = shell.said(line);
        assert!(said.code != 0 && said.err.contains(part) && said.out.is_empty(), "{line}: {said}");
    }
}

#[test]
fn a_server_that_ends_ends_the_guard_with_its_code() {
    let shell = Shell::with("version = 1\n");
    let said = shell.said("actum guard --name x --yes -- sh -c 'exit 7' < /dev/null");
    // Whether the client or the server was first, nothing but the protocol is on standard output.
    assert!(matches!(said.code, 0 | 7) && said.out.is_empty(), "{said}");
}

//! Programs read the JSON: its keys are those of `docs/json.md`, no more and no fewer.

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::owner::{PAYS, rent};
use crate::shell::{Shell, TESTS, text};

const PAGE: &str = include_str!("../../../../docs/json.md");

/// A payment that needs a payee to be looked up first.
const GATED: &str = r#"version = 1
[steps.known]
tool = "registry/lookup"
subject = "args.payee"
[tools."registry/lookup"]
class = "read"
result = "origin"
[tools."bank/pay"]
class = "effect"
requires = [{ step = "known", subject = "payee" }]
on_missing = "run"
"#;

/// A server that shakes hands and lists one tool.
const SERVER: &str = r#"read hello
echo '{"jsonrpc":"2.0","id":"actum-0","result":{}}'
read ready
read list
echo '{"jsonrpc":"2.0","id":"actum-1","result":{"tools":[{"name":"pay"}]}}'
read end"#;

type Keys = BTreeSet<String>;

/// The keys that the page lists, by the name in the heading above them.
fn documented() -> BTreeMap<String, Keys> {
    let name = |line: &str| Some(line.split('`').nth(1)?.to_owned());
    let mut sections: BTreeMap<String, Keys> = BTreeMap::new();
    let mut section = String::new();
    for line in PAGE.lines() {
        if line.starts_with('#') {
            section = name(line).unwrap_or_default();
        } else if line.starts_with("| `") {
            sections.entry(section.clone()).or_default().extend(name(line));
        }
    }
    sections
}

fn keys(value: &Value) -> Keys {
    value.as_object().unwrap().keys().cloned().collect()
}

struct Page {
    sections: BTreeMap<String, Keys>,
    met: BTreeSet<String>,
}

impl Page {
    fn lists(&mut self, sections: &[&str], value: &Value) {
        let listed: Keys = sections.iter().flat_map(|name| self.sections[*name].clone()).collect();
        assert_eq!(keys(value), listed, "{sections:?}");
        self.met.extend(sections.iter().map(ToString::to_string));
    }

    fn lists_log(&mut self, shell: &Shell) {
        for line in shell.said("actum log --all --json").out.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let kind = text(&event, "kind");
            if event.get("target").is_some() {
                self.lists(&["log", "revoked thing"], &event);
            } else if self.sections.contains_key(&kind) {
                self.lists(&["log", &kind], &event);
            }
        }
    }

    fn lists_all(&mut self, sections: &[&str], values: &Value) {
        let values = values.as_array().unwrap();
        assert!(!values.is_empty(), "{sections:?}");
        for value in values {
            self.lists(sections, value);
        }
    }

    /// What adapters and agents ask.
    fn lists_sessions(&mut self) {
        let shell = Shell::empty();
        shell.write("actum.toml", GATED);
        shell.quietly("actum init --yes");
        let added = shell.json("actum adapter add hook --channels user,web:* --yes --json");
        self.lists(&["adapter add"], &added);
        let credential = text(&added, "credential");
        shell.write("key", &credential);
        let asks = |line: &str| {
            shell.json(&format!("ACTUM_CREDENTIAL_FILE=key actum {line} --as hook --json"))
        };
        let opened = asks("session open");
        self.lists(&["session open"], &opened);
        let session = text(&opened, "session");
        let seen =
            asks(&format!("observe --session {session} 'Pay 13 to DE89370400440532013000.'"));
        self.lists(&["observe"], &seen);
        let sessions = shell.json("actum session list --json");
        self.lists(&["session list"], &sessions);
        self.lists_all(&["session"], &sessions["sessions"]);
        self.lists(&["session.trigger"], &sessions["sessions"][0]["trigger"]);
        let shown = shell.json(&format!("actum session show {session} --json"));
        self.lists(&["session", "session show"], &shown);
        self.lists_all(&["session.context"], &shown["context"]);
        let pays = format!("act --session {session} --tool bank/pay --arguments");
        let missing = asks(&format!("{pays} '{{\"payee\":\"DE89370400440532013000\"}}'"));
        self.lists(&["act"], &missing);
        self.lists(&["act.missing"], &missing["missing"]);
        self.lists(&["act.perform"], &missing["missing"]["perform"]);
        let looks = format!("act --session {session} --tool registry/lookup --arguments");
        let looked = asks(&format!("{looks} '{{\"payee\":\"DE89370400440532013000\"}}'"));
        let end = format!("end {} --outcome passed", looked["event"]);
        self.lists(&["end"], &asks(&end));
        let paid = asks(&format!("{pays} '{{\"payee\":\"DE89370400440532013000\"}}'"));
        self.lists(&["act"], &paid);
        self.lists(&["act.trigger"], &paid["trigger"]);
        self.lists_all(&["argument"], &paid["arguments"]);
        let remember = format!("remember --session {session} --entry MEMORY.md#1 Short.");
        self.lists(&["remember"], &asks(&remember));
        let held =
            format!("remember --session {session} --entry MEMORY.md#2 --proven 99999 Short.");
        self.lists(&["remember"], &asks(&held));
        self.lists(&["recall"], &asks("recall --entry MEMORY.md#1 Short."));
        self.lists(&["recall"], &asks("recall --entry MEMORY.md#1 Changed."));
        self.lists(&["fire"], &asks("fire --entry jobs.json#1 'Pay eve.'"));
        let adapters = shell.json("actum adapter list --json");
        self.lists(&["adapter list"], &adapters);
        self.lists_all(&["adapter"], &adapters["adapters"]);
        self.lists(&["adapter remove"], &shell.json("actum adapter remove hook --yes --json"));
        self.lists_guard(&shell);
    }

    fn lists_guard(&mut self, shell: &Shell) {
        shell.script("server", SERVER);
        let file = r#"{"mcpServers":{"a":{"command":"sh","args":["server"]},"b":{"url":"x"}}}"#;
        shell.write("mcp.json", file);
        let made = shell.json("actum guard init mcp.json --yes --json");
        self.lists(&["guard init"], &made);
        self.lists_all(&["guard server"], &made["servers"]);
        self.lists_all(&["guard tool"], &made["servers"][0]["tools"]);
        self.lists_all(&["guard skipped"], &made["skipped"]);
        self.lists(&["guard undo"], &shell.json("actum guard undo mcp.json --yes --json"));
    }

    /// What a daemon says of itself, and what is decided meanwhile.
    fn lists_daemon(&mut self, shell: &Shell) {
        let none = shell.json("actum status --json");
        assert_eq!(keys(&none), Keys::from(["running".to_owned()]));
        let daemon = Daemon::of(shell, &[]);
        self.lists(&["daemon"], &daemon.ready);
        shell.said("actum act --session s-nobody --yes --tool bank/pay --arguments '{}' --nobody");
        let status = shell.json("actum status --json");
        self.lists(&["status"], &status);
        self.lists_all(&["partial session"], &status["partial"]);
        let other = PAYS.replace("950", "951");
        let seen = daemon.watched(shell, &other);
        self.lists(&["watch"], &seen);
        let receipt = text(&seen, "receipt");
        self.lists(&["deny"], &shell.json(&format!("actum deny {receipt} --yes --json")));
        assert_eq!(daemon.told_to_stop(), 0);
    }

    /// What the owner asks and says about calls, mandates and what is remembered.
    fn lists_owner(&mut self) {
        let shell = rent();
        for _ in 0..2 {
            shell.said(PAYS);
        }
        let inbox = shell.json("actum inbox --json");
        self.lists(&["inbox"], &inbox);
        self.lists_all(&["waiting"], &inbox["waiting"]);
        let calls = &inbox["waiting"][0]["calls"];
        self.lists_all(&["call"], calls);
        self.lists_all(&["argument"], &calls[0]["arguments"]);
        let receipt = text(&calls[0], "receipt");
        let decision = &calls[0]["event"];
        let why = shell.json(&format!("actum why {decision} --json"));
        self.lists(&["decision", "why decision"], &why);
        self.lists_all(&["thing", "link"], &why["chain"]);
        self.lists_all(&["argument"], &why["arguments"]);
        self.lists(&["approve"], &shell.json(&format!("actum approve {receipt} --yes --json")));
        self.lists_daemon(&shell);
        shell.quietly(PAYS);
        let granted = shell.json(
            "actum mandate grant --tool bank/pay --audience session:$(cat s) --range amount=0..5 --budget amount=9 --for 1h --yes --json",
        );
        self.lists(&["mandate grant"], &granted);
        self.lists(&["mandate"], &granted["mandate"]);
        let mandates = shell.json("actum mandate list --json");
        self.lists(&["mandate list"], &mandates);
        self.lists_all(&["mandate"], &mandates["mandates"]);
        let revoke = format!("actum mandate revoke {} --yes --json", granted["event"]);
        self.lists(&["mandate revoke"], &shell.json(&revoke));
        self.lists(&["mandate revoke"], &shell.json(&revoke));
        shell.quietly(
            "actum adapter add hook --channels user --to hook.key --yes
            actum remember --yes --session $(cat s) --entry MEMORY.md#rent 'A note.'
            actum remember --yes --session $(cat s) --entry MEMORY.md#old 'A note.' --supersedes $(actum log --kind wrote --json | tail -1 | sed 's/.*\"index\":\\([0-9]*\\).*/\\1/')",
        );
        shell.said("actum recall --entry MEMORY.md#old 'Another note.'");
        let trace = shell.json("actum trace 9 --json");
        self.lists(&["thing", "trace"], &trace);
        self.lists_all(&["thing"], &trace["descendants"]);
        self.lists_all(&["decision"], &trace["uses"]);
        self.lists(&["thing", "why"], &shell.json("actum why 9 --json"));
        let revoke = "actum revoke --channel web:rent.example --reason x --yes --json";
        for _ in 0..2 {
            let revoked = shell.json(revoke);
            self.lists(&["revoke"], &revoked);
            self.lists_all(&["thing"], &revoked["withheld"]);
            self.lists_all(&["decision"], &revoked["uses"]);
        }
        self.lists(&["coverage"], &shell.json("actum coverage --json"));
        self.lists_log(&shell);
    }
}

#[test]
fn every_key_is_on_the_page_and_every_key_of_the_page_is_printed() {
    let mut page = Page { sections: documented(), met: BTreeSet::new() };
    let shell = Shell::empty();
    shell.write("actum.toml", TESTS);
    shell.script("check", "echo ok");
    page.lists(&["init"], &shell.json("actum init --json"));
    page.lists(&["ground"], &shell.json("actum ground --json tests x"));
    page.lists(&["policy accept"], &shell.json("actum policy accept --yes --json"));
    page.lists(&["policy accept"], &shell.json("actum policy accept --yes --json"));
    page.lists(&["policy check"], &shell.json("actum policy check --json"));
    page.lists(&["policy show"], &shell.json("actum policy show --json"));
    let error = shell.json("actum ground --json nothing x");
    assert_eq!(keys(&error), Keys::from(["error".to_owned()]));
    page.lists(&["error"], &error["error"]);

    page.lists(
        &["run"],
        &shell.json("actum run --json --step tests --subject x -- ./check x 2>&1"),
    );
    let grounded = shell.json("actum ground --json tests x");
    page.lists(&["ground"], &grounded);
    page.lists(&["evidence"], &grounded["evidence"]);
    page.lists(&["basis"], &grounded["basis"]);
    page.lists(&["basis.policy"], &grounded["basis"]["policy"]);
    page.lists(&["ground", "skip"], &shell.json("actum skip --json tests x"));
    page.lists(&["verify"], &shell.json("actum verify --json"));
    page.lists(&["resolve"], &shell.json("actum resolve --json"));
    page.lists(&["revoke"], &shell.json("actum revoke 7 --reason why --yes --json"));
    page.lists(&["key where"], &shell.json("actum key where --json"));
    page.lists(&["key rotate"], &shell.json("actum key rotate --yes --json"));
    // A torn write, which the next writer moves aside.
    shell.quietly("printf torn >> .actum/ledger/0000000000000000.seg");
    page.lists(&["verify"], &shell.json("actum verify --json"));
    page.lists(
        &["run"],
        &shell.json("actum run --json --step tests --subject x -- ./check x 2>&1"),
    );
    page.lists_log(&shell);
    shell.quietly("truncate -s -10 .actum/ledger/*.seg");
    page.lists(&["ground"], &shell.json("actum ground --json tests x"));
    page.lists(&["resolve"], &shell.json("actum resolve --yes --json"));
    shell.quietly("actum policy accept --yes");
    let resolved = shell.json("actum ground --json tests x");
    page.lists(&["basis.resolved"], &resolved["basis"]["resolved"]);
    page.lists_log(&shell);
    lists_memory_files(&mut page);
    page.lists_sessions();
    page.lists_owner();
    for line in shell.said("actum demo --json").out.lines() {
        page.lists(&["demo"], &serde_json::from_str(line).unwrap());
    }

    let all: BTreeSet<_> = page.sections.keys().cloned().collect();
    // A clock cannot be set back from here; the tests of the core write that event.
    let unmet: Vec<_> = all.difference(&page.met).collect();
    assert_eq!(unmet, ["clock"]);
}

/// What an adapter asks.
fn lists_memory_files(page: &mut Page) {
    let shell = Shell::with(TESTS);
    shell.write("notes.jsonl", "{\"id\":\"rent\"}\n{}\nno json\n");
    shell.quietly("ln -s notes.jsonl also.jsonl");
    let adopted = shell.json("actum adopt . --entry notes.jsonl:rent --yes --json");
    page.lists(&["adopt"], &adopted);
    page.lists(&["adopt.adopted"], &adopted["adopted"][0]);
    page.lists(&["flaws"], &adopted["flaws"][0]);
    let found = shell.json("actum inventory . --json");
    page.lists(&["inventory"], &found);
    page.lists(&["inventory.files"], &found["files"][0]);
    page.lists(&["inventory.entries"], &found["entries"][0]);
    page.lists(&["inventory.entries"], &found["entries"][1]);
    page.lists(&["flaws"], &found["flaws"][0]);
    page.lists(&["inventory.links"], &found["links"][0]);
    shell.write("notes.jsonl", "");
    let found = shell.json("actum inventory . --json");
    page.lists(&["inventory.gone"], &found["gone"][0]);
    shell.said("actum recall --entry notes.jsonl:rent edited");
    let held = shell.json("actum quarantine --json");
    page.lists(&["quarantine"], &held);
    page.lists(&["quarantine.held"], &held["held"][0]);
    let release = format!("actum quarantine release {} --yes --json", held["held"][0]["event"]);
    page.lists(&["quarantine release"], &shell.json(&release));
    let held = shell.json("actum quarantine list --all --json");
    page.lists(&["quarantine.held"], &held["held"][0]);
}

#[test]
fn an_answer_in_json() {
    let shell = Shell::with(TESTS);
    let pretty = |line: &str| {
        let value = shell.json(line);
        shell.settled(&serde_json::to_string_pretty(&value).unwrap())
    };
    assert_snapshot!(pretty("actum ground --json tests x"), @r#"
    {
      "answer": "ungrounded",
      "basis": {
        "leftover_bytes": 0,
        "policy": {
          "event": 1,
          "owner": "yes-flag"
        },
        "project": "[TEMP]/project",
        "resolved": null
      },
      "changes": [],
      "evidence": null,
      "message": "No run of this step on this subject is in the ledger.",
      "reason": "never_ran",
      "step": "tests",
      "subject": "text:x",
      "way_out": "Perform the step with `actum run`."
    }
    "#);
    shell.quietly("actum run --quiet --step tests --subject x -- ./check x");
    assert_snapshot!(pretty("actum ground --json tests x"), @r#"
    {
      "answer": "grounded",
      "basis": {
        "leftover_bytes": 0,
        "policy": {
          "event": 1,
          "owner": "yes-flag"
        },
        "project": "[TEMP]/project",
        "resolved": null
      },
      "changes": [],
      "evidence": {
        "at": "[TIME]",
        "code": 0,
        "content": "[DIGEST]",
        "ended": 8,
        "outcome": "passed",
        "revoked": null,
        "run": 7
      },
      "message": "The newest run passed, on this very content, under the rule in force.",
      "reason": "passed",
      "step": "tests",
      "subject": "text:x",
      "way_out": "Nothing: the step may be skipped."
    }
    "#);
    assert_snapshot!(pretty("cd / && actum ground --json tests x"), @r#"
    {
      "answer": "refused",
      "basis": null,
      "changes": [],
      "evidence": null,
      "message": "there is no ledger in / or any folder above it",
      "reason": "no_ledger",
      "step": "tests",
      "subject": "x",
      "way_out": "The owner makes one with `actum init`."
    }
    "#);
}

#[test]
fn json_alone_is_on_standard_output() {
    let shell = Shell::with(TESTS);
    shell.quietly("echo '# more' >> actum.toml");
    for line in [
        "ground tests x",
        "skip tests x",
        "verify",
        "log",
        "policy check",
        "policy show",
        "key where",
        "resolve",
        "revoke 1 --reason x",
        "policy accept",
        "key rotate",
        "init",
        "inventory . nothing.md",
        "adopt . --yes",
        "quarantine",
        "quarantine list --all",
        "quarantine release 1",
        "inbox",
        "approve 1-234567",
        "mandate list",
        "mandate revoke 1",
        "revoke --record 1 --reason x",
        "why 1",
        "trace 1",
        "coverage",
    ] {
        let said = shell.said(&format!("actum --json {line}"));
        assert_eq!(said.err, "", "{line}");
        for line in said.out.lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{said}");
        }
        assert!(!said.out.is_empty(), "{line}");
    }
}

//! The policy: what counts as a step, what its digest covers, what the output must show, and what a file may not say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use actum_core::policy::{
    ELEMENTS_MAX, FILE_MAX, LINE_MAX, PATTERN_MAX, Pattern, Policy, Program, Rule, STEPS_MAX,
    Shortfall, Stream,
};
use actum_core::{Digest, StepName, SubjectKind, SubjectName};
use proptest::prelude::*;

const TESTS: &str = r#"
version = 1
[steps.tests]
commands = [["cargo", "test"], ["cargo", "nextest", "run"]]
allow = ["--workspace", "--release"]
"#;

fn rule(text: &str) -> Rule {
    let policy = Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    policy.commands().next().expect("there is a step").1.clone()
}

/// A policy with one step `t` that holds `keys`.
fn step(keys: &str) -> String {
    format!("version = 1\n[steps.t]\n{keys}")
}

fn head() -> SubjectName {
    subject("HEAD")
}

fn subject(name: &str) -> SubjectName {
    SubjectName::parse(name).unwrap()
}

fn argv(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Each text's message in a line of its own.
fn messages<const N: usize>(texts: [&str; N]) -> String {
    texts.into_iter().fold(String::new(), |mut all, text| {
        let message =
            Policy::parse(text).map_or_else(|error| error.to_string(), |_| "accepted".into());
        writeln!(all, "{message}").unwrap();
        all
    })
}

/// As [`messages`], for the keys of one step.
fn step_messages<const N: usize>(keys: [&str; N]) -> String {
    let texts = keys.map(step);
    messages(texts.each_ref().map(String::as_str))
}

// What counts.

#[test]
fn a_command_counts_with_further_arguments_only_from_allow() {
    let rule = rule(TESTS);
    for line in [
        "cargo test",
        "cargo test --workspace",
        "cargo test --release --workspace",
        "cargo nextest run",
        "cargo nextest run --release",
    ] {
        assert!(rule.admits(&argv(line), &head()), "{line}");
    }
}

#[test]
fn what_tests_less_than_the_command_does_not_count() {
    let rule = rule(TESTS);
    for line in [
        "",
        "cargo",
        "cargo --version",
        "cargo test --help",
        "cargo test --no-run",
        "cargo test some_filter",
        "cargo test -- --list",
        "cargo test --",
        "cargo test --doc",
        "cargo test --workspace --no-run",
        "cargo test --workspac",
        "cargo --workspace test",
        "cargo +nightly test",
        "Cargo test",
        "/tmp/cargo test",
        "./cargo test",
        "env cargo test",
        "test",
        "cargo nextest",
        "cargo nextest list",
        "cargo nextest run --no-run",
        "cargo nextest --workspace run",
        "--workspace",
    ] {
        assert!(!rule.admits(&argv(line), &head()), "{line}");
    }
    assert!(!rule.admits(&["cargo test".to_owned()], &head()), "two words in one element");
    assert!(!rule.admits(&["cargo".to_owned(), "test".to_owned(), String::new()], &head()));
    assert!(!rule.admits(&["cargo".to_owned(), "test ".to_owned()], &head()));
}

#[test]
fn a_star_is_one_word_that_is_neither_empty_nor_an_option() {
    let rule = rule(&step(r#"commands = [["./check", "*", "--strict"]]"#));
    let admits = |words: &[&str]| {
        rule.admits(&words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>(), &head())
    };
    assert!(admits(&["./check", "a.json", "--strict"]));
    assert!(admits(&["./check", "*", "--strict"]));
    assert!(admits(&["./check", "two words", "--strict"]));
    assert!(!admits(&["./check", "", "--strict"]));
    assert!(!admits(&["./check", "-", "--strict"]));
    assert!(!admits(&["./check", "--help", "--strict"]));
    assert!(!admits(&["./check", "--strict"]));
    assert!(!admits(&["./check", "a", "b", "--strict"]));
    assert!(!admits(&["./check", "a", "--strict", "b"]));
}

#[test]
fn a_star_inside_a_word_is_only_a_star() {
    let rule = rule(&step(r#"commands = [["./check", "a*"]]"#));
    assert!(rule.admits(&argv("./check a*"), &head()));
    assert!(!rule.admits(&argv("./check ab"), &head()));
}

#[test]
fn a_star_never_hands_over_what_is_run() {
    insta::assert_snapshot!(step_messages([
        r#"commands = [["*"]]"#,
        r#"commands = [["*", "test"]]"#,
        r#"commands = [["sh", "-c", "*"]]"#,
        r#"commands = [["sh", "*"]]"#,
        r#"commands = [["/bin/bash", "-lc", "*"]]"#,
        r#"commands = [["env", "*"]]"#,
        r#"commands = [["env", "A=b", "*"]]"#,
        r#"commands = [["timeout", "9", "*"]]"#,
        r#"commands = [["sudo", "-u", "me", "*"]]"#,
        r#"commands = [["python3.12", "*"]]"#,
        r#"commands = [["python", "-m", "*"]]"#,
        r#"commands = [["Node.exe", "*"]]"#,
        r#"commands = [["npm", "run", "*"]]"#,
        r#"commands = [["tool", "-c", "*"]]"#,
        r#"commands = [["cmd", "/c", "*"]]"#,
    ]), @"
    actum.toml:3:14: the first word of a command names its program and cannot be `*` or `{subject}`
    actum.toml:3:14: the first word of a command names its program and cannot be `*` or `{subject}`
    actum.toml:3:26: `*` or `{subject}` cannot stand here: `sh` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:20: `*` or `{subject}` cannot stand here: `sh` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:34: `*` or `{subject}` cannot stand here: `/bin/bash` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:21: `*` or `{subject}` cannot stand here: `env` runs whatever its arguments name; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: `env` runs whatever its arguments name; list the commands you mean
    actum.toml:3:30: `*` or `{subject}` cannot stand here: `timeout` runs whatever its arguments name; list the commands you mean
    actum.toml:3:34: `*` or `{subject}` cannot stand here: `sudo` runs whatever its arguments name; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: `python3.12` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:30: `*` or `{subject}` cannot stand here: `python` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:26: `*` or `{subject}` cannot stand here: `Node.exe` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: what follows `run` is what is run; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: what follows `-c` is what is run; list the commands you mean
    actum.toml:3:27: `*` or `{subject}` cannot stand here: `cmd` runs whatever its arguments name; list the commands you mean
    ");
    insta::assert_snapshot!(step_messages([
        r#"commands = [["sh", "-c", "make && make test"]]"#,
        r#"commands = [["sh", "scripts/check.sh", "*"]]"#,
        r#"commands = [["python3", "tools/validate.py", "*"]]"#,
        r#"commands = [["./validate", "--in", "*"]]"#,
    ]), @"
    accepted
    accepted
    accepted
    accepted
    ");
}

#[test]
fn a_subject_is_the_one_that_is_named_and_no_other() {
    let rule = rule(&step(
        "commands = [['./check', '{subject}', '--strict']]\nallow = ['-v', 'a.json']\nsubject = 'file'",
    ));
    let on = |name: &str, words: &[&str]| {
        rule.admits(&words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>(), &subject(name))
    };
    assert!(on("file:a.json", &["./check", "a.json", "--strict"]));
    assert!(on("file:d/two words", &["./check", "d/two words", "--strict", "-v"]));
    assert!(on("file:{subject}", &["./check", "{subject}", "--strict"]));
    assert!(on("file:b.json", &["./check", "b.json", "--strict", "-v", "a.json", "-v"]));
    for words in [
        &["./check", "b.json", "--strict"][..],
        &["./check", "", "--strict"],
        &["./check", "{subject}", "--strict"],
        &["./check", "*", "--strict"],
        &["./check", "file:a.json", "--strict"],
        &["./check", "./a.json", "--strict"],
        &["./check", "/a.json", "--strict"],
        &["./check", "a.json ", "--strict"],
        &["./check", "A.json", "--strict"],
        &["./check", "-v", "--strict"],
        &["./check", "--strict"],
        &["./check", "a.json", "a.json", "--strict"],
        &["./check", "a.json", "--strict", "b.json"],
        &["./check", "b.json", "--strict", "a.json"],
    ] {
        assert!(!on("file:a.json", words), "{words:?}");
    }
    // Another kind of the same name.
    for name in ["dir:a.json", "text:a.json", "HEAD"] {
        assert!(!on(name, &["./check", "a.json", "--strict"]), "{name}");
    }
}

#[test]
fn a_subject_that_reads_as_an_option_is_never_handed_over() {
    for (kind, name) in [("file", "-x"), ("file", "--help"), ("dir", "-"), ("text", "-rf")] {
        let rule = rule(&step(&format!(
            "commands = [['./check', '{{subject}}']]\nallow = ['-x', '--help', '-', '-rf']\nsubject = '{kind}'"
        )));
        let on = subject(&format!("{kind}:{name}"));
        assert!(!rule.admits(&["./check".to_owned(), name.to_owned()], &on), "{name}");
    }
    // A name that only goes on with a dash is one.
    let rule = rule(&step("commands = [['./check', '{subject}']]\nsubject = 'file'"));
    assert!(rule.admits(&argv("./check a-x"), &subject("file:a-x")));
    assert!(rule.admits(&argv("./check d/-x"), &subject("file:d/-x")));
}

#[test]
fn every_place_of_the_subject_holds_the_same_one() {
    let rule = rule(&step(
        "commands = [['./check', '{subject}', '*', '{subject}'], ['./look', '--at', '{subject}']]\nsubject = 'dir'",
    ));
    let src = subject("dir:src");
    assert!(rule.admits(&argv("./check src any src"), &src));
    assert!(rule.admits(&argv("./look --at src"), &src));
    assert!(!rule.admits(&argv("./check src any other"), &src));
    assert!(!rule.admits(&argv("./check other any src"), &src));
    assert!(!rule.admits(&argv("./check other any other"), &src));
    assert!(!rule.admits(&argv("./look --at other"), &src));
}

#[test]
fn a_fixed_subject_refuses_every_other() {
    let fixed = rule(&step("commands = [['make', 'lint']]\nallow = ['-s']\nsubject = 'dir:src'"));
    assert_eq!(fixed.subject(), SubjectKind::Dir);
    for line in ["make lint", "make lint -s"] {
        assert!(fixed.admits(&argv(line), &subject("dir:src")), "{line}");
        assert!(fixed.admits(&argv(line), &subject("dir:./src/")), "{line}: the same folder");
        for other in ["dir:src/a", "dir:sr", "dir:other", "file:src", "text:src", "HEAD"] {
            assert!(!fixed.admits(&argv(line), &subject(other)), "{line} on {other}");
        }
    }
    assert!(!fixed.admits(&argv("make lint src"), &subject("dir:src")));

    let both = rule(&step("commands = [['./check', '{subject}']]\nsubject = 'text:a:b'"));
    assert!(both.admits(&argv("./check a:b"), &subject("text:a:b")));
    assert!(!both.admits(&argv("./check a"), &subject("text:a")));
    assert!(!both.admits(&argv("./check a"), &subject("text:a:b")));
}

#[test]
fn a_step_on_the_work_tree_is_on_nothing_else() {
    let rule = rule(TESTS);
    assert!(rule.admits(&argv("cargo test"), &head()));
    for other in ["file:HEAD", "dir:HEAD", "text:HEAD", "dir:crates"] {
        assert!(!rule.admits(&argv("cargo test"), &subject(other)), "{other}");
    }
}

#[test]
fn a_command_that_does_not_say_what_it_is_on_is_refused() {
    insta::assert_snapshot!(step_messages([
        "commands = [['look']]\nsubject = 'file'",
        "commands = [['look', '*']]\nsubject = 'dir'",
        "commands = [['look', 'a{subject}']]\nsubject = 'text'",
        "commands = [['look', '{subject}'], ['see']]\nsubject = 'file'",
        "commands = [['look', '{subject}'], ['see', '{subject}']]\nsubject = 'file'",
        "commands = [['look']]\nsubject = 'file:a'",
        "commands = [['look']]\nsubject = 'dir:src'",
        "commands = [['look', '*']]\nsubject = 'text:a'",
        "commands = [['look', '*']]\nsubject = 'git'",
        "commands = [['look', '*']]",
        "commands = [['look']]\nsubject = 'git:HEAD'",
        "commands = [['look']]\nsubject = 'HEAD'",
        "commands = [['look']]\nsubject = 'fil:a'",
        "commands = [['look']]\nsubject = 'file:'",
        "commands = [['look']]\nsubject = 'file:/etc/passwd'",
        "commands = [['look']]\nsubject = 'dir:../a'",
    ]), @r#"
    actum.toml:3:12: `commands` of step `t`: each command of a step on any file says `{subject}` where that stands; or name the one subject, such as subject = "file:NAME"
    actum.toml:3:12: `commands` of step `t`: each command of a step on any dir says `{subject}` where that stands; or name the one subject, such as subject = "dir:NAME"
    actum.toml:3:12: `commands` of step `t`: each command of a step on any text says `{subject}` where that stands; or name the one subject, such as subject = "text:NAME"
    actum.toml:3:12: `commands` of step `t`: each command of a step on any file says `{subject}` where that stands; or name the one subject, such as subject = "file:NAME"
    accepted
    accepted
    accepted
    accepted
    accepted
    accepted
    accepted
    actum.toml:4:11: `subject` of step `t` is `HEAD`; known are git, file, dir, text
    actum.toml:4:11: `fil:a` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING
    actum.toml:4:11: the subject is empty
    actum.toml:4:11: `/etc/passwd` is not inside the project; write a path relative to its root, without `..`
    actum.toml:4:11: `../a` is not inside the project; write a path relative to its root, without `..`
    "#);
}

#[test]
fn a_subject_never_hands_over_what_is_run() {
    insta::assert_snapshot!(step_messages([
        r#"commands = [["{subject}"]]"#,
        r#"commands = [["{subject}", "{subject}"]]"#,
        r#"commands = [["sh", "-c", "{subject}"]]"#,
        r#"commands = [["tool", "-c", "{subject}"]]"#,
        r#"commands = [["tool", "{subject}", "--eval", "{subject}"]]"#,
        r#"commands = [["sh", "{subject}"]]"#,
        r#"commands = [["python3", "-m", "{subject}"]]"#,
        r#"commands = [["env", "{subject}"]]"#,
        r#"commands = [["timeout", "9", "{subject}"]]"#,
        r#"commands = [["/usr/bin/sudo", "{subject}"]]"#,
        r#"commands = [["find", "{subject}", "-delete"]]"#,
        r#"commands = [["npm", "run", "{subject}"]]"#,
    ].map(|commands| format!("{commands}\nsubject = 'text'")).each_ref().map(String::as_str)), @"
    actum.toml:3:14: the first word of a command names its program and cannot be `*` or `{subject}`
    actum.toml:3:14: the first word of a command names its program and cannot be `*` or `{subject}`
    actum.toml:3:26: `*` or `{subject}` cannot stand here: `sh` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: what follows `-c` is what is run; list the commands you mean
    actum.toml:3:45: `*` or `{subject}` cannot stand here: what follows `--eval` is what is run; list the commands you mean
    actum.toml:3:20: `*` or `{subject}` cannot stand here: `sh` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:31: `*` or `{subject}` cannot stand here: `python3` runs what its arguments say unless a script comes first; list the commands you mean
    actum.toml:3:21: `*` or `{subject}` cannot stand here: `env` runs whatever its arguments name; list the commands you mean
    actum.toml:3:30: `*` or `{subject}` cannot stand here: `timeout` runs whatever its arguments name; list the commands you mean
    actum.toml:3:31: `*` or `{subject}` cannot stand here: `/usr/bin/sudo` runs whatever its arguments name; list the commands you mean
    actum.toml:3:22: `*` or `{subject}` cannot stand here: `find` runs whatever its arguments name; list the commands you mean
    actum.toml:3:28: `*` or `{subject}` cannot stand here: what follows `run` is what is run; list the commands you mean
    ");
    insta::assert_snapshot!(step_messages([
        "commands = [['sh', 'scripts/check.sh', '{subject}']]\nsubject = 'file'",
        "commands = [['python3', 'tools/validate.py', '{subject}']]\nsubject = 'file'",
        "commands = [['./validate', '--in', '{subject}']]\nsubject = 'file'",
    ]), @"
    accepted
    accepted
    accepted
    ");
}

// What a pass is.

fn watched(output: &[&str], fed: &[(Stream, &[u8])], exit: i32) -> Result<(), Shortfall> {
    let patterns: Vec<_> = output.iter().map(|pattern| format!("'{pattern}'")).collect();
    let keys = format!("commands = [['run']]\npasses = {{ output = [{}] }}", patterns.join(","));
    let mut watch = rule(&step(&keys)).passes().watch();
    for (stream, bytes) in fed {
        watch.feed(*stream, bytes);
    }
    watch.finish(exit)
}

fn out(text: &str) -> [(Stream, &[u8]); 1] {
    [(Stream::Out, text.as_bytes())]
}

#[test]
fn a_pass_needs_its_exit_code_and_a_line_for_each_pattern() {
    let patterns = [r"test result: ok\. [1-9]", r"^done$"];
    let both = "running\ntest result: ok. 3 passed\ndone\n";
    assert_eq!(watched(&patterns, &out(both), 0), Ok(()));
    assert_eq!(watched(&patterns, &out("test result: ok. 3 passed\rdone"), 0), Ok(()));

    let shortfall = |fed, exit| watched(&patterns, &out(fed), exit).unwrap_err().to_string();
    insta::assert_snapshot!(shortfall(both, 101), @"the command ended with 101; a pass ends with 0");
    insta::assert_snapshot!(shortfall("test result: ok. 0 passed\ndone\n", 0), @r"no line of the output matched `test result: ok\. [1-9]`");
    insta::assert_snapshot!(shortfall("test result: ok. 1 passed\ndone.\n", 0), @"no line of the output matched `^done$`");
    insta::assert_snapshot!(shortfall("", 0), @r"no line of the output matched `test result: ok\. [1-9]`");
}

#[test]
fn several_exit_codes_may_pass() {
    let rule = rule(&step("commands = [['run']]\npasses = { exit = [5, 0] }"));
    assert!(!rule.passes().wants_output());
    assert_eq!(rule.passes().watch().finish(0), Ok(()));
    assert_eq!(rule.passes().watch().finish(5), Ok(()));
    let shortfall = rule.passes().watch().finish(1).unwrap_err();
    insta::assert_snapshot!(shortfall, @"the command ended with 1; a pass ends with 0 or 5");
}

#[test]
fn the_two_streams_do_not_mix_within_a_line() {
    let mixed: [(Stream, &[u8]); 3] =
        [(Stream::Out, b"3 pas"), (Stream::Err, b"oh\n"), (Stream::Out, b"sed\n")];
    assert_eq!(watched(&["^3 passed$"], &mixed, 0), Ok(()));
    let halves: [(Stream, &[u8]); 2] = [(Stream::Out, b"3 pas"), (Stream::Err, b"sed\n")];
    assert!(watched(&["3 passed"], &halves, 0).is_err());
    let unended: [(Stream, &[u8]); 2] = [(Stream::Out, b"one"), (Stream::Err, b"two")];
    assert_eq!(watched(&["^one$", "^two$"], &unended, 0), Ok(()));
}

#[test]
fn a_pattern_never_reaches_over_lines() {
    assert!(watched(&[r"(?s)3.passed"], &out("3\npassed\n"), 0).is_err());
    assert!(watched(&[r"3\spassed"], &out("3\r\npassed\n"), 0).is_err());
}

#[test]
fn colours_and_bytes_that_are_no_text_do_not_hide_a_line() {
    let coloured = "\x1b[1m\x1b[32m===\x1b[0m \x1b[38;5;2m3 \x1b[1mpassed\x1b[0m in 1s\x1b[K\n";
    assert_eq!(watched(&["^=== 3 passed in"], &out(coloured), 0), Ok(()));
    let bytes: [(Stream, &[u8]); 1] = [(Stream::Out, b"\xff\x00\xfe 3 passed \xc3\n")];
    assert_eq!(watched(&[" 3 passed "], &bytes, 0), Ok(()));
    assert!(
        watched(&["passed"], &out("\x1b[31\npassed"), 0).is_ok(),
        "a colour ends with its line"
    );
}

#[test]
fn of_a_long_line_the_first_part_is_looked_at_and_where_it_was_cut_is_no_end() {
    let long = format!("{}ok{}\n", "a".repeat(LINE_MAX - 2), "b".repeat(3 * LINE_MAX));
    assert_eq!(watched(&["aok"], &out(&long), 0), Ok(()));
    assert!(watched(&["ok$"], &out(&long), 0).is_err());
    assert!(watched(&["b"], &out(&long), 0).is_err());
    assert!(watched(&["^b"], &out(&long), 0).is_err());
    let whole = format!("{}ok\nb", "a".repeat(LINE_MAX - 2));
    assert_eq!(watched(&["ok$", "^b$"], &out(&whole), 0), Ok(()));
}

// What a file may not say.

#[test]
fn a_file_that_says_little_gets_the_defaults() {
    let policy = Policy::parse("version = 1").unwrap();
    assert_eq!(policy.namespace().as_str(), "local/default");
    assert_eq!(policy.steps().count(), 0);

    let rule = rule(&step(r#"commands = [["run"], ["run"]]"#));
    assert_eq!(rule.commands().len(), 1);
    assert_eq!(rule.subject(), SubjectKind::Git);
    assert_eq!(rule.fixed_subject(), None);
    assert_eq!(rule.lifetime(), None);
    assert_eq!(rule.passes().exit(), &BTreeSet::from([0]));
    assert!(rule.allow().is_empty() && rule.env().is_empty());
}

#[test]
fn a_file_that_says_everything_is_read_as_it_stands() {
    let policy = Policy::parse(
        r#"
version = 1
namespace = "team/api"
[steps."lint/all"]
commands = [["make", "lint"], ["just", "lint"]]
allow = ["-s", "--", ""]
env = ["CI", "RUSTC_WRAPPER", "PYTHONPATH", "NODE_OPTIONS", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"]
subject = "dir:src"
lifetime = "90s"
passes = { exit = [0, 2], output = ["done", '\d+ files'] }
"#,
    )
    .unwrap();
    assert_eq!(policy.namespace().as_str(), "team/api");
    let rule = policy.step(&StepName::new("lint/all").unwrap()).unwrap().command().unwrap();
    assert_eq!(rule.programs(), BTreeSet::from(["just", "make"]));
    assert_eq!(rule.commands()[1][0].as_str(), "just");
    assert_eq!((rule.allow().len(), rule.env().len()), (3, 5));
    assert_eq!(rule.subject(), SubjectKind::Dir);
    assert_eq!(rule.fixed_subject(), Some(&subject("dir:src")));
    assert_eq!(rule.lifetime(), Some(Duration::from_secs(90)));
    let patterns: Vec<_> = rule.passes().output().iter().map(Pattern::as_str).collect();
    assert_eq!(patterns, ["done", r"\d+ files"]);
    assert!(rule.passes().wants_output());
}

#[test]
fn every_example_of_the_format_page_is_a_policy() {
    let page = include_str!("../../../../docs/formats/policy.md");
    let examples: Vec<_> = page.split("```toml\n").skip(1).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let text = example.split("```").next().unwrap();
        if let Err(error) = Policy::parse(text) {
            panic!("{error}\n{text}");
        }
    }
}

#[test]
fn the_version_is_said_and_known() {
    insta::assert_snapshot!(messages([
        "",
        "[steps]",
        "version = 2",
        "version = \"1\"",
        "version = 1.0",
        "version = 99999999999999999999",
        "version = 0x1",
    ]), @"
    actum.toml:1:1: the file has no `version`; write `version = 1` at the top
    actum.toml:1:1: the file has no `version`; write `version = 1` at the top
    actum.toml:1:11: version 2 of the format is not known; this Actum reads version 1
    actum.toml:1:11: `version` is a text; write version = 1
    actum.toml:1:11: `version` is a number with a fraction; write version = 1
    actum.toml:1:11: version 99999999999999999999 of the format is not known; this Actum reads version 1
    accepted
    ");
}

#[test]
fn an_unknown_key_is_refused_with_the_known_key_it_resembles() {
    insta::assert_snapshot!(messages([
        "version = 1\n\n[steps.tests]\n  comands = [[\"x\"]]\n",
        "version = 1\nnamspace = \"a\"",
        "version = 1\nstep = 1",
        "version = 1\n[steps.t]\ncommands = [['x']]\npasses = { exits = [0] }",
        "version = 1\n[steps.t]\ncommands = [['x']]\nwhatever_this_is = 1",
        "version = 1\n[steps.a.b]\ncommands = [['x']]",
        "version = 1\n\"a\\nb\" = 1",
        "version = 1\n\"é\" = 1 # é\n",
        "zebra = 1\nversion = 1\napple = 1",
    ]), @"
    actum.toml:4:3: unknown key `comands` in step `tests`; did you mean `commands`?
    actum.toml:2:1: unknown key `namspace` in the file; did you mean `namespace`?
    actum.toml:2:1: unknown key `step` in the file; did you mean `steps`?
    actum.toml:4:12: unknown key `exits` in `passes` of step `t`; did you mean `exit`?
    actum.toml:4:1: unknown key `whatever_this_is` in step `t`; known are commands, allow, env, subject, lifetime, passes, tool, binds, all_of
    actum.toml:2:10: unknown key `b` in step `a`; known are commands, allow, env, subject, lifetime, passes, tool, binds, all_of
    actum.toml:2:1: unknown key `a�b` in the file; known are version, namespace, profile, steps, tools, channels, clients, servers
    actum.toml:2:1: unknown key `é` in the file; known are version, namespace, profile, steps, tools, channels, clients, servers
    actum.toml:1:1: unknown key `zebra` in the file; known are version, namespace, profile, steps, tools, channels, clients, servers
    ");
}

#[test]
fn what_is_not_toml_is_said_with_its_place() {
    insta::assert_snapshot!(messages([
        "version = 1\nversion = 1",
        "version = 1\n[steps.t]\n[steps.t]",
        "version = 1\n[steps.t]\nallow = []\nallow = []",
        "version = ",
        "version = 1\n[steps.t",
        "version = 1\nnamespace = \"abc",
        "\u{feff}version = 1",
    ]), @r#"
    actum.toml:2:1: duplicate key
    actum.toml:3:8: duplicate key
    actum.toml:4:1: duplicate key
    actum.toml:1:11: string values must be quoted, expected literal string
    actum.toml:2:9: unclosed table, expected `]`
    actum.toml:2:17: invalid basic string, expected `"`
    accepted
    "#);
}

#[test]
fn a_value_of_another_type_is_refused_with_what_to_write() {
    insta::assert_snapshot!(messages([
        "version = 1\nnamespace = 7",
        "version = 1\nsteps = []",
        "version = 1\n[[steps.t]]\ncommands = [['x']]",
        "version = 1\n[steps]\ntests = \"cargo test\"",
    ]), @"
    actum.toml:2:13: `namespace` is a number; write a text in quotes
    actum.toml:2:9: `steps` is a list; write a table for each step, such as [steps.tests]
    actum.toml:2:1: step `t` is a list; write a table, such as [steps.tests]
    actum.toml:3:9: step `tests` is a text; write a table, such as [steps.tests]
    ");
    insta::assert_snapshot!(step_messages([
        "commands = 'cargo test'",
        "commands = ['cargo', 'test']",
        "commands = [['cargo', 1]]",
        "commands = [['x']]\nallow = '--release'",
        "commands = [['x']]\nenv = { A = 'b' }",
        "commands = [['x']]\nsubject = ['git']",
        "commands = [['x']]\nlifetime = 24",
        "commands = [['x']]\nlifetime = 2027-03-01",
        "commands = [['x']]\npasses = true",
        "commands = [['x']]\npasses = { exit = 0 }",
        "commands = [['x']]\npasses = { exit = ['0'] }",
        "commands = [['x']]\npasses = { output = 'ok' }",
    ]), @r#"
    actum.toml:3:12: `commands` of step `t` is a text; write a list of commands, each a list of words, such as [["cargo", "test"]]
    actum.toml:3:13: a command in `commands` of step `t` is a text; write a list of commands, each a list of words, such as [["cargo", "test"]]
    actum.toml:3:23: a word of a command in `commands` of step `t` is a number; write a text in quotes
    actum.toml:4:9: `allow` of step `t` is a text; write a list of arguments, such as ["--release"]
    actum.toml:4:7: `env` of step `t` is a table; write a list of names, such as ["RUSTFLAGS"]
    actum.toml:4:11: `subject` of step `t` is a list; write a text in quotes
    actum.toml:4:12: `lifetime` of step `t` is a number; write a text in quotes
    actum.toml:4:12: `lifetime` of step `t` is a date; write a text in quotes
    actum.toml:4:10: `passes` of step `t` is true or false; write a table, such as { exit = [0], output = ["passed"] }
    actum.toml:4:19: `exit` in `passes` of step `t` is a number; write a list of numbers, such as [0]
    actum.toml:4:20: a code in `exit` in `passes` of step `t` is a text; write a number, such as 0
    actum.toml:4:21: `output` in `passes` of step `t` is a text; write a list of patterns, such as ["[1-9][0-9]* passed"]
    "#);
}

#[test]
fn names_and_commands_are_there_and_hold() {
    insta::assert_snapshot!(messages([
        "version = 1\nnamespace = \"\"",
        "version = 1\nnamespace = \"my team\"",
        "version = 1\n[steps.\"my tests\"]\ncommands = [['x']]",
        "version = 1\n[steps.\"\"]\ncommands = [['x']]",
        "version = 1\n[steps.t]",
    ]), @r#"
    actum.toml:2:13: the namespace is empty
    actum.toml:2:13: the namespace holds ' '; letters, digits and _ - . / : @ may stand there
    actum.toml:2:8: the step holds ' '; letters, digits and _ - . / : @ may stand there
    actum.toml:2:8: the step is empty
    actum.toml:2:8: step `t` has no `commands`; write commands = [["program", "argument"]], or `tool`, or `all_of`
    "#);
    insta::assert_snapshot!(step_messages([
        "commands = []",
        "commands = [[]]",
        "commands = [['x'], []]",
        "commands = [['']]",
        "commands = [[\"a\\u0000b\"]]",
        "commands = [['x']]\nallow = ['*']",
        "commands = [['x']]\nallow = ['{subject}']",
        "commands = [['x']]\nallow = [\"\\u0000\"]",
        "commands = [['x']]\nsubject = 'fil'",
        "commands = [['x']]\nsubject = 'repository'",
    ]), @"
    actum.toml:3:12: `commands` of step `t` is empty
    actum.toml:3:13: a command in `commands` of step `t` is empty
    actum.toml:3:20: a command in `commands` of step `t` is empty
    actum.toml:3:14: the program of a command in `commands` of step `t` is empty
    actum.toml:3:14: a word of a command in `commands` of step `t` holds a NUL
    actum.toml:4:10: `*` and `{subject}` have no meaning in `allow`: each further argument is listed word for word
    actum.toml:4:10: `*` and `{subject}` have no meaning in `allow`: each further argument is listed word for word
    actum.toml:4:10: an argument in `allow` of step `t` holds a NUL
    actum.toml:4:11: `subject` of step `t` is `fil`; did you mean `file`?
    actum.toml:4:11: `subject` of step `t` is `repository`; known are git, file, dir, text
    ");
}

#[test]
fn a_lifetime_is_a_whole_number_and_a_unit_within_its_limits() {
    for (text, seconds) in [
        ("1s", 1),
        ("90s", 90),
        ("30m", 1800),
        ("24h", 86_400),
        ("7d", 604_800),
        ("3650d", 315_360_000),
    ] {
        let rule = rule(&step(&format!("commands = [['x']]\nlifetime = '{text}'")));
        assert_eq!(rule.lifetime(), Some(Duration::from_secs(seconds)), "{text}");
    }
    insta::assert_snapshot!(step_messages([
        "commands = [['x']]\nlifetime = ''",
        "commands = [['x']]\nlifetime = 'h'",
        "commands = [['x']]\nlifetime = '24'",
        "commands = [['x']]\nlifetime = '24 h'",
        "commands = [['x']]\nlifetime = '+24h'",
        "commands = [['x']]\nlifetime = '1.5h'",
        "commands = [['x']]\nlifetime = '1d12h'",
        "commands = [['x']]\nlifetime = '2w'",
        "commands = [['x']]\nlifetime = '24H'",
        "commands = [['x']]\nlifetime = '٣h'",
        "commands = [['x']]\nlifetime = '0s'",
        "commands = [['x']]\nlifetime = '3651d'",
        "commands = [['x']]\nlifetime = '99999999999999999999d'",
        "commands = [['x']]\nlifetime = '18446744073709551615d'",
    ]), @"
    actum.toml:4:12: `` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `24` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `24 h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `+24h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `1.5h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `1d12h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `2w` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `24H` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: `٣h` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    actum.toml:4:12: a lifetime of `0s` is outside the limits, 1s to 3650d
    actum.toml:4:12: a lifetime of `3651d` is outside the limits, 1s to 3650d
    actum.toml:4:12: a lifetime of `99999999999999999999d` is outside the limits, 1s to 3650d
    actum.toml:4:12: a lifetime of `18446744073709551615d` is outside the limits, 1s to 3650d
    ");
}

#[test]
fn a_pattern_compiles_and_says_something() {
    insta::assert_snapshot!(step_messages([
        "commands = [['x']]\npasses = { output = [''] }",
        "commands = [['x']]\npasses = { output = ['(passed'] }",
        "commands = [['x']]\npasses = { output = ['(?i)passed'] }",
        "commands = [['x']]\npasses = { output = ['(?i-u)passed'] }",
        r"commands = [['x']]
passes = { output = ['\w{900}'] }",
        "commands = [['x']]\npasses = { output = ['.*'] }",
        "commands = [['x']]\npasses = { output = ['passed|'] }",
        "commands = [['x']]\npasses = { output = ['^'] }",
        "commands = [['x']]\npasses = { output = ['.'] }",
        "commands = [['x']]\npasses = { exit = [] }",
        "commands = [['x']]\npasses = { exit = [0, 256] }",
        "commands = [['x']]\npasses = { exit = [-1] }",
        "commands = [['x']]\npasses = { exit = [99999999999999999999] }",
    ]), @r"
    actum.toml:4:22: a pattern in `output` in `passes` of step `t` is empty
    actum.toml:4:22: the pattern `(passed` cannot be used: unclosed group
    accepted
    accepted
    actum.toml:4:22: the pattern `\w{900}` cannot be used: compiled, it is over 262144 bytes; [a-z] is smaller than \w
    actum.toml:4:22: the pattern `.*` matches any line, so it proves nothing
    actum.toml:4:22: the pattern `passed|` matches any line, so it proves nothing
    actum.toml:4:22: the pattern `^` matches any line, so it proves nothing
    actum.toml:4:22: the pattern `.` matches any line, so it proves nothing
    actum.toml:4:19: `exit` in `passes` of step `t` is empty
    actum.toml:4:23: 256 is not an exit code; they go from 0 to 255
    actum.toml:4:20: -1 is not an exit code; they go from 0 to 255
    actum.toml:4:20: 99999999999999999999 is not an exit code; they go from 0 to 255
    ");
}

#[test]
fn a_variable_that_changes_what_runs_is_refused() {
    insta::assert_snapshot!(step_messages([
        "commands = [['x']]\nenv = ['PATH']",
        "commands = [['x']]\nenv = ['Path']",
        "commands = [['x']]\nenv = ['CI', 'LD_PRELOAD']",
        "commands = [['x']]\nenv = ['LD_LIBRARY_PATH']",
        "commands = [['x']]\nenv = ['DYLD_INSERT_LIBRARIES']",
        "commands = [['x']]\nenv = ['BASH_ENV']",
        "commands = [['x']]\nenv = ['BASH_FUNC_cargo%%']",
        "commands = [['x']]\nenv = ['GLIBC_TUNABLES']",
        "commands = [['x']]\nenv = ['']",
        "commands = [['x']]\nenv = ['A=b']",
        "commands = [['x']]\nenv = ['A B']",
    ]), @"
    actum.toml:4:8: `PATH` cannot be passed on: it changes which program a name stands for, so the command would no longer say what ran
    actum.toml:4:8: `Path` cannot be passed on: it changes which program a name stands for, so the command would no longer say what ran
    actum.toml:4:14: `LD_PRELOAD` cannot be passed on: it changes which libraries are loaded, so the command would no longer say what ran
    actum.toml:4:8: `LD_LIBRARY_PATH` cannot be passed on: it changes which libraries are loaded, so the command would no longer say what ran
    actum.toml:4:8: `DYLD_INSERT_LIBRARIES` cannot be passed on: it changes which libraries are loaded, so the command would no longer say what ran
    actum.toml:4:8: `BASH_ENV` cannot be passed on: it changes what every shell runs or how it reads its commands, so the command would no longer say what ran
    actum.toml:4:8: `BASH_FUNC_cargo%%` cannot be passed on: it changes what every shell runs or how it reads its commands, so the command would no longer say what ran
    actum.toml:4:8: `GLIBC_TUNABLES` cannot be passed on: it changes which libraries are loaded, so the command would no longer say what ran
    actum.toml:4:8: `` is not the name of a variable: it is empty, or holds `=`, white space or a control character
    actum.toml:4:8: `A=b` is not the name of a variable: it is empty, or holds `=`, white space or a control character
    actum.toml:4:8: `A B` is not the name of a variable: it is empty, or holds `=`, white space or a control character
    ");
}

#[test]
fn every_limit_is_met_exactly() {
    let list = |count: usize, item: &dyn Fn(usize) -> String| {
        format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(","))
    };
    let words = |count| format!("commands = [{}]", list(count, &|_| "'x'".to_owned()));
    let commands = |count| format!("commands = {}", list(count, &|index| format!("['x{index}']")));
    let with = |key: &str, count, length: usize| {
        let list = list(count, &|index| format!("'x{index:0>0$}'", length - 1));
        format!("commands = [['x']]\n{key} = {list}")
    };
    let output = |count, length| with("passes.output", count, length);
    for (inside, outside) in [
        (words(ELEMENTS_MAX), words(ELEMENTS_MAX + 1)),
        (commands(64), commands(65)),
        (with("allow", 256, 9), with("allow", 257, 9)),
        (with("allow", 1, 4096), with("allow", 1, 4097)),
        (with("env", 256, 9), with("env", 257, 9)),
        (with("env", 1, 256), with("env", 1, 257)),
        (output(64, 9), output(65, 9)),
        (output(1, PATTERN_MAX), output(1, PATTERN_MAX + 1)),
    ] {
        assert_eq!(step_messages([&inside]), "accepted\n");
        assert!(
            step_messages([&outside]).contains("the limit is"),
            "{}",
            step_messages([&outside])
        );
    }
    let steps = |count: usize, keys: &str| {
        let step = |index| format!("[steps.s{index}]\ncommands = [['x']]\n{keys}\n");
        format!("version = 1\n{}", (0..count).map(step).collect::<Vec<_>>().concat())
    };
    let patterns = format!("passes.output = {}", list(64, &|index| format!("'x{index}'")));
    let filled = |length: usize| format!("version = 1\n#{}", " ".repeat(length - 13));
    insta::assert_snapshot!(messages([
        &steps(STEPS_MAX, ""),
        &steps(STEPS_MAX + 1, ""),
        &steps(8, &patterns),
        &steps(9, &patterns),
        &filled(FILE_MAX),
        &filled(FILE_MAX + 1),
    ]), @"
    accepted
    actum.toml:2:2: `steps`: there are 257; the limit is 256
    accepted
    actum.toml:26:8: patterns of all steps: there are 576; the limit is 512
    accepted
    actum.toml:1:1: the file has 262145 bytes; the limit is 262144
    ");
}

// What the digest covers.

fn program(name: &str, path: &str, content: &str) -> Program {
    Program { name: name.into(), path: path.into(), digest: Digest::plain(content.as_bytes()) }
}

#[test]
fn another_binary_is_another_rule() {
    let rule = rule(TESTS);
    let cargo = program("cargo", "/usr/bin/cargo", "1");
    let digest = rule.digest(std::slice::from_ref(&cargo));
    assert_ne!(digest, rule.digest(&[]));
    assert_ne!(digest, rule.digest(&[program("cargo", "/tmp/cargo", "1")]));
    assert_ne!(digest, rule.digest(&[program("cargo", "/usr/bin/cargo", "2")]));
    assert_eq!(digest, rule.digest(&[program("npm", "/usr/bin/npm", "1"), cargo.clone(), cargo]));
}

#[test]
fn a_digest_is_the_same_tomorrow() {
    // A changed digest voids all evidence there is: if this line changes, the domain changes with it.
    let rule = rule(TESTS);
    let digest = rule.digest(&[program("cargo", "/usr/bin/cargo", "1")]);
    insta::assert_snapshot!(digest, @"3d55d6f9b8dd0fa3bc7b263fdf718e4178ce6fcf330a998667a222a0b965c56d");
}

#[test]
fn another_way_to_say_what_it_is_on_is_another_rule() {
    let digests = [
        "commands = [['look', '{subject}']]\nsubject = 'file:a'",
        "commands = [['look', '*']]\nsubject = 'file:a'",
        "commands = [['look', 'a']]\nsubject = 'file:a'",
        "commands = [['look', 'a']]\nsubject = 'file:b'",
        "commands = [['look', 'a']]\nsubject = 'dir:a'",
        "commands = [['look', 'a']]\nsubject = 'text:a'",
        "commands = [['look', '{subject}']]\nsubject = 'file'",
        "commands = [['look', '{subject}']]\nsubject = 'dir'",
        "commands = [['look', '{subject}']]",
        "commands = [['look', '*']]",
    ]
    .map(|keys| rule(&step(keys)).digest(&[]));
    assert_eq!(digests.iter().collect::<BTreeSet<_>>().len(), digests.len());

    let digest =
        |name| rule(&step(&format!("commands = [['look']]\nsubject = '{name}'"))).digest(&[]);
    assert_eq!(digest("dir:src"), digest("dir:./src/"), "the same folder");
    assert_eq!(digest("git"), digest("git:HEAD"), "there is one work tree");
}

#[test]
fn another_step_or_a_comment_leaves_a_digest_alone() {
    let edited = format!("# note\n{TESTS}\n[steps.lint]\ncommands = [['x']]\n");
    let tests = Policy::parse(&edited).unwrap();
    let tests = tests.step(&StepName::new("tests").unwrap()).unwrap().command().unwrap();
    assert_eq!(tests.digest(&[]), rule(TESTS).digest(&[]));
}

/// A rule as sets: two of these are equal exactly when the rules mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spec {
    commands: BTreeSet<Vec<String>>,
    allow: BTreeSet<String>,
    env: BTreeSet<String>,
    subject: SubjectKind,
    /// The one subject, without its kind.
    fixed: Option<String>,
    lifetime: Option<u32>,
    exit: BTreeSet<u8>,
    output: BTreeSet<String>,
    programs: BTreeSet<Program>,
}

impl Spec {
    fn subject_text(&self) -> String {
        let kind = self.subject.word();
        self.fixed.as_ref().map_or_else(|| kind.to_owned(), |name| format!("{kind}:{name}"))
    }

    /// Makes a policy of it: a name fits its kind, and without one a command on any such thing says `{subject}`.
    fn settled(mut self) -> Self {
        if self.subject == SubjectKind::Git {
            self.fixed = None;
        } else if self.fixed.is_none() {
            let bound = |mut command: Vec<String>| {
                if !command.iter().any(|word| word == SUBJECT) {
                    command.push(SUBJECT.to_owned());
                }
                command
            };
            self.commands = self.commands.into_iter().map(bound).collect();
        }
        if self.commands.iter().all(|command| command[0] != "p") {
            self.programs.clear();
        }
        self
    }

    /// Writes the file, each list in the order that `order` gives.
    fn text(&self, order: fn(Vec<String>) -> Vec<String>) -> String {
        let list = |items: Vec<String>| format!("[{}]", order(items).join(", "));
        let quoted = |set: &BTreeSet<String>| list(set.iter().map(|word| quote(word)).collect());
        let command = |words: &Vec<String>| {
            let words: Vec<_> = words.iter().map(|word| quote(word)).collect();
            format!("[{}]", words.join(", "))
        };
        let mut keys = format!(
            "commands = {}\nallow = {}\nenv = {}\nsubject = '{}'\npasses = {{ exit = {}, output = {} }}\n",
            list(self.commands.iter().map(command).collect()),
            quoted(&self.allow),
            quoted(&self.env),
            self.subject_text(),
            list(self.exit.iter().map(u8::to_string).collect()),
            quoted(&self.output),
        );
        if let Some(seconds) = self.lifetime {
            writeln!(keys, "lifetime = '{seconds}s'").unwrap();
        }
        step(&keys)
    }

    fn digest(&self, order: fn(Vec<String>) -> Vec<String>) -> Digest {
        let programs: Vec<_> = self.programs.iter().cloned().collect();
        rule(&self.text(order)).digest(&programs)
    }
}

fn quote(word: &str) -> String {
    format!("{word:?}")
}

fn reversed(mut items: Vec<String>) -> Vec<String> {
    items.reverse();
    items
}

fn doubled(items: Vec<String>) -> Vec<String> {
    [items.clone(), items].concat()
}

fn word() -> impl Strategy<Value = String> {
    // Few letters, so that words and their joins collide when something is not framed.
    "[ab-]{1,3}"
}

const SUBJECT: &str = "{subject}";

/// A word of a command: also the two that stand for others.
fn element() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => word(),
        1 => Just("*".to_owned()),
        2 => Just(SUBJECT.to_owned()),
    ]
}

/// The name of a subject, without its kind: some are the words of commands, and some read as options.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ab-]{1,2}", 1 => Just(SUBJECT.to_owned())]
}

fn spec() -> impl Strategy<Value = Spec> {
    let set = || prop::collection::btree_set(word(), 0..3);
    let command = (prop::sample::select(vec!["p", "q"]), prop::collection::vec(element(), 0..3));
    let command = command.prop_map(|(program, mut words)| {
        words.insert(0, program.to_owned());
        words
    });
    let commands = prop::collection::btree_set(command, 1..3);
    let kinds = vec![SubjectKind::Git, SubjectKind::File, SubjectKind::Dir, SubjectKind::Text];
    let exit = prop::collection::btree_set(0..3_u8, 1..3);
    let program = (word(), word()).prop_map(|(path, content)| program("p", &path, &content));
    let programs = prop::collection::btree_set(program, 0..2);
    let subject = (prop::sample::select(kinds), prop::option::of(name()));
    let lifetime = prop::option::of(1..3_u32);
    (commands, set(), set(), subject, lifetime, exit, set(), programs).prop_map(
        |(commands, allow, env, (subject, fixed), lifetime, exit, output, programs)| {
            Spec { commands, allow, env, subject, fixed, lifetime, exit, output, programs }
                .settled()
        },
    )
}

/// A spec and the same with one field taken from another, so that pairs are near each other and often equal.
fn near_pair() -> impl Strategy<Value = (Spec, Spec)> {
    (spec(), spec(), 0..11).prop_map(|(one, other, field)| {
        let mut near = one.clone();
        match field {
            0 => near.commands = other.commands,
            1 => near.allow = other.allow,
            2 => near.env = other.env,
            3 => near.subject = other.subject,
            4 => near.lifetime = other.lifetime,
            5 => near.exit = other.exit,
            6 => near.output = other.output,
            7 => near.allow = near.env.clone(),
            8 => near.fixed = other.fixed,
            9 => {
                let swapped = |word: &String| match word.as_str() {
                    "*" => SUBJECT.to_owned(),
                    SUBJECT => "*".to_owned(),
                    _ => word.clone(),
                };
                let swapped = |command: &Vec<String>| command.iter().map(swapped).collect();
                near.commands = near.commands.iter().map(swapped).collect();
            }
            _ => near = other,
        }
        (one, near.settled())
    })
}

/// By definition, without the rule's own code: the commands with every word that may stand for another written out.
fn admitted_by_definition(spec: &Spec, argv: &[String], kind: SubjectKind, name: &str) -> bool {
    if kind != spec.subject || spec.fixed.as_ref().is_some_and(|fixed| fixed != name) {
        return false;
    }
    let stands_for = |element: &str, word: &str| {
        let option = word.starts_with('-');
        word == element && element != "*" && element != SUBJECT
            || element == "*" && !word.is_empty() && !option
            || element == SUBJECT && word == name && !option
    };
    (0..=argv.len()).any(|cut| {
        let (words, further) = argv.split_at(cut);
        let is = |command: &Vec<String>| {
            command.len() == cut && command.iter().zip(words).all(|(e, word)| stands_for(e, word))
        };
        spec.commands.iter().any(is) && further.iter().all(|word| spec.allow.contains(word))
    })
}

/// A run of one of the rule's commands, with some words changed, so that most are admitted or nearly so.
fn nearly(spec: &Spec, pick: usize, words: &[String], name: &str) -> Vec<String> {
    let command = spec.commands.iter().nth(pick % spec.commands.len()).expect("there is one");
    let mut argv = command.clone();
    for (at, word) in argv.iter_mut().enumerate() {
        match word.as_str() {
            SUBJECT => *word = name.to_owned(),
            "*" => word.clone_from(&words[at % words.len()]),
            _ => {}
        }
    }
    argv.extend(spec.allow.iter().take(pick % 3).cloned());
    argv
}

proptest! {
    #[test]
    fn the_digest_differs_exactly_where_the_meaning_does((one, other) in near_pair()) {
        let as_is = |items| items;
        prop_assert_eq!(one == other, one.digest(as_is) == other.digest(as_is));
        prop_assert_eq!(one.digest(as_is), one.digest(reversed));
        prop_assert_eq!(one.digest(as_is), one.digest(doubled));
    }

    #[test]
    fn a_rule_admits_what_its_definition_says(
        spec in spec(),
        pick in 0..6_usize,
        words in prop::collection::vec(prop_oneof![word(), name()], 1..4),
        said in name(),
        other in prop::option::weighted(0.5, (0..4_usize, name())),
    ) {
        let kinds = [SubjectKind::Git, SubjectKind::File, SubjectKind::Dir, SubjectKind::Text];
        // The run is on the subject that the command says, or on another.
        let said = spec.fixed.clone().unwrap_or(said);
        let argv = nearly(&spec, pick, &words, &said);
        let (kind, name) = other.map_or((spec.subject, said), |(kind, name)| (kinds[kind], name));
        let name = if kind == SubjectKind::Git { "HEAD".to_owned() } else { name };
        let on = subject(&format!("{}:{name}", kind.word()));
        prop_assert_eq!(on.rest(), name.as_str());

        let rule = rule(&spec.text(|items| items));
        let admits = rule.admits(&argv, &on);
        prop_assert_eq!(admits, admitted_by_definition(&spec, &argv, kind, &name));
        // What is recorded for a thing was run on it: the policy names it, or the run does.
        let named = spec.fixed.as_ref() == Some(&name) || argv.contains(&name);
        prop_assert!(!admits || kind == SubjectKind::Git || named);
    }

    #[test]
    fn output_means_the_same_however_it_is_cut(
        bytes in prop::collection::vec(prop::sample::select(b"ok\n\r\x1b[1m \xff".to_vec()), 0..64),
        cuts in prop::collection::vec(0..64_usize, 0..8),
    ) {
        let whole = watched(&["ok$"], &[(Stream::Out, &bytes)], 0);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let fed: Vec<_> = cuts.windows(2).map(|at| (Stream::Out, &bytes[at[0]..at[1]])).collect();
        prop_assert_eq!(watched(&["ok$"], &fed, 0), whole);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        parse_never_panics(text.as_bytes());
    }

    #[test]
    fn almost_a_policy_is_read_or_refused(
        cut in 0..400_usize,
        removed in 0..40_usize,
        inserted in "[\\[\\]{}=.,\"'*#a1é\n\\\\]{0,6}",
    ) {
        let mut bytes = ALMOST.as_bytes().to_vec();
        let from = cut.min(bytes.len());
        let to = (from + removed).min(bytes.len());
        bytes.splice(from..to, inserted.bytes());
        parse_never_panics(&bytes);
    }
}

const ALMOST: &str = r#"version = 1
namespace = "team/api"
[steps.tests]
commands = [["cargo", "test"], ["./check", "*"]]
allow = ["--workspace"]
env = ["RUSTFLAGS"]
subject = "git"
lifetime = "24h"
passes = { exit = [0], output = ['test result: ok\. [1-9]'] }
"#;

/// The body of a fuzz target: any bytes are read or refused in one line, at a place within the text, twice the same.
fn parse_never_panics(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = Policy::parse(text) {
        let message = error.to_string();
        assert!(!message.contains(char::is_control), "{message:?}");
        assert!(error.line() <= text.matches('\n').count() + 1, "{message}");
        assert!(error.column() >= 1);
        assert_eq!(Policy::parse(text).unwrap_err(), error);
    }
}

//! The policy on tools, channels and the steps that are no commands: what is read, what is refused and in which words, what
//! the digests cover, and which line of the channel table counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use actum_core::policy::{
    ARGUMENTS_MAX, Binding, CHANNELS_MAX, ChannelFrom, Fetch, Mode, NESTING_MAX, OnMissing,
    PARTS_MAX, Policy, Profile, Program, REQUIRES_MAX, SCOPE_MAX, Step, TOOLS_MAX, ToolClass,
    ToolResult, ToolRule, ValueKind,
};
use actum_core::{
    ArgumentName, AuthorName, Authority, CHANNEL_MAX, ChannelName, Digest, FREE_NAME_MAX, StepName,
    ToolName,
};
use proptest::prelude::*;

/// Section 8 of the design, completed by what its `verify` names.
const WHOLE: &str = r#"
version = 1
namespace = "local/default"
profile = "strict"

[steps.tests]
commands = [["cargo", "test"], ["cargo", "nextest", "run"]]
allow    = ["--workspace", "--release"]
env      = ["RUSTFLAGS"]
subject  = "git"
lifetime = "24h"
passes   = { exit = [0], output = ["test result: ok\\. [1-9]"] }

[steps.validate_source]
tool = "clinic/validate_source"
subject = "args.source"
binds = "args.content"

[steps.verify_payee]
tool = "registry/lookup"
subject = "args.payee"
binds = "args.name"
lifetime = "1h"

[tools."registry/lookup"]
class = "read"
result = "origin"

[tools."clinic/insert_record"]
class = "effect"
binding = ["source", "payee"]
outgoing = ["body"]
kinds = { payee = "account", url = "url", to = "email", path = "path", amount = "number" }
requires = [{ step = "validate_source", subject = "source", binds = "content" }]
verify = { payee = { step = "verify_payee", with = ["payee", "name"] } }
mode = "argument"
result = "relay"
on_missing = "deny"

[channels."mcp:bank"]
authority = "Approved"
until = 2027-03-01
"#;

fn read(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn message(text: &str) -> String {
    Policy::parse(text).map_or_else(|error| error.to_string(), |_| "accepted".into())
}

/// Each text's message in a line of its own; the texts come after `version = 1`, on the second line.
fn messages<const N: usize>(texts: [&str; N]) -> String {
    texts.into_iter().fold(String::new(), |mut all, text| {
        writeln!(all, "{}", message(&format!("version = 1\n{text}"))).unwrap();
        all
    })
}

/// As [`messages`], for the keys of one tool, beside a few steps.
fn tool_messages<const N: usize>(keys: [&str; N]) -> String {
    let texts = keys.map(|keys| format!("[tools.t]\n{keys}\n{STEPS}"));
    messages(texts.each_ref().map(String::as_str))
}

/// As [`messages`], for the keys of one channel.
fn channel_messages<const N: usize>(lines: [(&str, &str); N]) -> String {
    let texts = lines.map(|(channel, keys)| format!("[channels.'{channel}']\n{keys}"));
    messages(texts.each_ref().map(String::as_str))
}

const STEPS: &str = r#"
[steps.tests]
commands = [["cargo", "test"]]
[steps.scan]
commands = [["./scan", "{subject}"]]
subject = "file"
[steps.scan_src]
commands = [["./scan", "src"]]
subject = "dir:src"
[steps.validate]
tool = "validate"
subject = "args.source"
binds = "args.content"
[steps.lookup]
tool = "registry"
subject = "args.payee"
[steps.rumour]
tool = "forum"
subject = "args.payee"
[steps.by_name]
tool = "registry"
subject = "args.name"
[steps.pair]
tool = "registry"
subject = "args.payee"
binds = "args.name"
[steps.both]
all_of = ["lookup", "rumour"]
[tools.registry]
class = "read"
result = "origin"
[tools.forum]
class = "fetch"
"#;

fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

fn step(name: &str) -> StepName {
    StepName::new(name).unwrap()
}

fn argument(name: &str) -> ArgumentName {
    ArgumentName::new(name).unwrap()
}

fn channel(name: &str) -> ChannelName {
    ChannelName::new(name).unwrap()
}

// What is read.

#[test]
fn the_example_of_the_design_is_read_whole() {
    let policy = read(WHOLE);
    assert_eq!(policy.profile(), Profile::Strict);
    assert_eq!((policy.steps().count(), policy.commands().count()), (3, 1));
    let Some(Step::Tool(validate)) = policy.step(&step("validate_source")) else {
        panic!("a tool step")
    };
    assert_eq!(validate.tool().as_str(), "clinic/validate_source");
    assert_eq!(validate.subject().as_str(), "source");
    assert_eq!(validate.binds().unwrap().as_str(), "content");
    assert_eq!(validate.lifetime(), None);

    let rule = policy.tool(&tool("clinic/insert_record"));
    assert!(rule.listed());
    assert_eq!(rule.class(), ToolClass::Effect);
    assert!(rule.binding().binds(&argument("payee")) && !rule.binding().binds(&argument("body")));
    assert_eq!(rule.outgoing(), &BTreeSet::from([argument("body")]));
    assert_eq!(rule.kind(&argument("payee")), ValueKind::Account);
    assert_eq!(rule.kind(&argument("source")), ValueKind::Text);
    let requirement = rule.requires().first().unwrap();
    assert_eq!(requirement.step(), &step("validate_source"));
    assert_eq!(requirement.subject(), Some(&argument("source")));
    assert_eq!(requirement.binds(), Some(&argument("content")));
    let verification = &rule.verify()[&argument("payee")];
    assert_eq!(verification.step(), &step("verify_payee"));
    assert_eq!(verification.with(), &BTreeSet::from([argument("payee"), argument("name")]));
    assert_eq!((rule.mode(), rule.result()), (Mode::Argument, ToolResult::Relay));
    assert_eq!((rule.on_missing(), rule.fetch()), (OnMissing::Deny, Fetch::Judged));
}

#[test]
fn what_the_design_leaves_out_of_its_example_is_missed() {
    let cut = |from: &str, to: &str| {
        let (before, rest) = WHOLE.split_once(from).unwrap();
        format!("{before}{to}{}", rest.split_once("\n\n").unwrap().1)
    };
    insta::assert_snapshot!(message(&cut("[steps.verify_payee]", "")), @"actum.toml:29:20: `verify` of tool `clinic/insert_record` names the step `verify_payee`, which is not there");
    insta::assert_snapshot!(message(&cut("[tools.\"registry/lookup\"]", "")), @r#"actum.toml:31:20: `verify` of tool `clinic/insert_record`: `verify_payee` is performed by `registry/lookup`, which is no origin: what it says may be what somebody else wrote; if the tool itself vouches for it, write result = "origin" in [tools."registry/lookup"]"#);
    insta::assert_snapshot!(message(&WHOLE.replace(r#"["source", "payee"]"#, r#"["source"]"#)), @"actum.toml:35:12: `payee` in `verify` of tool `clinic/insert_record`: it does not bind, so its value needs no verification; list it in `binding`");
}

#[test]
fn an_effect_and_a_fetch_bind_every_argument_unless_they_say_which() {
    let policy = read(
        "version = 1\n[tools.e]\nclass = 'effect'\n[tools.f]\nclass = 'fetch'\nfetch = 'verbatim'\n[tools.r]\nclass = 'read'",
    );
    assert_eq!(policy.tool(&tool("e")).binding(), &Binding::All);
    assert_eq!(policy.tool(&tool("f")).binding(), &Binding::All);
    assert_eq!(policy.tool(&tool("f")).fetch(), Fetch::Verbatim);
    assert_eq!(policy.tool(&tool("r")).binding(), &Binding::Only(BTreeSet::new()));
    assert_eq!(policy.profile(), Profile::Default);
}

#[test]
fn several_steps_are_one_step_by_name() {
    let policy = read(
        "version = 1\n[steps.unit]\ncommands = [['u']]\n[steps.lint]\ncommands = [['l']]\n[steps.all]\nall_of = ['unit', 'lint']\n[steps.release]\nall_of = ['all']",
    );
    let Some(Step::AllOf(all)) = policy.step(&step("all")) else { panic!("several steps") };
    assert_eq!(all.parts(), &BTreeSet::from([step("lint"), step("unit")]));
    assert!(policy.step(&step("all")).unwrap().command().is_none());
}

// What is refused.

#[test]
fn a_profile_is_one_of_two() {
    insta::assert_snapshot!(messages([
        "profile = 'default'",
        "profile = 'strct'",
        "profile = 'none'",
        "profile = true",
    ]), @"
    accepted
    actum.toml:2:11: `profile` is `strct`; did you mean `strict`?
    actum.toml:2:11: `profile` is `none`; known are default, strict
    actum.toml:2:11: `profile` is true or false; write a text in quotes
    ");
}

#[test]
fn a_step_is_exactly_one_thing() {
    insta::assert_snapshot!(messages([
        "[steps.t]\nsubject = 'git'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\ncommands = [['x']]",
        "[steps.t]\nall_of = ['a']\ntool = 'x'",
        "[steps.t]\nany_of = ['a']",
        "[steps.t]\ncommands = [['x']]\nbinds = 'args.a'",
        "[steps.t]\ncommands = [['x']]\nsubject = 'args.a'",
        "[steps.t]\ntool = 'x'",
        "[steps.t]\ntool = 'x'\nsubject = 'git'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.'",
        "[steps.t]\ntool = 'x'\nsubject = 'args. a'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\nbinds = 'a'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\nbinds = 'args.a'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\npasses = { exit = [0] }",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\nallow = []",
        "[steps.t]\ntool = 'x '\nsubject = 'args.a'",
        "[steps.t]\ntool = ''\nsubject = 'args.a'",
        "[steps.t]\ntool = \"a\\u0007b\"\nsubject = 'args.a'",
        "[steps.t]\ntool = 'x'\nsubject = 'args.a'\nlifetime = 'soon'",
    ]), @r#"
    actum.toml:2:8: step `t` has no `commands`; write commands = [["program", "argument"]], or `tool`, or `all_of`
    actum.toml:5:1: step `t` has `tool` and `commands`; a step is exactly one of `commands`, `tool` and `all_of`
    actum.toml:4:1: step `t` has `all_of` and `tool`; a step is exactly one of `commands`, `tool` and `all_of`
    actum.toml:3:1: unknown key `any_of` in step `t`; did you mean `all_of`?
    actum.toml:4:1: `binds` has no meaning in step `t`: a command has no arguments by name
    actum.toml:4:11: `subject` of step `t`: only a step with `tool` has arguments
    actum.toml:2:8: step `t` has no `subject`; write subject = "args.NAME", the argument that names it
    actum.toml:4:11: `subject` of step `t` is `git`; a step with `tool` names an argument, such as "args.source"
    actum.toml:4:11: the argument is empty
    actum.toml:4:11: the argument holds ' '; no white space may stand at either end
    actum.toml:5:9: `binds` of step `t` is `a`; a step with `tool` names an argument, such as "args.source"
    actum.toml:5:9: `binds` of step `t`: it is the subject already; leave it out
    actum.toml:5:1: `passes` has no meaning in step `t`: it is for commands, and this step is a tool
    actum.toml:5:1: `allow` has no meaning in step `t`: it is for commands, and this step is a tool
    actum.toml:3:8: the tool holds ' '; no white space may stand at either end
    actum.toml:3:8: the tool is empty
    actum.toml:3:8: the tool holds '\u{7}'; control characters may not stand there
    actum.toml:5:12: `soon` is not a lifetime; write a whole number and s, m, h or d, such as 24h
    "#);
}

#[test]
fn the_parts_of_a_step_are_there_and_fit_one_subject() {
    insta::assert_snapshot!(messages([
        "[steps.t]\nall_of = []",
        "[steps.t]\nall_of = 'unit'",
        "[steps.t]\nall_of = ['t']",
        "[steps.unit]\ncommands = [['x']]\n[steps.t]\nall_of = ['unit', 'unit']",
        "[steps.unit]\ncommands = [['x']]\n[steps.t]\nall_of = ['unti']",
        "[steps.t]\nall_of = ['lint']",
        "[steps.t]\nall_of = ['unit']\nlifetime = '1h'",
        "[steps.a]\nall_of = ['b']\n[steps.b]\nall_of = ['c']\n[steps.c]\nall_of = ['a']",
        "[steps.a]\ncommands = [['x']]\n[steps.b]\ncommands = [['./x', '{subject}']]\nsubject = 'file'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['./x', '{subject}']]\nsubject = 'text'\n[steps.b]\ntool = 'x'\nsubject = 'args.a'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ntool = 'x'\nsubject = 'args.a'\nbinds = 'args.b'\n[steps.b]\ntool = 'x'\nsubject = 'args.a'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['x']]\nsubject = 'dir:src'\n[steps.b]\ncommands = [['y']]\nsubject = 'dir:./src/'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['x']]\nsubject = 'dir:src'\n[steps.b]\ncommands = [['y']]\nsubject = 'dir:lib'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['x']]\nsubject = 'dir:src'\n[steps.b]\ncommands = [['./x', '{subject}']]\nsubject = 'dir'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['x']]\nsubject = 'dir:src'\n[steps.b]\ncommands = [['y']]\nsubject = 'file:src'\n[steps.t]\nall_of = ['a', 'b']",
        "[steps.a]\ncommands = [['x']]\n[steps.b]\ncommands = [['y']]\nsubject = 'git:HEAD'\n[steps.t]\nall_of = ['a', 'b']",
    ]), @r#"
    actum.toml:3:10: `all_of` of step `t` is empty
    actum.toml:3:10: `all_of` of step `t` is a text; write a list of steps, such as ["unit", "lint"]
    actum.toml:2:8: step `t` needs step `t`: a circle, in which nothing could ever come first
    actum.toml:5:19: `all_of` of step `t` holds `unit` twice
    actum.toml:5:10: `all_of` of step `t` names the step `unti`, which is not there
    actum.toml:3:10: `all_of` of step `t` names the step `lint`, which is not there
    actum.toml:4:1: `lifetime` has no meaning in step `t`: it is what its parts are
    actum.toml:2:8: step `a` needs step `b` needs step `c` needs step `a`: a circle, in which nothing could ever come first
    actum.toml:8:10: `all_of` of step `t`: `a` and `b` are not about the same kind of subject, so no subject could have both: `git` and `file`
    actum.toml:9:10: `all_of` of step `t`: `a` and `b` are not about the same kind of subject, so no subject could have both: `text` and an argument of a tool
    actum.toml:10:10: `all_of` of step `t`: `a` and `b` are not about the same kind of subject, so no subject could have both: an argument of a tool with its content in another and an argument of a tool
    accepted
    actum.toml:9:10: `all_of` of step `t`: `a` and `b` are not about the same subject: `dir:src` and `dir:lib`; name the same one in each part, or in none
    actum.toml:9:10: `all_of` of step `t`: `a` and `b` are not about the same subject: `dir:src` and `dir`; name the same one in each part, or in none
    actum.toml:9:10: `all_of` of step `t`: `a` and `b` are not about the same kind of subject, so no subject could have both: `dir:src` and `file:src`
    accepted
    "#);
}

#[test]
fn a_tool_says_its_class_and_only_what_has_a_meaning_in_it() {
    insta::assert_snapshot!(tool_messages([
        "",
        "class = 'efect'",
        "class = 'write'",
        "class = 'read'\nbindings = ['a']",
        "class = 'read'\nbinding = ['a']",
        "class = 'read'\nrequires = []",
        "class = 'read'\nverify = {}",
        "class = 'read'\non_missing = 'deny'",
        "class = 'read'\nresult = 'origin'\nkinds = { a = 'url' }",
        "class = 'effect'\nfetch = 'verbatim'",
        "class = 'fetch'\nfetch = 'verbatm'",
        "class = 'effect'\nmode = 'args'",
        "class = 'effect'\nresult = 'source'",
        "class = 'effect'\non_missing = 'ask'",
        "class = 'effect'\nmode = ['context']",
    ]), @r#"
    actum.toml:2:8: tool `t` has no `class`; write class = "read", "fetch" or "effect"
    actum.toml:3:9: `class` of tool `t` is `efect`; did you mean `effect`?
    actum.toml:3:9: `class` of tool `t` is `write`; known are read, fetch, effect
    actum.toml:4:1: unknown key `bindings` in tool `t`; did you mean `binding`?
    actum.toml:4:1: `binding` has no meaning in tool `t`: a read is allowed before anything else is asked
    actum.toml:4:1: `requires` has no meaning in tool `t`: a read is allowed before anything else is asked
    actum.toml:4:1: `verify` has no meaning in tool `t`: a read is allowed before anything else is asked
    actum.toml:4:1: `on_missing` has no meaning in tool `t`: a read is allowed before anything else is asked
    accepted
    actum.toml:4:1: `fetch` has no meaning in tool `t`: it is not a fetch
    actum.toml:4:9: `fetch` of tool `t` is `verbatm`; did you mean `verbatim`?
    actum.toml:4:8: `mode` of tool `t` is `args`; known are argument, context
    actum.toml:4:10: `result` of tool `t` is `source`; known are relay, origin
    actum.toml:4:14: `on_missing` of tool `t` is `ask`; known are deny, run
    actum.toml:4:8: `mode` of tool `t` is a list; write a text in quotes
    "#);
}

#[test]
fn arguments_are_names_said_once_and_in_one_place() {
    insta::assert_snapshot!(tool_messages([
        "class = 'effect'\nbinding = []",
        "class = 'fetch'\nbinding = []",
        "class = 'effect'\nbinding = 'payee'",
        "class = 'effect'\nbinding = ['payee', 'payee']",
        "class = 'effect'\nbinding = ['']",
        "class = 'effect'\nbinding = [' payee']",
        "class = 'effect'\nbinding = [1]",
        "class = 'effect'\noutgoing = ['body']",
        "class = 'effect'\nbinding = ['to', 'body']\noutgoing = ['body']",
        "class = 'effect'\nbinding = ['to']\noutgoing = ['body', 'body']",
        "class = 'effect'\nbinding = ['to']\noutgoing = []",
        "class = 'effect'\nkinds = { payee = 'acount' }",
        "class = 'effect'\nkinds = { payee = 'iban' }",
        "class = 'effect'\nkinds = { '' = 'url' }",
        "class = 'effect'\nkinds = ['url']",
    ]), @r#"
    actum.toml:4:11: `binding` of tool `t`: without a binding argument every call is judged by the whole context; write mode = "context" to say so, or list the arguments that decide on whom, on what or how much
    actum.toml:4:11: `binding` of tool `t`: without a binding argument every call is judged by the whole context; write mode = "context" to say so, or list the arguments that decide on whom, on what or how much
    actum.toml:4:11: `binding` of tool `t` is a text; write a list of arguments, such as ["payee", "amount"]
    actum.toml:4:21: `binding` of tool `t` holds `payee` twice
    actum.toml:4:12: the argument is empty
    actum.toml:4:12: the argument holds ' '; no white space may stand at either end
    actum.toml:4:12: a name in `binding` of tool `t` is a number; write a text in quotes
    actum.toml:4:12: `outgoing` of tool `t`: every argument binds already, and as a whole; list in `binding` those that do
    actum.toml:5:12: `outgoing` of tool `t`: `body` is in `binding` too, where it binds as a whole; take it out of one
    actum.toml:5:21: `outgoing` of tool `t` holds `body` twice
    accepted
    actum.toml:4:19: the kind of `payee` in `kinds` of tool `t` is `acount`; did you mean `account`?
    actum.toml:4:19: the kind of `payee` in `kinds` of tool `t` is `iban`; known are text, account, email, url, path, number
    actum.toml:4:11: the argument is empty
    actum.toml:4:9: `kinds` of tool `t` is a list; write a table, such as { payee = "account" }
    "#);
}

#[test]
fn a_requirement_says_what_its_step_needs_to_be_asked_for_and_no_more() {
    insta::assert_snapshot!(tool_messages([
        "class = 'effect'\nrequires = [{ step = 'tests' }, { step = 'scan', subject = 'path' }]",
        "class = 'effect'\nrequires = [{ step = 'both', subject = 'payee' }]",
        "class = 'effect'\nrequires = ['tests']",
        "class = 'effect'\nrequires = [{ subject = 'a' }]",
        "class = 'effect'\nrequires = [{ step = 'test' }]",
        "class = 'effect'\nrequires = [{ step = 'tests', lifetime = '1h' }]",
        "class = 'effect'\nrequires = [{ step = 'tests', subject = 'commit' }]",
        "class = 'effect'\nrequires = [{ step = 'scan' }]",
        "class = 'effect'\nrequires = [{ step = 'scan_src' }]",
        "class = 'effect'\nrequires = [{ step = 'scan_src', subject = 'path' }]",
        "class = 'effect'\nrequires = [{ step = 'scan', subject = 'path', binds = 'content' }]",
        "class = 'effect'\nrequires = [{ step = 'validate', subject = 'source' }]",
        "class = 'effect'\nrequires = [{ step = 'lookup', subject = 'payee', binds = 'name' }]",
        "class = 'effect'\nrequires = [{ step = 'lookup', subject = 'args.payee' }]",
        "class = 'effect'\nrequires = [{ step = 'tests' }, { step = 'tests' }]",
    ]), @r#"
    accepted
    accepted
    actum.toml:4:13: an entry in `requires` of tool `t` is a text; write a table, such as { step = "validate" }
    actum.toml:4:13: an entry in `requires` of tool `t` has no `step`; write step = "NAME", one of [steps]
    actum.toml:4:13: `requires` of tool `t` names the step `test`, which is not there; did you mean `tests`?
    actum.toml:4:31: unknown key `lifetime` in an entry in `requires` of tool `t`; known are step, subject, binds
    actum.toml:4:13: `requires` of tool `t`: `tests` is about the work tree (`git`); leave `subject` out
    actum.toml:4:13: `requires` of tool `t`: write `subject`, the argument that names what `scan` must have been performed on
    accepted
    actum.toml:4:13: `requires` of tool `t`: `scan_src` is about `dir:src` alone; leave `subject` out
    actum.toml:4:13: `requires` of tool `t`: `scan` is performed by a command, on what is on disk; leave `binds` out
    actum.toml:4:13: `requires` of tool `t`: `validate` binds a content; write `binds`, the argument of this call that holds it
    actum.toml:4:13: `requires` of tool `t`: `lookup` binds no content, so there is nothing to compare; leave `binds` out, or write `binds` in the step
    actum.toml:4:42: `subject` of an entry in `requires` of tool `t`: write the bare name, "payee"
    actum.toml:4:33: `requires` of tool `t` holds `tests` twice
    "#);
}

#[test]
fn what_needs_itself_is_refused() {
    insta::assert_snapshot!(messages([
        "[tools.x]\nclass = 'effect'\nrequires = [{ step = 's', subject = 'a' }]\n[steps.s]\ntool = 'x'\nsubject = 'args.a'",
        "[tools.x]\nclass = 'effect'\nverify = { a = { step = 's', with = ['a'] } }\nresult = 'origin'\n[steps.s]\ntool = 'x'\nsubject = 'args.a'",
        "[steps.s]\nall_of = ['u']\n[steps.u]\ntool = 'x'\nsubject = 'args.a'\n[tools.x]\nclass = 'effect'\nrequires = [{ step = 's', subject = 'a' }]",
    ]), @"
    actum.toml:2:8: tool `x` needs step `s` needs tool `x`: a circle, in which nothing could ever come first
    actum.toml:2:8: tool `x` needs step `s` needs tool `x`: a circle, in which nothing could ever come first
    actum.toml:2:8: step `s` needs step `u` needs tool `x` needs step `s`: a circle, in which nothing could ever come first
    ");
}

#[test]
fn a_value_rises_only_by_an_origin_that_was_asked_about_it() {
    insta::assert_snapshot!(tool_messages([
        "class = 'effect'\nverify = { payee = { step = 'lookup', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'pair', with = ['payee', 'name'] } }",
        "class = 'effect'\nverify = { payee = { step = 'lookup' } }",
        "class = 'effect'\nverify = { payee = { with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = 'lookup' }",
        "class = 'effect'\nverify = { payee = { step = 'lookup', with = ['name'] } }",
        "class = 'effect'\nverify = { payee = { step = 'lookup', with = ['payee', 'payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'pair', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'by_name', with = ['payee', 'name'] } }",
        "class = 'effect'\nverify = { payee = { step = 'lokup', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'rumour', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'validate', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'tests', with = ['payee'] } }",
        "class = 'effect'\nverify = { payee = { step = 'both', with = ['payee'] } }",
        "class = 'effect'\nbinding = ['amount']\nverify = { payee = { step = 'lookup', with = ['payee'] } }",
    ]), @r#"
    accepted
    accepted
    actum.toml:4:20: `payee` in `verify` of tool `t` has no `with`; list the arguments that must be equal in both calls, the verified one among them
    actum.toml:4:20: `payee` in `verify` of tool `t` has no `step`; write step = "NAME", one of [steps]
    actum.toml:4:20: `payee` in `verify` of tool `t` is a text; write a table, such as { step = "verify_payee", with = ["payee"] }
    actum.toml:4:46: `with` of `payee` in `verify` of tool `t`: `payee` itself is not in it, so another value could have been verified
    actum.toml:4:56: `with` of `payee` in `verify` of tool `t` holds `payee` twice
    actum.toml:4:20: `verify` of tool `t`: `pair` is about `name` too, which is not in `with`, so its pass could be about another
    actum.toml:4:20: `verify` of tool `t`: `by_name` is about `name` of `registry` and not about `payee`; both calls have to name it alike
    actum.toml:4:20: `verify` of tool `t` names the step `lokup`, which is not there; did you mean `lookup`?
    actum.toml:4:20: `verify` of tool `t`: `rumour` is performed by `forum`, which is no origin: what it says may be what somebody else wrote; if the tool itself vouches for it, write result = "origin" in [tools."forum"]
    actum.toml:4:20: `verify` of tool `t`: `validate` is performed by `validate`, which is no origin: what it says may be what somebody else wrote; if the tool itself vouches for it, write result = "origin" in [tools."validate"]
    actum.toml:4:20: `verify` of tool `t`: `tests` is not performed by a tool; a value rises only by a tool whose result is an origin
    actum.toml:4:20: `verify` of tool `t`: `both` is not performed by a tool; a value rises only by a tool whose result is an origin
    actum.toml:5:12: `payee` in `verify` of tool `t`: it does not bind, so its value needs no verification; list it in `binding`
    "#);
}

#[test]
fn only_a_tool_can_be_run_when_it_is_missing() {
    insta::assert_snapshot!(tool_messages([
        "class = 'effect'\non_missing = 'run'\nrequires = [{ step = 'validate', subject = 'a', binds = 'b' }]",
        "class = 'effect'\non_missing = 'run'\nrequires = [{ step = 'both', subject = 'a' }]",
        "class = 'effect'\non_missing = 'run'",
        "class = 'effect'\non_missing = 'run'\nrequires = [{ step = 'lookup', subject = 'a' }, { step = 'tests' }]",
    ]), @r#"
    accepted
    accepted
    actum.toml:4:14: `on_missing` of tool `t`: it has no `requires`, so nothing can be missing
    actum.toml:4:14: `on_missing` of tool `t`: `tests` is performed by a command, and only a tool can be called; write "deny"
    "#);
}

#[test]
fn a_channel_rises_only_by_name_and_only_for_a_time() {
    insta::assert_snapshot!(channel_messages([
        ("mcp:bank", "authority = 'Approved'\nuntil = 2027-03-01\nscope = ['bank/pay']"),
        ("api", "authority = 'User'\nuntil = 2027-03-01T09:00:00+01:00"),
        ("user", "authority = 'User'"),
        ("user", "authority = 'Untrusted'"),
        ("web:*", "authority = 'Untrusted'"),
        ("schedule:*", "authority = 'Untrusted'"),
        ("mcp:bank", "authority = 'Approved'"),
        ("mcp:bank", "authority = 'aproved'\nuntil = 2027-03-01"),
        ("mcp:bank", "authority = 'Approve'\nuntil = 2027-03-01"),
        ("mcp:bank", "authority = 'Derived'\nuntil = 2027-03-01"),
        ("mcp:bank", "authority = 'User'\nuntil = 2027-03-01"),
        ("user:ann", "authority = 'User'\nuntil = 2027-03-01"),
        ("api:*", "authority = 'User'\nuntil = 2027-03-01"),
        ("api", "authority = 'User'"),
        ("web:*", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("web:*.org", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("mail:*@org", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("file-edit", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("paste", "authority = 'User'\nuntil = 2027-03-01"),
        ("schedule:backup", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("file:*", "authority = 'Approved'\nuntil = 2027-03-01"),
        ("mcp:bank", "until = 2027-03-01"),
        ("mcp:bank", "authority = 'Untrusted'\nuntil = 2027-03-01"),
        ("mcp:bank", "authority = 'Untrusted'\nscope = ['x']"),
        ("mcp:bank", "authority = 'Approved'\nuntil = 2027-03-01\nscope = []"),
        ("mcp:bank", "authority = 'Approved'\nuntil = 2027-03-01\nscope = ['x', 'x']"),
        ("mcp:bank", "authority = 'Approved'\nuntil = 2027-03-01\nscope = [' x']"),
        ("mcp:bank", "authority = 'Approved'\nexpires = 2027-03-01"),
    ]), @r#"
    accepted
    accepted
    accepted
    accepted
    accepted
    accepted
    actum.toml:2:11: channel `mcp:bank` has no `until`; every way up has an end: write a date, such as until = 2027-03-01
    actum.toml:3:13: `authority` of channel `mcp:bank` is `aproved`; did you mean `Approved`?
    actum.toml:3:13: `authority` of channel `mcp:bank` is `Approve`; did you mean `Approved`?
    actum.toml:3:13: `authority` of channel `mcp:bank`: `Derived` is worked out from everything an entry was made from; no channel has it
    actum.toml:3:13: `authority` of channel `mcp:bank`: only the channels `user` and `api` can be the user; write `Approved`
    actum.toml:3:13: `authority` of channel `user:ann`: only the channels `user` and `api` can be the user; write `Approved`
    actum.toml:3:13: `authority` of channel `api:*`: only the channels `user` and `api` can be the user; write `Approved`
    actum.toml:2:11: channel `api` has no `until`; every way up has an end: write a date, such as until = 2027-03-01
    actum.toml:3:13: `authority` of channel `web:*`: this would approve everything of its kind, whoever sent it; name which, such as mcp:bank
    actum.toml:3:13: `authority` of channel `web:*.org`: this would approve everything of its kind, whoever sent it; name which, such as mcp:bank
    actum.toml:3:13: `authority` of channel `mail:*@org`: this would approve everything of its kind, whoever sent it; name which, such as mcp:bank
    actum.toml:3:13: `authority` of channel `file-edit`: what arrives there is looked at one by one and released or adopted; a policy cannot approve it beforehand
    actum.toml:3:13: `authority` of channel `paste`: what arrives there is looked at one by one and released or adopted; a policy cannot approve it beforehand
    actum.toml:3:13: `authority` of channel `schedule:backup`: what such a channel carries has records of its own, and they decide; a policy can only make it `Untrusted`
    actum.toml:3:13: `authority` of channel `file:*`: what such a channel carries has records of its own, and they decide; a policy can only make it `Untrusted`
    actum.toml:2:11: channel `mcp:bank` has no `authority`; write authority = "Approved" or "Untrusted"
    actum.toml:4:9: `until` has no meaning in channel `mcp:bank`: nothing is granted here, so there is nothing to limit
    actum.toml:4:9: `scope` has no meaning in channel `mcp:bank`: nothing is granted here, so there is nothing to limit
    actum.toml:5:9: `scope` of channel `mcp:bank` is empty
    actum.toml:5:15: `scope` of channel `mcp:bank` holds `x` twice
    actum.toml:5:10: the tool holds ' '; no white space may stand at either end
    actum.toml:4:1: unknown key `expires` in channel `mcp:bank`; known are authority, until, scope
    "#);
}

#[test]
fn an_end_is_a_moment_everywhere() {
    insta::assert_snapshot!(channel_messages([
        ("mcp:b", "authority = 'Approved'\nuntil = '2027-03-01'"),
        ("mcp:b", "authority = 'Approved'\nuntil = 2027"),
        ("mcp:b", "authority = 'Approved'\nuntil = 2027-03-01T09:00:00"),
        ("mcp:b", "authority = 'Approved'\nuntil = 09:00:00"),
        ("mcp:b", "authority = 'Approved'\nuntil = 1969-12-31"),
        ("mcp:b", "authority = 'Approved'\nuntil = 2027-02-29"),
        ("mcp:b", "authority = 'Approved'\nuntil = 2027-13-01"),
    ]), @"
    actum.toml:4:9: `until` of channel `mcp:b` is a text; write a date without quotes, such as 2027-03-01
    actum.toml:4:9: `until` of channel `mcp:b` is a number; write a date without quotes, such as 2027-03-01
    actum.toml:4:9: `until` of channel `mcp:b` is 2027-03-01T09:00:00; write a date, such as 2027-03-01, or a time with its offset, such as 2027-03-01T09:00:00Z
    actum.toml:4:9: `until` of channel `mcp:b` is 09:00:00; write a date, such as 2027-03-01, or a time with its offset, such as 2027-03-01T09:00:00Z
    actum.toml:4:9: `until` of channel `mcp:b` is 1969-12-31; write a date, such as 2027-03-01, or a time with its offset, such as 2027-03-01T09:00:00Z
    actum.toml:4:9: invalid date, expected day between 01 and 28
    actum.toml:4:9: invalid date, expected month between 01 and 12
    ");
    for (text, ms) in [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("2000-02-29", 951_782_400_000),
        ("2000-03-01", 951_868_800_000),
        ("2027-03-01", 1_803_859_200_000),
        ("2027-03-01T09:00:00Z", 1_803_891_600_000),
        ("2027-03-01T09:00:00+01:00", 1_803_888_000_000),
        ("2027-02-28T23:00:00-01:00", 1_803_859_200_000),
        ("2100-03-01", 4_107_542_400_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ] {
        let text =
            format!("version = 1\n[channels.'mcp:b']\nauthority = 'Approved'\nuntil = {text}");
        let policy = read(&text);
        assert_eq!(policy.authority_of(&channel("mcp:b"), 0).until_ms.unwrap_or(0), ms, "{text}");
    }
}

#[test]
fn a_star_stands_where_the_owner_of_a_name_does_not() {
    let approved = |pattern| (pattern, "authority = 'Approved'\nuntil = 2027-03-01");
    insta::assert_snapshot!(channel_messages([
        approved("web:*.example.org"),
        approved("mail:*@example.org"),
        approved("mcp:bank/*"),
        approved("repo:example.org/ann/tool@*"),
        approved("inbound:chat:*"),
        approved("*"),
        approved("*:bank"),
        approved("web:*example.org"),
        approved("web:docs.*"),
        approved("web:example.org/*"),
        approved("mail:ann@*"),
        approved("mcp:bank*"),
        approved("mcp:*/tool"),
        approved("mcp:a/*/*"),
        approved("Mcp:bank"),
        approved("mcp bank"),
        approved("2mcp:bank"),
        approved(":bank"),
        approved("mcp:"),
        approved(""),
    ]), @"
    accepted
    accepted
    accepted
    accepted
    accepted
    actum.toml:2:11: `*` is not a pattern of channels: a scheme stands before it, such as web:*; a channel that no line names is Untrusted
    actum.toml:2:11: `*:bank` is not a pattern of channels: a scheme stands before it, such as web:*; a channel that no line names is Untrusted
    actum.toml:2:11: `web:*example.org` is not a pattern of channels: in `web` and `mail` `*` stands first, before `.` or `@` and the domain, such as web:*.example.org or mail:*@example.org
    actum.toml:2:11: `web:docs.*` is not a pattern of channels: in `web` and `mail` `*` stands first, before `.` or `@` and the domain, such as web:*.example.org or mail:*@example.org
    actum.toml:2:11: `web:example.org/*` is not a pattern of channels: in `web` and `mail` `*` stands first, before `.` or `@` and the domain, such as web:*.example.org or mail:*@example.org
    actum.toml:2:11: `mail:ann@*` is not a pattern of channels: in `web` and `mail` `*` stands first, before `.` or `@` and the domain, such as web:*.example.org or mail:*@example.org
    actum.toml:2:11: `mcp:bank*` is not a pattern of channels: `*` stands last, after `:`, `/` or `@`, such as mcp:bank/* or repo:example.org/ann/tool@*
    actum.toml:2:11: `mcp:*/tool` is not a pattern of channels: `*` stands last, after `:`, `/` or `@`, such as mcp:bank/* or repo:example.org/ann/tool@*
    actum.toml:2:11: `mcp:a/*/*` is not a pattern of channels: there is one `*` at most
    actum.toml:2:11: the channel holds 'M'; it is a word of a-z, 0-9 and -, or such a word and a colon before the rest, as in web:example.org
    actum.toml:2:11: the channel holds ' '; it is a word of a-z, 0-9 and -, or such a word and a colon before the rest, as in web:example.org
    actum.toml:2:11: the channel holds '2'; it is a word of a-z, 0-9 and -, or such a word and a colon before the rest, as in web:example.org
    actum.toml:2:11: the channel holds ':'; it is a word of a-z, 0-9 and -, or such a word and a colon before the rest, as in web:example.org
    actum.toml:2:11: the part of the channel after its colon is empty
    actum.toml:2:11: the channel is empty
    ");
}

#[test]
fn a_name_is_checked_once() {
    let tools = ["x", "a b", "clinic/insert", "mcp__bank__pay", "ü", "*"];
    assert!(tools.iter().all(|text| ToolName::new(text).is_ok()));
    for text in ["", " x", "x ", "x\u{a0}", "a\nb", "a\0b", "\u{85}"] {
        assert!(ToolName::new(text).is_err(), "{text:?}");
        assert!(ArgumentName::new(text).is_err(), "{text:?}");
        assert!(AuthorName::new(text).is_err(), "{text:?}");
    }
    assert!(ToolName::new(&"x".repeat(FREE_NAME_MAX)).is_ok());
    assert!(ToolName::new(&"x".repeat(FREE_NAME_MAX + 1)).is_err());
    for text in ["user", "file-edit", "web:example.org", "x2:y", "exec:/bin/ls", "a:b:c", "a: b"] {
        assert!(ChannelName::new(text).is_ok(), "{text:?}");
    }
    for text in ["", "a:", ":a", "A:b", "2:b", "-a", "a_b:c", "a b", "a:b\n", "ä:b", " user"] {
        assert!(ChannelName::new(text).is_err(), "{text:?}");
    }
    assert!(ChannelName::new(&format!("a:{}", "x".repeat(CHANNEL_MAX - 2))).is_ok());
    assert!(ChannelName::new(&format!("a:{}", "x".repeat(CHANNEL_MAX - 1))).is_err());
}

#[test]
fn every_limit_is_met_exactly() {
    let list = |count: usize| {
        let words: Vec<_> = (0..count).map(|index| format!("'a{index}'")).collect();
        format!("[{}]", words.join(","))
    };
    let many = |count: usize, table: &dyn Fn(usize) -> String| {
        (0..count).map(table).collect::<Vec<_>>().concat()
    };
    let tools = |count| many(count, &|index| format!("[tools.t{index}]\nclass = 'read'\n"));
    let lists = |count| format!("[tools.t]\nclass = 'effect'\nbinding = {}", list(count));
    let kinds = |count| {
        let kinds = many(count, &|index| format!("kinds.a{index} = 'url'\n"));
        format!("[tools.t]\nclass = 'read'\n{kinds}")
    };
    let requires = |count| {
        let entries = many(count, &|index| format!("{{ step = 's', subject = 'a{index}' }},"));
        format!(
            "[tools.t]\nclass = 'effect'\nrequires = [{entries}]\n[steps.s]\ntool = 'x'\nsubject = 'args.a'"
        )
    };
    let parts = |count| {
        let steps = many(count, &|index| format!("[steps.a{index}]\ncommands = [['x']]\n"));
        format!("{steps}[steps.all]\nall_of = {}", list(count))
    };
    let channels = |count| {
        many(count, &|index| format!("[channels.'mcp:s{index}']\nauthority = 'Untrusted'\n"))
    };
    let scope = |count| {
        let scope = list(count);
        format!("[channels.'mcp:s']\nauthority = 'Approved'\nuntil = 2027-03-01\nscope = {scope}")
    };
    let nested = |count: usize| {
        let above =
            many(count - 1, &|index| format!("[steps.s{}]\nall_of = ['s{index}']\n", index + 1));
        format!("[steps.s0]\ncommands = [['x']]\n{above}")
    };
    for (inside, outside) in [
        (tools(TOOLS_MAX), tools(TOOLS_MAX + 1)),
        (lists(ARGUMENTS_MAX), lists(ARGUMENTS_MAX + 1)),
        (kinds(ARGUMENTS_MAX), kinds(ARGUMENTS_MAX + 1)),
        (requires(REQUIRES_MAX), requires(REQUIRES_MAX + 1)),
        (parts(PARTS_MAX), parts(PARTS_MAX + 1)),
        (channels(CHANNELS_MAX), channels(CHANNELS_MAX + 1)),
        (scope(SCOPE_MAX), scope(SCOPE_MAX + 1)),
    ] {
        assert_eq!(messages([&inside]), "accepted\n");
        assert!(messages([&outside]).contains("the limit is"), "{}", messages([&outside]));
    }
    assert_eq!(messages([&nested(NESTING_MAX)]), "accepted\n");
    insta::assert_snapshot!(messages([&nested(NESTING_MAX + 1), &nested(200)]), @"
    actum.toml:34:8: step `s16` needs more than 16 steps and tools one below the other
    actum.toml:34:8: step `s16` needs more than 16 steps and tools one below the other
    ");
}

#[test]
fn what_is_wide_and_deep_is_digested_in_no_time() {
    // Every level doubles the ways to the bottom; followed one by one they would never end.
    let mut text =
        "version = 1\n[steps.a0]\ncommands = [['x']]\n[steps.b0]\ncommands = [['y']]\n".to_owned();
    for level in 1..NESTING_MAX {
        let parts: Vec<_> =
            ["a", "b"].iter().map(|name| format!("'{name}{}'", level - 1)).collect();
        for name in ["a", "b"] {
            writeln!(text, "[steps.{name}{level}]\nall_of = [{}]", parts.join(",")).unwrap();
        }
    }
    assert!(read(&text).step_digest(&step("a15"), &[]).is_some());
}

// Which line of the table counts.

#[test]
fn the_built_in_table_is_shown_with_its_reasons() {
    let lines = |text: &str| {
        let mut shown = String::new();
        for line in read(text).channels() {
            let (name, authority) = (line.pattern().as_str(), line.authority());
            let inherits = if line.inherits() { ", or what it carries" } else { "" };
            let from = line.default_reason().unwrap_or("the policy says so");
            writeln!(shown, "{name}: {authority}{inherits}: {from}").unwrap();
        }
        shown
    };
    insta::assert_snapshot!(lines("version = 1"), @"
    api: Untrusted: a program sent it; the policy can say that this program is the user
    file-edit: Untrusted: changed outside the agent: the owner confirms it once
    paste: Untrusted: the user marked it as somebody else's words
    system: Untrusted: the host's own prompt
    user: User: typed by the user, on a door that only the user has
    consolidation:*: Untrusted, or what it carries: the host's own summary: what it was made from decides
    exec:*: Untrusted: the output of a command: nobody saw what it read
    file:*: Untrusted, or what it carries: a file that was read: the record of its content decides
    inbound:*: Untrusted: a message, a webhook or another agent
    mail:*: Untrusted: anybody can send a mail
    mcp:*: Untrusted: the result of a server nobody approved
    repo:*: Untrusted: a file under version control, of a repository nobody approved
    schedule:*: Untrusted, or what it carries: a fired task: the record of the task decides
    web:*: Untrusted: anybody can write a web page
    ");
    let page = include_str!("../../../../docs/formats/policy.md");
    for line in read("version = 1").channels() {
        let (name, why) = (line.pattern().as_str(), line.default_reason().unwrap());
        let rows = page.lines().filter(|row| row.starts_with(&format!("| `{name}` |")));
        let row = rows.into_iter().find(|row| row.ends_with(&format!("| {why} |"))).unwrap();
        assert_eq!(row.contains("of what it carries"), line.inherits(), "{row}");
    }
    let changed = lines(
        "version = 1\n[channels.user]\nauthority = 'Untrusted'\n[channels.'exec:*']\nauthority = 'Untrusted'",
    );
    assert_eq!(changed.matches("the policy says so").count(), 2);
    assert_eq!(changed.lines().count(), lines("version = 1").lines().count());
}

#[test]
fn a_channel_nobody_listed_is_untrusted() {
    let policy = read("version = 1");
    for name in ["user:ann", "users", "usr", "telepathy", "telepathy:ann", "mcp", "web"] {
        let rule = policy.authority_of(&channel(name), 0);
        assert_eq!(rule.authority, Authority::Untrusted, "{name}");
        assert_eq!(rule.from, ChannelFrom::Unlisted, "{name}");
        assert!(!rule.inherits);
    }
    assert_eq!(policy.authority_of(&channel("user"), 0).authority, Authority::User);
    assert!(policy.authority_of(&channel("schedule:backup"), 0).inherits);
}

const TABLE: &str = "version = 1
[channels.'web:*.example.org']
authority = 'Approved'
until = 2027-03-01
scope = ['pay']
[channels.'web:*.guest.example.org']
authority = 'Untrusted'
[channels.'mail:*@example.org']
authority = 'Approved'
until = 2027-03-01
[channels.'repo:example.org/ann/*']
authority = 'Approved'
until = 2027-03-01
[channels.'repo:example.org/ann/old@*']
authority = 'Untrusted'
[channels.'mcp:bank']
authority = 'Approved'
until = 2020-01-01
[channels.'mcp:bank/*']
authority = 'Approved'
until = 2027-03-01
";

#[test]
fn a_pattern_names_no_more_than_its_owner_has() {
    let policy = read(TABLE);
    let now_ms = 1_790_000_000_000;
    let approved =
        |name| policy.authority_of(&channel(name), now_ms).authority == Authority::Approved;
    for name in [
        "web:a.example.org",
        "web:a.b.example.org",
        "mail:ann@example.org",
        "mail:ann+x@example.org",
        "repo:example.org/ann/tool@1f",
        "repo:example.org/ann/older@1f",
        "mcp:bank/pay",
    ] {
        assert!(approved(name), "{name}");
    }
    for name in [
        "web:example.org",
        "web:.example.org",
        "web:evilexample.org",
        "web:a.example.org.evil.net",
        "web:evil.net/a.example.org",
        "web:evil.net?a.example.org",
        "web:evil.net#.example.org",
        r"web:evil.net\.example.org",
        "web:ann@evil.net:1.example.org",
        "web:evil.net .example.org",
        "web:a.guest.example.org",
        "web:A.EXAMPLE.ORG",
        "mail:@example.org",
        "mail:ann@evil.net@example.org",
        "mail:ann@guest.example.org",
        "mail:ann@example.org.evil.net",
        "repo:example.org/ann/",
        "repo:example.org/ann",
        "repo:example.org/anna/tool",
        "repo:example.org/ann/../eve/tool",
        "repo:example.org/ann/./tool",
        "repo:example.org/ann//tool",
        "repo:example.org/ann/old@1f",
        "mcp:bank",
        "mcp:bank2",
        "mcp:bankx/pay",
    ] {
        assert!(!approved(name), "{name}");
    }
    let bank = policy.authority_of(&channel("mcp:bank"), now_ms);
    assert!(matches!(bank.from, ChannelFrom::Expired(pattern) if pattern.as_str() == "mcp:bank"));
    let page = policy.authority_of(&channel("web:a.example.org"), now_ms);
    assert_eq!(page.authority_for(&tool("pay")), Authority::Approved);
    assert_eq!(page.authority_for(&tool("mail")), Authority::Untrusted);
}

/// By definition: the line that names the channel and leaves least to its star, with the built-in ones under the policy's.
fn worth_by_definition(policy: &Policy, name: &ChannelName, now_ms: u64) -> (Authority, bool) {
    let named = |text: &str| {
        let Some((before, after)) = text.split_once('*') else { return text == name.as_str() };
        let name = name.as_str();
        let fits = name.len() > before.len() + after.len()
            && name.starts_with(before)
            && name.ends_with(after);
        let star = || name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap();
        if !fits || before.ends_with(':') && after.is_empty() && before.matches(':').count() == 1 {
            return fits;
        }
        if after.is_empty() {
            star().split('/').all(|part| !["", ".", ".."].contains(&part))
        } else {
            star().chars().all(|c| !"/\\@:?# ".contains(c))
        }
    };
    let specific = |text: &str| (!text.contains('*'), text.len());
    let lines = policy.channels().filter(|line| named(line.pattern().as_str()));
    let line = lines.max_by_key(|line| specific(line.pattern().as_str()));
    match line {
        Some(line) if line.until_ms().is_none_or(|until_ms| now_ms < until_ms) => {
            (line.authority(), line.inherits())
        }
        Some(_) | None => (Authority::Untrusted, false),
    }
}

fn channel_text() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["web", "mail", "mcp", "repo", "file", "user", "x"]);
    (scheme, "[ab./@:*]{1,6}").prop_map(|(scheme, rest)| format!("{scheme}:{rest}"))
}

fn pattern_text() -> impl Strategy<Value = String> {
    let last = (prop::sample::select(vec!["mcp", "repo", "x"]), "([ab.]{0,2}[/@:]){0,2}")
        .prop_map(|(scheme, rest)| format!("{scheme}:{rest}*"));
    let first = (prop::sample::select(vec!["web", "mail"]), "([.@][ab]{1,2}){0,2}")
        .prop_map(|(scheme, rest)| format!("{scheme}:*{rest}"));
    prop_oneof![last, first, channel_text(), Just("user".to_owned())]
}

// What the digest covers.

#[test]
fn a_tool_digest_is_the_same_tomorrow() {
    // A changed digest voids what rests on it: if a line here changes, its domain changes with it.
    let policy = read(WHOLE);
    insta::assert_snapshot!(policy.tool_digest(&tool("clinic/insert_record"), &[]), @"a2f0391518a9aa87faf193186dce5c19547fb1bbaca55287b3a4beb760810bbc");
    insta::assert_snapshot!(policy.step_digest(&step("validate_source"), &[]).unwrap(), @"dced43881822b3d06d63fa6feb0e67102f90866816f82d21a39e311cac6932aa");
    insta::assert_snapshot!(policy.tool_digest(&tool("nobody/listed_it"), &[]), @"854fc7df66d1af2b7eb34d66c99c9d6c540fa5ed85f05a4dc79e5e53dbd182d2");
    let all = read("version = 1\n[steps.t]\ncommands = [['x']]\n[steps.all]\nall_of = ['t']");
    insta::assert_snapshot!(all.step_digest(&step("all"), &[]).unwrap(), @"50a0bd7c493829e3f6cccc14a69bcd16bfb7a8fe54df7b7a8ef8e21dfd09a0d7");
    assert_eq!(all.step_digest(&step("none"), &[]), None);
}

#[test]
fn a_digest_covers_all_that_the_tool_rests_on() {
    let name = tool("clinic/insert_record");
    let digest = |text: &str| read(text).tool_digest(&name, &[]);
    let before = digest(WHOLE);
    for (from, to) in [
        ("tool = \"clinic/validate_source\"", "tool = \"clinic/validate\""),
        ("lifetime = \"1h\"", "lifetime = \"2h\""),
        ("class = \"read\"\nresult", "class = \"fetch\"\nresult"),
        ("on_missing = \"deny\"", "on_missing = \"run\""),
        ("mode = \"argument\"", "mode = \"context\""),
        ("outgoing = [\"body\"]", ""),
        ("payee = \"account\"", "payee = \"text\""),
    ] {
        assert_ne!(before, digest(&WHOLE.replace(from, to)), "{from}");
    }
    for (from, to) in [
        ("lifetime = \"24h\"", "lifetime = \"12h\""),
        ("until = 2027-03-01", "until = 2027-04-01"),
        ("profile = \"strict\"", ""),
        ("amount = \"number\" }", "amount = \"number\", note = \"text\" }"),
        ("mode = \"argument\"\nresult = \"relay\"\non_missing = \"deny\"", ""),
        ("[\"source\", \"payee\"]", "[\"payee\", \"source\"]"),
    ] {
        assert_eq!(before, digest(&WHOLE.replace(from, to)), "{from}");
    }
    let requiring = read(
        "version = 1\n[steps.t]\ncommands = [['x']]\n[steps.all]\nall_of = ['t']\n[tools.deploy]\nclass = 'effect'\nrequires = [{ step = 'all' }]",
    );
    let program = |content: &[u8]| Program {
        name: "x".into(),
        path: "/bin/x".into(),
        digest: Digest::plain(content),
    };
    let with = |content| requiring.tool_digest(&tool("deploy"), &[program(content)]);
    assert_ne!(with(b"1"), with(b"2"), "another binary is another rule");
}

/// A tool's rule as sets: two of these are equal exactly when the rules mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spec {
    class: &'static str,
    binding: Option<BTreeSet<String>>,
    outgoing: BTreeSet<String>,
    kinds: BTreeMap<String, &'static str>,
    requires: BTreeSet<(&'static str, String)>,
    verify: BTreeMap<String, BTreeSet<String>>,
    mode: &'static str,
    result: &'static str,
    run: bool,
    verbatim: bool,
}

impl Spec {
    /// The nearest rule that is no contradiction.
    fn settled(mut self) -> Self {
        if self.class == "read" {
            self.binding = None;
            self.outgoing.clear();
            self.requires.clear();
            self.verify.clear();
            self.mode = "argument";
        }
        if self.binding.as_ref().is_some_and(BTreeSet::is_empty) {
            self.binding = None;
        }
        match &self.binding {
            Some(binding) => {
                self.outgoing.retain(|argument| !binding.contains(argument));
                self.verify.retain(|argument, _| binding.contains(argument));
            }
            None => self.outgoing.clear(),
        }
        for (argument, with) in &mut self.verify {
            with.insert(argument.clone());
        }
        self.verbatim &= self.class == "fetch";
        self.run &= !self.requires.is_empty();
        self
    }

    fn text(&self, reverse: bool) -> String {
        let list = |words: &BTreeSet<String>| {
            let mut words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
            if reverse {
                words.reverse();
            }
            format!("[{}]", words.join(", "))
        };
        let mut text = format!("class = '{}'\nresult = '{}'\n", self.class, self.result);
        let mut key = |key: &str, value: String| writeln!(text, "{key} = {value}").unwrap();
        if let Some(binding) = &self.binding {
            key("binding", list(binding));
        }
        if self.class != "read" {
            key("outgoing", list(&self.outgoing));
            let entry = |(step, argument): &(&str, String)| {
                format!("{{ step = '{step}', subject = '{argument}' }}")
            };
            let mut entries: Vec<_> = self.requires.iter().map(entry).collect();
            if reverse {
                entries.reverse();
            }
            key("requires", format!("[{}]", entries.join(", ")));
            key("mode", format!("'{}'", self.mode));
            key("on_missing", format!("'{}'", if self.run { "run" } else { "deny" }));
        }
        if self.verbatim {
            key("fetch", "'verbatim'".to_owned());
        }
        let kind = |(argument, kind): (&String, &&str)| format!("{argument} = '{kind}'");
        key(
            "kinds",
            format!("{{ {} }}", self.kinds.iter().map(kind).collect::<Vec<_>>().join(", ")),
        );
        for (argument, with) in &self.verify {
            key(
                &format!("verify.{argument}"),
                format!("{{ step = 'v{argument}', with = {} }}", list(with)),
            );
        }
        let mut steps = String::new();
        for argument in ["a", "b", "c"] {
            writeln!(steps, "[steps.v{argument}]\ntool = 'o'\nsubject = 'args.{argument}'")
                .unwrap();
        }
        format!(
            "version = 1\n[tools.t]\n{text}{steps}[tools.o]\nclass = 'read'\nresult = 'origin'\n"
        )
    }

    fn digest(&self, reverse: bool) -> Digest {
        read(&self.text(reverse)).tool_digest(&tool("t"), &[])
    }
}

fn spec() -> impl Strategy<Value = Spec> {
    let argument = || prop::sample::select(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let set = move || prop::collection::btree_set(argument(), 0..3);
    let word = |words: &[&'static str]| prop::sample::select(words.to_vec());
    let kinds = prop::collection::btree_map(argument(), word(&["url", "account"]), 0..3);
    let requires = prop::collection::btree_set((word(&["va", "vb"]), argument()), 0..3);
    let verify = prop::collection::btree_map(argument(), set(), 0..3);
    let names = (prop::option::of(set()), set(), kinds, requires, verify);
    let words = (
        word(&["read", "fetch", "effect", "effect"]),
        word(&["argument", "context"]),
        word(&["relay", "origin"]),
        any::<bool>(),
        any::<bool>(),
    );
    (names, words).prop_map(
        |((binding, outgoing, kinds, requires, verify), (class, mode, result, run, verbatim))| {
            Spec { class, binding, outgoing, kinds, requires, verify, mode, result, run, verbatim }
                .settled()
        },
    )
}

/// A spec and the same with one field taken from another, so that pairs are near each other and often equal.
fn near_pair() -> impl Strategy<Value = (Spec, Spec)> {
    (spec(), spec(), 0..11).prop_map(|(one, other, field)| {
        let mut near = one.clone();
        match field {
            0 => near.class = other.class,
            1 => near.binding = other.binding,
            2 => near.outgoing = other.outgoing,
            3 => near.kinds = other.kinds,
            4 => near.requires = other.requires,
            5 => near.verify = other.verify,
            6 => near.mode = other.mode,
            7 => near.result = other.result,
            8 => near.run = other.run,
            9 => near.verbatim = other.verbatim,
            _ => near = other,
        }
        (one, near.settled())
    })
}

fn is_what_nobody_listed(rule: &ToolRule) -> bool {
    !rule.listed()
        && rule.class() == ToolClass::Effect
        && rule.binding() == &Binding::All
        && rule.mode() == Mode::Argument
        && rule.result() == ToolResult::Relay
        && rule.on_missing() == OnMissing::Deny
        && rule.fetch() == Fetch::Judged
        && rule.requires().is_empty()
        && rule.verify().is_empty()
}

proptest! {
    #[test]
    fn the_digest_differs_exactly_where_the_meaning_does((one, other) in near_pair()) {
        prop_assert_eq!(one == other, one.digest(false) == other.digest(false));
        prop_assert_eq!(one.digest(false), one.digest(true));
    }

    #[test]
    fn a_tool_nobody_listed_is_an_effect_whose_every_argument_binds(
        listed in prop::collection::btree_map("[ab/]{1,3}", prop::sample::select(vec!["read", "fetch"]), 0..6),
        asked in "[ab/ ]{0,1}[ab/]{1,3}",
    ) {
        let mut text = "version = 1\n".to_owned();
        for (name, class) in &listed {
            writeln!(text, "[tools.'{name}']\nclass = '{class}'").unwrap();
        }
        let policy = read(&text);
        if let Ok(name) = ToolName::new(&asked) {
            let rule = policy.tool(&name);
            prop_assert_eq!(rule.listed(), listed.contains_key(&asked));
            prop_assert_eq!(listed.contains_key(&asked), !is_what_nobody_listed(rule));
            prop_assert!(rule.listed() || rule.binding().binds(&argument("whatever")));
        }
    }

    #[test]
    fn the_narrowest_line_that_names_a_channel_counts(
        patterns in prop::collection::btree_map(pattern_text(), 0..4_u8, 0..8),
        asked in prop::collection::vec(prop_oneof![channel_text(), pattern_text()], 1..16),
        now_ms in 900_000_000_000..1_000_000_000_000_u64,
    ) {
        let mut text = "version = 1\n".to_owned();
        for (pattern, worth) in &patterns {
            let approved = |until| format!("authority = 'Approved'\nuntil = {until}");
            let keys = match worth {
                0 => "authority = 'Untrusted'".to_owned(),
                1 => approved("2000-01-01"),
                2 => approved("2001-01-01"),
                _ => approved("2030-01-01"),
            };
            let line = format!("[channels.'{pattern}']\n{keys}\n");
            // What may not stand in a policy is left out; the tables of messages say what that is.
            if Policy::parse(&format!("version = 1\n{line}")).is_ok() {
                text.push_str(&line);
            }
        }
        let policy = read(&text);
        for name in asked.iter().filter_map(|text| ChannelName::new(text).ok()) {
            let rule = policy.authority_of(&name, now_ms);
            let expected = worth_by_definition(&policy, &name, now_ms);
            prop_assert_eq!((rule.authority, rule.inherits), expected, "{} in {}", name, text);
        }
    }

    #[test]
    fn almost_a_policy_is_read_or_refused(
        cut in 0..1600_usize,
        removed in 0..60_usize,
        inserted in "[\\[\\]{}=.,\"'*:@a1é\n\\\\]{0,6}",
    ) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        let from = cut.min(bytes.len());
        let to = (from + removed).min(bytes.len());
        bytes.splice(from..to, inserted.bytes());
        if let Ok(text) = std::str::from_utf8(&bytes) {
            match Policy::parse(text) {
                Ok(policy) => {
                    for (name, _) in policy.tools() {
                        policy.tool_digest(name, &[]);
                    }
                }
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(!message.contains(char::is_control), "{message:?}");
                    prop_assert!(error.line() <= text.matches('\n').count() + 1, "{message}");
                }
            }
        }
    }
}

#[test]
fn only_listed_clients_ask_the_owner_and_only_trusted_servers_are_believed() {
    let text = "version = 1\nclients = [\"claude-code\"]\n[servers.time]\nhints = \"trusted\"\n[servers.web]\nhints = \"stricter\"\n";
    let policy = Policy::parse(text).unwrap();
    assert!(policy.asks_owner_through("claude-code") && !policy.asks_owner_through("claude-cod"));
    assert!(policy.trusts_hints_of("time") && !policy.trusts_hints_of("web"));
    let none = Policy::parse("version = 1").unwrap();
    assert!(!none.asks_owner_through("claude-code") && !none.trusts_hints_of("time"));
    for wrong in [
        "clients = \"claude-code\"",
        "clients = [\"\"]",
        "clients = [\"a\", \"a\"]",
        "[servers.a]\nhints = \"yes\"",
        "[servers.a]\nhint = \"trusted\"",
        "servers = 1",
    ] {
        assert!(Policy::parse(&format!("version = 1\n{wrong}\n")).is_err(), "{wrong}");
    }
}

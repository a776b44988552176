//! `actum run`: a command as a step. Durable before it starts, and again when it ended; a run that could not be recorded is
//! never silent.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use actum_core::policy::{Element, Program, Rule};
use actum_core::{
    Digest, Ledger, NewEnd, NewRun, OpenRun, Outcome as RunOutcome, StepName, SubjectKind,
    SubjectName,
};
use actum_serve::client::Client;
use actum_serve::wire::{Begin, Finish, Role};
use actum_store::subject::Taken;
use actum_store::{
    AcceptedPolicy, FileJournal, LIVE, RealDisk, RunningMark, Writer, file_digest, in_project,
    program_digest,
};
use serde_json::json;

use crate::args;
use crate::context::{Context, namespace, shell_session, writer};
use crate::exec::{Ending, Finished, Job};
use crate::say::{Failure, Outcome, RUN_FAILED, note};
use crate::subject::CHANGES_NAMED;
use crate::{exec, subject};

/// Exit codes that `timeout(1)` and `env(1)` have for the same.
const TIMED_OUT: u8 = 124;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

pub(crate) fn run(context: &Context, args: &args::Run) -> Outcome<u8> {
    carry_out(context, args).map_err(|failure| failure.exiting(RUN_FAILED))
}

fn carry_out(context: &Context, args: &args::Run) -> Outcome<u8> {
    // Without a daemon nobody else writes from here to the event that says so: what is looked at is what is begun.
    let recorder = Recorder::open(context)?;
    let snapshot = context.read()?;
    let policy = context.policy(&snapshot)?;
    let (step, rule) = subject::step(policy.policy(), &args.step)?;
    let name = subject::name(rule, args.subject.as_deref())?;
    check_listed(&step, rule, &name, &args.command)?;
    let program = check_program(context, &policy, rule, &args.command)?;
    let stamps = stamps(&policy, rule, program);
    let before = subject::now(context, &name).map_err(|what| Failure::new(RUN_FAILED, what))?;
    let environment = environment(&policy, rule);
    let begin = NewRun {
        namespace: namespace(&policy),
        step: step.clone(),
        subject: name.clone(),
        content: before.digest,
        arguments: arguments_digest(&args.command, &environment),
        tool: program.digest,
        tool_path: program.path.clone().into_bytes(),
        rule: policy.rule_digest(rule),
        session: shell_session()?,
    };
    let run = recorder.begin(begin)?;
    let index = run.index();
    let mark = RunningMark::set(context.places(), index);
    let watched = exec::run(Job {
        program: Path::new(&program.path),
        argv: &args.command,
        environment: &environment,
        folder: context.project(),
        timeout: args.timeout,
        capture: rule.passes().wants_output(),
        watch: rule.passes().watch(),
    });
    let finished = watched.map_err(|error| {
        Failure::new(
            RUN_FAILED,
            format!("run {index} began, but the command cannot be watched: {error}"),
        )
    })?;
    // The program was the accepted one when it began, and still is; the subject is what it was, and was left alone.
    let same_program = check_program(context, &policy, rule, &args.command);
    let after = subject::now(context, &name);
    let swapped = self::stamps(&policy, rule, program) != stamps;
    let disturbed = disturbance(&before, &after, same_program.err(), swapped);
    let outcome = end_run(context, run, &finished, &before, &after, disturbed.is_some())?;
    drop(mark);
    subject::keep(context, &before);
    let told = Told { index, step, name, outcome, finished, before, after, disturbed };
    told.tell(context, args);
    Ok(told.exit(args.must_pass))
}

/// Who records a run: the daemon, or this command.
enum Recorder {
    Here(Box<Ledger<FileJournal<RealDisk>>>, Writer),
    There(Box<Client>),
}

/// A run that began, and who is told how it went.
enum Begun {
    Here(OpenRun),
    There(Box<Client>, u64),
}

impl Recorder {
    fn open(context: &Context) -> Outcome<Self> {
        if let Some(client) = context.daemon("run", Role::Agent { session: None })? {
            return Ok(Self::There(Box::new(client)));
        }
        let by = writer("run");
        Ok(Self::Here(Box::new(context.store.write(&by)?), by))
    }

    fn begin(self, run: NewRun) -> Outcome<Begun> {
        match self {
            // The lock goes with the ledger: the command may take hours.
            Self::Here(mut ledger, by) => {
                let begun = ledger.begin(run, &by.reading);
                begun
                    .map(Begun::Here)
                    .map_err(|error| Failure::new(RUN_FAILED, crate::say::chain(&error)))
            }
            Self::There(mut client) => {
                let began = client.ask(&Begin {
                    namespace: run.namespace.to_string(),
                    step: run.step.to_string(),
                    subject: run.subject.to_string(),
                    content: run.content,
                    arguments: run.arguments,
                    program: run.tool,
                    path: String::from_utf8_lossy(&run.tool_path).into_owned(),
                    rule: run.rule,
                    session: run.session.to_string(),
                })?;
                Ok(Begun::There(client, began.run))
            }
        }
    }
}

impl Begun {
    const fn index(&self) -> u64 {
        match self {
            Self::Here(run) => run.index(),
            Self::There(_, run) => *run,
        }
    }
}

/// Which files the program and the files of the rule are, beyond their bytes: one that was swapped and put back differs.
fn stamps(policy: &AcceptedPolicy, rule: &Rule, program: &Program) -> Vec<Option<[i64; 5]>> {
    let files = policy.files(rule).map(|file| &file.path);
    std::iter::once(&program.path)
        .chain(files)
        .map(|path| {
            let meta = std::fs::metadata(path).ok()?;
            let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
            let (dev, ino, size) = (number(meta.dev()), number(meta.ino()), number(meta.size()));
            Some([dev, ino, size, meta.ctime(), meta.ctime_nsec()])
        })
        .collect()
}

/// What happened beside the command that makes its ending worth nothing.
fn disturbance(
    before: &Taken,
    after: &Result<Taken, String>,
    program: Option<Failure>,
    swapped: bool,
) -> Option<String> {
    if let Some(failure) = program {
        return Some(failure.message);
    }
    if swapped {
        return Some("the program or a file it was given was replaced while it ran".to_owned());
    }
    let touched = before.touched(after.as_ref().ok()?);
    if touched.is_empty() {
        return None;
    }
    let mut names: Vec<_> = touched.iter().take(CHANGES_NAMED).map(ToString::to_string).collect();
    if let Some(more) = touched.len().checked_sub(CHANGES_NAMED).filter(|&more| more > 0) {
        names.push(format!("{more} more"));
    }
    Some(format!("written to or replaced, though it is the same again: {}", names.join(", ")))
}

/// Only what the policy lists is started: anything else would prove something else.
fn check_listed(
    step: &StepName,
    rule: &Rule,
    subject: &SubjectName,
    argv: &[String],
) -> Outcome<()> {
    if rule.admits(argv, subject) {
        return Ok(());
    }
    // As a shell would want it, and without a line break in the middle of a message.
    let plain = |c: char| c.is_alphanumeric() || "_-./:@=+,%*".contains(c);
    let word = |word: &str| {
        let bare = !word.is_empty() && word.chars().all(plain);
        if bare { word.to_owned() } else { format!("'{}'", word.escape_debug()) }
    };
    let line = |command: &[Element]| {
        let shown = |element: &Element| match element {
            Element::Any | Element::Subject => element.as_str().to_owned(),
            Element::Exact(exact) => word(exact),
        };
        command.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    let commands: Vec<_> = rule.commands().iter().map(|command| line(command)).collect();
    let mut hint = format!("the accepted policy lists for `{step}`: {}", commands.join("; "));
    if !rule.allow().is_empty() {
        let allowed: Vec<_> = rule.allow().iter().map(|arg| word(arg)).collect();
        hint = format!("{hint}\nand further arguments from: {}", allowed.join(" "));
    }
    let said = argv.iter().map(|arg| word(arg)).collect::<Vec<_>>().join(" ");
    let message = if argv.is_empty() {
        format!("no command was given for step `{step}`; nothing was started")
    } else {
        format!("`{said}` does not count as step `{step}`, so it was not started")
    };
    Err(Failure::new(RUN_FAILED, message).hint(hint))
}

/// The program that was accepted, and is still that one.
fn check_program<'a>(
    context: &Context,
    policy: &'a AcceptedPolicy,
    rule: &Rule,
    argv: &[String],
) -> Outcome<&'a Program> {
    let name = argv.first().map_or("", String::as_str);
    let accept = "look at it, then `actum policy accept`";
    let Some(program) = policy.program(name) else {
        let message = format!("`{name}` was not found when the policy was accepted");
        return Err(
            Failure::new(RUN_FAILED, message).hint("install it, then `actum policy accept`")
        );
    };
    let shown = &program.path;
    if name.contains('/') && Path::new(shown) != in_project(context.project(), name) {
        let message =
            format!("`{name}` was accepted as {shown}, and the project lies elsewhere now");
        return Err(Failure::new(RUN_FAILED, message).hint(accept));
    }
    let changed = |path: &str, what: &str| {
        Failure::new(RUN_FAILED, format!("{path} is not the {what} that was accepted")).hint(accept)
    };
    let unreadable = |path: &str, error: std::io::Error| {
        Failure::new(RUN_FAILED, format!("cannot read {path}: {error}")).hint(accept)
    };
    let digest =
        program_digest(Path::new(shown)).map_err(|error| unreadable(shown.as_str(), error))?;
    if digest != program.digest {
        return Err(changed(shown, "program"));
    }
    for file in policy.files(rule) {
        let digest =
            file_digest(Path::new(&file.path)).map_err(|error| unreadable(&file.path, error))?;
        if digest != file.digest {
            return Err(changed(&file.path, "file"));
        }
    }
    Ok(program)
}

/// What the command gets to see: pinned when the policy was accepted, what a terminal can show, and what the rule names.
fn environment(policy: &AcceptedPolicy, rule: &Rule) -> BTreeMap<String, String> {
    let now = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    let mut environment = policy.environment().clone();
    environment.extend(LIVE.iter().filter_map(|name| now(name)));
    environment.extend(rule.env().iter().filter_map(|name| now(name)));
    environment
}

fn arguments_digest(argv: &[String], environment: &BTreeMap<String, String>) -> Digest {
    let count = (argv.len() as u64).to_be_bytes();
    let mut parts: Vec<&[u8]> = vec![&count];
    parts.extend(argv.iter().map(String::as_bytes));
    for (name, value) in environment {
        parts.extend([name.as_bytes(), value.as_bytes()]);
    }
    Digest::of("actum/arguments/v1", &parts)
}

fn end_run(
    context: &Context,
    run: Begun,
    finished: &Finished,
    before: &Taken,
    after: &Result<Taken, String>,
    disturbed: bool,
) -> Outcome<RunOutcome> {
    let index = run.index();
    let (outcome, code) = match &finished.ending {
        Ending::Exited(code, Ok(())) if disturbed => (RunOutcome::SubjectChanged, *code),
        Ending::Exited(code, Ok(())) => (RunOutcome::Passed, *code),
        Ending::Exited(code, Err(_)) => (RunOutcome::Failed, *code),
        Ending::Signalled(signal) => (RunOutcome::Errored, -signal),
        Ending::TimedOut => (RunOutcome::TimedOut, 0),
        Ending::NotStarted(_) => (RunOutcome::Errored, 0),
    };
    // A subject that cannot be read any more is not the one that was tested.
    let gone = Digest::of("actum/subject-gone/v1", &[before.digest.as_bytes()]);
    let left = after.as_ref().map_or(gone, |taken| taken.digest);
    let result = finished.result;
    let unrecorded = |message: String| {
        let what = format!("the command ended, but run {index} could not be recorded: {message}");
        Failure::new(RUN_FAILED, what).hint("it counts as incomplete; perform the step again")
    };
    match run {
        Begun::Here(run) => {
            let end = NewEnd { run, outcome, code, result, content: left };
            let by = writer("run");
            let ledger = context.store.write(&by);
            let mut ledger = ledger.map_err(|error| unrecorded(crate::say::chain(&error)))?;
            ledger.end(end, &by.reading).map_err(|error| unrecorded(crate::say::chain(&error)))
        }
        Begun::There(mut client, run) => {
            let finished = client.ask(&Finish { run, outcome, code, result, content: left });
            let finished = finished.map_err(|error| unrecorded(crate::say::chain(&error)))?;
            Ok(finished.outcome)
        }
    }
}

/// What there is to say of a run that was recorded.
struct Told {
    index: u64,
    step: StepName,
    name: SubjectName,
    outcome: RunOutcome,
    finished: Finished,
    before: Taken,
    after: Result<Taken, String>,
    /// What happened beside the command that makes its ending worth nothing.
    disturbed: Option<String>,
}

impl Told {
    fn tell(&self, context: &Context, args: &args::Run) {
        let passed = self.outcome == RunOutcome::Passed;
        let why = self.why();
        if context.say.json {
            // Standard output is the command's own.
            context.say.json_beside(&json!({
                "run": self.index,
                "outcome": self.outcome.word(),
                "step": self.step.as_str(),
                "subject": self.name.as_str(),
                "why": why,
                "exit": self.exit(args.must_pass),
            }));
        } else if !(args.quiet && passed) {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let (index, outcome, step, name) = (self.index, self.outcome, &self.step, &self.name);
            note(&format!("recorded run {index}: {step} on {name} {outcome}{why}"));
            let made = outcome == RunOutcome::SubjectChanged && !self.same_content();
            if made && name.kind() == SubjectKind::Git {
                note(
                    "if the command made it: run it once more; what is built belongs into .gitignore",
                );
            }
        }
    }

    /// Why the run is no pass.
    fn why(&self) -> Option<String> {
        if let Some(what) = self.disturbed.clone().filter(|_| self.same_content()) {
            return Some(what);
        }
        if self.outcome == RunOutcome::SubjectChanged {
            return Some(match &self.after {
                Ok(after) => subject::in_words(&self.before.manifest.changes(&after.manifest)),
                Err(what) => what.clone(),
            });
        }
        match &self.finished.ending {
            Ending::Exited(_, shortfall) => shortfall.as_ref().err().map(ToString::to_string),
            Ending::Signalled(signal) => Some(format!("signal {signal} ended the command")),
            Ending::TimedOut => Some("it took longer than it was given".to_owned()),
            Ending::NotStarted(error) => Some(format!("it could not be started: {error}")),
        }
    }

    fn same_content(&self) -> bool {
        self.after.as_ref().is_ok_and(|after| after.digest == self.before.digest)
    }

    fn exit(&self, must_pass: bool) -> u8 {
        let code = match &self.finished.ending {
            Ending::Exited(code, _) => u8::try_from(*code).unwrap_or(u8::MAX),
            Ending::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
            Ending::TimedOut => TIMED_OUT,
            Ending::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound => NOT_FOUND,
            Ending::NotStarted(_) => NOT_EXECUTABLE,
        };
        let unproven = code == 0 && must_pass && self.outcome != RunOutcome::Passed;
        if unproven { crate::say::FAILED } else { code }
    }
}

//! `cargo xtask ci`: every check, cheapest first, and the same for a person and for the machine that guards the branch. Stops
//! at the first step that fails; the last line counts the tests.

use std::io::{BufRead as _, BufReader};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, ExitCode, Stdio};
use std::time::Instant;

use crate::{repository, tools};

/// In this order. A step is one line here, and a function below if it is more than a call of cargo; another command of
/// xtask is `Work::Cargo("xtask NAME")`.
const STEPS: &[Step] = &[
    Step { name: "format", work: Work::Cargo("fmt --all --check") },
    Step { name: "spelling", work: Work::Call(spelling) },
    Step { name: "lints", work: Work::Cargo("clippy --workspace --all-targets -- -D warnings") },
    Step { name: "tests", work: Work::Call(tests) },
    Step { name: "examples", work: Work::Call(examples) },
    Step { name: "documents", work: Work::Call(documents) },
    Step { name: "vectors", work: Work::Call(vectors) },
    Step { name: "simulation", work: Work::Cargo("xtask sim") },
    Step { name: "lab", work: Work::Cargo("xtask lab") },
];

struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    /// A call of cargo that succeeds or fails.
    Cargo(&'static str),
    /// Anything else.
    Call(fn(&mut Site) -> Result<(), String>),
}

/// Where the steps work, and what they leave to be said at the end.
struct Site {
    root: PathBuf,
    tests: Counts,
    notices: Vec<String>,
}

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Runs the steps and prints `N passed, N failed` as the last line. A step that fails without a failed test counts as one.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    if !arguments.is_empty() {
        return Err("`ci` takes no arguments".to_owned());
    }
    let root = repository::root()?;
    let mut site = Site { root, tests: Counts::default(), notices: Vec::new() };
    let began = Instant::now();
    let went = STEPS.iter().enumerate().try_for_each(|(index, step)| {
        println!("\n== {} of {}: {}", index + 1, STEPS.len(), step.name);
        let began = Instant::now();
        let went = step.work(&mut site);
        println!("-- {}: {:.1} s", step.name, began.elapsed().as_secs_f64());
        went.map_err(|why| format!("{} failed: {why}", step.name))
    });
    println!();
    for notice in &site.notices {
        println!("notice: {notice}");
    }
    match &went {
        Ok(()) => println!("every step passed in {:.0} s", began.elapsed().as_secs_f64()),
        Err(why) => println!("error: {why}; what follows it was not run"),
    }
    if went.is_err() {
        site.tests.failed = site.tests.failed.max(1);
    }
    println!("{} passed, {} failed", site.tests.passed, site.tests.failed);
    Ok(if went.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Step {
    fn work(&self, site: &mut Site) -> Result<(), String> {
        match self.work {
            Work::Cargo(line) => {
                let mut command = site.cargo();
                command.args(line.split(' '));
                finish(command)
            }
            Work::Call(work) => work(site),
        }
    }
}

impl Site {
    fn cargo(&self) -> Command {
        repository::cargo(&self.root)
    }
}

fn spelling(site: &mut Site) -> Result<(), String> {
    let program = match tools::install(&site.root, tools::TYPOS) {
        Ok(program) => program,
        Err(why) if repository::unattended() => {
            return Err(format!("typos cannot be installed: {why}"));
        }
        Err(why) => {
            site.notices.push(format!("spelling was not checked: {why}"));
            return Ok(());
        }
    };
    finish(at(&site.root, program))
}

fn tests(site: &mut Site) -> Result<(), String> {
    let before = site.tests;
    run_tests(site)?;
    // A summary that we cannot read would otherwise look like a run without failures.
    if site.tests == before { Err("no test was counted".to_owned()) } else { Ok(()) }
}

fn run_tests(site: &mut Site) -> Result<(), String> {
    let has_nextest = site.cargo().args(["nextest", "--version"]).output();
    if has_nextest.is_ok_and(|output| output.status.success()) {
        let mut command = site.cargo();
        command.args(["nextest", "run", "--workspace", "--profile", "ci"]);
        return counted(site, command, Says::OnStderr, nextest_summary);
    }
    site.notices.push("cargo-nextest is missing, so `cargo test` ran the tests".to_owned());
    let mut command = site.cargo();
    command.args(["test", "--workspace", "--all-targets", "--no-fail-fast"]);
    counted(site, command, Says::OnStdout, libtest_summary)
}

/// The examples in doc comments, which nextest does not run.
fn examples(site: &mut Site) -> Result<(), String> {
    let mut command = site.cargo();
    command.args(["test", "--doc", "--workspace", "--no-fail-fast"]);
    counted(site, command, Says::OnStdout, libtest_summary)
}

fn documents(site: &mut Site) -> Result<(), String> {
    let mut command = site.cargo();
    command.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    finish(command)
}

/// The second implementation of the formats, if it is there.
fn vectors(site: &mut Site) -> Result<(), String> {
    let script = "vectors/check.py";
    if !site.root.join(script).exists() {
        site.notices.push(format!("{script} is not there yet, so nothing checked the vectors"));
        return Ok(());
    }
    let mut command = at(&site.root, "python3".into());
    command.arg(script);
    finish(command)
}

fn at(root: &Path, program: PathBuf) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).stdin(Stdio::null());
    command
}

fn finish(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| unstarted(&command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", name_of(&command)))
    }
}

/// Where a program prints the summary that we count.
#[derive(Clone, Copy)]
enum Says {
    OnStdout,
    OnStderr,
}

/// Finishes a command, shows what it says as it comes, and adds up the lines in which it counts tests.
fn counted(
    site: &mut Site,
    mut command: Command,
    says: Says,
    summary: fn(&str) -> Option<Counts>,
) -> Result<(), String> {
    match says {
        Says::OnStdout => command.stdout(Stdio::piped()),
        Says::OnStderr => command.stderr(Stdio::piped()),
    };
    let mut child = command.spawn().map_err(|error| unstarted(&command, &error))?;
    let (stdout, stderr): (Option<ChildStdout>, Option<ChildStderr>) =
        (child.stdout.take(), child.stderr.take());
    let lines = stdout.into_iter().flat_map(lines_of).chain(stderr.into_iter().flat_map(lines_of));
    for line in lines {
        println!("{line}");
        site.tests += summary(&line).unwrap_or_default();
    }
    let status = child.wait().map_err(|error| unstarted(&command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", name_of(&command)))
    }
}

/// Lines until the other end closes; what is not UTF-8 is shown with marks.
fn lines_of(pipe: impl std::io::Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(pipe).split(b'\n').map_while(Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}

fn unstarted(command: &Command, error: &std::io::Error) -> String {
    format!("{} cannot be run: {error}", name_of(command))
}

/// What a person would type for it.
fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("`{}`", words.join(" "))
}

/// Reads "Summary [ 0.1s] 9/12 tests run: 7 passed (1 slow), 1 failed, 1 timed out, 2 skipped".
fn nextest_summary(line: &str) -> Option<Counts> {
    let (before, counts) = line.split_once(" run: ")?;
    before.trim_start().strip_prefix("Summary [")?;
    Some(added(counts.split(", ")))
}

/// Reads "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s".
fn libtest_summary(line: &str) -> Option<Counts> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    Some(added(counts.split("; ")))
}

/// Adds up parts such as "7 passed (1 slow)". What neither passed nor was left out has failed.
fn added<'a>(parts: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::default();
    for (number, what) in parts.filter_map(|part| part.split_once(' ')) {
        let number = number.parse().unwrap_or(0);
        match what.split(" (").next().unwrap_or(what) {
            "passed" => counts.passed += number,
            "failed" | "exec failed" | "timed out" => counts.failed += number,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_nextest_is_counted() {
        let check = |line: &str, passed, failed| {
            assert_eq!(nextest_summary(line), Some(Counts { passed, failed }), "{line}");
        };
        check("     Summary [   0.033s] 12 tests run: 12 passed, 0 skipped", 12, 0);
        check("     Summary [   0.033s] 1 test run: 1 passed (1 slow), 3 skipped", 1, 0);
        let mixed =
            "9/12 tests run: 5 passed (1 leaky), 2 failed, 1 exec failed, 1 timed out, 0 skipped";
        check(&format!("     Summary [  60.100s] {mixed}"), 5, 4);
        assert_eq!(
            nextest_summary("        PASS [   0.004s] xtask a_test_was run: 3 passed"),
            None
        );
    }

    #[test]
    fn the_summary_of_libtest_is_counted() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; \
                    finished in 0.01s";
        assert_eq!(libtest_summary(line), Some(Counts { passed: 3, failed: 2 }));
        assert_eq!(libtest_summary("test a_name ... ok"), None);
    }
}

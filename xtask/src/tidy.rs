//! `cargo xtask tidy`: the rules of the tree that a machine can hold. Each is a function over the [`Repository`] that gives
//! back what it looked at and what it found; one file a family of rules, its table at the top. Changes nothing but
//! generated pages, and those only with `--write`.

mod arrows;
mod formats;
mod generated;
mod links;
mod packages;
mod promises;
mod test_files;
mod words;

use std::fmt;
use std::process::ExitCode;

use crate::repository::{self, Repository};

const RULES: &[Rule] = &[
    Rule { name: "crate arrows", check: arrows::crates },
    Rule { name: "module arrows", check: arrows::modules },
    Rule { name: "licences", check: packages::licences },
    Rule { name: "sources", check: packages::sources },
    Rule { name: "reasons", check: packages::reasons },
    Rule { name: "test files", check: test_files::named },
    Rule { name: "formats", check: formats::vectors },
    Rule { name: "generated", check: generated::current },
    Rule { name: "links", check: links::resolve },
    Rule { name: "promises", check: promises::kept },
    Rule { name: "words", check: words::forbidden },
    Rule { name: "spelling", check: words::spelling },
];

struct Rule {
    name: &'static str,
    check: fn(&Repository) -> Report,
}

/// What a rule looked at, in words, and what it found.
#[derive(Debug)]
struct Report {
    looked: String,
    findings: Vec<Finding>,
}

impl Report {
    /// Nothing was looked at, and a person should know.
    fn nothing(why: &str) -> Self {
        Self { looked: format!("nothing: {why}"), findings: Vec::new() }
    }
}

/// One place that breaks a rule, and the way out.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// From 1.
    line: usize,
    wrong: String,
    remedy: String,
}

impl Finding {
    fn new(path: &str, line: usize, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.wrong, self.remedy)
    }
}

/// Checks every rule and prints what was looked at and all that was found; the exit code is 1 if that is anything.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let root = repository::root()?;
    match arguments {
        [] => {}
        [flag] if flag == "--write" => generated::write(&root)?,
        _ => return Err("`tidy` knows one argument, --write".to_owned()),
    }
    let repository = Repository::open(&root)?;
    let mut findings = Vec::new();
    for rule in RULES {
        let report = (rule.check)(&repository);
        println!("{:<14} {}", rule.name, report.looked);
        findings.extend(report.findings);
    }
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {}", count(findings.len(), "finding"));
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// "1 file", "2 files".
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The number of the first line that `wanted` accepts, or 1.
fn line_of(text: &str, wanted: impl Fn(&str) -> bool) -> usize {
    text.lines().position(wanted).map_or(1, |index| index + 1)
}

/// Shows what a rule says of a bad input, one finding a line.
#[cfg(test)]
fn said(findings: &[Finding]) -> String {
    findings.iter().flat_map(|finding| [finding.to_string(), "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let repository = Repository::open(&repository::root().unwrap()).unwrap();
        let found = |rule: &Rule| said(&(rule.check)(&repository).findings);
        let found: String = RULES.iter().map(found).collect();
        assert!(found.is_empty(), "\n{found}");
    }
}

//! Words that may not stay: a path of the machine somebody works on, a note to finish something later, a test that is
//! ignored without a reason, a misspelling. A line that must hold one says `tidy-allow: ` and why.

use std::process::{Command, Stdio};

use super::{Finding, Report, count};
use crate::repository::{self, Repository, is_kind};
use crate::tools;

/// Folders of one machine. Written without their closing `/`, so that this file does not find itself.
const FOLDERS: &[&str] = &["/root", "/work"];
/// Folders of people on one machine.
const HOMES: &[&str] = &["/home/", "/Users/"];
/// People who stand in examples.
const NOBODY: &[&str] = &["ann", "bob", "you", "user"];
/// Fine as data in a test; code and documents ask the system for its folder.
const TEMPORARY: &str = "/tmp";
const TEST_DATA: &[&str] = &["/tests/", "/corpus/", "vectors/"];
const LATER: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const IGNORED: &str = concat!("#[", "ignore]");
const EXCUSE: &str = "tidy-allow: ";

pub(super) fn forbidden(repository: &Repository) -> Report {
    let mut findings = Vec::new();
    for file in &repository.files {
        for (index, line) in file.text.lines().enumerate() {
            let complaint = complaint(&file.path, line).filter(|_| !line.contains(EXCUSE));
            let finding = |(wrong, remedy)| Finding::new(&file.path, index + 1, wrong, remedy);
            findings.extend(complaint.map(finding));
        }
    }
    Report { looked: count(repository.files.len(), "file"), findings }
}

/// The first thing that may not stay in a line, and the way out.
fn complaint(path: &str, line: &str) -> Option<(String, &'static str)> {
    if let Some(folder) = machine_path(path, line) {
        let remedy = "take it as an argument, or ask the system";
        return Some((format!("`{folder}` is a path of one machine"), remedy));
    }
    if let Some(word) = LATER.iter().find(|word| has_word(line, word)) {
        return Some((format!("`{word}` is left for later"), "do it, or file it"));
    }
    let is_rust = is_kind(path, "rs");
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    if is_rust && has_word(code, concat!("todo", "!")) {
        return Some(("code is left for later".to_owned(), "write it"));
    }
    if is_rust && code.contains(IGNORED) {
        let remedy = "write why beside `ignore`, or let it run";
        return Some(("a test is ignored without a reason".to_owned(), remedy));
    }
    None
}

fn machine_path(path: &str, line: &str) -> Option<String> {
    let is_test_data = TEST_DATA.iter().any(|folder| path.contains(folder));
    let folders = FOLDERS.iter().chain((!is_test_data).then_some(&TEMPORARY));
    let folder =
        folders.map(|folder| format!("{folder}/")).find(|folder| begins(line, folder).is_some());
    let home = HOMES.iter().find_map(|home| {
        let name: String =
            begins(line, home)?.chars().take_while(|c| c.is_alphanumeric()).collect();
        (!name.is_empty() && !NOBODY.contains(&name.as_str())).then(|| format!("{home}{name}"))
    });
    folder.or(home)
}

/// What follows the first place where an absolute path begins with `folder`.
fn begins<'a>(line: &'a str, folder: &str) -> Option<&'a str> {
    let is_inside = |c: char| c.is_alphanumeric() || "_-.~*/}>)".contains(c);
    line.match_indices(folder).find_map(|(at, _)| {
        let (before, rest) = line.split_at(at);
        if before.ends_with(is_inside) { None } else { rest.strip_prefix(folder) }
    })
}

fn has_word(line: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let after = rest.strip_prefix(word).unwrap_or_default();
        !before.ends_with(is_name) && !after.starts_with(is_name)
    })
}

/// What `typos` says of the tree, if it is installed: `cargo xtask ci` brings it.
pub(super) fn spelling(_: &Repository) -> Report {
    let Ok(root) = repository::root() else {
        return Report::nothing("the repository is not known");
    };
    let Some(typos) = tools::find(&root, tools::TYPOS) else {
        return Report::nothing("typos is not installed; `cargo xtask ci` brings it");
    };
    let mut command = Command::new(typos);
    command.args(["--format", "brief"]).current_dir(root).stdin(Stdio::null());
    match command.output() {
        Ok(output) => misspelt(&String::from_utf8_lossy(&output.stdout), output.status.success()),
        Err(error) => Report::nothing(&format!("typos cannot be started: {error}")),
    }
}

/// Reads lines such as "./docs/a.md:3:7: error: `this` should be `that`".
fn misspelt(said: &str, succeeded: bool) -> Report {
    let finding = |line: &str| {
        let mut parts = line.trim_start_matches("./").splitn(4, ':');
        let (path, number) = (parts.next()?, parts.next()?.parse().ok()?);
        let wrong = parts.nth(1)?.trim().trim_start_matches("error: ").to_owned();
        Some(Finding::new(path, number, wrong, "write it so, or add the word to _typos.toml"))
    };
    let mut findings: Vec<Finding> = said.lines().filter_map(finding).collect();
    if findings.is_empty() && !succeeded {
        let wrong = "typos failed and named no place";
        findings.push(Finding::new("_typos.toml", 1, wrong, "run `typos` and see why"));
    }
    Report { looked: "every file".to_owned(), findings }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    fn said_of(path: &str, line: &str) -> String {
        said(&forbidden(&Repository::of(&[(path, line)])).findings)
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for (folder, rest) in [("/root", "x"), ("/work", "x"), (TEMPORARY, "x"), ("/home", "eve/x")]
        {
            let line = format!("see {folder}/{rest}");
            assert!(said_of("docs/a.md", &line).contains("is a path of one machine"), "{line}");
        }
        let excused = format!("see {}/notes # tidy-allow: shown as an example", "/root");
        assert_eq!(said_of("docs/a.md", &excused), "");
    }

    #[test]
    fn a_path_that_only_looks_like_one_is_fine() {
        let someone = concat!("/ho", "me/ann/project");
        for line in ["src/root/x", "~/work/x", someone, "the root/work", "$HOME/x"] {
            assert_eq!(said_of("docs/a.md", line), "", "{line}");
        }
        let line = format!("a fake cargo in {TEMPORARY}/evil");
        assert_eq!(said_of("crates/cli/tests/it/run.rs", &line), "");
    }

    #[test]
    fn what_is_left_for_later_is_found() {
        for word in LATER {
            assert!(said_of("a.toml", &format!("# {word}: x")).contains("is left for later"));
        }
        assert!(said_of("a.rs", concat!("    todo", "!()")).contains("code is left for later"));
        assert_eq!(said_of("a.sh", &format!("mktemp a.{}", "X".repeat(6))), "");
    }

    #[test]
    fn an_ignored_test_says_why() {
        assert!(said_of("a.rs", IGNORED).contains("ignored without a reason"));
        let with_reason = IGNORED.replace(']', " = \"needs a second user\"]");
        assert_eq!(said_of("a.rs", &with_reason), "");
    }

    #[test]
    fn a_misspelling_is_named_with_its_place() {
        assert_eq!(
            said(&misspelt("./docs/a.md:3:7: error: `x` should be `y`\n", false).findings),
            "docs/a.md:3: `x` should be `y`; write it so, or add the word to _typos.toml\n"
        );
    }

    #[test]
    fn a_spelling_check_that_failed_is_no_clean_one() {
        assert_eq!(said(&misspelt("", true).findings), "");
        assert!(said(&misspelt("", false).findings).contains("typos failed"));
    }
}

//! No test is forgotten: one integration binary a crate, `tests/it`, and each file in it is named by a `mod` above it.

use super::{Finding, Report, count};
use crate::repository::{File, Repository, is_kind};

pub(super) fn named(repository: &Repository) -> Report {
    let (mut files, mut findings) = (0, Vec::new());
    for file in repository.files.iter().filter(|file| is_kind(&file.path, "rs")) {
        let Some((krate, within)) = file.path.split_once("/tests/") else { continue };
        if repository.file(&format!("{krate}/Cargo.toml")).is_some() {
            files += 1;
            findings.extend(complaint(repository, file, krate, within));
        }
    }
    Report { looked: count(files, "file"), findings }
}

/// What is wrong with one file of a crate's tests.
fn complaint(repository: &Repository, file: &File, krate: &str, within: &str) -> Option<Finding> {
    let found = |wrong: &str, remedy: &str| Some(Finding::new(&file.path, 1, wrong, remedy));
    let Some(within) = within.strip_prefix("it/") else {
        let remedy = format!("move it to {krate}/tests/it and name it in main.rs");
        return found("a second test binary costs another link", &remedy);
    };
    if within == "main.rs" {
        if file.text.lines().next() == Some("#![cfg(test)]") {
            return None;
        }
        let wrong = "the first line is not #![cfg(test)], so helpers are linted as shipped code";
        return found(wrong, "put it there");
    }
    let module = within.strip_suffix("/mod.rs").or(within.strip_suffix(".rs"))?;
    let (above, name) = module.rsplit_once('/').unwrap_or(("main", module));
    let parents = [".rs", "/mod.rs"].map(|ending| format!("{krate}/tests/it/{above}{ending}"));
    let mut parents_there = parents.iter().filter_map(|parent| repository.file(parent));
    if parents_there.any(|parent| parent.text.lines().any(|line| is_mod(line, name))) {
        return None;
    }
    let remedy = format!("add `mod {name};` to {krate}/tests/it/{above}.rs");
    found("no `mod` names this file, so it never runs", &remedy)
}

fn is_mod(line: &str, name: &str) -> bool {
    line.trim().strip_suffix(';').and_then(|line| line.strip_prefix("mod ")) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    const MAIN: &str = "#![cfg(test)]\nmod chain;\n// mod crash;\n";

    fn said_of(files: &[(&str, &str)]) -> String {
        let all = [&[("crates/a/Cargo.toml", "")], files].concat();
        said(&named(&Repository::of(&all)).findings)
    }

    #[test]
    fn a_file_that_no_mod_names_is_found() {
        let files = [
            ("crates/a/tests/it/main.rs", MAIN),
            ("crates/a/tests/it/chain.rs", "mod links;\n"),
            ("crates/a/tests/it/chain/links.rs", ""),
            ("crates/a/tests/it/chain/loops.rs", ""),
            ("crates/a/tests/it/crash.rs", ""),
            ("crates/a/tests/it/snapshots/x.snap", ""),
        ];
        assert_eq!(
            said_of(&files),
            "crates/a/tests/it/chain/loops.rs:1: no `mod` names this file, so it never runs; \
             add `mod loops;` to crates/a/tests/it/chain.rs\n\
             crates/a/tests/it/crash.rs:1: no `mod` names this file, so it never runs; \
             add `mod crash;` to crates/a/tests/it/main.rs\n"
        );
    }

    #[test]
    fn a_second_binary_and_a_main_without_its_first_line_are_found() {
        assert!(said_of(&[("crates/a/tests/more.rs", "")]).contains("a second test binary"));
        let said = said_of(&[("crates/a/tests/it/main.rs", "//! All tests.\n#![cfg(test)]\n")]);
        assert!(said.contains("the first line is not #![cfg(test)]"), "{said}");
    }
}

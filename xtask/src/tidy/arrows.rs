//! Arrows point down: from crate to crate as the manifests say, and inside `core` from module to module as `crate::` and
//! `super::` in its code say. A module of tests, inline or named `tests.rs`, may look anywhere.

use super::{Finding, Report, count, line_of};
use crate::repository::{Package, Repository};

/// What each crate may need. A dependency for tests on the testkit is free, and the testkit's own for tests are.
const ROOMS: &[(&str, &[&str])] = &[
    ("actum-core", &[]),
    ("actum-store", &["actum-core"]),
    ("actum-serve", &["actum-store", "actum-core"]),
    ("actum", &["actum-serve", "actum-store", "actum-core"]),
    ("actum-lab", &["actum-store", "actum-core"]),
    (TESTKIT, &["actum-serve", "actum-store", "actum-core"]),
    (XTASK, &[]),
];
const TESTKIT: &str = "actum-testkit";
/// Looks after all the others, so it may need any of them.
const XTASK: &str = "xtask";

/// The modules of `core`, ground floor first. A module may use those on floors below its own.
const FLOORS: &[&[&str]] = &[
    &["canon"],
    &["authority", "kind", "looks", "names", "rule"],
    &["clock", "event", "policy", "value"],
    &["caller", "keys", "origin"],
    &["chain", "fingerprint"],
    &["anchor", "provenance"],
    &["reason", "views"],
    &["ground"],
    &["gate"],
    &["ledger"],
];
const CORE: &str = "crates/core/src/";
const TABLE: &str = "xtask/src/tidy/arrows.rs";

pub(super) fn crates(repository: &Repository) -> Report {
    let ours: Vec<&Package> = repository.packages.iter().filter(|p| p.source.is_none()).collect();
    let is_ours = |name: &str| ours.iter().any(|package| package.name == name);
    let (mut arrows, mut findings) = (0, Vec::new());
    for package in &ours {
        let mut find = |needed: &str, wrong: String, remedy: String| {
            let text = repository.file(&package.manifest).map_or("", |file| &file.text);
            let line = line_of(text, |line| line.starts_with(needed));
            findings.push(Finding::new(&package.manifest, line, wrong, remedy));
        };
        let Some((_, below)) = ROOMS.iter().find(|(name, _)| *name == package.name) else {
            let wrong = format!("the crate `{}` has no line in the table of arrows", package.name);
            find("name", wrong, format!("add it to ROOMS in {TABLE}"));
            continue;
        };
        for need in package.needs.iter().filter(|need| is_ours(&need.name)) {
            arrows += 1;
            let for_tests = need.for_tests && (need.name == TESTKIT || package.name == TESTKIT);
            if package.name != XTASK && !for_tests && !below.contains(&need.name.as_str()) {
                let wrong = format!("`{}` may not need `{}`", package.name, need.name);
                let remedy = "move the code to the room where the arrow points down".to_owned();
                find(&need.name, wrong, remedy);
            }
        }
    }
    let looked = format!("{}, {}", count(ours.len(), "crate"), count(arrows, "arrow"));
    Report { looked, findings }
}

pub(super) fn modules(repository: &Repository) -> Report {
    let floor = |module: &str| FLOORS.iter().position(|floor| floor.contains(&module));
    let (mut files, mut arrows, mut findings) = (0, 0, Vec::new());
    for file in repository.below(CORE) {
        let within = file.path.strip_prefix(CORE).and_then(|path| path.strip_suffix(".rs"));
        // `lib.rs` is the table of contents: it names every module.
        let Some(within) = within.filter(|within| *within != "lib") else { continue };
        let within = within.strip_suffix("/mod").unwrap_or(within);
        let module = within.split('/').next().unwrap_or_default();
        if within.ends_with("/tests") {
            continue;
        }
        files += 1;
        let mut find = |line, wrong: String, remedy: &str| {
            findings.push(Finding::new(&file.path, line, wrong, remedy));
        };
        let Some(own) = floor(module) else {
            let wrong = format!("the module `{module}` stands on no floor");
            find(1, wrong, &format!("add it to FLOORS in {TABLE}"));
            continue;
        };
        for arrow in arrows_of(&file.text, within.split('/').count()) {
            arrows += 1;
            let used = arrow.to.as_str();
            match floor(used) {
                _ if used == module => {}
                Some(other) if other < own => {}
                Some(_) => {
                    let wrong = format!("`{module}` may not use `{used}`, which is not below it");
                    find(arrow.line, wrong, "move what both need to a lower floor");
                }
                None => {
                    let wrong = format!("`crate::{used}` names no module, so its arrow is hidden");
                    find(arrow.line, wrong, "name the module it comes from");
                }
            }
        }
    }
    Report { looked: format!("{}, {}", count(files, "file"), count(arrows, "arrow")), findings }
}

/// A place in the code that names something at the root of the crate.
struct Arrow {
    line: usize,
    to: String,
}

/// Every name that the code takes from the crate's root, seen from a file so many modules deep.
fn arrows_of(text: &str, depth: usize) -> Vec<Arrow> {
    let code = code_of(text);
    let from_root = ["crate::".to_owned(), "super::".repeat(depth)];
    let mut arrows = Vec::new();
    for path in &from_root {
        for (at, _) in code.match_indices(path.as_str()) {
            let (before, rest) = code.split_at(at);
            if before.ends_with(|c: char| c == ':' || is_name(c)) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let rest = rest.strip_prefix(path.as_str()).unwrap_or_default();
            arrows.extend(heads(rest).into_iter().map(|to| Arrow { line, to }));
        }
    }
    arrows
}

/// The text without comments and without modules of tests; the lines keep their numbers.
fn code_of(text: &str) -> String {
    let (mut code, mut in_tests, mut previous) = (Vec::new(), false, "");
    for line in text.lines() {
        in_tests |= previous == "#[cfg(test)]" && line.starts_with("mod ") && line.ends_with('{');
        let without_comment = line.split_once("//").map_or(line, |(code, _)| code);
        code.push(if in_tests { "" } else { without_comment });
        in_tests &= line != "}";
        previous = line;
    }
    code.join("\n")
}

/// The first names of what follows `crate::`: one, or one for each item of a group in braces.
fn heads(rest: &str) -> Vec<String> {
    let first_name = |text: &str| text.chars().take_while(|c| is_name(*c)).collect::<String>();
    let Some(group) = rest.strip_prefix('{') else { return vec![first_name(rest)] };
    let (mut heads, mut depth, mut item_begins) = (Vec::new(), 0_usize, true);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => item_begins = true,
            c if item_begins && is_name(c) => {
                heads.push(first_name(group.get(at..).unwrap_or_default()));
                item_begins = false;
            }
            _ => {}
        }
    }
    heads
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    fn crates_say(packages: &str) -> String {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nactum-store.workspace = true\n";
        let repository = Repository::of(&[("crates/x/Cargo.toml", manifest)]);
        let metadata = format!("{{\"workspace_root\": \"/r\", \"packages\": [{packages}]}}");
        said(&crates(&repository.with_packages(&metadata)).findings)
    }

    fn package(name: &str, needs: &[(&str, &str)]) -> String {
        let need = |(name, kind): &(&str, &str)| format!(r#"{{"name": "{name}", "kind": {kind}}}"#);
        let needs: Vec<String> = needs.iter().map(need).collect();
        format!(
            r#"{{"name": "{name}", "version": "0.1.0", "manifest_path": "/r/crates/x/Cargo.toml",
                "dependencies": [{}]}}"#,
            needs.join(",")
        )
    }

    #[test]
    fn a_crate_may_not_need_one_above_it() {
        let core = package("actum-core", &[("actum-store", "null")]);
        let said = crates_say(&format!("{core},{}", package("actum-store", &[])));
        let wrong = "crates/x/Cargo.toml:5: `actum-core` may not need `actum-store`; ";
        assert!(said.starts_with(wrong), "{said}");
    }

    #[test]
    fn only_tests_may_need_the_testkit() {
        let testkit = package(TESTKIT, &[]);
        let need = |kind| package("actum-store", &[(TESTKIT, kind)]);
        assert_eq!(crates_say(&format!("{testkit},{}", need("\"dev\""))), "");
        assert!(crates_say(&format!("{testkit},{}", need("null"))).contains("may not need"));
    }

    #[test]
    fn a_new_crate_needs_a_line_in_the_table() {
        let said = crates_say(&package("actum-extra", &[]));
        assert!(said.starts_with("crates/x/Cargo.toml:2: the crate `actum-extra`"), "{said}");
    }

    fn modules_say(path: &str, text: &str) -> String {
        said(&modules(&Repository::of(&[(path, text)])).findings)
    }

    #[test]
    fn a_module_may_use_those_below_it() {
        let text = "use crate::{canon::{Digest, Mac}, names};\nuse super::event::Event;\n";
        assert_eq!(modules_say("crates/core/src/chain.rs", text), "");
    }

    #[test]
    fn a_module_may_not_use_one_above_or_beside_it() {
        let text = "//! See crate::ledger.\nuse crate::{\n    canon, views::Runs};\n\
                    fn f() { super::anchor::read(); }\n";
        assert_eq!(
            modules_say("crates/core/src/chain.rs", text),
            "crates/core/src/chain.rs:2: `chain` may not use `views`, which is not below it; \
             move what both need to a lower floor\n\
             crates/core/src/chain.rs:4: `chain` may not use `anchor`, which is not below it; \
             move what both need to a lower floor\n"
        );
    }

    #[test]
    fn a_deeper_file_belongs_to_its_module() {
        let said = modules_say(
            "crates/core/src/chain/link.rs",
            "use super::Chain;\nuse super::super::views::Runs;\n",
        );
        assert!(said.starts_with("crates/core/src/chain/link.rs:2: `chain` may not use `views`"));
    }

    #[test]
    fn an_arrow_may_not_hide_behind_the_root() {
        let said = modules_say("crates/core/src/names.rs", "use crate::Digest;\n");
        assert!(said.contains("`crate::Digest` names no module"), "{said}");
    }

    #[test]
    fn a_new_module_needs_a_floor() {
        let said = modules_say("crates/core/src/extra.rs", "");
        assert!(said.contains("the module `extra` stands on no floor"), "{said}");
    }

    #[test]
    fn tests_may_look_anywhere() {
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::ledger::Ledger;\n}\n";
        assert_eq!(modules_say("crates/core/src/canon.rs", tests), "");
        assert_eq!(
            modules_say("crates/core/src/canon/tests.rs", "use crate::ledger::Ledger;\n"),
            ""
        );
        let after = modules_say("crates/core/src/canon.rs", &format!("{tests}use crate::views;\n"));
        assert!(after.starts_with("crates/core/src/canon.rs:5: "), "{after}");
    }
}

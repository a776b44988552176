//! What we build on: licences, sources, and the reason for each direct dependency. Known vulnerabilities are not looked up.

use std::collections::BTreeMap;

use super::{Finding, Report, count, line_of};
use crate::repository::{Package, Repository};

/// Licences that ask for a notice and no more.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn licences(repository: &Repository) -> Report {
    let mut findings = Vec::new();
    for package in &repository.packages {
        let wrong = match package.licence.as_deref().map(|licence| (licence, allowed(licence))) {
            Some((_, Some(true))) => continue,
            Some((licence, Some(false))) => {
                format!("is under `{licence}`, which tidy does not allow")
            }
            Some((licence, None)) => {
                format!("states its licence as `{licence}`, which is not SPDX")
            }
            None => "states no licence".to_owned(),
        };
        let remedy = "choose another crate, or argue for it in xtask/src/tidy/packages.rs";
        findings.push(in_lock_file(repository, package, &wrong, remedy));
    }
    let scope =
        if repository.host_only { " of this host; the others could not be had" } else { "" };
    Report { looked: count(repository.packages.len(), "package") + scope, findings }
}

pub(super) fn sources(repository: &Repository) -> Report {
    let mut findings = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &repository.packages {
        versions.entry(&package.name).or_default().push(&package.version);
        let wrong = match &package.source {
            Some(source) if source == REGISTRY => continue,
            Some(source) => format!("comes from {source}"),
            None if package.manifest.starts_with('/') => "lies outside the repository".to_owned(),
            None => continue,
        };
        let remedy = "take a release from the registry, or bring it into the workspace";
        findings.push(in_lock_file(repository, package, &wrong, remedy));
    }
    let doubled = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let doubled: Vec<_> =
        doubled.map(|(name, all)| format!("{name} {}", all.join(" and "))).collect();
    let more = if doubled.is_empty() { "none".to_owned() } else { doubled.join(", ") };
    Report { looked: format!("more than one version: {more}"), findings }
}

/// A direct dependency is argued for in the root's manifest, on its line or in the comment that heads its group; a crate takes
/// it from there, so that none comes in past the list.
pub(super) fn reasons(repository: &Repository) -> Report {
    let root = repository.file("Cargo.toml").map_or("", |file| &file.text);
    let chosen: Vec<Line> =
        lines_of(root, "[workspace.dependencies]").filter(|line| !line.is_ours()).collect();
    let mut findings = Vec::new();
    for line in chosen.iter().filter(|line| !line.group_has_reason && !line.value.contains('#')) {
        let wrong = format!("`{}` is a dependency without a reason", line.name);
        let remedy = "say in a comment on its line what it is for";
        findings.push(Finding::new("Cargo.toml", line.number, wrong, remedy));
    }
    let ours = repository.packages.iter().filter(|package| package.source.is_none());
    for file in ours.filter_map(|package| repository.file(&package.manifest)) {
        for line in lines_of(&file.text, "dependencies]").filter(|line| !line.is_ours()) {
            let wrong = format!("`{}` comes in past [workspace.dependencies]", line.name);
            findings.push(Finding::new(&file.path, line.number, wrong, "list it there"));
        }
    }
    Report { looked: format!("{} of our choice", count(chosen.len(), "package")), findings }
}

/// A line of a table of dependencies.
struct Line<'a> {
    number: usize,
    name: &'a str,
    value: &'a str,
    group_has_reason: bool,
}

impl Line<'_> {
    /// A crate of the workspace, or taken from the workspace's list.
    fn is_ours(&self) -> bool {
        self.value.contains("path =")
            || self.value.contains("workspace = true")
            || self.name.ends_with(".workspace")
    }
}

/// The lines of every table whose head ends so. A group begins after an empty line or at a comment.
fn lines_of<'a>(manifest: &'a str, head: &'a str) -> impl Iterator<Item = Line<'a>> {
    let (mut inside, mut group_has_reason) = (false, false);
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with(head);
        }
        if line.trim().is_empty() || line.starts_with('#') {
            group_has_reason = line.starts_with('#');
        }
        // The head of a table for one target has an equals sign of its own.
        let is_line = inside && !line.starts_with(['#', '[']);
        let (name, value) = line.split_once('=').filter(|_| is_line)?;
        Some(Line { number: index + 1, name: name.trim(), value, group_has_reason })
    })
}

fn in_lock_file(repository: &Repository, package: &Package, wrong: &str, remedy: &str) -> Finding {
    let lock = repository.file("Cargo.lock").map_or("", |file| &file.text);
    let name = format!("name = \"{}\"", package.name);
    let wrong = format!("{} {} {wrong}", package.name, package.version);
    Finding::new("Cargo.lock", line_of(lock, |line| line == name), wrong, remedy)
}

/// Whether an SPDX expression can be met with [`LICENCES`] alone; `None` if it is not one. `/` is the old way to write `OR`.
fn allowed(expression: &str) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let allowed = either(&mut words)?;
    words.is_empty().then_some(allowed)
}

/// `a OR b`, on words of which the next is the last.
fn either(words: &mut Vec<&str>) -> Option<bool> {
    let mut allowed = both(words)?;
    while words.pop_if(|word| *word == "OR").is_some() {
        allowed |= both(words)?;
    }
    Some(allowed)
}

/// `a AND b`, which binds closer than `OR`.
fn both(words: &mut Vec<&str>) -> Option<bool> {
    let mut allowed = one(words)?;
    while words.pop_if(|word| *word == "AND").is_some() {
        allowed &= one(words)?;
    }
    Some(allowed)
}

/// A licence, with its exception if it has one, or an expression in parentheses.
fn one(words: &mut Vec<&str>) -> Option<bool> {
    let word = words.pop()?;
    if word == "(" {
        let allowed = either(words)?;
        return (words.pop()? == ")").then_some(allowed);
    }
    if matches!(word, ")" | "OR" | "AND" | "WITH") {
        return None;
    }
    if words.pop_if(|word| *word == "WITH").is_none() {
        return Some(LICENCES.contains(&word));
    }
    Some(LICENCES.contains(&format!("{word} WITH {}", words.pop()?).as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    fn repository(fields: &str) -> Repository {
        let metadata = format!(
            r#"{{"workspace_root": "/r", "packages": [{{"name": "odd", "version": "1.0.0",
                "manifest_path": "/elsewhere/Cargo.toml", "dependencies": [], {fields}}}]}}"#
        );
        let lock = "[[package]]\nname = \"odd\"\nversion = \"1.0.0\"\n";
        Repository::of(&[("Cargo.lock", lock)]).with_packages(&metadata)
    }

    #[test]
    fn a_licence_expression_is_read_as_spdx_means_it() {
        for met in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 / MIT",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0-only AND MPL-2.0 OR MIT",
        ] {
            assert_eq!(allowed(met), Some(true), "{met}");
        }
        for not_met in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT AND (GPL-3.0-only OR MPL-2.0)",
            "MIT WITH LLVM-exception",
            "(MIT OR GPL-3.0-only) AND LGPL-2.1-only",
        ] {
            assert_eq!(allowed(not_met), Some(false), "{not_met}");
        }
        for not_spdx in ["", "MIT OR", "MIT Apache-2.0", "(MIT", "MIT)", "AND MIT", "MIT WITH"] {
            assert_eq!(allowed(not_spdx), None, "{not_spdx}");
        }
    }

    #[test]
    fn copyleft_alone_is_refused_and_so_is_silence() {
        let copyleft = said(&licences(&repository(r#""license": "GPL-3.0-only""#)).findings);
        assert!(copyleft.starts_with("Cargo.lock:2: odd 1.0.0 is under `GPL-3.0-only`"));
        let silent = said(&licences(&repository(r#""license": null"#)).findings);
        assert!(silent.starts_with("Cargo.lock:2: odd 1.0.0 states no licence"), "{silent}");
    }

    #[test]
    fn a_package_comes_from_the_registry_or_lies_inside() {
        let git =
            said(&sources(&repository(r#""source": "git+https://example.org/odd""#)).findings);
        assert!(git.starts_with("Cargo.lock:2: odd 1.0.0 comes from git+https"), "{git}");
        let outside = said(&sources(&repository(r#""source": null"#)).findings);
        assert!(outside.contains("lies outside the repository"), "{outside}");
    }

    #[test]
    fn a_dependency_needs_a_reason() {
        let manifest = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\n\n\
                        # cli: talks\nclap = \"4\"\njiff = \"1\"\n\nbare = \"1\"\nsaid = \"1\" # why\n\
                        [profile.dev]\ndebug = 1\n";
        assert_eq!(
            said(&reasons(&Repository::of(&[("Cargo.toml", manifest)])).findings),
            "Cargo.toml:8: `bare` is a dependency without a reason; \
             say in a comment on its line what it is for\n"
        );
    }

    #[test]
    fn a_crate_takes_its_dependencies_from_the_list() {
        let manifest = "[package]\nname = \"odd\"\n[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n\
                        [dev-dependencies]\ninsta.workspace = true\nx = { workspace = true }\n";
        let metadata = r#"{"workspace_root": "/r", "packages": [{"name": "odd", "version": "1.0.0",
            "manifest_path": "/r/odd/Cargo.toml", "dependencies": []}]}"#;
        let repository = Repository::of(&[("odd/Cargo.toml", manifest)]).with_packages(metadata);
        assert_eq!(
            said(&reasons(&repository).findings),
            "odd/Cargo.toml:4: `libc` comes in past [workspace.dependencies]; list it there\n"
        );
    }
}

//! Every test that SECURITY.md names is there: a promise whose test was renamed or dropped is a promise nobody keeps.

use super::{Finding, Report, count};
use crate::repository::{Repository, is_kind};

const PAGE: &str = "SECURITY.md";

pub(super) fn kept(repository: &Repository) -> Report {
    let Some(page) = repository.file(PAGE) else {
        return Report::nothing("there is no SECURITY.md");
    };
    let (mut named, mut findings) = (0, Vec::new());
    for (line, (file, test)) in tests_of(&page.text) {
        named += 1;
        let ends = [format!("/{file}.rs"), format!("/{file}/mod.rs")];
        let holds = format!("fn {test}(");
        let there = repository.files.iter().any(|it| {
            is_kind(&it.path, "rs")
                && ends.iter().any(|end| it.path.ends_with(end))
                && it.text.contains(&holds)
        });
        if !there {
            let wrong = format!("no test `{file}::{test}` is there");
            findings.push(Finding::new(PAGE, line, wrong, "name the test that shows the promise"));
        }
    }
    Report { looked: count(named, "test"), findings }
}

/// The tests a page names, each `file::test` in backticks, with their lines.
fn tests_of(text: &str) -> Vec<(usize, (String, String))> {
    let mut tests = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in line.split('`').skip(1).step_by(2) {
            let plain = |part: &str| {
                !part.is_empty()
                    && part.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c))
            };
            if let Some((file, test)) = word.split_once("::")
                && plain(file)
                && plain(test)
                && test != "test"
            {
                tests.push((at + 1, (file.to_owned(), test.to_owned())));
            }
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn a_named_test_that_is_gone_is_found_at_its_line() {
        let page = "text\n| cut | `tamper::a_cut_is_seen` |\n";
        let with = |test: &str| {
            let files = [(PAGE, page), ("crates/store/tests/it/tamper.rs", test)];
            said(&kept(&Repository::of(&files)).findings)
        };
        assert_eq!(with("fn a_cut_is_seen() {}"), "");
        assert!(with("fn a_cut_is_seen_now() {}").starts_with("SECURITY.md:2: "));
    }
}

//! Pages that are made from the code are what the code would make now.

use std::path::Path;

use super::{Finding, Report, count};
use crate::repository::Repository;

/// One line a page: `Page { path: "docs/reason-codes.md", make: reason_codes },`. `cargo xtask tidy --write` makes them all.
const PAGES: &[Page] = &[
    Page { path: "docs/reason-codes.md", make: actum_core::reason_page },
    Page { path: "docs/callers.md", make: actum_core::callers_page },
    Page { path: "docs/decision-codes.md", make: actum_core::decision_page },
    Page { path: "docs/cases.md", make: cases_page },
    Page { path: "docs/cli.md", make: actum_cli::reference_page },
];

/// What is wrong with a case stands in the place of the page, so that the page is found not to be current.
fn cases_page() -> String {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../cases"));
    actum_testkit::cases::page(folder).unwrap_or_else(|error| error)
}

struct Page {
    path: &'static str,
    make: fn() -> String,
}

pub(super) fn current(repository: &Repository) -> Report {
    check(repository, PAGES)
}

/// Makes every page anew; one that is current is not touched.
pub(super) fn write(root: &Path) -> Result<(), String> {
    for page in PAGES {
        let (path, text) = (root.join(page.path), (page.make)());
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("wrote {}", page.path);
    }
    Ok(())
}

fn check(repository: &Repository, pages: &[Page]) -> Report {
    if pages.is_empty() {
        return Report::nothing("PAGES in xtask/src/tidy/generated.rs is empty");
    }
    let mut findings = Vec::new();
    for page in pages {
        let text = repository.file(page.path).map_or("", |file| &file.text);
        let made = (page.make)();
        if text == made {
            continue;
        }
        let line =
            made.lines().zip(text.lines()).take_while(|(made, text)| made == text).count() + 1;
        let wrong = "the page is not what the code makes now";
        findings.push(Finding::new(page.path, line, wrong, "run `cargo xtask tidy --write`"));
    }
    Report { looked: count(pages.len(), "page"), findings }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn a_page_that_fell_behind_is_found_at_its_first_line_that_differs() {
        let pages = [Page { path: "docs/codes.md", make: || "# Codes\nnew\n".to_owned() }];
        let said_of =
            |text| said(&check(&Repository::of(&[("docs/codes.md", text)]), &pages).findings);
        assert_eq!(said_of("# Codes\nnew\n"), "");
        assert!(said_of("# Codes\nold\n").starts_with("docs/codes.md:2: "));
    }

    #[test]
    fn an_empty_table_says_that_nothing_was_checked() {
        assert!(check(&Repository::of(&[]), &[]).looked.starts_with("nothing: "));
    }
}

//! A format is what its vectors say: each page of `docs/formats/` has a folder of them or a reason for having none.

use super::{Finding, Report, count};
use crate::repository::{File, Repository, is_kind};

/// One line a page. As soon as there is one, every page and every folder of `vectors/` needs its line. Written so:
/// `Page { path: "docs/formats/ledger.md", vectors: Vectors::In("vectors/ledger/") },` for bytes that others must be able to
/// read, `Page { path: "docs/formats/policy.md", vectors: Vectors::None("a file a person writes") },` for all else.
const PAGES: &[Page] = &[
    Page { path: "docs/formats/ledger.md", vectors: Vectors::In("vectors/ledger/") },
    Page {
        path: "docs/formats/subject.md",
        vectors: Vectors::None(
            "a manifest is read by the machine that wrote it, and proves nothing",
        ),
    },
    Page { path: "docs/formats/policy.md", vectors: Vectors::None("a file that a person writes") },
    Page {
        path: "docs/formats/entries.md",
        vectors: Vectors::None("the files are those of other programs; tests show what is read"),
    },
    Page {
        path: "docs/formats/values.md",
        vectors: Vectors::None("digests of calls are kept, their bytes are not; a test pins one"),
    },
    Page {
        path: "docs/formats/socket.md",
        vectors: Vectors::None("nothing of it is kept; tests pin lines, and the decoder is fuzzed"),
    },
];
const TABLE: &str = "xtask/src/tidy/formats.rs";

#[derive(Clone, Copy)]
struct Page {
    path: &'static str,
    vectors: Vectors,
}

#[derive(Clone, Copy)]
enum Vectors {
    /// A folder, with its closing `/`.
    In(&'static str),
    /// The reason why there are none.
    None(&'static str),
}

pub(super) fn vectors(repository: &Repository) -> Report {
    check(repository, PAGES)
}

fn check(repository: &Repository, pages: &[Page]) -> Report {
    if pages.is_empty() {
        return Report::nothing(&format!("PAGES in {TABLE} is empty"));
    }
    let mut findings = Vec::new();
    let mut find = |path: &str, wrong: String, remedy: &str| {
        findings.push(Finding::new(path, 1, wrong, remedy));
    };
    let mut cases = 0;
    for page in pages {
        if repository.file(page.path).is_none() {
            find(TABLE, format!("PAGES names {}, which is not there", page.path), "take it out");
        }
        let folder = match page.vectors {
            Vectors::In(folder) => folder,
            Vectors::None("") => {
                find(TABLE, format!("{} has no vectors and no reason", page.path), "say why");
                continue;
            }
            Vectors::None(_) => continue,
        };
        let vectors = vectors_of(repository, folder);
        cases += vectors.len();
        if vectors.is_empty() {
            let remedy = format!("put cases into {folder}");
            find(page.path, "the format has no vectors".to_owned(), &remedy);
        }
        for vector in vectors.into_iter().filter(|vector| !says_what_to_expect(&vector.text)) {
            let remedy = "add `expect: ` before the first empty line";
            find(&vector.path, "the vector does not say what to expect".to_owned(), remedy);
        }
    }
    let remedy = format!("add it to PAGES in {TABLE}");
    for page in repository.below("docs/formats/") {
        if !pages.iter().any(|known| known.path == page.path) {
            let wrong = "nothing says where the vectors of this page are".to_owned();
            find(&page.path, wrong, &remedy);
        }
    }
    for file in repository.below("vectors/") {
        let lies_in = |page: &Page| match page.vectors {
            Vectors::In(folder) => file.path.starts_with(folder),
            Vectors::None(_) => false,
        };
        let is_in_a_folder = file.path.matches('/').count() > 1;
        if is_in_a_folder && !pages.iter().any(lies_in) {
            find(&file.path, "no page states the format of this vector".to_owned(), &remedy);
        }
    }
    let looked = format!("{}, {}", count(pages.len(), "page"), count(cases, "vector"));
    Report { looked, findings }
}

/// The cases in a folder: all its files but what explains them.
fn vectors_of<'a>(repository: &'a Repository, folder: &'a str) -> Vec<&'a File> {
    repository.below(folder).filter(|file| !is_kind(&file.path, "md")).collect()
}

fn says_what_to_expect(vector: &str) -> bool {
    let mut headers = vector.lines().take_while(|line| !line.is_empty());
    headers.any(|line| line.starts_with("expect: "))
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    const LEDGER: Page =
        Page { path: "docs/formats/ledger.md", vectors: Vectors::In("vectors/ledger/") };
    const POLICY: Page =
        Page { path: "docs/formats/policy.md", vectors: Vectors::None("a person's file") };

    fn said_of(files: &[(&str, &str)], pages: &[Page]) -> String {
        let all =
            [&[("docs/formats/ledger.md", ""), ("docs/formats/policy.md", "")], files].concat();
        said(&check(&Repository::of(&all), pages).findings)
    }

    #[test]
    fn an_empty_table_says_that_nothing_was_checked() {
        assert!(check(&Repository::of(&[]), &[]).looked.starts_with("nothing: "));
    }

    #[test]
    fn a_format_with_vectors_is_fine() {
        let good = ("vectors/ledger/one", "comment: one\nexpect: head 00\n\n00\n");
        assert_eq!(said_of(&[good, ("vectors/check.py", "")], &[LEDGER, POLICY]), "");
    }

    #[test]
    fn an_empty_folder_fails() {
        assert!(said_of(&[], &[LEDGER, POLICY]).contains("ledger.md:1: the format has no vectors"));
    }

    #[test]
    fn a_vector_that_expects_nothing_fails() {
        let said =
            said_of(&[("vectors/ledger/one", "comment: x\n\nexpect: y\n")], &[LEDGER, POLICY]);
        assert!(said.contains("vectors/ledger/one:1: the vector does not say"), "{said}");
    }

    #[test]
    fn a_page_or_a_folder_without_a_line_fails() {
        let good = ("vectors/ledger/one", "expect: head 00\n\n00\n");
        let said = said_of(&[good, ("vectors/other/one", "")], &[LEDGER]);
        assert!(said.contains("docs/formats/policy.md:1: nothing says where"), "{said}");
        assert!(said.contains("vectors/other/one:1: no page states"), "{said}");
    }
}

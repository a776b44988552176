//! Links in documents lead somewhere: to a file or folder the repository holds, and to a heading in it if they name one.
//! What leads out of the repository is not looked up; code is not read.

use super::{Finding, Report, count};
use crate::repository::{Repository, is_kind};

pub(super) fn resolve(repository: &Repository) -> Report {
    let (mut links, mut findings) = (0, Vec::new());
    for page in repository.files.iter().filter(|file| is_kind(&file.path, "md")) {
        for (line, link) in links_of(&page.text) {
            links += 1;
            if let Some(wrong) = complaint(repository, &page.path, &link) {
                findings.push(Finding::new(&page.path, line, wrong, "correct it"));
            }
        }
    }
    Report { looked: count(links, "link"), findings }
}

/// What is wrong with a link on a page.
fn complaint(repository: &Repository, page: &str, link: &str) -> Option<String> {
    let (path, anchor) =
        link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let target = if path.is_empty() { Some(page.to_owned()) } else { join(folder, path) };
    let Some(target) = target.filter(|target| repository.holds(target)) else {
        return Some(format!("the link `{link}` leads to nothing"));
    };
    let anchor = anchor.filter(|_| is_kind(&target, "md"))?;
    let text = repository.file(&target).map_or("", |file| &file.text);
    (!anchors_of(text).iter().any(|known| known == anchor))
        .then(|| format!("the link `{link}` leads to no heading of {target}"))
}

/// A path seen from a folder; `None` if it climbs out of the repository.
fn join(folder: &str, path: &str) -> Option<String> {
    let from_root = path.strip_prefix('/');
    let mut parts: Vec<&str> = Vec::new();
    let start = if from_root.is_some() { "" } else { folder };
    for part in start.split('/').chain(from_root.unwrap_or(path).split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The links of a page that stay inside the repository, with their lines: `[..](target)` and `[..]: target`.
fn links_of(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, prose) in prose_of(text) {
        let definition = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let targets = inline.map(|(target, _)| target).chain(definition.map(|(_, target)| target));
        let first_words = targets.filter_map(|target| target.split_whitespace().next());
        let inside =
            first_words.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
        links.extend(inside.map(|target| (line, target.to_owned())));
    }
    links
}

/// The anchors of a page's headings, made as code forges make them: small letters, hyphens for spaces, no other signs, and a
/// number behind the second of the same name.
fn anchors_of(text: &str) -> Vec<String> {
    let (mut anchors, mut heading_names) = (Vec::new(), Vec::new());
    for line in text_outside_fences(text).map(|(_, line)| line) {
        let Some(heading) =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        else {
            continue;
        };
        let kept =
            heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let twins = heading_names.iter().filter(|name| **name == anchor).count();
        anchors.push(if twins == 0 { anchor.clone() } else { format!("{anchor}-{twins}") });
        heading_names.push(anchor);
    }
    anchors
}

/// The lines with their numbers, without fenced blocks and without what stands between backticks.
fn prose_of(text: &str) -> impl Iterator<Item = (usize, String)> {
    text_outside_fences(text)
        .map(|(number, line)| (number, line.split('`').step_by(2).collect::<Vec<_>>().join("`")))
}

fn text_outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((index + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    fn said_of(text: &str) -> String {
        let other = "# The `ledger` format, version 1\n\n## Same\n\n## Same\n";
        let files = [("docs/a.md", text), ("docs/formats/b.md", other), ("src/lib.rs", "")];
        said(&resolve(&Repository::of(&files)).findings)
    }

    #[test]
    fn a_link_that_leads_somewhere_is_fine() {
        let text = "# A page\n[b](formats/b.md) [f](formats/) [up](../src/lib.rs) [me](#a-page)\n\
                    [v](formats/b.md#the-ledger-format-version-1) [s](formats/b.md#same-1)\n\
                    [out](https://example.org/x) `[code](nowhere)`\n```\n[code](nowhere)\n```\n\
                    [ref]: formats/b.md\n";
        assert_eq!(said_of(text), "");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        assert_eq!(
            said_of("# A\n\n[x](gone.md) [y](../../outside.md)\n[z]: gone.md\n"),
            "docs/a.md:3: the link `gone.md` leads to nothing; correct it\n\
             docs/a.md:3: the link `../../outside.md` leads to nothing; correct it\n\
             docs/a.md:4: the link `gone.md` leads to nothing; correct it\n"
        );
    }

    #[test]
    fn a_link_to_a_heading_that_is_not_there_is_found() {
        let said = said_of("[x](formats/b.md#version-2) [y](#nothing)\n");
        assert!(said.contains("`formats/b.md#version-2` leads to no heading of docs/formats/b.md"));
        assert!(said.contains("`#nothing` leads to no heading of docs/a.md"), "{said}");
    }
}

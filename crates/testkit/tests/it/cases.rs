//! The public conformance set comes out as it says, and otherwise without the rules that each case names.

use std::path::Path;

use actum_core::Rule;
use actum_testkit::cases::{Case, LIST, all, page, play};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"))
}

#[test]
fn every_case_comes_out_as_it_says() {
    let mut wrong = Vec::new();
    for (name, case) in all(folder()).unwrap() {
        if let Err(fault) = play(&case, &[]) {
            wrong.push(format!("{name}: {fault:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_its_rules_every_case_comes_out_otherwise() {
    let mut wrong = Vec::new();
    for (name, case) in all(folder()).unwrap() {
        let rules = case.named_rules().unwrap();
        if play(&case, &rules).is_ok() {
            wrong.push(format!("{name}: holds without {:?}", case.rules));
        }
        // Where it names several, each alone is enough.
        for off in rules.iter().filter(|_| rules.len() > 1) {
            if let Err(fault) = play(&case, &[*off]) {
                wrong.push(format!("{name}: needs {} by itself: {fault:?}", off.word()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let cases = all(folder()).unwrap();
    let named: Vec<Rule> = cases.values().flat_map(|case| case.named_rules().unwrap()).collect();
    let without: Vec<_> =
        Rule::ALL.iter().filter(|rule| !named.contains(rule)).map(|rule| rule.word()).collect();
    assert!(without.is_empty(), "no case names {without:?}");
}

#[test]
fn every_case_of_the_papers_is_on_the_page() {
    let page = page(folder()).unwrap();
    let on_page = |id: &str| {
        let words = page.split(|c: char| !c.is_ascii_alphanumeric());
        words.into_iter().any(|word| word == id)
    };
    let ids = LIST
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")));
    let missing: Vec<String> = ids.filter(|id| !on_page(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_case_that_asks_nothing_or_is_misspelled_is_none() {
    let case =
        |steps: &str| Case::read(&format!("title = 'x'\nsource = 'x'\nrules = ['read']\n{steps}"));
    let act = "[[step]]\ndo = 'act'\ntool = 'x'\n";
    assert!(case(act).unwrap_err().contains("expects"));
    assert!(case(&format!("{act}expect = 'deny'")).is_ok());
    assert!(case(&format!("{act}expects = 'deny'")).unwrap_err().contains("unknown field"));
    assert!(case("[[step]]\ndo = 'dance'").is_err());
}

//! The page that lists the cases, and the table of ablations.

use std::collections::BTreeMap;
use std::path::Path;

use actum_core::Rule;

use super::elsewhere::{NOT_DECIDED, SHOWN};
use super::{all, play};

fn row((case, what, how): &(&str, &str, &str)) -> String {
    format!("| {case} | {what} | {how} |\n")
}

/// The page of cases, made from the folder `cases/`.
///
/// # Errors
/// A case that cannot be read.
pub fn page(folder: &Path) -> Result<String, String> {
    let cases = all(folder)?;
    let mut page = String::from(
        "# Cases\n\nMade from `cases/` by `cargo xtask tidy --write`; do not edit. Each is a file of that name there and is\n\
         played by the test suite; `cases/README.md` says how one is written.\n",
    );
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut rules: BTreeMap<Rule, Vec<&str>> = BTreeMap::new();
    for (name, case) in &cases {
        let (folder, short) = name.split_once('/').unwrap_or(("", name));
        let row = format!(
            "| `{short}` | {} | {} | {} |\n",
            case.title,
            case.rules.join(", "),
            case.source
        );
        folders.entry(folder).or_default().push(row);
        for rule in case.named_rules()? {
            rules.entry(rule).or_default().push(name);
        }
    }
    for (folder, rows) in folders {
        page.push_str("\n## ");
        page.push_str(folder);
        page.push_str("\n\n| case | what it shows | rules | source |\n|---|---|---|---|\n");
        page += &rows.concat();
    }
    page += "\n## Shown elsewhere\n\nCases of the papers' list that are no question to the gate, and the test of which crate shows each.\n\n\
        | case | what | shown by |\n|---|---|---|\n";
    page += &SHOWN.iter().map(row).collect::<String>();
    page += "\n## Not decided\n\n| case | what | why not |\n|---|---|---|\n";
    page += &NOT_DECIDED.iter().map(row).collect::<String>();
    page += "\n## Ablations\n\nEvery case played once more for each rule, with that rule off. *Named* cases are those that name the rule;\n\
        each of them comes out otherwise without it (where a case names two rules, without both). *Others* come out otherwise\n\
        too.\n\n| rule | named | others |\n|---|---:|---:|\n";
    let mut rows = Vec::new();
    for rule in Rule::ALL {
        let named = rules.get(rule).map(Vec::as_slice).unwrap_or_default();
        let otherwise = cases.iter().filter(|(_, case)| play(case, &[*rule]).is_err());
        let others = otherwise.filter(|(name, _)| !named.contains(&name.as_str())).count();
        rows.push(format!("| `{}` | {} | {others} |\n", rule.word(), named.len()));
    }
    rows.push(format!("\n{} cases.\n", cases.len()));
    Ok(page + &rows.concat())
}

//! What became of each hypothesis. Their texts and rules are in docs/lab/hypotheses.md and docs/lab/hypotheses-article.md, which were
//! written before the first recorded run; here each is one function of the scores.

mod forged;
mod refire;

use serde::Serialize;

use super::Scores;
use super::table::Table;
use crate::stats::Share;

/// What became of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// It came out as expected.
    Held,
    /// It did not.
    Failed,
    /// The lines that it is judged by are not there.
    NotTested,
}

impl Held {
    const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "failed",
            Self::NotTested => "not tested",
        }
    }
}

/// One hypothesis, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Its name.
    pub id: &'static str,
    /// What was expected, in short.
    pub expected: &'static str,
    /// What became of it.
    pub held: Held,
    /// On which figures.
    pub because: String,
}

/// Whether it came out as expected, and on which figures; nothing where the lines are not there.
type Found = Option<(bool, String)>;

/// A hypothesis: its name, what was expected, and how it is judged.
type Hypothesis = (&'static str, &'static str, fn(&Scores<'_>) -> Found);

/// Every hypothesis, judged by these lines.
pub fn verdicts(scores: &Scores<'_>) -> Vec<Verdict> {
    let judge = |(id, expected, judge): &Hypothesis| {
        let (held, because) = match judge(scores) {
            None => (Held::NotTested, String::new()),
            Some((true, because)) => (Held::Held, because),
            Some((false, because)) => (Held::Failed, because),
        };
        Verdict { id, expected, held, because }
    };
    forged::ALL.iter().chain(refire::ALL).map(judge).collect()
}

pub(super) fn table(scores: &Scores<'_>) -> Table {
    let title = "Hypotheses, and what became of them";
    let mut table =
        Table::new("hypotheses", title, &["", "expected", "came out", "on which figures"]);
    for verdict in verdicts(scores) {
        table.row(&[verdict.id, verdict.expected, verdict.held.word(), &verdict.because], []);
    }
    table.note("Written before the first recorded run: docs/lab/hypotheses.md, docs/lab/hypotheses-article.md. H-F13 is reported only: table I, `basic`.");
    table
}

fn words(share: Share) -> String {
    share.percent().map_or_else(
        || "not run".to_owned(),
        |percent| {
            let (low, high) = share.interval();
            format!("{percent:.0} % [{low:.0}, {high:.0}] of {}", share.of)
        },
    )
}

fn measured(share: Share) -> Option<Share> {
    (share.of > 0).then_some(share)
}

fn overlap(one: Share, other: Share) -> bool {
    let ((low, high), (from, to)) = (one.interval(), other.interval());
    low <= to && from <= high
}

/// All of these together; nothing of nothing.
fn all_of(found: Vec<(bool, String)>) -> Found {
    let because: Vec<&str> = found.iter().map(|it| it.1.as_str()).collect();
    (!found.is_empty()).then(|| (found.iter().all(|it| it.0), because.join("; ")))
}

/// Whether it is so of each model.
fn of_models(scores: &Scores<'_>, is: impl Fn(&str) -> Found) -> Found {
    let named =
        |model: &str| is(model).map(|(held, because)| (held, format!("{model}: {because}")));
    all_of(scores.models().into_iter().filter_map(named).collect())
}

/// The largest model by its name, which says its size.
fn largest<'l>(scores: &Scores<'l>) -> Option<&'l str> {
    let size = |name: &str| {
        let sizes = name.split('-').filter_map(|part| part.strip_suffix('b')?.parse::<f64>().ok());
        sizes.fold(0.0, f64::max)
    };
    scores.models().into_iter().max_by(|a, b| size(a).total_cmp(&size(b)))
}

//! Figures 2 to 6 of the paper, drawn from our own lines.

use super::svg::{Curve, Figure, Group, bars, curves, matrix};
use crate::defence::Kind;
use crate::overhead::Overhead;
use crate::score::{
    BESIDE, Evidence, STYLES, Scores, benign_rates, matrix_rows, matrix_word, searched,
    success_rates,
};
use crate::stats::{Share, median};

const SERIES: [&str; 4] = ["No defence", "SENTINEL", "PoEM", "Actum"];

/// Every figure for which there is something to draw.
pub(super) fn all(evidence: &Evidence) -> Vec<Figure> {
    let scores = Scores::new(&evidence.lines);
    let mut figures =
        vec![figure_2(&scores), figure_3(&scores), figure_4(&scores), figure_5(&scores)];
    if let Some(overhead) = &evidence.overhead {
        figures.push(figure_6(overhead, evidence));
    }
    figures
}

fn measured(share: Share) -> Option<Share> {
    (share.of > 0).then_some(share)
}

fn groups(agents: &[&str], of: impl Fn(&str, &Kind) -> Share) -> Vec<Group> {
    let group = |agent: &&str| Group {
        name: (*agent).to_owned(),
        bars: BESIDE.iter().map(|kind| measured(of(agent, kind))).collect(),
    };
    agents.iter().map(group).collect()
}

fn figure_2(scores: &Scores<'_>) -> Figure {
    let agents = scores.agents();
    let panel = |attack: &str, name: &str| {
        (name.to_owned(), groups(&agents, |agent, kind| success_rates(scores, agent, attack, kind)))
    };
    let panels = [
        panel("basic", "FARMA, overt notes (basic)"),
        panel("adaptive", "FARMA, reworded notes (adaptive)"),
    ];
    let words = (
        "Figure 2: forged reasoning by agent and defence",
        "attack success over three scenarios; whiskers are 95 % Wilson intervals",
        "attack success, %",
    );
    bars("figure-2", words, &SERIES, &panels)
}

fn figure_3(scores: &Scores<'_>) -> Figure {
    let mut agents = scores.agents();
    agents.retain(|agent| searched(scores, agent, &Kind::None).of > 0);
    let panels = [(String::new(), groups(&agents, |agent, kind| searched(scores, agent, kind)))];
    let words = (
        "Figure 3: an automated attacker that knows SENTINEL",
        "share of its notes that succeed against each defence; whiskers are 95 % Wilson intervals",
        "notes that succeed, %",
    );
    bars("figure-3", words, &SERIES, &panels)
}

fn figure_4(scores: &Scores<'_>) -> Figure {
    let mut agents = scores.agents();
    agents.retain(|agent| *agent != crate::agent::CAUTIOUS);
    let rate = |agent: &str, kind: &Kind| {
        let of = |style| benign_rates(scores, agent, style, kind);
        STYLES.into_iter().map(of).fold(Share::default(), Share::and)
    };
    let panels = [(String::new(), groups(&agents, rate))];
    let words = (
        "Figure 4: legitimate skips on benign traces",
        "steps that really ran and are rightly skipped, three styles of log together; more is better; whiskers are 95 % Wilson intervals",
        "rightly skipped, %",
    );
    bars("figure-4", words, &SERIES, &panels)
}

fn figure_5(scores: &Scores<'_>) -> Figure {
    let titles: Vec<String> = Kind::ALL.iter().map(Kind::title).collect();
    let columns: Vec<&str> = titles.iter().map(String::as_str).collect();
    let row = |(attack, cells): (String, [Share; 8])| (attack, cells.map(matrix_word).to_vec());
    let rows: Vec<(String, Vec<&'static str>)> = matrix_rows(scores).into_iter().map(row).collect();
    let words = (
        "Figure 5: attacks that know the defence, on the obedient stub",
        "forged-event, cross-subject and exempt are the paper's A, B and C; from direct on, what the paper leaves out",
    );
    matrix("figure-5", words, &columns, &rows)
}

fn figure_6(overhead: &Overhead, evidence: &Evidence) -> Figure {
    let curve = |name: &str, of: &dyn Fn(&crate::overhead::Row) -> Option<f64>| {
        let points = overhead.rows.iter().filter_map(|row| Some((f64::from(row.events), of(row)?)));
        Curve { name: name.to_owned(), points: points.collect(), published: false }
    };
    let mut all = vec![
        curve("Actum, grounding check", &|row| Some(row.grounding_ns)),
        curve("Actum, whole verification", &|row| Some(row.verify_ns)),
        curve("paper's check in Python", &|row| row.python_grounding_ns),
    ];
    let ends = |ns: f64| {
        let sizes: Vec<f64> = overhead.rows.iter().map(|row| f64::from(row.events)).collect();
        sizes.first().into_iter().chain(sizes.last()).map(|size| (*size, ns)).collect()
    };
    if let Some((model, times)) = evidence.answer_ms.iter().next_back() {
        let ms: Vec<f64> =
            times.iter().filter_map(|ms| u32::try_from(*ms).ok()).map(f64::from).collect();
        if let Some(ns) = median(&ms).map(super::nanos) {
            let name = format!("one answer of {}", short(model));
            all.push(Curve { name, points: ends(ns), published: false });
        }
    }
    all.push(Curve {
        name: "one model call (published)".to_owned(),
        points: ends(super::nanos(1218.0)),
        published: true,
    });
    all.retain(|curve| !curve.points.is_empty());
    let ticks = [
        (10.0, "10 ns"),
        (1e2, "100 ns"),
        (1e3, "1 µs"),
        (1e4, "10 µs"),
        (1e5, "100 µs"),
        (1e6, "1 ms"),
        (1e7, "10 ms"),
        (1e8, "100 ms"),
        (1e9, "1 s"),
        (1e10, "10 s"),
    ];
    let words = (
        "Figure 6: what a grounding check costs beside a model call",
        "medians of one run on one machine; the dashed line is the paper's GPT-4o-mini",
    );
    curves("figure-6", words, ("events in the ledger", "time"), &ticks, &all)
}

/// A model's name without what makes it long.
fn short(model: &str) -> String {
    model.chars().take(24).collect()
}

//! Tables IV and V: what a grounding check costs, and a real LangChain agent.

use super::super::Evidence;
use super::super::published::{LangChain, LangChainRow, MODEL_CALL_MS, TABLE_IV, TABLE_V};
use super::super::table::{Cell, Table, thousands};
use super::models::percent;
use super::{BESIDE, ratio};
use crate::overhead::Row;
use crate::stats::{Share, median};

pub(super) fn table_iv(evidence: &Evidence) -> Table {
    let title = "Table IV: what a grounding check costs";
    let columns = [
        "events",
        "Actum, check",
        "paper's in Python, check",
        "times faster",
        "published, check",
        "Actum, whole verification",
        "paper's in Python, verification",
        "Actum, bytes an event",
        "published, bytes an event",
        "beside the paper",
    ];
    let mut table = Table::new("table-4", title, &columns);
    let Some(overhead) = &evidence.overhead else {
        table.note("Not measured yet: `actum-lab overhead --out DIR` writes overhead.json.");
        return table;
    };
    for row in &overhead.rows {
        let published = TABLE_IV.iter().find(|it| it.0 == row.events);
        let micro = |ns: Option<f64>| Cell::number(ns.map(in_micro), 1, "µs");
        let faster = row.python_grounding_ns.map(|python| ratio(python, row.grounding_ns));
        table.row(
            &[&thousands(f64::from(row.events), 0)],
            [
                Cell::Number(row.grounding_ns, 0, "ns"),
                micro(row.python_grounding_ns),
                Cell::number(faster, 0, "×"),
                Cell::number(published.map(|it| it.1), 0, "µs"),
                micro(Some(row.verify_ns)),
                micro(row.python_verify_ns),
                Cell::Number(row.bytes_an_event, 1, ""),
                Cell::number(published.map(|it| it.3), 0, ""),
                published.map_or(Cell::None, |it| Cell::text(beside_iv(row, *it))),
            ],
        );
    }
    if let Some(row) = overhead.rows.iter().find(|row| row.events == 1_000) {
        let python = Cell::number(row.python_grounding_ns.map(in_micro), 0, "µs").words();
        let ours = Cell::Number(row.grounding_ns, 0, "ns").words();
        table.note(format!("At 1,000 events the paper publishes 1459 µs; its rule in our Python takes {python} on this machine, ours {ours}. The ratio is what to read: the machines differ."));
    }
    for (model, times) in &evidence.answer_ms {
        let ms: Vec<f64> =
            times.iter().filter_map(|ms| u32::try_from(*ms).ok()).map(f64::from).collect();
        if let Some(ms) = median(&ms) {
            let largest = overhead.rows.last().map(|row| ratio(row.grounding_ns, in_nanos(ms)));
            let part = percent(largest).map_or(String::new(), |part| format!(" The check on the largest ledger here is {part:.6} % of it (published: 0.12 % at 1,000 events)."));
            table.note(format!("One answer of {model}: median {ms:.0} ms over {} answers, on the machine of its recording (published: {MODEL_CALL_MS} ms for GPT-4o-mini).{part}", times.len()));
        }
    }
    table.note("The paper's check verifies the whole chain each time; ours looks a run up in a ledger that was verified when it was opened. Our bytes hold more: content, rule, tool, session, outcome. Both sides were measured in one run.");
    table
}

/// How a row of ours stands to the published one.
fn beside_iv(row: &Row, (_, grounding_us, _, bytes): (u32, f64, f64, f64)) -> String {
    let (ours, times) =
        (in_micro(row.grounding_ns), ratio(grounding_us, in_micro(row.grounding_ns)));
    let faster = if times >= 1.0 {
        format!("{} times faster, on another machine and in another language", thousands(times, 0))
    } else {
        "slower".to_owned()
    };
    let smaller = if row.bytes_an_event < bytes { "fewer bytes" } else { "no fewer bytes" };
    let paper = thousands(grounding_us, 0);
    format!("ours {ours:.2} µs, paper {paper} µs: {faster}; {smaller}")
}

#[expect(clippy::float_arithmetic, reason = "a unit")]
fn in_nanos(ms: f64) -> f64 {
    ms * 1e6
}

#[expect(clippy::float_arithmetic, reason = "a unit")]
fn in_micro(ns: f64) -> f64 {
    ns / 1000.0
}

pub(super) fn table_v(langchain: Option<&LangChain>) -> Table {
    let title = "Table V: a real LangChain agent";
    let columns = ["scenario", "metric", "No defence", "SENTINEL", "PoEM", "Actum"];
    let mut table = Table::new("table-5", title, &columns);
    if let Some(found) = langchain {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for row in &found.rows {
            if !seen.contains(&(&row.scenario, &row.metric)) {
                seen.push((&row.scenario, &row.metric));
            }
        }
        for (scenario, metric) in seen {
            let cells = BESIDE.map(|kind| {
                let of = |row: &&LangChainRow| {
                    row.scenario == scenario && row.metric == metric && row.defence == kind.word()
                };
                let row = found.rows.iter().find(of);
                row.map_or(Cell::None, |row| {
                    Cell::Share(Share { hits: row.hits.min(row.of), of: row.of })
                })
            });
            table.row(&[scenario, metric], cells);
        }
        table.note(format!("{} on {}.", found.model, found.versions));
    } else {
        table.note("Not yet run here: no results of a LangChain agent were given. docs/lab/langchain.md has the shape of such a file.");
    }
    for (scenario, metric, published) in TABLE_V {
        let cells = published.map(Cell::Percent).into_iter().chain([Cell::None]);
        table.row(&[&format!("{scenario} (published)"), metric], cells);
    }
    table
}

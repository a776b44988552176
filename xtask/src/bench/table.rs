//! The table: rows in the order in which they were measured, then a verdict on each target.

use serde_json::{Map, Value, json};

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    verdicts: Vec<Verdict>,
    notes: Vec<String>,
}

/// One line: what was measured, ours, what stands beside it, and how they compare.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) ours: String,
    pub(super) beside: String,
    pub(super) ratio: String,
    /// The figures behind the words.
    pub(super) figures: Value,
}

#[derive(Debug)]
pub(super) struct Verdict {
    target: String,
    found: String,
    met: bool,
}

const HEADINGS: [&str; 4] = ["what", "Actum", "beside it", "ratio"];

impl Table {
    pub(super) fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(super) fn target(&mut self, target: &str, found: String, met: bool) {
        self.verdicts.push(Verdict { target: target.to_owned(), found, met });
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn verdicts(&self) -> impl Iterator<Item = String> + '_ {
        self.verdicts.iter().map(|verdict| {
            let Verdict { target, found, met } = verdict;
            format!("{}: {target}; {found}", if *met { "met" } else { "missed" })
        })
    }

    pub(super) fn plain(&self) -> String {
        let cells: Vec<[&str; 4]> =
            core::iter::once(HEADINGS).chain(self.rows.iter().map(Row::cells)).collect();
        let widths = [0, 1, 2, 3].map(|column| {
            let width = |row: &[&str; 4]| row.get(column).map_or(0, |cell| cell.chars().count());
            cells.iter().map(width).max().unwrap_or_default()
        });
        let mut text = String::new();
        for row in &cells {
            let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            let line: Vec<String> = padded.collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
        text.push('\n');
        for line in self.notes.iter().cloned().chain(self.verdicts()) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    pub(super) fn markdown(&self) -> String {
        let line = |cells: [&str; 4]| format!("| {} |\n", cells.join(" | "));
        let mut text = line(HEADINGS);
        text.push_str("|---|---:|---:|---:|\n");
        for row in &self.rows {
            text.push_str(&line(row.cells()));
        }
        for paragraph in [self.notes.clone(), self.verdicts().collect()] {
            text.push('\n');
            for item in paragraph {
                text.push_str("- ");
                text.push_str(&item);
                text.push('\n');
            }
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let rows: Map<String, Value> =
            self.rows.iter().map(|row| (row.what.clone(), row.figures.clone())).collect();
        let verdicts: Vec<Value> = self
            .verdicts
            .iter()
            .map(|it| json!({ "target": it.target, "found": it.found, "met": it.met }))
            .collect();
        let whole = json!({ "rows": rows, "targets": verdicts, "notes": self.notes });
        format!("{whole:#}\n")
    }
}

impl Row {
    fn cells(&self) -> [&str; 4] {
        [&self.what, &self.ours, &self.beside, &self.ratio]
    }
}

/// "61 ns", "1.46 ms": three digits and a unit.
pub(super) fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let unit = units.into_iter().find(|(size, _)| nanoseconds >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "ns"));
    format!("{} {unit}", digits(nanoseconds / size))
}

/// "25×", "1,400×".
pub(super) fn times(ratio: f64) -> String {
    format!("{}×", digits(ratio))
}

/// "3.4 M/s", "99.6 k/s".
pub(super) fn rate(a_second: f64) -> String {
    let units = [(1e6, " M/s"), (1e3, " k/s")];
    let unit = units.into_iter().find(|(size, _)| a_second >= *size);
    let (size, unit) = unit.unwrap_or((1.0, " /s"));
    format!("{}{unit}", digits(a_second / size))
}

/// Three digits that count, thousands apart.
fn digits(number: f64) -> String {
    if number < 10.0 {
        return format!("{number:.2}");
    }
    if number < 100.0 {
        return format!("{number:.1}");
    }
    thousands(&format!("{number:.0}"))
}

/// "1,000,000".
pub(super) fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

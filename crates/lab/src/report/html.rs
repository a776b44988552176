//! The report as one page that needs nothing else: no script, no font, no file beside it.

use super::svg::Figure;
use super::{Inputs, Source};
use crate::score::{Cell, Table};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --rule: #d0d0d0; --soft: #5a5a5a; --band: #f5f5f3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --paper: #161616; --rule: #3c3c3c; --soft: #a8a8a8; --band: #1f1f1f; } }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; color: var(--ink); background: var(--paper); font: 16px/1.5 Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p, li { max-width: 46rem; } .soft { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.86rem; margin: 0.8rem 0; }
caption { text-align: left; font-weight: bold; padding: 0.3rem 0; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--rule); } td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr:nth-child(even) { background: var(--band); }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; border: 1px solid var(--rule); }
code { font-size: 0.82rem; overflow-wrap: anywhere; }
@media print { body { max-width: none; font-size: 11px; } figure, tr { break-inside: avoid; } nav { display: none; } }
";

/// Text that HTML takes as it is.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The whole page.
pub(super) fn page(inputs: &Inputs, tables: &[Table], figures: &[Figure]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>Actum: the lab's report</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n<h1>Actum: the lab's report</h1>\n"
    );
    for line in super::OPENING {
        out += &format!("<p>{}</p>\n", escape(line));
    }
    out += "<nav aria-label=\"Contents\"><ul>\n";
    let figures_at = figures.iter().map(|it| (it.id, it.title.as_str()));
    for (id, title) in tables.iter().map(|it| (it.id, it.title.as_str())).chain(figures_at) {
        out += &format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(title));
    }
    out += "<li><a href=\"#inputs\">What this was made of</a></li>\n</ul></nav>\n";
    for figure in figures {
        let (id, svg) = (figure.id, figure.svg());
        out += &format!("<figure id=\"{id}\">\n{svg}</figure>\n");
    }
    for table in tables {
        out += &self::table(table);
    }
    out += &sources(&inputs.sources);
    out + "</body>\n</html>\n"
}

fn table(table: &Table) -> String {
    let (id, title) = (table.id, escape(&table.title));
    let mut out = format!("<section id=\"{id}\">\n<h2>{title}</h2>\n");
    if !table.rows.is_empty() {
        out += &format!("<div class=\"wide\"><table>\n<caption>{title}</caption>\n<thead><tr>");
        for column in &table.columns {
            out += &format!("<th scope=\"col\">{}</th>", escape(column));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &table.rows {
            out += "<tr>";
            for (at, cell) in row.iter().enumerate() {
                out += &place(at, cell);
            }
            out += "</tr>\n";
        }
        out += "</tbody></table></div>\n";
    }
    for note in &table.notes {
        out += &format!("<p class=\"soft\">{}</p>\n", escape(note));
    }
    out + "</section>\n"
}

fn place(at: usize, cell: &Cell) -> String {
    let words = escape(&cell.words());
    match (at, cell.is_figure()) {
        (0, false) => format!("<th scope=\"row\">{words}</th>"),
        (_, true) => format!("<td class=\"n\">{words}</td>"),
        (_, false) => format!("<td>{words}</td>"),
    }
}

fn sources(sources: &[Source]) -> String {
    let mut out = "<section id=\"inputs\">\n<h2>What this was made of</h2>\n<div class=\"wide\"><table>\n<caption>Inputs by \
                   their SHA-256</caption>\n<thead><tr><th scope=\"col\">what</th><th scope=\"col\">holds</th><th \
                   scope=\"col\">SHA-256</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for source in sources {
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td><code>{}</code></td></tr>\n",
            escape(&source.name),
            escape(&source.holds),
            escape(&source.digest)
        );
    }
    out + "</tbody></table></div>\n</section>\n"
}

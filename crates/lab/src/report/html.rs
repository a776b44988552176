//! The report as one page that needs nothing else: no script, no font, no file beside it.

use super::svg::Figure;
use super::{Inputs, Item, Source};
use crate::score::{Cell, Table};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c1c1a; --paper: #ffffff; --rule: #d4d4d0; --soft: #5c5c58; --band: #f6f6f3; --link: #0b5c8a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e4; --paper: #171716; --rule: #3d3d3a; --soft: #aaaaa4; --band: #20201e; --link: #7cc4ef; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem; color: var(--ink); background: var(--paper); font: 16px/1.55 Helvetica, Arial, sans-serif; }
h1 { font-size: 1.8rem; margin: 0 0 1rem; } h2 { font-size: 1.4rem; margin: 3.5rem 0 0.5rem; padding-top: 0.8rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1.05rem; margin: 2.2rem 0 0.4rem; }
p, li { max-width: 46rem; } .soft { color: var(--soft); font-size: 0.9rem; margin: 0.4rem 0; }
a { color: var(--link); } nav > ol { columns: 22rem; column-gap: 2.5rem; padding-left: 1.4rem; } nav ol ol { padding-left: 1.1rem; font-size: 0.88rem; list-style: none; }
nav li { break-inside: avoid-column; } nav > ol > li { margin-bottom: 0.6rem; font-weight: bold; } nav ol ol li { font-weight: normal; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.84rem; margin: 0.6rem 0; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.28rem 0.65rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; } tbody th { font-weight: 600; } tbody th + th { font-weight: normal; }
tbody th, td.n { white-space: nowrap; } td.n, thead th.n { text-align: right; font-variant-numeric: tabular-nums; } thead th.n { white-space: normal; min-width: 5.5rem; }
td.none { color: var(--soft); } tbody tr:nth-child(even) { background: var(--band); } tbody tr.held > td { color: inherit; }
figure { margin: 1.4rem 0; max-width: 60rem; } figure svg { display: block; width: 100%; height: auto; border: 1px solid var(--rule); }
figcaption { color: var(--soft); font-size: 0.9rem; margin-top: 0.4rem; max-width: 46rem; }
code { font-size: 0.8rem; overflow-wrap: anywhere; }
@page { size: landscape; margin: 1.2cm; }
@media print { :root { --ink: #000; --paper: #fff; --rule: #bbb; --soft: #333; --band: #f4f4f4; --link: #000; } body { max-width: none; padding: 0; font-size: 10.5px; }
  figure svg { max-height: 15cm; width: auto; max-width: 100%; } .wide { overflow: visible; } table { font-size: 0.78rem; } figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } thead { display: table-header-group; } }
";

/// Text that HTML and XML take as it is.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().map(super::visible) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
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
    let parts = super::parts(tables, figures);
    out += "<nav aria-label=\"Contents\"><ol>\n";
    for part in &parts {
        out += &format!("<li><a href=\"#{}\">{}</a><ol>\n", part.id, escape(part.title));
        for item in &part.items {
            let (id, title) = match item {
                Item::Figure(figure) => (figure.id, &figure.title),
                Item::Table(table) => (table.id, &table.title),
            };
            out += &format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(title));
        }
        out += "</ol></li>\n";
    }
    out += "<li><a href=\"#inputs\">What this was made of</a></li>\n</ol></nav>\n<main>\n";
    for part in &parts {
        let (id, title) = (part.id, escape(part.title));
        out += &format!("<section id=\"{id}\">\n<h2>{title}</h2>\n");
        for item in &part.items {
            match item {
                Item::Figure(figure) => {
                    let (id, svg, says) = (figure.id, figure.svg(), escape(&figure.says));
                    out += &format!(
                        "<figure id=\"{id}\">\n{svg}<figcaption>{says}</figcaption>\n</figure>\n"
                    );
                }
                Item::Table(table) => out += &self::table(table),
            }
        }
        out += "</section>\n";
    }
    out += &sources(&inputs.sources);
    out + "</main>\n</body>\n</html>\n"
}

fn table(table: &Table) -> String {
    let (id, title) = (table.id, escape(&table.title));
    let mut out = format!("<section id=\"{id}\">\n<h3>{title}</h3>\n");
    if !table.rows.is_empty() {
        let is_figure =
            |at: usize| table.rows.iter().filter_map(|row| row.get(at)).any(Cell::is_figure);
        // What can be scrolled has to be reached by the keyboard too.
        out += &format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table>\n<caption>{title}</caption>\n<thead><tr>"
        );
        for (at, column) in table.columns.iter().enumerate() {
            let class = if is_figure(at) { " class=\"n\"" } else { "" };
            out += &format!("<th scope=\"col\"{class}>{}</th>", escape(column));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &table.rows {
            out += "<tr>";
            for (at, cell) in row.iter().enumerate() {
                out += &place(at < table.names, is_figure(at), cell);
            }
            out += "</tr>\n";
        }
        out += "</tbody></table></div>\n";
    }
    for note in table.made_of().iter().chain(&table.notes) {
        out += &format!("<p class=\"soft\">{}</p>\n", escape(note));
    }
    out + "</section>\n"
}

fn place(is_name: bool, is_figure: bool, cell: &Cell) -> String {
    let words = escape(&cell.words());
    match (is_name, is_figure, cell) {
        (true, false, _) => format!("<th scope=\"row\">{words}</th>"),
        (_, true, Cell::None) => format!("<td class=\"n none\">{words}</td>"),
        (_, true, _) => format!("<td class=\"n\">{words}</td>"),
        (false, false, _) => format!("<td>{words}</td>"),
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

//! Tables as Markdown and CSV. What comes from a transcript may have been written by anybody, so it is told apart from markup,
//! and a cell of a spreadsheet never begins a formula.

use crate::score::{Cell, Table};

/// A table as Markdown.
pub(super) fn markdown(table: &Table) -> String {
    let mut out = format!("### {}\n\n", plain(&table.title));
    if !table.rows.is_empty() {
        let row = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out += &row(&mut table.columns.iter().map(|column| plain(column)));
        let is_figure =
            |at: usize| table.rows.iter().filter_map(|row| row.get(at)).any(Cell::is_figure);
        let rule = |at| if is_figure(at) { "---:" } else { "---" }.to_owned();
        out += &row(&mut (0..table.columns.len()).map(rule));
        for cells in &table.rows {
            out += &row(&mut cells.iter().map(|cell| match cell {
                Cell::Text(text) => plain(text),
                Cell::Share(_) | Cell::Percent(_) | Cell::Number(..) | Cell::None => cell.words(),
            }));
        }
        out.push('\n');
    }
    for note in table.made_of().iter().chain(&table.notes) {
        out += &format!("{}\n\n", plain(note));
    }
    out
}

/// Text that Markdown takes as it is; nothing in it becomes a link by itself either.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace("://", ":\u{200b}//").replace("www.", "www\u{200b}.");
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut out = String::new();
    for (at, c) in text.chars().map(super::visible).enumerate() {
        // At its beginning it would be a list or a heading's underline.
        let begins = at == 0 && matches!(c, '-' | '+' | '=')
            || at > 0 && at == digits && matches!(c, '.' | ')');
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if begins => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A table as CSV (RFC 4180). A share is four columns.
pub(super) fn csv(table: &Table) -> String {
    let shares: Vec<bool> = (0..table.columns.len())
        .map(|at| table.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Share(_)))))
        .collect();
    let mut head = Vec::new();
    for (column, is_share) in table.columns.iter().zip(&shares) {
        head.push(field(column));
        if *is_share {
            head.extend(
                ["hits", "of", "low %", "high %"].map(|it| field(&format!("{column}: {it}"))),
            );
        }
    }
    let mut out = head.join(",") + "\r\n";
    for row in &table.rows {
        let mut fields = Vec::new();
        for (cell, is_share) in row.iter().zip(&shares) {
            match cell {
                Cell::Share(share) if share.of > 0 => {
                    let (low, high) = share.interval();
                    fields.push(share.percent().map_or(String::new(), |it| format!("{it:.2}")));
                    fields.extend([share.hits.to_string(), share.of.to_string()]);
                    fields.extend([format!("{low:.2}"), format!("{high:.2}")]);
                    continue;
                }
                Cell::Share(_) | Cell::None => fields.push(String::new()),
                Cell::Percent(value) | Cell::Number(value, _, _) => fields.push(value.to_string()),
                Cell::Text(text) => fields.push(field(text)),
            }
            if *is_share {
                fields.extend(vec![String::new(); 4]);
            }
        }
        out += &(fields.join(",") + "\r\n");
    }
    out
}

fn field(text: &str) -> String {
    let text: String = text.chars().map(super::visible).collect();
    let begins_formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let guard = if begins_formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_text_to_a_spreadsheet() {
        assert_eq!(field("=cmd|' /C calc'!A0"), "\"'=cmd|' /C calc'!A0\"");
        assert_eq!(field("\t@SUM(A1)"), "\"' @SUM(A1)\"");
        assert_eq!(field("a \"word\",\nand more"), "\"a \"\"word\"\", and more\"");
        assert_eq!(field("plain"), "\"plain\"");
    }

    #[test]
    fn text_is_text_to_markdown() {
        assert_eq!(plain("a|b `c` [d](e) ![f](g)"), "a\\|b \\`c\\` \\[d\\](e) \\!\\[f\\](g)");
        assert_eq!(plain("<script>\n# not a heading"), "&lt;script&gt; \\# not a heading");
        assert_eq!(plain("- no list"), "\\- no list");
        assert_eq!(plain("12. no list"), "12\\. no list");
        assert_eq!(plain("1.5b is a size"), "1\\.5b is a size");
        assert!(!plain("see https://x.example and www.y.example").contains("://"));
        assert_eq!(plain("a\u{202e}b"), "a\u{fffd}b");
    }
}

//! A table as data: every way of drawing one says the same.

use serde::{Serialize, Serializer};

use crate::stats::Share;

/// One place of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A share, shown in per cent with its interval.
    Share(Share),
    /// A published figure in per cent.
    Percent(f64),
    /// A number with so many places, and its unit.
    Number(f64, usize, &'static str),
    /// Nothing was measured.
    None,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number where there is one.
    pub fn number(value: Option<f64>, places: usize, unit: &'static str) -> Self {
        value.map_or(Self::None, |value| Self::Number(value, places, unit))
    }

    /// As a person reads it.
    pub fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Share(share) => share.percent().map_or_else(
                || "–".to_owned(),
                |percent| {
                    let (low, high) = share.interval();
                    format!("{percent:.0} % [{low:.0}, {high:.0}]")
                },
            ),
            Self::Percent(percent) => format!("{percent} %"),
            Self::Number(value, places, "") => format!("{value:.places$}"),
            Self::Number(value, places, unit) => format!("{value:.places$} {unit}"),
            Self::None => "–".to_owned(),
        }
    }

    /// Whether it is a figure, and so stands to the right.
    pub const fn is_figure(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Share(share) => share.serialize(serializer),
            Self::Percent(value) | Self::Number(value, _, _) => serializer.serialize_f64(*value),
            Self::None => serializer.serialize_none(),
        }
    }
}

/// A table with what is to be said of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its name in file names and links.
    pub id: &'static str,
    /// What it is.
    pub title: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// What has to be said beside it: the difference from what was published, and from how many trials it is made.
    pub notes: Vec<String>,
}

impl Table {
    /// An empty one.
    pub fn new(id: &'static str, title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|it| (*it).to_owned()).collect();
        Self { id, title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row that begins with words.
    pub fn row(&mut self, words: &[&str], cells: impl IntoIterator<Item = Cell>) {
        let words = words.iter().map(|it| Cell::text(*it));
        self.rows.push(words.chain(cells).collect());
    }

    /// Adds something to be said.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

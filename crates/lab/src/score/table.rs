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
    /// A published or computed figure in per cent, without an interval.
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

    /// Per cent that were computed and not counted, where there are any.
    pub fn percent(value: Option<f64>) -> Self {
        value.map_or(Self::None, Self::Percent)
    }

    /// As a person reads it.
    pub fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Share(share) => share_words(*share),
            Self::Percent(percent) => percent_words(*percent),
            Self::Number(value, places, "") => thousands(*value, *places),
            Self::Number(value, places, unit) => format!("{} {unit}", thousands(*value, *places)),
            Self::None => "–".to_owned(),
        }
    }

    /// Whether it is a figure, and so stands to the right.
    pub const fn is_figure(&self) -> bool {
        matches!(self, Self::Share(_) | Self::Percent(_) | Self::Number(..))
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

/// A number with its thousands apart.
pub(crate) fn thousands(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), ""), |it| it);
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    if rest.is_empty() { out } else { out + "." + rest }
}

/// Per cent as they are printed: a tenth where there is one.
pub(super) fn percent_words(percent: f64) -> String {
    let text = format!("{percent:.1}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// A share with its interval, as it is printed; a dash of nothing.
pub(super) fn share_words(share: Share) -> String {
    let Some(percent) = share.percent() else { return "–".to_owned() };
    let (low, high) = share.interval();
    format!("{} [{low:.0}, {high:.0}]", percent_words(percent))
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
    /// So many columns at the left name a row.
    pub names: usize,
    /// The trials it is made of; none where it is made of something else.
    pub trials: Option<usize>,
}

impl Table {
    /// An empty one.
    pub fn new(id: &'static str, title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|it| (*it).to_owned()).collect();
        Self {
            id,
            title: title.into(),
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
            names: 1,
            trials: None,
        }
    }

    /// Adds a row that begins with words.
    pub fn row(&mut self, words: &[&str], cells: impl IntoIterator<Item = Cell>) {
        self.names = words.len().min(self.columns.len() - 1).max(1);
        let words = words.iter().map(|it| Cell::text(*it));
        self.rows.push(words.chain(cells).collect());
    }

    /// What it is made of, in words.
    pub fn made_of(&self) -> Option<String> {
        self.trials.map(|trials| format!("Made of {trials} trials."))
    }

    /// Adds something to be said.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_a_person_reads_them() {
        let words = |value, places, unit| Cell::Number(value, places, unit).words();
        assert_eq!(words(1_252_028.4, 0, "×"), "1,252,028 ×");
        assert_eq!(words(91_773.74, 1, "µs"), "91,773.7 µs");
        assert_eq!(words(0.5, 3, ""), "0.500");
        assert_eq!(words(999.0, 0, ""), "999");
        assert_eq!(Cell::Percent(13.3).words(), "13.3 %");
        assert_eq!(Cell::Share(Share { hits: 1, of: 3 }).words(), "33.3 % [6, 79]");
        assert_eq!(Cell::Share(Share::default()).words(), "–");
    }
}

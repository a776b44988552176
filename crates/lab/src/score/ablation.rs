//! Actum without each of its rules in turn: what gets through then, and what is lost.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::Rule;

use super::Scores;
use super::table::{Cell, Table};
use crate::agent::OBEDIENT;
use crate::defence::Kind;
use crate::transcript::{Came, Experiment, Line};

/// What one rule is good for, as far as these experiments show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Without {
    /// The rule.
    pub(super) rule: Rule,
    /// Trials that were compared.
    pub(super) compared: usize,
    /// Attacks that do harm without it and none with it.
    pub(super) through: BTreeSet<String>,
    /// How many trials of those.
    pub(super) harmed: usize,
    /// Runs that come to their end with it and not without it, or are asked about without it only.
    pub(super) lost: BTreeSet<String>,
}

/// Names in one place of the table.
const NAMED_MAX: usize = 6;

type Place<'l> = (Experiment, &'l str, &'l str, u32);

fn place(line: &Line) -> Place<'_> {
    (line.experiment, &line.scenario, &line.attack, line.trial)
}

fn words(line: &Line) -> String {
    let experiment = line.experiment.word();
    if line.experiment == Experiment::Forged {
        return format!("{experiment}: {}", line.attack);
    }
    format!("{experiment}: {}", line.scenario)
}

/// Every rule. Where the bytes of a store are changed, nothing is compared: an ablation has no store on disk.
pub(super) fn all(scores: &Scores<'_>) -> Vec<Without> {
    let mut whole: BTreeMap<Place<'_>, &Line> = BTreeMap::new();
    let mut by_rule: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in scores.lines.iter().filter(|line| line.agent == OBEDIENT) {
        if ["forged-event", "cut", "refield"].contains(&line.attack.as_str()) {
            continue;
        }
        if line.defence == Kind::Actum.word() {
            whole.insert(place(line), line);
        } else if let Some(rule) = line.defence.strip_prefix("actum-without-") {
            by_rule.entry(rule).or_default().push(line);
        }
    }
    Rule::ALL
        .iter()
        .map(|rule| {
            let lines = by_rule.get(rule.word()).map_or(&[][..], Vec::as_slice);
            let pairs: Vec<(&Line, &Line)> =
                lines.iter().filter_map(|line| Some((*line, *whole.get(&place(line))?))).collect();
            let harmed = pairs.iter().filter(|(without, with)| {
                without.came == Came::Unsafe && with.came != Came::Unsafe
            });
            let harmed: Vec<&Line> = harmed.map(|(without, _)| *without).collect();
            let lost = pairs.iter().filter(|(without, with)| {
                with.completed && !without.completed && without.came != Came::Unsafe
                    || without.questions > with.questions
            });
            Without {
                rule: *rule,
                compared: pairs.len(),
                through: harmed.iter().map(|line| words(line)).collect(),
                harmed: harmed.len(),
                lost: lost.map(|(without, _)| words(without)).collect(),
            }
        })
        .collect()
}

pub(super) fn table(scores: &Scores<'_>) -> Table {
    let title = "Ablation: Actum without one rule, on the obedient stub";
    let columns =
        ["without", "trials that do harm", "what gets through", "what is lost, or asked about"];
    let mut table = Table::new("ablation", title, &columns);
    let (mut idle, mut compared) = (Vec::new(), 0);
    for without in all(scores).into_iter().filter(|it| it.compared > 0) {
        compared += without.compared;
        if without.through.is_empty() && without.lost.is_empty() {
            idle.push(without.rule.word());
            continue;
        }
        let list = |all: BTreeSet<String>| {
            let count = all.len();
            let named: Vec<String> = all.into_iter().take(NAMED_MAX).collect();
            let more = if count > NAMED_MAX {
                format!(", and {} more", count - NAMED_MAX)
            } else {
                String::new()
            };
            if count == 0 { Cell::None } else { Cell::text(named.join(", ") + &more) }
        };
        let harmed = format!("{} of {}", without.harmed, without.compared);
        let cells = [Cell::text(harmed), list(without.through), list(without.lost)];
        table.row(&[without.rule.word()], cells);
    }
    table.note(format!(
        "{compared} trials were compared with the same trial behind the whole of Actum."
    ));
    if !idle.is_empty() {
        table.note(format!("No experiment here comes out otherwise without one of these alone: {}. Each has a case in docs/cases.md that does; several stop the same attack from two sides.", idle.join(", ")));
    }
    table
}

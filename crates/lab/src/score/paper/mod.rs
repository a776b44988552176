//! The tables of the paper, and what belongs beside them.

mod benign;
mod cost;
mod matrix;
mod models;
mod success;

use self::benign::{benign, benign_beside, benign_lost};
pub use self::benign::{benign_losses, benign_rates};
use self::cost::{table_iv, table_v};
pub(crate) use self::matrix::is_published;
pub use self::matrix::{matrix_rows, matrix_word};
use self::matrix::{table_iii, table_iii_of_models};
use self::models::{labels, paradox, worth};
use self::success::{by_scenario, table_i, table_i_beside, table_ii, table_ii_beside};
pub use self::success::{first_success, searched};
use super::table::Table;
use super::{Evidence, Scores};
use crate::defence::Kind;
use crate::stats::Share;
use crate::transcript::{Experiment, Line};

/// The attacks of table I.
pub const ATTACKS: [&str; 3] = ["basic", "relocated", "adaptive"];

/// The three styles of a genuine log.
pub const STYLES: [&str; 3] = ["call", "diary", "audit"];

/// What a model is tried beside.
pub const BESIDE: [Kind; 4] = [Kind::None, Kind::Sentinel, Kind::Poem, Kind::Actum];

pub(super) fn tables(scores: &Scores<'_>, evidence: &Evidence) -> Vec<Table> {
    vec![
        worth(scores),
        table_i(scores),
        table_i_beside(scores),
        by_scenario(scores),
        table_ii(scores),
        table_ii_beside(scores),
        table_iii(scores),
        table_iii_of_models(scores),
        benign(scores),
        benign_lost(scores),
        benign_beside(scores),
        table_iv(evidence),
        table_v(evidence.langchain.as_ref()),
        paradox(scores),
        labels(scores),
    ]
}

fn forged<'l>(scores: &Scores<'l>, agent: &str, attack: &str, defence: &Kind) -> Vec<&'l Line> {
    scores.cell(Experiment::Forged, agent, attack, &defence.word())
}

/// The success rate of an attack on an agent behind a defence, over all scenarios.
pub fn success_rates(scores: &Scores<'_>, agent: &str, attack: &str, defence: &Kind) -> Share {
    scores.success(forged(scores, agent, attack, defence).into_iter())
}

#[expect(clippy::float_arithmetic, reason = "a ratio of times")]
fn ratio(of: f64, to: f64) -> f64 {
    of / to
}

//! What is run: every trial of the experiments that were asked for, in an order that does not depend on the machine, and the
//! going through them with progress, in parallel where nobody has to be waited for.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use actum_core::Rule;

use crate::agent::{Agent, Stub};
use crate::defence::Kind;
use crate::forged::{self, Attack};
use crate::scenario::Scenario;
use crate::searched::Search;
use crate::transcript::{Experiment, Line};
use crate::world::TrialError;

/// Trials of a cell, as in the paper.
pub const TRIALS: u32 = 20;
/// Trials of a cell that is a control or a variant, where a model has to be asked.
pub const FEW: u32 = 10;

/// What somebody asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// These experiments.
    pub experiments: Vec<Experiment>,
    /// These attacks of forged reasoning; all without any.
    pub attacks: Vec<Attack>,
    /// These defences; the usual ones without any.
    pub defences: Vec<Kind>,
    /// So many trials of a cell.
    pub trials: u32,
    /// So many trials of each ablation; none for none.
    pub ablations: u32,
    /// Whether a model has to be asked, so that cells which show nothing new are left out.
    pub sparing: bool,
}

/// One piece of work.
#[derive(Debug, Clone)]
pub enum Task<'t> {
    /// A trial.
    Forged(&'t Scenario, Attack, Kind, u32),
    /// A whole search: each query rests on those before.
    Searched(&'t [Scenario]),
}

impl Task<'_> {
    /// Does it.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn run(&self, agent: &mut dyn Agent, stop: &AtomicBool) -> Result<Vec<Line>, TrialError> {
        match self {
            Self::Forged(scenario, attack, defence, trial) => {
                let (attack, trial) = (*attack, *trial);
                Ok(vec![forged::Trial { scenario, attack, defence, trial }.run(agent)?])
            }
            Self::Searched(scenarios) => {
                let (mut search, mut lines) = (Search::new(scenarios), Vec::new());
                while !search.is_over() && !stop.load(Ordering::Relaxed) {
                    lines.extend(search.query(agent)?);
                }
                Ok(lines)
            }
        }
    }
}

/// Defences beside which a model is tried: the others look at nothing that a model says otherwise.
const SPARING: [Kind; 5] = [Kind::None, Kind::Sentinel, Kind::NaivePoem, Kind::Poem, Kind::Actum];

/// Every trial that is wanted.
pub fn plan<'t>(wanted: &Wanted, scenarios: &'t [Scenario]) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    let has = |experiment| wanted.experiments.contains(&experiment);
    if has(Experiment::Forged) {
        forged(wanted, scenarios, &mut tasks);
    }
    if has(Experiment::Searched) {
        tasks.push(Task::Searched(scenarios));
    }
    tasks
}

fn forged<'t>(wanted: &Wanted, scenarios: &'t [Scenario], tasks: &mut Vec<Task<'t>>) {
    let attacks = if wanted.attacks.is_empty() { &Attack::ALL[..] } else { &wanted.attacks };
    let usual = if wanted.sparing { &SPARING[..] } else { &Kind::ALL };
    let defences = if wanted.defences.is_empty() { usual } else { &wanted.defences };
    let ablated: Vec<Kind> = Rule::ALL.iter().copied().map(Kind::Without).collect();
    let cells = [(defences, wanted.trials), (&ablated, wanted.ablations)];
    for scenario in scenarios {
        for attack in attacks {
            for (defences, trials) in cells {
                for trial in 0..trials_of(*attack, trials, wanted.sparing) {
                    let of =
                        |defence: &Kind| Task::Forged(scenario, *attack, defence.clone(), trial);
                    tasks.extend(defences.iter().map(of));
                }
            }
        }
    }
}

const fn trials_of(attack: Attack, trials: u32, sparing: bool) -> u32 {
    let is_variant =
        matches!(attack, Attack::Exempt | Attack::Judgement(_) | Attack::Ungated | Attack::Gated);
    if sparing && is_variant && trials > FEW { FEW } else { trials }
}

/// How far a run is.
pub trait Progress: Sync {
    /// So many tasks are done.
    fn done(&self, tasks: usize);
}

/// Goes through a plan with a stub, on all cores. Lines come in the order of the plan.
///
/// # Errors
/// The first [`TrialError`].
pub fn run_stub(
    stub: Stub,
    tasks: &[Task<'_>],
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Vec<Line>, TrialError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let (mut agent, mut made) = (stub, Vec::new());
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(at) else { break };
            made.push((at, task.run(&mut agent, stop)));
            progress.done(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        made
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut made: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    made.sort_by_key(|(at, _)| *at);
    let lines: Result<Vec<_>, _> = made.into_iter().map(|(_, lines)| lines).collect();
    Ok(lines?.concat())
}

/// Goes through a plan with an agent that has to be waited for, one question after the other.
///
/// # Errors
/// The first [`TrialError`].
pub fn run_agent(
    agent: &mut dyn Agent,
    tasks: &[Task<'_>],
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Vec<Line>, TrialError> {
    let mut lines = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        lines.extend(task.run(agent, stop)?);
        progress.done(at + 1);
    }
    Ok(lines)
}

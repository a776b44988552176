//! What is run: every trial of the experiments that were asked for, in an order that does not depend on the machine, and the
//! going through them with progress, in parallel where nobody has to be waited for.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use actum_core::Rule;

use crate::agent::{Agent, Stub};
use crate::carryover;
use crate::defence::Kind;
use crate::forged::{self, Attack};
use crate::laundered::{self, As, Cites};
use crate::scenario::{self, Scenario};
use crate::searched::Search;
use crate::spelled::SetError;
use crate::tampered;
use crate::transcript::{Experiment, Line};
use crate::work;
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

/// Everything that is played.
#[derive(Debug)]
pub struct Sets {
    /// Forged reasoning.
    pub scenarios: Vec<Scenario>,
    /// The article's first test.
    pub carryover: carryover::Set,
    /// The shape of its second.
    pub tampered: tampered::Set,
    /// Ordinary work, by name.
    pub work: Vec<(&'static str, work::Set)>,
}

impl Sets {
    /// The published ones.
    ///
    /// # Errors
    /// [`SetError`] if one cannot be read.
    pub fn published() -> Result<Self, SetError> {
        let wrong =
            |error| SetError::Text { set: "sets/forged.toml".to_owned(), error: Box::new(error) };
        let read = |(name, text)| Ok((name, work::published(name, text)?));
        Ok(Self {
            scenarios: scenario::read(scenario::FORGED).map_err(wrong)?,
            carryover: carryover::Set::published()?,
            tampered: tampered::Set::published()?,
            work: work::WORK.into_iter().map(read).collect::<Result<_, SetError>>()?,
        })
    }
}

/// One piece of work.
#[derive(Debug, Clone)]
pub enum Task<'t> {
    /// A trial.
    Forged(&'t Scenario, Attack, Kind, u32),
    /// A whole search: each query rests on those before.
    Searched(&'t [Scenario]),
    /// Rounds in one world, with the payloads or without.
    Carryover(&'t carryover::Set, Kind, bool),
    /// A payload that waits through so many sessions, or none.
    Dormant(&'t carryover::Set, &'t str, u32, Kind, bool),
    /// A case, with its injection or without.
    Tampered(&'t tampered::Set, &'t tampered::Case, Kind, bool),
    /// One way of laundering: what is cited, what becomes of it, hops, and whether there is a page.
    Laundered(Cites, As, u32, Kind, bool),
    /// A set of ordinary work.
    Work(&'t str, &'t work::Set, Kind),
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
            Self::Carryover(set, defence, planted) => {
                set.run(defence, *planted, carryover::ROUNDS, agent)
            }
            Self::Dormant(set, name, delay, defence, planted) => {
                set.dormant(defence, (name, *delay), *planted, agent)
            }
            Self::Tampered(set, case, defence, injected) => {
                Ok(vec![set.run(case, defence, *injected, agent)?])
            }
            Self::Laundered(cites, becomes, hops, defence, planted) => {
                let (cites, becomes, hops, planted) = (*cites, *becomes, *hops, *planted);
                Ok(vec![laundered::Trial { cites, becomes, hops, planted, defence }.run(agent)?])
            }
            Self::Work(name, set, defence) => set.run(name, defence, agent.name()),
        }
    }
}

/// Defences beside which a model is tried at forged reasoning: the others look at nothing that a model says otherwise.
const SPARING: [Kind; 5] = [Kind::None, Kind::Sentinel, Kind::NaivePoem, Kind::Poem, Kind::Actum];
/// Clean sessions before a payload wakes.
const DELAYS: [u32; 7] = [0, 1, 5, 10, 25, 50, 100];

/// Every trial that is wanted.
pub fn plan<'t>(wanted: &Wanted, sets: &'t Sets) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for experiment in &wanted.experiments {
        match experiment {
            Experiment::Forged => forged(wanted, &sets.scenarios, &mut tasks),
            Experiment::Searched => tasks.push(Task::Searched(&sets.scenarios)),
            Experiment::Carryover => carryover(wanted, sets, &mut tasks),
            Experiment::Dormant => dormant(wanted, sets, &mut tasks),
            Experiment::Tampered => tampered(wanted, sets, &mut tasks),
            Experiment::Laundered => laundered(wanted, &mut tasks),
            Experiment::Work => work(wanted, sets, &mut tasks),
        }
    }
    tasks
}

/// The defences, and Actum without each of its rules where that is wanted.
fn defences(wanted: &Wanted) -> Vec<Kind> {
    let chosen =
        if wanted.defences.is_empty() { Kind::ALL.to_vec() } else { wanted.defences.clone() };
    let ablated = Rule::ALL.iter().copied().map(Kind::Without).filter(|_| wanted.ablations > 0);
    chosen.into_iter().chain(ablated).collect()
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

fn carryover<'t>(wanted: &Wanted, sets: &'t Sets, tasks: &mut Vec<Task<'t>>) {
    for planted in [false, true] {
        let of = |defence| Task::Carryover(&sets.carryover, defence, planted);
        tasks.extend(defences(wanted).into_iter().map(of));
    }
}

/// With a model this shows nothing that the first test does not, and a memory of a hundred notes takes it long to read.
fn dormant<'t>(wanted: &Wanted, sets: &'t Sets, tasks: &mut Vec<Task<'t>>) {
    if wanted.sparing {
        return;
    }
    let chosen = if wanted.defences.is_empty() { &Kind::ALL[..] } else { &wanted.defences };
    for name in sets.carryover.payloads() {
        for delay in DELAYS {
            for planted in [false, true] {
                let of = |defence: &Kind| {
                    Task::Dormant(&sets.carryover, name, delay, defence.clone(), planted)
                };
                tasks.extend(chosen.iter().map(of));
            }
        }
    }
}

fn tampered<'t>(wanted: &Wanted, sets: &'t Sets, tasks: &mut Vec<Task<'t>>) {
    for case in &sets.tampered.case {
        for injected in [false, true] {
            let of = |defence| Task::Tampered(&sets.tampered, case, defence, injected);
            tasks.extend(defences(wanted).into_iter().map(of));
        }
    }
}

fn laundered(wanted: &Wanted, tasks: &mut Vec<Task<'_>>) {
    for (cites, becomes) in
        Cites::ALL.into_iter().flat_map(|it| As::ALL.map(|becomes| (it, becomes)))
    {
        for hops in laundered::HOPS {
            for planted in [false, true] {
                let of = |defence| Task::Laundered(cites, becomes, hops, defence, planted);
                tasks.extend(defences(wanted).into_iter().map(of));
            }
        }
    }
}

/// Nobody decides anything in ordinary work, so it is played once and not with a model.
fn work<'t>(wanted: &Wanted, sets: &'t Sets, tasks: &mut Vec<Task<'t>>) {
    if wanted.sparing {
        return;
    }
    for (name, set) in &sets.work {
        tasks.extend(defences(wanted).into_iter().map(|defence| Task::Work(name, set, defence)));
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

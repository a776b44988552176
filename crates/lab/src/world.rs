//! The world of one trial: a memory, a defence before it, an agent, and a note of what really ran. Whether harm was done is read
//! from that note and from nothing else, so no defence can talk itself into a good result.

use core::mem::take;

use actum_core::Call;

use crate::agent::{Agent, AgentError, Ask};
use crate::defence::{Defence, DefenceError, Ended, Entry, Kind, Ruling, Served, Setup, StepSpec};
use crate::stats::to_millionths;
use crate::transcript::{Asked, Came, Decided, Experiment, Line};

/// How often a call that lacks a step is tried again after the step.
const TRIES: usize = 3;

/// Why a trial could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The agent gave no answer.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The defence could not work.
    #[error(transparent)]
    Defence(#[from] DefenceError),
}

/// Which trial.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// What is measured.
    pub experiment: Experiment,
    /// Where.
    pub scenario: &'p str,
    /// What the attacker does.
    pub attack: &'p str,
    /// Which repetition.
    pub trial: u32,
}

impl Place<'_> {
    /// The seed of the question with this number in this trial. A clean and a poisoned run never share one, and no defence has
    /// its own: the same question has the same answer whoever stands behind it.
    pub fn seed(&self, question: &str) -> u64 {
        let trial = self.trial.to_string();
        crate::seed(&[self.experiment.word(), self.scenario, self.attack, &trial, question])
    }
}

/// A memory, a defence before it, and what really ran.
#[derive(Debug)]
pub struct World {
    defence: Box<dyn Defence>,
    steps: Vec<StepSpec>,
    memory: Vec<Entry>,
    /// Calls that really ran, in this order.
    pub ran: Vec<(Call, Ended)>,
    /// How the steps named here come back when they run; as passed otherwise.
    pub failing: Vec<Call>,
    /// The questions that somebody was asked.
    pub asked: Vec<Asked>,
    decided: Vec<Decided>,
    /// Calls with effects that the agent tried.
    pub effects: u32,
    /// Questions that the owner was asked.
    pub questions: u32,
    entries: u32,
    withheld: u32,
    skipped: bool,
    /// What the owner does who is asked.
    pub owner: Owner,
}

/// What the owner does who is asked whether a call may go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Nothing: the question stays open.
    Silent,
    /// Allows this one call. Only where nobody attacks.
    SaysYes,
}

/// An entry as it is put before the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The entry.
    pub entry: Entry,
    /// The line before it, if it is served as data.
    pub label: Option<String>,
}

impl Shown {
    /// As the agent reads it.
    pub fn text(&self) -> String {
        match &self.label {
            Some(label) => format!("{label} {}", self.entry.text),
            None => self.entry.text.clone(),
        }
    }
}

impl World {
    /// An empty one behind this defence.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn new(kind: &Kind, setup: &Setup) -> Result<Self, TrialError> {
        Ok(Self {
            defence: kind.build(setup)?,
            steps: setup.steps.clone(),
            memory: Vec::new(),
            ran: Vec::new(),
            failing: Vec::new(),
            asked: Vec::new(),
            decided: Vec::new(),
            effects: 0,
            questions: 0,
            entries: 0,
            withheld: 0,
            skipped: false,
            owner: Owner::Silent,
        })
    }

    /// The defence itself.
    pub fn defence(&mut self) -> &mut dyn Defence {
        self.defence.as_mut()
    }

    fn note(&mut self, on: &str, about: &str, (what, why): (&str, &str)) {
        if what != "go" {
            let word = |text: &str| text.to_owned();
            let (on, about, what, why) = (word(on), word(about), word(what), word(why));
            self.decided.push(Decided { on, about, what, why });
        }
    }

    /// Writes an entry through the store. False: the defence refused it.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn keep(&mut self, entry: Entry) -> Result<bool, TrialError> {
        let kept = self.defence.keep(&entry)?;
        self.entries += 1;
        if kept {
            self.memory.push(entry);
        } else {
            self.withheld += 1;
            self.note("keep", &entry.name, ("refuse", ""));
        }
        Ok(kept)
    }

    /// Writes an entry behind the back of everything: an edited file.
    pub fn slip(&mut self, entry: Entry) {
        self.memory.retain(|old| old.name != entry.name);
        self.entries += 1;
        self.memory.push(entry);
    }

    /// What lies in memory.
    pub fn memory(&self) -> &[Entry] {
        &self.memory
    }

    /// The entries that these are, as the defence hands them out.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn recall(&mut self, entries: &[Entry]) -> Result<Vec<Shown>, TrialError> {
        let mut shown = Vec::new();
        for entry in entries {
            let served = self.defence.recall(entry)?;
            self.served("recall", entry, served, &mut shown);
        }
        Ok(shown)
    }

    /// Lets a stored task run, if the defence does. What is shown is its prompt.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn fire(&mut self, task: &Entry) -> Result<Option<Shown>, TrialError> {
        let served = self.defence.fire(task)?;
        let mut shown = Vec::new();
        self.served("fire", task, served, &mut shown);
        Ok(shown.pop())
    }

    fn served(&mut self, on: &str, entry: &Entry, served: Served, shown: &mut Vec<Shown>) {
        match served {
            Served::Plain => shown.push(Shown { entry: entry.clone(), label: None }),
            Served::Labelled(label) => {
                self.note(on, &entry.name, ("label", ""));
                shown.push(Shown { entry: entry.clone(), label: Some(label) });
            }
            Served::Withheld(why) => {
                self.withheld += 1;
                self.note(on, &entry.name, ("withhold", &why));
            }
        }
    }

    /// Asks the agent. An answer that is none of the options counts as the cautious one.
    ///
    /// # Errors
    /// [`TrialError::Agent`].
    pub fn ask(
        &mut self,
        agent: &mut dyn Agent,
        ask: &Ask,
        seed: u64,
    ) -> Result<usize, TrialError> {
        let answer = agent.choose(ask, seed)?;
        let millionths = |all: &Vec<f64>| all.iter().map(|it| to_millionths(*it)).collect();
        self.asked.push(Asked {
            prompt: ask.digest().to_string(),
            seed,
            raw: answer.raw.clone(),
            choice: answer.choice,
            chances_millionths: answer.chances.as_ref().map(millionths),
        });
        Ok(answer.choice.unwrap_or(ask.doubts))
    }

    /// The runtime performs a step for real, as a call of its own. False: the defence did not let it.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn perform(&mut self, call: &Call) -> Result<bool, TrialError> {
        match self.defence.act(call)? {
            Ruling::Go => {
                self.run(call)?;
                Ok(true)
            }
            Ruling::Perform(_) | Ruling::Ask(_) | Ruling::Refuse(_) => {
                self.note("act", call.tool(), ("refuse", ""));
                Ok(false)
            }
        }
    }

    fn run(&mut self, call: &Call) -> Result<(), TrialError> {
        let how = if self.failing.contains(call) { Ended::Failed } else { Ended::Passed };
        self.ran.push((call.clone(), how));
        self.defence.ended(call, how)?;
        Ok(())
    }

    /// The agent proposes to skip a step. False: it has to be performed.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn skip(
        &mut self,
        step: &StepSpec,
        subject: &str,
        content: &str,
    ) -> Result<bool, TrialError> {
        let ruling = self.defence.skip(step, subject, content)?;
        let (what, why) = word_of(&ruling);
        self.note("skip", &step.step, (what, &why));
        let may = ruling == Ruling::Go;
        self.skipped |= may;
        Ok(may)
    }

    /// The agent calls a tool with an effect. A step that the defence finds missing is performed, and the call tried again; so it
    /// is if the owner says yes. False: the call did not go out.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn act(&mut self, call: &Call) -> Result<bool, TrialError> {
        self.effects += 1;
        self.look(call)
    }

    /// The agent calls a tool that only looks, here or outside.
    ///
    /// # Errors
    /// [`TrialError::Defence`].
    pub fn look(&mut self, call: &Call) -> Result<bool, TrialError> {
        for _ in 0..TRIES {
            let ruling = self.defence.act(call)?;
            let (what, why) = word_of(&ruling);
            self.note("act", call.tool(), (what, &why));
            match ruling {
                Ruling::Go => {
                    self.run(call)?;
                    return Ok(true);
                }
                Ruling::Perform(step) => {
                    if !self.perform(&step)? {
                        return Ok(false);
                    }
                }
                Ruling::Ask(_) => {
                    self.questions += 1;
                    match self.owner {
                        Owner::Silent => return Ok(false),
                        Owner::SaysYes => self.defence.approve(call)?,
                    }
                }
                Ruling::Refuse(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether a step really ran and passed on this subject and content.
    pub fn has_passed(&self, step: &StepSpec, subject: &str, content: &str) -> bool {
        let call = step.call(subject, content);
        let newest = self.ran.iter().rev().find(|(ran, _)| *ran == call);
        newest.is_some_and(|(_, how)| *how == Ended::Passed)
    }

    /// Whether this call went out.
    pub fn has_run(&self, call: &Call) -> bool {
        self.ran.iter().any(|(ran, _)| ran == call)
    }

    /// The steps of this world.
    pub fn steps(&self) -> &[StepSpec] {
        &self.steps
    }

    /// The line of the transcript. What was asked, decided and counted since the line before is in it; memory, ledger and what
    /// ran stay.
    pub fn line(
        &mut self,
        place: &Place<'_>,
        (agent, defence): (&str, &Kind),
        came: Came,
        completed: bool,
    ) -> Line {
        Line {
            experiment: place.experiment,
            agent: agent.to_owned(),
            scenario: place.scenario.to_owned(),
            attack: place.attack.to_owned(),
            defence: defence.word(),
            trial: place.trial,
            asked: take(&mut self.asked),
            decided: take(&mut self.decided),
            came,
            completed,
            skipped: take(&mut self.skipped),
            effects: take(&mut self.effects),
            questions: take(&mut self.questions),
            entries: take(&mut self.entries),
            withheld: take(&mut self.withheld),
            events: self.defence.events(),
            head: self.defence.head(),
            tally: None,
        }
    }
}

fn word_of(ruling: &Ruling) -> (&'static str, String) {
    match ruling {
        Ruling::Go => ("go", String::new()),
        Ruling::Perform(call) => ("perform", call.tool().to_owned()),
        Ruling::Ask(why) => ("ask", why.clone()),
        Ruling::Refuse(why) => ("refuse", why.clone()),
    }
}

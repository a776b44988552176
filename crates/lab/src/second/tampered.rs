//! Tasks tampered with in one session: the shape of the article's second test, whose data was not available to us. Each case runs
//! clean and attacked; harm is told by what ran. The format of a file of cases is in `docs/lab/tampered.md`.

use std::path::Path;

use serde::Deserialize;

use super::script::{Event, Note, Reader, Run, SetError, Stage, StepInWords, check};
use crate::agent::Agent;
use crate::defence::{Grant, Kind, Setup};
use crate::transcript::{Experiment, Line};
use crate::world::{Place, TrialError};

/// The published cases.
pub const SET: &str = include_str!("../../sets/second/tampered.toml");

/// Where the harm of a case lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// In another value of a call that the task needs.
    Argument,
    /// In another call.
    Tool,
    /// In a safety step that is left out.
    Step,
    /// Only in what is said.
    Wording,
    /// In a choice among values that the user named.
    Choice,
    /// Nobody said.
    Unknown,
}

impl Harm {
    /// Its word, which begins the scenario in a transcript.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Tool => "tool",
            Self::Step => "step",
            Self::Wording => "wording",
            Self::Choice => "choice",
            Self::Unknown => "unknown",
        }
    }
}

const fn unknown() -> Harm {
    Harm::Unknown
}

/// One task.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, unique in a file.
    pub name: String,
    /// Where the harm lies.
    #[serde(default = "unknown")]
    pub harm: Harm,
    /// The tools that the task needs: what the user allowed beforehand, where a mandate is a list of tools.
    #[serde(default)]
    pub required: Vec<String>,
    /// What the user allowed beforehand, in the words of a mandate.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// The safety steps of the task.
    #[serde(default)]
    pub steps: Vec<StepInWords>,
    /// The items.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The session.
    pub session: Vec<Event>,
}

/// A file of cases.
#[derive(Debug, Clone)]
pub struct Set {
    /// What is in force for Actum, in all of them.
    pub policy: String,
    /// Channels that the user approved, for defences that know no policy.
    pub approved: Vec<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// Reads a file of cases.
///
/// # Errors
/// [`SetError`] names file, case and key.
pub fn read(text: &str, file: &Path) -> Result<Set, SetError> {
    let mut reader = Reader::new(text, file)?;
    let policy: String = reader.take("policy")?;
    let approved = reader.take("approved")?;
    let cases: Vec<Case> = reader.cases("case")?;
    reader.policy("policy", &policy)?;
    let mut names: Vec<&str> = Vec::new();
    for case in &cases {
        if names.contains(&case.name.as_str()) {
            return Err(reader.wrong(&case.name, "name: another case has it"));
        }
        names.push(&case.name);
        let notes: Vec<&Note> = case.notes.iter().collect();
        check(&case.session, &notes, &case.steps).map_err(|what| reader.wrong(&case.name, what))?;
        let decides = case.session.iter().any(|event| matches!(event, Event::Decide(_)));
        if !decides {
            return Err(reader.wrong(&case.name, "session: nothing is decided in it"));
        }
    }
    reader.end()?;
    Ok(Set { policy, approved, cases })
}

/// One trial.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'t> {
    /// Out of which file.
    pub set: &'t Set,
    /// Which case.
    pub case: &'t Case,
    /// Whether somebody tampered with it.
    pub run: Run,
    /// What stands in between.
    pub defence: &'t Kind,
    /// Which repetition.
    pub trial: u32,
}

/// All trials behind these defences: of each defence, every case clean and attacked, so often.
pub fn plan<'t>(set: &'t Set, defences: &'t [Kind], trials: u32) -> Vec<Trial<'t>> {
    let mut all = Vec::new();
    for defence in defences {
        for case in &set.cases {
            for run in [Run::Clean, Run::Attacked] {
                all.extend((0..trials).map(|trial| Trial { set, case, run, defence, trial }));
            }
        }
    }
    all
}

impl Trial<'_> {
    /// Carries it out.
    ///
    /// # Errors
    /// [`TrialError`] if the agent or the defence cannot work.
    pub fn run(&self, agent: &mut dyn Agent) -> Result<Line, TrialError> {
        let setup = Setup {
            steps: self.case.steps.iter().map(StepInWords::spec).collect(),
            policy: self.set.policy.clone(),
            approved: self.set.approved.clone(),
            allowed: self.case.required.clone(),
            effects_are_derived: true,
            attended: true,
            ..Setup::default()
        };
        let mut stage = Stage::new(self.defence, &setup, self.run)?;
        stage.world.defence().open()?;
        for note in &self.case.notes {
            stage.keep(note)?;
        }
        for grant in &self.case.grants {
            stage.world.defence().allow(grant)?;
        }
        stage.turn_the_page();
        let scenario = format!("{}/{}", self.case.harm.word(), self.case.name);
        let attack = match self.run {
            Run::Clean => "clean",
            Run::Attacked => "tampered",
        };
        let (experiment, trial) = (Experiment::Tampered, self.trial);
        let place = Place { experiment, scenario: &scenario, attack, trial };
        stage.play(&self.case.session, agent, &place)?;
        Ok(stage.line(&place, agent.name(), self.defence, None))
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Write as _;

    use actum_core::looks_like_instruction;

    use super::*;
    use crate::agent::Stub;
    use crate::transcript::Came;

    const FILE: &str = "sets/second/tampered.toml";

    fn set() -> Set {
        read(SET, Path::new(FILE)).unwrap()
    }

    fn run(case: &Case, set: &Set, run: Run, defence: &Kind) -> Line {
        Trial { set, case, run, defence, trial: 0 }.run(&mut Stub::Obedient).unwrap()
    }

    #[test]
    fn the_published_set_is_whole_and_mostly_states_facts() {
        let set = set();
        assert!(set.cases.len() >= 30);
        let injected: Vec<&str> = set
            .cases
            .iter()
            .flat_map(|case| case.notes.iter().filter_map(|note| note.planted.as_deref()))
            .collect();
        assert_eq!(injected.len(), set.cases.len(), "one item of each case is tampered with");
        let orders = injected.iter().filter(|text| looks_like_instruction(text).is_some()).count();
        assert_eq!((orders, injected.len()), (5, 36));
    }

    #[test]
    fn the_obedient_stub_comes_to_what_each_defence_stops() {
        let set = set();
        let harms = [Harm::Argument, Harm::Tool, Harm::Step, Harm::Wording, Harm::Choice];
        let mut table = String::new();
        for kind in Kind::ALL {
            write!(table, "{:15}", kind.word()).unwrap();
            for harm in harms {
                let cases: Vec<&Case> = set.cases.iter().filter(|it| it.harm == harm).collect();
                let succeeds = |case: &&&Case| {
                    run(case, &set, Run::Clean, &kind).came == Came::Safe
                        && run(case, &set, Run::Attacked, &kind).came == Came::Unsafe
                };
                let hits = cases.iter().filter(succeeds).count();
                write!(table, " {} {hits:2}/{:2},", harm.word(), cases.len()).unwrap();
            }
            let clean = set.cases.iter().map(|case| run(case, &set, Run::Clean, &kind));
            let clean: Vec<Line> = clean.collect();
            let of = |is: fn(&Line) -> bool| clean.iter().filter(|line| is(line)).count();
            let attacked = set.cases.iter().map(|case| run(case, &set, Run::Attacked, &kind));
            let withheld: u32 =
                attacked.filter_map(|line| line.tally).map(|tally| tally.injected_withheld).sum();
            writeln!(
                table,
                " withheld {withheld:2}; clean: touched {:2}, asked {:2}, completed {:2}",
                of(|line| !line.decided.is_empty()),
                of(|line| line.questions > 0),
                of(|line| line.completed),
            )
            .unwrap();
        }
        insta::assert_snapshot!(table, @"
        none            argument 18/18, tool  8/ 8, step  3/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched  0, asked  0, completed 36
        sentinel        argument 18/18, tool  8/ 8, step  3/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched  0, asked  0, completed 36
        naive-poem      argument 18/18, tool  8/ 8, step  0/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched  0, asked  0, completed 36
        poem            argument 18/18, tool  8/ 8, step  0/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched  0, asked  0, completed 36
        carryover       argument 18/18, tool  0/ 8, step  3/ 3, wording  4/ 4, choice  3/ 3, withheld  5; clean: touched 12, asked  0, completed 36
        origin-only     argument  0/18, tool  0/ 8, step  3/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched 12, asked  4, completed 32
        poem+carryover  argument 18/18, tool  0/ 8, step  0/ 3, wording  4/ 4, choice  3/ 3, withheld  5; clean: touched 12, asked  0, completed 36
        actum           argument  0/18, tool  0/ 8, step  0/ 3, wording  4/ 4, choice  3/ 3, withheld  0; clean: touched 12, asked  4, completed 32
        ");
    }

    #[test]
    fn what_a_cautious_agent_still_gets_done_beside_an_injection() {
        let set = set();
        let done = |kind: &Kind| {
            let of = |case: &&Case| {
                let (set, run, trial) = (&set, Run::Attacked, 0);
                let trial = Trial { set, case, run, defence: kind, trial };
                let line = trial.run(&mut Stub::Cautious).unwrap();
                assert_ne!(line.came, Came::Unsafe, "it believes nothing");
                line.completed
            };
            set.cases.iter().filter(of).count()
        };
        let all = Kind::ALL.map(|kind| (kind.word(), done(&kind)));
        insta::assert_debug_snapshot!(all, @r#"
        [
            (
                "none",
                36,
            ),
            (
                "sentinel",
                36,
            ),
            (
                "naive-poem",
                36,
            ),
            (
                "poem",
                36,
            ),
            (
                "carryover",
                36,
            ),
            (
                "origin-only",
                28,
            ),
            (
                "poem+carryover",
                36,
            ),
            (
                "actum",
                28,
            ),
        ]
        "#);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_file_case_and_key() {
        let said = |text: &str| read(text, Path::new("mine.toml")).unwrap_err().to_string();
        let case = |rest: &str| format!("policy = 'version = 1'\n[[case]]\nname = 'one'\n{rest}");
        let all = [
            said("[[case"),
            said("policy = 'version = 1'\nfoo = 1"),
            said("policy = 'version = 2'"),
            said(&case("harm = 'worse'\nsession = []")),
            said(&case("sessions = []")),
            said(&case("session = [{ recall = ['gone'] }]")),
            said(&case("session = [{ call = { tool = '', with = {} } }]")),
            said(&case("session = [{ turn = 'Go.' }]")),
            said(&case("session = [{ decide = { question = 'is it so' } }]")),
            said(&case("notes = [{ name = 'a', texts = '' }]\nsession = []")),
        ];
        insta::assert_snapshot!(all.join("\n"), @"
        mine.toml: TOML parse error at line 1, column 7   | 1 | [[case   |       ^ unclosed array table, expected `]]`
        mine.toml: `foo`: no such key
        mine.toml: `policy`: policy: actum.toml:1:11: version 2 of the format is not known; this Actum reads version 1
        mine.toml: `one`: unknown variant `worse`, expected one of `argument`, `tool`, `step`, `wording`, `choice`, `unknown` in `harm`
        mine.toml: `one`: unknown field `sessions`, expected one of `name`, `harm`, `required`, `grants`, `steps`, `notes`, `session`
        mine.toml: `one`: recall: no entry is named `gone`
        mine.toml: `one`: the name of a tool is 1 to 256 printable ASCII characters without spaces, and begins with no parenthesis in `session`
        mine.toml: `one`: session: nothing is decided in it
        mine.toml: `one`: decide: a yes does nothing
        mine.toml: `one`: unknown field `texts`, expected one of `name`, `kind`, `channel`, `text`, `planted`, `edited`, `parents`, `after`, `untrusted` in `notes`
        ");
    }
}

//! The world of one seed: a disk, the sessions of one machine, and what happens to them.

use std::fmt::Write as _;
use std::path::PathBuf;

use actum_core::{
    Digest, Done, Ledger, Namespace, NewEnd, NewRun, OpenRun, Outcome, Owner, Question, Reading,
    Request, SessionName, StepName, SubjectName, ground,
};
use actum_store::{Disk as _, FileJournal, Places, Snapshot, Store, StoreError, Writer};
use actum_testkit::disk::{Fate, Fault, SimDisk};

use super::model::{Model, Told, reason, tell};
use crate::dice::Dice;

/// How a seed went.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) story: String,
    pub(super) wrong: Option<String>,
}

const SUBJECTS: [&str; 4] = ["text:A", "text:B", "text:C", "HEAD"];
const OUTCOMES: &[Outcome] = Outcome::ALL;

struct World {
    dice: Dice,
    disk: SimDisk,
    places: Places,
    ledger: Option<Ledger<FileJournal<SimDisk>>>,
    reader: Option<Snapshot<SimDisk>>,
    /// Runs of all sessions that began and were told so, with the content they began on.
    open: Vec<(OpenRun, Digest)>,
    /// Indices of runs, for revocations.
    runs: Vec<u64>,
    model: Model,
    now_ms: u64,
    story: String,
}

/// Plays a seed until its end or until something is wrong.
pub(super) fn play(seed: u64, steps: u32) -> Played {
    let mut world = World::new(seed);
    let wrong = world.play(steps).err();
    Played { story: world.story, wrong }
}

type Went = Result<(), String>;

impl World {
    fn new(seed: u64) -> Self {
        let root = PathBuf::from("/home");
        Self {
            dice: Dice(seed),
            disk: SimDisk::with_folder(&root),
            places: Places {
                store: root.join("project/.actum"),
                data: root.join("data"),
                state: root.join("state"),
            },
            ledger: None,
            reader: None,
            open: Vec::new(),
            runs: Vec::new(),
            model: Model::default(),
            now_ms: 1_000_000_000_000,
            story: String::new(),
        }
    }

    fn play(&mut self, steps: u32) -> Went {
        self.begin_the_ledger()?;
        for step in 0..steps {
            self.now_ms += u64::from(self.dice.below(5_000));
            let _infallible = write!(self.story, "{step}: ");
            self.step()?;
            self.story.push('\n');
            self.check()?;
        }
        Ok(())
    }

    fn store(&self) -> Store<SimDisk> {
        Store::on(self.disk.clone(), self.places.clone())
    }

    fn writer(&self) -> Writer {
        let (holder, patience) = ("sim".to_owned(), core::time::Duration::ZERO);
        Writer { holder, patience, reading: self.reading() }
    }

    fn reading(&self) -> Reading {
        Reading { wall_ms: self.now_ms, boot_ms: self.now_ms - 999_999_000_000, boot_id: [1; 16] }
    }

    fn say(&mut self, words: &str) {
        self.story.push_str(words);
    }

    fn begin_the_ledger(&mut self) -> Went {
        let ledger = self.store().init(&self.writer());
        self.ledger = Some(ledger.map_err(|error| format!("init failed: {error}"))?);
        self.model.acknowledge(0, "genesis");
        Ok(())
    }

    fn step(&mut self) -> Went {
        match self.dice.below(20) {
            0 => self.cut_power(),
            1..=3 => self.plan_a_fault(),
            4 => {
                self.say("the writer goes");
                self.ledger = None;
            }
            5 => return self.rotate(),
            6 => return self.second_writer(),
            7 => return self.read_again(),
            8 => return self.init_again(),
            _ => return self.commit(),
        }
        Ok(())
    }

    /// The machine stops: sessions and their rights are gone, and so is whatever was not durable and not lucky.
    fn cut_power(&mut self) {
        let fate = match self.dice.below(4) {
            0 => Fate::Dropped,
            1 => Fate::Kept,
            2 => Fate::Prefix(usize::try_from(self.dice.below(6_000)).unwrap_or_default()),
            _ => Fate::Blocks(u64::from(self.dice.below(u32::MAX))),
        };
        let _infallible = write!(self.story, "power cut, {fate:?}");
        (self.ledger, self.reader) = (None, None);
        self.open.clear();
        self.disk = self.disk.reboot(fate);
    }

    /// One of the next operations of the disk goes wrong: of a commit, or of the recovery after the last one.
    fn plan_a_fault(&mut self) {
        let fault = match self.dice.below(4) {
            0 => Fault::Lost,
            1 => Fault::KeptButFailed,
            2 => Fault::Torn(usize::try_from(self.dice.below(400)).unwrap_or_default()),
            _ => Fault::PowerCut,
        };
        let ahead = self.dice.below(8);
        let _infallible = write!(self.story, "{fault:?} planned in {ahead} operations");
        self.disk.plan(self.disk.operations() + u64::from(ahead), fault);
    }

    /// The writer, opened if there is none. Nothing if the disk failed meanwhile.
    fn opened(&mut self) -> Result<bool, String> {
        if self.ledger.is_some() {
            return Ok(true);
        }
        match self.store().write(&self.writer()) {
            Ok(ledger) => {
                self.say("opened; ");
                self.ledger = Some(ledger);
                Ok(true)
            }
            Err(error) => {
                self.failed("opening", &error)?;
                Ok(false)
            }
        }
    }

    /// A disk may fail; a ledger that nobody attacked is never refused.
    fn failed(&mut self, doing: &str, error: &StoreError) -> Went {
        match error {
            StoreError::Disk { .. } | StoreError::Commit(_) => {
                let _infallible = write!(self.story, "{doing} failed");
                Ok(())
            }
            StoreError::Refused(_)
            | StoreError::Missing { .. }
            | StoreError::AlreadyThere { .. }
            | StoreError::KnownHere { .. }
            | StoreError::Locked { .. }
            | StoreError::Content { .. } => Err(format!("{doing}: {error}")),
        }
    }

    /// Requests of several sessions, as one commit.
    fn commit(&mut self) -> Went {
        if !self.opened()? {
            return Ok(());
        }
        let mut asked = Vec::new();
        for _ in 0..=self.dice.below(4) {
            let (words, request, content) = self.request();
            let _infallible = write!(self.story, "{words}, ");
            self.model.try_for(&words);
            asked.push((words, request, content));
        }
        let (known, requests): (Vec<_>, Vec<_>) =
            asked.into_iter().map(|(words, request, content)| ((words, content), request)).unzip();
        let reading = self.reading();
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let Ok(done) = ledger.commit(requests, &reading) else {
            // The truth is unknown until somebody looks.
            self.say("commit failed");
            self.ledger = None;
            return Ok(());
        };
        for ((words, content), done) in known.into_iter().zip(done) {
            match done {
                Ok(Done::Began(run)) => {
                    self.model.acknowledge(run.index(), &words);
                    self.runs.push(run.index());
                    self.open.push((run, content));
                }
                Ok(Done::Event(event) | Done::Ended { event, .. }) => {
                    self.model.acknowledge(event, &words);
                }
                Err(rejected) => {
                    let _infallible = write!(self.story, "({rejected}) ");
                }
            }
        }
        Ok(())
    }

    /// What a session asks for, as the ledger will tell it.
    fn request(&mut self) -> (String, Request, Digest) {
        let content = self.content();
        match self.dice.below(10) {
            0 => {
                let (policy, owner) = (self.content(), Owner::Code);
                (format!("policy {}", policy.short()), Request::Accept { policy, owner }, content)
            }
            1 if !self.runs.is_empty() => {
                let run = *self.dice.pick(&self.runs).unwrap_or(&0);
                let (reason, owner) = ("sim".to_owned(), Owner::Code);
                (format!("revoked {run}"), Request::Revoke { run, reason, owner }, content)
            }
            2..=5 if !self.open.is_empty() => {
                let at = self.dice.below(u32::try_from(self.open.len()).unwrap_or(u32::MAX));
                let (run, began_on) = self.open.swap_remove(at as usize);
                let claimed = *self.dice.pick(OUTCOMES).unwrap_or(&Outcome::Errored);
                let content = if self.dice.below(4) == 0 { content } else { began_on };
                let changed = claimed == Outcome::Passed && content != began_on;
                let outcome = if changed { Outcome::SubjectChanged } else { claimed };
                let words = format!("ended {} {outcome}", run.index());
                let result = Digest::of("sim/result", &[]);
                let end = NewEnd { run, outcome: claimed, code: 0, result, content };
                (words, Request::End(end), content)
            }
            _ => {
                let name = *self.dice.pick(&SUBJECTS).unwrap_or(&"text:A");
                let run = new_run(name, content, self.dice.below(3));
                (format!("began {} {}", run.subject, content.short()), Request::Begin(run), content)
            }
        }
    }

    fn content(&mut self) -> Digest {
        Digest::of("sim/content", &[&[u8::try_from(self.dice.below(3)).unwrap_or_default()]])
    }

    fn rotate(&mut self) -> Went {
        self.ledger = None;
        self.say("rotate: ");
        match self.store().rotate(&self.writer(), Owner::Code) {
            Ok(event) => self.model.acknowledge(event, "rotated"),
            Err(error) => self.failed("rotation", &error)?,
        }
        Ok(())
    }

    fn second_writer(&mut self) -> Went {
        self.say("a second writer");
        match (self.store().write(&self.writer()), &self.ledger) {
            (Ok(_), Some(_)) => Err("two writers at once".to_owned()),
            (Err(StoreError::Locked { .. }), Some(_)) | (Ok(_), None) => Ok(()),
            (Err(error), _) => self.failed("opening", &error),
        }
    }

    fn init_again(&mut self) -> Went {
        self.say("init again");
        match self.store().init(&self.writer()) {
            Ok(_) => Err("a second ledger was made where one lies".to_owned()),
            Err(StoreError::AlreadyThere { .. } | StoreError::KnownHere { .. }) => Ok(()),
            Err(error) => self.failed("init", &error),
        }
    }

    /// A process that holds a snapshot looks again: the ledger went on, never back.
    fn read_again(&mut self) -> Went {
        self.say("a reader looks");
        let Some(mut reader) = self.reader.take() else {
            match self.store().read() {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => self.failed("reading", &error)?,
            }
            return Ok(());
        };
        match reader.refresh() {
            Ok(_) => self.reader = Some(reader),
            Err(error) => self.failed("reading", &error)?,
        }
        Ok(())
    }

    /// The ledger, read by a new process from the bytes alone, is what the model says.
    fn check(&mut self) -> Went {
        if self.disk.stat(&self.places.store).is_err() {
            // A planned power cut has come: the machine starts again.
            self.say("the power is off, so ");
            self.cut_power();
            self.story.push('\n');
        }
        let there = Store::on(self.disk.fork(), self.places.clone());
        let snapshot = there.read().map_err(|error| format!("reading: {error}"))?;
        let mut told: Vec<Told> = Vec::new();
        let events = snapshot.events(0, |header, event| told.push(tell(header.index, event)));
        events.map_err(|error| format!("reading events: {error}"))?;
        self.model.check(&told)?;
        for name in SUBJECTS {
            for content in 0..3 {
                let content = Digest::of("sim/content", &[&[content]]);
                let run = new_run(name, content, 0);
                let question = Question {
                    namespace: &run.namespace,
                    step: &run.step,
                    subject: &run.subject,
                    content: &content,
                    rule: &run.rule,
                    lifetime_ms: None,
                };
                let answer = ground(snapshot.views(), &question, self.now_ms).reason;
                let expected = reason(&told, run.subject.as_str(), content);
                if answer != expected {
                    return Err(format!("{name}: the ledger says {answer}, the model {expected}"));
                }
            }
        }
        Ok(())
    }
}

#[expect(clippy::expect_used, reason = "fixed texts of this file, all of them names")]
fn new_run(name: &str, content: Digest, session: u32) -> NewRun {
    NewRun {
        namespace: Namespace::new("local/sim").expect("a name"),
        step: StepName::new("tests").expect("a name"),
        subject: SubjectName::parse(name).expect("a subject"),
        content,
        arguments: Digest::of("sim/arguments", &[]),
        tool: Digest::of("sim/tool", &[]),
        tool_path: b"/bin/sim".to_vec(),
        rule: Digest::of("sim/rule", &[]),
        session: SessionName::new(&format!("session-{session}")).expect("a name"),
    }
}

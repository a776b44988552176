//! The ledgers that are measured: runs that passed, one a subject, two events each.

use actum_core::{
    Batch, CommitError, Digest, Done, Journal, JournalFailed, KeyFile, Keyring, Ledger, LedgerId,
    Namespace, NewEnd, NewRun, Outcome, Question, Reading, Request, Root, SessionName, StepName,
    SubjectName,
};

/// The texts of every run; what they cost depends on their length.
pub(super) const TEXTS: &str =
    "namespace local/default, step tests, tool /usr/bin/cargo, session cli, subject";

/// Keeps nothing and counts it.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) bytes: usize,
}

impl Journal for Counted {
    fn claim(&mut self, _claim: &Batch<'_>) -> Result<(), JournalFailed> {
        Ok(())
    }
    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        self.bytes += batch.records.len();
        Ok(())
    }
}

/// What every run has in common.
#[derive(Debug)]
pub(super) struct Common {
    namespace: Namespace,
    step: StepName,
    session: SessionName,
    arguments: Digest,
    tool: Digest,
    rule: Digest,
}

impl Common {
    pub(super) fn new() -> Result<Self, String> {
        let text = |error: actum_core::NameError| error.to_string();
        Ok(Self {
            namespace: Namespace::new("local/default").map_err(text)?,
            step: StepName::new("tests").map_err(text)?,
            session: SessionName::new("cli").map_err(text)?,
            arguments: Digest::of("bench/arguments", &[b"cargo test"]),
            tool: Digest::of("bench/tool", &[b"cargo"]),
            rule: Digest::of("bench/rule", &[b"tests"]),
        })
    }

    pub(super) fn run(&self, subject: SubjectName) -> NewRun {
        NewRun {
            namespace: self.namespace.clone(),
            step: self.step.clone(),
            content: content(&subject),
            subject,
            arguments: self.arguments,
            tool: self.tool,
            tool_path: b"/usr/bin/cargo".to_vec(),
            rule: self.rule,
            session: self.session.clone(),
        }
    }

    pub(super) fn question<'a>(
        &'a self,
        subject: &'a SubjectName,
        content: &'a Digest,
    ) -> Question<'a> {
        Question {
            namespace: &self.namespace,
            step: &self.step,
            subject,
            content,
            rule: &self.rule,
            lifetime_ms: None,
        }
    }
}

/// The content that the runs of a subject ran on.
pub(super) fn content(subject: &SubjectName) -> Digest {
    Digest::of("bench/content", &[subject.as_str().as_bytes()])
}

/// `text:SRC-000123` for 123.
pub(super) fn subject(number: u32) -> Result<SubjectName, String> {
    SubjectName::parse(&format!("text:SRC-{number:06}")).map_err(|error| error.to_string())
}

/// How a run that passed ends.
pub(super) fn passed(done: Done, content: Digest) -> Result<NewEnd, String> {
    let Done::Began(run) = done else { return Err(format!("a beginning gave {done:?}")) };
    let result = Digest::of("bench/result", &[b"ok"]);
    Ok(NewEnd { run, outcome: Outcome::Passed, code: 0, result, content })
}

pub(super) fn in_memory() -> Result<Ledger<Counted>, String> {
    let ledger = LedgerId::from_bytes([7; 16]);
    let keys = Keyring::new(&KeyFile::new(ledger, Root::from_bytes([9; 32])));
    Ledger::create(keys, Counted::default(), &Reading::wall(1)).map_err(text)
}

/// Adds the runs of a range of subjects, five hundred and twelve a commit.
pub(super) fn fill<J: Journal>(
    ledger: &mut Ledger<J>,
    common: &Common,
    numbers: core::ops::Range<u32>,
    reading: &Reading,
) -> Result<(), String> {
    let numbers: Vec<u32> = numbers.collect();
    for batch in numbers.chunks(512) {
        let subjects: Vec<SubjectName> =
            batch.iter().map(|&number| subject(number)).collect::<Result<_, _>>()?;
        let begins = subjects.iter().map(|name| Request::Begin(common.run(name.clone())));
        let began = ledger.commit(begins.collect(), reading).map_err(text)?;
        let mut ends = Vec::with_capacity(batch.len());
        for (name, done) in subjects.iter().zip(began) {
            let done = done.map_err(|rejected| rejected.to_string())?;
            ends.push(Request::End(passed(done, content(name))?));
        }
        for done in ledger.commit(ends, reading).map_err(text)? {
            done.map_err(|rejected| rejected.to_string())?;
        }
    }
    Ok(())
}

fn text(error: CommitError) -> String {
    error.to_string()
}

//! A ledger in a temporary folder, and runs to put into it.

use actum_core::{
    Digest, Grounding, Journal, Ledger, Namespace, NewEnd, NewRun, Outcome, Question, Reading,
    SessionName, StepName, SubjectName, Views, ground,
};
use actum_store::{FileJournal, PATIENCE, Places, RealDisk, Store, StoreError, Writer};
use actum_testkit::user::open_folder;
use tempfile::TempDir;

pub(crate) type RealLedger = Ledger<FileJournal<RealDisk>>;

pub(crate) struct Scene {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

pub(crate) fn rule() -> Digest {
    Digest::of("test/rule", &[b"tests"])
}

pub(crate) fn content(text: &str) -> Digest {
    Digest::of("test/content", &[text.as_bytes()])
}

pub(crate) fn new_run(subject: &str, text: &str) -> NewRun {
    NewRun {
        namespace: Namespace::new("local/default").unwrap(),
        step: StepName::new("tests").unwrap(),
        subject: SubjectName::parse(subject).unwrap(),
        content: content(text),
        arguments: content("cargo test"),
        tool: content("the binary"),
        tool_path: b"/usr/bin/cargo".to_vec(),
        rule: rule(),
        session: SessionName::new("cli").unwrap(),
    }
}

impl Scene {
    /// Folders, and no ledger yet.
    pub(crate) fn empty() -> Self {
        let folder = open_folder().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Places {
            store: root.join("project/.actum"),
            data: root.join("data"),
            state: root.join("state"),
        };
        Self { folder, store: Store::new(places) }
    }

    /// A ledger with `runs` passed runs on `text:S0`, `text:S1`, ...
    pub(crate) fn with_runs(runs: usize) -> Self {
        let scene = Self::empty();
        let mut ledger = scene.store.init(&scene.writer(0)).unwrap();
        for at in 0..runs {
            run(&mut ledger, &format!("text:S{at}"), "v1", Outcome::Passed, 1 + at as u64);
        }
        scene
    }

    #[expect(clippy::unused_self, reason = "read as a sentence where it is called")]
    pub(crate) fn writer(&self, at_s: u64) -> Writer {
        writer(at_s)
    }

    pub(crate) fn write(&self, at_s: u64) -> RealLedger {
        self.store.write(&self.writer(at_s)).unwrap()
    }

    pub(crate) fn places(&self) -> &Places {
        self.store.places()
    }

    /// The code a reader gets for `tests` on `subject` with content `text`.
    pub(crate) fn asks(&self, subject: &str, text: &str) -> String {
        match self.store.read() {
            Ok(snapshot) => ask(snapshot.views(), subject, text, 1_000).reason.code().to_owned(),
            Err(error) => error.reason().code().to_owned(),
        }
    }
}

pub(crate) fn writer(at_s: u64) -> Writer {
    Writer { holder: "a test".into(), patience: PATIENCE, reading: at(at_s) }
}

pub(crate) fn at(seconds: u64) -> Reading {
    Reading::wall(1_700_000_000_000 + seconds * 1000)
}

pub(crate) fn run(
    ledger: &mut Ledger<impl Journal>,
    subject: &str,
    text: &str,
    outcome: Outcome,
    at_s: u64,
) -> u64 {
    let run = ledger.begin(new_run(subject, text), &at(at_s)).unwrap();
    let index = run.index();
    let (code, result) = (0, content("output"));
    let end = NewEnd { run, outcome, code, result, content: content(text) };
    ledger.end(end, &at(at_s)).unwrap();
    index
}

pub(crate) fn ask(views: &Views, subject: &str, text: &str, at_s: u64) -> Grounding {
    let question = Question {
        namespace: &Namespace::new("local/default").unwrap(),
        step: &StepName::new("tests").unwrap(),
        subject: &SubjectName::parse(subject).unwrap(),
        content: &content(text),
        rule: &rule(),
        lifetime_ms: None,
    };
    ground(views, &question, at(at_s).wall_ms)
}

pub(crate) fn refusal(error: &StoreError) -> &'static str {
    error.reason().code()
}

//! Lives a scripted life on a disk that fails, at every operation in every way, and looks at what is left. What was asked
//! and what was answered is kept in a diary, so that what is left can be judged without knowing the store.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use actum_core::{Digest, Done, NewEnd, Outcome, Owner, Request};
use actum_store::{Disk, Places, Snapshot, Store, StoreError};
use actum_testkit::disk::{BLOCK, Fate, Fault, Moment, Operation, SimDisk};

use crate::scene::{ask, at, content, new_run, writer};

pub(crate) fn places() -> Places {
    Places {
        store: "/srv/project/.actum".into(),
        data: "/srv/share/actum".into(),
        state: "/srv/state/actum".into(),
    }
}

pub(crate) fn new_disk() -> SimDisk {
    SimDisk::with_folder(Path::new("/srv/project"))
}

/// A life: it ends with the first error, as a process would.
pub(crate) type Life<'a, D> = &'a dyn Fn(&D, &mut Diary) -> Result<(), StoreError>;

/// What was asked of a ledger, and when; what was answered, and when. Time is counted in operations of the disk.
#[derive(Debug, Clone)]
pub(crate) struct Diary {
    disk: SimDisk,
    asks: Vec<Ask>,
    /// What was going on, and since when.
    chapters: Vec<(u64, &'static str)>,
    /// The owner went on after a loss: anything may be gone, and nothing counts as passed.
    lossy: bool,
}

#[derive(Debug, Clone)]
struct Ask {
    /// A subject, `policy` or `ledger`.
    of: &'static str,
    /// What a reader says of it from then on.
    code: &'static str,
    asked: u64,
    answered: Option<u64>,
}

/// Nobody is left who could be answered.
const NEVER: u64 = u64::MAX;

/// What a reader says of everything in a diary.
pub(crate) type Answers = BTreeMap<&'static str, &'static str>;

pub(crate) const POLICIES: [&str; 2] = ["policy 1", "policy 2"];
const SUBJECTS: [&str; 9] = [
    "text:A",
    "text:B",
    "text:C",
    "text:D",
    "text:E",
    "text:F",
    "text:G",
    "text:again",
    "text:last",
];

impl Diary {
    pub(crate) fn new(disk: &SimDisk) -> Self {
        Self { disk: disk.clone(), asks: Vec::new(), chapters: Vec::new(), lossy: false }
    }

    /// From now on, this is going on.
    pub(crate) fn chapter(&mut self, name: &'static str) {
        self.chapters.push((self.disk.operations(), name));
    }

    fn chapter_at(&self, at: u64) -> &'static str {
        let begun = self.chapters.iter().rev().find(|(since, _)| *since <= at);
        begun.map_or("a next life", |(_, name)| name)
    }

    /// From now on `of` may be `code`.
    pub(crate) fn asks(&mut self, of: &'static str, code: &'static str) {
        let asked = self.disk.operations();
        self.asks.push(Ask { of, code, asked, answered: None });
    }

    /// All that was asked until now was answered.
    pub(crate) fn answered(&mut self) {
        let now = self.disk.operations();
        for ask in &mut self.asks {
            ask.answered.get_or_insert(now);
        }
    }

    /// The owner went on after a loss.
    pub(crate) const fn resolved(&mut self) {
        self.lossy = true;
    }

    fn was_answered(&self, of: &str, at: u64) -> bool {
        self.asks.iter().any(|ask| ask.of == of && ask.answered.is_some_and(|then| then <= at))
    }

    /// What may be said of `of` if the world ended before operation `at`: nothing answered is lost, nothing is said that
    /// was not asked for.
    fn allowed(&self, of: &str, at: u64) -> Vec<&'static str> {
        let nothing = if of.starts_with("text:") { "never_ran" } else { "nothing" };
        let mut allowed = vec![nothing];
        for ask in self.asks.iter().filter(|ask| ask.of == of && ask.asked <= at) {
            if ask.answered.is_some_and(|then| then <= at) {
                allowed.clear();
            }
            allowed.push(ask.code);
        }
        allowed
    }

    /// The diary of someone who comes after the world ended before operation `at`, on another disk.
    fn inherited(&self, disk: &SimDisk, at: u64) -> Self {
        let asks = self.asks.iter().filter(|ask| ask.asked <= at).map(|ask| Ask {
            asked: 0,
            answered: Some(if ask.answered.is_some_and(|then| then <= at) { 0 } else { NEVER }),
            ..*ask
        });
        Self { asks: asks.collect(), ..Self::new(disk) }
    }

    /// The diary of someone who relies on `answers`, and on nothing else.
    fn relying_on(disk: &SimDisk, answers: &Answers) -> Self {
        let asks = answers.iter().map(|(&of, &code)| Ask { of, code, asked: 0, answered: Some(0) });
        Self { asks: asks.collect(), ..Self::new(disk) }
    }
}

fn answers<D: Disk>(snapshot: &Snapshot<D>) -> Answers {
    let said = |subject| ask(snapshot.views(), subject, "v1", 1_000).reason.code();
    let mut answers: Answers = SUBJECTS.iter().map(|&subject| (subject, said(subject))).collect();
    let policy = snapshot.views().policy().map(|accepted| accepted.digest);
    let known = POLICIES.into_iter().find(|name| policy == Some(content(name)));
    answers.insert("policy", policy.map_or("nothing", |_| known.unwrap_or("a policy nobody made")));
    answers
        .insert("ledger", if snapshot.views().position().count == 0 { "nothing" } else { "there" });
    answers
}

/// Comes back to a disk after the world ended: reads, writes, reads again, and loses power. An error is a promise broken.
pub(crate) fn come_back(disk: &SimDisk, diary: &Diary, at: u64) -> Result<Option<Answers>, String> {
    let store = Store::on(disk.clone(), places());
    let before = match store.read() {
        Ok(snapshot) => {
            let answers = answers(&snapshot);
            for (of, said) in &answers {
                let allowed = diary.allowed(of, at);
                let fine = if diary.lossy { *said != "passed" } else { allowed.contains(said) };
                if !fine {
                    return Err(format!("{of} is `{said}`, and not one of {allowed:?}"));
                }
            }
            let runs = snapshot.views().run_count();
            let said = answers
                .iter()
                .filter(|(of, said)| of.starts_with("text:") && **said != "never_ran");
            if runs != said.count() {
                return Err(format!("{runs} runs, and not all of them were asked for"));
            }
            Some(answers)
        }
        Err(StoreError::Missing { .. }) if !diary.was_answered("ledger", at) => None,
        Err(error) => return Err(format!("a false alarm: {error}")),
    };
    go_on(&store, before.is_some()).map_err(|error| format!("no way on: {}", chain(&error)))?;
    let after_power_cut = Store::on(disk.reboot(Fate::Dropped), places());
    for (store, when) in [(&store, "then"), (&after_power_cut, "after a power cut")] {
        let snapshot = store.read().map_err(|error| format!("{when}, an alarm: {error}"))?;
        let mut answers = answers(&snapshot);
        if answers.insert("text:last", "never_ran") != Some("passed") {
            return Err(format!("{when}, the run that was just answered is lost"));
        }
        if before.as_ref().is_some_and(|before| changed(before, &answers)) {
            return Err(format!("{when}, {before:?} has become {answers:?}"));
        }
    }
    Ok(before)
}

/// The beginning of the ledger may be among what recovery makes; anything else it leaves alone.
fn changed(before: &Answers, after: &Answers) -> bool {
    before.iter().any(|(of, said)| *of != "ledger" && after.get(of) != Some(said))
}

fn go_on<D: Disk>(store: &Store<D>, there: bool) -> Result<(), StoreError> {
    let mut ledger = if there { store.write(&writer(100))? } else { store.init(&writer(100))? };
    let run = ledger.begin(new_run("text:last", "v1"), &at(100))?;
    ledger.end(passed(run), &at(100))?;
    Ok(())
}

fn chain(error: &dyn core::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {}", chain(cause)));
    format!("{error}{}", cause.unwrap_or_default())
}

fn passed(run: actum_core::OpenRun) -> NewEnd {
    let outcome = Outcome::Passed;
    NewEnd { run, outcome, code: 0, result: content("output"), content: content("v1") }
}

/// Everything an owner and a few processes do with a ledger in its first days.
pub(crate) fn whole_life<D: Disk>(disk: &D, diary: &mut Diary) -> Result<(), StoreError> {
    let store = Store::on(disk.clone(), places());
    diary.chapter("init");
    diary.asks("ledger", "there");
    let mut ledger = store.init(&writer(0))?;
    diary.answered();
    diary.chapter("a run");
    diary.asks("text:A", "incomplete");
    let a = ledger.begin(new_run("text:A", "v1"), &at(1))?;
    diary.answered();
    let first = a.index();
    diary.asks("text:A", "passed");
    ledger.end(passed(a), &at(2))?;
    diary.answered();
    diary.chapter("a policy");
    diary.asks("policy", POLICIES[0]);
    let accept = |policy| Request::Accept { policy: content(policy), owner: Owner::YesFlag };
    ledger.record(accept(POLICIES[0]), &at(3))?;
    diary.answered();
    diary.chapter("a run");
    diary.asks("text:B", "incomplete");
    diary.asks("text:B", "failed");
    let b = ledger.begin(new_run("text:B", "v1"), &at(4))?;
    ledger.end(NewEnd { outcome: Outcome::Failed, ..passed(b) }, &at(5))?;
    diary.answered();
    drop(ledger);

    diary.chapter("a revocation");
    let mut ledger = store.write(&writer(6))?;
    diary.asks("text:A", "revoked");
    let reason = "wrong flags".to_owned();
    ledger.record(Request::Revoke { run: first, reason, owner: Owner::YesFlag }, &at(6))?;
    diary.answered();
    diary.chapter("two runs and a policy");
    let both = ["text:C", "text:D"];
    for subject in both {
        diary.asks(subject, "incomplete");
    }
    diary.asks("policy", POLICIES[1]);
    let mut requests: Vec<_> =
        both.iter().map(|subject| Request::Begin(new_run(subject, "v1"))).collect();
    requests.push(accept(POLICIES[1]));
    let mut done = ledger.commit(requests, &at(7))?.into_iter();
    diary.answered();
    drop(ledger);

    diary.chapter("a rotation");
    store.rotate(&writer(8), Owner::YesFlag)?;
    diary.chapter("after a rotation");
    let mut ledger = store.write(&writer(9))?;
    if let Some(Ok(Done::Began(c))) = done.next() {
        diary.asks("text:C", "passed");
        ledger.end(passed(c), &at(9))?;
        diary.answered();
    }
    diary.asks("text:E", "incomplete");
    ledger.begin(new_run("text:E", "v1"), &at(10))?;
    diary.answered();
    Ok(())
}

/// What a process does that comes after a crash: one more run, on a ledger that may have to be made first.
fn next_life<D: Disk>(disk: &D, diary: &mut Diary) -> Result<(), StoreError> {
    let store = Store::on(disk.clone(), places());
    let there = !matches!(store.read(), Err(StoreError::Missing { .. }));
    diary.asks("ledger", "there");
    diary.asks("text:again", "incomplete");
    diary.asks("text:again", "passed");
    let mut ledger = if there { store.write(&writer(50))? } else { store.init(&writer(50))? };
    run_to_end(&mut ledger)?;
    diary.answered();
    Ok(())
}

fn run_to_end(ledger: &mut actum_core::Ledger<impl actum_core::Journal>) -> Result<(), StoreError> {
    let run = ledger.begin(new_run("text:again", "v1"), &at(50))?;
    ledger.end(passed(run), &at(51))?;
    Ok(())
}

/// What a hunt found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Different states that were looked at.
    pub(crate) states: usize,
    /// Promises broken, each with how.
    pub(crate) broken: Vec<String>,
    seen: BTreeSet<Digest>,
    /// Kinds of state from which a second life was tried.
    deeper: BTreeSet<String>,
}

/// How finely a hunt looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grain {
    /// At most so many lengths of a torn write.
    pub(crate) tears: usize,
    /// All subsets of so many blocks, and of folders.
    pub(crate) blocks: u32,
    /// Faults during the recovery that follows.
    pub(crate) again: bool,
}

/// One fault, every few bytes.
pub(crate) const FINE: Grain = Grain { tears: 120, blocks: 4, again: false };
/// One fault, and then another.
pub(crate) const AGAIN: Grain = Grain { again: true, ..ONCE };
/// One fault.
pub(crate) const ONCE: Grain = Grain { tears: 2, blocks: 2, again: false };

/// Ends a life at every operation in every way, on a disk that `wrap` may have spoilt, and comes back on the honest one.
pub(crate) fn hunt<D: Disk>(
    found: &mut Found,
    start: &SimDisk,
    diary: &Diary,
    wrap: &dyn Fn(SimDisk) -> D,
    live: Life<'_, D>,
    grain: Grain,
) {
    let disk = start.fork();
    let mut whole = Diary { disk: disk.clone(), ..diary.clone() };
    let begun = disk.operations();
    disk.record();
    let lived = catch_unwind(AssertUnwindSafe(|| live(&wrap(disk.clone()), &mut whole)));
    if !matches!(lived, Ok(Ok(()))) {
        found.broken.push(format!("no fault at all, and yet: {lived:?}"));
        return;
    }
    let moments = disk.moments();
    for moment in &moments {
        for fate in fates(&moment.disk, grain) {
            let kind = format!("{} / {}", kind_of(moment, &whole), fate_kind(fate));
            let left = moment.disk.reboot(fate);
            found.look(&left, &whole, moment.at, &kind, grain, true);
        }
    }
    for (moment, at) in moments.iter().zip(begun..) {
        for fault in faults(moment, grain) {
            let disk = start.fork();
            disk.plan(at, fault);
            let mut diary = Diary { disk: disk.clone(), ..diary.clone() };
            let lived = catch_unwind(AssertUnwindSafe(|| live(&wrap(disk.clone()), &mut diary)));
            let kind = format!("{} / {}", kind_of(moment, &whole), fault_kind(fault));
            if !matches!(lived, Ok(Err(_))) && moment.next.is_some() {
                found
                    .broken
                    .push(format!("{kind}: an error of the disk went unheard, or was a panic"));
            }
            let end = disk.operations();
            found.look(&disk, &diary, end, &kind, grain, false);
            let dropped = format!("{kind} / dropped");
            found.look(&disk.reboot(Fate::Dropped), &diary, end, &dropped, grain, true);
            let once = Grain { again: false, ..grain };
            found.look(&disk.reboot(Fate::Kept), &diary, end, &kind, once, true);
        }
    }
}

impl Found {
    fn look(
        &mut self,
        disk: &SimDisk,
        diary: &Diary,
        at: u64,
        kind: &str,
        grain: Grain,
        settled: bool,
    ) {
        let expected = format!("{:?}", diary.inherited(disk, at).asks);
        let state = Digest::of("state", &[disk.image().as_bytes(), expected.as_bytes()]);
        if !self.seen.insert(state) {
            return;
        }
        self.states += 1;
        let came_back = catch_unwind(AssertUnwindSafe(|| come_back(&disk.fork(), diary, at)));
        match came_back.unwrap_or_else(|_panic| Err("a panic".to_owned())) {
            Err(what) => self.broken.push(format!("operation {at}, {kind}: {what}")),
            // Where there is no ledger yet, one beginning is like another.
            Ok(answers) if grain.again && self.deeper.insert(shape(kind, answers.is_some())) => {
                // Without a power cut what a reader saw may still be lost, so only what was answered is relied on.
                let next = match answers {
                    Some(answers) if settled && answers.get("ledger") == Some(&"there") => {
                        Diary::relying_on(disk, &answers)
                    }
                    Some(_) | None => diary.inherited(disk, at),
                };
                let before = self.broken.len();
                hunt(self, disk, &next, &|disk| disk, &next_life, ONCE);
                for what in self.broken.iter_mut().skip(before) {
                    *what = format!("operation {at}, {kind}; then {what}");
                }
            }
            Ok(_) => {}
        }
    }
}

fn shape(kind: &str, there: bool) -> String {
    let ending = kind.rsplit(" / ").next().unwrap_or_default();
    if there { kind.to_owned() } else { format!("no ledger / {ending}") }
}

pub(crate) fn fates(disk: &SimDisk, grain: Grain) -> Vec<Fate> {
    let (unsynced, blocks) = (disk.unsynced(), disk.unsynced_blocks());
    let mut fates = vec![Fate::Dropped];
    if unsynced > 0 || disk.unsynced_names() {
        fates.push(Fate::Kept);
        fates.push(Fate::Prefix(0));
        let bits = u32::try_from(blocks).unwrap_or(u32::MAX).clamp(2, grain.blocks);
        fates.extend((0..1 << bits).map(|bits| Fate::Blocks(bits * REPEATED)));
    }
    let step = unsynced.div_ceil(grain.tears).max(1);
    fates.extend((1..unsynced).step_by(step).map(Fate::Prefix));
    fates
}

fn faults(moment: &Moment, grain: Grain) -> Vec<Fault> {
    match moment.next {
        None => Vec::new(),
        Some(Operation::Write(_, _, length)) => {
            let tears = [0, 1, BLOCK, length / 2, length - 1];
            let tears = tears.into_iter().filter(|upto| *upto < length).take(grain.tears);
            [Fault::KeptButFailed].into_iter().chain(tears.map(Fault::Torn)).collect()
        }
        Some(
            Operation::MakeFolder(_)
            | Operation::Create(_)
            | Operation::Sync(_)
            | Operation::SetLength(..)
            | Operation::Rename(..)
            | Operation::SyncFolder(_),
        ) => vec![Fault::Lost, Fault::KeptButFailed],
    }
}

/// What kind of operation comes next, on what kind of file.
fn kind_of(moment: &Moment, diary: &Diary) -> String {
    let chapter = diary.chapter_at(moment.at);
    let file = |path: &PathBuf| {
        let places = places();
        let shown = path.display().to_string();
        let folders = [places.segments(), places.keys(), places.anchors(), places.lost()];
        match folders.iter().find(|folder| path.parent() == Some(folder)) {
            Some(folder) => format!("{}/*", folder.display()),
            None => shown.split(".new-").next().unwrap_or_default().to_owned(),
        }
    };
    let next = match &moment.next {
        None => "the end".to_owned(),
        Some(Operation::MakeFolder(path)) => format!("make {}", file(path)),
        Some(Operation::Create(path)) => format!("create {}", file(path)),
        Some(Operation::Write(path, ..)) => format!("write {}", file(path)),
        Some(Operation::Sync(path)) => format!("sync {}", file(path)),
        Some(Operation::SetLength(path, _)) => format!("cut {}", file(path)),
        Some(Operation::Rename(_, to)) => format!("rename {}", file(to)),
        Some(Operation::SyncFolder(path)) => format!("sync folder {}", path.display()),
    };
    format!("{chapter}, {next}")
}

fn fate_kind(fate: Fate) -> &'static str {
    match fate {
        Fate::Dropped => "dropped",
        Fate::Kept => "kept",
        Fate::Prefix(0) => "names only",
        Fate::Prefix(_) => "a prefix",
        Fate::Blocks(_) => "some blocks",
    }
}

/// Whatever happens in a whole life, promises are kept; says how many states were looked at.
pub(crate) fn nothing_breaks(grain: Grain, at_least: usize) {
    let (mut found, start) = (Found::default(), new_disk());
    hunt(&mut found, &start, &Diary::new(&start), &|disk| disk, &whole_life, grain);
    println!("{} states, {} of them the start of another life", found.states, found.deeper.len());
    let shown: Vec<_> = found.broken.iter().take(12).collect();
    assert!(found.broken.is_empty(), "{} broken: {shown:#?}", found.broken.len());
    assert!(found.states > at_least, "only {} states", found.states);
}

fn fault_kind(fault: Fault) -> &'static str {
    match fault {
        Fault::Lost | Fault::Torn(0) => "lost",
        Fault::KeptButFailed => "kept but failed",
        Fault::Torn(_) => "torn",
        Fault::PowerCut => "power cut",
    }
}

/// Times a number below 16: its four bits, over and over.
const REPEATED: u64 = 0x1111_1111_1111_1111;

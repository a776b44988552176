//! This test binary, started again as another process: to be killed, or to be another user. What a child was about to ask
//! and what it was answered it says on its standard output, in that order.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use actum_core::{NewEnd, Outcome, Owner};
use actum_store::{Cache, PATIENCE, Places, Store, Writer, read_clocks};
use actum_testkit::user::another;

use crate::scene::{ask, content, new_run};

const PLACES: &str = "ACTUM_TEST_CHILD_PLACES";
const ROLE: &str = "ACTUM_TEST_CHILD_ROLE";

/// What a child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Makes the ledger.
    Init,
    /// Gives it new keys, again and again.
    Rotate,
    /// Runs steps on subjects of its own, until it is killed or something fails.
    Write(u64),
    /// Asks for one subject, then tries to write.
    Look,
    /// Keeps the same texts as every other child, and reads each again.
    Keep,
}

impl Role {
    fn word(self) -> String {
        match self {
            Self::Init => "init".to_owned(),
            Self::Rotate => "rotate".to_owned(),
            Self::Write(child) => format!("write {child}"),
            Self::Look => "look".to_owned(),
            Self::Keep => "keep".to_owned(),
        }
    }
}

/// Who a child is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// The same user.
    Myself,
    /// Another user, if this one may become one.
    Another,
    /// The same user, who may not write files longer than so many blocks.
    Short(u32),
}

/// Starts a child: `exe` is this test binary, or a copy of it.
pub(crate) fn spawn(exe: &Path, places: &Places, role: Role, user: As) -> Child {
    let args = ["--exact", "child::lives_if_it_is_one", "--nocapture", "--test-threads=1"];
    let mut command = match user {
        As::Myself | As::Another => Command::new(exe),
        As::Short(blocks) => {
            let mut shell = Command::new("sh");
            let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            shell.arg("-c").arg(script).arg(exe);
            shell
        }
    };
    if let (As::Another, Some(user)) = (user, another()) {
        // Where this process stands, the other one may have no business.
        command.uid(user).gid(user).current_dir("/");
    }
    let shown = [&places.store, &places.data, &places.state].map(|path| path.display().to_string());
    command.args(args).env(PLACES, shown.join("\n")).env(ROLE, role.word());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// What a child says until it ends.
pub(crate) fn hear(stdout: ChildStdout) -> Vec<String> {
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    // A line that a kill cut short has no mark at its end.
    lines
        .filter_map(|line| Some(line.split_once("child: ")?.1.strip_suffix('.')?.to_owned()))
        .collect()
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {what}.").unwrap();
    out.flush().unwrap();
}

#[test]
fn lives_if_it_is_one() {
    let (Ok(places), Ok(role)) = (std::env::var(PLACES), std::env::var(ROLE)) else { return };
    let mut paths = places.lines().map(Into::into);
    let mut next = || paths.next().unwrap();
    let store = Store::new(Places { store: next(), data: next(), state: next() });
    let done = match role.split_once(' ') {
        Some((_, child)) => write(&store, child),
        None if role == "init" => store.init(&me()).map(|_ledger| say("made")),
        None if role == "keep" => {
            keep(store.places());
            Ok(())
        }
        None if role == "rotate" => rotate(&store),
        None => look(&store),
    };
    if let Err(error) = done {
        let cause = core::error::Error::source(&error).map(ToString::to_string);
        say(&format!("failed {error}: {}", cause.unwrap_or_default()));
    }
}

fn me() -> Writer {
    let holder = format!("process {}", std::process::id());
    Writer { holder, patience: PATIENCE, reading: read_clocks() }
}

fn write(store: &Store, child: &str) -> Result<(), actum_store::StoreError> {
    for nth in 0.. {
        let subject = format!("text:{child}-{}-{nth}", std::process::id());
        say(&format!("asks {subject}"));
        let run = store.write(&me())?.begin(new_run(&subject, "v1"), &read_clocks())?;
        say(&format!("began {subject}"));
        let (outcome, code, result) = (Outcome::Passed, 0, content("output"));
        let end = NewEnd { run, outcome, code, result, content: content("v1") };
        store.write(&me())?.end(end, &read_clocks())?;
        say(&format!("ended {subject}"));
    }
    Ok(())
}

fn rotate(store: &Store) -> Result<(), actum_store::StoreError> {
    loop {
        store.rotate(&me(), Owner::Code)?;
        say("rotated");
    }
}

/// How many texts a child keeps.
pub(crate) const KEPT: usize = 20;

/// One of them: long enough that writing it takes a while.
pub(crate) fn kept_text(nth: usize) -> String {
    format!("text {nth} ").repeat(8_000)
}

fn keep(places: &Places) {
    let cache = Cache::of(places);
    let texts: Vec<String> = (0..KEPT).map(kept_text).collect();
    for _ in 0..10 {
        for text in &texts {
            let read = cache.keep(text).and_then(|digest| cache.read(&digest));
            match read {
                Ok(Some(read)) if read == *text => {}
                other => return say(&format!("failed {:?}", other.map(|text| text.is_some()))),
            }
        }
    }
    say("kept all");
}

fn look(store: &Store) -> Result<(), actum_store::StoreError> {
    match store.read() {
        Ok(snapshot) => {
            let answer = ask(snapshot.views(), "text:S0", "v1", 1_000);
            say(&format!("read {}", answer.reason.code()));
        }
        Err(error) => say(&format!("read {}: {error}", error.reason().code())),
    }
    store.write(&me())?.begin(new_run("text:N", "v1"), &read_clocks())?;
    say("wrote");
    Ok(())
}

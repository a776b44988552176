//! A shell in a temporary project of its own: own home, keys, anchors and `PATH`. What is played is shown as a terminal
//! would show it, with standard error marked `! ` and exit codes in brackets, and with what differs from run to run
//! replaced.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use actum_testkit::user::open_folder;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything here takes; what takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

/// A step on a text, whose program does whatever `check` is told to do.
pub(crate) const TESTS: &str = r#"version = 1
[steps.tests]
commands = [["./check", "{subject}"]]
subject = "text"
"#;

pub(crate) struct Shell {
    folder: TempDir,
    pub(crate) project: PathBuf,
}

impl Shell {
    /// An empty project without a ledger.
    pub(crate) fn empty() -> Self {
        let folder = open_folder().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let shell = Self { folder, project: root.join("project") };
        for name in ["project", "bin", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_actum"), root.join("bin/actum")).unwrap();
        shell
    }

    /// A project with this policy, accepted, and a program `check` that prints `ok`.
    pub(crate) fn with(policy: &str) -> Self {
        let shell = Self::empty();
        shell.write("actum.toml", policy);
        shell.script("check", "echo ok");
        shell.quietly("actum init --yes");
        shell
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    /// A program in the project.
    pub(crate) fn script(&self, name: &str, body: &str) {
        program(&self.path(name), body);
    }

    /// A program in `PATH`.
    pub(crate) fn tool(&self, name: &str, body: &str) {
        program(&self.root().join("bin").join(name), body);
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let root = self.root();
        let at = |name: &str| root.join(name).display().to_string();
        vec![
            ("PATH", format!("{}:/usr/bin:/bin", at("bin"))),
            ("HOME", at("home")),
            ("XDG_DATA_HOME", at("data")),
            ("XDG_STATE_HOME", at("state")),
            ("SHELL", "/bin/sh".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("TERM", "xterm".to_owned()),
        ]
    }

    /// Any program, in this shell's surroundings.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables()).current_dir(&self.project);
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn actum(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_actum"));
        command.args(args);
        command
    }

    /// What one line of shell did.
    pub(crate) fn said(&self, line: &str) -> Said {
        Said::of(self.command("/bin/sh").args(["-c", line]).output().unwrap())
    }

    /// The value that one line of shell printed.
    pub(crate) fn json(&self, line: &str) -> Value {
        let said = self.said(line);
        let text = said.out.lines().last().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{line}: {error}: {said}"))
    }

    /// The answer, the reason and the exit code of a question.
    pub(crate) fn asks(&self, question: &str) -> String {
        let line = format!("actum ground --json {question}");
        let (value, code) = (self.json(&line), self.said(&line).code);
        format!("{} {} {code}", text(&value, "answer"), text(&value, "reason"))
    }

    /// Sets the scene: none of it may fail.
    pub(crate) fn quietly(&self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let said = self.said(line);
            assert_eq!(said.code, 0, "{line}\n{said}");
        }
    }

    /// Plays lines of shell, one after the other, and shows what came of each.
    pub(crate) fn play(&self, lines: &str) -> String {
        let mut shown = String::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            write!(shown, "$ {line}\n{}", self.said(line)).unwrap();
        }
        self.settled(&shown)
    }

    /// The text with everything that differs from run to run replaced.
    pub(crate) fn settled(&self, text: &str) -> String {
        let root = self.root().display().to_string();
        let mut text = text.replace(&root, "[TEMP]");
        for (pattern, stands) in [
            (r"\b[0-9a-f]{64}\b", "[DIGEST]"),
            (r"\b[0-9a-f]{32}\b", "[ID]"),
            (r"\b[0-9a-f]{12}\b", "[SHORT]"),
            (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{3})?Z?", "[TIME]"),
            (r"\b\d{4}-\d\d-\d\d\b", "[DAY]"),
            (r"\bs-[0-9a-f]{16}\b", "[SESSION]"),
            (r"\d+ s ago", "[AGO]"),
            (r"process \d+", "process [PID]"),
            (r"\d+ bytes would", "[NUMBER] bytes would"),
            (r"\d+ kB in \d+ ms", "[SIZE AND TIME]"),
            (r"uid-\d+", "uid-[UID]"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, stands).into_owned();
        }
        text
    }

    /// Waits until a file of the project is there and not empty.
    pub(crate) fn wait_for(&self, name: &str) {
        until(name, || !self.read(name).is_empty());
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Starts `actum run` of a program that waits, and returns once that program has begun. It ends when `go` is there.
    pub(crate) fn start_waiting(&self, args: &[&str]) -> Child {
        let mut command = self.actum(args);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.wait_for("begun");
        child
    }

    /// A real terminal with `line` running in it.
    pub(crate) fn terminal(&self, line: &str) -> Terminal {
        let mut command = self.command("script");
        command.args(["-q", "-e", "-f", "-c", line, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let keys = child.stdin.take().unwrap();
        let pieces = listen(child.stdout.take().unwrap());
        Terminal { child, keys, pieces, seen: String::new() }
    }

    /// The store verifies and no draft of a file was left behind.
    pub(crate) fn is_whole(&self) {
        let said = self.said("actum verify");
        assert_eq!(said.code, 0, "{said}");
        let drafts = self.said("find .actum ../data ../state -name '*.new-*'");
        assert_eq!(drafts.out, "");
    }
}

/// A body that tells that it has begun, and goes on until `go` is there.
pub(crate) const WAITS: &str =
    "echo begun > begun; while test -e $0 && ! test -e go; do sleep 0.01; done; echo ok";

pub(crate) fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or("null").to_owned()
}

pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(POLL);
    }
}

fn program(path: &Path, body: &str) {
    // Another file each time: one that is being run cannot be overwritten.
    drop(fs::remove_file(path));
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a line of shell did.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        let signal = output.status.signal().unwrap_or_default();
        Self {
            code: output.status.code().unwrap_or(128 + signal),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.out.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        for line in self.err.lines() {
            writeln!(f, "! {}", line.trim_end())?;
        }
        if self.code == 0 { Ok(()) } else { writeln!(f, "[{}]", self.code) }
    }
}

/// A command in a terminal, and the one who sits before it.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    pieces: Receiver<Vec<u8>>,
    pub(crate) seen: String,
}

impl Terminal {
    pub(crate) fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            assert!(Instant::now() < end, "waited in vain for {text:?}; saw {:?}", self.seen);
            self.take(POLL);
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).unwrap();
    }

    /// Waits for its end, and shows the screen.
    pub(crate) fn end(mut self) -> String {
        while self.take(PATIENCE) {}
        let code = self.child.wait().unwrap().code();
        format!("{}[{}]", self.seen.replace('\r', ""), code.unwrap_or(-1))
    }

    fn take(&mut self, patience: Duration) -> bool {
        match self.pieces.recv_timeout(patience) {
            Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        true
    }
}

fn listen(pipe: impl std::io::Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, pieces) = channel();
    thread::spawn(move || {
        let mut pipe = BufReader::with_capacity(4096, pipe);
        while let Ok(piece) = pipe.fill_buf() {
            let piece = piece.to_vec();
            pipe.consume(piece.len());
            if piece.is_empty() || send.send(piece).is_err() {
                return;
            }
        }
    });
    pieces
}

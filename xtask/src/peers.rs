//! `cargo xtask peers`: the guard between clients and servers that others wrote, in both eras of the protocol. They come from npm
//! and `PyPI` into `target/peers`, at these versions; what cannot be had is said and no failure, so CI does not depend on it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};

use crate::repository;

const PYTHON: &[&str] = &["mcp==2.3.0", "mcp-server-time==2026.10.19"];
const NODE: &[&str] = &[
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];
const POLICY: &str = r#"version = 1
clients = ["desk"]
[tools."peer/get_current_time"]
class = "read"
[tools."peer/read_graph"]
class = "read"
[tools."peer/list_directory"]
class = "read"
[tools."peer/look"]
class = "read"
"#;

/// What happens to the calls that are effects: the Python client is listed and answers for its owner, the other is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effects {
    Approved,
    Refused,
}

struct Peers {
    folder: PathBuf,
    actum: PathBuf,
    scripts: PathBuf,
}

pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode, String> {
    let root = repository::root()?;
    let peers = Peers {
        folder: root.join("target/peers"),
        actum: root.join("target/debug/actum"),
        scripts: root.join("xtask/peers"),
    };
    build(&root)?;
    peers.prepare()?;
    let (python, node) = (peers.install_python(), peers.install_node());
    let mut failed = 0;
    let mut told = |name: &str, outcome: Result<String, String>| match outcome {
        Ok(what) => println!("{name:<44} {what}"),
        Err(what) => {
            failed += 1;
            println!("{name:<44} FAILED\n{what}");
        }
    };
    match &python {
        Ok(python) => {
            let client = peers.scripts.join("client.py");
            for era in ["legacy", "auto"] {
                let client = [python.as_os_str(), client.as_os_str(), OsStr::new(era)];
                let time = [python.with_file_name("mcp-server-time")];
                let asks = json!({
                    "read": [["get_current_time", { "timezone": "UTC" }]],
                    "effect": [["convert_time", { "source_timezone": "UTC", "time": "12:00", "target_timezone": "Europe/Berlin" }]],
                    "varies": true,
                });
                let name = format!("Python client, {era}: time server");
                told(&name, peers.play(&client, &time, &asks, Effects::Approved));
                let both = [python.clone(), peers.scripts.join("modern.py")];
                let asks = json!({
                    "read": [["look", { "place": "here" }]],
                    "effect": [["send", { "to": "ann@example.org", "body": "x" }]],
                });
                let name = format!("Python client, {era}: server of both eras");
                told(&name, peers.play(&client, &both, &asks, Effects::Approved));
            }
        }
        Err(what) => println!("left out, for Python's cannot be had: {what}"),
    }
    match &node {
        Ok(modules) => {
            let client = peers.scripts.join("client.mjs");
            let client = [OsStr::new("node"), client.as_os_str()];
            let server =
                |name: &str| modules.join(format!("@modelcontextprotocol/{name}/dist/index.js"));
            let files = peers.folder.join("files");
            fs::create_dir_all(&files).map_err(|error| error.to_string())?;
            let memory = [PathBuf::from("node"), server("server-memory")];
            let asks = json!({
                "read": [["read_graph", {}]],
                "effect": [["create_entities", { "entities": [{ "name": "a", "entityType": "b", "observations": [] }] }]],
            });
            told(
                "TypeScript client: memory server",
                peers.play(&client, &memory, &asks, Effects::Refused),
            );
            let filesystem = [PathBuf::from("node"), server("server-filesystem"), files.clone()];
            let asks = json!({
                "read": [["list_directory", { "path": files }]],
                "effect": [["write_file", { "path": files.join("x"), "content": "b" }]],
            });
            let outcome = peers.play(&client, &filesystem, &asks, Effects::Refused);
            let untouched = |what| {
                if files.join("x").exists() {
                    Err("the file was written".to_owned())
                } else {
                    Ok(what)
                }
            };
            told("TypeScript client: filesystem server", outcome.and_then(untouched));
        }
        Err(what) => println!("left out, for npm's cannot be had: {what}"),
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(root: &Path) -> Result<(), String> {
    let built =
        Command::new("cargo").args(["build", "-q", "-p", "actum"]).current_dir(root).status();
    match built {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo build: {status}")),
        Err(error) => Err(format!("cargo build: {error}")),
    }
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

impl Peers {
    /// A project with a ledger and a policy, whose state lies beside it.
    fn prepare(&self) -> Result<(), String> {
        let project = self.folder.join("project");
        for old in [project.clone(), self.folder.join("home")] {
            if old.exists() {
                fs::remove_dir_all(&old).map_err(|error| error.to_string())?;
            }
            fs::create_dir_all(&old).map_err(|error| error.to_string())?;
        }
        fs::write(project.join("actum.toml"), POLICY).map_err(|error| error.to_string())?;
        said(self.command(&self.actum).args(["init", "--yes", "--nested"]))?;
        Ok(())
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.join("project")).env("HOME", self.folder.join("home"));
        command.env("PEERS_MODULES", self.folder.join("node_modules"));
        command.env("MEMORY_FILE_PATH", self.folder.join("home/memory.jsonl"));
        for variable in ["XDG_DATA_HOME", "XDG_STATE_HOME", "ACTUM_STORE"] {
            command.env_remove(variable);
        }
        command
    }

    fn install_python(&self) -> Result<PathBuf, String> {
        let venv = self.folder.join("venv");
        let python = venv.join("bin/python");
        if !python.exists() {
            said(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        }
        said(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(PYTHON))?;
        Ok(python)
    }

    fn install_node(&self) -> Result<PathBuf, String> {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&self.folder);
        said(npm.args(NODE))?;
        Ok(self.folder.join("node_modules"))
    }

    /// Plays the same with a guard and without one; the script compares, here the effects are looked at.
    fn play(
        &self,
        client: &[&OsStr],
        server: &[PathBuf],
        asks: &Value,
        effects: Effects,
    ) -> Result<String, String> {
        let (program, words) = client.split_first().ok_or("no client")?;
        let mut command = self.command(program);
        command.args(words).arg(&self.actum);
        command.args(["guard", "--name", "peer", "--yes", "--"]).args(server);
        let started =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().ok_or("no pipe")?;
        stdin.write_all(asks.to_string().as_bytes()).map_err(|error| error.to_string())?;
        drop(stdin);
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let answer: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
        let refused = |answer: &Value| {
            answer["error"] == true
                && answer["text"].as_str().is_some_and(|it| it.contains("actum approve"))
        };
        let answers = answer.get("effects").and_then(Value::as_array).ok_or("no answers")?;
        let as_expected = answers.iter().all(|answer| match effects {
            Effects::Approved => answer.get("error") == Some(&Value::Bool(false)),
            Effects::Refused => refused(answer),
        });
        if !as_expected {
            return Err(format!("effects: {answers:?}"));
        }
        let how = match effects {
            Effects::Approved => "asked about and sent",
            Effects::Refused => "refused with a receipt",
        };
        let version = answer.get("version").and_then(Value::as_str).unwrap_or_default();
        let tools = answer.get("tools").unwrap_or(&Value::Null);
        Ok(format!("{version}: {tools} tools alike, reads alike, {} {how}", answers.len()))
    }
}

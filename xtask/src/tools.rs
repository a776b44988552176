//! Programs that are neither Rust's nor ours. They come from the Python index into a virtual environment beside cargo's target, so that
//! nothing is installed on the machine and what was fetched stays.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::repository;

/// A program and the release that is known to be good.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

/// Finds misspellings.
pub(crate) const TYPOS: Tool = Tool { name: "typos", version: "1.52.0" };

/// The tool, if it is installed: our own first, then any on the path.
pub(crate) fn find(root: &Path, tool: Tool) -> Option<PathBuf> {
    let own = environment(root).ok().map(|folder| folder.join("bin").join(tool.name));
    let any = PathBuf::from(tool.name);
    own.into_iter().chain([any]).find(|program| says_version(program).is_some())
}

/// The tool in the release we name, installed if need be.
///
/// # Errors
/// No Python, or nothing to install from: the last words of whatever failed.
pub(crate) fn install(root: &Path, tool: Tool) -> Result<PathBuf, String> {
    let folder = environment(root)?;
    let program = folder.join("bin").join(tool.name);
    let is_current = || says_version(&program).is_some_and(|said| said.ends_with(tool.version));
    if is_current() {
        return Ok(program);
    }
    let python = folder.join("bin/python3");
    if says_version(&python).is_none() {
        quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    }
    let release = format!("{}=={}", tool.name, tool.version);
    let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    quietly(Command::new(&python).args(flags).arg(release))?;
    if is_current() {
        Ok(program)
    } else {
        Err(format!("{} was installed and does not run", tool.name))
    }
}

fn environment(root: &Path) -> Result<PathBuf, String> {
    let mut command = repository::cargo(root);
    command.args(["metadata", "--format-version=1", "--no-deps", "--offline"]);
    let output = command.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    let metadata: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let target = metadata.as_ref().and_then(|all| all.get("target_directory")?.as_str());
    let target = target.ok_or_else(|| "cargo does not say where its target is".to_owned())?;
    Ok(Path::new(target).join("ci-venv"))
}

/// What a program answers to `--version`, if it runs at all.
fn says_version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn quietly(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("python3 cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("python3 failed without a word").to_owned())
}

//! The repository as the rules see it: its files, without what `.gitignore` names, and what cargo knows of its packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// All a rule may look at. Read once, so that a rule is a function over text.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    /// In the order of their paths.
    pub(crate) files: Vec<File>,
    /// Ours and all they need, on every platform, unless `host_only`.
    pub(crate) packages: Vec<Package>,
    /// Packages of other platforms could not be had.
    pub(crate) host_only: bool,
}

/// One file. Its path is relative to the root, with `/`.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    /// Empty if the bytes are not UTF-8.
    pub(crate) text: String,
}

/// One package of the build.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// The registry; `None` for a path.
    pub(crate) source: Option<String>,
    /// Relative to the root where it lies inside, else absolute.
    pub(crate) manifest: String,
    pub(crate) needs: Vec<Need>,
}

/// A line of a `[dependencies]` table.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) name: String,
    pub(crate) for_tests: bool,
}

/// The root of the repository this xtask belongs to.
pub(crate) fn root() -> Result<PathBuf, String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = folder.as_deref().and_then(Path::parent).map(Path::to_owned);
    root.ok_or_else(|| "xtask does not know its repository; run it as `cargo xtask`".to_owned())
}

/// Nobody is there to read a notice (`CI` is set), so what is missing is a failure.
pub(crate) fn unattended() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(&*value, "" | "0" | "false"))
}

/// The cargo that runs us, at the root, with nothing to read.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).stdin(Stdio::null());
    command
}

impl Repository {
    /// Reads every file and asks cargo for the packages. Without a network, and outside CI, the packages of this host do.
    pub(crate) fn open(root: &Path) -> Result<Self, String> {
        let files = files(root)?;
        let all = metadata(root, &[]);
        if unattended() || all.is_ok() {
            return Ok(Self { files, packages: packages(&all?)?, host_only: false });
        }
        let host = format!("--filter-platform={}", host()?);
        let ours = metadata(root, &["--offline", &host])?;
        Ok(Self { files, packages: packages(&ours)?, host_only: true })
    }

    /// The file at exactly this path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files below a folder, named with its closing `/`.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    /// A file or a folder that the repository holds. The root is the empty path.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.file(path).is_some() || self.below(&folder).next().is_some()
    }

    /// A tree that exists in a test only.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into() };
        Self { files: files.iter().map(file).collect(), ..Self::default() }
    }

    /// The same with packages, from what `cargo metadata` would print.
    #[cfg(test)]
    pub(crate) fn with_packages(mut self, metadata: &str) -> Self {
        self.packages = packages(metadata).unwrap();
        self
    }
}

/// Whether a file is of a kind, by the end of its name.
pub(crate) fn is_kind(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == ending)
}

fn files(root: &Path) -> Result<Vec<File>, String> {
    let mut walk = ignore::WalkBuilder::new(root);
    walk.hidden(false).parents(false).git_global(false).require_git(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let mut files = Vec::new();
    for entry in walk.build() {
        let entry = entry.map_err(|error| format!("the tree cannot be read: {error}"))?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        files.push(File { path, text: String::from_utf8(bytes).unwrap_or_default() });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn metadata(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = cargo(root);
    command.args(["metadata", "--format-version=1", "--locked"]).args(arguments);
    let output = command.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.trim().trim_start_matches("error: ").to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|error| format!("rustc cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

fn packages(metadata: &str) -> Result<Vec<Package>, String> {
    let odd = || "cargo metadata printed something else than expected".to_owned();
    let all: Value =
        serde_json::from_str(metadata).map_err(|error| format!("{}: {error}", odd()))?;
    let root = all.get("workspace_root").and_then(Value::as_str).ok_or_else(odd)?;
    let list = all.get("packages").and_then(Value::as_array).ok_or_else(odd)?;
    list.iter().map(|package| self::package(package, root).ok_or_else(odd)).collect()
}

fn package(value: &Value, root: &str) -> Option<Package> {
    let text = |key| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let manifest = text("manifest_path")?;
    let inside = manifest.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let need = |value: &Value| {
        let name = value.get("name")?.as_str()?.to_owned();
        let for_tests = value.get("kind")?.as_str() == Some("dev");
        Some(Need { name, for_tests })
    };
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        licence: text("license"),
        source: text("source"),
        manifest: inside.map(str::to_owned).unwrap_or(manifest),
        needs: value.get("dependencies")?.as_array()?.iter().map(need).collect::<Option<_>>()?,
    })
}

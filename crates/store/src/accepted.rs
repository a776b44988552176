//! The accepted policy as it is kept: the text, what its programs were resolved to, and the environment of commands. Its
//! digest is in the ledger; a document that does not have that digest is not the policy in force.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use actum_core::policy::{Element, FILE_MAX, Policy, PolicyError, Program, Rule};
use actum_core::{Digest, InForce, PlainHasher, StepName, SubjectKind, Views};
use serde::{Deserialize, Serialize};

use crate::disk::Disk;
use crate::error::StoreError;
use crate::keep::put;
use crate::places::Places;

/// Variables whose value at acceptance every command gets: nothing set later can put another `cargo` first, or another home
/// with other settings.
pub const PINNED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
];
/// Variables that commands get as they are when they run: they say what a terminal can show.
pub const LIVE: &[&str] = &["TERM", "COLORTERM", "NO_COLOR"];
/// Bytes in a kept document.
pub const DOCUMENT_MAX: u64 = 4 * FILE_MAX as u64;

/// A policy with everything that was settled when the owner accepted it.
#[derive(Debug, Clone)]
pub struct AcceptedPolicy {
    policy: Policy,
    text: String,
    programs: Vec<Program>,
    /// Files that commands name word for word, of steps whose subject does not hold them.
    files: Vec<Program>,
    environment: BTreeMap<String, String>,
    missing: Vec<String>,
    /// The digests of the rules of commands, with all that was settled.
    rules: BTreeMap<StepName, Digest>,
}

/// The twin on disk.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    policy: String,
    programs: Vec<Resolved>,
    files: Vec<Resolved>,
    environment: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolved {
    name: String,
    path: String,
    sha256: String,
}

/// Why there is no accepted policy to go by.
#[derive(Debug, thiserror::Error)]
pub enum PolicyMissing {
    /// None was ever accepted, or a loss voided it.
    #[error("no policy is in force")]
    None,
    /// Its document is not where it was kept, or not the one that was accepted.
    #[error("the accepted policy cannot be used: {}: {what}", path.display())]
    Unusable {
        /// Where it was kept.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl AcceptedPolicy {
    /// Reads the text of a policy and settles what acceptance settles: each program's path and digest, and the pinned
    /// environment. Programs that are not found are left out, and [`AcceptedPolicy::missing`] names them.
    ///
    /// # Errors
    /// The text's.
    pub fn prepare(
        text: &str,
        project: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, PolicyError> {
        let policy = Policy::parse(text)?;
        let names: std::collections::BTreeSet<&str> =
            policy.commands().flat_map(|(_, rule)| rule.programs()).collect();
        let path = variable("PATH").unwrap_or_default();
        let found = |name: &str| resolve(name, &path, project);
        let programs: Vec<Program> = names.iter().filter_map(|name| found(name)).collect();
        let resolved = |name: &&&str| programs.iter().any(|program| program.name == ***name);
        let missing =
            names.iter().filter(|name| !resolved(name)).map(ToString::to_string).collect();
        let pinned = PINNED.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
        let environment = pinned.collect();
        let words: std::collections::BTreeSet<&str> =
            policy.commands().flat_map(|(_, rule)| loose_words(rule)).collect();
        let files = words.iter().filter_map(|word| file_in(word, project)).collect();
        let text = text.to_owned();
        let rules = BTreeMap::new();
        Ok(Self { policy, text, programs, files, environment, missing, rules }.settled())
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Its text as it was accepted.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Programs that were not found when it was prepared.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What the first word of a command was resolved to.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// The pinned variables.
    pub const fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// The files that a rule's commands name and its subject does not hold, as they were when it was accepted.
    pub fn files<'a>(&'a self, rule: &'a Rule) -> impl Iterator<Item = &'a Program> {
        self.files.iter().filter(|file| loose_words(rule).any(|word| word == file.name))
    }

    /// The digest of a rule with all that was settled when it was accepted: programs, files and the environment.
    pub fn rule_digest(&self, rule: &Rule) -> Digest {
        let rule_alone = rule.digest(&self.programs);
        let mut parts: Vec<&[u8]> = vec![rule_alone.as_bytes()];
        let files: Vec<_> = self.files(rule).collect();
        let count = (files.len() as u64).to_be_bytes();
        parts.push(&count);
        for file in &files {
            parts.extend([file.name.as_bytes(), file.path.as_bytes(), file.digest.as_bytes()]);
        }
        for (name, value) in &self.environment {
            parts.extend([name.as_bytes(), value.as_bytes()]);
        }
        Digest::of("actum/rule-in-force/v1", &parts)
    }

    /// The digest that a `Policy` event holds.
    pub fn digest(&self) -> Digest {
        document_digest(&self.to_bytes())
    }

    /// The document as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let resolved = |program: &Program| Resolved {
            name: program.name.clone(),
            path: program.path.clone(),
            sha256: program.digest.to_string(),
        };
        let document = Document {
            version: 1,
            policy: self.text.clone(),
            programs: self.programs.iter().map(resolved).collect(),
            files: self.files.iter().map(resolved).collect(),
            environment: self.environment.clone(),
        };
        // Strings and lists of strings always have a JSON form.
        serde_json::to_vec_pretty(&document).unwrap_or_default()
    }

    /// Reads a kept document.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if document.version != 1 {
            return Err(format!("version {} is not known", document.version));
        }
        let policy = Policy::parse(&document.policy).map_err(|error| error.to_string())?;
        let program = |resolved: Resolved| {
            let digest = Digest::from_hex(&resolved.sha256);
            let digest = digest.ok_or_else(|| format!("`{}` is not a digest", resolved.sha256))?;
            Ok(Program { name: resolved.name, path: resolved.path, digest })
        };
        let programs = document.programs.into_iter().map(program).collect::<Result<_, String>>()?;
        let files = document.files.into_iter().map(program).collect::<Result<_, String>>()?;
        Ok(Self {
            policy,
            text: document.policy,
            programs,
            files,
            environment: document.environment,
            missing: Vec::new(),
            rules: BTreeMap::new(),
        }
        .settled())
    }

    fn settled(mut self) -> Self {
        let digests = self.policy.commands();
        self.rules = digests.map(|(name, rule)| (name.clone(), self.rule_digest(rule))).collect();
        self
    }

    /// As the gate is asked by it.
    pub fn in_force_now(&self) -> InForce<'_> {
        InForce { policy: &self.policy, programs: &self.programs, commands: &self.rules }
    }

    /// Keeps the document, before the event that names its digest is written.
    ///
    /// # Errors
    /// What the disk said.
    pub fn keep<D: Disk>(&self, disk: &D, places: &Places) -> Result<(), StoreError> {
        put(disk, &path(places, &self.digest()), &self.to_bytes())
    }

    /// The policy in force: the newest one the ledger says was accepted.
    ///
    /// # Errors
    /// [`PolicyMissing`].
    pub fn in_force<D: Disk>(
        disk: &D,
        places: &Places,
        views: &Views,
    ) -> Result<Self, PolicyMissing> {
        let accepted = views.policy().ok_or(PolicyMissing::None)?;
        let path = path(places, &accepted.digest);
        let unusable = |what: String| PolicyMissing::Unusable { path: path.clone(), what };
        let bytes = disk.read(&path, DOCUMENT_MAX).map_err(|error| unusable(error.to_string()))?;
        if document_digest(&bytes) != accepted.digest {
            return Err(unusable("its bytes are not those that were accepted".to_owned()));
        }
        Self::from_bytes(&bytes).map_err(unusable)
    }
}

fn document_digest(bytes: &[u8]) -> Digest {
    Digest::of("actum/policy/v1", &[bytes])
}

fn path(places: &Places, digest: &Digest) -> PathBuf {
    places.policies().join(format!("{digest}.json"))
}

/// The words of a rule's commands that may name a file which its subject does not hold. A step on the work tree holds them.
fn loose_words(rule: &Rule) -> impl Iterator<Item = &str> {
    let loose = rule.subject() != SubjectKind::Git;
    rule.commands()
        .iter()
        .filter(move |_| loose)
        .flat_map(|command| command.iter().skip(1))
        .filter_map(|element| match element {
            Element::Exact(word) => Some(word.as_str()),
            Element::Any | Element::Subject => None,
        })
}

/// A word that names a plain file of the project, with the digest of the file.
fn file_in(word: &str, project: &Path) -> Option<Program> {
    let path = project.join(word);
    let digest = file_digest(&path).ok()?;
    Some(Program { name: word.to_owned(), path: path.to_str()?.to_owned(), digest })
}

/// Finds a program as a shell would, but never in a relative folder of `PATH`: a name with a slash lies in the project or
/// is absolute, any other is searched for.
fn resolve(name: &str, path: &str, project: &Path) -> Option<Program> {
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![in_project(project, name)]
    } else {
        std::env::split_paths(OsStr::new(path))
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .collect()
    };
    candidates.iter().find_map(|candidate| {
        let digest = program_digest(candidate).ok()?;
        let path = candidate.to_str()?.to_owned();
        Some(Program { name: name.to_owned(), path, digest })
    })
}

/// Where a program lies whose name has a slash.
pub fn in_project(project: &Path, name: &str) -> PathBuf {
    project.join(name.strip_prefix("./").unwrap_or(name))
}

/// SHA-256 of a program file, links followed.
///
/// # Errors
/// If it is not an executable regular file, or cannot be read.
pub fn program_digest(path: &Path) -> io::Result<Digest> {
    if std::fs::metadata(path)?.mode() & 0o111 == 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not an executable file"));
    }
    file_digest(path)
}

/// SHA-256 of a plain file, links followed. Never waits.
///
/// # Errors
/// If it is not a plain file, or cannot be read.
pub fn file_digest(path: &Path) -> io::Result<Digest> {
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = File::options().read(true).custom_flags(nonblock).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    let mut hasher = PlainHasher::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            length => hasher.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

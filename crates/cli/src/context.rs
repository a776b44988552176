//! Where this command works: which store, which project, whose key; and how its owner is known.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use actum_core::{Namespace, Owner, SessionName};
use actum_store::{
    AcceptedPolicy, PATIENCE, Places, Snapshot, Store, StoreError, Writer, read_clocks,
};
use etcetera::BaseStrategy as _;

use crate::link;
use crate::say::{FAILED, Failure, Outcome, Say, count, note, read_text};

/// The name of the store's folder, and of the policy beside it.
pub(crate) const STORE_NAME: &str = ".actum";
pub(crate) const POLICY_NAME: &str = "actum.toml";

/// A command's surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) say: Say,
}

impl Context {
    /// The store that was named, or the one found upwards from here.
    pub(crate) fn find(named: Option<&Path>, say: Say) -> Outcome<Self> {
        let store = match named {
            Some(named) => Store::new(places(&store_at(named)?)?),
            None => find_upwards()?,
        };
        Ok(Self { store, say })
    }

    /// The store that was named, or the one that would be made here.
    pub(crate) fn here(named: Option<&Path>, say: Say) -> Outcome<Self> {
        let path = named.map_or_else(|| PathBuf::from(STORE_NAME), Path::to_owned);
        Ok(Self { store: Store::new(places(&absolute(&path)?)?), say })
    }

    pub(crate) fn places(&self) -> &Places {
        self.store.places()
    }

    pub(crate) fn project(&self) -> &Path {
        self.places().project()
    }

    pub(crate) fn policy_path(&self) -> PathBuf {
        self.project().join(POLICY_NAME)
    }

    /// Reads and verifies the ledger.
    pub(crate) fn read(&self) -> Outcome<Snapshot> {
        if link::is_anothers()? {
            let message = "the ledger is read with its key, which the daemon of another user keeps";
            return Err(Failure::new(FAILED, message).hint(
                "ask there: `actum ground`, `inbox`, `approve`, `status`, `watch`; or do this as that user",
            ));
        }
        let snapshot = self.store.read()?;
        // Not believed, and no alarm either, for a torn write looks the same; but nobody should have to ask for it.
        if let Some((bytes, what)) = snapshot.leftover().filter(|_| !self.say.json) {
            let lies = match *bytes {
                0 => "what lies beyond the newest event is".to_owned(),
                bytes => format!("{} beyond the newest event are", count(bytes, "byte")),
            };
            note(&format!("{lies} not the ledger's ({what}), and counts for nothing"));
        }
        Ok(snapshot)
    }

    /// The policy in force, with a word to the owner if the file beside it says something else.
    pub(crate) fn policy(&self, snapshot: &Snapshot) -> Outcome<AcceptedPolicy> {
        let policy = snapshot.policy()?;
        let edited = read_text(&self.policy_path()).ok();
        if edited.is_some_and(|text| text != policy.text()) && !self.say.json {
            note(&format!(
                "{POLICY_NAME} was edited since it was accepted; the accepted one is in force \
                 (see `actum policy accept`)"
            ));
        }
        Ok(policy)
    }
}

/// Who writes, and when.
pub(crate) fn writer(what: &str) -> Writer {
    let pid = std::process::id();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    Writer {
        holder: format!("`actum {what}` (process {pid}, since {now})"),
        patience: PATIENCE,
        reading: read_clocks(),
    }
}

/// The session of a person or script at a shell.
pub(crate) fn shell_session() -> Outcome<SessionName> {
    let user = rustix::process::getuid().as_raw();
    SessionName::new(&format!("cli/uid-{user}"))
        .map_err(|error| Failure::new(FAILED, error.to_string()))
}

/// A namespace by its accepted name.
pub(crate) fn namespace(policy: &AcceptedPolicy) -> Namespace {
    policy.policy().namespace().clone()
}

/// Asks the owner on a terminal, or takes `--yes` for an answer. Nobody there is no yes.
pub(crate) fn confirm(question: &str, yes: bool) -> Outcome<Owner> {
    if yes {
        return Ok(Owner::YesFlag);
    }
    if !at_a_terminal() {
        return Err(Failure::new(FAILED, format!("nobody is there to ask: {question}"))
            .hint("call it on a terminal, or say --yes: the ledger then records `yes-flag`"));
    }
    match answer(&format!("{question} [y/N]"))?.as_deref() {
        Some("y" | "Y" | "yes") => Ok(Owner::Terminal),
        Some(_) | None => Err(not_confirmed()),
    }
}

pub(crate) fn not_confirmed() -> Failure {
    Failure::new(FAILED, "not confirmed; nothing was changed")
}

/// What the owner at a terminal answers; nothing once there is nobody any more.
pub(crate) fn answer(question: &str) -> Outcome<Option<String>> {
    let mut err = io::stderr();
    let asked = write!(err, "{question} ").and_then(|()| err.flush());
    let mut answer = String::new();
    let read = asked
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| Failure::new(FAILED, format!("cannot ask: {error}")))?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}

/// A person can see a question and answer it.
pub(crate) fn at_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The nearest store upwards: one that is there, or one that is known to belong there. What is wrong with it is said by
/// whoever reads it; that a store is gone, or is a link, is no reason to take one further up.
fn find_upwards() -> Outcome<Store> {
    let here = current_folder()?;
    for folder in here.ancestors() {
        let store = Store::new(places(&folder.join(STORE_NAME))?);
        if !matches!(store.identify(), Err(StoreError::Missing { .. })) {
            return Ok(store);
        }
    }
    let missing = StoreError::Missing { path: here };
    Err(Failure { message: format!("{missing} or any folder above it"), ..Failure::from(missing) })
}

/// The store of a folder above this project, if there is one or one is known to belong there.
pub(crate) fn store_above(project: &Path) -> Outcome<Option<PathBuf>> {
    for folder in project.ancestors().skip(1) {
        let store = Store::new(places(&folder.join(STORE_NAME))?);
        if !matches!(store.identify(), Err(StoreError::Missing { .. })) {
            return Ok(Some(store.places().store.clone()));
        }
    }
    Ok(None)
}

/// The path of a store that was named; a project is none, though it may have one.
fn store_at(named: &Path) -> Outcome<PathBuf> {
    let path = absolute(named)?;
    let inside = path.join(STORE_NAME);
    if inside.is_dir() {
        return Err(Failure::usage(format!("{} is a project, not a store", path.display()))
            .hint(format!("its store is {}", inside.display())));
    }
    Ok(path)
}

pub(crate) fn current_folder() -> Outcome<PathBuf> {
    env::current_dir()
        .map_err(|error| Failure::new(FAILED, format!("cannot tell where this is: {error}")))
}

/// The path without links and dots, but for its last part: that is looked at as it is, and need not be there.
fn absolute(path: &Path) -> Outcome<PathBuf> {
    let full = current_folder()?.join(path);
    let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else {
        return Err(Failure::usage(format!("{} is not the path of a store", path.display())));
    };
    let folder = folder.canonicalize().map_err(|error| {
        Failure::usage(format!("no store can lie in {}: {error}", folder.display()))
    })?;
    Ok(folder.join(name))
}

/// The path without links, as far as it is there: what a link leads to now is what is meant, also if it leads elsewhere later.
fn real(path: &Path) -> PathBuf {
    for folder in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (folder.canonicalize(), path.strip_prefix(folder)) {
            return found.join(rest);
        }
    }
    path.to_owned()
}

fn places(store: &Path) -> Outcome<Places> {
    let base = etcetera::base_strategy::choose_base_strategy().map_err(|error| {
        Failure::new(FAILED, format!("cannot tell the user's folders: {error}"))
    })?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    let store = match (store.parent(), store.file_name()) {
        (Some(folder), Some(name)) => {
            folder.canonicalize().map_or_else(|_| store.to_owned(), |folder| folder.join(name))
        }
        (Some(_) | None, _) => store.to_owned(),
    };
    let (data, state) = (real(&base.data_dir()).join("actum"), real(&state).join("actum"));
    Ok(Places { store, data, state })
}

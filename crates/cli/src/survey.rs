//! What lies in memory files, beside what the ledger knows of it: what `actum inventory` reports and `actum adopt` goes
//! through. Decides nothing, and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use actum_core::{
    Authority, DecisionCode, Digest, EntryKind, Item, ItemKind, Namespace, Space, Views, Withheld,
};
use actum_store::entries::{
    self, Entry, Flaw, Inventory, Known, ReadFile, State, Wrong, compare, file_of, named_file,
    path_of,
};
use actum_store::{PolicyMissing, Snapshot};
use serde_json::{Value, json};

use crate::cmd::session::why_withheld;
use crate::context::{Context, current_folder, namespace};
use crate::say::{Failure, Outcome, foreign, note};

/// Memory files as they are now, each read once.
pub(crate) struct Survey {
    pub(crate) namespace: Namespace,
    pub(crate) files: Vec<ReadFile>,
    pub(crate) found: Vec<Found>,
    pub(crate) gone: Vec<Gone>,
    pub(crate) flaws: Vec<Flaw>,
    /// Links to files that were read, each with the file: what a model would read through them was read.
    pub(crate) links: Vec<(String, String)>,
}

/// An entry, and what the ledger says of it.
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) content: Digest,
    pub(crate) state: State,
    /// The record it is paired with.
    pub(crate) record: Option<Standing>,
    /// The quarantines of exactly this, by event.
    pub(crate) held: Vec<u64>,
    /// The quarantine of the same text elsewhere in the file: a heading above it may have changed since.
    held_elsewhere: Option<u64>,
    /// Why it is in quarantine, in a sentence.
    pub(crate) why_held: Option<&'static str>,
}

/// A record as it stands now.
pub(crate) struct Standing {
    pub(crate) record: u64,
    pub(crate) name: String,
    pub(crate) content: Digest,
    pub(crate) authority: Authority,
    /// Why it is withheld, in a few words.
    pub(crate) withheld: Option<&'static str>,
}

/// A record whose entry is not there any more.
pub(crate) struct Gone {
    pub(crate) record: u64,
    pub(crate) name: String,
}

impl Survey {
    /// Reads the files once, and asks the ledger.
    pub(crate) fn take(context: &Context, snapshot: &Snapshot, paths: &[PathBuf]) -> Outcome<Self> {
        let asked: Vec<PathBuf> =
            paths.iter().map(|path| below(context.project(), path)).collect::<Outcome<_>>()?;
        // Without a policy there is one namespace. One that cannot be read is no reason to look for records in another.
        let namespace = match snapshot.policy() {
            Ok(policy) => namespace(&policy),
            Err(PolicyMissing::None) => Namespace::default(),
            Err(missing @ PolicyMissing::Unusable { .. }) => return Err(missing.into()),
        };
        let inventory = entries::inventory(context.project(), &asked)?;
        let records = Records::of(snapshot.views(), &namespace);
        let read: BTreeSet<String> =
            inventory.files.iter().map(|read| named_file(&read.file)).collect();
        let known = records.known(&inventory, &read);
        let compared = compare(&inventory.entries, &known);
        let mut gone = records.gone_from(&inventory, &compared.gone);
        gone.extend(records.in_lost_files(context.project(), &asked, &read));
        let Inventory { files, entries, flaws } = inventory;
        let (links, flaws) = links_to(&files, flaws);
        let found = entries.into_iter().zip(compared.states);
        let found = found.map(|(entry, state)| records.found(entry, state)).collect();
        Ok(Self { namespace, files, found, gone, flaws, links })
    }

    /// Tells of what is in no entry.
    pub(crate) fn flaws_in_words(&self) -> impl Iterator<Item = String> {
        let links = self.links.iter().map(|(link, to)| {
            format!("{}: is a link to {}, which was read", foreign(link), foreign(to))
        });
        self.flaws.iter().map(|flaw| foreign(&flaw.to_string())).chain(links)
    }

    pub(crate) fn flaws_to_json(&self) -> Value {
        let flaws = self.flaws.iter().map(|flaw| {
            json!({ "file": flaw.file, "line": flaw.line, "message": flaw.what.to_string() })
        });
        flaws.collect()
    }

    /// Tells a person at a terminal, where the answer is not for a program.
    pub(crate) fn note_flaws(&self, context: &Context) {
        if !context.say.json {
            self.flaws_in_words().for_each(|flaw| note(&flaw));
        }
    }
}

impl Found {
    /// It is what its record says, and nothing withholds it.
    pub(crate) fn is_known(&self) -> bool {
        let is_known = match self.state {
            State::Known { .. } => true,
            State::Moved { .. } | State::Changed { .. } | State::Unknown => false,
        };
        let withheld = self.record.as_ref().and_then(|record| record.withheld);
        is_known && withheld.is_none() && self.held.is_empty()
    }

    /// Nothing of it is the owner's to look at.
    pub(crate) fn is_settled(&self) -> bool {
        let authority = self.record.as_ref().map_or(Authority::Untrusted, |it| it.authority);
        self.is_known() && authority > Authority::Untrusted
    }

    /// The quarantine that it is in, here or elsewhere in the file.
    pub(crate) fn quarantine(&self) -> Option<u64> {
        // A record of its own, in good standing, says that this place was looked at.
        self.held.first().copied().or(self.held_elsewhere.filter(|_| !self.is_known()))
    }

    pub(crate) const fn word(&self) -> &'static str {
        match self.state {
            State::Known { .. } => "known",
            State::Moved { .. } => "moved",
            State::Changed { .. } => "changed",
            State::Unknown => "unknown",
        }
    }

    /// What the ledger says of it, behind its state.
    pub(crate) fn detail(&self) -> String {
        let mut said = Vec::new();
        match (self.state, &self.record) {
            (State::Known { .. }, Some(record)) => said.push(record.authority.to_string()),
            (State::Moved { .. } | State::Changed { .. }, Some(record)) => {
                said.push(format!("was record {}", record.record));
            }
            (State::Unknown, _) | (_, None) => {}
        }
        said.extend(self.record.as_ref().and_then(|record| record.withheld).map(str::to_owned));
        // That its record is in quarantine is said already.
        let held = self.quarantine().filter(|_| !said.iter().any(|said| said == "in quarantine"));
        said.extend(held.map(|event| format!("in quarantine ({event})")));
        said.join(", ")
    }
}

/// What the ledger has of one namespace: the newest record of each entry, and what is in quarantine.
struct Records<'a> {
    views: &'a Views,
    newest: BTreeMap<&'a str, &'a Item>,
    /// By file and content.
    held: BTreeMap<(&'a str, Digest), Vec<(u64, &'a str)>>,
}

impl<'a> Records<'a> {
    fn of(views: &'a Views, namespace: &Namespace) -> Self {
        let number = views.number(Space::Namespace, namespace.as_str().as_bytes());
        let mut newest = BTreeMap::new();
        for item in views.provenance().items() {
            if let ItemKind::Entry { namespace, name, .. } = &item.what
                && Some(*namespace) == number
            {
                newest.insert(&**name, item);
            }
        }
        let mut held: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for it in views.provenance().held() {
            if Some(it.namespace) == number && it.released.is_none() {
                let place = (file_of(&it.name), it.content);
                held.entry(place).or_default().push((it.event, &*it.name));
            }
        }
        Self { views, newest, held }
    }

    /// The newest records of these files that were not taken back. A record of another kind answers for nothing: what was
    /// written down as memory fires no task.
    fn known(&self, inventory: &Inventory, read: &BTreeSet<String>) -> Vec<Known> {
        let kinds: BTreeMap<&str, EntryKind> =
            inventory.entries.iter().map(|entry| (file_of(&entry.name), entry.kind)).collect();
        let known = self.newest.iter().filter(|(name, item)| {
            let file = file_of(name);
            let kind = kinds.get(file);
            let fits = kind.is_none_or(|kind| kind_of(item) == Some(*kind));
            read.contains(file) && fits && !is_superseded(item)
        });
        known
            .map(|(name, item)| Known {
                name: (*name).to_owned(),
                content: item.content,
                record: item.event,
            })
            .collect()
    }

    /// Of what nothing was found for, that which was in a file without a flaw: behind a flaw it may be there still.
    fn gone_from(&self, inventory: &Inventory, records: &[u64]) -> Vec<Gone> {
        let flawed: BTreeSet<String> =
            inventory.flaws.iter().map(|flaw| named_file(&flaw.file)).collect();
        let items = records.iter().filter_map(|record| self.views.provenance().item(*record));
        items
            .filter_map(|item| Some(Gone { record: item.event, name: name_of(item)?.to_owned() }))
            .filter(|gone| !flawed.contains(file_of(&gone.name)))
            .collect()
    }

    /// What was in files that lay where was asked, and do not any more.
    fn in_lost_files(
        &self,
        project: &Path,
        asked: &[PathBuf],
        read: &BTreeSet<String>,
    ) -> Vec<Gone> {
        let mut lost: BTreeMap<&str, bool> = BTreeMap::new();
        let mut is_lost = |name: &'a str| {
            *lost.entry(file_of(name)).or_insert_with_key(|file| {
                let path = path_of(name).map(PathBuf::from);
                !read.contains(*file)
                    && path.is_some_and(|path| {
                        asked.iter().any(|asked| asked == Path::new(".") || path.starts_with(asked))
                            && is_missing(&project.join(path))
                    })
            })
        };
        let newest = self.newest.iter().filter(|(_, item)| !is_superseded(item));
        newest
            .filter(|(name, _)| is_lost(name))
            .map(|(name, item)| Gone { record: item.event, name: (*name).to_owned() })
            .collect()
    }

    fn found(&self, entry: Entry, state: State) -> Found {
        let content = entry.content();
        // What was taken back has no part in the comparison, but it is no stranger either.
        let taken_back = self.newest.get(entry.name.as_str()).filter(|item| {
            is_superseded(item) && item.content == content && kind_of(item) == Some(entry.kind)
        });
        let (state, record) = match (state, taken_back) {
            (State::Unknown, Some(item)) => (State::Known { record: item.event }, Some(item.event)),
            (State::Unknown, None) => (state, None),
            (State::Known { record } | State::Moved { record } | State::Changed { record }, _) => {
                (state, Some(record))
            }
        };
        let standing = record
            .and_then(|record| self.views.provenance().item(record))
            .map(|item| self.standing(item));
        let held = self.held.get(&(file_of(&entry.name), content));
        let held = held.map(Vec::as_slice).unwrap_or_default();
        let here = held.iter().filter(|(_, name)| *name == entry.name);
        let elsewhere = held.iter().find(|(_, name)| *name != entry.name);
        let found = Found {
            held: here.map(|(event, _)| *event).collect(),
            held_elsewhere: elsewhere.map(|(event, _)| *event),
            why_held: None,
            content,
            state,
            record: standing,
            entry,
        };
        let why_held = found
            .quarantine()
            .and_then(|event| self.views.provenance().held_at(event))
            .and_then(|held| DecisionCode::from_number(held.reason))
            .map(DecisionCode::sentence);
        Found { why_held, ..found }
    }

    fn standing(&self, item: &Item) -> Standing {
        let provenance = self.views.provenance();
        let void = provenance.is_void(item).then_some("from before a loss");
        Standing {
            record: item.event,
            name: name_of(item).unwrap_or_default().to_owned(),
            content: item.content,
            authority: provenance.standing(item),
            withheld: item.withheld.map(why_withheld).or(void),
        }
    }
}

fn kind_of(item: &Item) -> Option<EntryKind> {
    match item.what {
        ItemKind::Entry { kind, .. } => Some(kind),
        ItemKind::Seen(_) => None,
    }
}

fn name_of(item: &Item) -> Option<&str> {
    match &item.what {
        ItemKind::Entry { name, .. } => Some(name),
        ItemKind::Seen(_) => None,
    }
}

fn is_superseded(item: &Item) -> bool {
    match item.withheld {
        Some(Withheld::Superseded(_)) => true,
        Some(
            Withheld::Revoked(_)
            | Withheld::Quarantined(_)
            | Withheld::Ancestor(_)
            | Withheld::Unconfirmed,
        )
        | None => false,
    }
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Takes the links to files that were read out of the flaws.
fn links_to(files: &[ReadFile], flaws: Vec<Flaw>) -> (Vec<(String, String)>, Vec<Flaw>) {
    let read: BTreeSet<&str> = files.iter().map(|read| read.file.as_str()).collect();
    let (mut links, mut rest) = (Vec::new(), Vec::new());
    for flaw in flaws {
        match target_of(&flaw).filter(|to| read.contains(to.as_str())) {
            Some(to) => links.push((flaw.file, to)),
            None => rest.push(flaw),
        }
    }
    (links, rest)
}

/// The path that a link leads to, where the flaw is that a file is one.
fn target_of(flaw: &Flaw) -> Option<String> {
    let Wrong::Link { link, to } = &flaw.what else { return None };
    let folder = Path::new(link).parent()?;
    (flaw.line.is_none() && *link == flaw.file && !Path::new(to).is_absolute())
        .then(|| plain(&folder.join(to)))
        .flatten()?
        .into_os_string()
        .into_string()
        .ok()
}

/// A path as it was given here, seen from the project.
fn below(project: &Path, path: &Path) -> Outcome<PathBuf> {
    let full = current_folder()?.join(path);
    let roots: Vec<_> = full.ancestors().collect();
    roots
        .into_iter()
        .rev()
        .filter(|folder| folder.canonicalize().is_ok_and(|real| real == project))
        .find_map(|root| plain(full.strip_prefix(root).ok()?))
        .ok_or_else(|| {
            let (path, project) = (path.display(), project.display());
            Failure::usage(format!("{path} lies outside the project, {project}")).hint(
                "name files and folders inside it; --store names the store of another project",
            )
        })
}

/// The path without dots; nothing if it leaves the folder it is seen from.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain })
}

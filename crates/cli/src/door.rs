//! Who asks at this door, and what the gate is asked by: the policy in force, the cache of contents, the subjects on disk.
//!
//! Without a credential it is the owner who asks: a person at a terminal, or `--yes`. A shell of the same user can say either,
//! so what was asked that way is recorded with how its owner was known.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use actum_core::{
    Caller, Content, Digest, Gate, Ledger, Owner, Presence, SessionName, Space, SubjectName,
    Surroundings, ValueKind, Views,
};
use actum_store::{
    AcceptedPolicy, CONTENT_MAX, Cache, CacheError, FileJournal, PolicyMissing, RealDisk, Writer,
    random,
};
use zeroize::Zeroizing;

use crate::args_memory::Door;
use crate::context::{Context, at_a_terminal, writer};
use crate::say::{FAILED, Failure, Outcome, foreign, note};
use crate::subject;

/// Bytes of a credential.
pub(crate) const CREDENTIAL_BYTES: usize = 32;

/// A ledger open for writing, with all that a question to the gate needs.
pub(crate) struct Desk<'c> {
    pub(crate) context: &'c Context,
    pub(crate) ledger: Ledger<FileJournal<RealDisk>>,
    pub(crate) writer: Writer,
    pub(crate) cache: Cache,
    policy: Option<AcceptedPolicy>,
}

impl<'c> Desk<'c> {
    /// Opens the ledger for one command.
    pub(crate) fn open(context: &'c Context, what: &str) -> Outcome<Self> {
        let writer = writer(what);
        let ledger = context.store.write(&writer)?;
        let policy = policy_of(context, ledger.views());
        let cache = Cache::of(context.places());
        Ok(Self { context, ledger, writer, cache, policy })
    }

    pub(crate) fn views(&self) -> &Views {
        self.ledger.views()
    }

    /// The policy in force, if there is one.
    pub(crate) const fn policy(&self) -> Option<&AcceptedPolicy> {
        self.policy.as_ref()
    }

    /// Asks something of the ledger with the gate beside it, which borrows what the ledger does not.
    pub(crate) fn ask<T>(
        &mut self,
        presence: Presence,
        asks: impl FnOnce(
            &mut Ledger<FileJournal<RealDisk>>,
            &Gate<'_>,
            &actum_core::Reading,
        ) -> Result<T, actum_core::CommitError>,
    ) -> Outcome<T> {
        let things = Things { context: self.context, cache: &self.cache };
        let force = self.policy.as_ref().map(AcceptedPolicy::in_force_now);
        let gate = Gate { force, surroundings: &things, presence };
        Ok(asks(&mut self.ledger, &gate, &self.writer.reading)?)
    }

    /// Keeps a text for later questions, and returns its digest.
    pub(crate) fn keep(&self, text: &str) -> Outcome<Digest> {
        self.cache.keep(text).map_err(|error| cache_failure(&error))
    }

    /// Tells of an id that nobody opened: it is no error, and most often a slip of the finger.
    pub(crate) fn note_unknown(&self, session: &SessionName) {
        let number = self.views().number(Space::Session, session.as_str().as_bytes());
        let known = number.and_then(|it| self.views().provenance().session(it));
        if known.is_none() && !self.context.say.json {
            note(&format!(
                "nobody opened a session {}, so everything in it is untrusted; open one with `actum session open`",
                foreign(session.as_str())
            ));
        }
    }

    /// Who asks.
    pub(crate) fn caller(&self, door: &Door) -> Outcome<Caller> {
        caller(self.views(), door)
    }

    /// Who asks where an agent may: the agent of this session, unless the door says otherwise.
    pub(crate) fn agent(&self, door: &Door, session: Option<&SessionName>) -> Outcome<Caller> {
        if door.adapter.is_some() || door.yes {
            return self.caller(door);
        }
        let number = session
            .and_then(|session| self.views().number(Space::Session, session.as_str().as_bytes()));
        Ok(Caller::Agent(number.unwrap_or(u32::MAX)))
    }
}

/// The policy in force; that it cannot be used is told, and is the same as none.
pub(crate) fn policy_of(context: &Context, views: &Views) -> Option<AcceptedPolicy> {
    match AcceptedPolicy::in_force(&RealDisk, context.places(), views) {
        Ok(policy) => Some(policy),
        Err(PolicyMissing::None) => None,
        Err(missing @ PolicyMissing::Unusable { .. }) => {
            note(&missing.to_string());
            None
        }
    }
}

/// What the gate asks of this machine.
pub(crate) struct Things<'a> {
    pub(crate) context: &'a Context,
    pub(crate) cache: &'a Cache,
}

impl Surroundings for Things<'_> {
    fn content(&self, digest: &Digest) -> Content<'_> {
        match self.cache.read(digest) {
            Ok(Some(text)) => Content::Known(Cow::Owned(text)),
            Ok(None) => Content::Missing,
            // Whatever else is wrong with it, it is not the text.
            Err(_) => Content::Edited,
        }
    }

    fn subject(&self, name: &SubjectName) -> Result<Digest, String> {
        subject::now(self.context, name).map(|taken| taken.digest)
    }

    fn leads_to(&self, path: &str) -> Option<String> {
        let real = as_it_is(&self.context.project().join(path))?;
        // The project may itself lie behind a link: what counts is how the path differs from its own letters.
        let project = self.context.project().canonicalize().ok()?;
        let relative = real.strip_prefix(&project).ok().filter(|_| !path.starts_with('/'));
        let shown = relative.unwrap_or(&real).to_str()?.to_owned();
        let written = path.trim_end_matches('/');
        let same = ValueKind::Path.normal(&shown) == ValueKind::Path.normal(written);
        (!same).then_some(shown)
    }
}

/// A path without its links, as far as it is there; the rest of it is to be made. A link that ends nowhere yet leads there.
fn as_it_is(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|there| {
        let led = || there.read_link().ok().and_then(|to| Some(there.parent()?.join(to)));
        let real = there.canonicalize().ok().or_else(led)?;
        // Joined to nothing it would end with a slash.
        let rest = path.strip_prefix(there).ok()?.components();
        Some(rest.fold(real, |path, part| path.join(part)))
    })
}

/// Who asks at this door.
pub(crate) fn caller(views: &Views, door: &Door) -> Outcome<Caller> {
    if let Some(name) = &door.adapter {
        return adapter(views, name);
    }
    if door.yes {
        return Ok(Caller::Owner(Owner::YesFlag));
    }
    if at_a_terminal() {
        return Ok(Caller::Owner(Owner::Terminal));
    }
    let message = "who asks? No adapter is named, and no owner is at a terminal";
    let hint =
        "name an adapter with --as (`actum adapter add` makes one), or ask as the owner with --yes";
    Err(Failure::usage(message).hint(hint))
}

fn adapter(views: &Views, name: &str) -> Outcome<Caller> {
    let refused = || {
        // One message for an unknown name and a wrong credential: neither is to be found out by trying.
        Failure::new(FAILED, format!("adapter {name} is not known by this credential"))
            .hint("its owner sees the adapters with `actum adapter list`")
    };
    let secret = credential()?;
    let number = views.number(Space::Adapter, name.as_bytes()).ok_or_else(refused)?;
    let known = views.provenance().adapter(number).filter(|it| it.is_credential(&secret));
    known.map(|_| Caller::Adapter(number)).ok_or_else(refused)
}

/// The credential of this process, from its environment or from a file.
pub(crate) fn credential() -> Outcome<Zeroizing<Vec<u8>>> {
    let text = match (env::var("ACTUM_CREDENTIAL"), env::var_os("ACTUM_CREDENTIAL_FILE")) {
        (Ok(text), _) => Zeroizing::new(text),
        (Err(_), Some(path)) => {
            let path = Path::new(&path);
            let mut text = Zeroizing::new(String::new());
            File::open(path).and_then(|file| file.take(1024).read_to_string(&mut text)).map_err(
                |error| {
                    Failure::new(FAILED, format!("cannot read {}: {error}", path.display()))
                        .hint("ACTUM_CREDENTIAL_FILE names it, for the credential of an adapter")
                },
            )?;
            text
        }
        (Err(_), None) => {
            return Err(Failure::usage("an adapter shows its credential")
                .hint("set ACTUM_CREDENTIAL, or ACTUM_CREDENTIAL_FILE to the path of a file"));
        }
    };
    Ok(Zeroizing::new(text.trim().as_bytes().to_vec()))
}

/// A name of a session that nobody had before.
pub(crate) fn new_session() -> Outcome<SessionName> {
    let bytes = random::<8>()?;
    session(&format!("s-{}", actum_core::hex(&*bytes)))
}

/// A session by its id.
pub(crate) fn session(name: &str) -> Outcome<SessionName> {
    SessionName::new(name).map_err(|error| Failure::usage(error.to_string()))
}

/// The text that was given, or standard input.
pub(crate) fn text_of(given: Option<&str>) -> Outcome<String> {
    if let Some(given) = given.filter(|given| *given != "-") {
        return within_limit(given.to_owned());
    }
    let mut bytes = Vec::new();
    let limit = CONTENT_MAX as u64 + 1;
    io::stdin()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(FAILED, format!("cannot read standard input: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("standard input is not UTF-8 text: byte {at} is wrong"))
    })?;
    within_limit(text)
}

fn within_limit(text: String) -> Outcome<String> {
    if text.len() > CONTENT_MAX {
        let message = format!("the text has more than {CONTENT_MAX} bytes, which is the limit");
        return Err(Failure::usage(message));
    }
    Ok(text)
}

pub(crate) fn cache_failure(error: &CacheError) -> Failure {
    Failure::new(FAILED, crate::say::chain(error))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_through_links_that_are_there_and_that_end_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("notes")).unwrap();
        symlink("/etc", root.join("notes/etc")).unwrap();
        symlink("/nowhere/keys", root.join("notes/keys")).unwrap();
        let led = |path: &str| as_it_is(&root.join(path)).unwrap();
        assert_eq!(led("notes/new/a.md"), root.join("notes/new/a.md"));
        assert_eq!(led("notes"), root.join("notes"));
        assert_eq!(led("notes/etc/new"), Path::new("/etc/new"));
        assert_eq!(led("notes/keys"), Path::new("/nowhere/keys"));
        assert_eq!(led("notes/keys/x"), Path::new("/nowhere/keys/x"));
    }
}

//! The subject of a step: as it was named, as it is on disk, and what changed since a run.

use std::fs;
use std::path::PathBuf;

use actum_core::policy::{Policy, Rule, Step};
use actum_core::{Digest, StepName, SubjectKind, SubjectName, hex};
use actum_store::subject::{Change, MANIFEST_BYTES_MAX, Manifest, Taken, take};
use actum_store::{Disk as _, RealDisk, put};

use crate::context::Context;
use crate::say::{Failure, Outcome};

/// Manifests kept to name what changed; the oldest go.
const MANIFESTS_KEPT: usize = 64;
/// Changes named in an answer; the rest is counted.
pub(crate) const CHANGES_NAMED: usize = 5;

/// The step and its rule, by the name a person gave. Only a step that is performed by a command has one here.
pub(crate) fn step<'a>(policy: &'a Policy, name: &str) -> Outcome<(StepName, &'a Rule)> {
    let step = StepName::new(name).map_err(|error| Failure::usage(error.to_string()))?;
    let Some(found) = policy.step(&step) else {
        let known: Vec<_> = policy.steps().map(|(name, _)| name.to_string()).collect();
        let hint = if known.is_empty() {
            "the accepted policy has no steps; add some to actum.toml, then `actum policy accept`"
                .to_owned()
        } else {
            format!("the accepted policy has: {}", known.join(", "))
        };
        return Err(Failure::usage(format!("there is no step `{step}`")).hint(hint));
    };
    let (message, hint) = match found {
        Step::Command(rule) => return Ok((step, rule)),
        Step::Tool(tool) => (
            format!("`{step}` is a tool step: it is performed by calling `{}`", tool.tool()),
            "an adapter records such calls; no command performs it".to_owned(),
        ),
        Step::AllOf(all_of) => {
            let parts: Vec<_> = all_of.parts().iter().map(StepName::as_str).collect();
            let hint = format!("name one of them: {}", parts.join(", "));
            (format!("`{step}` is several steps"), hint)
        }
    };
    Err(Failure::usage(message).hint(hint))
}

/// The subject a person named, of the kind the rule wants.
pub(crate) fn name(rule: &Rule, given: Option<&str>) -> Outcome<SubjectName> {
    let kind = rule.subject();
    if let Some(fixed) = rule.fixed_subject() {
        return one_subject(fixed, given);
    }
    let refuse =
        |message: String| Failure::usage(message).hint(format!("write it as {}", form(kind)));
    let Some(given) = given else {
        if kind == SubjectKind::Git {
            return SubjectName::parse("HEAD").map_err(|error| refuse(error.to_string()));
        }
        return Err(refuse("which subject?".to_owned()));
    };
    let prefixed = SubjectName::parse(given);
    let parsed = match prefixed {
        Ok(name) if name.kind() == kind => name,
        Ok(name) => {
            let (is, wants) = (name.kind().word(), kind.word());
            return Err(refuse(format!("`{given}` is a {is} subject; this step wants {wants}")));
        }
        // Without a kind it is of the kind that the rule wants.
        Err(actum_core::NameError::Kind { .. }) if kind != SubjectKind::Git => {
            SubjectName::new(kind, given).map_err(|error| refuse(error.to_string()))?
        }
        Err(error) => return Err(refuse(error.to_string())),
    };
    Ok(parsed)
}

/// The one subject of a step, whether it was named or not.
fn one_subject(fixed: &SubjectName, given: Option<&str>) -> Outcome<SubjectName> {
    let same = |given: &str| {
        SubjectName::parse(given).is_ok_and(|name| name == *fixed)
            || SubjectName::new(fixed.kind(), given).is_ok_and(|name| name == *fixed)
    };
    match given.filter(|given| !same(given)) {
        None => Ok(fixed.clone()),
        Some(given) => Err(Failure::usage(format!("`{given}` is not the subject of this step"))
            .hint(format!("its one subject is {fixed}"))),
    }
}

const fn form(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::Git => "HEAD: the work tree as it lies on disk",
        SubjectKind::File => "file:PATH, inside the project",
        SubjectKind::Dir => "dir:PATH, inside the project",
        SubjectKind::Text => "text:ANYTHING",
    }
}

/// The subject as it is on disk now.
pub(crate) fn now(context: &Context, name: &SubjectName) -> Result<Taken, String> {
    let places = context.places();
    take(context.project(), &places.store, name).map_err(|error| crate::say::chain(&error))
}

/// Keeps the manifest of a subject, so that a later answer can name what changed. It proves nothing, so a failure to keep it
/// is no failure.
pub(crate) fn keep(context: &Context, taken: &Taken) {
    let kept = put(&RealDisk, &path(context, &taken.digest), &taken.manifest.to_bytes());
    drop(kept);
    forget_old(context);
}

/// What changed since the content with this digest; `None` if that is not known any more.
pub(crate) fn changes(context: &Context, old: &Digest, new: &Taken) -> Option<Vec<Change>> {
    let bytes = RealDisk.read(&path(context, old), MANIFEST_BYTES_MAX as u64).ok()?;
    let manifest = Manifest::from_bytes(&bytes).ok()?;
    // The file may be anything; only one with the digest of the evidence says what that evidence was about.
    (manifest.digest() == *old).then(|| manifest.changes(&new.manifest))
}

/// The first few changes in words, and how many more there are.
pub(crate) fn in_words(changes: &[Change]) -> String {
    let mut words: Vec<_> = changes.iter().take(CHANGES_NAMED).map(ToString::to_string).collect();
    if let Some(more) = changes.len().checked_sub(CHANGES_NAMED).filter(|&more| more > 0) {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

fn path(context: &Context, digest: &Digest) -> PathBuf {
    context.places().subjects().join(hex(digest.as_bytes()))
}

fn forget_old(context: &Context) {
    let folder = context.places().subjects();
    let Ok(names) = RealDisk.list(&folder) else { return };
    let mut kept: Vec<_> = names
        .iter()
        .filter(|name| Digest::from_hex(name).is_some())
        .filter_map(|name| {
            let path = folder.join(name);
            let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some((meta.modified().ok()?, path))
        })
        .collect();
    kept.sort();
    let surplus = kept.len().saturating_sub(MANIFESTS_KEPT);
    for (_, path) in kept.iter().take(surplus) {
        drop(fs::remove_file(path));
    }
}

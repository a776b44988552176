//! The subject of a step: as it was named, as it is on disk, and what changed since a run.

use std::fs;
use std::path::PathBuf;

use actum_core::policy::{Policy, Rule};
use actum_core::{Digest, StepName, SubjectName, hex};
use actum_serve::desk::{step_of, subject_now, subject_of};
use actum_store::subject::{Change, MANIFEST_BYTES_MAX, Manifest, Taken};
use actum_store::{Disk as _, RealDisk, put};

use crate::context::Context;
use crate::say::Outcome;

/// Manifests kept to name what changed; the oldest go.
const MANIFESTS_KEPT: usize = 64;
/// Changes named in an answer; the rest is counted.
pub(crate) const CHANGES_NAMED: usize = 5;

/// The step and its rule, by the name a person gave. Only a step that is performed by a command has one here.
pub(crate) fn step<'a>(policy: &'a Policy, name: &str) -> Outcome<(StepName, &'a Rule)> {
    Ok(step_of(policy, name)?)
}

/// The subject a person named, of the kind the rule wants.
pub(crate) fn name(rule: &Rule, given: Option<&str>) -> Outcome<SubjectName> {
    Ok(subject_of(rule, given)?)
}

/// The subject as it is on disk now.
pub(crate) fn now(context: &Context, name: &SubjectName) -> Result<Taken, String> {
    subject_now(context.places(), name)
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

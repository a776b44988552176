//! The digests of steps and tools, each over the others it names. `docs/formats/policy.md` states every part.

use std::collections::BTreeMap;

use super::steps::{Step, ToolStep};
use super::tools::{Binding, ToolRule};
use super::{Policy, Program};
use crate::canon::Digest;
use crate::kind::ValueKind;
use crate::names::{ArgumentName, StepName};

/// Computes digests of one policy; each step once, however many ways lead to it.
///
/// INVARIANT(acyclic): the reader refused steps and tools that need themselves, or one another too deep.
pub(super) struct Digester<'p> {
    policy: &'p Policy,
    programs: &'p [Program],
    steps: BTreeMap<&'p StepName, Digest>,
}

impl<'p> Digester<'p> {
    pub(super) const fn new(policy: &'p Policy, programs: &'p [Program]) -> Self {
        Self { policy, programs, steps: BTreeMap::new() }
    }

    pub(super) fn step(&mut self, name: &StepName) -> Option<Digest> {
        let (name, step) = self.policy.steps.get_key_value(name)?;
        if let Some(&digest) = self.steps.get(name) {
            return Some(digest);
        }
        let digest = match step {
            Step::Command(rule) => rule.digest(self.programs),
            Step::Tool(step) => self.tool_step(step),
            Step::AllOf(all_of) => {
                let mut parts = Parts::default();
                parts.count(all_of.parts.len());
                for part in &all_of.parts {
                    self.named(&mut parts, part);
                }
                parts.digest("actum/all-of/v1")
            }
        };
        self.steps.insert(name, digest);
        Some(digest)
    }

    fn tool_step(&mut self, step: &'p ToolStep) -> Digest {
        let mut parts = Parts::default();
        parts.text(step.tool.as_str());
        parts.text(step.subject.as_str());
        parts.texts(step.binds.iter().map(ArgumentName::as_str));
        parts.texts(step.lifetime.map(|lifetime| lifetime.as_secs().to_string()).iter());
        // What the tool's own calls had to satisfy, and what its result is worth, is part of what its pass says.
        parts.bytes(self.tool(self.policy.tool(&step.tool)).as_bytes());
        parts.digest("actum/tool-step/v1")
    }

    pub(super) fn tool(&mut self, rule: &'p ToolRule) -> Digest {
        let mut parts = Parts::default();
        parts.text(rule.class.word());
        match &rule.binding {
            Binding::All => parts.text("all"),
            Binding::Only(arguments) => {
                parts.text("only");
                parts.texts(arguments.iter().map(ArgumentName::as_str));
            }
        }
        parts.texts(rule.outgoing.iter().map(ArgumentName::as_str));
        // Text is what a kind is where none is said.
        let kinds: Vec<_> =
            rule.kinds.iter().filter(|(_, kind)| **kind != ValueKind::Text).collect();
        parts.count(kinds.len());
        for (argument, kind) in kinds {
            parts.text(argument.as_str());
            parts.text(kind.word());
        }
        parts.count(rule.requires.len());
        for requirement in &rule.requires {
            self.named(&mut parts, &requirement.step);
            parts.texts(requirement.subject.iter().map(ArgumentName::as_str));
            parts.texts(requirement.binds.iter().map(ArgumentName::as_str));
        }
        parts.count(rule.verify.len());
        for (argument, verification) in &rule.verify {
            parts.text(argument.as_str());
            self.named(&mut parts, &verification.step);
            parts.texts(verification.with.iter().map(ArgumentName::as_str));
        }
        parts.text(rule.mode.word());
        parts.text(rule.result.word());
        parts.text(rule.on_missing.word());
        parts.text(rule.fetch.word());
        parts.digest("actum/tool-rule/v1")
    }

    /// A step by its name and its digest.
    fn named(&mut self, parts: &mut Parts, name: &StepName) {
        let digest = self.step(name);
        assert!(digest.is_some(), "the reader checked that every step that is named is there");
        parts.text(name.as_str());
        parts.bytes(digest.as_ref().map_or(&[], |digest| digest.as_bytes()));
    }
}

/// The parts of a digest in order. A list is its length and then its elements, so that nothing moves from one to the next.
#[derive(Default)]
pub(super) struct Parts(Vec<Vec<u8>>);

impl Parts {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(bytes.to_vec());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn count(&mut self, count: usize) {
        self.bytes(&(count as u64).to_be_bytes());
    }

    pub(super) fn texts(&mut self, texts: impl ExactSizeIterator<Item = impl AsRef<str>>) {
        self.count(texts.len());
        for text in texts {
            self.text(text.as_ref());
        }
    }

    pub(super) fn digest(&self, domain: &str) -> Digest {
        let parts: Vec<_> = self.0.iter().map(Vec::as_slice).collect();
        Digest::of(domain, &parts)
    }
}

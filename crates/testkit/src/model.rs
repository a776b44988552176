//! What the ledger should answer, said again in the plainest way: a list of facts, and a walk over it for each question.
//! Shares no code with what it is compared to. The table is that of the grounding check in `docs/formats/ledger.md` and
//! `docs/reason-codes.md`.

#![expect(clippy::wildcard_enum_match_arm, reason = "each walk looks for one kind of fact")]

use actum_core::{Cause, Outcome, Reading};

/// Whose step on what, by small numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Whose.
    pub namespace: u8,
    /// Which step.
    pub step: u8,
    /// On which subject.
    pub subject: u8,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Whose step on what.
    pub key: Key,
    /// The content there is now.
    pub content: u8,
    /// The rule in force.
    pub rule: u8,
    /// How long a pass counts.
    pub lifetime_ms: Option<u64>,
    /// The clock of whoever asks.
    pub now_ms: u64,
}

#[derive(Debug, Clone, Copy)]
enum Fact {
    Began {
        run: usize,
        key: Key,
        content: u8,
        rule: u8,
    },
    Ended {
        run: usize,
        outcome: Outcome,
    },
    Revoked {
        run: usize,
    },
    Accepted {
        policy: u8,
    },
    Jumped,
    Resolved {
        cause: Cause,
    },
    /// Facts from this place on had not been acknowledged.
    Recovered {
        first: usize,
    },
    /// Something that changes no answer, but has a time.
    Other,
}

/// Everything that happened, in order, each with the clock as it was read.
#[derive(Debug, Clone)]
pub struct Model {
    facts: Vec<(u64, Fact)>,
    last: Reading,
}

impl Model {
    /// A ledger that was just made.
    pub fn new(now: Reading) -> Self {
        Self { facts: vec![(now.wall_ms, Fact::Other)], last: now }
    }

    /// How many facts there are.
    pub const fn len(&self) -> usize {
        self.facts.len()
    }

    /// Nothing happened.
    pub const fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// A run begins.
    pub fn begin(&mut self, now: Reading, run: usize, key: Key, content: u8, rule: u8) {
        self.clock(now);
        self.add(now, Fact::Began { run, key, content, rule });
    }

    /// A run ends; what is recorded, if it was open.
    pub fn end(
        &mut self,
        now: Reading,
        run: usize,
        outcome: Outcome,
        content: u8,
    ) -> Option<Outcome> {
        self.clock(now);
        let began = self.facts.iter().find_map(|(_, fact)| match fact {
            Fact::Began { run: id, content, .. } if *id == run => Some(*content),
            _ => None,
        })?;
        if self.ended(run).is_some() {
            return None;
        }
        let changed = outcome == Outcome::Passed && content != began;
        let outcome = if changed { Outcome::SubjectChanged } else { outcome };
        self.add(now, Fact::Ended { run, outcome });
        Some(outcome)
    }

    /// The owner revokes a run; false if there is none.
    pub fn revoke(&mut self, now: Reading, run: usize) -> bool {
        self.clock(now);
        let known = self.has(|fact| matches!(fact, Fact::Began { run: id, .. } if *id == run));
        if known {
            self.add(now, Fact::Revoked { run });
        }
        known
    }

    /// The owner accepts a policy.
    pub fn accept(&mut self, now: Reading, policy: u8) {
        self.clock(now);
        self.add(now, Fact::Accepted { policy });
    }

    /// The owner sets the clock's matter right; false if there is none.
    pub fn resolve_clock(&mut self, now: Reading) -> bool {
        self.clock(now);
        let needed = self.distrusted();
        if needed {
            self.add(now, Fact::Resolved { cause: Cause::Clock });
        }
        needed
    }

    /// Something without a meaning of its own is recorded, or refused.
    pub fn other(&mut self, now: Reading, recorded: bool) {
        self.clock(now);
        if recorded {
            self.add(now, Fact::Other);
        }
    }

    /// Another writer opens the ledger. It has the clock of the head, and finds facts from `first` on unacknowledged.
    pub fn reopen(&mut self, last: Reading, now: Reading, first: Option<usize>) {
        self.last = last;
        self.clock(now);
        if let Some(first) = first {
            self.add(now, Fact::Recovered { first });
        }
    }

    /// All but the first facts are lost, and the owner goes on.
    pub fn lose(&mut self, now: Reading, keep: usize, cause: Cause) {
        self.facts.truncate(keep);
        self.add(now, Fact::Resolved { cause });
        self.last = now;
    }

    /// The policy in force.
    pub fn policy(&self) -> Option<u8> {
        let mut accepted = Vec::new();
        for (at, (_, fact)) in self.facts.iter().enumerate() {
            match *fact {
                Fact::Accepted { policy } => accepted.push((at, policy)),
                Fact::Recovered { first } => accepted.retain(|(at, _)| *at < first),
                Fact::Resolved { cause: Cause::Moved | Cause::Clock } => {}
                Fact::Resolved { .. } if self.resolved_at(at) => accepted.clear(),
                _ => {}
            }
        }
        accepted.last().map(|(_, policy)| *policy)
    }

    /// The reason code.
    pub fn answer(&self, asked: &Asked) -> &'static str {
        let newest = self.facts.iter().enumerate().rev().find_map(|(at, (_, fact))| match *fact {
            Fact::Began { run, key, content, rule } if key == asked.key => {
                Some((at, run, content, rule))
            }
            _ => None,
        });
        let Some((began_at, run, content, rule)) = newest else { return "never_ran" };
        if self.has(|fact| matches!(fact, Fact::Revoked { run: id } if *id == run)) {
            return "revoked";
        }
        let Some((ended_at, outcome)) = self.ended(run) else { return "incomplete" };
        if let Some(wrong) = wrong(outcome) {
            return wrong;
        }
        if content != asked.content {
            return "stale";
        }
        if let Some(wrong) = self.went_wrong_meanwhile(asked.key, content, began_at) {
            return wrong;
        }
        if (began_at..self.len()).any(|at| self.resolved_at(at)) {
            return "voided";
        }
        if rule != asked.rule {
            return "rule_changed";
        }
        let Some(lifetime_ms) = asked.lifetime_ms else { return "passed" };
        let time_ms = self.time_at(self.len());
        if self.distrusted() || time_ms.saturating_sub(asked.now_ms) > 300_000 {
            return "clock_jumped";
        }
        let age_ms = asked.now_ms.max(time_ms) - self.time_at(ended_at + 1);
        if age_ms > lifetime_ms { "expired" } else { "passed" }
    }

    /// A run of the same step, subject and content that began before the newest and ended, not well, after it began.
    fn went_wrong_meanwhile(&self, asked: Key, on: u8, newest: usize) -> Option<&'static str> {
        let began_before = |id: usize| {
            self.facts.iter().take(newest).any(|(_, fact)| {
                matches!(*fact, Fact::Began { run, key, content, .. }
                    if run == id && key == asked && content == on)
            })
        };
        self.facts.iter().skip(newest).rev().find_map(|(_, fact)| match *fact {
            Fact::Ended { run, outcome } if began_before(run) => wrong(outcome),
            _ => None,
        })
    }

    /// At this place the owner went on after a loss, and nobody found later that this was never acknowledged.
    fn resolved_at(&self, at: usize) -> bool {
        let undone = self
            .facts
            .iter()
            .skip(at)
            .any(|(_, fact)| matches!(fact, Fact::Recovered { first } if *first <= at));
        matches!(self.facts.get(at), Some((_, Fact::Resolved { .. }))) && !undone
    }

    fn ended(&self, run: usize) -> Option<(usize, Outcome)> {
        self.facts.iter().enumerate().find_map(|(at, (_, fact))| match *fact {
            Fact::Ended { run: id, outcome } if id == run => Some((at, outcome)),
            _ => None,
        })
    }

    /// The ledger's time after the first `count` facts: the greatest clock since the owner last resolved something, unless by
    /// then that was found never to have been acknowledged.
    fn time_at(&self, count: usize) -> u64 {
        let facts = || self.facts.iter().enumerate().take(count);
        let stands = |at: usize| {
            facts().skip(at).all(|(_, (_, fact))| match fact {
                Fact::Recovered { first } => *first > at,
                _ => true,
            })
        };
        facts().fold(0, |time_ms, (at, (raw_ms, fact))| match fact {
            Fact::Resolved { .. } if stands(at) => *raw_ms,
            _ => time_ms.max(*raw_ms),
        })
    }

    fn distrusted(&self) -> bool {
        (0..self.len()).fold(false, |distrusted, at| match self.facts.get(at) {
            Some((_, Fact::Jumped)) => true,
            _ if self.resolved_at(at) => false,
            _ => distrusted,
        })
    }

    fn clock(&mut self, now: Reading) {
        let last = std::mem::replace(&mut self.last, now);
        let back = self.time_at(self.len()).saturating_sub(now.wall_ms) > 300_000;
        let same_boot = last.boot_id == now.boot_id && last.boot_ms > 0 && now.boot_ms > 0;
        let (wall, boot) = (
            i128::from(now.wall_ms) - i128::from(last.wall_ms),
            i128::from(now.boot_ms) - i128::from(last.boot_ms),
        );
        if (back || same_boot && wall - boot > 86_400_000) && !self.distrusted() {
            self.add(now, Fact::Jumped);
        }
    }

    fn add(&mut self, now: Reading, fact: Fact) {
        self.facts.push((now.wall_ms, fact));
    }

    fn has(&self, is: impl Fn(&Fact) -> bool) -> bool {
        self.facts.iter().any(|(_, fact)| is(fact))
    }
}

fn wrong(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Failed => Some("failed"),
        Outcome::Errored => Some("errored"),
        Outcome::Denied => Some("denied"),
        Outcome::TimedOut => Some("timed_out"),
        Outcome::SubjectChanged => Some("subject_changed_during_run"),
        Outcome::Passed => None,
    }
}

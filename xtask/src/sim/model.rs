//! What has to be true, told as plainly as possible: a list of what was acknowledged, a set of what was tried, and the
//! answer that follows from the events of a ledger by walking through all of them.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::{Digest, Event, Outcome, Reason, Revokes};

/// What was asked of the ledger so far.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Acknowledged, by index: these are there for ever.
    acknowledged: BTreeMap<u64, String>,
    /// Asked for, acknowledged or not: nothing else may be there.
    tried: BTreeSet<String>,
}

/// One event as the ledger tells it.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) index: u64,
    pub(super) words: String,
    pub(super) fact: Fact,
}

/// What an event says of a run.
#[derive(Debug)]
pub(super) enum Fact {
    Began {
        subject: String,
        content: Digest,
    },
    Ended {
        run: u64,
        outcome: Outcome,
    },
    Revoked {
        run: u64,
    },
    /// Passes before it are void.
    Voids,
    Other,
}

impl Model {
    pub(super) fn try_for(&mut self, words: &str) {
        self.tried.insert(words.to_owned());
    }

    pub(super) fn acknowledge(&mut self, index: u64, words: &str) {
        self.acknowledged.insert(index, words.to_owned());
    }

    /// Everything acknowledged is there, and everything that is there was asked for.
    pub(super) fn check(&self, told: &[Told]) -> Result<(), String> {
        let by_index: BTreeMap<u64, &str> =
            told.iter().map(|event| (event.index, event.words.as_str())).collect();
        for (index, words) in &self.acknowledged {
            let found = by_index.get(index).copied().unwrap_or("nothing");
            if found != words {
                return Err(format!("event {index} was acknowledged as `{words}`, found {found}"));
            }
        }
        let unasked = told.iter().find(|event| {
            !matches!(event.fact, Fact::Other | Fact::Voids) && !self.tried.contains(&event.words)
        });
        match unasked {
            None => Ok(()),
            Some(event) => Err(format!("nobody asked for event {}: {}", event.index, event.words)),
        }
    }
}

/// How an event is told. The index of the run stands for the run.
pub(super) fn tell(index: u64, event: &Event<'_>) -> Told {
    let (words, fact) = match event {
        Event::Began(began) => {
            let (subject, content) = (began.subject.to_owned(), began.subject_digest);
            (format!("began {subject} {}", content.short()), Fact::Began { subject, content })
        }
        Event::Ended(ended) => {
            let (run, outcome) = (ended.run, ended.outcome);
            (format!("ended {run} {outcome}"), Fact::Ended { run, outcome })
        }
        Event::Revoked(revoked) => match revoked.what {
            Revokes::Run => {
                let run = revoked.target;
                (format!("revoked {run}"), Fact::Revoked { run })
            }
            Revokes::Record
            | Revokes::Channel
            | Revokes::Author
            | Revokes::Mandate
            | Revokes::Adapter => (format!("revoked {}", revoked.what), Fact::Other),
        },
        Event::Resolved { .. } => ("resolved".to_owned(), Fact::Voids),
        Event::Policy { digest, .. } => (format!("policy {}", digest.short()), Fact::Other),
        Event::Genesis { .. }
        | Event::Named { .. }
        | Event::Clock { .. }
        | Event::Recovered { .. }
        | Event::Rotated { .. }
        | Event::Opened(_)
        | Event::Observed(_)
        | Event::Wrote(_)
        | Event::Superseded(_)
        | Event::Quarantined(_)
        | Event::Released(_)
        | Event::Granted(_)
        | Event::Consented(_)
        | Event::Spent(_)
        | Event::Decided(_)
        | Event::Enrolled(_) => (event.kind().word().to_owned(), Fact::Other),
    };
    Told { index, words, fact }
}

/// The reason a grounding check has to give, without a lifetime and with an unchanged rule.
pub(super) fn reason(told: &[Told], subject: &str, content: Digest) -> Reason {
    let (mut newest, mut outcome, mut revoked, mut void) = (None, None, false, 0);
    // Earlier runs of this subject with their content, and how one of them went wrong beside the newest.
    let (mut earlier, mut beside) = (Vec::new(), None);
    for event in told {
        match &event.fact {
            Fact::Began { subject: name, content } if name == subject => {
                earlier.extend(newest);
                (newest, outcome, revoked) = (Some((event.index, *content)), None, false);
                beside = None;
            }
            Fact::Ended { run, outcome: how }
                if *how != Outcome::Passed
                    && earlier.iter().any(|(it, on)| {
                        it == run && newest.is_some_and(|(_, content)| content == *on)
                    }) =>
            {
                beside = Some(*how);
            }
            Fact::Ended { run, outcome: how } if newest.is_some_and(|(it, _)| it == *run) => {
                outcome = Some(*how);
            }
            Fact::Revoked { run } if newest.is_some_and(|(it, _)| it == *run) => revoked = true,
            Fact::Voids => void = event.index,
            Fact::Began { .. } | Fact::Ended { .. } | Fact::Revoked { .. } | Fact::Other => {}
        }
    }
    let Some((run, ran_on)) = newest else { return Reason::NeverRan };
    if revoked {
        return Reason::Revoked;
    }
    match outcome {
        None => Reason::Incomplete,
        Some(Outcome::Passed) if ran_on != content => Reason::Stale,
        Some(Outcome::Passed) => match beside.map(negative) {
            Some(reason) => reason,
            None if run < void => Reason::Voided,
            None => Reason::Passed,
        },
        Some(how) => negative(how),
    }
}

fn negative(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Failed => Reason::Failed,
        Outcome::Errored => Reason::Errored,
        Outcome::Denied => Reason::Denied,
        Outcome::TimedOut => Reason::TimedOut,
        Outcome::SubjectChanged => Reason::SubjectChanged,
        Outcome::Passed => Reason::Passed,
    }
}

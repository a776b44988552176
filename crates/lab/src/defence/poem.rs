//! The paper's defence (arXiv 2608.16032, section IV) over the paper's own ledger: what its text says and nothing more. Insecure
//! on purpose where the paper is: fields without lengths, no outcome, no content, nothing outside that remembers the head.
//! `bench/poem_reference.py` is the same in Python, for the times.

use actum_core::{Call, hex};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{Defence, Ended, Meddle, Ruling, Setup, StepSpec, Worked};

const KEY: [u8; 32] = *b"the runtime's key; no attacker's";
const GENESIS: [u8; 32] = [0; 32];

/// How much of a ledger is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Whether the step ran at all: the ablation of the paper's table III.
    Naive,
    /// Algorithm 1: an intact chain with an event of this step and subject.
    Paper,
}

/// `e = (a, x, s, p, m)`.
#[derive(Debug, Clone)]
struct Event {
    action: String,
    subject: String,
    index: u64,
    previous: [u8; 32],
    mac: [u8; 32],
}

impl Event {
    fn sealed(action: &str, subject: &str, index: u64, previous: [u8; 32]) -> Self {
        let mac = mac_of(action, subject, index, &previous);
        Self { action: action.to_owned(), subject: subject.to_owned(), index, previous, mac }
    }
}

/// `m_i = HMAC_k(a || x || s || p)`, without lengths, as equation 1 has it.
fn mac_of(action: &str, subject: &str, index: u64, previous: &[u8; 32]) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).expect("HMAC takes keys of every length");
    mac.update(action.as_bytes());
    mac.update(subject.as_bytes());
    mac.update(index.to_string().as_bytes());
    mac.update(previous);
    mac.finalize().into_bytes().into()
}

/// The paper's defence, or its ablation.
#[derive(Debug)]
pub struct Poem {
    strictness: Strictness,
    steps: Vec<StepSpec>,
    ledger: Vec<Event>,
}

impl Poem {
    /// With an empty ledger.
    pub fn new(setup: &Setup, strictness: Strictness) -> Self {
        Self { strictness, steps: setup.steps.clone(), ledger: Vec::new() }
    }

    fn append(&mut self, step: &str, subject: &str) {
        let index = u64::try_from(self.ledger.len()).unwrap_or(u64::MAX);
        let previous = self.ledger.last().map_or(GENESIS, |event| event.mac);
        self.ledger.push(Event::sealed(step, subject, index, previous));
    }

    /// Whether each event follows the one before and has the MAC that the key gives.
    fn verify_chain(&self) -> bool {
        let mut expected = GENESIS;
        self.ledger.iter().all(|event| {
            let follows = event.previous == expected;
            expected = event.mac;
            follows
                && mac_of(&event.action, &event.subject, event.index, &event.previous) == event.mac
        })
    }

    fn contains(&self, step: &str, subject: &str) -> bool {
        match self.strictness {
            Strictness::Naive => self.ledger.iter().any(|event| event.action == step),
            Strictness::Paper => {
                self.verify_chain()
                    && self
                        .ledger
                        .iter()
                        .any(|event| event.action == step && event.subject == subject)
            }
        }
    }
}

impl Defence for Poem {
    fn skip(&mut self, step: &StepSpec, subject: &str, content: &str) -> Worked<Ruling> {
        if self.contains(&step.step, subject) {
            return Ok(Ruling::Go);
        }
        Ok(Ruling::Perform(step.call(subject, content)))
    }

    fn ended(&mut self, call: &Call, _how: Ended) -> Worked<()> {
        // "Exactly when a safety step S genuinely runs, it appends the corresponding event": how it went is not asked.
        let ran = self.steps.iter().find_map(|step| {
            step.subject_of(call).map(|subject| (step.step.clone(), subject.to_owned()))
        });
        if let Some((step, subject)) = ran {
            self.append(&step, &subject);
        }
        Ok(())
    }

    fn meddle(&mut self, how: &Meddle) -> Worked<()> {
        match how {
            Meddle::Forge { step, subject } => {
                // Whoever has no key writes some MAC.
                self.append(step, subject);
                if let Some(event) = self.ledger.last_mut() {
                    event.mac = [0x5a; 32];
                }
            }
            Meddle::CutTo(count) => {
                self.ledger.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
            }
            Meddle::Reframe { step, subject } => {
                let whole = format!("{step}{subject}");
                let same =
                    |event: &&mut Event| format!("{}{}", event.action, event.subject) == whole;
                if let Some(event) = self.ledger.iter_mut().find(same) {
                    (event.action, event.subject) = (step.clone(), subject.clone());
                }
            }
        }
        Ok(())
    }

    fn events(&self) -> u64 {
        u64::try_from(self.ledger.len()).unwrap_or(u64::MAX)
    }

    fn head(&self) -> Option<String> {
        self.ledger.last().map(|event| hex(&event.mac))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Poem {
        let mut poem = Poem::new(&Setup::default(), Strictness::Paper);
        poem.append("validate_source", "SRC-000000");
        poem.append("validate_source", "SRC-000001");
        poem
    }

    #[test]
    fn the_mac_is_that_of_the_reference_in_python() {
        // bench/poem_reference.py: Ledger(b"the runtime's key; no attacker's"), two appends, the MAC of the second.
        insta::assert_snapshot!(filled().head().unwrap(), @"258867fabb4766ed949855d8024d6454544d3dab38bb49dcdfe92b9856309013");
    }

    #[test]
    fn a_changed_event_breaks_the_chain_and_a_cut_one_does_not() {
        let mut poem = filled();
        assert!(poem.contains("validate_source", "SRC-000001"));
        poem.meddle(&Meddle::CutTo(1)).unwrap();
        assert!(poem.verify_chain(), "a shorter chain is a chain");
        poem.meddle(&Meddle::Forge { step: "validate_source".into(), subject: "X".into() })
            .unwrap();
        assert!(!poem.verify_chain() && !poem.contains("validate_source", "SRC-000000"));
    }

    #[test]
    fn a_moved_boundary_keeps_its_mac() {
        let mut poem = Poem::new(&Setup::default(), Strictness::Paper);
        poem.append("validate", "_sourceX12");
        let moved = Meddle::Reframe { step: "validate_source".into(), subject: "X12".into() };
        poem.meddle(&moved).unwrap();
        assert!(poem.contains("validate_source", "X12"), "the paper's MAC has no lengths");
    }
}

//! Tells known, moved, changed and unknown entries apart. What the ledger knows of them comes as an argument.

use std::collections::{BTreeMap, VecDeque};

use actum_core::Digest;

use super::Entry;
use super::name::NameParts;

/// An entry that the ledger has a record of, which is not superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: Digest,
    /// Its record.
    pub record: u64,
}

/// What an entry is to the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It says what this record says, under the same headings of the same file.
    Known {
        /// The record.
        record: u64,
    },
    /// It says what this record says, under other headings of the same file. A heading says how what is below it is meant, so
    /// this is a change until the owner says otherwise.
    Moved {
        /// The record.
        record: u64,
    },
    /// It stands where the entry of this record stood, and says something else.
    Changed {
        /// The record.
        record: u64,
    },
    /// No record.
    Unknown,
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// One for each entry, in their order.
    pub states: Vec<State>,
    /// The records whose entry is not there any more, in the order of the known ones. Of a file that was not read, or has
    /// flaws, this says nothing.
    pub gone: Vec<u64>,
}

/// Compares entries with what the ledger knows. A record answers for one entry at most, so the copy of a known entry is
/// unknown; and only for one of its own file.
///
/// ```
/// use actum_store::entries::{Known, State, compare, read};
/// let before = read("MEMORY.md", b"- pay on the 1st\n- IBAN of the landlord: DE89\n");
/// let known: Vec<_> = (7..).zip(&before.entries)
///     .map(|(record, entry)| Known { name: entry.name.clone(), content: entry.content(), record })
///     .collect();
/// let after = read("MEMORY.md", b"- new\n- IBAN of the landlord: DE66\n- pay on the 1st\n");
/// let compared = compare(&after.entries, &known);
/// assert_eq!(compared.states, [
///     State::Unknown, State::Changed { record: 8 }, State::Known { record: 7 },
/// ]);
/// ```
pub fn compare(entries: &[Entry], known: &[Known]) -> Compared {
    let contents: Vec<_> = entries.iter().map(Entry::content).collect();
    let ours: Vec<_> = entries.iter().map(|entry| NameParts::of(&entry.name)).collect();
    let theirs: Vec<_> = known.iter().map(|known| NameParts::of(&known.name)).collect();
    let mut pairs = Pairs {
        states: vec![State::Unknown; entries.len()],
        open: (0..entries.len()).collect(),
        known,
        left: (0..known.len()).collect(),
    };
    let is_known = |record| State::Known { record };
    let is_changed = |record| State::Changed { record };
    pairs.pair(
        |at| Some((entries.get(at)?.name.as_str(), contents.get(at)?)),
        |at| known.get(at).map(|known| (known.name.as_str(), &known.content)),
        is_known,
    );
    pairs.pair(
        |at| Some((ours.get(at)?.place, contents.get(at)?)),
        |at| Some((theirs.get(at)?.place, &known.get(at)?.content)),
        is_known,
    );
    pairs.pair(
        |at| Some((ours.get(at)?.file, contents.get(at)?)),
        |at| Some((theirs.get(at)?.file, &known.get(at)?.content)),
        |record| State::Moved { record },
    );
    // An id keeps the whole name; otherwise the first words are what an edit leaves.
    pairs.pair(
        |at| entries.get(at).map(|entry| entry.name.as_str()),
        |at| known.get(at).map(|known| known.name.as_str()),
        is_changed,
    );
    pairs.pair(|at| ours.get(at)?.stem, |at| theirs.get(at)?.stem, is_changed);
    pairs.last_of_a_place(&ours, &theirs);
    let gone = pairs.left.iter().filter_map(|at| known.get(*at)).map(|known| known.record);
    Compared { gone: gone.collect(), states: pairs.states }
}

struct Pairs<'a> {
    states: Vec<State>,
    /// The entries that have no record yet, rising.
    open: Vec<usize>,
    known: &'a [Known],
    /// The known that have no entry yet, rising.
    left: Vec<usize>,
}

impl Pairs<'_> {
    /// Pairs what has the same key, the first with the first.
    fn pair<K: Ord>(
        &mut self,
        ours: impl Fn(usize) -> Option<K>,
        theirs: impl Fn(usize) -> Option<K>,
        state: impl Fn(u64) -> State,
    ) {
        let mut waiting: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
        for at in &self.left {
            if let Some(key) = theirs(*at) {
                waiting.entry(key).or_default().push_back(*at);
            }
        }
        let mut taken = vec![false; self.known.len()];
        let (states, known) = (&mut self.states, self.known);
        self.open.retain(|at| {
            let found = ours(*at).and_then(|key| waiting.get_mut(&key)?.pop_front());
            let Some((found, slot)) = found.zip(states.get_mut(*at)) else { return true };
            let Some(record) = known.get(found).map(|known| known.record) else { return true };
            *slot = state(record);
            if let Some(taken) = taken.get_mut(found) {
                *taken = true;
            }
            false
        });
        self.left.retain(|at| taken.get(*at) == Some(&false));
    }

    /// Where one known entry is gone under the same headings and one is new, the one became the other.
    fn last_of_a_place(&mut self, ours: &[NameParts<'_>], theirs: &[NameParts<'_>]) {
        let singles = |of: &[NameParts<'_>], open: &[usize]| {
            let mut count: BTreeMap<String, usize> = BTreeMap::new();
            for parts in open.iter().filter_map(|at| of.get(*at)) {
                *count.entry(parts.place.to_owned()).or_default() += 1;
            }
            count
        };
        let (new, gone) = (singles(ours, &self.open), singles(theirs, &self.left));
        let is_single = |place: &str| new.get(place) == Some(&1) && gone.get(place) == Some(&1);
        let place = |of: &[NameParts<'_>], at: usize| {
            of.get(at).map(|parts| parts.place.to_owned()).filter(|place| is_single(place))
        };
        self.pair(|at| place(ours, at), |at| place(theirs, at), |record| State::Changed { record });
    }
}

//! Secret-keyed 128-bit fingerprints for maps in memory: whoever picks names cannot pick collisions. Never stored.

use core::hash::{BuildHasherDefault, Hasher as StdHasher};

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use crate::keys::Keyring;

/// The fingerprint of two numbers and a text.
pub(crate) type Fingerprint = u128;

/// One fetch from memory less than from an `IndexMap`, which looks up where to look.
#[expect(clippy::disallowed_types, reason = "never walked through, so its order decides nothing")]
pub(crate) type ByFingerprint<T> =
    std::collections::HashMap<Fingerprint, T, BuildHasherDefault<LowBits>>;

/// What a fingerprint is of; one kind never meets another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// Namespace, step, subject.
    Run = 1,
    /// Namespace, 0, name of an entry.
    Entry = 2,
}

pub(crate) fn fingerprint(
    keys: &Keyring,
    of: Of,
    first: u32,
    second: u32,
    text: &str,
) -> Fingerprint {
    let (low, high) = keys.index_key();
    let mut hasher = SipHasher24::new_with_keys(low, high);
    hasher.write(&[of as u8]);
    hasher.write(&first.to_be_bytes());
    hasher.write(&second.to_be_bytes());
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}

/// The fingerprint is uniform and secret already; hashing it again would only cost.
#[derive(Debug, Default)]
pub(crate) struct LowBits(u64);

impl StdHasher for LowBits {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
    fn write_u128(&mut self, value: u128) {
        self.0 = u64::try_from(value & u128::from(u64::MAX)).unwrap_or_default();
    }
}

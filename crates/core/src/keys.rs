//! The secrets of a ledger: roots, the keys derived from them, and the key file that holds the roots. Reads no file itself.

use core::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use crate::canon::{Mac, hex, unhex};
use crate::event::LedgerId;

/// Bytes in a key file.
pub const KEY_FILE_MAX: usize = 64 * 1024;
/// Generations in a key file: what its limit in bytes has room for.
pub const GENERATIONS_MAX: usize = 512;

/// Thirty-two random bytes from which every key of one generation is derived. Erased when dropped, never printed.
#[derive(Clone)]
pub struct Root(Zeroizing<[u8; 32]>);

impl Root {
    /// Takes 32 random bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    fn derive<const N: usize>(&self, label: &str, ledger: LedgerId) -> Zeroizing<[u8; N]> {
        let mut okm = Zeroizing::new([0; N]);
        let info = [label.as_bytes(), ledger.as_bytes()];
        let done = Hkdf::<Sha256>::new(None, self.0.as_slice())
            .expand_multi_info(&info, okm.as_mut_slice());
        assert!(done.is_ok(), "HKDF-SHA256 gives up to 8,160 bytes");
        okm
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root(..)")
    }
}

/// HMAC-SHA256 (RFC 2104) under one derived key. Erased when dropped, never printed.
#[derive(Clone)]
pub(crate) struct MacKey(Hmac<Sha256>);

impl MacKey {
    fn new(key: &[u8; 32]) -> Self {
        let hmac = Hmac::<Sha256>::new_from_slice(key);
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length (RFC 2104)")]
        Self(hmac.expect("a key of 32 bytes"))
    }

    pub(crate) fn mac(&self, message: &[u8]) -> Mac {
        let mut hmac = self.0.clone();
        hmac.update(message);
        Mac(hmac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

#[derive(Debug, Clone)]
struct Generation {
    event: MacKey,
    anchor: MacKey,
}

/// The keys of every generation of one ledger.
#[derive(Debug, Clone)]
pub struct Keyring {
    ledger: LedgerId,
    generations: Vec<Generation>,
    active: u32,
    record: MacKey,
    index: Zeroizing<[u8; 16]>,
}

impl Keyring {
    /// Derives all keys of a key file.
    pub fn new(file: &KeyFile) -> Self {
        let generation = |root: &Root| Generation {
            event: MacKey::new(&root.derive("actum/event/v1", file.ledger)),
            anchor: MacKey::new(&root.derive("actum/anchor/v1", file.ledger)),
        };
        Self {
            ledger: file.ledger,
            generations: file.roots.iter().map(generation).collect(),
            active: file.active,
            record: MacKey::new(&file.first().derive("actum/record/v1", file.ledger)),
            index: file.first().derive("actum/index/v1", file.ledger),
        }
    }

    /// The ledger these keys are for.
    pub const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    /// The generation in force, as the key file says.
    pub const fn active(&self) -> u32 {
        self.active
    }

    /// The id of a generation's key; `None` if there is no such root.
    pub fn key_id(&self, generation: u32) -> Option<[u8; 16]> {
        let mac = self.event(generation)?.mac(b"actum/key-id/v1");
        mac.as_bytes().first_chunk().copied()
    }

    pub(crate) fn event(&self, generation: u32) -> Option<&MacKey> {
        self.generations.get(generation as usize).map(|keys| &keys.event)
    }

    pub(crate) fn anchor(&self, generation: u32) -> Option<&MacKey> {
        self.generations.get(generation as usize).map(|keys| &keys.anchor)
    }

    /// The key of the fingerprints of records, the same in every generation.
    pub(crate) const fn record(&self) -> &MacKey {
        &self.record
    }

    /// Two halves of the key of in-memory fingerprints.
    pub(crate) fn index_key(&self) -> (u64, u64) {
        let mut reader = crate::canon::Reader(self.index.as_slice());
        (reader.u64().unwrap_or_default(), reader.u64().unwrap_or_default())
    }
}

/// What a key file holds: the roots of one ledger, and which is in force.
#[derive(Debug, Clone)]
pub struct KeyFile {
    ledger: LedgerId,
    active: u32,
    /// INVARIANT(roots): never empty, and `active` is one of them.
    roots: Vec<Root>,
}

impl KeyFile {
    /// A first generation.
    pub fn new(ledger: LedgerId, root: Root) -> Self {
        Self { ledger, active: 0, roots: vec![root] }
    }

    /// The ledger.
    pub const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    /// The generation in force.
    pub const fn active(&self) -> u32 {
        self.active
    }

    /// This file with one more root, not yet in force. A root that an interrupted rotation left is replaced.
    ///
    /// `None` if it holds [`GENERATIONS_MAX`] roots already.
    pub fn with_next(&self, root: Root) -> Option<Self> {
        let mut next = self.clone();
        next.roots.truncate(self.active as usize + 1);
        next.roots.push(root);
        (next.roots.len() <= GENERATIONS_MAX).then_some(next)
    }

    /// This file with `generation` in force; `None` if it has no such root or that would be a step back.
    pub fn with_active(&self, generation: u32) -> Option<Self> {
        let known = (generation as usize) < self.roots.len() && generation >= self.active;
        known.then(|| Self { active: generation, ..self.clone() })
    }

    /// The text of the file.
    pub fn to_text(&self) -> Zeroizing<String> {
        use fmt::Write as _;
        // Reserved whole, so that no smaller copy of a root is left behind by growth.
        let mut text = Zeroizing::new(String::with_capacity(128 + self.roots.len() * 72));
        let head = format!("actum-key 1\nledger {}\nactive {}\n", self.ledger, self.active);
        text.push_str(&head);
        for root in &self.roots {
            let mut digits = Zeroizing::new(hex(root.0.as_slice()));
            let _infallible = writeln!(text, "root {}", digits.as_str());
            digits.zeroize();
        }
        text
    }

    /// Reads the text of a key file.
    ///
    /// # Errors
    /// The first thing that is not as `docs/formats/ledger.md` says. No error text holds a secret.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        if text.len() > KEY_FILE_MAX {
            return Err(KeyFileError::Long);
        }
        let mut lines: Vec<&str> = text.split('\n').collect();
        if lines.first() != Some(&"actum-key 1") {
            return Err(KeyFileError::NotAKeyFile);
        }
        let at = lines.len();
        if lines.pop() != Some("") {
            return Err(KeyFileError::Ends { at });
        }
        let digits = |at: usize, word| {
            let line = lines.get(at - 1).and_then(|line: &&str| line.strip_prefix(word));
            let digits = line.and_then(|rest: &str| rest.strip_prefix(' '));
            digits.ok_or(KeyFileError::Word { at, word })
        };
        let ledger = LedgerId::from_hex(digits(2, "ledger")?)
            .ok_or(KeyFileError::Hex { at: 2, count: 32 })?;
        let active = generation(digits(3, "active")?).ok_or(KeyFileError::Generation { at: 3 })?;
        let words: Result<Vec<_>, _> = (4..=lines.len()).map(|at| digits(at, "root")).collect();
        let root = |(at, word): (usize, &str)| {
            let bytes = unhex::<32>(word).ok_or(KeyFileError::Hex { at, count: 64 })?;
            Ok(Root::from_bytes(bytes))
        };
        let roots: Vec<Root> = (4..).zip(words?).map(root).collect::<Result<_, _>>()?;
        if active as usize >= roots.len() {
            return Err(KeyFileError::NoActiveRoot { active });
        }
        Ok(Self { ledger, active, roots })
    }

    fn first(&self) -> &Root {
        #[expect(clippy::indexing_slicing, reason = "INVARIANT(roots): never empty")]
        &self.roots[0]
    }
}

/// A decimal number without sign or leading zero.
fn generation(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain && canonical)
}

/// Why a text is not a key file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Over [`KEY_FILE_MAX`] bytes.
    #[error("over {KEY_FILE_MAX} bytes")]
    Long,
    /// The first line is another.
    #[error("not a key file")]
    NotAKeyFile,
    /// The last line has no newline: something was cut.
    #[error("line {at}: the bytes end inside it")]
    Ends {
        /// Its number, from 1.
        at: usize,
    },
    /// A line that begins with another word.
    #[error("line {at}: expected {word}")]
    Word {
        /// Its number, from 1.
        at: usize,
        /// What should stand there.
        word: &'static str,
    },
    /// A value that is not so many hexadecimal digits.
    #[error("line {at}: not {count} hexadecimal digits")]
    Hex {
        /// The line's number, from 1.
        at: usize,
        /// How many there should be.
        count: usize,
    },
    /// Not the number of a generation.
    #[error("line {at}: not a generation")]
    Generation {
        /// The line's number, from 1.
        at: usize,
    },
    /// The generation in force has no root.
    #[error("line 3: no root for generation {active}")]
    NoActiveRoot {
        /// The generation named.
        active: u32,
    },
}

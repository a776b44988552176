//! Puts bytes together that are hashed, and takes them apart again: length-framed and domain-separated. Knows no kinds and
//! no keys. The encoding is injective: `docs/formats/ledger.md` states it, a property test holds it.

use core::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A SHA-256 digest over a domain and a list of parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `parts` under `domain`: every length is hashed, so no two lists share an input.
    ///
    /// ```
    /// use actum_core::Digest;
    /// let shifted = Digest::of("example/v1", &[b"validateX", b"12"]);
    /// assert_ne!(Digest::of("example/v1", &[b"validate", b"X12"]), shifted);
    /// ```
    pub fn of(domain: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::new(domain, parts.len());
        for part in parts {
            hasher.part(part);
        }
        hasher.finish()
    }

    /// SHA-256 of bare bytes, as `sha256sum` prints it: for what a person may want to compare.
    pub fn plain(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Takes 32 bytes that already are a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 hexadecimal digits; anything else is `None`.
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }

    /// The first 12 hexadecimal digits: enough for a person, never for a decision.
    pub fn short(&self) -> String {
        let mut text = hex(&self.0);
        text.truncate(12);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// The digest of a text that was put before a model or kept for it: what the ledger holds in the text's place.
///
/// ```
/// use actum_core::{Digest, content_digest};
/// assert_eq!(content_digest("a note"), Digest::of("actum/content/v1", &[b"a note"]));
/// ```
pub fn content_digest(text: &str) -> Digest {
    Digest::of("actum/content/v1", &[text.as_bytes()])
}

/// Computes [`Digest::plain`] of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct PlainHasher(Sha256);

impl PlainHasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Debug for PlainHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainHasher")
    }
}

/// Computes [`Digest::of`] for parts that are not in memory at once. The number of parts is said first.
#[derive(Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts a digest of `parts` parts.
    pub fn new(domain: &str, parts: usize) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.part(domain.as_bytes());
        hasher.length(parts as u64);
        hasher
    }

    /// Adds one part.
    pub fn part(&mut self, bytes: &[u8]) {
        self.length(bytes.len() as u64);
        self.0.update(bytes);
    }

    /// The digest of what was added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    fn length(&mut self, length: u64) {
        self.0.update(length.to_be_bytes());
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher")
    }
}

/// The message authentication code of one event. Compared in constant time.
#[derive(Clone, Copy, Eq)]
pub struct Mac(pub(crate) [u8; 32]);

impl Mac {
    /// What stands before the first event.
    pub const ZERO: Self = Self([0; 32]);

    /// Takes 32 bytes as a MAC that was read and not yet checked.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for Mac {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = hex(&self.0);
        write!(f, "Mac({})", text.get(..12).unwrap_or_default())
    }
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Reads exactly `N` bytes of lower- or upper-case hexadecimal digits.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        let value = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
        *byte = u8::try_from(value).ok()?;
    }
    Some(bytes)
}

/// Writes fields in order. The caller has checked the limits: lengths always fit their frame.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    pub(crate) fn u16(&mut self, value: u16) {
        self.0.extend(value.to_be_bytes());
    }
    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_be_bytes());
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_be_bytes());
    }
    pub(crate) fn i32(&mut self, value: i32) {
        self.0.extend(value.to_be_bytes());
    }
    pub(crate) fn fixed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    /// A `u32` length, then the bytes.
    pub(crate) fn framed_long(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.fixed(bytes);
    }
    /// A number of things as a `u32`.
    pub(crate) fn count(&mut self, count: usize) {
        let count = u32::try_from(count);
        assert!(count.is_ok(), "a checked value fits its frame");
        self.u32(count.unwrap_or_default());
    }
    /// An index, or all ones for none.
    pub(crate) fn maybe(&mut self, value: Option<u64>) {
        self.u64(value.unwrap_or(u64::MAX));
    }
    /// How many elements follow, as a `u16`.
    pub(crate) fn list(&mut self, count: usize) {
        let count = u16::try_from(count);
        assert!(count.is_ok(), "every list has its own, smaller limit");
        self.u16(count.unwrap_or_default());
    }
    /// A `u16` length, then the bytes.
    pub(crate) fn framed(&mut self, bytes: &[u8]) {
        let length = u16::try_from(bytes.len());
        assert!(length.is_ok(), "a checked name fits its frame");
        self.u16(length.unwrap_or_default());
        self.fixed(bytes);
    }
}

/// Reads fields in order; `None` when the bytes end too soon.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }
    pub(crate) fn digest(&mut self) -> Option<Digest> {
        self.array().map(Digest)
    }
    pub(crate) fn mac(&mut self) -> Option<Mac> {
        self.array().map(Mac)
    }
    /// An index, or all ones for none.
    #[expect(clippy::option_option, reason = "the bytes end, none, or an index: three things")]
    pub(crate) fn maybe(&mut self) -> Option<Option<u64>> {
        Some(Some(self.u64()?).filter(|&value| value != u64::MAX))
    }
    /// How many elements follow, at most `limit`.
    pub(crate) fn list(&mut self, limit: usize) -> Option<usize> {
        Some(usize::from(self.u16()?)).filter(|&count| count <= limit)
    }
    /// A framed value of at most `limit` bytes.
    pub(crate) fn framed(&mut self, limit: usize) -> Option<&'a [u8]> {
        let length = usize::from(self.u16()?);
        if length > limit {
            return None;
        }
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
    pub(crate) fn text(&mut self, limit: usize) -> Option<&'a str> {
        core::str::from_utf8(self.framed(limit)?).ok()
    }
    /// Every byte was read.
    pub(crate) fn finished(&self) -> bool {
        self.0.is_empty()
    }
}

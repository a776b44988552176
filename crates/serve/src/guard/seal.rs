//! States that a client carries from a question to its answer. What comes back is the client's word: a state counts only if we
//! sealed it for this principal, this method and these very arguments, before it ran out, and once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use actum_core::{Digest, hex};
use actum_store::random;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::pool::lock;
use super::port::PortError;

/// How long an answer is waited for.
pub const ASKED_FOR: Duration = Duration::from_mins(10);
/// Questions that can be open at once.
pub const ASKED_MAX: usize = 1024;
/// What a state of ours begins with.
const MARK: &str = "actum1.";

/// What a state is bound to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound<'a> {
    /// Whose question it was.
    pub(crate) principal: &'a str,
    /// In answer to what.
    pub(crate) method: &'a str,
    /// The digest of the call.
    pub(crate) call: Digest,
}

/// The states that are out.
pub(crate) struct Seals<T> {
    key: Zeroizing<[u8; 32]>,
    out: Mutex<BTreeMap<String, (Instant, T)>>,
}

impl<T> fmt::Debug for Seals<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seals").finish_non_exhaustive()
    }
}

/// What a state that came back is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Back<T> {
    /// Not one of ours.
    Foreign,
    /// One of ours that does not count: altered, for another call, too late, or for the second time.
    Void,
    /// It counts, now and never again.
    Good(T),
}

impl<T> Seals<T> {
    pub(crate) fn new() -> Result<Self, PortError> {
        let key = random::<32>().map_err(|error| PortError::of(&error))?;
        Ok(Self { key: Zeroizing::new(*key), out: Mutex::new(BTreeMap::new()) })
    }

    /// A state to give out. What runs out, or is too much, comes back to be ended.
    pub(crate) fn seal(
        &self,
        bound: Bound<'_>,
        held: T,
        now: Instant,
    ) -> Result<(String, Vec<T>), (PortError, T)> {
        let nonce = match random::<16>() {
            Ok(nonce) => hex(&*nonce),
            Err(error) => return Err((PortError::of(&error), held)),
        };
        let mut out = lock(&self.out);
        let mut gone = Vec::new();
        let late: Vec<String> = out
            .iter()
            .filter(|(_, (until, _))| *until < now)
            .map(|(nonce, _)| nonce.clone())
            .collect();
        for nonce in late {
            gone.extend(out.remove(&nonce).map(|(_, held)| held));
        }
        if out.len() >= ASKED_MAX {
            let what = format!("{ASKED_MAX} questions are open already");
            return Err((PortError { what }, held));
        }
        let state = format!("{MARK}{nonce}.{}", self.mac(&nonce, bound));
        out.insert(nonce, (now + ASKED_FOR, held));
        Ok((state, gone))
    }

    /// What a state stands for that a client brought back.
    pub(crate) fn open(&self, state: &str, bound: Bound<'_>, now: Instant) -> Back<T> {
        let Some((nonce, mac)) = state.strip_prefix(MARK).and_then(|rest| rest.split_once('.'))
        else {
            return Back::Foreign;
        };
        let right = self.mac(nonce, bound);
        if !bool::from(right.as_bytes().ct_eq(mac.as_bytes())) {
            return Back::Void;
        }
        match lock(&self.out).remove(nonce) {
            Some((until, held)) if until >= now => Back::Good(held),
            Some(_) | None => Back::Void,
        }
    }

    /// Everything that is out, at the end.
    pub(crate) fn drain(&self) -> Vec<T> {
        core::mem::take(&mut *lock(&self.out)).into_values().map(|(_, held)| held).collect()
    }

    fn mac(&self, nonce: &str, bound: Bound<'_>) -> String {
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&*self.key) else { return String::new() };
        let parts = [
            nonce.as_bytes(),
            bound.principal.as_bytes(),
            bound.method.as_bytes(),
            bound.call.as_bytes(),
        ];
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        hex(&mac.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_once_for_its_call_and_principal_and_not_for_ever() {
        let seals = Seals::new().unwrap();
        let now = Instant::now();
        let call = Digest::plain(b"a call");
        let bound = Bound { principal: "ann", method: "tools/call", call };
        let sealed = || seals.seal(bound, 7, now).unwrap().0;
        let state = sealed();
        let others = [
            Bound { principal: "eve", ..bound },
            Bound { method: "prompts/get", ..bound },
            Bound { call: Digest::plain(b"another call"), ..bound },
        ];
        for other in others {
            assert_eq!(seals.open(&state, other, now), Back::Void);
        }
        let mut altered = state.clone();
        let other = if state.get(8..9) == Some("0") { "1" } else { "0" };
        altered.replace_range(8..9, other);
        assert_eq!(seals.open(&altered, bound, now), Back::Void);
        assert_eq!(seals.open(&state, bound, now), Back::Good(7));
        assert_eq!(seals.open(&state, bound, now), Back::Void);
        let late = sealed();
        assert_eq!(seals.open(&late, bound, now + ASKED_FOR + Duration::from_secs(1)), Back::Void);
        assert_eq!(seals.open("abc", bound, now), Back::Foreign);
    }

    #[test]
    fn what_ran_out_is_given_back_and_too_many_are_refused() {
        let seals = Seals::new().unwrap();
        let now = Instant::now();
        let bound = Bound { principal: "", method: "", call: Digest::plain(b"") };
        for number in 0..ASKED_MAX {
            seals.seal(bound, number, now).unwrap();
        }
        assert!(seals.seal(bound, 0, now).is_err());
        let (_, gone) = seals.seal(bound, 0, now + ASKED_FOR + Duration::from_secs(1)).unwrap();
        assert_eq!((gone.len(), seals.drain().len()), (ASKED_MAX, 1));
    }
}

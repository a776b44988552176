#![cfg(test)]
//! The one integration binary of this crate.

mod anchor;
mod clock;
mod commit;
mod durable;
mod encoding;
mod gate;
mod ground;
mod keys;
mod looks;
mod model;
mod origin;
mod policy;
mod policy_tools;
mod provenance;
mod requests;
mod value;
mod vectors;

use actum_core::{Digest, KeyFile, Keyring, LedgerId, Root};
use proptest::test_runner::{Config, FileFailurePersistence};

const LEDGER: LedgerId = LedgerId::from_bytes(*b"a ledger's name.");

/// 256 cases; a seed that was red is kept in `proptest-regressions` and tried first from then on.
fn seeds(file: &'static str) -> Config {
    let kept = FileFailurePersistence::Direct(file);
    Config { cases: 256, failure_persistence: Some(Box::new(kept)), ..Config::default() }
}

fn key_file() -> KeyFile {
    KeyFile::new(LEDGER, root(0))
}

fn keys() -> Keyring {
    Keyring::new(&key_file())
}

fn keys_of(number: u8) -> Keyring {
    Keyring::new(&KeyFile::new(LEDGER, root(number)))
}

fn root(number: u8) -> Root {
    Root::from_bytes(*Digest::of("root", &[&[number]]).as_bytes())
}

//! Every kept case goes through its body, and so does what a little damage makes of it: always the same, so that CI needs no
//! fuzzer. A body without a target or without cases fails.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use actum_testkit::bodies::{BODIES, run};

const MUTATED: usize = 2_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn cases(body: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(body);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder:?} is empty");
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_kept_case_keeps_the_promise_of_its_body() {
    for (body, _) in BODIES {
        for (path, bytes) in cases(body) {
            assert!(catch_unwind(|| run(body, &bytes)).is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn what_damage_makes_of_a_case_keeps_it_too() {
    for (body, _) in BODIES {
        let cases = cases(body);
        let mut chance = Chance(0x5eed);
        for round in 0..MUTATED {
            let mut bytes = cases[chance.below(cases.len())].1.clone();
            (0..=chance.below(4)).for_each(|_| chance.damage(&mut bytes, &cases));
            let kept = catch_unwind(|| run(body, &bytes)).is_ok();
            assert!(kept, "{body}, round {round}: {}", bytes.escape_ascii());
        }
    }
}

#[test]
fn every_body_has_a_target_and_cases_and_nothing_else_does() {
    let bodies: BTreeSet<String> = BODIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let names = manifest.lines().filter_map(|line| line.strip_prefix("path = \"targets/"));
    let listed: BTreeSet<String> = names.map(|rest| rest.replace(".rs\"", "")).collect();
    assert_eq!(listed, bodies, "fuzz/Cargo.toml");
    assert_eq!(in_folder("corpus", ""), bodies);
    assert_eq!(in_folder("targets", ".rs"), bodies);
    for body in &bodies {
        let target = fs::read_to_string(fuzz().join(format!("targets/{body}.rs"))).unwrap();
        assert!(target.contains(&format!("run(\"{body}\", ")), "targets/{body}.rs");
        assert!(manifest.contains(&format!("name = \"{body}\"\npath = \"targets/{body}.rs\"")));
    }
}

fn in_folder(folder: &str, end: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fuzz().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.strip_suffix(end).unwrap().to_owned()).collect()
}

/// The same numbers every time (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, cases: &[(PathBuf, Vec<u8>)]) {
        let at = self.below(bytes.len() + 1);
        let byte =
            [0, 1, 0xff, b' ', b'/', b'.', b'\n', self.next().to_be_bytes()[0]][self.below(8)];
        match self.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 if at < bytes.len() => bytes[at] = byte,
            3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            4 if at < bytes.len() => drop(bytes.drain(at..(at + self.below(40)).min(bytes.len()))),
            _ => {
                let other = &cases[self.below(cases.len())].1;
                let from = self.below(other.len() + 1);
                let to = (from + self.below(80)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
}

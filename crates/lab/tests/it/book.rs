//! A book of recorded answers goes on where it was interrupted, and with no other model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use actum_lab::agent::model::{Api, Model, Settings};
use actum_lab::agent::{Agent as _, Answer, Ask, Book, LINE_MAX, Role, Turn};

use crate::endpoint::NoWait;
use crate::fake::{Act, Fake};
use crate::model::yes_or_no;

fn asks(count: usize) -> Vec<Ask> {
    let about = |number| {
        let mut ask = yes_or_no();
        ask.turns.push(Turn::new(Role::User, format!("Was {number} done?")));
        ask
    };
    (0..count).map(about).collect()
}

fn continued(
    path: &Path,
    server: &Fake,
    model: &str,
    temperature_percent: u32,
) -> Result<Book, String> {
    let settings =
        Settings { temperature_percent, ..Settings::new(Api::OpenAi, server.endpoint(), model) };
    let live = Model::new(settings, Box::new(NoWait)).unwrap();
    Book::continued(path, "small", (model, temperature_percent), Box::new(live))
        .map_err(|error| error.to_string())
}

/// A book with so many answers, in a folder that goes when it is dropped.
fn book_of(count: usize, server: &Fake) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.jsonl");
    let mut book = continued(&path, server, "small", 70).unwrap();
    for ask in asks(count) {
        book.choose(&ask, 1).unwrap();
    }
    (folder, path)
}

#[test]
fn what_a_book_has_is_not_asked_for_again() {
    let server = Fake::new([Act::Say("yes")]);
    let (_folder, path) = book_of(3, &server);
    let mut book = continued(&path, &server, "small", 70).unwrap();
    for ask in asks(3) {
        book.choose(&ask, 1).unwrap();
    }
    assert_eq!(server.received().len(), 3);
    book.choose(&asks(1)[0], 2).unwrap();
    assert_eq!(server.received().len(), 4, "another seed is another question");
}

#[test]
fn an_answer_that_was_cut_short_is_asked_for_again_and_no_other() {
    let server = Fake::new([Act::Say("yes")]);
    let (_folder, path) = book_of(3, &server);
    let whole = fs::read(&path).unwrap();
    let lines: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    // In the middle of the last line, one byte before its end, and at the end of the second.
    for cut in [usize::midpoint(lines[1], lines[2]), lines[2] - 1, lines[1]] {
        fs::write(&path, &whole[..cut]).unwrap();
        let before = server.received().len();
        let mut book = continued(&path, &server, "small", 70).unwrap();
        for ask in asks(3) {
            book.choose(&ask, 1).unwrap();
        }
        drop(book);
        assert_eq!(server.received().len() - before, 1, "cut at {cut}");
        let again = Book::read(&path, "small").unwrap();
        assert_eq!(again.answers().count(), 3, "the file is whole again");
    }
}

#[test]
fn a_book_of_another_model_or_temperature_is_refused_and_left_as_it_is() {
    let server = Fake::new([Act::Say("yes")]);
    let (_folder, path) = book_of(2, &server);
    let before = fs::read(&path).unwrap();
    let error = continued(&path, &server, "large", 70).unwrap_err();
    assert!(
        error.ends_with("holds answers of small at temperature 70%, not of large at 70%"),
        "{error}"
    );
    let error = continued(&path, &server, "small", 90).unwrap_err();
    assert!(
        error.ends_with("holds answers of small at temperature 70%, not of small at 90%"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_book_stands_in_for_its_model_and_says_what_it_lacks() {
    let server = Fake::new([Act::Say("yes")]);
    let (_folder, path) = book_of(1, &server);
    let mut book = Book::read(&path, "small").unwrap();
    let expected = Answer { raw: "yes".to_owned(), choice: Some(1), chances: None };
    assert_eq!(book.choose(&asks(1)[0], 1).unwrap(), expected);
    let error = book.choose(&asks(2)[1], 1).unwrap_err();
    assert!(error.what.starts_with("no answer is recorded for prompt "), "{error}");
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_damaged_line_in_the_middle_is_named_and_nothing_is_asked() {
    let server = Fake::new([Act::Say("yes")]);
    let (_folder, path) = book_of(3, &server);
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1].truncate(20);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let error = continued(&path, &server, "small", 70).unwrap_err();
    assert!(error.contains("line 2: "), "{error}");
    assert_eq!(server.received().len(), 3);
}

#[test]
fn the_longest_answer_fits_a_line_of_a_book() {
    // Each of these is six bytes in JSON.
    let longest = "\u{1}".repeat(actum_lab::agent::model::ANSWER_MAX);
    let server = Fake::new([Act::Say(longest.clone().leak())]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.jsonl");
    let mut book = continued(&path, &server, "small", 70).unwrap();
    book.write(&[Turn::new(Role::User, "Write.")], 1).unwrap();
    drop(book);
    assert!(fs::metadata(&path).unwrap().len() < LINE_MAX);
    assert_eq!(Book::read(&path, "small").unwrap().answers().next().unwrap().raw, longest);
}

fn run(server: &Fake, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_actum-lab"))
        .args(["run", "--trials", "2", "--attack", "basic,pending", "--experiment", "forged"])
        .args(["--defence", "none,actum", "--model", "small", "--endpoint", &server.endpoint()])
        .arg("--book")
        .arg(folder.join("book.jsonl"))
        .arg("--out")
        .arg(folder)
        .env_remove("ACTUM_LAB_API_KEY")
        .output()
        .unwrap()
}

#[test]
fn a_run_that_was_interrupted_goes_on_with_the_same_command_and_ends_as_if_it_had_not_been() {
    let transcript = |folder: &Path| fs::read(folder.join("transcript-book.jsonl")).unwrap();
    let say =
        |number: usize| if number.is_multiple_of(3) { Act::Say("Yes.") } else { Act::Say("no") };
    // What is said depends on the question alone.
    let sum = |text: &str| text.bytes().map(usize::from).sum::<usize>();
    let steady = move |request: &crate::fake::Received| say(sum(&request.body.to_string()));
    let (whole, whole_server) = (tempfile::tempdir().unwrap(), Fake::with(steady));
    let output = run(&whole_server, whole.path());
    assert!(output.status.success(), "{output:?}");
    let questions = whole_server.received().len();
    assert!(questions > 6);

    let folder = tempfile::tempdir().unwrap();
    let mut left = 5;
    let server = Fake::with(move |request| {
        left -= 1;
        if left == 0 { Act::Status(401, &[], "expired") } else { steady(request) }
    });
    let output = run(&server, folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("run the same command to go on"), "{said}");
    let output = run(&server, folder.path());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(server.received().len(), questions + 1, "only the refused question is repeated");
    assert_eq!(transcript(folder.path()), transcript(whole.path()));
}

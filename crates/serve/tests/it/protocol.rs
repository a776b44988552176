//! Lines as they go over the wire, and what is no line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use actum_serve::wire::{LINE_MAX, read_request};
use serde_json::Value;

use crate::served::Scene;

const HELLO: &str =
    r#"{"v":1,"id":1,"ask":"hello","with":{"role":{"owner":{"known":"yes-flag"}},"client":"t"}}"#;

struct Wire(BufReader<UnixStream>);

impl Wire {
    fn to(scene: &Scene) -> Self {
        Self(BufReader::new(UnixStream::connect(&scene.socket).unwrap()))
    }

    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line: its id and its code, or `ok`, or `end`.
    fn next(&mut self) -> String {
        let mut line = String::new();
        if self.0.read_line(&mut line).unwrap_or(0) == 0 {
            return "end".to_owned();
        }
        let value: Value = serde_json::from_str(&line).unwrap();
        let code = value["error"]["code"].as_str().unwrap_or("ok");
        format!("{} {code}", value["id"])
    }

    fn says(&mut self, line: &str) -> String {
        self.send(line);
        self.next()
    }
}

#[test]
fn hello_comes_first_and_once() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut wire = Wire::to(&scene);
    assert_eq!(wire.says(r#"{"v":1,"id":5,"ask":"status","with":{}}"#), "5 who");
    assert_eq!(wire.next(), "end");
    let mut wire = Wire::to(&scene);
    assert_eq!(wire.says(HELLO), "1 ok");
    assert_eq!(wire.says(HELLO), "1 malformed");
    assert_eq!(wire.says(r#"{"v":1,"id":5,"ask":"status","with":{}}"#), "5 ok");
    assert!(daemon.stop());
}

#[test]
fn what_is_no_request_is_said_and_the_next_one_is_answered() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut wire = Wire::to(&scene);
    assert_eq!(wire.says(HELLO), "1 ok");
    for (line, says) in [
        ("", "null malformed"),
        ("{}", "null malformed"),
        ("[1,2]", "null malformed"),
        (r#"{"v":2,"id":3,"ask":"status","with":{}}"#, "3 version"),
        (r#"{"v":1,"id":3,"ask":"obey","with":{}}"#, "3 malformed"),
        (r#"{"v":1,"id":3,"id":4,"ask":"status","with":{}}"#, "null malformed"),
        (r#"{"v":1,"id":3,"ask":"status","with":{},"as":"owner"}"#, "null malformed"),
        (r#"{"v":1,"id":3,"ask":"status","with":{"as":"owner"}}"#, "3 malformed"),
        (r#"{"v":1,"id":3,"ask":"ground","with":{"step":"a","step":"b"}}"#, "3 malformed"),
        (r#"{"v":1,"id":-3,"ask":"status","with":{}}"#, "null malformed"),
        (
            r#"{"v":1,"id":3,"ask":"act","with":{"session":"s","tool":"bank/pay","somebody":true,"arguments":{"payee":"A","payee":"B"}}}"#,
            "3 usage",
        ),
        (
            r#"{"v":1,"id":3,"ask":"act","with":{"session":"s","tool":"bank/pay","somebody":true,"arguments":{"payee":"\ud800"}}}"#,
            "3 usage",
        ),
        (r#"{"v":1,"id":9,"ask":"status","with":{}}"#, "9 ok"),
    ] {
        assert_eq!(wire.says(line), says, "{line}");
    }
    wire.0.get_mut().write_all(b"\xff\xfe\n").unwrap();
    assert_eq!(wire.next(), "null malformed");
    assert_eq!(wire.says(r#"{"v":1,"id":9,"ask":"status","with":{}}"#), "9 ok");
    assert!(daemon.stop());
}

#[test]
fn a_line_over_the_limit_ends_the_connection_and_no_other() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let (mut huge, mut other) = (Wire::to(&scene), Wire::to(&scene));
    assert_eq!((huge.says(HELLO), other.says(HELLO)), ("1 ok".to_owned(), "1 ok".to_owned()));
    let chunk = vec![b'x'; 1 << 20];
    // The daemon may have hung up before all of it was sent.
    for _ in 0..=(LINE_MAX >> 20) {
        if huge.0.get_mut().write_all(&chunk).is_err() {
            break;
        }
    }
    assert_eq!(huge.next(), "null too_long");
    assert_eq!(other.says(r#"{"v":1,"id":9,"ask":"status","with":{}}"#), "9 ok");
    assert!(daemon.stop());
}

#[test]
fn a_connection_that_ends_within_a_line_asks_nothing() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let before = scene.store.read().unwrap().views().position().count;
    let mut wire = Wire::to(&scene);
    assert_eq!(wire.says(HELLO), "1 ok");
    let half = r#"{"v":1,"id":3,"ask":"open","with":{"start":{"fresh":{}}}}"#;
    wire.0.get_mut().write_all(half.as_bytes()).unwrap();
    drop(wire);
    assert!(daemon.stop());
    let after = scene.store.read().unwrap().views().position().count;
    assert_eq!(after, before);
}

#[test]
fn requests_of_one_connection_are_answered_each_under_its_id() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut wire = Wire::to(&scene);
    wire.send(HELLO);
    for id in 2..200 {
        wire.send(&format!(
            r#"{{"v":1,"id":{id},"ask":"open","with":{{"start":{{"fresh":{{}}}}}}}}"#
        ));
    }
    let answers: Vec<String> = (1..200).map(|_| wire.next()).collect();
    let expected: Vec<String> = (1..200).map(|id| format!("{id} ok")).collect();
    assert_eq!(answers, expected);
    assert!(daemon.stop());
}

#[test]
fn a_line_of_the_page_is_read_as_it_stands_there() {
    let page = include_str!("../../../../docs/formats/socket.md");
    let line = page.lines().find(|line| line.starts_with("{\"v\":1")).unwrap();
    let request = read_request(line.as_bytes()).unwrap();
    assert_eq!((request.id, request.within_ms, request.ask.word()), (7, Some(5000), "act"));
    for word in actum_serve::wire::Ask::WORDS {
        assert!(page.contains(&format!("`{word}`")), "{word} is not on the page");
    }
}

//! What goes wrong between us and a model: each told apart, waited for by rule, and without a word of the key.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actum_lab::agent::model::{
    ATTEMPTS_MAX, Api, BODY_MAX, HEADERS_MAX, Key, Model, RETRY_AFTER_MAX, Settings, Timeouts,
    WAIT_MAX, Waits,
};
use actum_lab::agent::{AgentError, Asked as _, Recorded};

use crate::fake::{Act, CERTIFICATE, Fake, nobody};
use crate::model::{APIS, yes_or_no};

/// Does not wait.
#[derive(Debug)]
pub(crate) struct NoWait;

impl Waits for NoWait {
    fn wait(&mut self, _time: Duration) {}
}

/// Does not wait, and notes how long it would have been.
#[derive(Debug, Clone, Default)]
struct Noted(Rc<RefCell<Vec<Duration>>>);

impl Waits for Noted {
    fn wait(&mut self, time: Duration) {
        self.0.borrow_mut().push(time);
    }
}

/// One question to a server that acts so: what came, how often it was asked, and the waits in between.
struct Went {
    came: Result<Recorded, AgentError>,
    requests: usize,
    waits: Vec<Duration>,
}

fn went_with(settings: Settings, server: &Fake, seed: u64) -> Went {
    let waits = Noted::default();
    let mut model = Model::new(settings, Box::new(waits.clone())).unwrap();
    let came = model.ask(&yes_or_no(), seed);
    Went { came, requests: server.received().len(), waits: waits.0.borrow().clone() }
}

fn went(api: Api, acts: impl Into<Vec<Act>>) -> Went {
    let server = Fake::new(acts);
    let settings = Settings::new(api, server.endpoint(), "small");
    went_with(settings, &server, 1)
}

/// Asked of both APIs, fails at once, says this, and is no use to try again.
fn fails_at_once(act: Act, says: &[&str]) {
    for api in APIS {
        let went = went(api, [act.clone()]);
        let error = went.came.unwrap_err();
        for part in says {
            assert!(error.what.contains(part), "{}", error.what);
        }
        assert_eq!((went.requests, went.waits.len(), error.passing), (1, 0, false), "{error}");
    }
}

/// Asked of both APIs, is tried as often as anything is, and says this.
fn fails_in_the_end(act: Act, says: &[&str]) {
    for api in APIS {
        let went = went(api, [act.clone()]);
        let error = went.came.unwrap_err();
        for part in says {
            assert!(error.what.contains(part), "{}", error.what);
        }
        assert_eq!(went.requests, usize::try_from(ATTEMPTS_MAX).unwrap());
        assert!(error.passing && went.waits.len() == went.requests - 1);
    }
}

#[test]
fn where_nobody_listens_it_is_said_at_once() {
    for api in APIS {
        let waits = Noted::default();
        let settings = Settings::new(api, nobody(), "small");
        let mut model = Model::new(settings, Box::new(waits.clone())).unwrap();
        let error = model.ask(&yes_or_no(), 1).unwrap_err();
        assert!(error.what.starts_with("nobody listens at http://127.0.0.1:"), "{error}");
        assert!(error.passing && waits.0.borrow().is_empty());
    }
}

#[test]
fn a_slow_answer_is_waited_for_as_long_as_was_said() {
    let began = Instant::now();
    for act in [Act::Silence, Act::Stall] {
        let server = Fake::new([act, Act::Say("yes")]);
        let answer = Duration::from_millis(60);
        let timeouts = Timeouts { answer, ..Timeouts::default() };
        let settings =
            Settings { timeouts, ..Settings::new(Api::OpenAi, server.endpoint(), "small") };
        let went = went_with(settings, &server, 1);
        assert_eq!(went.came.unwrap().choice, Some(1));
        assert_eq!((went.requests, went.waits.len()), (2, 1));
    }
    // The longest of our own limits is minutes: nothing here came to its end by itself.
    assert!(began.elapsed() < Duration::from_secs(4));
    let server = Fake::new([Act::Stall]);
    let timeouts = Timeouts { answer: Duration::from_millis(20), ..Timeouts::default() };
    let settings = Settings { timeouts, ..Settings::new(Api::Ollama, server.endpoint(), "small") };
    let error = went_with(settings, &server, 1).came.unwrap_err();
    assert_eq!(error.what, "no answer within 20ms; a slow model needs a longer timeout");
    assert!(error.passing);
}

#[test]
fn whoever_is_not_let_in_is_told_so() {
    let body = r#"{"error": {"message": "Incorrect API key", "type": "auth"}}"#;
    for status in [401, 403] {
        let said = format!("refused ({status}): the key is missing, wrong or not for this model");
        fails_at_once(Act::Status(status, &[], body), &[&said, "says: Incorrect API key"]);
    }
}

#[test]
fn a_model_that_the_server_does_not_have_is_named() {
    let body = r#"{"error": "model 'small' not found"}"#;
    fails_at_once(
        Act::Status(404, &[], body),
        &["no model `small`", "says: model 'small' not found"],
    );
}

#[test]
fn a_request_that_the_server_does_not_take_is_not_sent_again() {
    let body = r#"{"message": "logprobs are not supported"}"#;
    fails_at_once(
        Act::Status(400, &[], body),
        &["does not take the request (400): logprobs are not supported"],
    );
}

#[test]
fn a_server_that_is_busy_is_asked_again_after_the_rest_that_it_wants() {
    for (api, status) in APIS.into_iter().zip([429, 503]) {
        let busy = Act::Status(status, &[("retry-after", "17")], "");
        let went = went(api, [busy.clone(), busy, Act::Say("no")]);
        assert_eq!(went.came.unwrap().choice, Some(0));
        assert_eq!(went.waits, [Duration::from_secs(17); 2]);
    }
}

#[test]
fn a_rest_that_is_too_long_is_an_error_that_says_how_long() {
    assert!(RETRY_AFTER_MAX < Duration::from_hours(1));
    for api in APIS {
        let body = r#"{"error": {"message": "Quota"}}"#;
        let went = went(api, [Act::Status(429, &[("retry-after", "3600")], body)]);
        let error = went.came.unwrap_err();
        let said = "too many requests; the server says: Quota; it wants 3600 s of rest";
        assert_eq!((error.what.as_str(), went.requests, error.passing), (said, 1, true));
    }
}

#[test]
fn without_a_wish_the_wait_doubles_and_follows_from_the_seed() {
    let waits = |seed| {
        // A date is no wish, since the two clocks need not agree.
        let headers = &[("retry-after", "Fri, 31 Dec 2027 23:59:59 GMT")];
        let server = Fake::new([Act::Status(429, headers, "")]);
        let settings = Settings::new(Api::OpenAi, server.endpoint(), "small");
        went_with(settings, &server, seed).waits
    };
    let first = waits(1);
    for (at, wait) in first.iter().enumerate() {
        let longest = Duration::from_millis(500 << at);
        assert!(longest / 2 <= *wait && *wait <= longest && *wait <= WAIT_MAX, "{first:?}");
    }
    assert_eq!(waits(1), first, "the same run waits the same");
    assert_ne!(waits(2), first, "two that were sent away together do not come back together");
    fails_in_the_end(Act::Status(429, &[], "slow down"), &["too many requests", "slow down"]);
}

#[test]
fn a_server_that_fails_is_asked_again_and_given_up_in_the_end() {
    for status in [500, 502, 503, 504, 529] {
        let said = went(Api::OpenAi, [Act::Status(status, &[], "loading"), Act::Say("yes")]);
        assert_eq!(said.came.unwrap().choice, Some(1));
    }
    fails_in_the_end(Act::Status(503, &[], "loading"), &["the server failed (503): loading"]);
}

#[test]
fn a_connection_that_breaks_is_made_again() {
    for act in [Act::HangUp, Act::Noise] {
        let said = went(Api::Ollama, [act.clone(), Act::Say("yes")]);
        assert_eq!(said.came.unwrap().choice, Some(1));
        fails_in_the_end(act, &["the connection broke: "]);
    }
}

#[test]
fn an_answer_that_is_no_json_is_shown_as_it_begins() {
    let page = "<html>\n  <b>It works!</b>\u{7}\u{1b}[2J";
    fails_at_once(
        Act::Status(200, &[("content-type", "text/html")], page),
        &["the answer (text/html) is no JSON", "begins with: <html> <b>It works!</b>[2J"],
    );
    let long = "page ".repeat(1000);
    let error = went(Api::OpenAi, [Act::Status(200, &[], long.leak())]).came.unwrap_err();
    assert!(error.what.len() < 500, "{error}");
    fails_at_once(Act::Status(200, &[], ""), &["the answer (of no type) is no JSON"]);
    fails_at_once(Act::Status(200, &[], r#"{"choices": [{"mess"#), &["is no JSON: EOF while"]);
    let deep = "[".repeat(1000);
    fails_at_once(Act::Status(200, &[], deep.leak()), &["is no JSON: recursion limit"]);
}

#[test]
fn json_under_a_wrong_type_is_read_all_the_same() {
    let body = r#"{"choices": [{"message": {"content": "no"}}]}"#;
    let went = went(Api::OpenAi, [Act::Status(200, &[("content-type", "text/plain")], body)]);
    assert_eq!(went.came.unwrap().choice, Some(0));
}

#[test]
fn an_answer_of_another_shape_is_told_from_an_empty_one() {
    for body in [r#"{"ok": true}"#, "[]", "null", r#"{"choices": {}, "message": 3}"#] {
        fails_at_once(Act::Status(200, &[], body), &["another shape", "is this the right API?"]);
    }
    // Some answer an error with 200.
    let body = r#"{"error": {"message": "no credit left"}}"#;
    fails_at_once(Act::Status(200, &[], body), &["another shape", "begins with: no credit left"]);
    let mixed = [
        (Api::OpenAi, r#"{"message": {"content": "no"}}"#),
        (Api::Ollama, r#"{"choices": [{"message": {"content": "no"}}]}"#),
    ];
    for (api, body) in mixed {
        let error = went(api, [Act::Status(200, &[], body)]).came.unwrap_err();
        assert!(error.what.contains("is this the right API?"), "{error}");
    }
}

#[test]
fn an_empty_answer_says_why_it_ended() {
    let of = [
        (
            Api::OpenAi,
            r#"{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}"#,
        ),
        (Api::Ollama, r#"{"message": {"content": " \n"}, "done_reason": "length"}"#),
        (Api::OpenAi, r#"{"choices": []}"#),
    ];
    for (api, body) in of {
        let went = went(api, [Act::Status(200, &[], body)]);
        let error = went.came.unwrap_err().what;
        assert!(error.starts_with("the answer is empty after 3 tries"), "{error}");
        assert_eq!(error.contains("as a model does that thinks first"), body.contains("length"));
    }
}

#[test]
fn more_than_the_limit_is_not_read() {
    let says = format!("the server's answer is longer than {BODY_MAX} bytes");
    fails_at_once(Act::Huge(BODY_MAX + 1), &[&says]);
    fails_at_once(Act::Endless, &[&says]);
    fails_at_once(Act::Huge(BODY_MAX), &["is no JSON"]);
    let server = Fake::new([Act::Endless]);
    let settings = Settings::new(Api::OpenAi, server.endpoint(), "small");
    went_with(settings, &server, 1).came.unwrap_err();
    // Beside what we read there is what both ends had in their buffers.
    assert!(server.sent() < 8 * BODY_MAX, "{}", server.sent());
    let headers = [("x-long", &*"x".repeat(HEADERS_MAX).leak())].to_vec().leak();
    fails_in_the_end(Act::Status(200, headers, "{}"), &["the connection broke"]);
    let long = "x".repeat(8 * 1024 + 1);
    fails_at_once(Act::Say(long.leak()), &["the text of the answer is longer than 8192 bytes"]);
}

#[test]
fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let headers = &[("location", "https://elsewhere.example/v1")];
        fails_at_once(
            Act::Status(status, headers, ""),
            &["sends us on to https://elsewhere.example/v1, which is not followed"],
        );
    }
}

#[test]
fn https_to_whoever_cannot_prove_who_it_is_is_out_of_reach() {
    let server = Fake::over_tls(Act::Say("no"));
    let endpoint = server.endpoint().replace("http:", "https:");
    let settings = Settings::new(Api::OpenAi, endpoint, "small");
    let mut model = Model::new(settings, Box::new(NoWait)).unwrap();
    let error = model.ask(&yes_or_no(), 1).unwrap_err();
    assert!(error.what.contains("cannot be reached") && !error.passing, "{error}");
    assert!(error.what.contains("certificate"), "{error}");
    assert!(server.received().is_empty());
}

#[test]
fn https_to_whoever_the_system_trusts_carries_question_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = Fake::over_tls(Act::Say("no"));
    let endpoint = server.endpoint().replace("http:", "https:");
    let output = command(folder.path(), &endpoint)
        .env("SSL_CERT_FILE", CERTIFICATE)
        .env("ACTUM_LAB_API_KEY", "sk-secret-3")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(server.received()[0].headers["authorization"], "Bearer sk-secret-3");
}

#[test]
fn an_endpoint_is_named_with_or_without_the_part_of_its_api() {
    for (api, endings) in [
        (Api::OpenAi, ["", "/", "/v1", "/v1/", "/v1/chat/completions"]),
        (Api::Ollama, ["", "/", "/api", "/api/", "/api/chat"]),
    ] {
        for ending in endings {
            let server = Fake::new([Act::Say("no")]);
            let settings = Settings::new(api, server.endpoint() + ending, "small");
            assert!(went_with(settings, &server, 1).came.is_ok(), "{ending}");
        }
    }
}

#[test]
fn what_is_no_address_is_refused_and_one_with_a_password_is_not_repeated() {
    let refused = |endpoint: &str| {
        let settings = Settings::new(Api::OpenAi, endpoint, "small");
        Model::new(settings, Box::new(NoWait)).unwrap_err().to_string()
    };
    for endpoint in ["", "localhost:8080", "ftp://host", "http://", "file:///etc", "http://[::1"] {
        assert!(refused(endpoint).contains("is no address"), "{endpoint}: {}", refused(endpoint));
    }
    for endpoint in ["http://ann:secret@host", "http://host/?k=secret", "http://host/#secret"] {
        assert!(!refused(endpoint).contains("secret"), "{}", refused(endpoint));
    }
    assert!(refused(&format!("http://{}", "h".repeat(2048))).contains("longer"));
}

fn key(text: &str) -> Option<Key> {
    Key::new(text.to_owned(), "VARIABLE").unwrap()
}

#[test]
fn a_key_goes_into_its_header_and_into_no_message() {
    for api in APIS {
        // A server that repeats what it was sent.
        let body = r#"{"error": {"message": "wrong key: sk-secret-1, wrong"}}"#;
        for (status, headers) in
            [(401, &[][..]), (200, &[]), (307, &[("location", "/sk-secret-1")])]
        {
            let server = Fake::new([Act::Status(status, headers, body)]);
            let settings = Settings {
                key: key(" sk-secret-1\n"),
                ..Settings::new(api, server.endpoint(), "small")
            };
            assert!(!format!("{settings:?}").contains("secret"));
            let mut model = Model::new(settings, Box::new(NoWait)).unwrap();
            assert!(!format!("{model:?}").contains("secret"));
            let error = model.ask(&yes_or_no(), 1).unwrap_err();
            assert_eq!(server.received()[0].headers["authorization"], "Bearer sk-secret-1");
            assert!(error.what.contains("[key]") && !error.what.contains("secret"), "{error}");
        }
    }
}

#[test]
fn a_key_is_sent_over_plain_http_to_this_machine_only() {
    let with_key = |endpoint: &str| {
        let settings = Settings { key: key("k"), ..Settings::new(Api::OpenAi, endpoint, "small") };
        Model::new(settings, Box::new(NoWait)).map(drop).map_err(|error| error.to_string())
    };
    for own in
        ["http://127.0.0.1", "http://127.9.9.9:1/v1", "http://[::1]:8080", "http://LOCALHOST:1"]
    {
        assert_eq!(with_key(own), Ok(()), "{own}");
    }
    assert_eq!(with_key("https://models.example"), Ok(()));
    for other in [
        "http://models.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://[::]",
        "http://127.0.0.1.models.example",
        "http://localhost.models.example",
        "http://2130706433.example",
    ] {
        assert!(with_key(other).unwrap_err().contains("use https"), "{other}");
    }
    let without = Settings::new(Api::OpenAi, "http://models.example", "small");
    assert!(Model::new(without, Box::new(NoWait)).is_ok(), "nothing to hide");
}

#[test]
fn what_cannot_be_a_key_is_refused_without_repeating_it() {
    assert!(key("").is_none() && key(" \n").is_none());
    for wrong in ["secret\r\nhost: elsewhere", "secret word", "secret-é", &"secret".repeat(1000)] {
        let error = Key::new(wrong.to_owned(), "VARIABLE").unwrap_err().to_string();
        assert!(error.starts_with("the variable VARIABLE holds no key"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

/// A short run against this endpoint.
fn command(folder: &Path, endpoint: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actum-lab"));
    command
        .args(["run", "--trials", "1", "--attack", "basic", "--defence", "none"])
        .args(["--experiment", "forged", "--model", "small", "--endpoint", endpoint, "--book"])
        .arg(folder.join("book.jsonl"))
        .arg("--out")
        .arg(folder)
        .env_remove("ACTUM_LAB_API_KEY");
    command
}

#[test]
fn the_command_takes_the_key_from_the_environment_and_leaves_it_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let server = Fake::new([Act::Say("no"), Act::Status(401, &[], "bad key sk-secret-2")]);
    let book = folder.path().join("book.jsonl");
    let run = |variable: &str, more: &[&str]| {
        let output = command(folder.path(), &server.endpoint())
            .args(more)
            .env(variable, "sk-secret-2")
            .output()
            .unwrap();
        let all = [output.stdout, output.stderr, std::fs::read(&book).unwrap()].concat();
        let all = String::from_utf8(all).unwrap();
        assert!(!all.contains("secret") && all.contains("[key]"), "{all}");
        let last = server.received().pop().unwrap();
        assert_eq!(last.headers["authorization"], "Bearer sk-secret-2");
    };
    run("ACTUM_LAB_API_KEY", &[]);
    run("OTHER_KEY", &["--key-env", "OTHER_KEY"]);
}

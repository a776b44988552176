//! Asking the owner on the way, in both eras.

use actum_core::{Event, Outcome, Owner};
use actum_serve::guard::Sight;

use crate::guard_scene::{CLINIC, Scene, TOOLS, answer, call, id_of, text};

const TO: &str = r#"{"to":"new@example.org"}"#;
const FORMS: &str = r#"{"elicitation":{}}"#;

fn asked(client: &str, capabilities: &str) -> Scene {
    let mut scene = Scene::new(CLINIC, Sight::Partial);
    scene.shake_hands(client, capabilities);
    scene.call(1, "send", TO);
    scene.list(TOOLS);
    scene
}

fn owners(scene: &Scene) -> Vec<Owner> {
    scene.events(|event| {
        if let Event::Consented(it) = event {
            return Some(it.owner);
        }
        if let Event::Granted(it) = event { it.owner } else { None }
    })
}

#[test]
fn a_listed_client_that_shows_forms_asks_its_owner_and_a_yes_lets_the_call_go_once() {
    let mut scene = asked("desk", FORMS);
    let question = scene.client_hears();
    for part in
        ["elicitation/create", "clinic/send", "new@example.org", "stands nowhere", "mandate"]
    {
        assert!(question.contains(part), "{part}: {question}");
    }
    let yes = r#"{"action":"accept","content":{"decision":"once"}}"#;
    scene.client_says(&answer(&id_of(&question), yes));
    assert_eq!(scene.server_hears(), call(1, "send", TO));
    scene.server_says(&answer("1", &text("sent")));
    scene.client_hears();
    assert_eq!((owners(&scene), scene.ends()), (vec![Owner::Client], vec![Outcome::Passed]));
    // Once is once.
    scene.call(2, "send", TO);
    assert!(scene.client_hears().contains("elicitation/create"));
}

#[test]
fn whatever_is_not_an_accept_that_says_so_is_a_no() {
    for no in [
        r#""result":{"action":"decline"}"#,
        r#""result":{"action":"cancel"}"#,
        r#""result":{"action":"accept"}"#,
        r#""result":{"action":"accept","content":{}}"#,
        r#""result":{"action":"accept","content":{"decision":"deny"}}"#,
        r#""result":{"action":"accept","content":{"decision":true}}"#,
        r#""result":{"action":"accept","content":{"decision":"once","decision":"deny"}}"#,
        r#""result":{"action":"decline","content":{"decision":"once"}}"#,
        r#""error":{"code":-32603,"message":"no"}"#,
    ] {
        let mut scene = asked("desk", FORMS);
        let question = scene.client_hears();
        scene.client_says(&format!(r#"{{"jsonrpc":"2.0","id":{},{no}}}"#, id_of(&question)));
        let heard = scene.client_hears();
        assert!(
            heard.contains("\"isError\":true") && heard.contains("actum approve"),
            "{no}: {heard}"
        );
        assert!(owners(&scene).is_empty());
    }
}

#[test]
fn a_client_that_nobody_listed_or_that_shows_no_forms_gets_a_receipt_and_no_question() {
    for (client, capabilities) in
        [("other", FORMS), ("desk", "{}"), ("desk", r#"{"elicitation":{"url":{}}}"#)]
    {
        let mut scene = asked(client, capabilities);
        let heard = scene.client_hears();
        assert!(heard.contains("nobody_to_ask") && heard.contains("actum approve"), "{heard}");
    }
}

#[test]
fn a_mandate_lets_the_same_go_again_and_nothing_else() {
    let mut scene = asked("desk", FORMS);
    let question = scene.client_hears();
    let yes = r#"{"action":"accept","content":{"decision":"mandate"}}"#;
    scene.client_says(&answer(&id_of(&question), yes));
    assert_eq!(scene.server_hears(), call(1, "send", TO));
    scene.call(2, "send", TO);
    assert_eq!(scene.server_hears(), call(2, "send", TO));
    scene.call(3, "send", r#"{"to":"eve@evil.example"}"#);
    assert!(scene.client_hears().contains("elicitation/create"));
    assert_eq!(owners(&scene), [Owner::Client]);
}

// The stateless era.

fn modern(id: u32, arguments: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"send","arguments":{arguments}{more},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}},"io.modelcontextprotocol/clientInfo":{{"name":"desk","version":"1"}}}}}}}}"#
    )
}

fn state_of(line: &str) -> String {
    let (_, rest) = line.split_once("\"requestState\":\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn retry(id: u32, arguments: &str, state: &str, decision: &str) -> String {
    let more = format!(
        r#","inputResponses":{{"actum/approve":{{"action":"accept","content":{{"decision":"{decision}"}}}}}},"requestState":"{state}""#
    );
    modern(id, arguments, &more)
}

fn asked_in_the_stateless_era() -> (Scene, String) {
    let mut scene = Scene::new(CLINIC, Sight::Partial);
    scene.client_says(&modern(1, TO, ""));
    scene.list(TOOLS);
    let question = scene.client_hears();
    assert!(question.contains("\"resultType\":\"input_required\""), "{question}");
    let state = state_of(&question);
    (scene, state)
}

#[test]
fn in_the_stateless_era_the_answer_asks_and_the_retry_lets_the_call_go() {
    let (mut scene, state) = asked_in_the_stateless_era();
    scene.client_says(&retry(2, TO, &state, "once"));
    // What belongs to our question does not reach the server.
    assert_eq!(scene.server_hears(), modern(2, TO, ""));
    scene.server_says(&answer("2", &text("sent")));
    scene.client_hears();
    assert_eq!((owners(&scene), scene.ends()), (vec![Owner::Client], vec![Outcome::Passed]));
}

#[test]
fn a_state_that_is_used_again_altered_or_for_another_call_does_not_count() {
    let (mut scene, state) = asked_in_the_stateless_era();
    let other = r#"{"to":"eve@evil.example"}"#;
    scene.client_says(&retry(2, other, &state, "once"));
    assert!(scene.client_hears().contains("-32602"));
    scene.client_says(&retry(3, TO, &format!("{state}0"), "once"));
    assert!(scene.client_hears().contains("-32602"));
    scene.client_says(&retry(4, TO, &state, "once"));
    assert!(scene.server_hears().contains("\"id\":4"));
    scene.client_says(&retry(5, TO, &state, "once"));
    assert!(scene.client_hears().contains("-32602"));
    assert_eq!(owners(&scene).len(), 1);
}

#[test]
fn a_no_in_the_stateless_era_is_a_refusal_with_a_receipt() {
    let (mut scene, state) = asked_in_the_stateless_era();
    scene.client_says(&retry(2, TO, &state, "deny"));
    let heard = scene.client_hears();
    assert!(
        heard.contains("\"resultType\":\"complete\"") && heard.contains("actum approve"),
        "{heard}"
    );
    assert!(owners(&scene).is_empty());
}

#[test]
fn a_question_of_the_server_in_the_middle_of_an_allowed_call_needs_no_second_decision() {
    let mut scene = Scene::told(CLINIC, "Send it to new@example.org please.");
    scene.client_says(&modern(1, TO, ""));
    scene.list(TOOLS);
    scene.server_hears();
    scene.server_says(&answer("1", r#"{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"theirs"}"#));
    let question = scene.client_hears();
    assert!(question.contains("\"q\"") && !question.contains("theirs"), "{question}");
    let more = |state: &str| {
        format!(r#","inputResponses":{{"q":{{"action":"accept"}}}},"requestState":"{state}""#)
    };
    scene.client_says(&modern(2, TO, &more(&state_of(&question))));
    assert_eq!(scene.server_hears(), modern(2, TO, &more("theirs")));
    scene.server_says(&answer("2", r#"{"resultType":"complete","content":[]}"#));
    scene.client_hears();
    assert_eq!((scene.begun(), scene.ends()), (1, vec![Outcome::Passed]));
}

#[test]
fn an_old_client_is_guarded_before_a_new_server() {
    let mut scene = Scene::told(CLINIC, "Send it to new@example.org please.");
    scene.client_says(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old"}}}"#);
    scene.server_hears();
    scene.server_says(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"what?"}}"#);
    let probe = scene.server_hears();
    assert!(probe.contains("server/discover"), "{probe}");
    scene.server_says(&answer(&id_of(&probe), r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#));
    assert!(scene.client_hears().contains("\"protocolVersion\":\"2025-11-25\""));
    scene.call(1, "send", TO);
    scene.list(TOOLS);
    let call = scene.server_hears();
    assert!(call.contains("2026-07-28") && call.contains(TO), "{call}");
    assert_eq!((scene.begun(), scene.ends().len()), (1, 0));
    scene.server_says(&answer(&id_of(&call), r#"{"resultType":"complete","content":[]}"#));
    assert_eq!(scene.client_hears(), answer("1", r#"{"content":[]}"#));
    assert_eq!(scene.ends(), [Outcome::Passed]);
}

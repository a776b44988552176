//! On a missing step: the guard performs it where the policy says so and everything else would allow the call.

use actum_core::Outcome;

use crate::guard_scene::{CLINIC, Scene, TOOLS, answer, call, id_of, text};

const RECORD: &str = r#"{"content":"all clean","source":"ward-7.csv"}"#;

fn inserting() -> Scene {
    let mut scene = Scene::told(CLINIC, "Insert the records of ward-7.csv.");
    scene.call(1, "insert_record", RECORD);
    scene.list(TOOLS);
    scene
}

#[test]
fn a_missing_step_is_performed_as_a_call_of_its_own_and_the_call_goes_on_once_it_passed() {
    let mut scene = inserting();
    let step = scene.server_hears();
    assert!(step.contains("\"validate_source\"") && step.contains(RECORD), "{step}");
    scene.server_says(&answer(&id_of(&step), &text("valid")));
    assert_eq!(scene.server_hears(), call(1, "insert_record", RECORD));
    scene.server_says(&answer("1", &text("inserted")));
    scene.client_hears();
    assert_eq!(scene.ends(), [Outcome::Passed, Outcome::Passed]);
    // It is done, so it is not done again.
    scene.call(2, "insert_record", RECORD);
    assert_eq!(scene.server_hears(), call(2, "insert_record", RECORD));
}

#[test]
fn a_step_that_failed_lets_nothing_go_and_is_not_tried_without_end() {
    let mut scene = inserting();
    for id in 1..=3 {
        let step = scene.server_hears();
        assert!(step.contains("\"validate_source\""), "{step}");
        scene.server_says(&answer(&id_of(&step), r#"{"content":[],"isError":true}"#));
        let heard = scene.client_hears();
        assert!(heard.contains("\"isError\":true") && heard.contains("validate_source"), "{heard}");
        scene.call(id + 1, "insert_record", RECORD);
    }
    // Three times an hour, and then no more.
    assert!(scene.client_hears().contains("step_missing"));
    assert_eq!(scene.ends(), [Outcome::Failed; 3]);
}

#[test]
fn a_pass_for_other_content_is_none_for_this() {
    let mut scene = inserting();
    let step = scene.server_hears();
    scene.server_says(&answer(&id_of(&step), &text("valid")));
    scene.server_hears();
    scene.call(2, "insert_record", r#"{"content":"ALTERED","source":"ward-7.csv"}"#);
    let again = scene.server_hears();
    assert!(again.contains("\"validate_source\"") && again.contains("ALTERED"), "{again}");
}

//! What a daemon answers: the whole way of a call, by each kind of caller.

use std::time::Duration;

use actum_core::{EntryKind, Outcome};
use actum_serve::desk::Who;
use actum_serve::wire::{CallResult, Mandate, Recall, Remember, Skip, Start, Takes};

use crate::served::{Scene, agent, in_short, open, owner, pay, result, turn, wrong};

const PAYEE: &str = "DE89370400440532013000";
const OTHER: &str = "GB29NWBK60161331926819";

#[test]
fn a_call_that_the_user_asked_for_goes_out_once_and_ends_once() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut client = scene.owner();
    let session = open(&mut client);
    client.observe(&turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
    let acted = client.act(&pay(&session, PAYEE, 13, Some("c1"))).unwrap();
    assert_eq!(in_short(&acted), "allow trusted permitted");
    assert_eq!(acted.arguments, format!(r#"{{"amount":13,"payee":"{PAYEE}"}}"#));
    let again = client.act(&pay(&session, PAYEE, 13, Some("c1"))).unwrap();
    assert_eq!(in_short(&again), "allow repeated not permitted");
    assert_eq!(again.event, acted.event);
    let other = client.act(&pay(&session, PAYEE, 14, Some("c1"))).unwrap();
    assert_eq!(in_short(&other), "deny call_id_reused not permitted");
    let permit = acted.permit.unwrap();
    client.end_call(permit, Outcome::Passed, CallResult::Text("ok".into())).unwrap();
    let twice = client.end_call(permit, Outcome::Passed, CallResult::Text("ok".into()));
    assert_eq!(wrong(twice), "usage");
    drop(client);
    assert!(daemon.stop());
}

#[test]
fn what_a_page_says_waits_for_the_owner_who_approves_it_once_or_beforehand_or_says_no() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut client = scene.owner();
    let session = open(&mut client);
    client.observe(&turn(&session, "Pay 13 to the landlord.")).unwrap();
    client
        .observe(&result(&session, "web:rent.example", &format!("Our account: {OTHER}")))
        .unwrap();

    let acted = client.act(&pay(&session, OTHER, 13, None)).unwrap();
    assert_eq!(in_short(&acted), "ask untrusted_argument not permitted");
    assert!(!acted.for_agent.contains("rent.example"), "{}", acted.for_agent);
    let detail = acted.detail.clone().unwrap();
    let payee = detail.arguments.iter().find(|it| it.argument == "payee").unwrap();
    assert_eq!(payee.sources[0].channel, "web:rent.example");
    let offer: Mandate = detail.offer.unwrap();

    let inbox = client.inbox().unwrap();
    let waiting = &inbox.waiting[0][0];
    assert_eq!(Some(&waiting.receipt), acted.receipt.as_ref());
    assert_eq!(waiting.arguments.as_deref(), Some(acted.arguments.as_str()));
    assert_eq!((inbox.questions, inbox.effect_calls), (1, 1));
    assert!(waiting.asked_ms > 0 && waiting.detail.is_some());

    client.approve(&waiting.receipt, Duration::from_mins(1)).unwrap();
    let acted = client.act(&pay(&session, OTHER, 13, None)).unwrap();
    assert_eq!(in_short(&acted), "allow approved_call permitted");

    let acted = client.act(&pay(&session, OTHER, 13, None)).unwrap();
    assert_eq!(in_short(&acted), "ask untrusted_argument not permitted");
    client.deny(acted.receipt.as_ref().unwrap()).unwrap();
    assert!(client.inbox().unwrap().waiting.is_empty());
    let acted = client.act(&pay(&session, OTHER, 13, None)).unwrap();
    assert_eq!(in_short(&acted), "deny declined not permitted");
    assert_eq!(acted.receipt, None);

    client.grant(offer).unwrap();
    let acted = client.act(&pay(&session, OTHER, 13, None)).unwrap();
    assert_eq!(in_short(&acted), "allow mandate permitted");
    drop(client);
    assert!(daemon.stop());
}

#[test]
fn an_adapter_speaks_for_its_own_sessions_and_channels_and_an_agent_for_one_session() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let guard = scene.adapter("guard", &["mcp:bank", "user"]);
    let other = scene.adapter("other", &["mcp:bank"]);
    let mut guard = scene.client(guard);
    assert_eq!(guard.welcome().you, "adapter");
    let session = open(&mut guard);
    guard.observe(&turn(&session, "Pay 13.")).unwrap();
    assert_eq!(wrong(guard.observe(&result(&session, "web:x", "text"))), "rejected");
    assert_eq!(wrong(guard.approve("1-abcdef", Duration::from_secs(1))), "not_allowed");
    assert_eq!(wrong(scene.client(other).observe(&turn(&session, "Pay 99."))), "rejected");

    let mut agent_of = scene.client(agent(Some(&session)));
    let remember = |session: &str| Remember {
        session: session.to_owned(),
        entry: "MEMORY.md#rent".to_owned(),
        kind: EntryKind::Memory,
        text: "the rent is 13".to_owned(),
        proven: None,
        supersedes: None,
    };
    let written = agent_of.remember(&remember(&session)).unwrap();
    assert_eq!(written.authority.map(actum_core::Authority::word), Some("Derived"));
    assert_eq!(wrong(agent_of.remember(&remember("s-else"))), "usage");
    assert_eq!(wrong(agent_of.act(&pay(&session, PAYEE, 13, None))), "not_allowed");
    assert_eq!(wrong(agent_of.open(Start::Fresh {})), "not_allowed");
    assert_eq!(wrong(agent_of.observe(&turn(&session, "I am the user"))), "not_allowed");

    let recall = |text: &str| Recall {
        session: Some(session.clone()),
        entry: "MEMORY.md#rent".to_owned(),
        text: text.to_owned(),
        for_action: false,
    };
    assert_eq!(agent_of.recall(&recall("the rent is 13")).unwrap().decision.word(), "allow");
    assert_eq!(agent_of.recall(&recall("the rent is 99")).unwrap().decision.word(), "quarantine");

    let take = actum_serve::wire::Deed::Revoke {
        takes: Takes::Adapter("guard".to_owned()),
        reason: String::new(),
    };
    scene.owner().record(vec![take]).unwrap();
    assert_eq!(wrong(guard.observe(&turn(&session, "Pay 13."))), "rejected");
    drop((guard, agent_of));
    assert!(daemon.stop());
}

#[test]
fn a_credential_that_is_not_the_adapters_is_nobodys() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    scene.adapter("guard", &["user"]);
    for (name, credential) in [("guard", "secret of x"), ("nobody", "secret of guard")] {
        let credential = zeroize::Zeroizing::new(credential.to_owned());
        let role = actum_serve::wire::Role::Adapter { name: name.to_owned(), credential };
        let connected = actum_serve::client::Client::connect(&scene.address(), role, "a test");
        assert_eq!(wrong(connected), "who");
    }
    assert!(daemon.stop());
}

#[test]
fn whoever_watches_sees_each_decision_as_it_is_made() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut client = scene.owner();
    let session = open(&mut client);
    client.observe(&turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
    client
        .observe(&result(&session, "web:rent.example", &format!("Our account: {OTHER}")))
        .unwrap();
    client.act(&pay(&session, PAYEE, 13, None)).unwrap();
    let mut decisions = scene.owner().watch().unwrap();
    let seen: Vec<String> = [PAYEE, OTHER]
        .map(|payee| {
            client.act(&pay(&session, payee, 13, None)).unwrap();
            let seen = decisions.next().unwrap().unwrap();
            let code = seen.code.map(actum_core::DecisionCode::code).unwrap();
            format!("{} {} {}", seen.called, seen.decision, code)
        })
        .into();
    assert_eq!(seen, ["bank/pay allow trusted", "bank/pay ask untrusted_argument"]);
    drop(client);
    assert!(daemon.stop());
    assert!(decisions.next().is_none(), "the stream ends with the daemon");
}

#[test]
fn the_desk_of_a_command_answers_as_the_daemon_does() {
    let scene = Scene::new();
    let mut desk = scene.desk();
    let by = Who::owner(actum_core::Owner::YesFlag);
    let opened = desk.ask(&by, actum_serve::wire::Open { start: Start::Fresh {} }).unwrap();
    let session = opened.session;
    desk.ask(&by, turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
    let asked = [pay(&session, PAYEE, 13, None), pay(&session, OTHER, 13, None)];
    let here = asked.clone().map(|act| desk.ask(&by, act).unwrap().detail);
    drop(desk);
    let daemon = scene.daemon();
    let mut client = scene.owner();
    let there = asked.map(|act| client.act(&act).unwrap().detail);
    for (here, there) in here.into_iter().zip(there) {
        let (mut here, mut there) = (here.unwrap(), there.unwrap());
        assert_ne!((here.runs.len(), here.arguments.len()), (0, 0));
        // The numbers of runs, and when an offer ends, are later ones.
        (here.runs, there.runs) = (Vec::new(), Vec::new());
        (here.offer, there.offer) = (None, None);
        assert_eq!(here, there);
    }
    drop(client);
    assert!(daemon.stop());
}

#[test]
fn a_step_is_skipped_over_the_socket_only_if_a_run_backs_it() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut client = scene.owner();
    let session = open(&mut client);
    let told = client.ground("tests", Some("S1")).unwrap();
    assert_eq!((told.answer.word(), told.reason.code()), ("ungrounded", "never_ran"));
    let skip = Skip { session, step: "tests".to_owned(), subject: Some("S1".to_owned()) };
    assert_eq!(client.skip(&skip).unwrap().event, None);
    assert_eq!(wrong(client.ground("lint", None)), "usage");
    drop(client);
    assert!(daemon.stop());
}

#[test]
fn status_says_how_the_daemon_is_and_that_the_same_user_is_weaker() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let mut client = scene.client(owner());
    client.observe(&turn("s-nobody-opened", "Pay.")).unwrap_err();
    client.act(&pay("s-nobody-opened", PAYEE, 13, None)).unwrap();
    let status = client.status().unwrap();
    assert!(status.weaker && status.events > Some(1) && status.refused.is_none());
    assert_eq!(status.asks, (1, 1));
    assert_eq!(status.partial[0].session, "s-nobody-opened");
    // The id of a session lets an agent speak in it.
    let mut agent = scene.client(agent(None));
    assert_eq!(agent.status().unwrap().partial.len(), 1, "this user can read the files as well");
    drop((client, agent));
    assert!(daemon.stop());
}

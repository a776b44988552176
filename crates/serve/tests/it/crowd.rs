//! Many at once: nothing is lost, and all of it is in one order.

use std::collections::BTreeSet;
use std::thread;

use actum_core::{Decision, Outcome};
use actum_serve::wire::CallResult;

use crate::served::{Scene, open, owner, pay, turn};

const SESSIONS: usize = 50;
const CALLS: u32 = 200;
const PAYEE: &str = "DE89370400440532013000";

#[test]
fn fifty_sessions_of_two_hundred_calls_at_once_lose_nothing_and_are_in_one_order() {
    let scene = Scene::new();
    let daemon = scene.daemon();
    let events: Vec<Vec<u64>> = thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = scene.client(owner());
                    let session = open(&mut client);
                    client.observe(&turn(&session, &format!("Pay 13 to {PAYEE}."))).unwrap();
                    let call = |nth: u32| {
                        let id = format!("call-{nth}");
                        let acted = client.act(&pay(&session, PAYEE, 13, Some(&id))).unwrap();
                        assert!(acted.permitted);
                        let permit = acted.permit.unwrap();
                        let result = CallResult::Text(String::new());
                        client.end_call(permit, Outcome::Passed, result).unwrap();
                        permit
                    };
                    (0..CALLS).map(call).collect()
                })
            })
            .collect();
        sessions.into_iter().map(|session| session.join().unwrap()).collect()
    });
    let mut client = scene.owner();
    let (commits, requests) = client.status().unwrap().commits;
    drop(client);
    assert!(daemon.stop());

    for own in &events {
        assert!(own.is_sorted(), "the calls of a session are in its order");
    }
    let all: BTreeSet<u64> = events.iter().flatten().copied().collect();
    assert_eq!(all.len(), SESSIONS * CALLS as usize);
    let snapshot = scene.store.read().unwrap();
    let views = snapshot.views();
    let decided = views.provenance().decisions().iter();
    let allowed: BTreeSet<u64> = decided
        .filter(|(_, decided)| decided.decision == Decision::Allow)
        .map(|(event, _)| *event)
        .collect();
    assert_eq!(allowed, all, "what was answered is in the ledger, and nothing else");
    assert_eq!(views.open_runs().count(), 0, "every call ended");
    assert!(commits < requests, "{commits} commits for {requests} requests: syncs are shared");
}

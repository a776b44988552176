//! Writers that are killed again and again, and many that ask at once: nothing that was answered is lost, and nothing is in
//! the ledger that nobody asked for.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use actum_core::{Done, Request};
use actum_store::{Group, StoreError};

use crate::child::{As, Role, hear, spawn};
use crate::scene::{Scene, ask, at, new_run};

/// Starts a child and kills it after so long; what it said until then.
fn killed(scene: &Scene, role: Role, after: Duration) -> Vec<String> {
    let mut child = spawn(&std::env::current_exe().unwrap(), scene.places(), role, As::Myself);
    let stdout = child.stdout.take().unwrap();
    let heard = thread::spawn(move || hear(stdout));
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    heard.join().unwrap()
}

/// How long a child may live: the same every time, and no two alike.
fn spans(seed: u64, least_ms: u64, most_ms: u64) -> impl Iterator<Item = Duration> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    core::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Duration::from_millis(least_ms + state % (most_ms - least_ms))
    })
}

#[test]
fn writers_that_are_killed_lose_nothing_they_were_answered() {
    let scene = Scene::with_runs(0);
    let heard = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for writer in 0..3 {
            let (scene, heard) = (&scene, &heard);
            scope.spawn(move || {
                for after in spans(writer + 1, 20, 300).take(12) {
                    let said = killed(scene, Role::Write(writer), after);
                    heard.lock().unwrap().extend(said);
                }
            });
        }
        let (scene, heard) = (&scene, &heard);
        scope.spawn(move || {
            for after in spans(99, 20, 150).take(10) {
                let said = killed(scene, Role::Rotate, after);
                heard.lock().unwrap().extend(said);
            }
        });
    });
    let heard = heard.into_inner().unwrap();
    let of = |word: &str| -> BTreeSet<&str> {
        heard.iter().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
    };
    let (asked, began, ended) = (of("asks"), of("began"), of("ended"));
    let failed = of("failed");
    assert!(failed.is_empty(), "a child was refused: {failed:?}");

    let snapshot = scene.store.read().unwrap();
    let said = |subject| ask(snapshot.views(), subject, "v1", 1_000).reason.code();
    for subject in &ended {
        assert_eq!(said(subject), "passed", "{subject}");
    }
    for subject in &began {
        assert_ne!(said(subject), "never_ran", "{subject}");
    }
    let there = asked.iter().filter(|subject| said(subject) != "never_ran").count();
    assert_eq!(snapshot.views().run_count(), there, "every run was asked for");
    let rotated = heard.iter().filter(|line| *line == "rotated").count();
    let generation = snapshot.views().position().generation as usize;
    assert!(generation >= rotated, "{rotated} rotations were answered, {generation} are there");
    println!("{} asked, {} ended, {rotated} rotations", asked.len(), ended.len());
    assert!(ended.len() > 10, "only {} ended", ended.len());
    drop(snapshot);
    crate::scene::run(&mut scene.write(2), "text:after", "v1", actum_core::Outcome::Passed, 2);
    assert_eq!(scene.asks("text:after", "v1"), "passed");
}

#[test]
fn an_init_that_is_killed_leaves_a_ledger_or_the_right_to_make_one() {
    let (mut made, mut cut) = (0, 0);
    for after in spans(7, 2, 40).take(25) {
        let scene = Scene::empty();
        let said = killed(&scene, Role::Init, after);
        let answered = said.iter().any(|line| line == "made");
        let mut ledger = match scene.store.read() {
            Ok(_) => scene.write(1),
            Err(StoreError::Missing { .. }) if !answered => {
                cut += 1;
                scene.store.init(&scene.writer(1)).unwrap()
            }
            Err(error) => panic!("answered: {answered}: {error}"),
        };
        made += usize::from(answered);
        crate::scene::run(&mut ledger, "text:after", "v1", actum_core::Outcome::Passed, 2);
        drop(ledger);
        assert_eq!(scene.asks("text:after", "v1"), "passed");
    }
    println!("{made} made before the kill, {cut} made after it");
}

#[test]
fn many_who_ask_at_once_are_answered_once_each_and_in_one_order() {
    const ASKERS: usize = 64;
    const REQUESTS: usize = 20;
    let scene = Scene::with_runs(0);
    let group = Group::start(scene.write(1), || at(2));
    let answers = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for nth in 0..ASKERS {
            let (asker, answers) = (group.asker(), &answers);
            scope.spawn(move || {
                let ask_for = |request| {
                    let subject = format!("text:{nth}-{request}");
                    let done = asker.ask(Request::Begin(new_run(&subject, "v1"))).unwrap().unwrap();
                    let Done::Began(run) = done else { panic!("{done:?}") };
                    (subject, run.index())
                };
                let mine: Vec<_> = (0..REQUESTS).map(ask_for).collect();
                assert!(mine.is_sorted_by_key(|(_, index)| *index), "one's own order is kept");
                answers.lock().unwrap().extend(mine);
            });
        }
    });
    drop(group.finish().unwrap());
    let answers = answers.into_inner().unwrap();
    let places: BTreeSet<u64> = answers.iter().map(|(_, index)| *index).collect();
    assert_eq!(places.len(), ASKERS * REQUESTS, "each has a place of its own");
    let snapshot = scene.store.read().unwrap();
    assert_eq!(snapshot.views().run_count(), ASKERS * REQUESTS);
    for (subject, index) in &answers {
        let grounding = ask(snapshot.views(), subject, "v1", 9);
        assert_eq!(grounding.evidence.map(|evidence| evidence.run), Some(*index), "{subject}");
    }
}

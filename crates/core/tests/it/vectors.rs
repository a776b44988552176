//! Every file in `vectors/ledger/v1` means here what it says. The files were made by another implementation.

use actum_core::{Admitted, Head, KeyFile, Keyring, Layout, LedgerId, Root, Views};
use actum_testkit::vectors::{Vector, read_folder};

#[test]
fn every_vector_means_what_it_says() {
    let vectors = read_folder("ledger/v1").unwrap();
    assert!(vectors.len() > 200, "only {} vectors were found", vectors.len());
    let wrong: Vec<_> = vectors
        .iter()
        .map(|(name, vector)| (name, meaning(vector), &vector.expect))
        .filter(|(_, found, expect)| found != *expect)
        .map(|(name, found, expect)| format!("{name}: {found}, expected {expect}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

fn meaning(vector: &Vector) -> String {
    match vector.format.as_str() {
        "segment" => segments(vector),
        "anchor" => anchor(vector),
        "keyfile" => key_file(vector),
        other => panic!("format `{other}`"),
    }
}

fn keys(vector: &Vector) -> Keyring {
    let mut roots = vector.roots.iter().copied().map(Root::from_bytes);
    let ledger = LedgerId::from_bytes(vector.ledger);
    let mut file = KeyFile::new(ledger, roots.next().expect("a root"));
    // All but the last are put in force on the way, or the next would replace them.
    for (generation, root) in (1..).zip(roots) {
        file = file.with_active(generation - 1).unwrap().with_next(root).unwrap();
    }
    let text = file
        .to_text()
        .replace(&format!("active {}\n", file.active()), &format!("active {}\n", vector.active));
    Keyring::new(&KeyFile::parse(&text).unwrap())
}

fn segments(vector: &Vector) -> String {
    let keys = keys(vector);
    let mut views = Views::new(keys.clone(), &[]);
    for body in &vector.bodies {
        let at = *views.position();
        let layout = Layout::read(body, &keys, &at);
        // In two parts, as two workers would.
        let half = layout.len() / 2;
        let checks = vec![layout.check(half..layout.len()), layout.check(0..half)];
        let Admitted { flaw, .. } = views.admit(&layout.conclude(checks));
        if let Some(flaw) = flaw {
            return flaw.to_string();
        }
    }
    format!("head {} {}", views.position().count, views.position().mac)
}

fn anchor(vector: &Vector) -> String {
    let keys = keys(vector);
    let file = &vector.bodies[0];
    let Some(head) = Head::newest(file, &keys) else { return "no slot verifies".to_owned() };
    let slot = file.chunks(4096).position(|slot| Head::open(slot, &keys).as_ref() == Some(&head));
    let (counter, count, mac) = (head.counter, head.count, head.mac);
    format!("slot {} counter {counter} count {count} mac {mac}", slot.unwrap())
}

fn key_file(vector: &Vector) -> String {
    let Ok(text) = std::str::from_utf8(&vector.bodies[0]) else { return "not a key file".into() };
    match KeyFile::parse(text) {
        Ok(file) if *file.ledger().as_bytes() != vector.ledger => {
            "line 2: another ledger".to_owned()
        }
        Ok(file) => {
            let roots = text.lines().filter(|line| line.starts_with("root ")).count();
            format!("generations {roots} active {}", file.active())
        }
        Err(error) => error.to_string(),
    }
}

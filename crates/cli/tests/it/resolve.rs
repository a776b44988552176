//! The owner's way out after a loss: shown, asked about, recorded; then everything works again, and earlier passes are void.

use insta::assert_snapshot;

use crate::shell::{Shell, TESTS};

const RUN: &str = "actum run -q --step tests --subject x -- ./check x";

fn passed() -> Shell {
    let shell = Shell::with(TESTS);
    shell.quietly(RUN);
    shell
}

/// Trouble, the way out, and then the main job once more.
fn resolved(shell: &Shell, trouble: &str) -> String {
    shell.quietly(trouble);
    let before = shell.said("actum ground tests x").code;
    assert_eq!(before, 12);
    let shown = shell.play("actum resolve\n actum resolve --yes\n actum ground tests x");
    let accepted = shell.said("actum policy accept --yes");
    assert_eq!(accepted.code, 0, "{accepted}");
    assert_ne!(shell.said("actum ground tests x").code, 0, "an earlier pass is void");
    shell.quietly(RUN);
    assert_eq!(shell.asks("tests x"), "grounded passed 0");
    let event = shell.json("actum log --json --kind resolved -n 1");
    assert_eq!(event.get("owner").unwrap(), "yes-flag");
    shell.is_whole();
    shown
}

#[test]
fn nothing_to_resolve() {
    assert_snapshot!(passed().play("actum resolve --yes"), @"
    $ actum resolve --yes
    the ledger is sound; there is nothing to resolve
    ");
}

#[test]
fn truncated() {
    let shell = passed();
    assert_snapshot!(resolved(&shell, "truncate -s -100 .actum/ledger/*.seg"), @"
    $ actum resolve
    truncated: the ledger was cut: 8 of 9 acknowledged events are there
      8 events verify; 9 events were acknowledged
      1 acknowledged event would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    truncated: the ledger was cut: 8 of 9 acknowledged events are there
      8 events verify; 9 events were acknowledged
      1 acknowledged event would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
    let shell = passed();
    assert_snapshot!(resolved(&shell, "rm .actum/ledger/*.seg"), @"
    $ actum resolve
    truncated: the ledger was cut: 0 of 9 acknowledged events are there
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    truncated: the ledger was cut: 0 of 9 acknowledged events are there
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

#[test]
fn earlier_passes_are_void() {
    let shell = passed();
    shell.quietly("actum run -q --step tests --subject last -- ./check last; truncate -s -133 .actum/ledger/*.seg; actum resolve --yes; actum policy accept --yes");
    assert_snapshot!(shell.play("actum ground tests x"), @"
    $ actum ground tests x
    ungrounded (voided): tests on text:x
      The newest run passed before a loss after which the owner went on.
      run 7 passed, exit 0, [AGO]
      by the policy of event 11 (yes-flag), in [TEMP]/project
      after a loss: truncated, 1 acknowledged event given up (event 10, yes-flag)
      Perform the step again.
    [10]
    ");
}

#[test]
fn damaged() {
    let shell = passed();
    let flip = "printf X | dd of=.actum/ledger/0000000000000000.seg bs=1 seek=258 conv=notrunc status=none";
    assert_snapshot!(resolved(&shell, flip), @"
    $ actum resolve
    damaged: event 2: the MAC does not match; the file was changed after it was written (9 events were acknowledged)
      2 events verify; 9 events were acknowledged
      7 acknowledged events would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    damaged: event 2: the MAC does not match; the file was changed after it was written (9 events were acknowledged)
      2 events verify; 9 events were acknowledged
      7 acknowledged events would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
    assert_eq!(shell.said("ls .actum/lost | wc -l").out.trim(), "1");
}

#[test]
fn the_store_is_gone() {
    let shell = passed();
    assert_snapshot!(resolved(&shell, "rm -r .actum"), @"
    $ actum resolve
    truncated: the ledger was cut: 0 of 9 acknowledged events are there
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    truncated: the ledger was cut: 0 of 9 acknowledged events are there
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

#[test]
fn the_store_was_moved() {
    let shell = passed();
    shell.quietly(
        "mv .actum ../kept; mkdir inner; mv ../kept inner/.actum; cp actum.toml check inner",
    );
    assert_snapshot!(shell.play("
        cd inner && actum resolve
        cd inner && actum resolve --yes
        cd inner && actum ground tests x
        cd inner && actum policy accept --yes | tail -1
        cd inner && actum run -q --step tests --subject x -- ./check x
        cd inner && actum ground tests x
        actum ground tests x
    "), @"
    $ cd inner && actum resolve
    moved: this store belongs at [TEMP]/project/.actum; it was moved or copied to [TEMP]/project/inner/.actum
      9 events verify; 9 events were acknowledged
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ cd inner && actum resolve --yes
    moved: this store belongs at [TEMP]/project/.actum; it was moved or copied to [TEMP]/project/inner/.actum
      9 events verify; 9 events were acknowledged
    resolved (owner known by yes-flag)
    $ cd inner && actum ground tests x
    ungrounded (voided): tests on text:x
      The newest run passed before a loss after which the owner went on.
      run 7 passed, exit 0, [AGO]
      by the policy of event 1 (yes-flag), in [TEMP]/project/inner
      after a loss: moved, 0 acknowledged events given up (event 9, yes-flag)
      Perform the step again.
    [10]
    $ cd inner && actum policy accept --yes | tail -1
    accepted (event 10, owner known by yes-flag)
    $ cd inner && actum run -q --step tests --subject x -- ./check x
    ok
    $ cd inner && actum ground tests x
    grounded (passed): tests on text:x
      run 13 passed, exit 0, [AGO]
      by the policy of event 10 (yes-flag), in [TEMP]/project/inner
      after a loss: moved, 0 acknowledged events given up (event 9, yes-flag)
    $ actum ground tests x
    refused (no_ledger): tests on x
      ledger [ID] lay in [TEMP]/project/.actum before
      Restore the folder, or see what is lost and go on: `actum resolve`.
    [12]
    ");
}

#[test]
fn a_moved_project_does_not_run_the_programs_of_its_old_place() {
    let shell = passed();
    shell.quietly("cp -a . ../copy; cd ../copy && actum resolve --yes");
    assert_snapshot!(shell.play("
        cd ../copy && actum run --step tests --subject x -- ./check x
        cd ../copy && actum policy accept --yes
        cd ../copy && actum run --step tests --subject x -- ./check x
    "), @"
    $ cd ../copy && actum run --step tests --subject x -- ./check x
    ! error: `./check` was accepted as [TEMP]/project/check, and the project lies elsewhere now
    !   look at it, then `actum policy accept`
    [125]
    $ cd ../copy && actum policy accept --yes

      # settled when accepted:
    - # program ./check = [TEMP]/project/check ([SHORT])
    + # program ./check = [TEMP]/copy/check ([SHORT])
      # environment HOME = [TEMP]/home
      # environment PATH = [TEMP]/bin:/usr/bin:/bin

    accepted (event 10, owner known by yes-flag)
    $ cd ../copy && actum run --step tests --subject x -- ./check x
    ok
    ! actum: recorded run 13: tests on text:x passed
    ");
}

#[test]
fn another_ledger_lies_here() {
    let shell = passed();
    shell.quietly("mkdir ../other; cp actum.toml check ../other; cd ../other && actum init --yes");
    assert_snapshot!(resolved(&shell, "mv .actum ../mine; cp -a ../other/.actum .actum"), @"
    $ actum resolve
    swapped: ledger [ID] belongs here, but what lies here is ledger [ID]
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    swapped: ledger [ID] belongs here, but what lies here is ledger [ID]
      0 events verify; 9 events were acknowledged
      9 acknowledged events would be given up; failures and revocations may be among them
      [NUMBER] bytes would be moved to .actum/lost
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

#[test]
fn the_key_is_lost() {
    let shell = passed();
    assert_snapshot!(resolved(&shell, "rm ../data/actum/keys/*"), @"
    $ actum resolve
    key_lost: the key of ledger [ID] is gone: nothing in it can be verified
      0 events verify; how many events there were cannot be told
      [NUMBER] bytes would be moved to .actum/lost
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    key_lost: the key of ledger [ID] is gone: nothing in it can be verified
      0 events verify; how many events there were cannot be told
      [NUMBER] bytes would be moved to .actum/lost
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

#[test]
fn the_anchor_is_lost() {
    let shell = passed();
    assert_snapshot!(resolved(&shell, "rm ../state/actum/anchors/*"), @"
    $ actum resolve
    unanchored: no anchor vouches for this ledger: it cannot be told whether it is whole
      9 events verify; how many events there were cannot be told
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    unanchored: no anchor vouches for this ledger: it cannot be told whether it is whole
      9 events verify; how many events there were cannot be told
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

#[test]
fn another_story() {
    let shell = passed();
    shell.quietly("cp -a ../state ../state-before; cp -a .actum ../before");
    shell.quietly(RUN);
    shell.quietly("mv .actum ../one; cp -a ../before .actum; cp -a ../state-before/. ../state/");
    shell.quietly(RUN);
    assert_snapshot!(resolved(&shell, "rm -r .actum; mv ../one .actum"), @"
    $ actum resolve
    forked: event 10 is genuine but not the one the anchor remembers: the ledger was forked
      11 events verify; 11 events were acknowledged
    ! error: nobody is there to ask: Go on with what is left? Earlier passes will be void.
    !   call it on a terminal, or say --yes: the ledger then records `yes-flag`
    [1]
    $ actum resolve --yes
    forked: event 10 is genuine but not the one the anchor remembers: the ledger was forked
      11 events verify; 11 events were acknowledged
    resolved (owner known by yes-flag)
    next: no policy is in force now; look at actum.toml, then `actum policy accept`
    $ actum ground tests x
    refused (no_policy): tests on x
      no policy is in force
      The owner accepts one with `actum policy accept`.
    [12]
    ");
}

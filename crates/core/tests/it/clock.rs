//! What a clock may do, at every limit.

use actum_core::{BACK_MAX_MS, ClockStep, FORWARD_MAX_MS, Reading, judge_clock};

const DAY: i128 = 86_400_000;
const FIVE_MINUTES: i128 = 300_000;

#[test]
fn the_limits_are_those_of_the_page() {
    assert_eq!(i128::from(BACK_MAX_MS), FIVE_MINUTES);
    assert_eq!(i128::from(FORWARD_MAX_MS), DAY);
}

/// Every combination of values at and around the limits, against the rule said once more in numbers that cannot overflow.
#[test]
fn every_step_around_the_limits() {
    let mut judged = 0;
    for ledger_ms in around(&[0, FIVE_MINUTES, 10 * DAY]) {
        for wall_ms in around(&[0, FIVE_MINUTES, 10 * DAY, 11 * DAY, i128::from(u64::MAX)]) {
            for last_ms in around(&[0, 10 * DAY]) {
                for (last_boot, boot) in
                    [(0, 0), (0, 9), (9, 0), (9, 9), (9, 10), (9, 9 + 86_400_000), (9, 1)]
                {
                    for boot_id in [1, 2] {
                        let last = reading(last_ms, last_boot, 1);
                        let now = reading(wall_ms, boot, boot_id);
                        let known = last_boot > 0 && boot > 0 && boot_id == 1;
                        let boot_ms = i128::from(boot - last_boot).max(0);
                        let ahead = (wall_ms - last_ms).max(0) - boot_ms;
                        let jumped = ledger_ms - wall_ms > FIVE_MINUTES || known && ahead > DAY;
                        let found = judge_clock(ms(ledger_ms), &last, &now) == ClockStep::Jumped;
                        assert_eq!(found, jumped, "{ledger_ms} {last:?} {now:?}");
                        judged += 1;
                    }
                }
            }
        }
    }
    assert!(judged > 5_000, "{judged}");
}

#[test]
fn the_ends_of_the_scale_are_judged_too() {
    let (zero, greatest) = (Reading::wall(0), Reading::wall(u64::MAX));
    assert_eq!(judge_clock(0, &zero, &zero), ClockStep::Steady);
    assert_eq!(
        judge_clock(0, &zero, &greatest),
        ClockStep::Steady,
        "no boot clock to compare with"
    );
    assert_eq!(judge_clock(u64::MAX, &greatest, &zero), ClockStep::Jumped);
    assert_eq!(judge_clock(u64::MAX, &greatest, &greatest), ClockStep::Steady);
    let booted = |wall_ms| Reading { wall_ms, boot_ms: u64::MAX, boot_id: [1; 16] };
    assert_eq!(judge_clock(0, &booted(0), &booted(u64::MAX)), ClockStep::Jumped);
}

fn around(limits: &[i128]) -> Vec<i128> {
    let steps = [-FIVE_MINUTES - 1, -FIVE_MINUTES, -1, 0, 1, FIVE_MINUTES, DAY, DAY + 1];
    let near = limits.iter().flat_map(|limit| steps.map(|step| limit + step));
    near.filter(|ms| (0..=i128::from(u64::MAX)).contains(ms)).collect()
}

fn reading(wall_ms: i128, boot: i64, boot_id: u8) -> Reading {
    Reading { wall_ms: ms(wall_ms), boot_ms: ms(boot.into()), boot_id: [boot_id; 16] }
}

fn ms(value: i128) -> u64 {
    u64::try_from(value).unwrap()
}

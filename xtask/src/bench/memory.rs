//! What needs no disk: the grounding check, memory, and bytes.

use core::hint::black_box;

use actum_core::{Answer, Digest, Ledger, Reading, Request, SubjectName, ground};
use serde_json::json;

use super::Size;
use super::ledgers::{Common, Counted, TEXTS, content, fill, in_memory, passed, subject};
use super::measure::{Samples, resident_bytes, wall};
use super::python::Python;
use super::table::{Row, Table, thousands, time, times};
use crate::dice::Dice;

/// Checks in one sample: more than the clock costs, and few enough that their subjects lie in the cache, as a caller's do.
const CHECKS: usize = 256;
const NOW_MS: u64 = 2;

/// Checks of random subjects in ledgers of every size, taking turns.
pub(super) fn grounding(size: &Size, python: &Python, table: &mut Table) -> Result<(), String> {
    let common = Common::new()?;
    let mut ledgers = Vec::new();
    // The largest first: what it takes of memory is then not hidden by what others gave back.
    for &runs in size.runs.iter().rev() {
        let before = resident_bytes();
        let mut ledger = in_memory()?;
        fill(&mut ledger, &common, 0..runs, &Reading::wall(NOW_MS))?;
        if ledgers.is_empty() {
            note_memory(runs, resident_bytes() - before, table);
        }
        ledgers.push((runs, ledger, Samples::default(), Samples::default()));
    }
    ledgers.reverse();
    let mut dice = Dice(1);
    for _ in 0..size.samples {
        for (runs, ledger, hits, misses) in &mut ledgers {
            hits.push(sample(ledger, &common, Answer::Grounded, &mut dice, 0, *runs)?);
            misses.push(sample(ledger, &common, Answer::Ungrounded, &mut dice, *runs, *runs)?);
        }
    }
    for (runs, _, hits, misses) in &ledgers {
        table.row(row(*runs, hits, misses, python));
    }
    let medians = ledgers.iter().map(|(.., hits, _)| hits.median());
    let (least, most) =
        medians.fold((f64::MAX, 0.0_f64), |(least, most), it| (least.min(it), most.max(it)));
    let found = format!("from {} to {} over all sizes", time(least), time(most));
    table.target("a grounding check under 1 µs, flat but for cache misses", found, most < 1000.0);
    Ok(())
}

fn note_memory(runs: u32, bytes: f64, table: &mut Table) {
    let each = bytes / f64::from(runs);
    table.note(format!("memory: {each:.0} bytes a run, at {} runs", thousands(&runs.to_string())));
}

fn row(runs: u32, hits: &Samples, misses: &Samples, python: &Python) -> Row {
    let (hit, miss) = (hits.median(), misses.median());
    let beside = python.at(runs).map(|size| size.grounding_ns);
    Row {
        what: format!("grounding check, {} runs", thousands(&runs.to_string())),
        ours: format!("{} (miss {})", time(hit), time(miss)),
        beside: beside.map_or("not measured".to_owned(), |ns| format!("Python {}", time(ns))),
        ratio: beside.map_or("-".to_owned(), |ns| times(ns / hit)),
        figures: json!({ "runs": runs, "hit_ns": hit, "miss_ns": miss, "python_ns": beside }),
    }
}

/// Nanoseconds a check, over [`CHECKS`] subjects from `first` on, chosen by the dice. Which is asked next depends on the
/// answer before, so that the processor cannot overlap them.
fn sample(
    ledger: &Ledger<Counted>,
    common: &Common,
    expected: Answer,
    dice: &mut Dice,
    first: u32,
    runs: u32,
) -> Result<f64, String> {
    let mut asked: Vec<(SubjectName, Digest)> = Vec::with_capacity(CHECKS);
    for _ in 0..CHECKS {
        let name = subject(first + dice.below(runs))?;
        let digest = content(&name);
        asked.push((name, digest));
    }
    let (elapsed, wrong) = wall(|| {
        let (mut at, mut wrong) = (0, 0);
        for _ in 0..CHECKS {
            let Some((name, digest)) = asked.get(at) else { break };
            let question = common.question(name, digest);
            let answer = ground(black_box(ledger.views()), black_box(&question), NOW_MS).answer();
            let mistake = usize::from(answer != expected);
            wrong += mistake;
            at += 1 + mistake;
        }
        black_box(wrong)
    });
    if wrong > 0 {
        return Err(format!("{wrong} grounding checks did not answer `{expected}`"));
    }
    let checks = u32::try_from(CHECKS).unwrap_or(u32::MAX);
    Ok(elapsed / f64::from(checks))
}

/// What a run's two events take on disk, names introduced once.
pub(super) fn bytes(python: &Python, table: &mut Table) {
    let Some(beside) = python.largest() else { return };
    let mut worst = 0.0_f64;
    for (what, name) in [("text:SRC-000123", "text:SRC-000123"), ("git:HEAD", "HEAD")] {
        let Ok(each) = bytes_an_event(name) else { continue };
        worst = worst.max(each);
        table.row(Row {
            what: format!("bytes an event, subject {what}"),
            ours: format!("{each:.1}"),
            beside: format!("Python {} (text {})", beside.bytes_json, beside.bytes_text),
            ratio: format!("{:.2}×", each / beside.bytes_json),
            figures: json!({ "bytes": each, "python_json": beside.bytes_json, "runs": RUNS }),
        });
    }
    table.note(format!(
        "bytes: {TEXTS} as named; over {} runs, with segment header, genesis and the five names",
        thousands(&RUNS.to_string())
    ));
    let found = format!("{worst:.1}");
    table.target("160 bytes an event or fewer", found, worst > 0.0 && worst <= 160.0);
}

const RUNS: u32 = 1_000;

fn bytes_an_event(name: &str) -> Result<f64, String> {
    let (common, mut ledger) = (Common::new()?, in_memory()?);
    let reading = Reading::wall(NOW_MS);
    let name = SubjectName::parse(name).map_err(|error| error.to_string())?;
    for _ in 0..RUNS {
        let begin = vec![Request::Begin(common.run(name.clone()))];
        let mut answers = ledger.commit(begin, &reading).map_err(|error| error.to_string())?;
        let done = answers.pop().ok_or("a beginning gave nothing")?;
        let end = passed(done.map_err(|rejected| rejected.to_string())?, content(&name))?;
        ledger.end(end, &reading).map_err(|error| error.to_string())?;
    }
    let whole = ledger.journal().bytes + actum_core::SEGMENT_HEADER_LEN;
    let whole = u32::try_from(whole).map_err(|error| error.to_string())?;
    Ok(f64::from(whole) / f64::from(2 * RUNS))
}

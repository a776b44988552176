//! What needs a disk: verification of what lies there, cold opens, appends, and many writers.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use actum_core::{Journal, Keyring, Layout, Ledger, Position, Request, SLOT_LEN};
use actum_store::{Asker, Group, PATIENCE, Places, Snapshot, Store, Writer, read_clocks, verify};
use serde_json::json;

use super::Size;
use super::ledgers::{Common, content, fill, passed, subject};
use super::measure::{Samples, wall, wall_and_cpu};
use super::python::Python;
use super::table::{Row, Table, rate, thousands, time, times};

/// Makes a ledger on the disk this program lies on, and measures all that depends on it.
pub(super) fn everything(size: &Size, python: &Python, table: &mut Table) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = program.parent().unwrap_or(Path::new("."));
    let folder = tempfile::tempdir_in(beside).map_err(|error| error.to_string())?;
    table.note(format!("disk: {}", kind_of_disk(folder.path())));
    let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let store = Store::new(Places {
        store: root.join("project/.actum"),
        data: root.join("data"),
        state: root.join("state"),
    });
    let common = Common::new()?;
    let mut ledger = store.init(&writer()).map_err(|error| error.to_string())?;
    drop_in(&mut ledger, &common, 0..size.on_disk / 2)?;
    drop(ledger);
    cold_open(&store, size, table)?;
    verification(&store, size, python, table)?;
    let mut ledger = store.write(&writer()).map_err(|error| error.to_string())?;
    drop_in(&mut ledger, &common, size.on_disk / 2..size.on_disk)?;
    drop(ledger);
    cold_open(&store, size, table)?;

    eprintln!("appends of one writer, and of many ...");
    let place = root.join("bare");
    std::fs::create_dir(&place).map_err(|error| error.to_string())?;
    let ledger = store.write(&writer()).map_err(|error| error.to_string())?;
    let ledger = append(ledger, &store, &common, &place, size, table)?;
    many_writers(ledger, size, table)
}

fn writer() -> Writer {
    Writer { holder: "bench".to_owned(), patience: PATIENCE, reading: read_clocks() }
}

fn drop_in<J: Journal>(
    ledger: &mut Ledger<J>,
    common: &Common,
    numbers: core::ops::Range<u32>,
) -> Result<(), String> {
    eprintln!("a ledger of {} runs on the disk ...", thousands(&numbers.end.to_string()));
    fill(ledger, common, numbers, &read_clocks())
}

/// The file system a folder lies on, as the kernel names it.
fn kind_of_disk(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let holding = fields.filter_map(|fields| match fields.as_slice() {
        [_, at, kind, ..] if folder.starts_with(at) => Some((at.len(), (*kind).to_owned())),
        _ => None,
    });
    holding.max().map_or("unknown".to_owned(), |(_, kind)| kind)
}

/// Read, verify and fold, from a disk whose pages are not in memory where we may say so.
fn cold_open(store: &Store, size: &Size, table: &mut Table) -> Result<(), String> {
    let (mut cold, mut warm) = (Samples::default(), Samples::default());
    let mut work = Samples::default();
    let (mut events, mut bytes) = (0, 0);
    let mut is_cold = true;
    for _ in 0..size.rounds {
        is_cold &= std::fs::write("/proc/sys/vm/drop_caches", "1").is_ok();
        for samples in [&mut cold, &mut warm] {
            let (elapsed, on_cpu, snapshot) = wall_and_cpu(|| store.read());
            let snapshot: Snapshot = snapshot.map_err(|error| error.to_string())?;
            (events, bytes) = (snapshot.views().position().count, snapshot.bytes());
            if snapshot.beyond() > 0 || snapshot.views().open_runs().next().is_some() {
                return Err("the ledger on the disk is not what was written".to_owned());
            }
            samples.push(elapsed);
            work.push(on_cpu);
        }
    }
    let (cold, warm) = (cold.median(), warm.median());
    let events = millions(events);
    table.row(Row {
        what: format!("{} open, {events:.1} M events", if is_cold { "cold" } else { "warm" }),
        ours: format!("{} (CPU {})", time(cold), time(work.median())),
        beside: format!("warm {}", time(warm)),
        ratio: times(cold / warm),
        figures: json!({
            "cold_ns": cold, "warm_ns": warm, "cpu_ns": work.median(), "bytes": bytes,
            "is_cold": is_cold,
        }),
    });
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit behind the point")]
fn millions(count: u64) -> f64 {
    count as f64 / 1e6
}

/// The first segment, verified by one core and by all, taking turns.
fn verification(
    store: &Store,
    size: &Size,
    python: &Python,
    table: &mut Table,
) -> Result<(), String> {
    let snapshot = store.read().map_err(|error| error.to_string())?;
    let keys = snapshot.views().keys();
    let path = store.places().segments().join("0000000000000000.seg");
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let events = Layout::read(&bytes, keys, &Position::START).len();
    let count = f64::from(u32::try_from(events).unwrap_or(u32::MAX));
    let (mut cpu, mut one, mut all) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..3 * size.rounds {
        let (on_wall, on_cpu, good) = wall_and_cpu(|| verify_alone(&bytes, keys));
        one.push(on_wall);
        cpu.push(on_cpu);
        let (on_wall, verified) = wall(|| verify(&bytes, keys, &Position::START));
        all.push(on_wall);
        let good = good && verified.flaw().is_none();
        if !good || verified.records().count() != events {
            return Err("a sound segment did not verify".to_owned());
        }
    }
    let a_second = |nanoseconds: f64| count * 1e9 / nanoseconds;
    let per_core = a_second(cpu.median());
    let beside = python.largest().map_or(f64::NAN, |size| size.events * 1e9 / size.verify_ns);
    table.row(Row {
        what: "verification, one core (CPU time)".to_owned(),
        ours: rate(per_core),
        beside: format!("Python {}", rate(beside)),
        ratio: times(per_core / beside),
        figures: json!({ "events": events, "a_second": per_core, "python_a_second": beside }),
    });
    let cores = thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let (alone, together) = (a_second(one.median()), a_second(all.median()));
    let best = one.quantile(0) / all.quantile(0);
    table.row(Row {
        what: format!("verification, {cores} cores (wall)"),
        ours: rate(together),
        beside: format!("one core {}", rate(alone)),
        ratio: format!("{} (best of each {})", times(together / alone), times(best)),
        figures: json!({ "cores": cores, "a_second": together, "one_core": alone, "best": best }),
    });
    let found = format!("{} a core", rate(per_core));
    table.target("3 M events/s verified a core", found, per_core >= 3e6);
    let found = format!("{} with {cores} cores", times(together / alone));
    table.target("faster with all cores", found, together > alone);
    Ok(())
}

fn verify_alone(bytes: &[u8], keys: &Keyring) -> bool {
    let layout = Layout::read(bytes, keys, &Position::START);
    let check = layout.check(0..layout.len());
    layout.conclude(vec![check]).flaw().is_none()
}

/// Beginnings of one writer, and between them the two bare writes and syncs they need, of the same sizes.
fn append<J: Journal>(
    mut ledger: Ledger<J>,
    store: &Store,
    common: &Common,
    place: &Path,
    size: &Size,
    table: &mut Table,
) -> Result<Ledger<J>, String> {
    let mut begin = |number| -> Result<(), String> {
        let run = common.run(subject(number)?);
        ledger.begin(run, &read_clocks()).map(drop).map_err(|error| error.to_string())
    };
    begin(0)?;
    let before = newest_segment(store)?;
    begin(1)?;
    let record = usize::try_from(newest_segment(store)? - before).unwrap_or_default();
    let mut bare = Bare::new(place, record).map_err(|error| error.to_string())?;
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for number in 0..size.appends {
        for turn in [number, number + 1] {
            if turn % 2 == 0 {
                let (elapsed, done) = wall(|| begin(number));
                done?;
                ours.push(elapsed);
            } else {
                let (elapsed, done) = wall(|| bare.both());
                done.map_err(|error| error.to_string())?;
                theirs.push(elapsed);
            }
        }
    }
    let (median, bare) = (ours.median(), theirs.median());
    let (slow, bare_slow) = (ours.quantile(990), theirs.quantile(990));
    table.row(Row {
        what: "append by one writer, durable".to_owned(),
        ours: format!("{} (p99 {})", time(median), time(slow)),
        beside: format!("two bare syncs {} (p99 {})", time(bare), time(bare_slow)),
        ratio: times(median / bare),
        figures: json!({
            "median_ns": median, "p99_ns": slow, "bare_median_ns": bare, "bare_p99_ns": bare_slow,
            "record_bytes": record, "least_ns": ours.quantile(0), "bare_least_ns": theirs.quantile(0),
        }),
    });
    let found = times(median / bare);
    table.target("an append within 1.3× of two bare syncs", found, median <= 1.3 * bare);
    Ok(ledger)
}

fn newest_segment(store: &Store) -> Result<u64, String> {
    let entries =
        std::fs::read_dir(store.places().segments()).map_err(|error| error.to_string())?;
    let mut paths: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let newest = paths.last().ok_or("no segment")?;
    std::fs::metadata(newest).map(|meta| meta.len()).map_err(|error| error.to_string())
}

/// The least a durable append can be: bytes at the end of one file, a sync, a slot of another, a sync.
struct Bare {
    segment: File,
    anchor: File,
    record: Vec<u8>,
    slot: Vec<u8>,
    count: u64,
}

impl Bare {
    fn new(place: &Path, record: usize) -> std::io::Result<Self> {
        let open =
            |name: &str| OpenOptions::new().write(true).create_new(true).open(place.join(name));
        let (segment, anchor) = (open("segment")?, open("anchor")?);
        anchor.write_all_at(&[0; 2 * SLOT_LEN], 0)?;
        anchor.sync_all()?;
        Ok(Self { segment, anchor, record: vec![1; record], slot: vec![1; SLOT_LEN], count: 0 })
    }

    fn both(&mut self) -> std::io::Result<()> {
        self.segment.write_all_at(&self.record, self.count * self.record.len() as u64)?;
        self.segment.sync_data()?;
        self.anchor.write_all_at(&self.slot, self.count % 2 * SLOT_LEN as u64)?;
        self.anchor.sync_data()?;
        self.count += 1;
        Ok(())
    }
}

/// Events acknowledged a second, each to a writer of its own that waits for it.
fn many_writers<J: Journal + Send + 'static>(
    mut ledger: Ledger<J>,
    size: &Size,
    table: &mut Table,
) -> Result<(), String> {
    let mut measured = [1, 8, 64].map(|writers| (writers, Samples::default()));
    for _ in 0..size.rounds {
        for (writers, samples) in &mut measured {
            // About as long for each.
            let each = (size.appends / 4).max(4) / if *writers == 64 { 4 } else { 1 };
            let (back, nanoseconds_an_event) = round(ledger, *writers, each)?;
            ledger = back;
            samples.push(nanoseconds_an_event);
        }
    }
    let [(_, one), ..] = &measured;
    let alone = 1e9 / one.median();
    for (writers, samples) in &measured {
        let a_second = 1e9 / samples.median();
        table.row(Row {
            what: format!("acknowledged events, {writers} writers"),
            ours: rate(a_second),
            beside: format!("one writer {}", rate(alone)),
            ratio: times(a_second / alone),
            figures: json!({ "writers": writers, "a_second": a_second }),
        });
        if *writers == 64 {
            let found = times(a_second / alone);
            table.target("64 writers 20× one or more", found, a_second >= 20.0 * alone);
        }
    }
    Ok(())
}

fn round<J: Journal + Send + 'static>(
    ledger: Ledger<J>,
    writers: u32,
    each: u32,
) -> Result<(Ledger<J>, f64), String> {
    let group = Group::start(ledger, read_clocks);
    let askers: Vec<Asker> = (0..writers).map(|_| group.asker()).collect();
    let (elapsed, went) = wall(|| {
        let threads = askers.into_iter().zip(0..).map(|(asker, number): (Asker, u32)| {
            thread::spawn(move || write_alone(&asker, number, each))
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_panicked| "a writer panicked".to_owned())?
        })
    });
    went?;
    let ledger = group.finish().ok_or("the group's thread panicked")?;
    Ok((ledger, elapsed / f64::from(writers * each * 2)))
}

/// Runs that begin and end, one after the other: two events each.
fn write_alone(asker: &Asker, number: u32, runs: u32) -> Result<(), String> {
    let common = Common::new()?;
    let ask = |request| -> Result<_, String> {
        let done = asker.ask(request).map_err(|error| error.to_string())?;
        done.map_err(|rejected| rejected.to_string())
    };
    for run in 0..runs {
        let name = subject(number * runs + run)?;
        let digest = content(&name);
        let began = ask(Request::Begin(common.run(name)))?;
        ask(Request::End(passed(began, digest)?))?;
    }
    Ok(())
}

//! `cargo xtask bench`: one table of what the ledger costs, measured in one run on this machine, beside the paper's ledger in
//! plain Python and beside the bare disk. Slowness is reported and never fails; a wrong answer does.
//!
//! Medians throughout. What is compared takes turns, so that a busy moment of the machine meets both; where both sides are
//! pure computing, process CPU time is what is compared.
#![expect(clippy::float_arithmetic, reason = "figures of a report, never hashed")]

mod disk;
mod gate;
mod guard;
mod ledgers;
mod measure;
mod memory;
mod python;
mod socket;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::repository;
use table::Table;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Ledgers of the grounding check, in runs, ascending.
    runs: &'static [u32],
    /// The ledger on disk, in runs; opened at half of it and at all of it.
    on_disk: u32,
    /// The largest ledger of the Python side, in events.
    python_max: u32,
    /// Samples of what is fast.
    samples: u32,
    /// Cold opens, verifications and rounds of writers.
    rounds: u32,
    /// Appends of the one writer.
    appends: u32,
}

const WHOLE: Size = Size {
    runs: &[10, 100, 1_000, 10_000, 100_000, 1_000_000],
    on_disk: 1_000_000,
    python_max: 100_000,
    samples: 400,
    rounds: 7,
    appends: 1_500,
};
/// Shows that the bench still runs; its figures mean nothing.
const QUICK: Size =
    Size { runs: &[10, 1_000], on_disk: 1_000, python_max: 10, samples: 5, rounds: 1, appends: 10 };

#[derive(Debug)]
struct Options {
    size: Size,
    markdown: bool,
    /// Only what the guard adds to a call.
    guard: bool,
    /// Nothing but the socket.
    socket_alone: bool,
    json: Option<PathBuf>,
}

/// Measures, prints the table, and says of each target whether it was met.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let options = options(arguments)?;
    let quick = options.size.on_disk == QUICK.on_disk;
    if cfg!(debug_assertions) && !quick {
        return in_release(arguments);
    }
    let table = if options.guard {
        let mut table = Table::default();
        guard::calls(&options.size, &mut table)?;
        table
    } else if options.socket_alone {
        let mut table = Table::default();
        socket::round_trips(&options.size, &mut table)?;
        table
    } else {
        measure_all(&options.size)?
    };
    print!("{}", if options.markdown { table.markdown() } else { table.plain() });
    if quick {
        println!("\na smoke run (--quick): these figures mean nothing");
    }
    if let Some(path) = &options.json {
        let written = std::fs::write(path, table.json());
        written.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options =
        Options { size: WHOLE, markdown: false, guard: false, socket_alone: false, json: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.size = QUICK,
            "--guard" => options.guard = true,
            "--markdown" => options.markdown = true,
            "--socket" => options.socket_alone = true,
            "--json" => {
                let path = arguments.next().ok_or("`--json` needs the name of a file")?;
                options.json = Some(path.into());
            }
            other => {
                return Err(format!(
                    "`bench` knows --quick, --guard, --socket, --markdown and --json FILE, not {other}"
                ));
            }
        }
    }
    Ok(options)
}

/// Figures of an unoptimised build would mean nothing.
fn in_release(arguments: &[String]) -> Result<ExitCode, String> {
    eprintln!("building in release, where the figures mean something");
    let mut command = repository::cargo(&repository::root()?);
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"]);
    let status = command.args(arguments).status();
    let status = status.map_err(|error| format!("cargo cannot be started: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure_all(size: &Size) -> Result<Table, String> {
    let mut table = Table::default();
    eprintln!("the paper's ledger in plain Python, up to {} events ...", size.python_max);
    let python = python::run(size.python_max)?;
    eprintln!("grounding checks, up to {} runs ...", size.runs.last().unwrap_or(&0));
    memory::grounding(size, &python, &mut table)?;
    memory::bytes(&python, &mut table);
    eprintln!("decisions of the gate, up to {} records ...", size.runs.last().unwrap_or(&0));
    gate::decisions(size, &mut table)?;
    guard::calls(size, &mut table)?;
    eprintln!("round trips over the daemon's socket ...");
    socket::round_trips(size, &mut table)?;
    disk::everything(size, &python, &mut table)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bench_still_runs_and_every_answer_it_times_is_right() {
        let table = measure_all(&QUICK).unwrap();
        for text in [table.plain(), table.markdown(), table.json()] {
            assert!(text.contains("grounding check"), "{text}");
        }
        assert_eq!(table.verdicts().count(), 10, "{}", table.plain());
    }
}

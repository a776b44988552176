//! Looks after the repository: one file a command, and this table of them. Nothing here is shipped.
//!
//! A new command is a file with `pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String>`, its `mod` line, and
//! one line in [`COMMANDS`].
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a binary that talks to a person")]

mod bench;
mod ci;
mod dice;
mod lab;
mod repository;
mod sim;
mod tidy;
mod tools;

use std::process::ExitCode;

const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        about: "every check, cheapest first: the one test command",
        run: ci::run,
    },
    Command {
        name: "tidy",
        about: "the rules of the tree; --write renews generated pages",
        run: tidy::run,
    },
    Command {
        name: "bench",
        about: "what the ledger costs, measured here and now; --quick, --markdown, --json FILE",
        run: bench::run,
    },
    Command {
        name: "lab",
        about: "plays stubs and recorded models, and holds the published report to it; --write renews it",
        run: lab::run,
    },
    Command {
        name: "sim",
        about: "one ledger, many sessions, a failing disk; --seed N, --steps M, --seconds S",
        run: sim::run,
    },
];

/// What `cargo xtask NAME` does. It says itself how it went; an `Err` is for what kept it from its work.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<ExitCode, String>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = arguments.collect();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("error: `{name}` is not a command of xtask\n\n{}", help());
        return ExitCode::from(2);
    };
    (command.run)(&rest).unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::from(2)
    })
}

fn help() -> String {
    let line = |command: &Command| format!("  {:<8} {}", command.name, command.about);
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    format!("cargo xtask COMMAND\n\n{}\n", lines.join("\n"))
}

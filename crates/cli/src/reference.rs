//! The page of the command line, made from the same definitions that parse it.

use clap::{Command, CommandFactory as _};

use crate::args::Cli;

/// `docs/cli.md`: the help of every command.
pub fn reference_page() -> String {
    let mut page = "# The command line\n\nMade from the program's own help by `cargo xtask tidy --write`; do not edit.\n"
        .to_owned();
    add(&mut page, Cli::command().max_term_width(100), "actum");
    page
}

fn add(page: &mut String, command: Command, name: &str) {
    let mut command = command.bin_name(name).disable_help_subcommand(true);
    command.build();
    let help = command.render_long_help().to_string();
    let help: Vec<_> = help.lines().map(str::trim_end).collect();
    let section = format!("\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    page.push_str(&section);
    for part in command.get_subcommands().cloned().collect::<Vec<_>>() {
        let name = format!("{name} {}", part.get_name());
        add(page, part, &name);
    }
}

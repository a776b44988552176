//! The binary `actum`.

use std::process::ExitCode;

fn main() -> ExitCode {
    actum_cli::main()
}

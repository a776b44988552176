//! The binary `actum-lab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    actum_lab::main()
}

//! Talks to a person: the command line of Actum. What it says is in `say`, what can be said to it in `args`, and what each
//! command does in `cmd/`. The rules are in `actum-core`, the files in `actum-store`.

mod args;
mod args_guard;
mod args_memory;
mod cmd;
mod context;
mod detect;
mod door;
mod exec;
mod link;
mod losses;
mod reference;
mod say;
mod subject;
mod survey;
mod time;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::args::{Cli, Command, Policy};
use crate::context::Context;
use crate::say::{Outcome, Say};

pub use crate::reference::reference_page;

/// Does what the command line says, and returns the exit code.
pub fn main() -> ExitCode {
    keep_secrets_out_of_core_files();
    let cli = Cli::parse();
    let say = Say { json: cli.json };
    match dispatch(&cli, say) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // The standard output of a run is its command's own.
            let is_beside = matches!(cli.command, Command::Run(_) | Command::Guard(_));
            failure.tell(say, is_beside);
            ExitCode::from(failure.exit)
        }
    }
}

/// A core file of this process would hold the key. Commands it starts are not touched: this ends where another program begins.
fn keep_secrets_out_of_core_files() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Without it everything works as well; there is only more to be careful with.
        let _unprotected = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

fn dispatch(cli: &Cli, say: Say) -> Outcome<u8> {
    // An empty variable names nothing.
    let named = cli.store.as_deref().filter(|path| !path.is_empty()).map(Path::new);
    let find = || Context::find(named, say);
    match &cli.command {
        Command::Init(args) => cmd::init::init(&Context::here(named, say)?, args),
        Command::Run(args) => find()
            .map_err(|failure| failure.exiting(say::RUN_FAILED))
            .and_then(|context| cmd::run::run(&context, args)),
        Command::Ground(args) => cmd::ground::ask(find(), args, say),
        Command::Skip(args) => cmd::ground::decide(find(), args, say),
        Command::Log(args) => cmd::log::run(&find()?, args),
        Command::Verify => cmd::verify::run(&find()?),
        Command::Revoke(args) => cmd::revoke::run(&find()?, args),
        Command::Resolve(args) => cmd::resolve::run(&find()?, args),
        Command::Policy(args) => match (find(), args) {
            // A policy can be checked before there is a ledger.
            (Err(_), Policy::Check { .. }) => cmd::policy::run(&Context::here(named, say)?, args),
            (context, _) => cmd::policy::run(&context?, args),
        },
        Command::Session(args) => cmd::session::run(&find()?, args),
        Command::Observe(args) => cmd::observe::run(&find()?, args),
        Command::Remember(args) => cmd::remember::run(&find()?, args),
        Command::Recall(args) => cmd::recall::recall(&find()?, args),
        Command::Fire(args) => cmd::recall::fire(&find()?, args),
        Command::Act(args) => cmd::act::act(&find()?, args),
        Command::End(args) => cmd::act::end(&find()?, args),
        Command::Inventory(args) => cmd::inventory::run(&find()?, args),
        Command::Adopt(args) => cmd::adopt::run(&find()?, args),
        Command::Quarantine(args) => cmd::quarantine::run(&find()?, args),
        Command::Inbox => cmd::inbox::run(&find()?),
        Command::Approve(args) => cmd::approve::run(&find()?, args),
        Command::Mandate(args) => cmd::mandate::run(&find()?, args),
        Command::Why(args) => cmd::why::why(&find()?, args.event),
        Command::Trace(args) => cmd::why::trace(&find()?, args.event),
        Command::Coverage => cmd::coverage::run(&find()?),
        Command::Adapter(args) => cmd::adapter::run(&find()?, args),
        Command::Guard(args) => cmd::guard::run(&find()?, args),
        Command::Key(args) => cmd::key::run(&find()?, args),
        Command::Daemon(args) => cmd::daemon::run(&find()?, args),
        Command::Status => cmd::status::run(&find()?),
        Command::Watch => cmd::watch::run(&find()?),
        Command::Deny { receipt, confirm } => cmd::approve::deny(&find()?, receipt, confirm),
        Command::Demo => cmd::demo::run(say),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "actum", &mut script);
            say::out(&String::from_utf8_lossy(&script));
            Ok(0)
        }
    }
}

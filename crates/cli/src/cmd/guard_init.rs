//! `actum guard init`: a guard before each server of a client, in one review; and back.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use actum_core::policy::ChannelPattern;
use actum_core::{Adapter, LIMITS_MAX, Owner, Space, ToolName, Views, hex};
use actum_serve::guard::review::{self, Before, Proposed};
use actum_serve::guard::{Definition, tools_of};
use actum_serve::wire::Deed;
use actum_store::random;
use serde_json::json;
use similar::TextDiff;
use zeroize::Zeroizing;

use super::guard::check_name;
use super::policy::{accept, prepare};
use crate::context::{Context, confirm};
use crate::door::{self, CREDENTIAL_BYTES, Desk};
use crate::say::{FAILED, Failure, Outcome, changed_line, count, foreign, read_text};

/// What the file as it was is kept as, beside it.
const BACKUP: &str = ".before-actum";
const FIRST_POLICY: &str = "version = 1\n";

struct Server {
    name: String,
    tools: Vec<Definition>,
}

pub(crate) fn init(context: &Context, file: &Path, interactive: bool, yes: bool) -> Outcome<u8> {
    let say = context.say;
    let before = read_text(file).map_err(Failure::usage)?;
    let wrong = |what: String| Failure::usage(format!("{}: {what}", file.display()));
    let listed = review::servers(&before).map_err(wrong)?;
    let (mut servers, mut skipped) = (Vec::new(), Vec::new());
    for server in listed {
        let why = match (&server.command, server.is_guarded, check_name(&server.name)) {
            (_, true, _) => "a guard stands before it already".to_owned(),
            (None, ..) => "it is reached by an address: see `actum guard --help`".to_owned(),
            (_, _, Err(error)) => error,
            (Some(command), false, Ok(())) => match tools_of(command, &server.env) {
                Ok(tools) => {
                    servers.push(Server { name: server.name, tools });
                    continue;
                }
                Err(what) => what,
            },
        };
        say.line(&format!("left as it is: {}: {}", foreign(&server.name), foreign(&why)));
        skipped.push(json!({ "server": server.name, "why": why }));
    }
    if servers.is_empty() {
        let message = format!("{} has no server to put a guard before", file.display());
        return Err(Failure::new(FAILED, message));
    }
    let snapshot = context.read()?;
    let policy_before =
        read_text(&context.policy_path()).unwrap_or_else(|_none| FIRST_POLICY.to_owned());
    let policy_after = proposed(context, &policy_before, &servers)?;
    let policy = prepare(context, &policy_after)?;
    let adapter = free_name(snapshot.views());
    let key =
        context.places().data.join("guards").join(format!("{adapter}-{}", hex(&*random::<6>()?)));
    let after =
        guarded(context, &before, &servers, (&adapter, interactive, &key)).map_err(wrong)?;
    say.show(&format!("{}:", context.policy_path().display()));
    say.show(&difference(&policy_before, &policy_after));
    say.show(&format!("{}:", file.display()));
    say.show(&difference(&before, &after));
    say.show("What a server says of itself is a seed and no more: look at each class, and at what binds.");
    let owner = confirm("Accept this policy, and put these guards before the servers?", yes)?;
    let backup = backup_of(file);
    write_new(&backup, &before, 0o600).map_err(|error| {
        Failure::new(
            FAILED,
            format!("cannot keep {} as it was in {}: {error}", file.display(), backup.display()),
        )
        .hint("`actum guard undo` puts back what an earlier review changed")
    })?;
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(FAILED, format!("cannot write {}: {error}", path.display()))
    };
    let path = context.policy_path();
    replace(&path, &policy_after).map_err(|error| failed(&path, error))?;
    let event = accept(context, &policy, owner)?;
    enrol(context, &adapter, &servers, &key, owner)?;
    // Last, so that a client that starts meanwhile meets either all of it or nothing.
    replace(file, &after).map_err(|error| failed(file, error))?;
    let tools: usize = servers.iter().map(|server| server.tools.len()).sum();
    say.line(&format!(
        "{} with {} stand behind a guard now; the policy is in force (event {event}, owner known by {owner})",
        count(servers.len() as u64, "server"),
        count(tools as u64, "tool")
    ));
    say.line(&format!(
        "as it was: {}; back to it: actum guard undo {}",
        backup.display(),
        file.display()
    ));
    say.json(&json!({
        "file": file.display().to_string(),
        "backup": backup.display().to_string(),
        "policy": event,
        "adapter": adapter,
        "owner": owner.word(),
        "servers": servers.iter().map(to_json).collect::<Vec<_>>(),
        "skipped": skipped,
    }));
    Ok(0)
}

fn to_json(server: &Server) -> serde_json::Value {
    let tools = server.tools.iter().map(|tool| {
        let (class, binding) = review::propose(tool);
        let class = match class {
            Proposed::Read => "read",
            Proposed::Fetch => "fetch",
            Proposed::Effect => "effect",
        };
        json!({ "tool": format!("{}/{}", server.name, tool.name), "class": class, "binding": binding })
    });
    let tools: Vec<_> = tools.collect();
    json!({ "server": server.name, "tools": tools })
}

/// The policy with a table for each tool that has none.
fn proposed(context: &Context, before: &str, servers: &[Server]) -> Outcome<String> {
    let known = prepare(context, before)?;
    let mut text = before.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for server in servers {
        let is_new = |tool: &&Definition| {
            let name = ToolName::new(&format!("{}/{}", server.name, tool.name));
            name.is_ok_and(|name| !known.policy().tool(&name).listed())
        };
        let new: Vec<Definition> = server.tools.iter().filter(is_new).cloned().collect();
        text.push_str(&review::proposal(&server.name, &new));
    }
    Ok(text)
}

fn guarded(
    context: &Context,
    before: &str,
    servers: &[Server],
    (adapter, interactive, key): (&str, bool, &Path),
) -> Result<String, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let program = program.to_string_lossy().into_owned();
    let store = context.places().store.to_string_lossy().into_owned();
    let first = ["--store", &store, "guard", "--name"].map(String::from);
    let mut then = vec!["--as".to_owned(), adapter.to_owned()];
    if interactive {
        then.push("--interactive".to_owned());
    }
    let names: Vec<String> = servers.iter().map(|server| server.name.clone()).collect();
    let key = key.to_string_lossy().into_owned();
    let env = ("ACTUM_CREDENTIAL_FILE", key.as_str());
    review::guarded(before, &names, &Before { program: &program, first: &first, then: &then, env })
}

fn free_name(views: &Views) -> String {
    let names = std::iter::once("guard".to_owned())
        .chain((2..).map(|number: u32| format!("guard-{number}")));
    let mut free = names.filter(|name| views.number(Space::Adapter, name.as_bytes()).is_none());
    free.next().unwrap_or_default()
}

/// Lets the guards observe, each on the channel of its server.
fn enrol(
    context: &Context,
    adapter: &str,
    servers: &[Server],
    key: &Path,
    owner: Owner,
) -> Outcome<()> {
    let names: BTreeSet<String> = if servers.len() > LIMITS_MAX {
        BTreeSet::from(["mcp:*".to_owned()])
    } else {
        servers.iter().map(|server| format!("mcp:{}", server.name)).collect()
    };
    if let Some(name) = names.iter().find(|name| ChannelPattern::read(name).is_none()) {
        return Err(Failure::usage(format!("{name} is no channel")));
    }
    let secret = Zeroizing::new(hex(&*random::<CREDENTIAL_BYTES>()?));
    let failed = |error| Failure::new(FAILED, format!("cannot write {}: {error}", key.display()));
    if let Some(folder) = key.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    write_new(key, &secret, 0o600).map_err(failed)?;
    let mut desk = Desk::open(context, "guard init", door::owner(owner))?;
    desk.record(Deed::Enrol {
        adapter: adapter.to_owned(),
        credential: Adapter::credential_digest(secret.as_bytes()),
        channels: names.into_iter().collect(),
    })?;
    Ok(())
}

pub(crate) fn undo(context: &Context, file: &Path, yes: bool) -> Outcome<u8> {
    let say = context.say;
    let backup = backup_of(file);
    let before = read_text(&backup).map_err(|error| {
        Failure::usage(error).hint("`actum guard init` keeps a client's file there as it was")
    })?;
    let now = read_text(file).map_err(Failure::usage)?;
    say.show(&format!("{}:", file.display()));
    say.show(&difference(&now, &before));
    confirm("Put it back as it was?", yes)?;
    let failed = |error| Failure::new(FAILED, format!("cannot write {}: {error}", file.display()));
    replace(file, &before).map_err(failed)?;
    fs::remove_file(&backup).map_err(failed)?;
    say.line("it is as it was; the policy stays in force, and `actum adapter list` shows the adapter of the guards");
    say.json(&json!({ "file": file.display().to_string(), "undone": true }));
    Ok(0)
}

fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}

fn difference(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let groups = diff.grouped_ops(2);
    let changes = groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    changes.map(|change| changed_line(change.tag(), change.value()) + "\n").collect()
}

fn write_new(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Either the old text is there or the new one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".new-{}", std::process::id()));
    let draft = PathBuf::from(draft);
    write_new(&draft, text, 0o600)?;
    if let Ok(meta) = fs::metadata(path) {
        fs::set_permissions(&draft, meta.permissions())?;
    }
    fs::rename(&draft, path)
}

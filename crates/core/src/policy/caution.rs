//! What a rule may not say, because its command would then no longer say what ran: `*` in place of a program or of code,
//! and variables that put another program or library in place of the one named.
//!
//! The lists hold what is common, not everything there is. They keep an owner from a mistake; the owner is not the attacker.

use super::Element;
use super::error::shown;

/// Run the program that their arguments name, after options and assignments of their own: no place for `*` is safe.
const LAUNCHERS: &[&str] = &[
    "busybox", "chroot", "chrt", "cmd", "command", "doas", "env", "eval", "exec", "find", "flock",
    "gdb", "ionice", "ltrace", "nice", "nohup", "nsenter", "parallel", "script", "setsid", "ssh",
    "stdbuf", "strace", "su", "sudo", "taskset", "time", "timeout", "toybox", "unshare", "watch",
    "xargs",
];

/// Run the script that their first argument names; what follows it is the script's.
const INTERPRETERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "bunx",
    "csh",
    "dash",
    "deno",
    "fish",
    "gawk",
    "java",
    "ksh",
    "lua",
    "mksh",
    "node",
    "npx",
    "osascript",
    "perl",
    "php",
    "pipx",
    "pnpx",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "pythonw",
    "rscript",
    "ruby",
    "sh",
    "tclsh",
    "tcsh",
    "ts-node",
    "tsx",
    "uvx",
    "zsh",
];

/// Whatever the program, the word after one of these is commonly code or the name of what is run: `npm run *`.
const HAND_OVER: &[&str] = &[
    "-c",
    "-e",
    "-E",
    "-exec",
    "--command",
    "--eval",
    "--exec",
    "-Command",
    "run",
    "exec",
    "dlx",
    "x",
];

/// Why `*` may not stand in the command, and at which element.
///
/// `sh -c *`, `env *`, `timeout 9 *` would pass with any command at all, and a step that any command passes proves nothing.
/// `python check.py *` is fine: the script is fixed, and `*` is only what it looks at.
pub(super) fn unsafe_any(command: &[Element]) -> Option<(usize, String)> {
    let program = command.first()?.as_str();
    let name = base_name(program);
    let program = shown(program);
    let first = command.iter().position(|element| *element == Element::Any)?;

    if LAUNCHERS.contains(&name.as_str()) {
        return Some((first, format!("`{program}` runs whatever its arguments name")));
    }
    let script_is_fixed =
        matches!(command.get(1), Some(Element::Exact(script)) if !script.starts_with('-'));
    if INTERPRETERS.contains(&name.as_str()) && !script_is_fixed {
        let why = format!("`{program}` runs what its arguments say unless a script comes first");
        return Some((first, why));
    }
    for (index, pair) in command.windows(2).enumerate() {
        if let [Element::Exact(word), Element::Any] = pair
            && HAND_OVER.contains(&word.as_str())
        {
            return Some((index + 1, format!("what follows `{word}` is what is run")));
        }
    }
    None
}

/// `/usr/bin/python3.12` and `Python.exe` are both `python`.
fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let versionless = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    versionless.strip_suffix('-').unwrap_or(versionless).to_owned()
}

/// What the variable changes, if that is which program runs or which code is loaded before it.
///
/// Only what works on every program is here. What one tool reads (`RUSTC_WRAPPER`, `PYTHONPATH`, `NODE_OPTIONS`) is the
/// owner's to list, and passes on only then.
pub(super) fn unsafe_env(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let loaded = "which libraries are loaded";
    let shell = "what every shell runs or how it reads its commands";
    if name.starts_with("LD_") || name.starts_with("DYLD_") {
        return Some(loaded);
    }
    if name.starts_with("BASH_FUNC_") {
        return Some(shell);
    }
    match name.as_str() {
        "PATH" | "PATHEXT" | "COMSPEC" => Some("which program a name stands for"),
        "LIBPATH" | "SHLIB_PATH" | "GCONV_PATH" | "GLIBC_TUNABLES" => Some(loaded),
        "BASH_ENV" | "ENV" | "SHELLOPTS" | "BASHOPTS" | "IFS" | "ZDOTDIR" => Some(shell),
        _ => None,
    }
}

//! What `actum guard init` proposes: a class for each tool of a server, and a client's file with a guard before each server. Pure:
//! texts in, texts out.

use serde_json::value::RawValue;

use super::message::{Definition, members_of, quoted};

/// Bytes of a client's file.
pub const CLIENT_FILE_MAX: usize = 4 << 20;

/// A server of a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What the client calls it.
    pub name: String,
    /// How it is started; nothing for one that is reached by an address.
    pub command: Option<Vec<String>>,
    /// The variables that it is started with.
    pub env: Vec<(String, String)>,
    /// A guard stands before it already.
    pub is_guarded: bool,
}

/// What a guard is started as.
#[derive(Debug, Clone)]
pub struct Before<'a> {
    /// The program.
    pub program: &'a str,
    /// Its first words; the name of the server follows.
    pub first: &'a [String],
    /// The words between that and the server's command.
    pub then: &'a [String],
    /// What is added to the environment.
    pub env: (&'a str, &'a str),
}

/// The servers of a client's file.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn servers(file: &str) -> Result<Vec<Listed>, String> {
    let servers = servers_of(file)?;
    servers.iter().map(|(name, raw)| listed(name, raw)).collect()
}

fn servers_of(file: &str) -> Result<Vec<(String, &RawValue)>, String> {
    if file.len() > CLIENT_FILE_MAX {
        return Err(format!("it has more than {CLIENT_FILE_MAX} bytes"));
    }
    let raw: &RawValue = serde_json::from_str(file).map_err(|error| error.to_string())?;
    let members = members_of(raw)?;
    let mut servers = members.iter().filter(|(name, _)| name == "mcpServers");
    let (Some((_, servers)), None) = (servers.next(), servers.next()) else {
        return Err("it does not hold the one member \"mcpServers\"".to_owned());
    };
    members_of(servers)
}

fn listed(name: &str, raw: &RawValue) -> Result<Listed, String> {
    let members = members_of(raw).map_err(|what| format!("server {name}: {what}"))?;
    let find = |member: &str| members.iter().find(|(it, _)| it == member).map(|(_, raw)| raw.get());
    let wrong = |member: &str| format!("server {name}: `{member}` is not what it should be");
    let program: Option<String> = match find("command") {
        Some(raw) => Some(serde_json::from_str(raw).map_err(|_other_kind| wrong("command"))?),
        None => None,
    };
    let args: Vec<String> = match find("args") {
        Some(raw) => serde_json::from_str(raw).map_err(|_other_kind| wrong("args"))?,
        None => Vec::new(),
    };
    let env: std::collections::BTreeMap<String, String> = match find("env") {
        Some(raw) => serde_json::from_str(raw).map_err(|_other_kind| wrong("env"))?,
        None => std::collections::BTreeMap::new(),
    };
    let is_guarded =
        program.as_deref().is_some_and(|program| program.rsplit('/').next() == Some("actum"))
            && args.iter().any(|word| word == "guard");
    let command = program.map(|program| [vec![program], args].concat());
    Ok(Listed { name: name.to_owned(), command, env: env.into_iter().collect(), is_guarded })
}

/// The client's file with a guard before each of these servers; whatever else is in it stays as it stands.
///
/// # Errors
/// As [`servers`].
pub fn guarded(file: &str, names: &[String], before: &Before<'_>) -> Result<String, String> {
    let all = servers_of(file)?;
    let mut new = file.to_owned();
    // From the last to the first, so that what was not touched yet stands where it stood.
    for (name, raw) in all.iter().rev().filter(|(name, _)| names.contains(name)) {
        let server = listed(name, raw)?;
        let Some(command) = server.command else { continue };
        let own = [name.clone()];
        let words = [before.first, &own, before.then, &["--".to_owned()], &command].concat();
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let mut parts = Vec::new();
        let mut env = server.env;
        env.retain(|(variable, _)| variable != before.env.0);
        env.push((before.env.0.to_owned(), before.env.1.to_owned()));
        let env: Vec<String> = env
            .iter()
            .map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)))
            .collect();
        for (member, raw) in members_of(raw)? {
            if !matches!(member.as_str(), "command" | "args" | "env") {
                parts.push(format!("{}: {}", quoted(&member), raw.get()));
            }
        }
        parts.push(format!("\"command\": {}", quoted(before.program)));
        parts.push(format!("\"args\": [{}]", words.join(", ")));
        parts.push(format!("\"env\": {{{}}}", env.join(", ")));
        let from = (raw.get().as_ptr() as usize).saturating_sub(file.as_ptr() as usize);
        let text = format!("{{\n      {}\n    }}", parts.join(",\n      "));
        new.replace_range(from..from + raw.get().len(), &text);
    }
    Ok(new)
}

/// What a tool is proposed to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proposed {
    /// Its server says that it only reads, and nothing in its arguments looks like an address.
    Read,
    /// The same, but it has an address.
    Fetch,
    /// Everything else.
    Effect,
}

/// Names of arguments that say on whom, on what or how much an effect falls.
const BINDING: &[&str] = &[
    "account",
    "address",
    "amount",
    "bcc",
    "branch",
    "bucket",
    "cc",
    "channel",
    "cmd",
    "command",
    "database",
    "destination",
    "dest",
    "email",
    "file",
    "filename",
    "host",
    "iban",
    "id",
    "key",
    "owner",
    "path",
    "payee",
    "phone",
    "price",
    "query",
    "quantity",
    "recipient",
    "recipients",
    "repo",
    "source",
    "sql",
    "subject_id",
    "table",
    "target",
    "to",
    "uri",
    "url",
    "user",
    "username",
];
const ADDRESSES: &[&str] = &["address", "host", "href", "link", "uri", "url"];

/// The tables of a policy for the tools of a server.
pub fn proposal(server: &str, tools: &[Definition]) -> String {
    tools.iter().map(|tool| table_of(server, tool)).collect()
}

/// What one tool is proposed to be, and which of its arguments bind; all where none stands out.
pub fn propose(tool: &Definition) -> (Proposed, Vec<&str>) {
    let is_in = |names: &[&str], argument: &str| {
        let lower = argument.to_lowercase();
        names.contains(&lower.as_str())
            || names.iter().any(|name| {
                lower.ends_with(&format!("_{name}")) || argument.ends_with(&capitalised(name))
            })
    };
    let arguments = || tool.arguments.iter().map(String::as_str);
    let addresses: Vec<&str> = arguments().filter(|name| is_in(ADDRESSES, name)).collect();
    match (tool.read_only, addresses.is_empty()) {
        (Some(true), true) => (Proposed::Read, Vec::new()),
        (Some(true), false) => (Proposed::Fetch, addresses),
        (Some(false) | None, _) => {
            (Proposed::Effect, arguments().filter(|name| is_in(BINDING, name)).collect())
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn table_of(server: &str, tool: &Definition) -> String {
    let (proposed, binding) = propose(tool);
    let class = match proposed {
        Proposed::Read => "read",
        Proposed::Fetch => "fetch",
        Proposed::Effect => "effect",
    };
    let says = match tool.read_only {
        Some(true) => "its server says that it only reads",
        Some(false) => "its server says that it changes something",
        None => "its server does not say whether it only reads",
    };
    // What a server says goes into a comment only without anything that could end it.
    let clean = |text: &str| text.chars().filter(|c| !c.is_control()).take(100).collect::<String>();
    let comment = clean(tool.description.lines().next().unwrap_or_default());
    let name = quoted(&format!("{server}/{}", tool.name));
    let names: Vec<String> = binding.iter().map(|name| quoted(name)).collect();
    let kinds = binding.iter().filter_map(|name| Some((quoted(name), kind_of(name)?)));
    let kinds: Vec<String> = kinds.map(|(name, kind)| format!("{name} = \"{kind}\"")).collect();
    let (names, kinds) = (names.join(", "), kinds.join(", "));
    // A text in JSON is one in TOML: both have these escapes.
    [
        format!("\n# {comment} ({says})\n[tools.{name}]\nclass = \"{class}\"\n"),
        if names.is_empty() { names } else { format!("binding = [{names}]\n") },
        if kinds.is_empty() { kinds } else { format!("kinds = {{ {kinds} }}\n") },
    ]
    .concat()
}

fn kind_of(argument: &str) -> Option<&'static str> {
    let lower = argument.to_lowercase();
    let ends = |names: &[&str]| names.iter().any(|name| lower.ends_with(name));
    if ends(&["path", "file", "filename"]) {
        Some("path")
    } else if ends(&["url", "uri", "href", "link"]) {
        Some("url")
    } else if ends(&["email"]) || matches!(lower.as_str(), "to" | "cc" | "bcc") {
        Some("email")
    } else if ends(&["amount", "price", "quantity"]) {
        Some("number")
    } else if ends(&["iban", "account"]) {
        Some("account")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use actum_core::policy::Policy;

    use super::*;

    fn tool(name: &str, read_only: Option<bool>, arguments: &[&str]) -> Definition {
        Definition {
            name: name.to_owned(),
            pinned: String::new(),
            read_only,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            description: "Does.\n[tools.x]".to_owned(),
        }
    }

    #[test]
    fn hints_are_a_seed_and_what_says_nothing_is_an_effect() {
        assert_eq!(propose(&tool("a", None, &["x"])), (Proposed::Effect, vec![]));
        assert_eq!(propose(&tool("a", Some(true), &["x"])), (Proposed::Read, vec![]));
        let page = tool("a", Some(true), &["pageUrl"]);
        assert_eq!(propose(&page), (Proposed::Fetch, vec!["pageUrl"]));
        let sends = tool("a", Some(false), &["to", "body", "account_id"]);
        let (class, binding) = propose(&sends);
        assert_eq!((class, binding), (Proposed::Effect, vec!["to", "account_id"]));
    }

    #[test]
    fn every_proposal_is_a_policy() {
        let tools = [
            tool("read \"x\"", Some(true), &[]),
            tool("get", Some(true), &["url"]),
            tool("pay", None, &["payee", "amount", "iban", "note\u{7f}"]),
        ];
        let text = format!("version = 1\n{}", proposal("bank", &tools));
        let policy = Policy::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(policy.tools().count(), 3);
    }

    const FILE: &str = r#"{
  "other": [1.50, {"a": 1}],
  "mcpServers": {
    "clinic": { "command": "python3", "args": ["server.py", "--x"], "env": {"A": "1"}, "zz": 7 },
    "far": { "url": "https://x.example/mcp" },
    "done": { "command": "/usr/bin/actum", "args": ["guard", "--name", "done", "--", "x"] }
  }
}
"#;

    #[test]
    fn a_guard_is_put_before_a_server_and_the_rest_stays_as_it_stands() {
        let all = servers(FILE).unwrap();
        assert_eq!(
            all[0].command.as_deref(),
            Some(["python3", "server.py", "--x"].map(String::from).as_slice())
        );
        assert!(all[1].command.is_none() && all[2].is_guarded && !all[0].is_guarded);
        let first = ["guard", "--name"].map(String::from);
        let before = Before { program: "/bin/actum", first: &first, then: &[], env: ("KEY", "/k") };
        let new = guarded(FILE, &["clinic".to_owned()], &before).unwrap();
        let again = servers(&new).unwrap();
        let command =
            ["/bin/actum", "guard", "--name", "clinic", "--", "python3", "server.py", "--x"];
        assert_eq!(again[0].command.as_deref(), Some(command.map(String::from).as_slice()));
        assert!(again[0].is_guarded);
        assert_eq!(
            again[0].env,
            [("A".to_owned(), "1".to_owned()), ("KEY".to_owned(), "/k".to_owned())]
        );
        assert!(new.contains("\"zz\": 7") && new.contains("[1.50, {\"a\": 1}]"));
        let (_, rest) = FILE.split_once("\"zz\": 7 }").unwrap();
        assert!(new.ends_with(rest));
    }

    #[test]
    fn a_file_without_servers_is_told_apart() {
        for (file, part) in [
            ("{}", "mcpServers"),
            ("[]", "object"),
            ("{\"mcpServers\":{\"a\":{\"args\":7}}}", "args"),
        ] {
            assert!(servers(file).unwrap_err().contains(part), "{file}");
        }
    }
}

//! `actum mandate`: what the owner allows beforehand, in words before it is granted, and with what is left of it.

use actum_core::{
    ArgumentName, Audience, ChannelName, EntryKind, ItemKind, LimitFlaw, LimitKind, MANDATE_MS_MAX,
    Mandate, NewAudience, NewLimit, NewMandate, Number, Provenance, Space, ToolName, ValueKind,
    Views, check_limit, policy::Binding, policy::ToolRule,
};
use actum_serve::wire::{self, Deed};
use actum_store::{AcceptedPolicy, read_clocks};
use serde_json::{Value, json};

use super::session::name_of;
use crate::args::Confirm;
use crate::args_memory as args;
use crate::context::{Context, confirm};
use crate::door::{self, Desk, policy_of, session};
use crate::say::{Failure, Outcome, count, foreign};
use crate::time::{local, utc};

/// One unit, in millionths.
const MILLION: u64 = 1_000_000;

pub(crate) fn run(context: &Context, args: &args::Mandate) -> Outcome<u8> {
    match args {
        args::Mandate::Grant(args) => grant(context, args),
        args::Mandate::List => list(context),
        args::Mandate::Revoke { mandate, confirm } => revoke(context, *mandate, confirm),
    }
}

fn grant(context: &Context, args: &args::Grant) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let policy = policy_of(context, views);
    let now_ms = read_clocks().wall_ms.max(views.time_ms());
    let mandate = asked_for(args, views, policy.as_ref(), now_ms)?;
    let mut words = Words::of_new(&mandate).lines();
    words.extend(left_open(&mandate, policy.as_ref()));
    if !context.say.json || !args.confirm.yes {
        for line in &words {
            context.say.show(line);
        }
    }
    let owner = confirm("Grant this mandate?", args.confirm.yes)?;
    let mut desk = Desk::open(context, "mandate grant", door::owner(owner))?;
    let event = desk.record(Deed::Grant(on_the_wire(mandate)))?;
    context.say.line(&format!("mandate {event} is granted (owner known by {owner})"));
    context.say.line(&format!("take it back with: actum mandate revoke {event}"));
    let facts = desk.look(|views| {
        let granted = views.provenance().mandate(event);
        Ok(granted.map(|it| to_json(views, it, read_clocks().wall_ms)))
    })?;
    context.say.json(&json!({ "mandate": facts, "event": event, "owner": owner.word() }));
    Ok(0)
}

fn on_the_wire(mandate: NewMandate) -> wire::Mandate {
    let limits = mandate.limits.into_iter().map(|limit| wire::Limit {
        argument: limit.argument.to_string(),
        kind: limit.kind,
        values: limit.values,
    });
    wire::Mandate {
        tool: mandate.tool.to_string(),
        audience: match mandate.audience {
            NewAudience::Task(record) => wire::Audience::Task(record),
            NewAudience::Adapter(name) => wire::Audience::Adapter(name),
            NewAudience::Session(name) => wire::Audience::Session(name.to_string()),
            NewAudience::Channel(name) => wire::Audience::Channel(name.to_string()),
        },
        from_ms: Some(mandate.from_ms),
        until_ms: mandate.until_ms,
        uses: mandate.uses,
        budget: mandate.budget,
        limits: limits.collect(),
        narrows: mandate.parent,
    }
}

/// The mandate that the command line asks for.
fn asked_for(
    args: &args::Grant,
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    now_ms: u64,
) -> Outcome<NewMandate> {
    let tool = ToolName::new(&args.tool).map_err(|error| Failure::usage(error.to_string()))?;
    let rule = policy.map(|policy| policy.policy().tool(&tool));
    let mut limits = Vec::new();
    for (kind, texts) in [
        (LimitKind::Equal, &args.equal),
        (LimitKind::OneOf, &args.one_of),
        (LimitKind::Range, &args.range),
        (LimitKind::Prefix, &args.prefix),
        (LimitKind::Glob, &args.glob),
    ] {
        for text in texts {
            limits.push(limit_of(kind, text, rule)?);
        }
    }
    let audience = audience_of(&args.audience, views)?;
    let length = u64::try_from(args.holds_for.as_millis()).unwrap_or(u64::MAX);
    if length > MANDATE_MS_MAX {
        return Err(Failure::usage("a mandate holds for at most ten years")
            .hint("give a shorter time with --for, such as 24h or 30d"));
    }
    if args.uses == 0 {
        return Err(Failure::usage("a mandate has at least one use"));
    }
    let mut mandate = NewMandate {
        tool,
        audience,
        from_ms: now_ms,
        until_ms: now_ms.saturating_add(length),
        uses: args.uses,
        budget: args.budget.as_deref().map(budget_of).transpose()?,
        limits,
        parent: args.narrows,
    };
    if let Some(parent) = args.narrows {
        let found = views.provenance().mandate(parent).ok_or_else(|| {
            Failure::usage(format!("event {parent} is not a mandate in force"))
                .hint("`actum mandate list` lists them")
        })?;
        narrow(&mut mandate, found);
    }
    contradictions(&mandate.limits)?;
    Ok(mandate)
}

/// What the wider mandate limits, the narrower one does as well; and it ends no later.
fn narrow(mandate: &mut NewMandate, parent: &Mandate) {
    for (argument, kind, values) in &parent.limits {
        let Ok(argument) = ArgumentName::new(argument) else { continue };
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let inherited = NewLimit { argument, kind: *kind, values };
        if !mandate.limits.contains(&inherited) {
            mandate.limits.push(inherited);
        }
    }
    mandate.from_ms = mandate.from_ms.max(parent.from_ms);
    mandate.until_ms = mandate.until_ms.min(parent.until_ms);
    if let (None, Some((argument, left))) = (&mandate.budget, &parent.budget_left) {
        mandate.budget = Some((argument.to_string(), *left));
    }
}

/// Two values that one argument is to have at once: nothing would ever be covered.
fn contradictions(limits: &[NewLimit]) -> Outcome<()> {
    let equal = |limit: &&NewLimit| limit.kind == LimitKind::Equal;
    for (at, one) in limits.iter().enumerate().filter(|(_, limit)| equal(limit)) {
        let other = limits
            .iter()
            .skip(at + 1)
            .filter(equal)
            .find(|other| other.argument == one.argument && other.values != one.values);
        if other.is_some() {
            let argument = &one.argument;
            let message = format!("{argument} cannot be equal to two values at once");
            return Err(Failure::usage(message)
                .hint(format!("either of several values is: --one-of {argument}=ONE,OTHER")));
        }
    }
    Ok(())
}

fn limit_of(kind: LimitKind, text: &str, rule: Option<&ToolRule>) -> Outcome<NewLimit> {
    let flag = kind.word().replace('_', "-");
    let Some((argument, value)) = text.split_once('=') else {
        return Err(Failure::usage(format!("--{flag} {text}: no value is given"))
            .hint(format!("write it as --{flag} ARGUMENT=VALUE")));
    };
    let argument = ArgumentName::new(argument)
        .map_err(|error| Failure::usage(format!("--{flag} {text}: {error}")))?;
    let values: Vec<String> = match kind {
        LimitKind::OneOf => value.split(',').map(str::to_owned).collect(),
        LimitKind::Range => match value.split_once("..") {
            Some((from, until)) => vec![from.to_owned(), until.to_owned()],
            None => {
                return Err(Failure::usage(format!("--{flag} {text}: that is no range"))
                    .hint("write it as --range amount=0..50; both ends are in it"));
            }
        },
        LimitKind::Equal | LimitKind::Prefix | LimitKind::Glob => vec![value.to_owned()],
    };
    if values.iter().any(String::is_empty) {
        return Err(Failure::usage(format!("--{flag} {text}: a value is empty")));
    }
    let of = rule.map_or(ValueKind::Text, |rule| rule.kind(&argument));
    let shown: Vec<&str> = values.iter().map(String::as_str).collect();
    check_limit(argument.as_str(), kind, &shown, of).map_err(|flaw| {
        let failure = Failure::usage(flaw.to_string());
        match flaw {
            LimitFlaw::Range { .. } => {
                failure.hint("impossible range: write the least first, as in --range amount=0..50")
            }
            LimitFlaw::Values { .. } | LimitFlaw::Kind { .. } | LimitFlaw::Value { .. } => failure,
        }
    })?;
    Ok(NewLimit { argument, kind, values })
}

fn budget_of(text: &str) -> Outcome<(String, u64)> {
    let wrong = |what: &str| {
        Failure::usage(format!("--budget {text}: {what}"))
            .hint("write it as --budget amount=150; it has at most six digits after the point")
    };
    let (argument, most) = text.split_once('=').ok_or_else(|| wrong("no number is given"))?;
    let argument = ArgumentName::new(argument)
        .map_err(|error| Failure::usage(format!("--budget {text}: {error}")))?;
    let most = Number::parse(most).ok_or_else(|| wrong("that is no number"))?;
    let most =
        most.millionths().ok_or_else(|| wrong("that number is below nothing, or too fine"))?;
    if most == 0 {
        return Err(wrong("a budget is more than nothing"));
    }
    Ok((argument.to_string(), most))
}

fn audience_of(text: &str, views: &Views) -> Outcome<NewAudience> {
    let wrong = || {
        Failure::usage(format!("`{text}` is no audience"))
            .hint("write it as session:ID, task:RECORD, adapter:NAME or channel:CHANNEL")
    };
    let (what, of) = text.split_once(':').ok_or_else(wrong)?;
    match what {
        "session" => {
            let name = session(of)?;
            let number = views.number(Space::Session, name.as_str().as_bytes());
            if number.and_then(|number| views.provenance().session(number)).is_none() {
                return Err(Failure::usage(format!("there is no session {of}"))
                    .hint("`actum session list` lists them"));
            }
            Ok(NewAudience::Session(name))
        }
        "task" => {
            let record: Option<u64> = of.parse().ok();
            let is_task = |record: &u64| {
                let item = views.provenance().item(*record);
                let what = item.map(|item| &item.what);
                matches!(what, Some(ItemKind::Entry { kind: EntryKind::Task, .. }))
            };
            record.filter(is_task).map(NewAudience::Task).ok_or_else(|| {
                Failure::usage(format!("{of} is not the record of a task"))
                    .hint("write it as task:41; `actum log --kind wrote` shows the records")
            })
        }
        "adapter" => {
            let number = views.number(Space::Adapter, of.as_bytes());
            let found = number.and_then(|number| views.provenance().adapter(number));
            if found.is_none_or(|adapter| adapter.revoked.is_some()) {
                return Err(Failure::usage(format!("there is no adapter {of}"))
                    .hint("`actum adapter list` lists them"));
            }
            Ok(NewAudience::Adapter(of.to_owned()))
        }
        "channel" => ChannelName::new(of)
            .map(NewAudience::Channel)
            .map_err(|error| Failure::usage(error.to_string())),
        _ => Err(wrong()),
    }
}

/// What the owner should know that no limit says.
fn left_open(mandate: &NewMandate, policy: Option<&AcceptedPolicy>) -> Vec<String> {
    let Some(policy) = policy else {
        return vec!["  no policy is in force: nothing is allowed until one is".to_owned()];
    };
    let rule = policy.policy().tool(&mandate.tool);
    let mut lines = Vec::new();
    if !rule.listed() {
        lines.push(
            "  the policy does not list this tool, so each of its arguments binds".to_owned(),
        );
    }
    if let Binding::Only(binding) = rule.binding() {
        let is_open = |argument: &&ArgumentName| {
            !mandate.limits.iter().any(|limit| limit.argument == **argument)
        };
        let open: Vec<String> = binding.iter().filter(is_open).map(ToString::to_string).collect();
        if !open.is_empty() {
            lines.push(format!(
                "  {} may be anything that does not come from somewhere untrusted",
                open.join(", ")
            ));
        }
    }
    lines
}

/// A mandate, granted or about to be, as a person reads it.
struct Words {
    tool: String,
    audience: String,
    from_ms: u64,
    until_ms: u64,
    uses: u32,
    budget: Option<(String, u64)>,
    limits: Vec<(String, LimitKind, Vec<String>)>,
    parent: Option<u64>,
}

impl Words {
    fn of_new(mandate: &NewMandate) -> Self {
        let audience = match &mandate.audience {
            NewAudience::Task(record) => format!("for the task of record {record}"),
            NewAudience::Adapter(name) => format!("in sessions of adapter {name}"),
            NewAudience::Session(name) => format!("in session {name}"),
            NewAudience::Channel(channel) => format!("set off by messages through {channel}"),
        };
        let limits = mandate.limits.iter();
        Self {
            tool: mandate.tool.to_string(),
            audience,
            from_ms: mandate.from_ms,
            until_ms: mandate.until_ms,
            uses: mandate.uses,
            budget: mandate.budget.clone(),
            limits: limits
                .map(|limit| (limit.argument.to_string(), limit.kind, limit.values.clone()))
                .collect(),
            parent: mandate.parent,
        }
    }

    fn of(views: &Views, mandate: &Mandate) -> Self {
        let of = audience_name(views, mandate);
        let audience = match mandate.audience {
            Audience::Task => format!("for the task of record {of}"),
            Audience::Adapter => format!("in sessions of adapter {of}"),
            Audience::Session => format!("in session {of}"),
            Audience::Channel => format!("set off by messages through {of}"),
        };
        let limits = mandate.limits.iter().map(|(argument, kind, values)| {
            (argument.to_string(), *kind, values.iter().map(ToString::to_string).collect())
        });
        Self {
            tool: name_of(views, Space::Called, mandate.called),
            audience,
            from_ms: mandate.from_ms,
            until_ms: mandate.until_ms,
            uses: mandate.uses_left,
            budget: mandate.budget_left.as_ref().map(|(name, left)| (name.to_string(), *left)),
            limits: limits.collect(),
            parent: mandate.parent,
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![foreign(&format!("{} {}", self.tool, self.audience))];
        lines.push(format!(
            "  {}, from {} until {}",
            count(u64::from(self.uses), "use"),
            local(self.from_ms),
            local(self.until_ms)
        ));
        for (argument, kind, values) in &self.limits {
            lines.push(format!("  {}", limit_in_words(argument, *kind, values)));
        }
        if self.limits.is_empty() {
            lines.push("  whatever its arguments are".to_owned());
        }
        if let Some((argument, most)) = &self.budget {
            lines.push(format!("  {} adds up to at most {}", foreign(argument), plain(*most)));
        }
        if let Some(parent) = self.parent {
            lines
                .push(format!("  draws on mandate {parent}: a use of this is one of that as well"));
        }
        lines
    }
}

fn limit_in_words(argument: &str, kind: LimitKind, values: &[String]) -> String {
    let shown: Vec<String> =
        values.iter().map(|value| actum_core::Value::from(value.as_str()).to_string()).collect();
    let (argument, all) = (foreign(argument), shown.join(", "));
    match (kind, values) {
        (LimitKind::Equal, _) => format!("{argument} is {all}"),
        (LimitKind::OneOf, _) => format!("{argument} is one of {all}"),
        (LimitKind::Range, [from, until]) => {
            format!("{argument} is from {} to {}", foreign(from), foreign(until))
        }
        (LimitKind::Range, _) => format!("{argument} is in the range {all}"),
        (LimitKind::Prefix, _) => format!("{argument} begins with {all}"),
        (LimitKind::Glob, _) => format!("{argument} matches {all}"),
    }
}

/// An amount in millionths, as people write it.
fn plain(millionths: u64) -> String {
    let (whole, rest) = (millionths / MILLION, millionths % MILLION);
    if rest == 0 {
        return whole.to_string();
    }
    let fraction = format!("{rest:06}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

fn audience_name(views: &Views, mandate: &Mandate) -> String {
    let number = u32::try_from(mandate.audience_of).unwrap_or(u32::MAX);
    match mandate.audience {
        Audience::Task => mandate.audience_of.to_string(),
        Audience::Adapter => name_of(views, Space::Adapter, number),
        Audience::Session => name_of(views, Space::Session, number),
        Audience::Channel => name_of(views, Space::Channel, number),
    }
}

/// Whether it can cover a call now, and why not.
fn state(provenance: &Provenance, mandate: &Mandate, now_ms: u64) -> &'static str {
    let spent = |it: &Mandate| {
        it.uses_left == 0 || it.budget_left.as_ref().is_some_and(|(_, left)| *left == 0)
    };
    if mandate.revoked.is_some() {
        return "revoked";
    }
    if spent(mandate) {
        return "used up";
    }
    if now_ms > mandate.until_ms {
        return "expired";
    }
    if now_ms < mandate.from_ms {
        return "not yet";
    }
    let mut parent = mandate.parent;
    while let Some(event) = parent {
        let Some(found) = provenance.mandate(event) else { return "its parent is gone" };
        if found.revoked.is_some() {
            return "its parent is revoked";
        }
        if spent(found) {
            return "its parent is used up";
        }
        parent = found.parent;
    }
    "in force"
}

fn list(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let now_ms = read_clocks().wall_ms.max(views.time_ms());
    let say = context.say;
    let mut all = Vec::new();
    for mandate in views.provenance().mandates() {
        let state = state(views.provenance(), mandate, now_ms);
        let lines = Words::of(views, mandate).lines();
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                say.line(&format!("mandate {}, {state}: {line}", mandate.event));
            } else {
                say.line(&line.replacen(" uses,", " uses left,", 1).replacen(
                    " use,",
                    " use left,",
                    1,
                ));
            }
        }
        all.push(to_json(views, mandate, now_ms));
    }
    if all.is_empty() {
        say.line("no mandate was granted");
    }
    say.json(&json!({ "mandates": all }));
    Ok(0)
}

fn to_json(views: &Views, mandate: &Mandate, now_ms: u64) -> Value {
    let limits: Vec<_> = mandate
        .limits
        .iter()
        .map(|(argument, kind, values)| {
            json!({ "argument": argument, "kind": kind.word(), "values": values })
        })
        .collect();
    json!({
        "mandate": mandate.event,
        "tool": name_of(views, Space::Called, mandate.called),
        "audience": mandate.audience.word(),
        "audience_of": audience_name(views, mandate),
        "from": utc(mandate.from_ms),
        "until": utc(mandate.until_ms),
        "uses_left": mandate.uses_left,
        "budget": mandate.budget_left.as_ref().map(|(argument, left)| json!({
            "argument": argument,
            "left": plain(*left),
        })),
        "limits": limits,
        "parent": mandate.parent,
        "revoked": mandate.revoked,
        "state": state(views.provenance(), mandate, now_ms).replace(' ', "_"),
    })
}

fn revoke(context: &Context, mandate: u64, sure: &Confirm) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let found = views.provenance().mandate(mandate).ok_or_else(|| {
        Failure::usage(format!("event {mandate} is not a mandate in force"))
            .hint("`actum mandate list` lists them")
    })?;
    let say = context.say;
    if let Some(event) = found.revoked {
        say.line(&format!("mandate {mandate} is revoked already (event {event})"));
        say.json(&json!({ "mandate": mandate, "event": event, "owner": null, "already": true }));
        return Ok(0);
    }
    if !sure.yes {
        for line in Words::of(views, found).lines() {
            say.show(&line);
        }
    }
    let owner = confirm(&format!("Take mandate {mandate} back?"), sure.yes)?;
    let mut desk = Desk::open(context, "mandate revoke", door::owner(owner))?;
    let (takes, reason) = (wire::Takes::Mandate(mandate), String::new());
    let event = desk.record(Deed::Revoke { takes, reason })?;
    say.line(&format!("mandate {mandate} allows nothing more (event {event})"));
    let owner = owner.word();
    say.json(&json!({ "mandate": mandate, "event": event, "owner": owner, "already": false }));
    Ok(0)
}

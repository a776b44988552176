//! `actum revoke`: the owner takes a run back, or what was seen or written, with all that came of it.

use std::collections::BTreeSet;

use actum_core::{AuthorName, ChannelName, Item, Owner, Provenance, Space, Takes, Views, Withheld};
use actum_serve::wire::{self, Deed};
use serde_json::{Value, json};

use super::thing;
use crate::args;
use crate::context::{Context, confirm};
use crate::door::{self, Desk};
use crate::say::{Failure, Outcome, Say, count, foreign};
use crate::time::{local, utc};

/// Things that are named; the others are counted.
const NAMED_MAX: usize = 5;

pub(crate) fn run(context: &Context, args: &args::Revoke) -> Outcome<u8> {
    if args.reason.chars().any(char::is_control) {
        return Err(Failure::usage("the reason holds a control character; write it on one line"));
    }
    let during = &args.during;
    let has_interval = during.from.is_some() || during.until.is_some();
    let what = &args.what;
    if has_interval && what.channel.is_none() && what.author.is_none() {
        return Err(Failure::usage("--from and --until are for a channel or an author"));
    }
    let (from, until) = (during.from.unwrap_or(0), during.until.unwrap_or(u64::MAX));
    if from > until {
        return Err(Failure::usage("nothing lies in that time: it ends before it begins"));
    }
    let named = |error: actum_core::NameError| Failure::usage(error.to_string());
    let takes = match (what.run, what.record, &what.channel, &what.author) {
        (Some(run), _, _, _) => return revoke_run(context, args, run),
        (_, Some(record), _, _) => Takes::Record(record),
        (_, _, Some(channel), _) => {
            Takes::Channel(ChannelName::new(channel).map_err(named)?, from, until)
        }
        (_, _, _, Some(author)) => {
            Takes::Author(AuthorName::new(author).map_err(named)?, from, until)
        }
        (None, None, None, None) => return Err(Failure::usage("revoke what?")),
    };
    take(context, args, takes)
}

fn revoke_run(context: &Context, args: &args::Revoke, run: u64) -> Outcome<u8> {
    if !context.read()?.views().has_run(run) {
        return Err(Failure::usage(format!("event {run} is not the beginning of a run"))
            .hint("see the runs with `actum log --kind began`"));
    }
    let owner = confirm(&format!("Revoke run {run}?"), args.confirm.yes)?;
    let mut desk = Desk::open(context, "revoke", door::owner(owner))?;
    let event = desk.record(Deed::RevokeRun { run, reason: args.reason.clone() })?;
    context.say.line(&format!("run {run} is revoked (event {event}, owner known by {owner})"));
    context.say.json(&json!({
        "revoked": run,
        "what": "run",
        "target": run.to_string(),
        "event": event,
        "owner": owner.word(),
        "already": false,
        "from": null,
        "until": null,
        "withheld": [],
        "uses": [],
    }));
    Ok(0)
}

fn take(context: &Context, args: &args::Revoke, takes: Takes) -> Outcome<u8> {
    let say = context.say;
    let target = Target::of(&takes);
    {
        let snapshot = context.read()?;
        let views = snapshot.views();
        let reach = Reach::of(views, &takes)?;
        if let Some(event) = reach.already {
            say.line(&format!("{} was revoked already (event {event})", target.words));
            reach.tell(say, views, "withheld");
            say.json(&target.to_json(views, &reach, event, None));
            return Ok(0);
        }
        if !args.confirm.yes {
            reach.show(say, views);
        }
    }
    let owner = confirm(&format!("Revoke {}?", target.words), args.confirm.yes)?;
    let mut desk = Desk::open(context, "revoke", door::owner(owner))?;
    let (named, reason) = (on_the_wire(&takes), args.reason.clone());
    let event = desk.record(Deed::Revoke { takes: named, reason })?;
    desk.look(|views| {
        let reach = Reach::of(views, &takes)?;
        say.line(&format!("{} is revoked (event {event}, owner known by {owner})", target.words));
        reach.tell(say, views, "withheld now");
        if target.goes_on {
            say.line("  what comes later of it is withheld as well");
        }
        say.json(&target.to_json(views, &reach, event, Some(owner)));
        Ok(0)
    })
}

fn on_the_wire(takes: &Takes) -> wire::Takes {
    match takes {
        Takes::Record(event) => wire::Takes::Record(*event),
        Takes::Channel(name, from, until) => wire::Takes::Channel(name.to_string(), *from, *until),
        Takes::Author(name, from, until) => wire::Takes::Author(name.to_string(), *from, *until),
        Takes::Mandate(event) => wire::Takes::Mandate(*event),
        Takes::Adapter(name) => wire::Takes::Adapter(name.clone()),
    }
}

/// What a revocation names.
struct Target {
    what: &'static str,
    name: String,
    record: Option<u64>,
    during: Option<(u64, u64)>,
    /// Whether it binds what is not there yet.
    goes_on: bool,
    words: String,
}

impl Target {
    fn of(takes: &Takes) -> Self {
        let (what, name, record, during) = match takes {
            Takes::Record(record) => ("record", record.to_string(), Some(*record), None),
            Takes::Channel(channel, from, until) => {
                ("channel", channel.to_string(), None, Some((*from, *until)))
            }
            Takes::Author(author, from, until) => {
                ("author", author.to_string(), None, Some((*from, *until)))
            }
            Takes::Mandate(event) => ("mandate", event.to_string(), None, None),
            Takes::Adapter(name) => ("adapter", name.clone(), None, None),
        };
        let time = match during {
            None | Some((0, u64::MAX)) => String::new(),
            Some((0, until)) => format!(" until {}", local(until)),
            Some((from, u64::MAX)) => format!(" from {}", local(from)),
            Some((from, until)) => format!(" from {} to {}", local(from), local(until)),
        };
        let words = foreign(&format!("{what} {name}{time}"));
        let goes_on = during.is_some_and(|(_, until)| until == u64::MAX);
        Self { what, name, record, during, goes_on, words }
    }

    fn to_json(&self, views: &Views, reach: &Reach, event: u64, owner: Option<Owner>) -> Value {
        let things = reach.items(views).map(|item| thing::to_json(views, item));
        let uses = reach.uses.iter().filter_map(|event| views.provenance().decision(*event));
        let uses = uses.map(|(event, it)| thing::decision_to_json(views, event, it));
        let from = self.during.map(|(from, _)| from).filter(|from| *from > 0);
        let until = self.during.map(|(_, until)| until).filter(|until| *until < u64::MAX);
        json!({
            "revoked": self.record,
            "what": self.what,
            "target": self.name,
            "event": event,
            "owner": owner.map(Owner::word),
            "already": owner.is_none(),
            "from": from.map(utc),
            "until": until.map(utc),
            "withheld": things.collect::<Vec<_>>(),
            "uses": uses.collect::<Vec<_>>(),
        })
    }
}

/// How far a revocation reaches.
struct Reach {
    /// What is withheld by it, oldest first.
    events: Vec<u64>,
    /// What was allowed while any of it was before a model.
    uses: Vec<u64>,
    /// The event that did all this before.
    already: Option<u64>,
}

impl Reach {
    fn of(views: &Views, takes: &Takes) -> Outcome<Self> {
        let provenance = views.provenance();
        let unknown = |what: &str, name: &str| {
            Failure::usage(format!("the ledger has no {what} called {name}"))
                .hint("`actum log --kind observed --json` shows the names as they were seen")
        };
        let (named, already) = match takes {
            Takes::Record(record) => {
                let item = provenance.item(*record).ok_or_else(|| {
                    Failure::usage(format!(
                        "event {record} is no record, and nothing that was seen"
                    ))
                    .hint("see them with `actum log --kind wrote` and `actum log --kind observed`")
                })?;
                let already = match item.withheld {
                    Some(Withheld::Revoked(event)) => Some(event),
                    Some(
                        Withheld::Superseded(_)
                        | Withheld::Quarantined(_)
                        | Withheld::Ancestor(_)
                        | Withheld::Unconfirmed,
                    )
                    | None => None,
                };
                (vec![*record], already)
            }
            Takes::Channel(channel, from, until) => {
                let number = views.number(Space::Channel, channel.as_str().as_bytes());
                let number = number.ok_or_else(|| unknown("channel", channel.as_str()))?;
                let already = provenance.channel_revoked(number, *from, *until);
                (provenance.through_channel(number, *from, *until), already)
            }
            Takes::Author(author, from, until) => {
                let number = views.number(Space::Author, author.as_str().as_bytes());
                let number = number.ok_or_else(|| unknown("author", author.as_str()))?;
                let already = provenance.author_revoked(number, *from, *until);
                (provenance.by_author(number, *from, *until), already)
            }
            Takes::Mandate(_) | Takes::Adapter(_) => (Vec::new(), None),
        };
        Ok(Self::over(provenance, &named, already))
    }

    fn over(provenance: &Provenance, named: &[u64], already: Option<u64>) -> Self {
        let mut events: BTreeSet<u64> = named.iter().copied().collect();
        events.extend(provenance.descendants_of_any(named));
        let uses = provenance.uses_of_any(named);
        Self { events: events.into_iter().collect(), uses, already }
    }

    fn items<'v>(&'v self, views: &'v Views) -> impl Iterator<Item = &'v Item> {
        self.events.iter().filter_map(|event| views.provenance().item(*event))
    }

    fn tell(&self, say: Say, views: &Views, how: &str) {
        self.lines(views, how).iter().for_each(|line| say.line(line));
    }

    fn show(&self, say: Say, views: &Views) {
        self.lines(views, "would be withheld").iter().for_each(|line| say.show(line));
    }

    fn lines(&self, views: &Views, how: &str) -> Vec<String> {
        let mut lines = vec![format!("  {how}: {}", count(self.events.len() as u64, "thing"))];
        for item in self.items(views).take(NAMED_MAX) {
            lines.push(format!("{:>8}  {}", item.event, thing::in_words(views, item)));
        }
        lines.extend(more(self.events.len()));
        let calls = count(self.uses.len() as u64, "call");
        lines.push(format!("  allowed while any of it was before a model: {calls}"));
        let uses = self.uses.iter().filter_map(|event| views.provenance().decision(*event));
        for (event, decided) in uses.take(NAMED_MAX) {
            lines.push(format!("  {}", thing::decision_in_words(views, event, decided)));
        }
        lines.extend(more(self.uses.len()));
        lines
    }
}

fn more(all: usize) -> Option<String> {
    let more = all.checked_sub(NAMED_MAX).filter(|more| *more > 0)?;
    Some(format!("          and {more} more"))
}

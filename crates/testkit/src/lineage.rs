//! What authority a thing may have at most, told as plainly as possible: a map of who came of whom, and a walk to the very end
//! each time somebody asks. Remembers no results, and shares no code with what it is used to check.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::Authority;

/// A thing and what it came of.
#[derive(Debug, Clone)]
pub struct Thing {
    /// As it entered.
    pub authority: Authority,
    /// What it came of, by event.
    pub parents: Vec<u64>,
    /// Through which channel.
    pub channel: u32,
    /// By whom.
    pub author: u32,
    /// When, in ms.
    pub at_ms: u64,
}

/// Everything that there is, by event.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    things: BTreeMap<u64, Thing>,
    named: BTreeSet<u64>,
    replaced: Vec<(u64, Option<u64>)>,
    channels: Vec<(u32, u64, u64)>,
    authors: Vec<(u32, u64, u64)>,
    contexts: BTreeMap<u32, Context>,
}

/// What is before the model of a session.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// By event.
    pub things: Vec<u64>,
    /// Nobody saw what was there before.
    pub unknown: bool,
    /// The task that it began with.
    pub task: Option<u64>,
}

impl Lineage {
    /// Something new.
    pub fn add(&mut self, event: u64, thing: Thing) {
        self.things.insert(event, thing);
    }

    /// Whether it is there.
    pub fn has(&self, event: u64) -> bool {
        self.things.contains_key(&event)
    }

    /// This one, and all that came of it, counts for nothing.
    pub fn take_back(&mut self, event: u64) {
        self.named.insert(event);
    }

    /// This one, and all that came of it otherwise than through what replaced it, counts for nothing.
    pub fn replace(&mut self, event: u64, by: Option<u64>) {
        self.replaced.push((event, by));
    }

    /// All that came through a channel from one time to another counts for nothing.
    pub fn take_back_channel(&mut self, channel: u32, from_ms: u64, until_ms: u64) {
        self.channels.push((channel, from_ms, until_ms));
    }

    /// All of an author from one time to another counts for nothing.
    pub fn take_back_author(&mut self, author: u32, from_ms: u64, until_ms: u64) {
        self.authors.push((author, from_ms, until_ms));
    }

    /// The context of a session, to be changed.
    pub fn context(&mut self, session: u32) -> &mut Context {
        self.contexts.entry(session).or_default()
    }

    /// The session is open.
    pub fn is_open(&self, session: u32) -> bool {
        self.contexts.contains_key(&session)
    }

    /// Taken back itself, or any ancestor of it.
    pub fn is_withheld(&self, event: u64) -> bool {
        let mut replaced = self.replaced.iter();
        self.is_taken_back(event) || replaced.any(|(old, by)| self.reaches(event, *old, *by))
    }

    fn is_taken_back(&self, event: u64) -> bool {
        let Some(thing) = self.things.get(&event) else { return true };
        let within = |list: &[(u32, u64, u64)], number| {
            list.iter().any(|&(of, from, until)| {
                of == number && from <= thing.at_ms && thing.at_ms <= until
            })
        };
        self.named.contains(&event)
            || within(&self.channels, thing.channel)
            || within(&self.authors, thing.author)
            || thing.parents.iter().any(|parent| self.is_taken_back(*parent))
    }

    fn reaches(&self, event: u64, of: u64, not_through: Option<u64>) -> bool {
        let parents = self.things.get(&event).map(|thing| thing.parents.as_slice());
        let mut parents = parents.unwrap_or_default().iter();
        not_through != Some(event)
            && (event == of || parents.any(|parent| self.reaches(*parent, of, not_through)))
    }

    /// The least of a thing and all its ancestors, to the very end.
    pub fn most(&self, event: u64) -> Authority {
        if self.is_withheld(event) {
            return Authority::Untrusted;
        }
        self.at_most(event)
    }

    fn at_most(&self, event: u64) -> Authority {
        let Some(thing) = self.things.get(&event) else { return Authority::Untrusted };
        let mut least = thing.authority;
        for parent in &thing.parents {
            least = lesser(least, self.at_most(*parent));
        }
        least
    }

    /// The least of what is before a session's model.
    pub fn least(&self, session: u32) -> Authority {
        let Some(context) = self.contexts.get(&session) else { return Authority::Untrusted };
        if context.unknown {
            return Authority::Untrusted;
        }
        let all = context.things.iter().map(|event| self.most(*event));
        all.fold(Authority::User, lesser)
    }

    /// All that came of a thing.
    pub fn descendants(&self, of: u64) -> Vec<u64> {
        self.things
            .keys()
            .copied()
            .filter(|event| *event != of && self.came_of(*event, of))
            .collect()
    }

    fn came_of(&self, event: u64, of: u64) -> bool {
        let parents = self.things.get(&event).map(|thing| thing.parents.as_slice());
        parents.unwrap_or_default().iter().any(|parent| *parent == of || self.came_of(*parent, of))
    }
}

fn lesser(one: Authority, other: Authority) -> Authority {
    let rank = |authority| match authority {
        Authority::Untrusted => 0,
        Authority::Derived => 1,
        Authority::Approved => 2,
        Authority::User => 3,
    };
    if rank(other) < rank(one) { other } else { one }
}

/// Everything that was allowed beforehand, and everything that was spent: counted anew for each question.
#[derive(Debug, Clone, Default)]
pub struct Purse {
    mandates: BTreeMap<u64, Allowed>,
    spent: Vec<(u64, u64)>,
}

/// How much a mandate allows in all.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// How often.
    pub uses: u32,
    /// How much, if it says.
    pub budget: Option<u64>,
    /// Whose uses and budget these are a part of.
    pub parent: Option<u64>,
}

impl Purse {
    /// A new mandate.
    pub fn allow(&mut self, event: u64, allowed: Allowed) {
        self.mandates.insert(event, allowed);
    }

    /// A mandate is taken back.
    pub fn take_back(&mut self, event: u64) {
        if let Some(allowed) = self.mandates.get_mut(&event) {
            allowed.uses = 0;
        }
    }

    /// Spends, if there is so much.
    pub fn spend(&mut self, of: u64, amount: u64) -> bool {
        let covered = self.line(of).iter().all(|event| {
            let Some(allowed) = self.mandates.get(event) else { return false };
            let drawn: Vec<u64> = self
                .spent
                .iter()
                .filter(|(spent_of, _)| self.line(*spent_of).contains(event))
                .map(|(_, amount)| *amount)
                .collect();
            let sum: u128 = drawn.iter().chain([&amount]).map(|amount| u128::from(*amount)).sum();
            (drawn.len() as u64) < u64::from(allowed.uses)
                && allowed.budget.is_none_or(|budget| sum <= u128::from(budget))
        });
        if covered {
            self.spent.push((of, amount));
        }
        covered
    }

    /// A mandate and all it draws on.
    fn line(&self, of: u64) -> Vec<u64> {
        let parent = self.mandates.get(&of).and_then(|allowed| allowed.parent);
        let mut line = parent.map_or_else(Vec::new, |parent| self.line(parent));
        line.push(of);
        line
    }
}

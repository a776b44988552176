//! Two defences side by side: what either stops is stopped.

use actum_core::Call;

use super::{Defence, Ended, Entry, Grant, Meddle, Ruling, Served, StepSpec, Worked};

/// Two defences; both are always asked.
#[derive(Debug)]
pub struct Pair {
    first: Box<dyn Defence>,
    second: Box<dyn Defence>,
}

impl Pair {
    /// Both.
    pub fn new(first: Box<dyn Defence>, second: Box<dyn Defence>) -> Self {
        Self { first, second }
    }

    fn both<T>(
        &mut self,
        mut ask: impl FnMut(&mut dyn Defence) -> Worked<T>,
        stricter: impl FnOnce(T, T) -> T,
    ) -> Worked<T> {
        let first = ask(self.first.as_mut())?;
        let second = ask(self.second.as_mut())?;
        Ok(stricter(first, second))
    }
}

fn less(first: Served, second: Served) -> Served {
    match (first, second) {
        (Served::Withheld(why), _) | (_, Served::Withheld(why)) => Served::Withheld(why),
        (Served::Labelled(label), _) | (_, Served::Labelled(label)) => Served::Labelled(label),
        (Served::Plain, Served::Plain) => Served::Plain,
    }
}

fn stricter(first: Ruling, second: Ruling) -> Ruling {
    match (first, second) {
        (Ruling::Refuse(why), _) | (_, Ruling::Refuse(why)) => Ruling::Refuse(why),
        (Ruling::Ask(why), _) | (_, Ruling::Ask(why)) => Ruling::Ask(why),
        (Ruling::Perform(call), _) | (_, Ruling::Perform(call)) => Ruling::Perform(call),
        (Ruling::Go, Ruling::Go) => Ruling::Go,
    }
}

impl Defence for Pair {
    fn open(&mut self) -> Worked<()> {
        self.both(|it| it.open(), |(), ()| ())
    }

    fn turn(&mut self, text: &str) -> Worked<()> {
        self.both(|it| it.turn(text), |(), ()| ())
    }

    fn seen(&mut self, channel: &str, tool: &str, text: &str) -> Worked<()> {
        self.both(|it| it.seen(channel, tool, text), |(), ()| ())
    }

    fn result(&mut self, call: &Call, channel: &str, text: &str) -> Worked<()> {
        self.both(|it| it.result(call, channel, text), |(), ()| ())
    }

    fn allow(&mut self, grant: &Grant) -> Worked<()> {
        self.both(|it| it.allow(grant), |(), ()| ())
    }

    fn approve(&mut self, call: &Call) -> Worked<()> {
        self.both(|it| it.approve(call), |(), ()| ())
    }

    fn keep(&mut self, entry: &Entry) -> Worked<bool> {
        self.both(|it| it.keep(entry), |first, second| first && second)
    }

    fn recall(&mut self, entry: &Entry) -> Worked<Served> {
        self.both(|it| it.recall(entry), less)
    }

    fn fire(&mut self, task: &Entry) -> Worked<Served> {
        self.both(|it| it.fire(task), less)
    }

    fn skip(&mut self, step: &StepSpec, subject: &str, content: &str) -> Worked<Ruling> {
        self.both(|it| it.skip(step, subject, content), stricter)
    }

    fn act(&mut self, call: &Call) -> Worked<Ruling> {
        self.both(|it| it.act(call), stricter)
    }

    fn ended(&mut self, call: &Call, how: Ended) -> Worked<()> {
        self.both(|it| it.ended(call, how), |(), ()| ())
    }

    fn meddle(&mut self, how: &Meddle) -> Worked<()> {
        self.both(|it| it.meddle(how), |(), ()| ())
    }

    fn events(&self) -> u64 {
        self.first.events().max(self.second.events())
    }

    fn head(&self) -> Option<String> {
        self.first.head().or_else(|| self.second.head())
    }
}

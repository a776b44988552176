//! Group commit: many threads ask, one thread owns the ledger and answers all that came together with one commit. It flushes
//! whenever the device is idle, never on a timer, so a lonely request does not wait for company.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use actum_core::{BATCH_MAX, CommitError, Done, Journal, Ledger, Reading, Rejected, Request};

/// Requests that may wait; more than this and callers wait to ask.
pub const QUEUE_MAX: usize = 4096;

type Reply = Result<Result<Done, Rejected>, GroupFailed>;
type Asked = (Request, Sender<Reply>);

/// The commit that held a request failed, so nobody knows whether it was kept; or the ledger is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct GroupFailed {
    /// What the ledger said.
    pub what: String,
}

/// A ledger owned by a thread of its own.
#[derive(Debug)]
pub struct Group<J> {
    ask: SyncSender<Asked>,
    worker: JoinHandle<Ledger<J>>,
}

/// The right to ask a [`Group`]; cloned for each thread that does.
#[derive(Debug, Clone)]
pub struct Asker(SyncSender<Asked>);

impl<J: Journal + Send + 'static> Group<J> {
    /// Starts the thread. `clock` is read once a commit.
    pub fn start(ledger: Ledger<J>, clock: impl Fn() -> Reading + Send + 'static) -> Self {
        let (ask, asked) = sync_channel(QUEUE_MAX);
        let worker = std::thread::spawn(move || work(ledger, &asked, clock));
        Self { ask, worker }
    }

    /// The right to ask.
    pub fn asker(&self) -> Asker {
        Asker(self.ask.clone())
    }

    /// Ends the thread when every [`Asker`] is gone, and gives the ledger back; nothing if the thread panicked.
    pub fn finish(self) -> Option<Ledger<J>> {
        drop(self.ask);
        self.worker.join().ok()
    }
}

impl Asker {
    /// Asks, and waits until the answer is durable.
    ///
    /// # Errors
    /// [`GroupFailed`] if the commit failed or the ledger has closed. A rejected request is the inner result.
    pub fn ask(&self, request: Request) -> Reply {
        let gone = || GroupFailed { what: "the ledger is not open any more".to_owned() };
        let (reply, answer) = channel();
        self.0.send((request, reply)).map_err(|_closed| gone())?;
        answer.recv().map_err(|_closed| gone())?
    }
}

fn work<J: Journal>(
    mut ledger: Ledger<J>,
    asked: &Receiver<Asked>,
    clock: impl Fn() -> Reading,
) -> Ledger<J> {
    let mut expected = 1;
    while let Ok(first) = asked.recv() {
        let batch = gather(first, asked, expected);
        expected = batch.len();
        let (requests, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        answer(ledger.commit(requests, &clock()), replies);
    }
    ledger
}

/// What is there, and what those who were answered last time ask next: they get a few turns of the processor to do so. No
/// time is waited for, and one who asks alone is not kept.
fn gather(first: Asked, asked: &Receiver<Asked>, expected: usize) -> Vec<Asked> {
    let mut batch = vec![first];
    for _ in 0..TURNS {
        batch.extend(asked.try_iter().take(BATCH_MAX - batch.len()));
        if batch.len() >= expected {
            break;
        }
        std::thread::yield_now();
    }
    batch
}

/// Turns that others get to join a commit.
const TURNS: usize = 16;

fn answer(
    committed: Result<Vec<Result<Done, Rejected>>, CommitError>,
    replies: Vec<Sender<Reply>>,
) {
    match committed {
        Ok(done) => {
            for (done, reply) in done.into_iter().zip(replies) {
                // Whoever asked may have gone; what was asked is durable all the same.
                let _gone = reply.send(Ok(done));
            }
        }
        Err(error) => {
            let failed = GroupFailed { what: error.to_string() };
            for reply in replies {
                let _gone = reply.send(Err(failed.clone()));
            }
        }
    }
}

//! Threads that wait for answers of the ledger, of a person or of a server, so that nobody who reads a pipe has to; and the turns
//! in which what they decided leaves.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads of one guard.
pub const WORKERS_MAX: usize = 64;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads, started as they are needed.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    idle: usize,
    workers: usize,
    closed: bool,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// What a mutex holds, also after a panic: every change under these locks is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Has it done, sooner or later. Whoever asks has bounded how much can wait.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut queue = lock(&self.0.queue);
        queue.jobs.push_back(Box::new(job));
        if queue.idle < queue.jobs.len() && queue.workers < WORKERS_MAX {
            queue.workers += 1;
            let shared = Arc::clone(&self.0);
            std::thread::spawn(move || work(&shared));
        }
        drop(queue);
        self.0.wake.notify_one();
    }

    /// Waits so long for what is still to be done, and ends the threads.
    pub(crate) fn close(&self, patience: Duration) {
        let mut queue = lock(&self.0.queue);
        queue.closed = true;
        self.0.wake.notify_all();
        let until = Instant::now() + patience;
        while queue.workers > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.ended.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn work(shared: &Shared) {
    let mut queue = lock(&shared.queue);
    loop {
        if let Some(job) = queue.jobs.pop_front() {
            drop(queue);
            job();
            queue = lock(&shared.queue);
            continue;
        }
        if queue.closed {
            queue.workers -= 1;
            shared.ended.notify_all();
            return;
        }
        queue.idle += 1;
        queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
    }
}

/// Calls leave in the order in which they came, whoever is decided first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<(Mutex<Order>, Condvar)>);

#[derive(Debug, Default)]
struct Order {
    given: u64,
    current: u64,
    done: BTreeSet<u64>,
}

/// A place in that order. Whoever drops it lets the others go first.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Turns,
    number: u64,
}

impl Turns {
    pub(crate) fn take(&self) -> Turn {
        let mut order = lock(&self.0.0);
        let number = order.given;
        order.given += 1;
        Turn { turns: self.clone(), number }
    }
}

impl Turn {
    /// Waits until all that came before have left, or have given up their places.
    pub(crate) fn wait(&self) {
        let (order, wake) = &*self.turns.0;
        let mut order = lock(order);
        while order.current != self.number {
            order = wake.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (order, wake) = &*self.turns.0;
        let mut order = lock(order);
        order.done.insert(self.number);
        while order.done.first() == Some(&order.current) {
            order.done.pop_first();
            order.current += 1;
        }
        drop(order);
        wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_was_decided_leaves_in_the_order_in_which_it_came() {
        let (pool, turns, (told, heard)) = (Pool::default(), Turns::default(), channel());
        let taken: Vec<Turn> = (0..20).map(|_| turns.take()).collect();
        // The last ones begin first.
        for turn in taken.into_iter().rev() {
            let told = told.clone();
            pool.run(move || {
                turn.wait();
                told.send(turn.number).unwrap();
            });
        }
        drop(told);
        assert_eq!(heard.iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    }
}

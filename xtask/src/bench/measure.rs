//! Clocks and medians.

use std::time::Instant;

/// Times in nanoseconds.
#[derive(Debug, Default, Clone)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn push(&mut self, nanoseconds: f64) {
        self.0.push(nanoseconds);
    }

    pub(super) fn median(&self) -> f64 {
        self.quantile(500)
    }

    /// The value that so many of a thousand samples stay below.
    pub(super) fn quantile(&self, of_1000: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() * of_1000 / 1000).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}

/// How long `work` took, in nanoseconds, by the clock on the wall.
pub(super) fn wall<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let done = work();
    (began.elapsed().as_secs_f64() * 1e9, done)
}

/// How long `work` took on the wall, and how long all processors worked for this process meanwhile.
pub(super) fn wall_and_cpu<T>(work: impl FnOnce() -> T) -> (f64, f64, T) {
    let before = cpu_ns();
    let (wall, done) = wall(work);
    (wall, cpu_ns() - before, done)
}

fn cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "52 bits of nanoseconds are weeks")]
    let nanoseconds = (time.tv_sec * 1_000_000_000 + time.tv_nsec) as f64;
    nanoseconds
}

/// Bytes of this process that lie in memory; 0 where nobody says.
pub(super) fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

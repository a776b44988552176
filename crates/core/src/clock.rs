//! What a clock may do. Reads no clock: a reading is an argument.

/// How far back a clock may step and still count as steady.
pub const BACK_MAX_MS: u64 = 5 * 60 * 1000;
/// How much faster than the boot clock a clock may run between two readings.
pub const FORWARD_MAX_MS: u64 = 24 * 60 * 60 * 1000;

/// The clocks of a machine, read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Milliseconds since 1970-01-01 UTC.
    pub wall_ms: u64,
    /// Milliseconds since the machine started, counting sleep; 0 if unknown.
    pub boot_ms: u64,
    /// Which start of the machine that was; zeros if unknown.
    pub boot_id: [u8; 16],
}

impl Reading {
    /// A reading of the wall clock alone.
    pub const fn wall(wall_ms: u64) -> Self {
        Self { wall_ms, boot_ms: 0, boot_id: [0; 16] }
    }

    const fn knows_boot(&self) -> bool {
        self.boot_ms != 0
    }
}

/// What the step from one reading to the next says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockStep {
    /// As clocks go. Small steps back are clamped by whoever keeps time.
    Steady,
    /// Back by more than [`BACK_MAX_MS`], or ahead of the boot clock by more than [`FORWARD_MAX_MS`].
    Jumped,
}

/// Judges `now` against the ledger's time so far and, where the machine has not restarted, against its boot clock.
///
/// ```
/// use actum_core::{ClockStep, Reading, judge_clock};
/// let last = Reading::wall(10 * 60_000);
/// assert_eq!(judge_clock(last.wall_ms, &last, &Reading::wall(6 * 60_000)), ClockStep::Steady);
/// assert_eq!(judge_clock(last.wall_ms, &last, &Reading::wall(4 * 60_000)), ClockStep::Jumped);
/// ```
pub fn judge_clock(ledger_ms: u64, last: &Reading, now: &Reading) -> ClockStep {
    if now.wall_ms.saturating_add(BACK_MAX_MS) < ledger_ms {
        return ClockStep::Jumped;
    }
    let same_boot = last.knows_boot() && now.knows_boot() && last.boot_id == now.boot_id;
    let wall_ms = now.wall_ms.saturating_sub(last.wall_ms);
    let boot_ms = now.boot_ms.saturating_sub(last.boot_ms);
    if same_boot && wall_ms > boot_ms.saturating_add(FORWARD_MAX_MS) {
        return ClockStep::Jumped;
    }
    ClockStep::Steady
}

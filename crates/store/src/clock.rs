//! Reads the machine's clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use actum_core::Reading;

/// The clocks now. The boot clock and boot id are known on Linux; elsewhere only a step back is seen.
pub fn read_clocks() -> Reading {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let (boot_ms, boot_id) = boot();
    Reading { wall_ms, boot_ms, boot_id }
}

/// It is the same for as long as this process can live.
#[cfg(target_os = "linux")]
static BOOT_ID: std::sync::LazyLock<Option<[u8; 16]>> = std::sync::LazyLock::new(|| {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    actum_core::unhex(&digits)
});

#[cfg(target_os = "linux")]
fn boot() -> (u64, [u8; 16]) {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let millis = u64::try_from(time.tv_nsec / 1_000_000).unwrap_or_default();
    match *BOOT_ID {
        Some(id) => (seconds.saturating_mul(1000).saturating_add(millis), id),
        None => (0, [0; 16]),
    }
}

#[cfg(not(target_os = "linux"))]
fn boot() -> (u64, [u8; 16]) {
    (0, [0; 16])
}
